// What a push does to the page: parts find their targets, changed values are marked, bare times move.
(() => {
  "use strict";
  if (!document.querySelector("[data-parts]")) return;

  const changed = (now) => document.dispatchEvent(new CustomEvent("agora:changed", { detail: { now } }));

  function incoming(event) {
    const { data } = event.detail.message;
    if (typeof data !== "string" || !data.startsWith("{")) return;
    event.preventDefault(); // facts, not a fragment: nothing to swap
    const { seen = {}, now, mail, box } = JSON.parse(data);
    for (const [id, moment] of Object.entries(seen)) moveTimes(id, moment);
    document.dispatchEvent(new CustomEvent("agora:line", { detail: { what: "live" } }));
    if (mail) document.dispatchEvent(new CustomEvent("agora:mail", { detail: mail }));
    if (box) document.dispatchEvent(new CustomEvent("agora:box", { detail: box }));
    changed(now);
  }

  function moveTimes(id, moment) {
    for (const time of document.getElementById(id)?.querySelectorAll("time[data-seen]") ?? []) time.dateTime = moment;
  }

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

  // Whoever walks the rows by keys goes on from the place of a row that left.
  let walked = null;

  function rememberRow() {
    const row = document.activeElement?.closest("#rows > *");
    walked = row && { row, at: [...row.parentNode.children].indexOf(row) };
  }

  function keepPlace() {
    if (!walked || walked.row.isConnected) return;
    const rows = document.querySelectorAll("#rows > *");
    rows[Math.min(walked.at, rows.length - 1)]?.querySelector("a.id, a.opens").focus({ preventScroll: true });
  }

  document.addEventListener("htmx:before:swap", (event) => {
    const { ctx, tasks } = event.detail;
    rememberRow();
    findLate(tasks, ctx.text);
    for (const { fragment } of tasks) {
      trim(fragment);
      markChanges(fragment);
    }
  });
  document.addEventListener("htmx:after:swap", () => {
    keepPlace();
    changed();
  });
  document.addEventListener("animationend", (event) => event.target.classList.remove("changed"));
  document.addEventListener("htmx:ws:before:message:incoming", incoming);
})();
