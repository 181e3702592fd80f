// The map of a game: one square for each pair of scores, to wander in.

// Viridis (van der Walt and Smith, 2015, CC0), every eighth of it.
const VIRIDIS = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];
const EDGE = { left: 34, bottom: 30, top: 6, right: 6 };

// The colour of a share from 0 to 1, as three numbers.
function viridis(share) {
  const at = Math.min(1, Math.max(0, share)) * (VIRIDIS.length - 1);
  const low = Math.min(VIRIDIS.length - 2, Math.floor(at));
  const parts = (colour) => [1, 3, 5].map((from) => Number.parseInt(colour.slice(from, from + 2), 16));
  const [from, to] = [parts(VIRIDIS[low]), parts(VIRIDIS[low + 1])];
  return from.map((part, i) => Math.round(part + (to[i] - part) * (at - low)));
}

// What best play does everywhere, with one memory.
async function surveyOf(edition, memory) {
  const values = await edition.solved();
  const best = new Uint8Array(edition.cells);
  const worth = new Float64Array(edition.cells);
  const margin = new Float64Array(edition.cells);
  const rolls = [];
  let since = performance.now();
  for (let cell = 0; cell < edition.cells; cell++) {
    const found = values.rolls(Math.floor(cell / edition.goal), cell % edition.goal, memory);
    const [first, second] = bestFirst(found);
    const gap = found[first] - (second === undefined ? found[first] : found[second]);
    best[cell] = first;
    worth[cell] = found[first];
    margin[cell] = gap > TIE ? gap : 0;
    rolls.push(found);
    if (performance.now() - since > SLICE) {
      await breath();
      since = performance.now();
    }
  }
  return { best, worth, margin, rolls };
}

// How numbers of a layer are placed on the scale of colours, and how they are written.
const KINDS = {
  dice: { written: diceText, place: (value, _, edition) => value / edition.maxDice },
  share: { written: (value) => percent(value), place: (value) => value },
  // Cube roots: what is a thousandth of the most can still be seen.
  loss: { written: (value) => `${lossText(value)} pp`, place: (value, most) => (most > 0 ? Math.cbrt(value / most) : 0) },
  often: { place: (value, most) => Math.max(0, 1 + Math.log10(value / most) / 6) },
};

class Atlas {
  constructor(root, board) {
    Object.assign(this, { root, board, at: [0, 0], edition: null });
    this.build();
    board.on("edition", () => this.enter());
    board.on("scheme", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.frame);
  }

