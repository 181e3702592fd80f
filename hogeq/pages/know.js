// The second screen: any position, and all that is known of it.

class Know {
  constructor(root, board) {
    Object.assign(this, { root, board, position: [0, 0], memory: 0, averaged: true });
    this.build();
    board.on("edition", (edition) => this.enter(edition));
    board.on("scheme", () => this.draw());
  }

  build() {
    this.own = this.field("Own score");
    this.other = this.field("Other's score");
    this.memoryPart = h("div", { class: "fields inner" });
    this.counting = h("select", { onchange: () => this.refresh() });
    this.average = h("input", { type: "checkbox", onchange: () => this.setAverage(this.average.checked) });
    this.averagePart = h("label", { class: "tick" }, this.average, h("span", {}, "averaged over what was before"));
    this.here = button("Use current position", () => this.fromGame());
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
          this.averagePart,
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
      const value = Math.max(0, Math.min(Number(from.max), Math.round(Number(from.value)) || 0));
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
    const tables = opponentsOf(edition).filter((one) => one.kind === "table");
    this.counting.replaceChildren(
      h("option", { value: "" }, "optimal play of both"),
      ...tables.map(({ id, label }) => h("option", { value: id }, `best play against: ${label}`)),
    );
    this.table.replaceChildren(...tables.map(({ id, label }) => h("option", { value: id }, label)));
    if (edition.tables.has(USUAL)) this.table.value = USUAL;
    this.hiddenPart.hidden = !edition.hidden || edition.ownGoals || tables.length === 0;
    this.memoryPart.hidden = !edition.hidden;
    this.averagePart.hidden = this.hiddenPart.hidden;
    // Of each part of the memory its values, and by memory which of them it has.
    this.selects = edition.columns.map((name, column) => {
      const values = [...new Set(edition.memories.map((texts) => texts[column]))];
      const places = edition.memories.map((texts) => values.indexOf(texts[column]));
      const select = h("select", { onchange: () => this.remember(column) }, values.map((text, i) => h("option", { value: String(i) }, text)));
      return { name, values, places, select };
    });
    this.memoryPart.replaceChildren(...this.selects.map(({ name, select }) => h("label", {}, name, select)));
    this.odds.picked = false;
    this.go(0, 0, edition.start);
    this.setAverage(!this.hiddenPart.hidden);
  }

  // What was before is not known, or one memory is.
  setAverage(averaged) {
    this.averaged = this.average.checked = averaged;
    this.refresh();
  }

  // To a position and a memory; other screens call this too.
  go(own, other, memory) {
    this.averaged = this.average.checked = false;
    this.position = [own, other];
    this.remembered(memory);
    this.odds.picked = false;
    this.refresh();
  }

  // The position as an address has it: both scores, and the number of the memory unless averaged.
  link() {
    const { edition, shortTitle } = this.board;
    const memory = edition.hidden && !this.averaged ? `-${this.memory}` : "";
    return `/${encodeURIComponent(shortTitle)}/${this.position.join("-")}${memory}`;
  }

  follow(place) {
    const { edition } = this.board;
    const [own, other, memory] = place.split("-").map(Number);
    const known = Number.isInteger(memory) && memory >= 0 && memory < edition.memorySize;
    const inside = [own, other].every((score) => Number.isInteger(score) && score >= 0);
    if (!inside || !edition.isInside(own, other, known ? memory : edition.start)) return;
    this.go(own, other, known ? memory : edition.start);
    if (!known) this.setAverage(!this.hiddenPart.hidden);
  }

  remembered(memory) {
    this.memory = memory;
    const { goals, seats } = this.board.edition;
    this.position = this.position.map((score, i) => Math.min(score, goals[seats[memory]][i] - 1));
    [this.own, this.other].forEach(({ number, slide }, i) => {
      number.max = slide.max = String(goals[seats[memory]][i] - 1);
      number.value = slide.value = String(this.position[i]);
    });
    for (const { select, places } of this.selects) select.value = String(places[memory]);
  }

