// The map of a strategy, and all that is known of the position chosen on it.

const UNREACHED = "#d9d9d9";
const NARROW = matchMedia("(max-width: 40rem)").matches;
const RAREST = 1e-4; // probability that is told apart from none, on the scale of the belief

const LAYERS = [
  ["best", "most probable roll"],
  ["probability", "its probability"],
  ["value", "win probability"],
  ["reach", "probability of coming here"],
  ["difference", "dice less those of the other"],
  ["deviation", "counter: dice less the usual"],
  ["gain", "counter: gain of each position"],
  ["region", "counter: gain of each region"],
];

class Explorer {
  constructor(data) {
    this.data = data;
    this.goal = data.goal;
    this.chosen = { own: 0, opponent: 0 };
    this.element = Object.fromEntries(
      ["strategy", "other", "layer", "own", "opponent", "map", "frame", "about", "summary"].map(
        (id) => [id, document.getElementById(id)],
      ),
    );
  }

  async open() {
    const { strategy, other, layer, own, opponent, map, frame } = this.element;
    const all = this.data.strategies.map((entry, index) => [index, entry.name]);
    options(strategy, all.filter(([index]) => this.data.strategies[index].explored));
    options(other, all);
    options(layer, LAYERS);
    other.value = String(Math.min(1, all.length - 1));
    for (const input of [own, opponent]) {
      input.max = this.goal - 1;
      input.addEventListener("change", () => this.choose(Number(own.value), Number(opponent.value)));
    }
    strategy.addEventListener("change", () => this.load());
    other.addEventListener("change", () => this.load());
    layer.addEventListener("change", () => this.drawMap());
    frame.addEventListener("keydown", (event) => this.pressed(event));
    await this.load();
    map.on("plotly_click", (event) => {
      this.choose(event.points[0].y, event.points[0].x);
      frame.focus({ preventScroll: true });
    });
  }

  async load() {
    this.element.frame.ariaBusy = "true";
    const entry = ({ value }) => this.data.strategies[Number(value)];
    this.strategy = await unpackStrategy(entry(this.element.strategy));
    this.other = await unpackPolicy(entry(this.element.other));
    fillRegions(this.data, this.strategy);
    this.drawMap();
    this.choose(this.chosen.own, this.chosen.opponent);
    this.element.frame.ariaBusy = "false";
  }

  // --- strategies, read -----------------------------------------------------------------------

  cell(own, opponent) {
    return own * this.goal + opponent;
  }

  row(strategy, cell) {
    return strategy.policy.subarray(cell * this.data.rolls, (cell + 1) * this.data.rolls);
  }

  usual(strategy, cell) {
    const row = this.row(strategy, cell);
    return row.indexOf(Math.max(...row));
  }

  meanDice(strategy, cell) {
    return this.row(strategy, cell).reduce((sum, share, dice) => sum + share * dice, 0);
  }

  // --- the map --------------------------------------------------------------------------------

