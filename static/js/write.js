// Writing a letter: who gets it is looked up while it is typed, a text that is too large is said while it is still
// here, and nothing that was typed is lost to a hub that does not answer.
(() => {
  "use strict";
  const SETTLES = 400; // milliseconds without another key
  const PATIENCE = 30000; // milliseconds for an answer
  const field = (name) => document.getElementById("letter")?.elements[name];
  let asked = field("to").value;
  let timer;

  async function who() {
    clearTimeout(timer);
    const to = field("to");
    if (!to || to.value === asked) return;
    asked = to.value;
    try {
      const answer = await fetch(`/inbox/write/who/?to=${encodeURIComponent(asked)}`, { headers: { Accept: "text/html" } });
      if (!answer.ok || answer.redirected || field("to")?.value !== asked) return;
      const said = parsed(await answer.text()).getElementById("who");
      document.getElementById("who").replaceChildren(...said.childNodes);
      document.dispatchEvent(new CustomEvent("agora:changed"));
    } catch {
      asked = null; // asked again at the next change
    }
  }

  function typed() {
    clearTimeout(timer);
    timer = setTimeout(who, SETTLES);
    document.getElementById("to-error")?.remove(); // it was about what stood here before
    field("to").removeAttribute("aria-invalid");
  }

  const parsed = (text) => new DOMParser().parseFromString(text, "text/html");

  function size() {
    const body = field("body");
    if (!body) return;
    const bytes = new TextEncoder().encode(body.value).length;
    const over = bytes > Number(body.dataset.most);
    body.setCustomValidity(over ? `The text has ${bytes} bytes, ${body.dataset.most} at most. Nothing was sent.` : "");
  }

  // The browser's own way would leave the page before it knows whether anybody answers. The form's key makes it one
  // letter, however often it is sent.
  async function send(event) {
    const form = event.target;
    if (form.id !== "letter") return;
    event.preventDefault();
    const body = new FormData(form, event.submitter);
    busy(form, true);
    say("");
    let answer;
    try {
      const signal = AbortSignal.timeout(PATIENCE);
      answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" }, signal });
      if (answer.redirected) return location.assign(answer.url);
      show(parsed(await answer.text()), answer.status);
    } catch {
      busy(form, false);
      const why = answer ? "cannot take it now" : "does not answer";
      say(`Not sent, as far as this page knows: the hub ${why}. Your text is kept here; press Send again, it goes out once.`);
    }
  }

  function busy(form, is) {
    for (const button of form.querySelectorAll("button")) button.disabled = is;
  }

  function say(words) {
    const said = document.getElementById("not-sent");
    if (said) said.textContent = words;
  }

  // Anything but a page of the hub is somebody else's word for a hub that is away.
  function show(page, status) {
    const main = page.getElementById("main");
    if (!main || status >= 500) throw new Error(status);
    document.getElementById("main").replaceWith(main);
    document.title = page.title;
    asked = field("to")?.value;
    size();
    document.dispatchEvent(new CustomEvent("agora:changed"));
    main.querySelector("[aria-invalid], [autofocus]")?.focus();
  }

  // What is shown after a refused send is another form, so nothing is bound to its fields.
  document.addEventListener("input", ({ target }) => {
    if (target === field("to")) typed();
    if (target === field("body")) size();
  });
  document.addEventListener("change", ({ target }) => target === field("to") && who());
  document.addEventListener("submit", send);
  size();
})();
