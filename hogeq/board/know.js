// The second screen: any position, and all that is known of it.

class Know {
  constructor(root, board) {
    Object.assign(this, { root, board, position: [0, 0], memory: 0 });
    this.build();
    board.on("edition", (edition) => this.enter(edition));
    board.on("scheme", () => this.draw());
  }

  build() {
    this.own = this.field("Own score");
    this.other = this.field("Other's score");
    this.memoryPart = h("div", { class: "fields inner" });
    this.counting = h("select", { onchange: () => this.refresh() });
    this.here = button("As in the game", () => this.fromGame());
    this.oddsPart = h("section", { class: "card", "aria-label": "Every roll here" });
    this.summary = h("p", { class: "verdict", "aria-live": "polite" });
    this.oddsPart.append(this.summary);
    this.odds = new Odds(this.oddsPart);
    this.table = h("select", { onchange: () => this.refresh() });
    this.layer = h("select", { onchange: () => this.draw() }, LAYERS.map(([value, text]) => h("option", { value }, text)));
    this.blind = h("p");
    this.grid = h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Every memory" });
    this.axes = h("p", { class: "quiet" });
    this.gridNote = h("p", { class: "quiet" });
    this.hiddenPart = h(
      "section",
      { class: "card", "aria-label": "What a table cannot see" },
      h("h2", {}, "What a table cannot see"),
      h("div", { class: "fields" }, h("label", {}, "Table", this.table), h("label", {}, "Show", this.layer)),
      this.blind,
      this.axes,
      this.grid,
      this.gridNote,
    );
    this.root.append(
      h(
        "div",
        { class: "know" },
        h(
          "section",
          { class: "card place fields", "aria-label": "Position" },
          this.own.root,
          this.other.root,
          this.memoryPart,
          h("label", {}, "Counting on", this.counting),
          this.here,
        ),
        this.oddsPart,
        this.hiddenPart,
      ),
    );
  }

  // A score, as a number and as a slider.
  field(name) {
    const number = h("input", { type: "number", min: "0", inputmode: "numeric", "aria-label": name });
    const slide = h("input", { type: "range", min: "0", "aria-label": `${name}, slider` });
    const set = (from) => {
      const value = Math.max(0, Math.min(this.board.edition.goal - 1, Math.round(Number(from.value)) || 0));
      number.value = slide.value = String(value);
      this.position = [Number(this.own.number.value), Number(this.other.number.value)];
      this.odds.picked = false;
      this.refresh();
    };
    number.addEventListener("change", () => set(number));
    slide.addEventListener("input", () => set(slide));
    return { number, slide, root: h("div", { class: "field" }, h("span", { class: "quiet" }, name), number, slide) };
  }

  enter(edition) {
    for (const { number, slide } of [this.own, this.other]) {
      number.max = slide.max = String(edition.goal - 1);
    }
    const tables = opponentsOf(edition).filter((one) => one.kind === "table");
    this.counting.replaceChildren(
      h("option", { value: "" }, "best play of both"),
      ...tables.map(({ id, label }) => h("option", { value: id }, `best play against: ${label}`)),
    );
    this.table.replaceChildren(...tables.map(({ id, label }) => h("option", { value: id }, label)));
    this.hiddenPart.hidden = !edition.hidden || tables.length === 0;
    this.memoryPart.hidden = !edition.hidden;
    this.selects = edition.columns.map((name, column) => {
      const values = [...new Set(edition.memories.map((texts) => texts[column]))];
      const select = h("select", { onchange: () => this.remember() }, values.map((text) => h("option", { value: text }, text)));
      return { name, values, select };
    });
    this.memoryPart.replaceChildren(...this.selects.map(({ name, select }) => h("label", {}, name, select)));
    this.odds.picked = false;
    this.go(0, 0, edition.start);
  }

  // To a position; learn's modules call this too.
  go(own, other, memory) {
    const { edition } = this.board;
    this.position = [own, other];
    this.memory = memory;
    this.own.number.value = this.own.slide.value = String(own);
    this.other.number.value = this.other.slide.value = String(other);
    this.selects.forEach(({ select }, column) => {
      select.value = edition.memories[memory][column];
    });
    this.odds.picked = false;
    this.refresh();
  }

  remember() {
    const texts = this.selects.map(({ select }) => select.value);
    const found = this.board.edition.memories.findIndex((one) => one.every((text, i) => text === texts[i]));
    this.go(...this.position, Math.max(0, found));
  }

  fromGame() {
    const { game } = this.board;
    if (game && !game.over) this.go(...game.view);
  }

