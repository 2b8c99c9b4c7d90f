// The band of the last 24 hours, read hour by hour: by pointer, and by the arrow keys once it has the focus. Without
// scripts each column has a title, and the table beside it says the same.
(() => {
  "use strict";
  const HOUR = 3600000;
  const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -24, End: 24 };
  let at = null; // the column that is being read; a push redraws the band under it

  const chart = () => document.querySelector("#band svg");
  const columns = () => [...chart().querySelectorAll("g[data-hour]")];
  const clock = (moment) => moment.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

  // The server says hours in UTC; a reader has a zone.
  function words(column) {
    const begin = new Date(column.dataset.hour);
    const told = column.querySelector("title").textContent.replace(/^\S+ UTC: /, "");
    return `${clock(begin)}–${clock(new Date(begin.getTime() + HOUR))}: ${told}`;
  }

  // A chart that takes the focus is a slider through its hours.
  function show() {
    const drawn = columns();
    drawn.forEach((column, n) => column.classList.toggle("read", n === at));
    const said = {
      role: "slider", tabindex: 0, "aria-label": "Hour of the last day", "aria-valuemin": 0,
      "aria-valuemax": drawn.length - 1, "aria-valuenow": at ?? drawn.length - 1,
      "aria-valuetext": words(drawn[at ?? drawn.length - 1]),
    };
    for (const [name, value] of Object.entries(said)) chart().setAttribute(name, value);
    if (at !== null) document.querySelector("#band .reading").textContent = words(drawn[at]);
  }

  function read(column) {
    at = column;
    show();
  }

  document.addEventListener("keydown", (event) => {
    if (event.target !== chart() || !(event.key in STEPS)) return;
    event.preventDefault();
    const last = columns().length - 1;
    read(Math.min(last, Math.max(0, (at ?? last) + STEPS[event.key])));
  });
  document.addEventListener("pointerover", (event) => {
    const column = event.target.closest("#band g[data-hour]");
    if (column) read(columns().indexOf(column));
  });
  document.addEventListener("agora:changed", show);
  show();
})();
