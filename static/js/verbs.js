// The menu of verbs is drawn for whoever looks, while a push is the same for everybody: the page is asked for its menu
// again where what the agent allows has changed.
(() => {
  "use strict";
  const allowed = () => document.getElementById("employment").dataset.allowed;
  let drawn = allowed();

  document.addEventListener("agora:changed", () => {
    if (allowed() === drawn) return;
    drawn = allowed();
    document.dispatchEvent(new CustomEvent("agora:ask"));
  });
})();
