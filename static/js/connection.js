// The life of the websocket: it resumes where the page stands, is given up when it was silent for too long, and comes
// back in a turn of its own. What happens to it is told as "agora:line" events, which live.js shows.
(() => {
  "use strict";
  const region = document.querySelector("[data-parts]");
  if (!region) return;

  const ENDS = [4401, 4403, 4404]; // signed out, no right, nobody to show: coming back would change nothing
  const SILENCE = 45000; // the hub says something every 17 s at the latest
  const LOOK_EVERY = 5000;
  const TURN = 30000;
  let line, watched, renewal;
  let ended = false;
  let heard = Date.now();
  let looked = Date.now();

  const between = (least, most) => least + Math.random() * (most - least);
  const tell = (what, more) => document.dispatchEvent(new CustomEvent("agora:line", { detail: { what, ...more } }));

  // All pages lose a hub that restarts in the same moment. The first attempt leaves it the time to start, the second
  // draws the page's turn, the others keep to it: pages return in an even stream, however long the hub was away.
  function pause(attempt) {
    if (attempt === 0) return between(2000, 12000);
    return attempt === 1 ? between(0, TURN) : TURN;
  }

  function resumeFrom(connection) {
    const url = new URL(connection.url);
    const cursor = document.getElementById("cursor").dataset;
    url.searchParams.set("rev", cursor.rev);
    url.searchParams.set("as_of", cursor.now);
    connection.url = url.href;
    line = connection;
  }

  function closed({ code, connection, reason }) {
    if (reason !== "closed") return;
    keep();
    const { config, attempt } = connection;
    config.reconnectCodes = ENDS.includes(code) || ended ? [] : [code];
    config.reconnectDelay = config.reconnectMaxDelay = pause(attempt);
    tell(ENDS.includes(code) ? "ended" : "lost", { code, since: new Date() });
  }

  function end() {
    ended = true;
    keep();
    clearTimeout(line?.timer);
  }

  function hear() {
    watched = line.socket;
    heard = Date.now();
    keep();
  }

  function keep() {
    clearTimeout(renewal);
    renewal = null;
  }

  // htmx cleans the region up, its old socket with it, and connects it anew.
  function renew() {
    renewal = null;
    htmx.process(region, true);
  }

  // A machine that slept is alone with that and connects at once. A hub that fell silent is noticed by every page, so
  // they do not all come at once.
  function look(woken) {
    const slept = Date.now() - looked > 3 * LOOK_EVERY;
    looked = Date.now();
    if (ended || document.hidden || !line?.socket || line.socket.readyState > WebSocket.OPEN) return;
    if (line.socket !== watched) hear(); // a new attempt has its own time
    if (renewal || Date.now() - heard < SILENCE) return;
    tell("lost", { since: new Date(heard) });
    renewal = setTimeout(renew, woken || slept ? 1000 : between(0, 10000));
  }

  document.addEventListener("htmx:ws:before:connection", ({ detail }) => resumeFrom(detail.connection));
  document.addEventListener("htmx:ws:after:connection", () => {
    hear();
    tell("open");
  });
  document.addEventListener("htmx:ws:before:message:incoming", hear);
  document.addEventListener("htmx:ws:after:message:incoming", ({ detail }) => {
    // A tab that is shown again connects by itself and asks nobody: keep its address ready.
    resumeFrom(detail.connection);
    tell("live");
  });
  document.addEventListener("htmx:ws:close", ({ detail }) => closed(detail));
  document.addEventListener("agora:line", ({ detail }) => detail.what === "ended" && end());
  document.addEventListener("resume", () => look(true));
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) clearTimeout(line?.timer); // shown again, htmx connects at once
    look(true);
  });
  setInterval(look, LOOK_EVERY);
})();
