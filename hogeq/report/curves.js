// Exploitability against iterations or seconds: colour says which run, dash and marker say what.

const KINDS = [
  ["bound", "bound, full memory", "dash", "square"],
  ["attack", "attack found", "solid", "circle"],
  ["purified_attack", "matrix, attack found", "dot", "triangle-up"],
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
    KINDS.filter(() => run.metrics.iteration).map(([column, label, dash, symbol]) => ({
      type: "scatter",
      mode: "lines+markers",
      name: escapeHtml(several ? `${run.name}: ${label}` : label),
      x: run.metrics[axis],
      // A logarithmic axis has no place for what is not above 0.
      y: run.metrics[column].map((rate) => (rate > 0.5 ? rate - 0.5 : null)),
      customdata: run.metrics[column],
      hovertemplate: `${label} %{customdata:.6f}, exploitability %{y:.6f}<extra>${escapeHtml(
        several ? run.name : "",
      )}</extra>`,
      line: { color: colourOf(data, index), dash, width: 2 },
      marker: { symbol, size: 7 },
    })),
  );
}

function colourOf(data, index) {
  return data.colours.runs[index % data.colours.runs.length];
}

function drawCurves(data, axis) {
  const layout = {
    margin: { l: 60, r: 12, t: 32, b: 48 },
    font: { size: 13 },
    hovermode: "closest",
    dragmode: DRAG,
    legend: { orientation: "h", y: -0.25, yanchor: "top" },
    xaxis: {
      type: "log",
      title: { text: axis === "iteration" ? "iterations" : "seconds of solving" },
      dtick: axis === "iteration" ? "D2" : undefined,
      automargin: true,
    },
    yaxis: {
      type: "log",
      title: { text: "exploitability (win rate − 0.5)" },
      dtick: "D2",
      automargin: true,
    },
  };
  Plotly.react("curves", curveTraces(data, axis), layout, PLOT_CONFIG);
}
