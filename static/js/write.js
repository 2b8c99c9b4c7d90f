// Writing a letter: who gets it now is looked up when the field is left, and a text that is too large is said while it
// is still here.
(() => {
  "use strict";
  const form = document.getElementById("letter");
  const { to, body } = form.elements;
  const most = Number(body.dataset.most);
  let asked = to.value;

  async function who() {
    if (to.value === asked) return;
    asked = to.value;
    try {
      const answer = await fetch(`/inbox/write/who/?to=${encodeURIComponent(asked)}`, { headers: { Accept: "text/html" } });
      if (!answer.ok || answer.redirected || to.value !== asked) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.getElementById("who").replaceChildren(...page.getElementById("who").childNodes);
      document.dispatchEvent(new CustomEvent("agora:changed"));
    } catch {
      asked = null; // asked again at the next change
    }
  }

  function size() {
    const bytes = new TextEncoder().encode(body.value).length;
    const over = bytes > most;
    body.setCustomValidity(over ? `The text has ${bytes} bytes, ${most} at most. Nothing was sent.` : "");
  }

  to.addEventListener("change", who);
  body.addEventListener("input", size);
  // A second click while the first is under way would only ask for the same once more.
  form.addEventListener("submit", () => setTimeout(() => (form.querySelector("button.main").disabled = true)));
  size();
})();
