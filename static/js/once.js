// A form that acts is sent once: its buttons wait for the answer. Back on the page, they can be pressed again.
(() => {
  "use strict";
  function busy(form, is) {
    for (const button of form.querySelectorAll("button")) button.disabled = is;
  }

  document.addEventListener("submit", ({ target, defaultPrevented }) => {
    // The browser collects the fields after this, and leaves out a button that is disabled by then.
    if (target.matches("[data-once]") && !defaultPrevented) setTimeout(busy, 0, target, true);
  });
  window.addEventListener("pagehide", () => document.querySelectorAll("[data-once]").forEach((form) => busy(form, false)));
})();
