// The opening: how the first ten turns should go, a tree to walk in, and places that look strange.

const OPENING_TURNS = 10;

// Play of both by their best rolls.
class BestFlow extends Flow {
  constructor(edition, values) {
    super(edition, null);
    this.values = values;
    this.bests = new Map(); // by position, one for each memory
  }

  diceAt(cell, memory) {
    const { goal } = this.edition;
    if (!this.bests.has(cell)) this.bests.set(cell, this.values.bests(Math.floor(cell / goal), cell % goal));
    return this.bests.get(cell)[memory];
  }
}

// The first turns of optimal play: which rolls are made, and what is reached by then.
async function openingOf(edition) {
  const flow = new BestFlow(edition, await edition.solved());
  const { goal, memorySize, cells, rolls } = edition;
  let here = flow.waiting;
  here[edition.start] = 1;
  const turns = [];
  let since = performance.now();
  for (let turn = 1; turn <= OPENING_TURNS; turn++) {
    const told = { turn, left: 0, own: 0, other: 0, rolls: new Float64Array(rolls) };
    const next = new Float64Array(cells * memorySize);
    for (let cell = 0; cell < cells; cell++) {
      const [own, other] = [Math.floor(cell / goal), cell % goal];
      for (let memory = 0; memory < memorySize; memory++) {
        const share = here[cell * memorySize + memory];
        if (share === 0) continue;
        told.left += share;
        told.own += share * own;
        told.other += share * other;
        told.rolls[flow.diceAt(cell, memory)] += share;
      }
      if (turn < OPENING_TURNS) flow.push(own, other, here, next);
      if (performance.now() - since > SLICE) {
        await breath();
        since = performance.now();
      }
    }
    if (told.left > 0) turns.push(told);
    here = next;
  }
  return turns;
}

class Book {
  constructor(root, board) {
    Object.assign(this, { root, board, edition: null });
    this.build();
    board.on("edition", () => {
      this.edition = null;
      if (!root.hidden) this.shown();
    });
  }

  build() {
    this.turns = h("div", { class: "wide whole", tabindex: "0", role: "region", "aria-label": "The first turns" });
    this.path = h("ol", { class: "path" });
    this.place = h("h3", { "aria-live": "polite" });
    this.memory = h("p", { class: "quiet" });
    this.rolls = h("div", { class: "book-rolls", role: "group", "aria-label": "Rolls here" });
    this.waysTitle = h("h3", {});
    this.ways = h("div", { class: "wide ways", tabindex: "0", role: "region", "aria-label": "How it can end" });
    this.backButton = button("Back", () => this.back());
    this.startButton = button("To the start", () => this.begin());
    this.strange = h("section", { class: "card", "aria-label": "Strange places" });
    this.root.append(
      h(
        "div",
        { class: "book" },
        h("section", { class: "card", "aria-label": "The first ten turns" }, h("h2", {}, "The first ten turns"), h("p", { class: "quiet" }, "What optimal play of both rolls, and how far whoever moves and the other have come by then: exact, over all that the dice can do."), this.turns),
        h("section", { class: "card", "aria-label": "Walk through the opening" }, h("h2", {}, "Walk through the opening"), this.path, this.place, this.memory, this.rolls, this.waysTitle, this.ways, h("div", { class: "tools" }, this.backButton, this.startButton)),
        this.strange,
      ),
    );
  }

  async shown() {
    const { edition } = this.board;
    if (this.edition === edition) return;
    this.edition = edition;
    this.turns.replaceChildren(h("p", { class: "quiet" }, "Computing …"));
    this.values = await edition.solved();
    if (this.edition !== edition) return;
    this.begin();
    this.fillStrange();
    edition.opening ??= openingOf(edition);
    const turns = await edition.opening;
    if (this.edition === edition) this.fillTurns(turns);
  }

  fillTurns(turns) {
    const rows = turns.map((one) => {
      const mean = (total) => fixed(total / one.left, 1);
      const often = [...one.rolls.entries()].filter(([, share]) => share > 0).sort((a, b) => b[1] - a[1]);
      const said = often.slice(0, 5).map(([dice, share]) => h("span", { class: "chip" }, `${this.edition.choices[dice]}: ${percent(share / one.left, 0)}`));
      return [String(one.turn), h("span", { class: "chips" }, said), `${mean(one.own)} : ${mean(one.other)}`];
    });
    this.turns.replaceChildren(tableOf("The first ten turns", ["turn", "dice rolled", "mean scores"], rows));
  }

  // --- a walk ----------------------------------------------------------------------------------

  begin() {
    this.walk = [];
    this.here = { own: 0, other: 0, memory: this.edition.start, first: true };
    this.showPlace();
  }

  back() {
    const last = this.walk.pop();
    if (last) this.here = last.from;
    this.showPlace();
  }

