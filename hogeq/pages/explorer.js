// The map of a strategy, and the position chosen on it.

const OFTEN = 1e-4; // one game in ten thousand

class Explorer {
  constructor(data) {
    this.data = data;
    this.position = new Position(data);
    this.chosen = { own: 0, opponent: 0 };
    this.element = Object.fromEntries(
      ["strategy", "other", "layer", "own", "opponent", "map", "frame", "about"].map((id) => [
        id,
        document.getElementById(id),
      ]),
    );
  }

  async open() {
    const { strategy, other, layer, own, opponent, map, frame } = this.element;
    const entries = this.data.strategies.map(({ name, explored }, index) => ({
      name,
      index,
      explored,
    }));
    const option = ({ name, index }) => new Option(name, index);
    strategy.replaceChildren(...entries.filter(({ explored }) => explored).map(option));
    other.replaceChildren(...entries.map(option));
    other.selectedIndex = Math.min(1, entries.length - 1);
    layer.replaceChildren(
      ...Object.entries(LAYERS).map(([name, { title }]) => new Option(title, name)),
    );
    for (const input of [own, opponent]) {
      input.max = this.data.goal - 1;
      input.addEventListener("change", () =>
        this.choose(Number(own.value), Number(opponent.value)),
      );
    }
    for (const select of [strategy, other]) select.addEventListener("change", () => this.load());
    layer.addEventListener("change", () => this.drawMap());
    frame.addEventListener("keydown", (event) => this.pressed(event));
    await this.load();
    this.goTo(this.oftenGained());
    map.on("plotly_click", (event) => {
      this.choose(event.points[0].y, event.points[0].x);
      frame.focus({ preventScroll: true });
    });
  }

  async load() {
    const { strategy, other, frame } = this.element;
    const wanted = [strategy, other].map(({ value }) => this.data.strategies[Number(value)]);
    this.wanted = wanted;
    frame.ariaBusy = "true";
    const [one, two] = await Promise.all([
      unpackStrategy(this.data, wanted[0]),
      unpackPolicy(this.data, wanted[1]),
    ]);
    if (this.wanted !== wanted) return; // something else was chosen meanwhile
    this.strategy = one;
    this.other = two;
    this.drawMap();
    this.choose(this.chosen.own, this.chosen.opponent);
    frame.ariaBusy = "false";
  }

  // Gains, where two players of the strategy come often enough for it to have been trained there.
  oftenGained() {
    const { reach, counter } = this.strategy;
    return counter.gains.map((gain, cell) => (reach[cell] >= OFTEN ? gain : 0));
  }

  // Where most is gained; 0 against 0 if nothing is anywhere.
  goTo(gains) {
    const cell = gains.indexOf(gains.reduce((most, gain) => Math.max(most, gain), 0));
    if (gains[cell] > 0) this.choose(Math.floor(cell / this.data.goal), cell % this.data.goal);
  }

  redraw() {
    this.drawMap();
    this.choose(this.chosen.own, this.chosen.opponent);
  }

  drawMap() {
    const { goal } = this.data;
    const layer = LAYERS[this.element.layer.value];
    const scale = layer.scale(this);
    this.element.about.textContent = layer.about(this);
    const found = Array.from({ length: goal }, (_, own) =>
      Array.from({ length: goal }, (_, opponent) => layer.of(this, own * goal + opponent)),
    );
    const known = (how) =>
      found.map((row) => row.map((value) => (value === null ? null : how(value))));
    const trace = {
      type: "heatmap",
      z: known(scale.place),
      text: known((value) => layer.written(value)),
      hovertemplate: `own score %{y}, opponent's %{x}<br>${layer.title}: %{text}<extra></extra>`,
      hoverongaps: false,
      ...scale.trace,
    };
    const axis = (text) => ({
      title: { text },
      range: [-0.5, goal - 0.5],
      constrain: "domain",
      showgrid: false,
      zeroline: false,
    });
    const layout = {
      ...look({ size: 13 }),
      uirevision: "map", // another layer leaves the zoom alone
      margin: { l: 48, r: 8, t: 32, b: 44 },
      dragmode: DRAG,
      plot_bgcolor: inked("--unknown"),
      xaxis: axis("opponent's score"),
      yaxis: { ...axis("own score"), scaleanchor: "x" },
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

  choose(own, opponent) {
    const inside = (score) => Math.min(Math.max(Math.round(score) || 0, 0), this.data.goal - 1);
    this.chosen = { own: inside(own), opponent: inside(opponent) };
    this.element.own.value = this.chosen.own;
    this.element.opponent.value = this.chosen.opponent;
    this.position.show(this.strategy, this.other, this.chosen);
    Plotly.relayout(this.element.map, { shapes: this.outline() });
    const { xaxis, yaxis } = this.element.map.layout;
    const seen = (score, [low, high]) => low <= score && score <= high;
    if (!seen(this.chosen.opponent, xaxis.range) || !seen(this.chosen.own, yaxis.range)) {
      this.zoom(1);
    }
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

  // Show so much more of the map, around the position chosen.
  zoom(factor) {
    const { goal } = this.data;
    const [low, high] = this.element.map.layout.xaxis.range;
    const half = Math.min(goal, Math.max(4, (high - low) * factor)) / 2;
    const range = (score) => {
      const middle = Math.min(Math.max(score, half - 0.5), goal - 0.5 - half);
      return [middle - half, middle + half];
    };
    Plotly.relayout(this.element.map, {
      "xaxis.range": range(this.chosen.opponent),
      "yaxis.range": range(this.chosen.own),
    });
  }
}
