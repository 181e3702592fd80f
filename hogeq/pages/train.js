// Training: positions at which rules of thumb go wrong, and people with them.

// What hasty players do: so many dice, or none if that scores enough.
const THUMBS = [
  { dice: 6, enough: 10 },
  { dice: 5, enough: 12 },
  { dice: 4, enough: 8 },
  { dice: 6, enough: Infinity },
];
const LEAST_LOSS = 0.005; // of a mistake worth learning from
const AGAIN_AFTER = 3; // positions until one that went wrong is asked again

// What no dice score at a position, as the game begins.
function freePoints(edition, cell) {
  return edition.list(Math.floor(cell / edition.goal), cell % edition.goal, edition.number[0][0]).points[0];
}

function thumbTable(edition, { dice, enough }) {
  const most = Math.min(dice, edition.maxDice);
  return Uint8Array.from({ length: edition.cells }, (_, cell) => (freePoints(edition, cell) >= enough ? 0 : most));
}

// The memory with which play most often comes to a position.
function usualMemory(reach, own, other) {
  const belief = reach.belief(own, other);
  return belief ? belief.indexOf(Math.max(...belief)) : 0;
}

// Positions to train on: where two players of a rule of thumb lose most by it, as often as they come
// there; the costliest in a mean game first.
async function lessonsOf(edition) {
  const values = await edition.solved();
  const found = new Map(); // by position
  for (const thumb of THUMBS) {
    const table = thumbTable(edition, thumb);
    const reach = await edition.reach(`${thumb.dice} or ${thumb.enough}`, table);
    let since = performance.now();
    for (let cell = 0; cell < edition.cells; cell++) {
      const [own, other] = [Math.floor(cell / edition.goal), cell % edition.goal];
      const often = reach.cell(own, other);
      if (often < 1e-6) continue;
      const memory = usualMemory(reach, own, other);
      const rolls = values.rolls(own, other, memory);
      const loss = Math.max(...rolls) - rolls[table[cell]];
      const weight = often * loss;
      if (loss >= LEAST_LOSS && weight > (found.get(cell)?.weight ?? 0)) {
        found.set(cell, { own, other, memory, usual: table[cell], weight });
      }
      if (performance.now() - since > SLICE) {
        await breath();
        since = performance.now();
      }
    }
  }
  return [...found.values()].sort((a, b) => b.weight - a.weight);
}

// What a browser keeps of training: how it went, in all and by day, which positions come again, and
// which are known.
function readProgress(edition) {
  const kept = readKept("train", edition);
  if (!kept) return null;
  const { asked, right, lost, again, known = [], days = {} } = kept;
  const isGood = isScore([asked, right, lost]) && Array.isArray(again) && Array.isArray(known);
  const scores = Object.entries(days ?? {}).filter(([day, score]) => isDay(day) && isScore(score));
  return isGood ? { asked, right, lost, again, known, days: Object.fromEntries(scores) } : null;
}

// Positions asked, answered right, and win probability lost.
function isScore(score) {
  return Array.isArray(score) && score.length === 3 && score.every((one) => Number.isFinite(one) && one >= 0) && score[1] <= score[0];
}

// Days in a row with training, up to today or yesterday.
function daysInARow(days) {
  let count = 0;
  const first = days[dayBefore()] ? 0 : 1;
  while (days[dayBefore(first + count)]) count++;
  return count;
}

const SHOWN_DAYS = 7;

class Train {
  constructor(root, board) {
    Object.assign(this, { root, board, edition: null, mistakes: new Map() });
    this.build();
    board.on("mistakes", (edition, lessons) => this.learnt(edition, lessons));
    addEventListener("keydown", (event) => this.key(event));
    board.on("edition", () => {
      if (!root.hidden) this.shown();
    });
  }