  showPlace() {
    const { edition, here } = this;
    const { own, other, memory, first } = here;
    this.found = this.values.rolls(own, other, memory);
    this.order = bestFirst(this.found);
    const who = first ? "first player" : "second player";
    this.place.textContent = `Turn ${this.walk.length + 1}: ${who}, ${own} to ${other}, ${percent(this.found[this.order[0]])} to win`;
    this.memory.textContent = edition.hidden ? edition.memoryLine(memory) : "";
    this.path.replaceChildren(
      ...this.walk.map(({ from, dice, to }) => h("li", {}, `${from.own} : ${from.other}, ${this.edition.diceText(dice)} → ${to}`)),
    );
    this.backButton.disabled = this.startButton.disabled = !this.walk.length;
    this.choose(this.order[0]);
  }

  choose(dice) {
    const { edition, here, found, order } = this;
    const most = found[order[0]];
    // The button that was pressed is made anew, or goes, or cannot be pressed again.
    const pressed = document.activeElement;
    const lost = this.rolls.contains(pressed) || this.ways.contains(pressed) || pressed.disabled;
    this.rolls.replaceChildren(
      ...order.map((roll) => {
        const loss = most - found[roll] > TIE ? lossText(most - found[roll]) : null;
        const label = `${edition.diceText(roll)}, ${loss ? `loses ${loss} pp` : "best"}`;
        const look = { type: "button", class: "choice", "aria-pressed": String(roll === dice), "aria-label": label };
        return h("button", { ...look, onclick: () => this.choose(roll) }, h("b", {}, String(edition.choices[roll])), h("small", { class: loss ? "bad" : "good" }, loss ? `−${loss}` : "best"));
      }),
    );
    const ways = edition
      .outcomes(here.own, here.other, here.memory, dice)
      .filter((way) => way.probability > 0)
      .map((way) => ({ way, then: this.values.after(way) }))
      .sort((a, b) => b.way.probability - a.way.probability);
    const reason = reasonAt(edition, here.own, here.other, here.memory);
    this.waysTitle.textContent = `How ${edition.diceText(dice)} can end: ${counted(ways.length, "way")}`;
    const rows = ways.map(({ way, then }) => [
      String(way.points + way.bonus),
      percent(way.probability),
      way.winner === null ? button(`${way.score} : ${way.opponent}`, () => this.step(dice, way), { class: "link", "aria-label": `Go on at ${way.score} to ${way.opponent}` }) : way.winner === 0 ? "wins" : "loses",
      percent(then),
    ]);
    if (lost) this.rolls.querySelector("[aria-pressed=true]").focus({ preventScroll: true });
    this.ways.replaceChildren(...(reason ? [h("p", {}, reason)] : []), tableOf("How it can end", ["points", "chance", "scores", "then"], rows));
  }

  step(dice, way) {
    const { here } = this;
    this.walk.push({ from: here, dice, to: `${way.score} : ${way.opponent}` });
    this.here = way.again
      ? { own: way.score, other: way.opponent, memory: way.memory, first: here.first }
      : { own: way.opponent, other: way.score, memory: way.memory, first: !here.first };
    this.showPlace();
    this.place.scrollIntoView({ block: "nearest" });
  }

  // --- strange places --------------------------------------------------------------------------

  fillStrange() {
    const { edition } = this;
    const reasons = reasonsOf(edition);
    this.strange.hidden = edition.ownGoals;
    const parts = [...new Set(reasons.map((one) => one.name))].flatMap((name) => {
      const list = reasons.filter((one) => one.name === name);
      const [traps, targets] = [list.filter((one) => !one.target), list.filter((one) => one.target)];
      return [
        ...(targets.length ? [h("h3", {}, `${name}: targets`), this.listOf(targets)] : []),
        ...(traps.length ? [h("h3", {}, `${name}: traps`), this.listOf(traps)] : []),
      ];
    });
    const none = h("p", {}, "Nothing in this game makes optimal play look strange.");
    this.strange.replaceChildren(
      h("h2", {}, "Where optimal play looks strange, and why"),
      h("p", { class: "quiet" }, "Here the best roll is not that of the positions around. The rule named is the reason: if it did not count on this turn, and on all later ones did, the other roll would be best. Those come first that matter most, by loss and by how often play comes there."),
      ...(parts.length ? parts : [none]),
    );
  }

  listOf(reasons) {
    const { edition, board } = this;
    return h(
      "ul",
      { class: "strange" },
      reasons.map((one) =>
        h(
          "li",
          {},
          button(`${one.own} to ${one.other}: ${edition.diceText(one.best)}`, () => {
            board.know.go(one.own, one.other, one.memory);
            board.show("know");
          }, { class: "link" }),
          edition.hidden ? h("span", { class: "quiet" }, ` ${edition.memoryLine(one.memory)}`) : null,
          h("p", {}, one.text),
        ),
      ),
    );
  }
}

screen("opening", "Opening", {
  mount(root, board) {
    this.view = new Book(root, board);
  },
  shown() {
    this.view.shown();
  },
});
