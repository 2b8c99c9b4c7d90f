// Says who newly needs a person while the page is open, and that mail came. Nothing else is ever announced like this.
(() => {
  "use strict";
  const news = document.getElementById("news");
  if (!news) return;
  const AT_ONCE = 3;
  const STAYS = 12000;
  let known = new Set(needs().keys());
  let untold = 0;

  // The entries of "Needs you" by their keys.
  function needs() {
    const entries = [...document.querySelectorAll("#summary .needs li")];
    return new Map(entries.map((entry) => [entry.dataset.need, entry]));
  }

  function compare() {
    const now = needs();
    for (const toast of news.querySelectorAll("[data-need]")) if (!now.has(toast.dataset.need)) leave(toast);
    for (const [key, entry] of now) if (!known.has(key)) announce(key, entry);
    known = new Set(now.keys());
  }

  function announce(key, entry) {
    if (news.querySelectorAll("[data-need]").length === AT_ONCE) return tellMore(untold + 1);
    const toast = show(link(entry.querySelector("a")), reason(entry));
    toast.dataset.need = key;
    toast.classList.toggle("urgent", Boolean(entry.querySelector(".sign-alarm")));
  }

  function tellMore(count) {
    untold = count;
    news.querySelector(".more")?.remove();
    const all = document.createElement("a");
    all.href = "#summary";
    all.textContent = `and ${count} more`;
    show(all, "").classList.add("more");
  }

  function link({ href, textContent }) {
    const link = document.createElement("a");
    link.href = href;
    link.className = "id";
    link.textContent = textContent;
    return link;
  }

  // Why, without the age: that would stand still here.
  function reason(entry) {
    const why = entry.querySelector(".what").cloneNode(true);
    why.querySelector("time")?.remove();
    return why.textContent.replace(/[\s·]+$/, "");
  }

  function show(who, why) {
    const toast = document.createElement("p");
    const words = document.createElement("span");
    words.append(who, " ", why);
    const dismiss = document.createElement("button");
    dismiss.type = "button";
    dismiss.className = "quiet";
    dismiss.textContent = "Dismiss";
    dismiss.setAttribute("aria-label", `Dismiss ${who.textContent}`);
    dismiss.addEventListener("click", () => leave(toast));
    toast.className = "toast";
    toast.append(words, dismiss);
    news.append(toast);
    setTimeout(() => leaveUnread(toast), STAYS);
    return toast;
  }

  function leaveUnread(toast) {
    if (toast.matches(":hover, :focus-within")) setTimeout(() => leaveUnread(toast), 1000);
    else leave(toast);
  }

  function leave(toast) {
    const next = toast.nextElementSibling ?? toast.previousElementSibling;
    const focused = toast.contains(document.activeElement);
    toast.remove();
    if (toast.classList.contains("more")) untold = 0;
    if (focused) (next?.querySelector("button") ?? document.getElementById("main")).focus();
  }

  // Mail is said in one toast, however much of it came: the newest word takes the place of the one before.
  document.addEventListener("agora:toast", ({ detail }) => {
    news.querySelector(`[data-key="${detail.key}"]`)?.remove();
    const said = link(detail.link);
    said.className = "";
    show(said, detail.why).dataset.key = detail.key;
  });
  document.addEventListener("agora:changed", compare);
})();