  // What a layer shows at a cell (null: grey), how that is written, and its scale of colours.
  layer() {
    const { strategy, other, data } = this;
    const counter = strategy.counter;
    const name = this.element.layer.value;
    const region = (cell) => {
      const at = (score) => Math.floor(score / data.region);
      return counter.regions[at(Math.floor(cell / this.goal))][at(cell % this.goal)];
    };
    const deviation = (cell) => counter.dice[cell] - counter.usual[cell];
    const dice = data.rolls - 1;
    return {
      best: () => ({
        about: "The roll that the strategy makes most often.",
        of: (cell) => this.usual(strategy, cell),
        written: String,
        scale: rollScale(data.colours.rolls, "dice"),
      }),
      probability: () => ({
        about: "How often it makes that roll; 1 where it never mixes.",
        of: (cell) => Math.max(...this.row(strategy, cell)),
        written: fixed,
        scale: evenScale("Cividis", 0, 1, "probability"),
      }),
      value: () => ({
        about: "Win probability of the player to move when both play it. Grey: play never comes here.",
        of: (cell) => orNull(strategy.value[cell]),
        written: fixed,
        scale: evenScale("Cividis", 0, 1, "win probability"),
      }),
      reach: () => ({
        about: "Probability that a player comes to move here when both play it. Grey: never.",
        of: (cell) => strategy.reach[cell] || null,
        written: small,
        scale: logScale(strategy.reach, "probability"),
      }),
      difference: () => ({
        about: `Mean dice of ${strategy.name} less those of ${other.name}. Grey: play never comes here.`,
        of: (cell) =>
          strategy.reach[cell] > 0
            ? this.meanDice(strategy, cell) - this.meanDice(other, cell)
            : null,
        written: (value) => fixed(value, 3),
        scale: signedScale(data.colours.signed, dice, "dice more"),
      }),
      deviation: () => ({
        about:
          "Dice of the counter-matrix less the usual roll of the strategy. Grey: it never comes here.",
        of: (cell) => (counter.reach[cell] > 0 ? deviation(cell) : null),
        written: String,
        scale: signedScale(data.colours.signed, dice, "dice more"),
      }),
      gain: () => ({
        about:
          "What the counter-matrix would lose by the usual roll here alone. Grey: the same roll, or never reached.",
        of: (cell) => (counter.gains[cell] > 0 ? counter.gains[cell] : null),
        written: small,
        scale: logScale(counter.gains, "win rate"),
      }),
      region: () => ({
        about:
          "What the counter-matrix would lose by the usual rolls in a whole region. Grey: nothing.",
        of: (cell) => (region(cell) > 0 ? region(cell) : null),
        written: small,
        scale: logScale(counter.regions.flat(), "win rate"),
      }),
    }[name]();
  }

  drawMap() {
    const { about, of, written, scale } = this.layer();
    const title = this.element.layer.selectedOptions[0].textContent;
    this.element.about.textContent = about;
    const rows = Array.from({ length: this.goal }, (_, own) =>
      Array.from({ length: this.goal }, (_, opponent) => of(this.cell(own, opponent))),
    );
    const trace = {
      type: "heatmap",
      z: rows.map((row) => row.map((value) => (value === null ? null : scale.place(value)))),
      text: rows.map((row) => row.map((value) => (value === null ? "" : written(value)))),
      hovertemplate: `own score %{y}, opponent's %{x}<br>${title}: %{text}<extra></extra>`,
      hoverongaps: false,
      ...scale.trace,
    };
    const axis = (text) => ({ title: { text }, constrain: "domain", showgrid: false, zeroline: false });
    const layout = {
      uirevision: "map", // another layer leaves the zoom alone
      margin: { l: 48, r: 8, t: 32, b: 44 },
      font: { size: 13 },
      dragmode: DRAG,
      plot_bgcolor: UNREACHED,
      xaxis: { ...axis("opponent's score"), range: [-0.5, this.goal - 0.5] },
      yaxis: { ...axis("own score"), range: [-0.5, this.goal - 0.5], scaleanchor: "x" },
      shapes: this.outline(),
    };
    Plotly.react(this.element.map, [trace], layout, PLOT_CONFIG);
  }

  // White within black is seen on every colour.
  outline() {
    const { own, opponent } = this.chosen;
    return [
      ["#000000", 5],
      ["#ffffff", 2],
    ].map(([color, width]) => ({
      type: "rect",
      x0: opponent - 0.5,
      x1: opponent + 0.5,
      y0: own - 0.5,
      y1: own + 0.5,
      line: { color, width },
    }));
  }