  build() {
    this.layer = h("select", { onchange: () => this.load() });
    this.memory = h("select", { onchange: () => this.load() });
    this.memoryPart = h("label", {}, "Memory", this.memory);
    this.about = h("p", { class: "quiet" });
    this.canvas = h("canvas", { class: "atlas-canvas" });
    this.frame = h(
      "div",
      { class: "atlas-frame", tabindex: "0", role: "application", "aria-label": "Map: own score upwards, the other's to the right; arrow keys move, with Shift by ten" },
      this.canvas,
    );
    this.legend = h("div", { class: "legend" });
    this.said = h("p", { class: "atlas-said", "aria-live": "polite" });
    this.knowButton = button("All that is known here", () => {
      this.board.know.go(...this.at, this.chosenMemory);
      this.board.show("know");
    });
    this.oddsPart = h("section", { class: "card", "aria-label": "The position" }, this.said, h("div", { class: "tools" }, this.knowButton));
    this.odds = new Odds(this.oddsPart);
    this.root.append(
      h(
        "div",
        { class: "atlas" },
        h("section", { class: "card", "aria-label": "The map" }, h("div", { class: "fields" }, h("label", {}, "Show", this.layer), this.memoryPart), this.about, this.frame, this.legend),
        this.oddsPart,
      ),
    );
    const point = (event) => {
      const box = this.canvas.getBoundingClientRect();
      const { size } = this;
      const other = Math.floor((event.clientX - box.left - EDGE.left) / size);
      const own = Math.floor((box.bottom - EDGE.bottom - event.clientY) / size);
      this.go(own, other);
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.frame.focus({ preventScroll: true });
      point(event);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons && event.pointerType === "mouse") point(event);
    });
    this.frame.addEventListener("keydown", (event) => this.key(event));
  }

  get chosenMemory() {
    return Number(this.memory.value || this.edition.start);
  }

  // Layers: what is shown, of what kind, and in which words.
  layersOf(edition) {
    const tables = opponentsOf(edition).filter((one) => one.kind === "table");
    const layers = [
      { name: "best roll", kind: "dice", about: "Dice that best play rolls; the fewest where several are best.", of: ({ best }) => best },
      { name: "win probability", kind: "share", about: "Of the player to move, with best play of both.", of: ({ worth }) => worth },
      { name: "what the second best loses", kind: "loss", about: "Bright: only one roll is right. Dark: others do as well.", of: ({ margin }) => margin },
    ];
    for (const one of tables) {
      layers.push(
        { name: `dice of: ${one.label}`, kind: "dice", about: `Dice that the table rolls. ${one.about}`, of: () => one.table },
        { name: `loss of: ${one.label}`, kind: "loss", about: "What the table's roll gives away, with best play of both from the next turn on.", of: ({ worth, rolls }) => rolls.map((found, cell) => Math.max(0, worth[cell] - found[one.table[cell]])) },
        { name: `visits of: ${one.label}`, kind: "often", about: "How often either player comes to move here, if both play the table. Grey: never.", of: async () => {
          const reach = await edition.reach(one.id, one.table);
          return Float64Array.from({ length: edition.cells }, (_, cell) => reach.visits(Math.floor(cell / edition.goal), cell % edition.goal));
        }, said: async () => {
          const reach = await edition.reach(one.id, one.table);
          return (cell) => reach.said(Math.floor(cell / edition.goal), cell % edition.goal);
        } },
      );
    }
    return layers;
  }

  enter() {
    this.edition = null;
    if (!this.root.hidden) this.shown();
  }

  async shown() {
    const { edition } = this.board;
    if (this.edition === edition) {
      this.draw();
      return;
    }
    this.edition = edition;
    this.layers = this.layersOf(edition);
    this.layer.replaceChildren(...this.layers.map(({ name }, i) => h("option", { value: String(i) }, name)));
    this.memoryPart.hidden = !edition.hidden;
    this.memory.replaceChildren(...edition.memories.map((_, m) => h("option", { value: String(m) }, edition.memoryLine(m))));
    this.memory.value = String(edition.start);
    this.at = [0, 0];
    this.data = null;
    this.about.textContent = this.said.textContent = "Computing …";
    this.legend.replaceChildren();
    await this.load();
  }

  async load() {
    const { edition, chosenMemory } = this;
    const layer = this.layers[Number(this.layer.value || 0)];
    const asked = (this.asked = {});
    edition.surveys ??= new Map();
    if (!edition.surveys.has(chosenMemory)) {
      edition.surveys.clear(); // one at a time: each takes megabytes
      edition.surveys.set(chosenMemory, surveyOf(edition, chosenMemory));
    }
    const survey = await edition.surveys.get(chosenMemory);
    const shown = await layer.of(survey);
    const said = (await layer.said?.()) ?? ((cell) => KINDS[layer.kind].written(shown[cell]));
    this.values = await edition.solved();
    if (asked !== this.asked || edition !== this.edition) return;
    Object.assign(this, { survey, data: shown, told: said, kind: KINDS[layer.kind], kindName: layer.kind });
    this.most = shown.reduce((most, value) => (value < Infinity ? Math.max(most, value) : most), 0);
    this.about.textContent = layer.about;
    this.fillLegend();
    this.draw();
    this.go(...this.at);
  }

  fillLegend() {
    const { edition, most } = this;
    const swatch = (share) => `rgb(${viridis(share).join(" ")})`;
    if (this.kindName === "dice") {
      this.legend.replaceChildren(
        ...Array.from({ length: edition.rolls }, (_, dice) => h("span", { class: "swatch" }, h("i", { style: { background: swatch(dice / edition.maxDice) } }), String(dice))),
      );
      return;
    }
    const stops = VIRIDIS.join(", ");
    const ends = { share: ["0 %", "100 %"], loss: ["nothing", `${lossText(most)} pp`], often: (most > 1 ? [times, times] : [chance, chance]).map((said, end) => said(end ? most : most * 1e-6)) }[this.kindName];
    this.legend.replaceChildren(h("span", {}, ends[0]), h("i", { class: "ramp", style: { background: `linear-gradient(to right, ${stops})` } }), h("span", {}, ends[1]));
  }

  draw() {
    const width = this.frame.clientWidth;
    if (!this.data || !width) return;
    const { edition, canvas } = this;
    const { goal } = edition;
    const size = (Math.min(width, 720) - EDGE.left - EDGE.right) / goal;
    const dots = devicePixelRatio || 1;
    this.size = size;
    const [wide, high] = [goal * size + EDGE.left + EDGE.right, goal * size + EDGE.top + EDGE.bottom];
    canvas.width = Math.round(wide * dots);
    canvas.height = Math.round(high * dots);
    Object.assign(canvas.style, { width: `${wide}px`, height: `${high}px` });
    const context = canvas.getContext("2d");
    context.scale(dots, dots);
    const small = new OffscreenCanvas(goal, goal);
    const image = new ImageData(goal, goal);
    for (let cell = 0; cell < edition.cells; cell++) {
      const value = this.data[cell];
      const none = this.kindName === "often" && !(value > 0);
      const colour = none ? [128, 128, 128] : viridis(this.kind.place(value, this.most, edition));
      const row = goal - 1 - Math.floor(cell / goal);
      image.data.set([...colour, 255], 4 * (row * goal + (cell % goal)));
    }
    small.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, EDGE.left, EDGE.top, goal * size, goal * size);
    this.drawAxes(context, wide, high);
    const [own, other] = this.at;
    const left = EDGE.left + other * size;
    const top = EDGE.top + (goal - 1 - own) * size;
    for (const [colour, line] of [["#000", 4], ["#fff", 2]]) {
      context.strokeStyle = colour;
      context.lineWidth = line;
      context.strokeRect(left - 1, top - 1, size + 2, size + 2);
    }
  }

  drawAxes(context, wide, high) {
    const { goal } = this.edition;
    const { size } = this;
    const every = [1, 2, 5, 10, 20, 50, 100, 200].find((step) => step * size >= 26) ?? 500;
    context.fillStyle = getComputedStyle(this.canvas).color;
    context.font = "11px system-ui, sans-serif";
    for (let score = 0; score < goal; score += every) {
      context.textAlign = "center";
      context.fillText(String(score), EDGE.left + (score + 0.5) * size, high - EDGE.bottom + 13);
      context.textAlign = "right";
      context.fillText(String(score), EDGE.left - 4, EDGE.top + (goal - score - 0.5) * size + 4);
    }
    context.textAlign = "right";
    context.fillText("the other's score", wide - EDGE.right, high - 4);
    context.save();
    context.translate(10, EDGE.top);
    context.rotate(-Math.PI / 2);
    context.fillText("own score", 0, 0);
    context.restore();
  }

  go(own, other) {
    const { edition } = this;
    const inside = (score) => Math.max(0, Math.min(edition.goal - 1, score));
    this.at = [inside(own), inside(other)];
    if (!this.data) return;
    const cell = this.at[0] * edition.goal + this.at[1];
    const best = this.survey.best[cell];
    const shown = this.kindName === "dice" && this.layer.value === "0" ? "" : ` Here: ${this.told(cell)}.`;
    this.said.textContent = `${this.at[0]} against ${this.at[1]}: best is ${diceText(best)}, ${percent(this.survey.worth[cell])}.${shown}`;
    const reason = reasonAt(edition, ...this.at, this.chosenMemory);
    if (reason) this.said.append(h("br"), reason);
    this.odds.picked = false;
    this.odds.show(edition, this.values, [...this.at, this.chosenMemory], { counting: "best play of both" });
    this.draw();
  }

  key(event) {
    const step = event.shiftKey ? 10 : 1;
    const by = { ArrowUp: [step, 0], ArrowDown: [-step, 0], ArrowRight: [0, step], ArrowLeft: [0, -step] }[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.go(this.at[0] + by[0], this.at[1] + by[1]);
  }
}

screen("map", "Map", {
  mount(root, board) {
    this.view = new Atlas(root, board);
    board.atlas = this.view;
  },
  shown() {
    this.view.shown();
  },
});