  // A part of the memory was chosen: not every value goes with all others, which give way then.
  remember(column) {
    const wanted = this.selects.map(({ select }) => Number(select.value));
    const fits = (memory) => this.selects.filter(({ places }, i) => places[memory] === wanted[i]).length;
    const { places } = this.selects[column];
    const able = [...places.keys()].filter((memory) => places[memory] === wanted[column]);
    this.go(...this.position, able.reduce((best, memory) => (fits(memory) > fits(best) ? memory : best)));
  }

  fromGame() {
    const { game } = this.board;
    if (game && !game.over) this.go(...game.view);
  }

  async refresh() {
    const { edition } = this.board;
    const asked = (this.asked = {});
    if (!this.root.hidden) this.board.link();
    const id = this.counting.value;
    const rival = id ? tablePlayer(id, edition.tables.get(id)) : PERFECT;
    const blind = !this.hiddenPart.hidden && this.table.value;
    const values = await valuesAgainst(edition, rival);
    if (asked !== this.asked) return; // another edition, say, whose tables the list has now
    const reach = blind ? await edition.reach(blind, edition.tables.get(blind)) : null;
    if (asked !== this.asked) return;
    this.values = values;
    this.belief = reach?.belief(...this.position) ?? null;
    const averaged = this.averaged && this.belief !== null;
    if (averaged) this.remembered(this.belief.indexOf(Math.max(...this.belief)));
    const found = averaged ? this.meanRolls(values) : values.rolls(...this.position, this.memory);
    const label = this.table.selectedOptions[0]?.textContent;
    this.odds.show(edition, values, [...this.position, this.memory], { counting: countingOn(rival), found });
    if (averaged) this.odds.note.append(` Averaged over how two players of ${label} get here; the bars show what was likeliest before.`);
    const [best] = bestFirst(found);
    const never = this.averaged && !averaged && blind ? `. Two players of ${label} never come here: after ${edition.memoryLine(this.memory)}` : "";
    this.summary.textContent = `Best: ${edition.diceText(best)}, ${percent(found[best])}${never}`;
    if (!blind) return;
    this.often = reach.said(...this.position);
    this.draw();
  }

  // Win probability of every roll, averaged over the belief.
  meanRolls(values) {
    const mean = new Float64Array(this.board.edition.rolls);
    this.belief.forEach((share, memory) => {
      if (share > 0) values.rolls(...this.position, memory).forEach((value, dice) => (mean[dice] += share * value));
    });
    return mean;
  }

  // What the table does here without seeing the memory, and what each memory is worth.
  draw() {
    const { edition } = this.board;
    if (!edition || this.hiddenPart.hidden || !this.values) return;
    const [own, other] = this.position;
    const dice = edition.tables.get(this.table.value)[own * edition.goal + other];
    const facts = edition.memories.map((_, memory) => {
      const found = this.values.rolls(own, other, memory);
      const [best] = bestFirst(found);
      const loss = found[best] - found[dice];
      return { best, value: found[best], loss: loss > TIE ? loss : 0, belief: this.belief?.[memory] ?? null };
    });
    this.facts = facts;
    this.tellBlind(dice, facts);
    const layer = this.belief || this.layer.value !== "belief" ? this.layer.value : "value";
    const shown = facts.map((fact) => fact[layer]);
    const known = shown.filter((value) => value !== null);
    const low = layer === "value" ? Math.min(...known) : 0;
    const high = Math.max(...known);
    // The longer axis goes to the right.
    const axes = this.selects.slice(0, 2).sort((a, b) => a.values.length - b.values.length);
    const columns = axes.pop();
    const rows = axes.pop();
    // Memories by row and column; all else is as in the memory chosen.
    const others = this.selects.filter((select) => select !== rows && select !== columns);
    const memories = [...facts.keys()].filter((memory) => others.every(({ places }) => places[memory] === places[this.memory]));
    this.cells = (rows?.values ?? [""]).map((_, row) => {
      const inRow = memories.filter((memory) => !rows || rows.places[memory] === row);
      return columns.values.map((_, column) => inRow.find((memory) => columns.places[memory] === column));
    });
    const cell = (memory) => {
      if (memory === undefined) return h("td", { class: "none" });
      const value = shown[memory];
      const share = value === null || high <= low ? 0 : (value - low) / (high - low);
      const chosen = memory === this.memory;
      return h(
        "td",
        {
          class: chosen ? "here" : null,
          style: { "--share": String(layer === "best" ? value / (edition.rolls - 1) : share) },
          title: this.tellMemory(memory),
          tabindex: chosen ? "0" : "-1",
          "aria-selected": String(chosen),
          onclick: () => this.go(own, other, memory),
        },
        layer === "best" ? String(edition.choices[value]) : h("span", { class: "hidden" }, WRITTEN[layer](value)),
      );
    };
    const axis = `${columns.name} to the right`;
    this.axes.textContent = rows ? `${rows.name} downwards, ${axis}` : axis;
    const held = this.grid.querySelector("table")?.contains(document.activeElement);
    this.grid.replaceChildren(
      h(
        "table",
        { class: `heat ${layer}`, role: "grid", onkeydown: (event) => this.step(event) },
        h("caption", { class: "hidden" }, `Every memory: ${this.axes.textContent}; arrow keys go through them`),
        h("thead", {}, h("tr", {}, h("td", { class: "none" }), columns.values.map((text) => h("th", { scope: "col" }, text)))),
        h("tbody", {}, this.cells.map((line, row) => h("tr", {}, h("th", { scope: "row" }, rows?.values[row] ?? ""), line.map(cell)))),
      ),
    );
    if (held) this.grid.querySelector(".here").focus({ preventScroll: true });
    const scale = { belief: `Strongest colour: ${percent(high)}`, value: `From ${percent(low)} to ${percent(high)}`, loss: `Strongest colour: ${lossText(high)} pp`, best: "Dice of the best roll" }[layer];
    this.gridNote.textContent = `${scale}. Chosen: ${this.tellMemory(this.memory)}. Choose another to see its odds.`;
  }

