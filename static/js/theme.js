// Runs before the first paint, so that a chosen theme never flashes the other one.
(() => {
  "use strict";
  const KEY = "agora-theme";
  const NEXT = { system: "light", light: "dark", dark: "system" };
  const root = document.documentElement;

  function stored() {
    try {
      const value = localStorage.getItem(KEY);
      return value in NEXT ? value : "system";
    } catch {
      return "system"; // storage may be forbidden; the system's theme is a good answer
    }
  }

  function show(theme) {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
  }

  function label(button, theme) {
    const word = document.createElement("span");
    word.className = "theme-word";
    word.textContent = "theme: ";
    button.replaceChildren(word, theme);
    button.setAttribute("aria-label", `Theme: ${theme}. Change to ${NEXT[theme]}.`);
  }

  let theme = stored();
  show(theme);

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    label(button, theme);
    button.hidden = false;
    button.addEventListener("click", () => {
      theme = NEXT[theme];
      show(theme);
      label(button, theme);
      try {
        localStorage.setItem(KEY, theme);
      } catch {
        // not kept, still shown
      }
    });
  });
})();
