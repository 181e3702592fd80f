// Exploitability against iterations or seconds. Dash and marker say what a line is; colour says it
// too where there is one run, and says which run where there are several.

// Of Okabe and Ito, "Color universal design" (2008): told apart with any colour vision. Yellow is left
// out, since it is hardly seen on white.
const RUNS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"];

// The same, as light as a dark page needs; black becomes white.
const RUNS_DARK = ["#4DA8E8", "#F28B45", "#2CC79B", "#E29BC5", "#8FD0F5", "#F2BC4A", "#F0F0F0"];

const KINDS = [
  ["bound", "bound, full memory", "dash", "square"],
  ["attack", "attack found", "solid", "circle"],
  ["purified_attack", "matrix, attack found", "dot", "triangle-up"],
  ["mixture_bound", "mixture, bound, full memory", "dash", "square-open"],
  ["mixture_attack", "mixture, attack found", "solid", "diamond"],
];

const PLOT_CONFIG = {
  responsive: true,
  displaylogo: false,
  showSendToCloud: false, // nothing leaves this page
  modeBarButtons: [["toImage"], ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]],
};

// On a touch screen a finger scrolls the page; zooming is left to the buttons of the plot.
const DRAG = matchMedia("(pointer: coarse)").matches ? false : "zoom";

function curveTraces(data, axis) {
  const several = data.runs.length > 1;
  return data.runs.flatMap((run, index) =>
    KINDS.filter(([column]) => run.metrics[column]).map(([column, label, dash, symbol], kind) => ({
      type: "scatter",
      mode: "lines+markers",
      name: escapeHtml(several ? `${run.name}: ${label}` : label),
      x: run.metrics[axis],
      // A logarithmic axis has no place for what is not above 0.
      y: run.metrics[column].map((rate) => (rate > 0.5 ? rate - 0.5 : null)),
      customdata: run.metrics[column],
      text: run.metrics[column].map((rate) => (known(rate) ? pp(rate - 0.5) : MISSING)),
      hovertemplate: `${label} %{customdata:.2%}, exploitability %{text}<extra>${escapeHtml(
        several ? run.name : "",
      )}</extra>`,
      line: { color: colourOf(data, several ? index : kind), dash, width: 2 },
      marker: { symbol, size: 7 },
      // Exploitability lies between the two lines of the policy.
      ...(column === "attack" && {
        fill: "tonexty",
        fillcolor: `${colourOf(data, several ? index : 0)}26`,
      }),
      ...(column === "purified_attack" && upTo(run)),
    })),
  );
}

// The interval of the last matrix, whose upper end alone is known.
function upTo({ metrics, matrix }) {
  const last = metrics.purified_attack.length - 1;
  const bound = matrix?.bound;
  if (!(bound > 0.5) || !(metrics.purified_attack[last] > 0.5)) return {};
  const none = metrics.purified_attack.map(() => null);
  const above = none.with(last, bound - metrics.purified_attack[last]);
  return {
    error_y: { type: "data", symmetric: false, array: above, arrayminus: none, thickness: 1.2 },
  };
}

function colourOf(data, index) {
  const colours = DARK.matches ? RUNS_DARK : RUNS;
  return colours[index % colours.length];
}

function drawCurves(data, axis) {
  const traces = curveTraces(data, axis);
  const ends = data.runs.map(({ matrix }) => (matrix?.bound ?? 0) - 0.5);
  const grid = { gridcolor: inked("--line"), linecolor: inked("--line") };
  const layout = {
    ...look({ size: 13 }),
    margin: { l: 60, r: 12, t: 32, b: 48 },
    hovermode: "closest",
    dragmode: DRAG,
    legend: { orientation: "h", y: -0.25, yanchor: "top", traceorder: "normal" },
    xaxis: {
      type: "log",
      title: { text: axis === "iteration" ? "iterations" : "seconds of solving" },
      ...logTicks(traces.flatMap(({ x }) => x)),
      ...grid,
      automargin: true,
    },
    yaxis: {
      type: "log",
      title: { text: "exploitability (win rate − 0.5)" },
      ...logTicks([...traces.flatMap(({ y }) => y), ...ends]),
      ...grid,
      automargin: true,
    },
  };
  Plotly.react("curves", traces, layout, PLOT_CONFIG);
}
