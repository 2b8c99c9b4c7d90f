// A button that acts where it stands: the page comes back changed in place, the focus stays where it was, and what
// happened is said once. Without this script the same form leads to the same page.
(() => {
  "use strict";
  const PATIENCE = 30000; // milliseconds for an answer

  async function act(event) {
    const form = event.target;
    if (!form.matches("[data-here]")) return;
    event.preventDefault();
    const button = event.submitter;
    const action = button?.getAttribute("formaction") ?? form.action;
    button.setAttribute("aria-disabled", "true"); // a disabled button would lose the focus
    try {
      const told = { method: "POST", body: new FormData(form), headers: { Accept: "text/html" } };
      const answer = await fetch(action, { ...told, signal: AbortSignal.timeout(PATIENCE) });
      show(await answer.text(), answer, button.id);
    } catch {
      say("Not done, as far as this page knows: the hub does not answer. Try again.");
    } finally {
      button.removeAttribute("aria-disabled");
    }
  }

  // The page that the act leads to is this one. Any other says why it could not be done.
  function show(text, { redirected, url }, id) {
    if (redirected && new URL(url).pathname === "/sign-in/") return location.assign(url);
    const page = new DOMParser().parseFromString(text, "text/html");
    const told = page.querySelector(redirected ? "#said" : "[role=alert], .field-error")?.textContent ?? "Not done.";
    const done = () => {
      if (document.activeElement === document.body) document.getElementById(id)?.focus();
      say(told.replace(/\s+/g, " ").trim());
    };
    if (redirected) return document.dispatchEvent(new CustomEvent("agora:page", { detail: { text, done } }));
    document.dispatchEvent(new CustomEvent("agora:ask"));
    done();
  }

  function say(words) {
    const said = document.createElement("p");
    [said.className, said.textContent] = ["notice", words];
    document.getElementById("said").replaceChildren(...(words ? [said] : []));
  }

  document.addEventListener("submit", (event) => {
    if (event.submitter?.getAttribute("aria-disabled") === "true") event.preventDefault();
    else act(event);
  });
})();