  pressed(event) {
    const step = event.shiftKey ? 10 : 1;
    const moves = {
      ArrowUp: [step, 0],
      ArrowDown: [-step, 0],
      ArrowRight: [0, step],
      ArrowLeft: [0, -step],
    };
    const zooms = { "+": 0.5, "=": 0.5, "-": 2, 0: Infinity };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) {
      const [up, right] = moves[event.key];
      this.choose(this.chosen.own + up, this.chosen.opponent + right);
    } else if (event.key in zooms) {
      this.zoom(zooms[event.key]);
    } else {
      return;
    }
    event.preventDefault();
  }

  zoom(factor) {
    const [low, high] = this.element.map.layout.xaxis.range;
    const half = Math.min(this.goal, Math.max(4, (high - low) * factor)) / 2;
    const range = (score) => {
      const middle = Math.min(Math.max(score, half - 0.5), this.goal - 0.5 - half);
      return [middle - half, middle + half];
    };
    Plotly.relayout(this.element.map, {
      "xaxis.range": range(this.chosen.opponent),
      "yaxis.range": range(this.chosen.own),
    });
  }

  // --- the position ---------------------------------------------------------------------------

  choose(own, opponent) {
    const inside = (score) => Math.min(Math.max(Math.round(score) || 0, 0), this.goal - 1);
    this.chosen = { own: inside(own), opponent: inside(opponent) };
    this.element.own.value = this.chosen.own;
    this.element.opponent.value = this.chosen.opponent;
    this.describe();
    if (this.data.memory) this.drawBelief();
    Plotly.relayout(this.element.map, { shapes: this.outline() });
    const { xaxis, yaxis } = this.element.map.layout;
    const seen = (score, [low, high]) => low <= score && score <= high;
    if (!seen(this.chosen.opponent, xaxis.range) || !seen(this.chosen.own, yaxis.range)) {
      this.zoom(1);
    }
  }

  describe() {
    const { strategy, other, data } = this;
    const { own, opponent } = this.chosen;
    const cell = this.cell(own, opponent);
    const shares = this.row(strategy, cell);
    const rivals = this.row(other, cell);
    const values = strategy.values.subarray(cell * data.rolls, (cell + 1) * data.rolls);
    const reached = strategy.reach[cell] > 0;
    const best = reached ? Math.max(...values) : NaN;
    const usual = this.usual(strategy, cell);
    const rows = Array.from(shares, (share, dice) => [
      dice,
      fixed(values[dice]),
      fixed(best - values[dice]),
      fixed(share),
      fixed(rivals[dice]),
    ]);
    const classes = Array.from(values, (value) => (value === best ? "best" : ""));
    const header = ["dice", "wins", "behind", "played", "other plays"];
    fillTable("rolls", header, rows, classes);
    document.getElementById("rolls-note").textContent = reached
      ? "Win probabilities are exact, averaged over the memory as play makes it, both going on by " +
        "the strategy; behind: short of the best, which is bold. Played: how often the strategy " +
        `rolls so; the other is ${other.name}.`
      : `Played: how often the strategy rolls so; the other is ${other.name}.`;
    this.element.summary.textContent =
      `${own} points against ${opponent}: rolls ${usual} dice with probability ` +
      `${fixed(shares[usual])}. ` +
      (reached
        ? `It wins from here with ${fixed(strategy.value[cell])}, the best roll ` +
          `(${values.indexOf(best)}) with ${fixed(best)}; play comes here with probability ` +
          `${small(strategy.reach[cell])}.`
        : "Play never comes here when both play this strategy: there is no belief over the " +
          "memory, and so no average of the rolls' win probabilities.");
    this.describeCounter(cell);
  }

  describeCounter(cell) {
    const { counter } = this.strategy;
    const text = document.getElementById("counter-here");
    const dice = counter.dice[cell];
    if (!(counter.reach[cell] > 0)) {
      text.textContent = "The counter-matrix never comes here.";
    } else if (dice === counter.usual[cell]) {
      text.textContent = `The counter-matrix rolls ${dice} here too.`;
    } else {
      text.textContent =
        `The counter-matrix rolls ${dice} here instead of ${counter.usual[cell]}, which gains ` +
        `${small(counter.gains[cell])} of win rate.`;
    }
  }

  // --- the belief -----------------------------------------------------------------------------

  beliefRows() {
    const [rows, columns] = this.data.memory.map((part) => part.ticks.length);
    const cells = this.goal ** 2;
    const cell = this.cell(this.chosen.own, this.chosen.opponent);
    const at = (row, column) => this.strategy.belief[(row * columns + column) * cells + cell];
    return Array.from({ length: rows }, (_, row) =>
      Array.from({ length: columns }, (_, column) => at(row, column)),
    );
  }

  drawBelief() {
    const [down, across] = this.data.memory;
    const rows = this.beliefRows();
    const note = document.getElementById("belief-note");
    const found = rows
      .flatMap((row, i) => row.map((share, j) => ({ share, i, j })))
      .sort((a, b) => b.share - a.share);
    const plot = document.getElementById("belief");
    plot.hidden = !found[0].share;
    if (plot.hidden) {
      note.textContent = "Play never comes here: there is no belief.";
      return;
    }
    const said = found
      .slice(0, 3)
      .filter(({ share }) => share > 0)
      .map(
        ({ share, i, j }) =>
          `${percent(share)} ${down.name} ${down.ticks[i]}, ${across.name} ${across.ticks[j]}`,
      );
    note.textContent = `Most probable: ${said.join("; ")}.`;
    const scale = logScale([RAREST, 1], "probability");
    const trace = {
      type: "heatmap",
      z: rows.map((row) => row.map((share) => (share > 0 ? scale.place(share) : null))),
      text: rows.map((row) => row.map(percent)),
      x: across.ticks,
      y: down.ticks,
      hovertemplate: `${down.name} %{y}, ${across.name} %{x}: %{text}<extra></extra>`,
      hoverongaps: false,
      ...scale.trace,
    };
    const axis = (part) => ({ type: "category", title: { text: part.name }, showgrid: false });
    const layout = {
      margin: { l: 48, r: 8, t: 32, b: 44 },
      font: { size: 12 },
      dragmode: DRAG,
      plot_bgcolor: "#ffffff",
      xaxis: { ...axis(across), constrain: "domain" },
      yaxis: axis(down),
    };
    Plotly.react(plot, [trace], layout, PLOT_CONFIG);
  }
}

