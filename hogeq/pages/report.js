// Opens the page: everything above, in order.

async function open() {
  const data = JSON.parse(document.getElementById("data").textContent);
  // The tables can be read while the plots come.
  document.getElementById("found").textContent = summaryOf(data);
  fillFigures(data);
  fillTournament(data);
  fillMade(data);
  document.getElementById("content").hidden = false;

  const plotly = document.createElement("script");
  plotly.textContent = await unpackText(document.getElementById("plotly").textContent);
  document.head.append(plotly);
  if (data.runs.some((run) => run.metrics.iteration)) {
    fillMetrics(data);
    const draw = () =>
      drawCurves(data, document.querySelector("input[name=axis]:checked").value);
    draw();
    document.querySelectorAll("input[name=axis]").forEach((input) => {
      input.addEventListener("change", draw);
    });
    DARK.addEventListener("change", draw);
  } else {
    document.getElementById("curves-part").hidden = true;
  }
  const explorer = new Explorer(data);
  await explorer.open();
  DARK.addEventListener("change", () => explorer.redraw());
  watchWidths();
  document.getElementById("status").remove();
  document.body.dataset.ready = "yes";
}

open().catch((error) => {
  document.getElementById("status").textContent =
    `The page could not be opened (${error.message}). It needs a browser of 2023 or later.`;
  throw error;
});
