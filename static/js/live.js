// The live region: says honestly whether the page is live, resumes where it stopped, marks what changed, and asks the
// server by itself where no websocket gets through. What the server sends is a hint; the page it renders is the truth.
(() => {
  "use strict";
  const region = document.querySelector("[data-parts]");
  if (!region) return;

  const GONE = { 4401: "signed out", 4403: "you may not watch this page" };
  const PATIENCE = 10000; // without a connection for so long, ask by plain requests
  const ASK_EVERY = 15000;
  const QUIET = 1500; // a server with nothing to catch up on may say nothing at all
  const mark = document.getElementById("connection");
  let state = "";
  let since = new Date();
  let asking, quiet;

  // ---- the connection mark ----

  function clock(moment) {
    const time = document.createElement("time");
    time.dateTime = moment.toISOString();
    time.dataset.when = "";
    return time;
  }

  function say(next, ...words) {
    if (next === state && next !== "asking") return;
    state = next;
    mark.dataset.state = next;
    mark.replaceChildren(...words);
    changed();
  }

  const changed = () => document.dispatchEvent(new CustomEvent("agora:changed"));

  function live() {
    clearTimeout(quiet);
    stopAsking();
    say("live", "live");
  }

  function catchUp() {
    stopAsking();
    clearTimeout(quiet);
    quiet = setTimeout(live, QUIET);
    say("catching", "catching up");
  }

  function lost() {
    clearTimeout(quiet);
    if (state === "live" || state === "catching") since = new Date();
    if (state !== "asking") say("lost", "not live since ", clock(since), " · retrying");
    askIn(PATIENCE);
  }

  function gone(why) {
    clearTimeout(quiet);
    stopAsking();
    const link = document.createElement("a");
    link.href = `/sign-in/?next=${encodeURIComponent(location.pathname + location.search)}`;
    link.textContent = "sign in";
    say("gone", `${why} · `, link);
  }

  // ---- the websocket ----

  function resumeFrom(connection) {
    const url = new URL(connection.url);
    const cursor = document.getElementById("cursor").dataset;
    url.searchParams.set("rev", cursor.rev);
    url.searchParams.set("as_of", cursor.now);
    connection.url = url.href;
  }

  function closed({ code, connection, reason }) {
    if (reason !== "closed") return;
    if (GONE[code]) gone(GONE[code]);
    else lost();
    if (!connection.config.reconnectCodes.includes(code)) askIn(0);
  }

  function incoming(event) {
    const { data } = event.detail.message;
    if (typeof data !== "string" || !data.startsWith("{")) return;
    event.preventDefault(); // facts, not a fragment: nothing to swap
    for (const [id, moment] of Object.entries(JSON.parse(data).seen ?? {})) seen(id, moment);
    live();
    changed();
  }

  function seen(id, moment) {
    for (const time of document.getElementById(id)?.querySelectorAll("time[data-seen]") ?? []) {
      time.dateTime = moment;
      time.title = `${moment.slice(0, 19).replace("T", " ")} UTC`;
    }
  }

  // ---- plain requests, where no websocket gets through ----

  function askIn(delay) {
    if (state === "gone" || (asking && delay)) return; // failing attempts must not put the question off
    stopAsking();
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
      if (new URL(answer.url).pathname !== location.pathname || answer.status === 403) return gone(GONE[4401]);
      if (answer.ok && state !== "live") await take(await answer.text());
    } catch {
      // still away; the mark says since when
    }
    if (state !== "live") askIn(ASK_EVERY);
  }

  async function take(text) {
    const parts = region.dataset.parts;
    await htmx.swap({ sourceElement: region, target: region, swap: "none", selectOOB: parts, text, transition: false });
    say("asking", "not live · asked at ", clock(new Date()), ", again every 15 s");
  }

  // ---- what changed ----

  // htmx looks for every target before it swaps the first part; a row that an earlier part brings is found later, by
  // its selector.
  function findLate(tasks, text) {
    const targets = [...text.matchAll(/<hx-partial hx-target="(#[\w-]+)"/g)].map(([, target]) => target);
    tasks.filter(({ type }) => type === "partial").forEach((task, at) => (task.target ??= targets[at]));
  }

  // A line break around a pushed element would stay in the page, one more with each push.
  function trim(fragment) {
    const blank = (node) => node?.nodeType === Node.TEXT_NODE && !node.data.trim();
    while (blank(fragment.firstChild)) fragment.firstChild.remove();
    while (blank(fragment.lastChild)) fragment.lastChild.remove();
  }

  function words(element) {
    const copy = element.cloneNode(true);
    for (const moving of copy.querySelectorAll("time, .pop")) moving.remove();
    return copy.textContent.replace(/\s+/g, " ");
  }

  function markChanges(fragment) {
    for (const value of fragment.querySelectorAll("[id] [data-v]")) {
      const home = document.getElementById(value.closest("[id]").id);
      const before = home?.querySelector(`[data-v="${value.dataset.v}"]`);
      if (before && words(before) !== words(value)) value.classList.add("changed");
    }
  }

  document.addEventListener("htmx:before:swap", (event) => {
    const { ctx, tasks } = event.detail;
    findLate(tasks, ctx.text);
    for (const { fragment } of tasks) {
      trim(fragment);
      markChanges(fragment);
    }
  });
  document.addEventListener("htmx:after:swap", changed);
  document.addEventListener("animationend", (event) => event.target.classList.remove("changed"));
  document.addEventListener("htmx:ws:before:connection", (event) => resumeFrom(event.detail.connection));
  document.addEventListener("htmx:ws:after:connection", catchUp);
  document.addEventListener("htmx:ws:before:message:incoming", incoming);
  document.addEventListener("htmx:ws:after:message:incoming", (event) => {
    // A tab that wakes up connects again by itself and asks nobody: keep its address ready.
    resumeFrom(event.detail.connection);
    live();
  });
  document.addEventListener("htmx:ws:close", (event) => closed(event.detail));
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && state !== "live") askIn(PATIENCE);
  });

  askIn(PATIENCE);
})();
