// A game tree and its equilibrium, as tree_page.py wrote them: nodes by depth, siblings side by side.
// Nothing here draws.

const [CHANCE, TERMINAL] = [-1, -2];

class GameTree {
  constructor(data) {
    Object.assign(this, data);
    this.size = this.parent.length;
    this.first = new Int32Array(this.size).fill(-1); // child of each node
    this.count = new Int32Array(this.size); // of children
    this.place = new Int32Array(this.size); // among siblings
    this.step = new Int32Array(this.size).fill(-1); // of chance that leads there
    let drawn = 0;
    for (let node = 1; node < this.size; node++) {
      const parent = this.parent[node];
      if (this.count[parent] === 0) this.first[parent] = node;
      this.place[node] = this.count[parent]++;
      if (this.player[parent] === CHANCE) this.step[node] = drawn++;
    }
    this.nodesOf = this.names.map(() => []);
    this.row.forEach((row, node) => row >= 0 && this.nodesOf[row].push(node));
    this.mean = this.meanPolicy();
    this.evaluate();
  }

  children(node) {
    return Array.from({ length: this.count[node] }, (_, i) => this.first[node] + i);
  }

  // The move that leads to a node.
  label(node) {
    const parent = this.parent[node];
    return this.step[node] >= 0 ? this.drawn[this.step[node]] : this.labels[this.row[parent]][this.place[node]];
  }

  // Who moved to a node, and where: `player 0: Bet`.
  moveText(node) {
    const parent = this.parent[node];
    return `${this.mover(parent)}: ${this.label(node)}`;
  }

  mover(node) {
    return this.player[node] === CHANCE ? "chance" : `player ${this.member[this.row[node]]}`;
  }

  path(node) {
    const found = [];
    for (let at = node; at > 0; at = this.parent[at]) found.unshift(at);
    return found;
  }

  historyText(node) {
    return this.path(node).map((one) => this.moveText(one)).join(", ") || "the start";
  }

  // A payoff of the tree, to player 0, as one of both sides has it.
  payoffTo(seat, payoff) {
    return (seat === 0 ? payoff : -payoff) + this.even[seat];
  }

  // Probability of the step to a node by one plan of each side.
  chance(node, plans) {
    if (this.step[node] >= 0) return this.odds[this.step[node]];
    const row = this.row[this.parent[node]];
    return plans[this.seat[row]][row][this.place[node]];
  }

  meanPolicy() {
    return this.names.map((_, row) =>
      this.labels[row].map((_, action) => this.weights.reduce((sum, weight, plan) => sum + weight * this.plans[plan][row][action], 0)),
    );
  }

  // Reach of each node, and the payoff to player 0 from there on: of mixtures, given that play comes.
  evaluate() {
    const { size, parent } = this;
    this.reach = new Float64Array(size);
    const total = new Float64Array(size);
    let values = null;
    this.weights.forEach((first, i) =>
      this.weights.forEach((second, j) => {
        const steps = Float64Array.from({ length: size }, (_, node) => (node ? this.chance(node, [this.plans[i], this.plans[j]]) : first * second));
        const reach = steps.slice();
        for (let node = 1; node < size; node++) reach[node] *= reach[parent[node]];
        values = Float64Array.from(this.payoff);
        for (let node = size - 1; node > 0; node--) values[parent[node]] += steps[node] * values[node];
        for (let node = 0; node < size; node++) {
          this.reach[node] += reach[node];
          total[node] += reach[node] * values[node];
        }
      }),
    );
    const isPolicy = this.weights.length === 1;
    this.values = isPolicy ? values : total.map((sum, node) => (this.reach[node] > 0 ? sum / this.reach[node] : NaN));
    if (isPolicy) this.without = [0, 1].map((seat) => this.reachWithout(seat));
  }

  // Reach of each node where one side's own actions count 1.
  reachWithout(seat) {
    const found = new Float64Array(this.size).fill(1);
    for (let node = 1; node < this.size; node++) {
      const row = this.row[this.parent[node]];
      const isOwn = row >= 0 && this.seat[row] === seat;
      found[node] = found[this.parent[node]] * (isOwn ? 1 : this.chance(node, [this.plans[0], this.plans[0]]));
    }
    return found;
  }

  // Share of plays that meet an information set: each counts once, though it may be met again.
  met(row) {
    const isFirst = (node) => !this.path(node).some((one) => this.row[this.parent[one]] === row);
    return this.nodesOf[row].filter(isFirst).reduce((sum, node) => sum + this.reach[node], 0);
  }

  // Probability of each of its nodes, given that play is there; NaN where it never comes.
  belief(row) {
    const reach = this.without ? this.without[this.seat[row]] : this.reach;
    const total = this.nodesOf[row].reduce((sum, node) => sum + reach[node], 0);
    return this.nodesOf[row].map((node) => reach[node] / total);
  }

  // Payoff of each action there to the one who moves; null of a mixture, whose plans know more.
  actionValues(row) {
    if (!this.without) return null;
    const belief = this.belief(row);
    return this.labels[row].map((_, action) =>
      this.payoffTo(this.seat[row], this.nodesOf[row].reduce((sum, node, i) => sum + belief[i] * this.values[this.first[node] + action], 0)),
    );
  }

  // What an action loses against the best one; null if that is not known.
  loss(row, action) {
    const values = this.actionValues(row);
    if (!values || values.some(Number.isNaN)) return null;
    const loss = Math.max(...values) - values[action];
    return loss > 1e-9 ? loss : 0;
  }
}

function payoffText(value) {
  if (!known(value)) return MISSING;
  const text = decimals(Math.abs(value), 4).replace(/\.0+$/, "");
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}
