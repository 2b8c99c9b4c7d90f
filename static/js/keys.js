// Single keys: "/" searches, "j" and "k" walk the rows, "?" lists the keys. They can be switched off, since whoever
// speaks to the machine or types by accident sets them off too.
(() => {
  "use strict";
  const dialog = document.getElementById("keys");
  if (!dialog) return;
  const KEY = "agora-keys";
  const opener = document.getElementById("keys-open");
  const wanted = document.getElementById("keys-on");
  const KEYS = { "/": search, j: () => walk(1), k: () => walk(-1), "?": list };

  function stored() {
    try {
      return localStorage.getItem(KEY) !== "off";
    } catch {
      return true; // storage may be forbidden
    }
  }

  function keep() {
    try {
      if (wanted.checked) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, "off");
    } catch {
      // not kept, still followed
    }
  }

  function search() {
    const field = document.getElementById("q");
    field?.focus();
    field?.select();
    return field;
  }

  function walk(step) {
    const rows = [...document.querySelectorAll("#rows > *")];
    const current = document.activeElement.closest("#rows > *") ?? document.querySelector("#rows > [aria-current]");
    const here = rows.indexOf(current);
    const next = here < 0 ? rows.at(step > 0 ? 0 : -1) : rows[here + step];
    next?.querySelector("a.id, a.opens").focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
    return next;
  }

  function list() {
    dialog.showModal();
    return dialog;
  }

  function onKey(event) {
    if (!wanted.checked || dialog.open || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest?.("input, select, textarea, [contenteditable]")) return;
    if (Object.hasOwn(KEYS, event.key) && KEYS[event.key]()) event.preventDefault();
  }

  wanted.checked = stored();
  wanted.addEventListener("change", keep);
  opener.hidden = false;
  opener.addEventListener("click", list);
  document.addEventListener("keydown", onKey);
})();
