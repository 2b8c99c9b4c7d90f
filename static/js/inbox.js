// The inbox: what was ticked, opening a message beside its list, marking it read, and a list that comes anew.
(() => {
  "use strict";
  const SLOWLY = 30000; // an ack under a lease changes no count, so nobody says it
  const beside = matchMedia("(min-width: 1001px)");
  const list = document.querySelector(".list");
  let stale = false;
  let held = 0; // arrivals that the list does not show yet

  // ---- ticking ----

  function tell() {
    const form = document.getElementById("ticking");
    if (!form) return;
    const count = list.querySelectorAll("input:checked").length;
    document.getElementById("ticked").textContent = count ? `Done with ${count} ticked` : "Done: ticked";
    for (const button of form.querySelectorAll("[name=act]")) button.disabled = !count;
  }

  // ---- opening ----

  async function open(address, told) {
    const answer = await fetch(address, { headers: { Accept: "text/html" }, cache: "no-store" }).catch(() => null);
    if (!answer) return away();
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const thread = page.getElementById("thread");
    if (!answer.ok || answer.redirected || !thread) return location.assign(address);
    document.getElementById("thread").replaceWith(thread);
    document.querySelector(".mail").classList.toggle("reading", page.querySelector(".mail.reading") !== null);
    document.title = page.title;
    if (told) history.pushState(null, "", address);
    for (const row of list.querySelectorAll("#rows > li")) {
      if (page.getElementById(row.id)?.hasAttribute("aria-current")) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
    htmx.process(thread);
    document.getElementById("subject").focus({ preventScroll: true });
    reach();
    document.dispatchEvent(new CustomEvent("agora:changed"));
    read();
  }

  // The browser's own page about it would take the list away.
  function away() {
    const thread = document.getElementById("thread");
    const said = document.createElement("p");
    [said.id, said.className, said.textContent] = ["away", "field-error", "Not opened: the hub does not answer. Try again."];
    said.setAttribute("role", "alert");
    document.getElementById("away")?.remove();
    thread.prepend(said);
  }

  // The message that was asked for may be the last of a long thread.
  function reach() {
    const thread = document.getElementById("thread");
    const letter = document.getElementById(`letter-${thread.dataset.seq}`);
    if (letter?.previousElementSibling?.matches(".letter")) letter.scrollIntoView({ block: "nearest" });
  }

  // ---- reading ----

  async function read() {
    const form = document.getElementById("read");
    if (!form || document.hidden) return;
    form.hidden = true;
    try {
      const body = new FormData(form);
      const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" });
      if (answer.type !== "opaqueredirect") throw new Error(answer.status);
      for (const seq of body.getAll("seq")) unmark(document.getElementById(`m${seq}`));
      form.remove();
      document.dispatchEvent(new CustomEvent("agora:read"));
      if (document.querySelector("#boxes a[aria-current][href$='/dead/']")) refresh(); // its count is of the unread
    } catch {
      form.hidden = false; // the button does it
    }
  }

  function unmark(row) {
    row?.classList.remove("unread");
    row?.querySelector(".from .vh")?.remove();
  }

  // ---- a list that comes anew, and never under the pointer that is about to tick ----

  function anew() {
    stale = list.querySelector("#rows:hover") !== null;
    if (!stale && !document.hidden) refresh();
  }

  function refresh() {
    stale = false;
    hold(0);
    document.dispatchEvent(new CustomEvent("agora:ask"));
  }

  function hold(count) {
    held = count;
    const button = document.getElementById("held");
    if (!button) return;
    button.hidden = !held;
    button.textContent = `${held} new: show`;
  }

  document.addEventListener("change", tell);
  document.addEventListener("agora:changed", tell);
  document.addEventListener("agora:box", anew);
  document.addEventListener("agora:toast", ({ detail }) => stale && hold(held + detail.count));
  document.getElementById("held")?.addEventListener("click", refresh);
  list.addEventListener("pointerleave", () => stale && anew());
  document.addEventListener("visibilitychange", () => {
    read();
    anew();
  });
  setInterval(anew, SLOWLY);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#rows a.opens");
    const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!link || !plain || !beside.matches) return;
    event.preventDefault();
    open(link.href, true).catch(() => location.assign(link.href));
  });
  window.addEventListener("popstate", () => open(location.href, false).catch(() => location.reload()));
  tell();
  reach();
  read();
})();