  build() {
    this.place = h("h2", {});
    this.memory = h("p", { class: "quiet" });
    this.scores = h("p", { class: "train-scores" });
    this.choices = h("div", { class: "choices", role: "group", "aria-label": "Dice to roll" });
    this.answer = h("div", { class: "answer", "aria-live": "polite" });
    this.nextButton = button("Next position", () => this.next(), { class: "button main", hidden: true });
    this.tally = h("span", { class: "tally" });
    this.anew = button("Start anew", () => this.forget(), { class: "button", hidden: true });
    this.daysPart = h("section", { class: "card days", "aria-label": "Score by day", hidden: true });
    this.oddsPart = h("section", { class: "card", "aria-label": "What every roll was worth", hidden: true }, h("h2", {}, "Every roll"));
    this.odds = new Odds(this.oddsPart);
    this.root.append(
      h("p", { class: "intro" }, "The costliest mistakes first: your own of the games on Learn, then those of rules of thumb, four to six dice or none if that scores about ten. What goes wrong is asked again, what goes right is not."),
      h(
        "div",
        { class: "train" },
        h("section", { class: "card", "aria-label": "A position" }, this.place, this.scores, this.memory, this.choices, this.answer, h("div", { class: "tools" }, this.nextButton), h("p", { class: "quiet tools" }, this.tally, this.anew)),
        this.oddsPart,
        this.daysPart,
      ),
    );
  }

  async shown() {
    const { edition } = this.board;
    if (this.edition === edition) return;
    const waiting = (this.mistakes.get(edition) ?? []).map((lesson) => ({ lesson, due: 0 }));
    Object.assign(this, { edition, waiting, asked: 0, right: 0, lost: 0, known: new Set(), days: {}, turn: 0, lesson: null });
    this.place.textContent = "Looking for positions … (keys count once one is here)";
    const empty = [this.scores, this.memory, this.choices, this.answer, this.tally];
    for (const one of empty) one.replaceChildren();
    this.oddsPart.hidden = this.nextButton.hidden = true;
    edition.lessons ??= lessonsOf(edition);
    const lessons = await edition.lessons;
    const own = await keptLessons(edition);
    this.values = await edition.solved();
    if (this.edition !== edition) return;
    this.fresh = [...own, ...lessons];
    this.resume(readProgress(edition));
    this.next();
  }

  // Go on from what the browser has kept.
  resume(kept) {
    if (!kept) return this.tell();
    const { asked, right, lost, again, known, days } = kept;
    Object.assign(this, { asked, right, lost, days, known: new Set(known) });
    for (const cell of again) {
      const at = this.fresh.findIndex((lesson) => this.cellOf(lesson) === cell);
      if (at >= 0) this.waiting.push({ lesson: this.fresh.splice(at, 1)[0], due: AGAIN_AFTER });
    }
    return this.tell();
  }

  cellOf({ own, other }) {
    return own * this.edition.goal + other;
  }

  keep() {
    const { asked, right, lost, days } = this;
    const again = this.waiting.map(({ lesson }) => this.cellOf(lesson));
    writeKept("train", this.edition, { asked, right, lost, again, known: [...this.known], days });
  }

  forget() {
    writeKept("train", this.edition, null);
    this.edition = null;
    this.shown();
  }

  tell() {
    this.anew.hidden = !this.asked;
    this.tally.textContent = this.asked ? `${this.right} of ${this.asked} right; ${lossText(this.lost / this.asked)} pp lost on average.` : "";
    this.tellDays();
  }

  tellDays() {
    const { days } = this;
    const last = Object.keys(days).sort().reverse().slice(0, SHOWN_DAYS);
    this.daysPart.hidden = !last.length;
    const rows = last.map((day) => {
      const [asked, right, lost] = days[day];
      const bar = h("span", { class: "fill", "aria-hidden": "true" }, h("i", { style: { width: `${(100 * right) / asked}%` } }));
      return [day, String(asked), h("span", {}, percent(right / asked, 0), bar), lossText(lost / asked)];
    });
    this.daysPart.replaceChildren(
      h("h2", {}, `${counted(daysInARow(days), "day")} in a row`),
      h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Score by day" }, tableOf("Score by day", ["day", "asked", "right", "loss, pp"], rows)),
      h("p", { class: "quiet" }, "Loss: a mean position's. This browser keeps the score."),
    );
  }

  // Mistakes of a game that was reviewed are asked first.
  learnt(edition, lessons) {
    this.mistakes.set(edition, lessons);
    if (this.edition !== edition) return;
    this.waiting = [...this.waiting.filter(({ due }) => due > 0), ...lessons.map((lesson) => ({ lesson, due: 0 }))];
  }

  // A position that went wrong some time ago, or the costliest of the new ones.
  draw() {
    const due = this.waiting.findIndex((one) => one.due <= this.turn || !this.fresh.length);
    if (due >= 0) return this.waiting.splice(due, 1)[0].lesson;
    const isNew = (lesson) => !this.known.has(this.cellOf(lesson)) && !this.waiting.some((one) => this.cellOf(one.lesson) === this.cellOf(lesson));
    this.fresh = this.fresh.filter(isNew);
    return this.fresh.shift() ?? this.waiting.shift()?.lesson;
  }

