// A person plays in one seat, the equilibrium in the other; chance as it is.

class TreePlay {
  constructor(tree, view, root) {
    Object.assign(this, { tree, view, scores: [0, 1].map(() => ({ plays: 0, payoff: 0, lost: 0, isKnown: true })) });
    const seats = [0, 1].filter((seat) => tree.seat.includes(seat));
    this.seat = h("select", { onchange: () => this.begin() }, seats.map((seat) => h("option", { value: String(seat) }, tree.sides[seat])));
    this.known = h("p", { class: "known", "aria-live": "polite" });
    this.choices = h("p", { class: "tools", role: "group", "aria-label": "Actions" });
    this.told = h("ol", { class: "told" });
    this.result = h("p", { "aria-live": "polite" });
    this.again = button("Play again", () => this.begin());
    this.score = h("p", { class: "quiet" });
    root.append(h("p", { class: "tools" }, h("label", {}, "You are ", this.seat), this.again), this.known, this.choices, this.told, this.result, this.score);
    if (seats.length) this.begin();
  }

  get mine() {
    return Number(this.seat.value);
  }

  begin() {
    this.node = 0;
    this.random = new Random(newSeed(), 0);
    this.plan = this.tree.plans[this.drawn(this.tree.weights)];
    this.told.replaceChildren();
    this.result.textContent = "";
    this.lost = 0;
    this.goOn();
  }

  // The place that is drawn of some probabilities.
  drawn(chances) {
    let left = (this.random.next() / 2 ** 32) * chances.reduce((sum, one) => sum + one, 0);
    return Math.max(0, chances.findIndex((one) => (left -= one) < 0));
  }

  // Others move until the person does, or the play is over.
  goOn() {
    const { tree } = this;
    while (tree.player[this.node] !== TERMINAL && tree.player[this.node] !== this.mine) {
      const chances = tree.children(this.node).map((child) => tree.chance(child, [this.plan, this.plan]));
      this.node = tree.first[this.node] + this.drawn(chances);
    }
    if (tree.player[this.node] === TERMINAL) return this.end();
    const row = tree.row[this.node];
    this.known.replaceChildren(`${tree.mover(this.node)}, your move. You know: `, h("b", {}, tree.names[row]));
    const buttons = tree.labels[row].map((label, action) => button(label, () => this.take(action)));
    this.choices.replaceChildren(...buttons);
    if (this.hasMoved) buttons[0].focus({ preventScroll: true });
    return undefined;
  }

  take(action) {
    const { tree, node } = this;
    const row = tree.row[node];
    const loss = tree.loss(row, action);
    const said = loss === null ? "" : loss ? `; it loses ${payoffText(loss)} against the equilibrium` : "; nothing is better";
    this.told.append(h("li", {}, `${tree.names[row]}: ${tree.labels[row][action]}, in equilibrium ${percent(tree.mean[row][action])}${said}`));
    this.lost = loss === null || this.lost === null ? null : this.lost + loss;
    this.hasMoved = true;
    this.node = tree.first[node] + action;
    this.goOn();
  }

  end() {
    const { tree, node, mine } = this;
    const payoff = tree.payoffTo(mine, tree.payoff[node]);
    const score = this.scores[mine];
    score.plays++;
    score.payoff += payoff;
    score.lost += this.lost ?? 0;
    score.isKnown &&= this.lost !== null;
    this.known.textContent = "The play is over.";
    this.choices.replaceChildren();
    this.result.replaceChildren("Payoff to you: ", h("b", {}, payoffText(payoff)), `. What happened: ${tree.historyText(node)}.`);
    const worth = tree.payoffTo(mine, tree.values[0]);
    const lost = score.isKnown ? ` Your choices lost ${payoffText(score.lost)} in all.` : "";
    this.score.textContent = `${counted(score.plays, "play")} as ${tree.sides[mine]}: mean payoff ${payoffText(score.payoff / score.plays)}; the equilibrium's is ${payoffText(worth)}.${lost}`;
    this.view.show(node);
    if (this.hasMoved) this.again.focus({ preventScroll: true });
  }
}

function openTree() {
  const part = (id) => document.getElementById(id);
  const tree = new GameTree(JSON.parse(part("data").textContent));
  const [lower, upper] = tree.value;
  const value = lower === upper ? lower : `${lower} to ${upper}`;
  part("title").textContent = tree.title;
  part("about").textContent = `${counted(tree.size, "node")}, ${counted(tree.names.length, "information set")}. Value to ${tree.sides[0]}: ${value}.`;
  const view = new TreeView(tree, part("tree"), part("infoset"));
  new TreePlay(tree, view, part("play"));
  document.body.dataset.ready = "";
}

openTree();