  async refresh() {
    const { edition } = this.board;
    const asked = (this.asked = {});
    const id = this.counting.value;
    const rival = id ? tablePlayer(id, edition.tables.get(id)) : PERFECT;
    const values = await valuesAgainst(edition, rival);
    if (asked !== this.asked) return;
    this.values = values;
    this.odds.show(edition, values, [...this.position, this.memory], { counting: countingOn(rival) });
    const found = values.rolls(...this.position, this.memory);
    const [best] = bestFirst(found);
    this.summary.textContent = `Best: ${diceText(best)}, ${percent(found[best])}`;
    if (!edition.hidden || !this.table.value) return;
    const reach = await edition.reach(this.table.value, edition.tables.get(this.table.value));
    if (asked !== this.asked) return;
    this.belief = reach.belief(...this.position);
    this.often = reach.cell(...this.position);
    this.draw();
  }

  // What the table does here without seeing the memory, and what each memory is worth.
  draw() {
    const { edition } = this.board;
    if (!edition?.hidden || !this.values || !this.table.value) return;
    const [own, other] = this.position;
    const dice = edition.tables.get(this.table.value)[own * edition.goal + other];
    const facts = edition.memories.map((_, memory) => {
      const found = this.values.rolls(own, other, memory);
      const [best] = bestFirst(found);
      const cost = found[best] - found[dice];
      return { best, value: found[best], cost: cost > TIE ? cost : 0, belief: this.belief?.[memory] ?? null };
    });
    this.facts = facts;
    this.tellBlind(dice, facts);
    const layer = this.belief || this.layer.value !== "belief" ? this.layer.value : "value";
    const shown = facts.map((fact) => fact[layer]);
    const known = shown.filter((value) => value !== null);
    const low = layer === "value" ? Math.min(...known) : 0;
    const high = Math.max(...known);
    // The longer axis goes to the right.
    const axes = this.selects.map((select, place) => ({ ...select, place })).slice(0, 2);
    axes.sort((a, b) => a.values.length - b.values.length);
    const columns = axes.pop();
    const rows = axes.pop() ?? { values: [""], place: -1 };
    const memoryAt = (row, column) =>
      edition.memories.findIndex((texts) =>
        texts.every((text, place) => {
          if (place === rows.place) return text === row;
          return text === (place === columns.place ? column : edition.memories[this.memory][place]);
        }),
      );
    const cell = (row, column) => {
      const memory = memoryAt(row, column);
      const value = shown[memory];
      const share = value === null || high <= low ? 0 : (value - low) / (high - low);
      return h(
        "td",
        {
          class: memory === this.memory ? "here" : null,
          style: { "--share": String(layer === "best" ? value / edition.maxDice : share) },
          title: this.tellMemory(memory),
          onclick: () => this.go(own, other, memory),
        },
        layer === "best" ? String(value) : "",
      );
    };
    const axis = `${columns.name} to the right`;
    this.axes.textContent = rows.name ? `${rows.name} downwards, ${axis}` : axis;
    this.grid.replaceChildren(
      h(
        "table",
        { class: `heat ${layer}` },
        h("caption", { class: "hidden" }, "Every memory"),
        h("thead", {}, h("tr", {}, h("td", { class: "none" }), columns.values.map((text) => h("th", { scope: "col" }, text)))),
        h("tbody", {}, rows.values.map((row) => h("tr", {}, h("th", { scope: "row" }, row), columns.values.map((column) => cell(row, column))))),
      ),
    );
    const scale = { belief: `Strongest colour: ${percent(high)}`, value: `From ${percent(low)} to ${percent(high)}`, cost: `Strongest colour: ${costText(high)} points`, best: "Dice of the best roll" }[layer];
    this.gridNote.textContent = `${scale}. Chosen: ${this.tellMemory(this.memory)}. Choose another to see its odds.`;
  }

  tellMemory(memory) {
    const { belief, value, cost, best } = this.facts[memory];
    const likely = belief === null ? "" : `, belief ${chance(belief)}`;
    return `${this.board.edition.memoryLine(memory)}: worth ${percent(value)}, best ${diceText(best)}, its roll costs ${costText(cost)} points${likely}`;
  }

  tellBlind(dice, facts) {
    const label = this.table.selectedOptions[0].textContent;
    const here = `${label} rolls ${diceText(dice)} at ${this.position[0]} against ${this.position[1]}, whatever was before.`;
    if (!this.belief) {
      this.blind.textContent = `${here} Two players of it never come here.`;
      return;
    }
    const right = facts.reduce((sum, { belief, cost }) => sum + (cost === 0 ? belief : 0), 0);
    const mean = facts.reduce((sum, { belief, cost }) => sum + belief * cost, 0);
    this.blind.textContent =
      `${here} Two players of it come here in ${chance(2 * this.often)} of games. The roll is then best ` +
      `for what was before in ${percent(right)}, and costs ${costText(mean)} points on average.`;
  }
}

const LAYERS = [
  ["belief", "belief: how likely each memory is"],
  ["value", "value: win probability with it"],
  ["cost", "cost: of the table's blind roll"],
  ["best", "best roll"],
];

screen("know", "Know", {
  mount(root, board) {
    this.view = new Know(root, board);
    board.know = this.view;
  },
});
