// Times that go on counting, the reader's own zone, copying a command, closing an opened evidence, choosing a filter.
(() => {
  "use strict";
  const MINUTE = 60, HOUR = 3600, DAY = 86400;
  let ahead = 0; // the server's clock minus this machine's, in milliseconds

  let heard = ""; // the last "now" the server said

  // Each "now" counts once. A page back from the browser's own store carries an old one: only remember that.
  function readClock(trusted) {
    const said = document.getElementById("cursor")?.dataset.now;
    if (!said || said === heard) return;
    heard = said;
    if (trusted) setClock(said);
  }

  function setClock(said) {
    ahead = Date.parse(said) - Date.now();
  }

  const now = () => new Date(Date.now() + ahead);

  function ageWords(seconds) {
    if (seconds < 1) return "now";
    if (seconds < MINUTE) return `${Math.floor(seconds)} s ago`;
    if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`;
    if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h ago`;
    return `${Math.floor(seconds / DAY)} d ago`;
  }

  function clockWords(moment) {
    const today = now();
    const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
    if (moment.toDateString() === today.toDateString()) return moment.toLocaleTimeString("en-GB", clock);
    const date = { day: "numeric", month: "short" };
    if (moment.getFullYear() !== today.getFullYear()) date.year = "numeric";
    return `${moment.toLocaleDateString("en-GB", date)} ${moment.toLocaleTimeString("en-GB", clock)}`;
  }

  function write(element, words) {
    if (element.textContent !== words) element.textContent = words;
  }

  const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });

  function localise(root) {
    for (const element of root.querySelectorAll("time[datetime]")) {
      const moment = new Date(element.dateTime);
      element.title = exact.format(moment);
      if ("when" in element.dataset) write(element, clockWords(moment));
    }
  }

  function count() {
    let young = false;
    for (const element of document.querySelectorAll("time[data-ago][datetime]")) {
      const seconds = (now() - Date.parse(element.dateTime)) / 1000;
      young ||= seconds < MINUTE;
      write(element, ageWords(seconds));
    }
    return young;
  }

  let timer;
  function tick() {
    clearTimeout(timer);
    if (document.hidden) return;
    timer = setTimeout(tick, count() ? 1000 : 10000);
  }

  function closeEvidence(except) {
    for (const open of document.querySelectorAll("details.ev[open]")) {
      if (open === except) continue;
      if (open.contains(document.activeElement)) open.querySelector("summary").focus();
      open.open = false;
    }
  }

  async function copy(button) {
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select it and copy by hand";
    }
  }

  // What comes from the server has them hidden, since without a script they do nothing.
  function offer() {
    for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;
  }

  const [visit] = performance.getEntriesByType("navigation");
  readClock(visit?.type !== "back_forward");
  localise(document);
  tick();
  offer();
  document.addEventListener("visibilitychange", tick);
  // Back from the browser's own store the page would show what was, maybe to somebody who signed out: ask anew.
  window.addEventListener("pageshow", (event) => event.persisted && location.reload());
  document.addEventListener("keydown", (event) => event.key === "Escape" && closeEvidence(null));
  for (const choice of document.querySelectorAll("form.filters select")) {
    choice.addEventListener("change", () => choice.form.requestSubmit());
  }
  document.addEventListener("click", (event) => {
    closeEvidence(event.target.closest("details.ev"));
    const button = event.target.closest("button[data-copy]");
    if (button) copy(button);
  });
  document.addEventListener("agora:changed", ({ detail }) => {
    if (detail?.now) setClock(detail.now);
    else readClock(true);
    localise(document);
    offer();
    tick();
  });
})();
