// The live region: says honestly whether the page is live, and asks the server by itself where no websocket gets
// through. What the server sends is a hint; the page it renders is the truth.
(() => {
  "use strict";
  const region = document.querySelector("[data-parts]");
  if (!region) return;

  const ENDED = { 4401: "signed out", 4403: "you may not watch this page", 4404: "this agent is not in the registry" };
  const PATIENCE = 10000; // without a connection for so long, ask by plain requests
  const ASK_EVERY = 15000;
  const mark = document.getElementById("connection");
  let state = "";
  let since = new Date();
  let asking;

  // ---- the connection mark ----

  function clock(moment) {
    const time = document.createElement("time");
    time.dateTime = moment.toISOString();
    time.dataset.when = "";
    time.setAttribute("aria-live", "off"); // a clock that moves on is no news
    return time;
  }

  function say(next, ...words) {
    if (next === state) return;
    state = next;
    mark.dataset.state = next;
    mark.replaceChildren(...words);
    document.dispatchEvent(new CustomEvent("agora:changed"));
  }

  function live() {
    stopAsking();
    say("live", "live");
  }

  function catchUp() {
    stopAsking();
    say("catching", "catching up");
  }

  function lost(moment) {
    if (state === "live" || state === "catching") since = moment;
    if (state !== "asking") say("lost", "not live since ", clock(since), " · retrying");
    askIn(PATIENCE);
  }

  function ended(code) {
    stopAsking();
    const link = document.createElement("a");
    const here = encodeURIComponent(location.pathname + location.search);
    [link.href, link.textContent] = code === 4404 ? ["/", "roster"] : [`/sign-in/?next=${here}`, "sign in"];
    say("gone", `${ENDED[code]} · `, link);
  }

  // ---- plain requests, where no websocket gets through ----

  function askIn(delay) {
    if (state === "gone" || asking) return; // failing attempts must not put the question off
    asking = setTimeout(ask, delay);
  }

  function stopAsking() {
    clearTimeout(asking);
    asking = null;
  }

  async function ask() {
    asking = null;
    if (document.hidden) return; // asked again when somebody looks
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
      if (new URL(answer.url).pathname === "/sign-in/") return end(4401);
      if (answer.status === 403) return end(4403);
      const text = await answer.text();
      if (answer.ok && state !== "live") await take(text);
    } catch {
      // still away; the mark says since when
    }
    if (state !== "live") askIn(ASK_EVERY);
  }

  // The line hears it too, and stops trying.
  const end = (code) => document.dispatchEvent(new CustomEvent("agora:line", { detail: { what: "ended", code } }));

  async function swap(text) {
    const parts = region.dataset.parts;
    await htmx.swap({ sourceElement: region, target: region, swap: "none", selectOOB: parts, text, transition: false });
  }

  // The line says that there is something to be asked for, and does not carry it.
  async function refresh() {
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
      if (answer.ok && !answer.redirected) await swap(await answer.text());
    } catch {
      // the line notices by itself
    }
  }

  async function take(text) {
    await swap(text);
    if (state === "live") return;
    say("asking", "not live · asked at ", clock(new Date()), ", again every 15 s");
    // Only the time moves from then on: a mark that is written anew is read out anew.
    mark.querySelector("time").dateTime = new Date().toISOString();
    document.dispatchEvent(new CustomEvent("agora:changed"));
  }

  document.addEventListener("agora:line", ({ detail }) => {
    if (state === "gone") return;
    if (detail.what === "live") live();
    else if (detail.what === "open") catchUp();
    else if (detail.what === "lost") lost(detail.since);
    else ended(detail.code);
  });
  document.addEventListener("agora:ask", refresh);
  document.addEventListener("agora:page", ({ detail }) => swap(detail.text).then(detail.done));
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && state !== "live") askIn(PATIENCE);
  });

  askIn(PATIENCE);
})();
