// The win probability of player 0, from before the first turn to after the last.

const GRAPH = { left: 46, right: 14, top: 12, bottom: 34, height: 250 };

const MARKS = { inaccuracy: "?!", mistake: "?", blunder: "??" };

class Graph {
  // `chosen` is called with the number of a turn, from 1.
  constructor(root, chosen) {
    this.chosen = chosen;
    this.picture = svg("svg", { class: "graph", "aria-hidden": "true" });
    this.frame = h(
      "div",
      { class: "graph-frame", tabindex: "0", role: "slider", "aria-label": "Turn of the game", "aria-valuemin": "1", "aria-orientation": "horizontal" },
      this.picture,
    );
    root.append(this.frame);
    this.frame.addEventListener("keydown", (event) => this.key(event));
    this.frame.addEventListener("pointerdown", (event) => {
      this.frame.focus({ preventScroll: true });
      this.point(event);
    });
    this.frame.addEventListener("pointermove", (event) => {
      if (event.buttons) this.point(event);
    });
    new ResizeObserver(() => this.draw()).observe(this.frame);
  }

  // `behind`: the review of the game that a side line left.
  show(review, at, behind = null) {
    Object.assign(this, { review, behind });
    this.count = Math.max(review.turns.length, behind?.turns.length ?? 0);
    this.frame.setAttribute("aria-valuemax", String(review.turns.length));
    this.go(at);
  }

  go(at) {
    this.at = at;
    const turn = this.review.turns[at - 1];
    const [one] = this.review.game.names;
    this.frame.setAttribute("aria-valuenow", String(at));
    this.frame.setAttribute("aria-valuetext", `Turn ${at}: ${nameOf(this.review, turn)} rolled ${turn.played.dice}, ${turn.grade}; ${one} then has ${percent(this.after(turn))}`);
    this.draw();
  }

  // Win probability of player 0 once a turn is over.
  after(turn) {
    return this.ofFirst(turn, turn.after);
  }

  ofFirst(turn, share) {
    return turn.player === 0 ? share : 1 - share;
  }

  draw() {
    const { review, picture, behind, count } = this;
    const width = this.frame.clientWidth;
    if (!review || !width) return;
    const { left, right, top, bottom, height } = GRAPH;
    const x = (turn) => left + ((width - left - right) * turn) / count;
    const y = (share) => top + (height - top - bottom) * (1 - share);
    const place = (turn, share) => `${x(turn).toFixed(1)} ${y(share).toFixed(1)}`;
    const stepsOf = ({ turns }) =>
      turns.map((turn) => {
        const { number, before, chosen, after } = turn;
        const [from, to, then] = [before, chosen, after].map((share) => this.ofFirst(turn, share));
        return { turn, number, from, to, then };
      });
    // A choice is an upright step, the dice are the slope that follows.
    const pathOf = ({ start }, steps) => `M${place(0, start[0])}${steps.map((one) => `L${place(one.number - 1, one.to)}L${place(one.number, one.then)}`).join("")}`;
    const steps = stepsOf(review);
    const path = pathOf(review, steps);
    const line = (x1, y1, x2, y2, name) => svg("line", { x1, y1, x2, y2, class: name });
    const text = (tx, ty, said, name, anchor) => svg("text", { x: tx, y: ty, class: name, "text-anchor": anchor }, said);
    const fits = Math.floor((width - left - right) / 9);
    const name = (player) => shortened(review.game.names[player], fits);
    const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000].find((step) => (count / step) * 34 < width - left) ?? count;
    const ticks = Array.from({ length: Math.floor(count / every) }, (_, i) => (i + 1) * every);
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.setAttribute("height", String(height));
    picture.replaceChildren(
      svg("rect", { x: left, y: top, width: width - left - right, height: y(0) - top, class: "graph-them" }),
      svg("path", { d: `${path}L${x(steps.length)} ${y(0)}L${left} ${y(0)}Z`, class: "graph-you" }),
      ...[0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
        line(left, y(share), width - right, y(share), share === 0.5 ? "graph-even" : "graph-grid"),
        text(left - 6, y(share) + 4, `${100 * share} %`, "graph-tick", "end"),
      ]),
      ...ticks.map((turn) => text(x(turn - 0.5), height - bottom + 17, String(turn), "graph-tick", "middle")),
      text(width - right, height - 3, "turn", "graph-tick", "end"),
      text(left + 8, top + 17, name(1), "graph-name them", "start"),
      text(left + 8, y(0) - 8, name(0), "graph-name you", "start"),
      svg("rect", { x: x(this.at - 1), y: top, width: x(1) - x(0), height: y(0) - top, class: "graph-cursor" }),
      behind ? svg("path", { d: pathOf(behind, stepsOf(behind)), class: "graph-behind" }) : "",
      svg("path", { d: path, class: "graph-line" }),
      ...steps.filter(({ turn }) => turn.loss > 0).map(({ number, from, to }) => line(x(number - 1), y(from), x(number - 1), y(to), "graph-loss")),
      ...steps.filter(({ turn }) => MARKS[turn.grade]).map(({ turn, number, to, from }) => this.mark(turn, x(number - 1), y(to), to < from)),
      svg("circle", { cx: x(this.at), cy: y(this.after(review.turns[this.at - 1])), r: 5, class: "graph-here" }),
    );
  }

  // The sign of a choice that was not right stands where the step ends.
  mark(turn, x, y, down) {
    const { top, bottom, height } = GRAPH;
    const at = Math.min(height - bottom - 5, Math.max(top + 12, down ? y + 17 : y - 8));
    return svg("text", { x: Math.max(x, GRAPH.left + 10), y: at, "text-anchor": "middle", class: `graph-mark ${turn.grade}` }, MARKS[turn.grade]);
  }

  point(event) {
    const { left, right } = GRAPH;
    const box = this.picture.getBoundingClientRect();
    const share = (event.clientX - box.left - left) / (box.width - left - right);
    this.choose(Math.ceil(share * this.count));
  }

  choose(turn) {
    this.chosen(Math.max(1, Math.min(this.review.turns.length, turn)));
  }

  key(event) {
    const to = {
      ArrowLeft: this.at - 1,
      ArrowDown: this.at - 1,
      ArrowRight: this.at + 1,
      ArrowUp: this.at + 1,
      PageUp: this.at + 5,
      PageDown: this.at - 5,
      Home: 1,
      End: this.review.turns.length,
    }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.choose(to);
  }
}

function shortened(text, most) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

function nameOf(review, turn) {
  return review.game.names[turn.player];
}
