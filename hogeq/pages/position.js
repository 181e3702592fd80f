// All that is known of one position: its rolls, what the counter does there, the belief.

const RAREST = 1e-4; // probability that is told apart from none, on the scale of the belief

class Position {
  constructor(data) {
    this.data = data;
    document.getElementById("belief-part").hidden = !data.memory;
  }

  show(strategy, other, { own, opponent }) {
    const cell = own * this.data.goal + opponent;
    this.summarise(strategy, cell, `${own} points against ${opponent}`);
    this.fillRolls(strategy, other, cell);
    this.describeCounter(strategy.counter, cell);
    if (this.data.memory) this.drawBelief(strategy, cell);
  }

  summarise(strategy, cell, where) {
    const { choices } = this.data;
    const usual = strategy.usual(cell);
    const values = strategy.valuesOf(cell);
    const best = Math.max(...values);
    const visits = strategy.reach[cell];
    const often = visits > 1 ? `${times(visits)} a game` : `in ${chance(visits)} of games`;
    const found = strategy.reaches(cell)
      ? `It wins from here ${percent(strategy.value[cell])}, with the best roll ` +
        `(${choices[values.indexOf(best)]}) ${percent(best)}; a given player comes to move here ${often}.`
      : "Play never comes here when both play this strategy, and so there is no average of the " +
        "rolls' win probabilities.";
    document.getElementById("summary").textContent =
      `${where}: rolls ${choices[usual]} with probability ${percent(strategy.row(cell)[usual])}. ${found}`;
  }

  fillRolls(strategy, other, cell) {
    const values = strategy.valuesOf(cell);
    const best = Math.max(...values);
    const theirs = other.row(cell);
    const rows = Array.from(strategy.row(cell), (share, dice) => [
      this.data.choices[dice],
      percent(values[dice]),
      pp(best - values[dice]).replace("+", ""),
      percent(share),
      percent(theirs[dice]),
    ]);
    const classes = Array.from(values, (value) => (value === best ? "best" : ""));
    fillTable("rolls", ["dice", "wins", "loss", "played", "other plays"], rows, classes);
    const over = this.data.memory ? "averaged over the memory as play makes it, " : "";
    document.getElementById("rolls-note").textContent =
      `Wins: the exact win probability of the roll, ${over}both going on by the strategy. Loss: ` +
      "against the best roll, which is bold. Played: how often the strategy rolls so. The other is " +
      `${other.name}.`;
  }

  describeCounter(counter, cell) {
    const [dice, usual] = [counter.dice, counter.usual].map((rolls) => this.data.choices[rolls[cell]]);
    const gain = pp(counter.gains[cell], 4);
    let text = `The counter-matrix rolls ${dice} here instead of ${usual}: ${gain} of win rate.`;
    if (dice === usual) text = `The counter-matrix rolls ${dice} here too.`;
    if (!(counter.reach[cell] > 0)) text = "The counter-matrix never comes here.";
    document.getElementById("counter-here").textContent = text;
  }

  // Probabilities by the two parts of the memory.
  belief(strategy, cell) {
    const [rows, columns] = this.data.memory.map((part) => part.ticks.length);
    const at = (row, column) =>
      strategy.belief[(row * columns + column) * this.data.goal ** 2 + cell];
    return Array.from({ length: rows }, (_, row) =>
      Array.from({ length: columns }, (_, column) => at(row, column)),
    );
  }

  drawBelief(strategy, cell) {
    const [down, across] = this.data.memory;
    const rows = this.belief(strategy, cell);
    const note = document.getElementById("belief-note");
    const plot = document.getElementById("belief");
    plot.hidden = !strategy.reaches(cell);
    if (plot.hidden) {
      note.textContent = "Play never comes here: there is no belief over the memory.";
      return;
    }
    // What has one value alone is not told.
    const named = [down, across].filter((part) => part.ticks.length > 1);
    const said = (one) => named.map((part) => `${part.name} ${part.ticks[part === down ? one.i : one.j]}`).join(", ");
    const likely = rows
      .flatMap((row, i) => row.map((share, j) => ({ share, i, j })))
      .filter(({ share }) => share > 0)
      .sort((a, b) => b.share - a.share)
      .slice(0, 3)
      .map((one) => `${percent(one.share)} ${said(one)}`);
    note.textContent = `Most probable: ${likely.join("; ")}.`;
    const scale = logScale([RAREST, 1], "probability", percentTick);
    const trace = {
      type: "heatmap",
      z: rows.map((row) => row.map((share) => (share > 0 ? scale.place(share) : null))),
      text: rows.map((row) => row.map((share) => percent(share))),
      x: across.ticks,
      y: down.ticks,
      hovertemplate: `${named.map((part) => `${part.name} %{${part === down ? "y" : "x"}}`).join(", ")}: %{text}<extra></extra>`,
      hoverongaps: false,
      ...scale.trace,
    };
    const axis = (part) => ({ type: "category", title: { text: part.name }, showgrid: false, visible: named.includes(part) });
    const layout = {
      ...look({ size: 12 }),
      margin: { l: 48, r: 8, t: 32, b: 44 },
      dragmode: DRAG,
      xaxis: axis(across),
      yaxis: axis(down),
    };
    Plotly.react(plot, [trace], layout, PLOT_CONFIG);
  }
}