  // Arrow keys choose the next memory that way.
  step(event) {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    let row = this.cells.findIndex((line) => line.includes(this.memory));
    if (row < 0) return; // what was chosen elsewhere is not drawn yet
    let column = this.cells[row].indexOf(this.memory);
    do {
      row += by[0];
      column += by[1];
    } while (this.cells[row]?.length > column && column >= 0 && this.cells[row][column] === undefined);
    const memory = this.cells[row]?.[column];
    if (memory !== undefined) this.go(...this.position, memory);
  }

  tellMemory(memory) {
    const { belief, value, loss, best } = this.facts[memory];
    const likely = belief === null ? "" : `, belief ${chance(belief)}`;
    const { edition } = this.board;
    return `${edition.memoryLine(memory)}: worth ${percent(value)}, best ${edition.diceText(best)}, its roll loses ${lossText(loss)} pp${likely}`;
  }

  tellBlind(dice, facts) {
    const label = this.table.selectedOptions[0].textContent;
    const here = `${label} rolls ${this.board.edition.diceText(dice)} at ${this.position[0]} against ${this.position[1]}, whatever was before.`;
    if (!this.belief) {
      this.blind.textContent = `${here} Two players of it never come here.`;
      return;
    }
    const right = facts.reduce((sum, { belief, loss }) => sum + (loss === 0 ? belief : 0), 0);
    const mean = facts.reduce((sum, { belief, loss }) => sum + belief * loss, 0);
    this.blind.textContent =
      `${here} How often one of two players of it comes to move here: ${this.often}. The roll is then best ` +
      `for what was before in ${percent(right)}, and loses ${lossText(mean)} pp on average.`;
  }
}

// The table by whose play the average is made: the one that hogeq analyze takes.
const USUAL = "ignore_memory";

const LAYERS = [
  ["belief", "belief: how likely each memory is"],
  ["value", "value: win probability with it"],
  ["loss", "loss: of the table's blind roll"],
  ["best", "best roll"],
];

// What a cell says to those who do not see its colour.
const WRITTEN = {
  belief: chance,
  value: (value) => percent(value),
  loss: (value) => `${lossText(value)} pp`,
};

screen("know", "Know", {
  mount(root, board) {
    this.view = new Know(root, board);
    board.know = this.view;
  },
  link() {
    return this.view.link();
  },
  follow(place) {
    this.view.follow(place);
  },
});
