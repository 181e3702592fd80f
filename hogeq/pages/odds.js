// Every roll at a position: its win probability, what it loses, and how it can end.

class Odds {
  constructor(root) {
    this.rows = h("tbody");
    this.note = h("p", { class: "quiet" });
    this.chart = h("div", { class: "spread", tabindex: "0", role: "img" });
    this.said = h("p", { class: "spread-said", "aria-live": "polite" });
    this.figure = h("figure", { class: "spread-part" }, this.caption = h("figcaption"), this.chart, this.said);
    root.append(
      h(
        "div",
        { class: "wide", tabindex: "0", role: "region", "aria-label": "Every roll" },
        h(
          "table",
          { class: "odds" },
          h("thead", {}, h("tr", {}, ["dice", "wins", "loss, pp", "mean points"].map((name) => h("th", { scope: "col" }, name)))),
          this.rows,
        ),
      ),
      this.note,
      this.figure,
    );
    this.chart.addEventListener("pointermove", (event) => this.point(event));
    this.chart.addEventListener("pointerdown", (event) => this.point(event));
    this.chart.addEventListener("keydown", (event) => this.step(event));
    this.chosen = 0;
    this.picked = false; // by the reader; otherwise the best roll is shown
  }

  // view: [own, other, memory] of the player to move; seat 1 is one who plays a table.
  // `found`: win probabilities to show, where they are not those of this memory.
  show(edition, values, view, { seat = 0, counting = "", found = values.rolls(...view, seat) } = {}) {
    Object.assign(this, { edition, values, view, seat });
    const order = bestFirst(found);
    const most = found[order[0]];
    if (!this.picked || this.chosen >= found.length) this.chosen = order[0];
    this.rows.replaceChildren(
      ...Array.from(found, (value, dice) => {
        const loss = most - value > TIE ? most - value : 0;
        const width = `${100 * value}%`;
        const ways = edition.outcomes(...view, dice);
        const mean = ways.reduce((sum, way) => sum + way.probability * (way.points + way.bonus), 0);
        const row = h(
          "tr",
          { class: loss === 0 ? "best" : null },
          h("th", { scope: "row" }, button(String(edition.choices[dice]), () => this.pick(dice), {
            class: "button dice-button",
            "aria-pressed": String(dice === this.chosen),
            "aria-label": `How ${edition.diceText(dice)} can end`,
          })),
          h("td", { class: "chance" }, h("span", {}, percent(value)), h("span", { class: "fill", "aria-hidden": "true" }, h("i", { style: { width } }))),
          h("td", { class: loss > 0 ? "bad" : "good" }, loss > 0 ? lossText(loss) : "best"),
          h("td", {}, fixed(mean, 2)),
        );
        row.dataset.dice = dice;
        row.dataset.value = value;
        row.addEventListener("click", () => this.pick(dice));
        return row;
      }),
    );
    this.note.textContent = counting ? `Exact, counting on ${counting} from the next turn on. Choose a roll to see how it can end.` : "";
    this.draw();
  }

  pick(dice) {
    this.chosen = dice;
    this.picked = true;
    for (const row of this.rows.rows) {
      row.querySelector("button").setAttribute("aria-pressed", String(Number(row.dataset.dice) === dice));
      row.classList.toggle("chosen", Number(row.dataset.dice) === dice);
    }
    this.draw();
  }

  // The distribution of the points of the chosen roll.
  draw() {
    const { edition, view, chosen } = this;
    for (const row of this.rows.rows) row.classList.toggle("chosen", Number(row.dataset.dice) === chosen);
    this.ways = edition.outcomes(...view, chosen).filter((way) => way.probability > 0);
    // A roll with a 1 is by far the likeliest: its bar is broken, so that the others can be seen, and
    // has its number above.
    const [first, second] = this.ways.map((way) => way.probability).sort((a, b) => b - a);
    const most = first > 2 * second ? 1.25 * second : first;
    const dice = edition.diceText(chosen);
    const kinds = [["plain", "points alone"], ["special", "a rule fires"], ["wins", "wins"], ["loses", "loses"]];
    this.caption.replaceChildren(`How ${dice} can end, by points`, ...kinds.map(([kind, text]) => h("span", { class: `key ${kind}` }, text)));
    this.chart.replaceChildren(
      ...this.ways.map((way, i) => {
        const plain = way.score === view[0] + way.points && way.opponent === view[1];
        const isCut = way.probability > most;
        const kind = way.winner === 0 ? "wins" : way.winner === 1 ? "loses" : plain && !way.again ? "" : "special";
        return h(
          "span",
          {
            class: `stick ${kind}${isCut ? " cut" : ""}`,
            style: { "--height": `${Math.max(1.5, Math.min(100, (100 * way.probability) / most))}%` },
          },
          isCut ? h("b", {}, percent(way.probability, 0)) : null,
          this.ways.length <= 12 || i % Math.ceil(this.ways.length / 12) === 0 ? h("small", {}, String(way.points)) : null,
        );
      }),
    );
    const likely = this.ways.reduce((best, way) => (way.probability > best.probability ? way : best));
    this.tell(this.ways.indexOf(likely));
    this.chart.setAttribute("aria-label", `Distribution of points of ${dice}; arrow keys go through it`);
  }

  point(event) {
    const box = this.chart.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    this.tell(Math.max(0, Math.min(this.ways.length - 1, Math.floor(share * this.ways.length))));
  }

  step(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    this.tell(Math.max(0, Math.min(this.ways.length - 1, this.at + by)));
  }

  // One way in which the roll can end.
  tell(at) {
    this.at = at;
    [...this.chart.children].forEach((stick, i) => stick.classList.toggle("here", i === at));
    const way = this.ways[at];
    const [own, other] = this.view;
    const bonus = way.bonus ? ` and ${way.bonus} more` : "";
    const lands = `${own} against ${other} becomes ${way.score} against ${way.opponent}`;
    const then = way.winner === null ? `, then ${percent(this.values.after(way, this.seat))}` : way.winner === 0 ? ": wins" : ": loses";
    const again = way.again ? ", and moves again" : "";
    const said = `${counted(way.points, "point")}${bonus}, ${percent(way.probability)}: ${lands}${again}${then}`;
    this.said.textContent = said.replaceAll(" %", "\u00a0%");
  }
}

// A loss of win probability, without a sign.
function lossText(loss) {
  return pp(loss).replace("+", "").replace(" pp", "");
}