function options(select, entries) {
  select.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
}

function orNull(value) {
  return Number.isNaN(value) ? null : value;
}

function percent(share) {
  return share > 0 ? `${(100 * share).toFixed(2)} %` : "below 0.01 %";
}

// --- scales of colours: where a value lies on it, and what the trace needs ------------------------

function colourbar(title, more = {}) {
  // On a narrow screen it lies below, to leave the map its width.
  const place = NARROW
    ? { orientation: "h", y: -0.18, yanchor: "top", title: { text: title, side: "bottom" } }
    : { title: { text: title, side: "right" } };
  return { thickness: 14, outlinewidth: 0, ...place, ...more };
}

function rollScale(colours, title) {
  const steps = colours.flatMap((colour, i) => [
    [i / colours.length, colour],
    [(i + 1) / colours.length, colour],
  ]);
  const every = Math.ceil(colours.length / 12);
  const ticks = colours.map((_, dice) => dice).filter((dice) => dice % every === 0);
  return {
    place: (dice) => dice,
    trace: {
      colorscale: steps,
      zmin: -0.5,
      zmax: colours.length - 0.5,
      colorbar: colourbar(title, { tickvals: ticks }),
    },
  };
}

function evenScale(colorscale, zmin, zmax, title) {
  return { place: (value) => value, trace: { colorscale, zmin, zmax, colorbar: colourbar(title) } };
}

function signedScale(colours, most, title) {
  const scale = colours.map((colour, i) => [i / (colours.length - 1), colour]);
  return evenScale(scale, -most, most, title);
}

// Shown down to a millionth of the highest: what is smaller looks like that.
function logScale(values, title) {
  let most = 0;
  for (const value of values) most = Math.max(most, value);
  const high = Math.log10(most || 1);
  const low = Math.max(
    high - 6,
    Math.log10(values.reduce((least, value) => (value > 0 ? Math.min(least, value) : least), 1)),
  );
  const ticks = [];
  for (let power = Math.ceil(low); power <= Math.floor(high); power++) ticks.push(power);
  return {
    place: (value) => Math.log10(value),
    trace: {
      colorscale: "Viridis",
      reversescale: true,
      zmin: low,
      zmax: Math.max(high, low + 0.1),
      colorbar: colourbar(title, {
        tickvals: ticks,
        ticktext: ticks.map((power) => (power ? `1e${power}` : "1")),
      }),
    },
  };
}
