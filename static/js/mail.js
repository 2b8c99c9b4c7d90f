// New mail of the page's person: the count beside "Inbox", and one toast for what arrived. Asked for when the hub says
// that the inbox changed, and every 15 s where no line says it.
(() => {
  "use strict";
  const link = document.getElementById("mail");
  if (!link) return;
  const EVERY = 15000;
  let { newest, waiting } = link.dataset;
  let asking = Promise.resolve();

  async function ask() {
    if (document.hidden) return; // asked once somebody looks
    try {
      const answer = await fetch(`/inbox/news/?after=${newest}`, { headers: { Accept: "text/html" }, cache: "no-store" });
      if (!answer.ok || answer.redirected) return; // whoever was signed out hears of it elsewhere
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      show(page.getElementById("mail-news"));
    } catch {
      // asked again
    }
  }

  // One question at a time: two answers to the same one would say the same arrival twice.
  function news() {
    asking = asking.then(ask);
  }

  function show(news) {
    newest = news.dataset.newest;
    const count = document.getElementById("mail-count"), said = news.querySelector("#mail-count");
    if (count.textContent !== said.textContent) count.replaceChildren(...said.childNodes);
    const about = news.querySelector("a");
    if (!about) return;
    const detail = { link: about, why: about.nextElementSibling.textContent, key: "mail", count: Number(news.dataset.arrived) };
    document.dispatchEvent(new CustomEvent("agora:toast", { detail }));
  }

  // A line that comes back says what waits now; what came and went meanwhile leaves the same number behind.
  let lost = false;
  let told = false; // whether the page's line, or the person's own, would say it
  function follow({ detail: { what } }) {
    told = what === "live" || what === "open";
    lost ||= what === "lost";
  }
  document.addEventListener("agora:line", follow);
  document.addEventListener("agora:own-line", follow);
  document.addEventListener("agora:mail", ({ detail }) => {
    if (!lost && String(detail.waiting) === waiting) return;
    [waiting, lost] = [String(detail.waiting), false];
    news();
  });
  document.addEventListener("agora:read", news);
  document.addEventListener("visibilitychange", () => document.hidden || news());
  setInterval(() => told || news(), EVERY);
})();
