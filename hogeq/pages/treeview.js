// The tree, folded, and the information set that is chosen in it.

const UNFOLDED = 400; // nodes that are unfolded at once at most
const SEEN = 12; // as the page opens, at least, if there are as many

class TreeView {
  constructor(tree, root, part) {
    Object.assign(this, { tree, part, rows: new Map() });
    this.list = h("ul", { class: "nodes" });
    root.append(
      h("p", { class: "quiet" }, "A move and its probability in equilibrium; then who moves, and what that player knows, or the payoff. In brackets: share of plays that come there, and the payoff to player 0 from there on. Nodes of the chosen information set are marked."),
      h("p", { class: "tools" }, button("Unfold one level", () => this.deeper()), button("Fold all", () => this.fold())),
      h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Moves, folded" }, this.list),
    );
    this.fold();
    for (let seen = 0; this.rows.size > seen && this.rows.size < SEEN; ) {
      seen = this.rows.size;
      this.deeper();
    }
    this.choose(this.tree.names.length ? this.tree.row.findIndex((row) => row >= 0) : 0);
  }

  fold() {
    this.rows.clear();
    this.list.replaceChildren(this.item(0));
    this.deeper();
    this.mark();
  }

  item(node) {
    const { tree } = this;
    const { player, row, values, reach } = tree;
    const [is, inside] = [player[node], tree.count[node] > 0];
    const toggle = button("▸", () => this.toggle(node), { class: "fold", "aria-expanded": "false", "aria-label": `Unfold ${tree.historyText(node)}` });
    const policy = node && tree.step[node] < 0 ? tree.mean[row[tree.parent[node]]][tree.place[node]] : tree.odds[tree.step[node]];
    const move = node ? h("span", { class: "move" }, `${tree.label(node)} `, h("small", {}, percent(policy))) : "";
    const where = is === TERMINAL
      ? h("b", { class: tree.payoff[node] >= 0 ? "good" : "bad" }, payoffText(tree.payoffTo(0, tree.payoff[node])))
      : is === CHANCE
        ? h("span", { class: "quiet" }, "chance")
        : button(`${tree.mover(node)}: ${tree.names[row[node]]}`, () => this.choose(node), { class: `link seat-${tree.seat[row[node]]}` });
    const told = h("small", { class: "quiet" }, ` (${percent(reach[node])}; ${payoffText(tree.payoffTo(0, values[node]))})`);
    const item = h("li", {}, h("div", { class: "node" }, inside ? toggle : h("span", { class: "fold" }), move, where, is === TERMINAL ? h("small", { class: "quiet" }, ` (${percent(reach[node])})`) : told));
    this.rows.set(node, { item, toggle });
    return item;
  }

  isOpen(node) {
    return this.rows.get(node).toggle.getAttribute("aria-expanded") === "true";
  }

  toggle(node) {
    const { item, toggle } = this.rows.get(node);
    const open = !this.isOpen(node);
    toggle.setAttribute("aria-expanded", String(open));
    toggle.textContent = open ? "▾" : "▸";
    if (open) item.append(h("ul", { class: "nodes" }, this.tree.children(node).map((child) => this.item(child))));
    else {
      item.querySelector("ul").remove();
      for (const one of [...this.rows.keys()]) if (!this.rows.get(one).item.isConnected && one !== 0) this.rows.delete(one);
    }
    this.mark();
  }

  // The folded nodes that are seen, unfolded by a level.
  deeper() {
    for (const node of [...this.rows.keys()]) {
      if (this.rows.size > UNFOLDED) return;
      if (this.tree.count[node] && !this.isOpen(node)) this.toggle(node);
    }
  }

  // The way to a node, unfolded; what is on it is marked.
  show(node) {
    this.way = new Set([0, ...this.tree.path(node)]);
    for (const one of this.way) if (this.tree.count[one] && !this.isOpen(one)) this.toggle(one);
    this.mark();
  }

  mark() {
    const chosen = this.tree.row[this.node ?? 0];
    for (const [node, { item }] of this.rows) {
      const line = item.firstChild;
      line.classList.toggle("same", chosen >= 0 && this.tree.row[node] === chosen);
      line.classList.toggle("way", this.way?.has(node) ?? false);
    }
  }

  // Another information set: that of a node.
  choose(node) {
    const { tree } = this;
    this.node = node;
    this.mark();
    const row = tree.row[node];
    if (!(row >= 0)) return;
    const values = tree.actionValues(row);
    const belief = tree.belief(row);
    const actions = tree.labels[row].map((label, action) => [label, percent(tree.mean[row][action]), values ? payoffText(values[action]) : MISSING]);
    const nodes = tree.nodesOf[row].slice(0, UNFOLDED).map((one, i) => [tree.historyText(one), percent(belief[i])]);
    const wide = (label, table) => h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label }, table);
    this.part.replaceChildren(
      this.part.firstElementChild,
      h("p", {}, `${tree.mover(node)} knows: `, h("b", {}, tree.names[row]), ` (${counted(tree.nodesOf[row].length, "node")}; met in ${percent(tree.met(row))} of plays)`),
      wide("Actions", tableOf("Actions there", ["action", "probability", "payoff"], actions)),
      h("h3", {}, "Where play can be"),
      wide("Nodes", tableOf("Nodes of the information set", ["history", "probability"], nodes)),
    );
  }
}
