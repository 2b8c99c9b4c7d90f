// A list that must not move under the reader: asks every 15 s whether there is more, and only says so.
(() => {
  "use strict";
  const line = document.getElementById("newer");
  if (!line) return;
  const EVERY = 15000;
  const asked = document.getElementById("newer-asked");
  let answered = new Date();
  let timer;

  function clock(moment) {
    const time = document.createElement("time");
    time.dateTime = moment.toISOString();
    time.dataset.when = "";
    return time;
  }

  function say(state, ...words) {
    line.dataset.state = state;
    asked.replaceChildren(...words);
    document.dispatchEvent(new CustomEvent("agora:changed"));
  }

  // The count is a live region: it is touched only where it says something else than before.
  function show(text) {
    const found = new DOMParser().parseFromString(text, "text/html").getElementById("newer-said");
    const said = document.getElementById("newer-said");
    if (said.textContent !== found.textContent) said.replaceChildren(...found.childNodes);
    answered = new Date();
    say("asked", "· asked at ", clock(answered), ", again every 15 s");
  }

  function ended() {
    const link = document.createElement("a");
    link.href = `/sign-in/?next=${encodeURIComponent(location.pathname + location.search)}`;
    link.textContent = "sign in";
    document.getElementById("newer-said").replaceChildren();
    say("gone", "signed out · ", link);
  }

  async function ask() {
    timer = null;
    if (document.hidden) return; // asked as soon as somebody looks
    try {
      const answer = await fetch(line.dataset.ask, { headers: { Accept: "text/html" }, cache: "no-store" });
      if (answer.redirected || answer.status === 403) return ended();
      if (!answer.ok) throw new Error(answer.status);
      show(await answer.text());
    } catch {
      say("lost", "no answer since ", clock(answered), " · asking again every 15 s");
    }
    timer = setTimeout(ask, EVERY);
  }

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && !timer && line.dataset.state !== "gone") ask();
  });
  timer = setTimeout(ask, EVERY);
})();