  next() {
    const { edition } = this;
    this.lesson = this.draw() ?? null;
    this.turn++;
    this.answered = false;
    this.nextButton.hidden = this.oddsPart.hidden = true;
    this.answer.replaceChildren();
    if (!this.lesson) {
      this.place.textContent = this.asked ? "That was the last one." : "Rules of thumb make no mistakes here.";
      this.choices.replaceChildren();
      return;
    }
    const { own, other, memory } = this.lesson;
    const free = freePoints(edition, own * edition.goal + other);
    this.place.textContent = `You have ${own}, the other has ${other}`;
    this.scores.textContent = `Your goal is ${edition.goals[edition.seats[memory]][0]}. Rolling no dice scores ${counted(free, "point")}. How many dice?`;
    this.memory.textContent = edition.hidden ? edition.memoryLine(memory) : "";
    this.choices.replaceChildren(
      ...Array.from({ length: edition.rolls }, (_, dice) =>
        h("button", { type: "button", class: "choice", onclick: () => this.take(dice), "aria-label": edition.diceText(dice) }, h("b", {}, String(edition.choices[dice])), h("small", {}, edition.choiceNote(own, other, memory, dice))),
      ),
    );
  }

  take(dice) {
    if (!this.lesson || this.answered) return;
    this.answered = true;
    const { own, other, memory, usual } = this.lesson;
    const { edition } = this;
    const rolls = this.values.rolls(own, other, memory);
    const order = bestFirst(rolls);
    const most = rolls[order[0]];
    const loss = most - rolls[dice] > TIE ? most - rolls[dice] : 0;
    const grade = gradeOf(loss);
    const right = loss < LEAST_LOSS;
    this.asked++;
    this.right += Number(right);
    this.lost += loss;
    const [asked, good, lost] = this.days[dayBefore()] ?? [0, 0, 0];
    this.days[dayBefore()] = [asked + 1, good + Number(right), lost + loss];
    if (right) this.known.add(this.cellOf(this.lesson));
    else this.waiting.push({ lesson: this.lesson, due: this.turn + AGAIN_AFTER });
    const best = `${edition.diceText(order[0])}, ${percent(most)}`;
    const said = loss === 0 ? `Nothing is better than ${edition.diceText(dice)}: ${percent(most)}.` : `Best is ${best}. ${sentence(edition.diceText(dice)).slice(0, -1)}: ${percent(rolls[dice])}, ${lossText(loss)} pp less.`;
    const before = this.lesson.mine ? "In the game it was" : "A rule of thumb says";
    const thumb = dice === usual ? "" : ` ${before} ${edition.diceText(usual)}, which loses ${lossText(most - rolls[usual])} pp.`;
    const reason = reasonAt(this.edition, own, other, memory);
    this.answer.replaceChildren(gradeChip(grade), h("p", {}, said + thumb), ...(reason ? [h("p", {}, reason)] : []));
    [...this.choices.children].forEach((choice, roll) => {
      choice.disabled = true;
      choice.classList.toggle("right", most - rolls[roll] <= TIE);
      choice.classList.toggle("wrong", roll === dice && !right);
    });
    this.tell();
    this.keep();
    Object.assign(this.odds, { chosen: dice, picked: true });
    this.oddsPart.hidden = false;
    this.odds.show(this.edition, this.values, [own, other, memory], { counting: "optimal play of both" });
    this.nextButton.hidden = false;
    this.nextButton.focus({ preventScroll: true });
  }

  key(event) {
    const busy = event.ctrlKey || event.metaKey || event.altKey;
    if (busy || this.root.hidden || !this.lesson || event.target.closest("input, select, textarea, .spread")) return;
    const isMinusOne = event.key === "-" && this.edition.least < 0;
    const dice = event.key === "t" ? 10 : /^[0-9]$/.test(event.key) ? Number(event.key) : NaN;
    if (isMinusOne) this.take(this.edition.rolls - 1);
    else if (dice <= this.edition.maxDice) this.take(dice);
    else if (event.key === "n" && this.answered) this.next();
    else return;
    event.preventDefault();
  }
}

screen("train", "Train", {
  mount(root, board) {
    this.view = new Train(root, board);
  },
  shown() {
    this.view.shown();
  },
});
