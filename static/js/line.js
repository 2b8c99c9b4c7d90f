// A line to the person's own inbox on a page that has none of its own: whoever has a page open counts as here, and new
// mail is said at once. It changes nothing that the page shows, and says nothing of whether that is up to date.
(() => {
  "use strict";
  const path = document.getElementById("mail")?.dataset.line;
  if (!path || document.querySelector("[hx-ws\\:connect]")) return;

  const ENDS = [4401, 4403, 4404]; // as in connection.js, and so are the pauses: a hub that restarts is met evenly
  const SILENCE = 45000;
  const TURN = 30000;
  let attempt = 0;
  let socket, timer;

  const tell = (what) => document.dispatchEvent(new CustomEvent("agora:own-line", { detail: { what } }));
  const between = (least, most) => least + Math.random() * (most - least);

  function open() {
    socket = new WebSocket(location.origin.replace("http", "ws") + path);
    socket.addEventListener("message", hear);
    socket.addEventListener("close", closed);
    listen();
  }

  // A line that says nothing for so long is given up; the close of a dead one may take minutes to be noticed.
  function listen() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      socket.close();
      closed({ target: socket });
    }, SILENCE);
  }

  function hear({ data, target }) {
    if (target !== socket) return;
    listen();
    attempt = 0;
    tell("open");
    const { mail } = JSON.parse(data);
    if (mail) document.dispatchEvent(new CustomEvent("agora:mail", { detail: mail }));
  }

  function closed({ code, target }) {
    if (target !== socket) return;
    socket = null;
    clearTimeout(timer);
    tell("lost");
    if (ENDS.includes(code)) return;
    timer = setTimeout(open, attempt ? (attempt === 1 ? between(0, TURN) : TURN) : between(2000, 12000));
    attempt += 1;
  }

  open();
})();
