// The map of a game: one square for each pair of scores, to wander in.

// What optimal play does everywhere, with one memory.
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

// What the roll of a table loses at a position.
function lossAt({ worth, rolls }, { table }, cell) {
  return Math.max(0, worth[cell] - rolls[cell][table[cell]]);
}

// How numbers of a layer are placed on the scale of colours, and how they are written.
const KINDS = {
  dice: { written: (value, edition) => edition.diceText(value), place: (value, _, edition) => value / (edition.rolls - 1) },
  share: { written: (value) => percent(value), place: (value) => value },
  loss: { written: (value) => `${lossText(value)} pp`, place: lossShare },
  often: { place: (value, most) => Math.max(0, 1 + Math.log10(value / most) / 6) },
};

class Atlas {
  constructor(root, board) {
    Object.assign(this, { root, board, edition: null });
    this.build();
    board.on("edition", () => this.enter());
    board.on("scheme", () => {
      this.grid.draw();
      if (this.data) this.fillLegend();
    });
  }

  build() {
    this.layer = h("select", { onchange: () => this.load() });
    this.memory = h("select", { onchange: () => this.load() });
    this.memoryPart = h("label", {}, "Memory", this.memory);
    this.about = h("p", { class: "quiet" });
    this.grid = new Grid({
      label: "Map: own score upwards, the other's to the right; arrow keys move, with Shift by ten",
      rows: "own score",
      columns: "the other's score",
      choose: () => this.tell(),
    });
    this.legend = h("div", { class: "legend" });
    this.said = h("p", { class: "atlas-said", "aria-live": "polite" });
    this.knowButton = button("Open in Know", () => {
      this.board.know.go(...this.grid.at, this.chosenMemory);
      this.board.show("know");
    });
    this.oddsPart = h("section", { class: "card", "aria-label": "The position" }, this.said, h("div", { class: "tools" }, this.knowButton));
    this.odds = new Odds(this.oddsPart);
    this.root.append(
      h(
        "div",
        { class: "atlas" },
        h("section", { class: "card", "aria-label": "The map" }, h("div", { class: "fields" }, h("label", {}, "Show", this.layer), this.memoryPart), this.about, this.grid.frame, this.legend),
        this.oddsPart,
      ),
    );
  }

  get stops() {
    return this.kindName === "loss" ? LOSS[document.documentElement.dataset.scheme] : VIRIDIS;
  }

  get grey() {
    const parts = { light: [217, 217, 217], dark: [64, 64, 64] };
    return this.kindName === "loss" ? parts[document.documentElement.dataset.scheme] : [128, 128, 128];
  }

  get chosenMemory() {
    return Number(this.memory.value || this.edition.start);
  }

  // Layers: what is shown, of what kind, and in which words.
  layersOf(edition) {
    const tables = opponentsOf(edition).filter((one) => one.kind === "table");
    const layers = [
      { name: "best roll", kind: "dice", about: "Dice that optimal play rolls; the fewest where several are best.", of: ({ best }) => best },
      { name: "win probability", kind: "share", about: "Of the player to move, with optimal play of both.", of: ({ worth }) => worth },
      { name: "what the second best loses", kind: "loss", about: "Red: only one roll is right. Pale: others do as well.", of: ({ margin }) => margin },
    ];
    for (const one of tables) {
      layers.push(
        { name: `dice of: ${one.label}`, kind: "dice", about: `Dice that the table rolls. ${one.about}`, of: () => one.table },
        { name: `loss of: ${one.label}`, kind: "loss", about: "What the table's roll loses in a mean game: its loss, with optimal play of both from the next turn on, by how often play comes here, if both play the table. Grey: never.", of: async (survey, memory) => {
          const reach = await edition.reach(one.id, one.table);
          return Float64Array.from({ length: edition.cells }, (_, cell) => (reach.meets(cell, memory) ? lossAt(survey, one, cell) * reach.meets(cell, memory) : NaN));
        }, said: async (survey, memory) => {
          const reach = await edition.reach(one.id, one.table);
          return (cell) => {
            const [loss, often] = [lossAt(survey, one, cell), reach.meets(cell, memory)];
            const mean = pp(loss * often, 4).replace("+", "");
            return `it rolls ${edition.diceText(one.table[cell])}, and loses ${lossText(loss)} pp; ${often ? `in a mean game ${mean}` : "play never comes here"}`;
          };
        } },
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
      this.grid.draw();
      return;
    }
    this.edition = edition;
    this.layers = this.layersOf(edition);
    this.layer.replaceChildren(...this.layers.map(({ name }, i) => h("option", { value: String(i) }, name)));
    this.memoryPart.hidden = !edition.hidden;
    this.memory.replaceChildren(...edition.memories.map((_, m) => h("option", { value: String(m) }, edition.memoryLine(m))));
    this.memory.value = String(edition.start);
    this.grid.at = [0, 0];
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
    const shown = await layer.of(survey, chosenMemory);
    const said = (await layer.said?.(survey, chosenMemory)) ?? ((cell) => KINDS[layer.kind].written(shown[cell], edition));
    this.values = await edition.solved();
    if (asked !== this.asked || edition !== this.edition) return;
    Object.assign(this, { survey, data: shown, told: said, kind: KINDS[layer.kind], kindName: layer.kind });
    this.most = shown.reduce((most, value) => (value < Infinity ? Math.max(most, value) : most), 0);
    this.about.textContent = layer.about;
    this.fillLegend();
    const { goal } = edition;
    this.grid.show(goal, (own, other) => {
      const value = shown[own * goal + other];
      const none = Number.isNaN(value) || (layer.kind === "often" && !(value > 0)) || !edition.isInside(own, other, chosenMemory);
      return none ? this.grey : colourAt(this.stops, this.kind.place(value, this.most, edition));
    });
    this.grid.go(...this.grid.at);
  }

  fillLegend() {
    const { edition, most } = this;
    const swatch = (share) => `rgb(${colourAt(VIRIDIS, share).join(" ")})`;
    if (this.kindName === "dice") {
      this.legend.replaceChildren(
        ...Array.from({ length: edition.rolls }, (_, dice) => h("span", { class: "swatch" }, h("i", { style: { background: swatch(dice / (edition.rolls - 1)) } }), String(edition.choices[dice]))),
      );
      return;
    }
    const ends = { share: ["0 %", "100 %"], loss: ["nothing", `${lossText(most)} pp`], often: (most > 1 ? [times, times] : [chance, chance]).map((said, end) => said(end ? most : most * 1e-6)) }[this.kindName];
    fillRamp(this.legend, this.stops, ...ends);
  }

  // What is known of the position chosen.
  tell() {
    const { edition, grid } = this;
    if (!this.data) return;
    const [own, other] = grid.at;
    const isOver = !edition.isInside(own, other, this.chosenMemory);
    this.oddsPart.classList.toggle("over", isOver);
    if (isOver) {
      this.said.textContent = `${own} against ${other}: the game is over.`;
      return;
    }
    const cell = own * edition.goal + other;
    const shown = this.kindName === "dice" && this.layer.value === "0" ? "" : ` Here: ${this.told(cell)}.`;
    this.said.textContent = `${own} against ${other}: best is ${edition.diceText(this.survey.best[cell])}, ${percent(this.survey.worth[cell])}.${shown}`;
    const reason = reasonAt(edition, own, other, this.chosenMemory);
    if (reason) this.said.append(h("br"), reason);
    this.odds.picked = false;
    this.odds.show(edition, this.values, [own, other, this.chosenMemory], { counting: "optimal play of both" });
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
