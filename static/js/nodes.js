// The pages of nodes: asked for anew when the hub says that something on them changed, and now and then, since a node
// that falls silent says nothing.
(() => {
  "use strict";
  const SLOWLY = 15000;

  function anew() {
    if (!document.hidden) document.dispatchEvent(new CustomEvent("agora:ask"));
  }

  document.addEventListener("agora:box", anew);
  document.addEventListener("visibilitychange", anew);
  setInterval(anew, SLOWLY);
})();
