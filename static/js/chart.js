// Charts of the last 24 hours, read stretch by stretch: by pointer, and by the arrow keys once a chart has the focus.
// Without scripts each stretch has a title, and the table beside the chart says the same.
(() => {
  "use strict";
  const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity };
  const read = new Map(); // the moment that is being read in a chart, by its id; a push redraws the chart under it

  const stretches = (chart) => [...chart.querySelectorAll("g[data-from]")];
  const clock = (moment) =>
    new Date(moment).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

  // The server says times in UTC; a reader has a zone.
  function words({ dataset, firstElementChild: title }) {
    return `${clock(dataset.from)}–${clock(dataset.to)}: ${title.textContent.replace(/^\S+ UTC: /, "")}`;
  }

  // The stretch that the moment being read lies in, the last one before it where nothing is drawn there, or -1.
  function place(chart, drawn) {
    if (!read.has(chart.id)) return -1;
    return Math.max(0, drawn.findLastIndex(({ dataset }) => Date.parse(dataset.from) <= read.get(chart.id)));
  }

  // A chart that takes the focus is a slider through its stretches.
  function show(chart) {
    const drawn = stretches(chart);
    if (!drawn.length) return;
    const at = place(chart, drawn), last = drawn.length - 1, here = drawn[at] ?? drawn[last];
    drawn.forEach((stretch, n) => stretch.classList.toggle("read", n === at));
    const said = {
      role: "slider", tabindex: 0, "aria-label": chart.getAttribute("aria-label").split(".")[0], "aria-valuemin": 0,
      "aria-valuemax": last, "aria-valuenow": drawn.indexOf(here), "aria-valuetext": words(here),
    };
    for (const [name, value] of Object.entries(said)) chart.setAttribute(name, value);
  }

  function take(chart, stretch) {
    read.clear(); // one is read at a time: there is one line for it
    read.set(chart.id, (Date.parse(stretch.dataset.from) + Date.parse(stretch.dataset.to)) / 2);
    showAll();
  }

  function showAll() {
    for (const chart of document.querySelectorAll("svg.chart")) {
      show(chart);
      const stretch = chart.querySelector("g.read");
      if (stretch) chart.closest("figure").querySelector(".reading").textContent = words(stretch);
    }
  }

  document.addEventListener("keydown", (event) => {
    const chart = event.target.closest?.("svg.chart");
    if (!chart || !(event.key in STEPS)) return;
    event.preventDefault();
    const drawn = stretches(chart), last = drawn.length - 1, at = place(chart, drawn);
    take(chart, drawn[Math.min(last, Math.max(0, (at < 0 ? last : at) + STEPS[event.key]))]);
  });
  document.addEventListener("pointerover", (event) => {
    const stretch = event.target.closest("svg.chart g[data-from]");
    if (stretch) take(stretch.closest("svg"), stretch);
  });
  document.addEventListener("agora:changed", showAll);
  showAll();
})();
