// The screen after the game: where it was won and lost, and by whom: the players or the dice.

const PACES = { slow: 3000, normal: 1500, fast: 500 }; // milliseconds of a turn

class Learn {
  constructor(root, board) {
    Object.assign(this, { root, board, game: null, main: null, left: null });
    this.build();
    board.on("game", () => {
      this.alert.textContent = "";
      this.forget();
    });
    board.on("move", () => this.forget());
    board.on("edition", () => root.hidden || this.record.show());
  }

  build() {
    const { board } = this;
    this.file = h("input", { type: "file", accept: ".json", class: "hidden", id: "open-game", tabindex: "-1", "aria-label": "A saved game" });
    this.file.addEventListener("change", async () => {
      const [file] = this.file.files;
      if (file) await this.open(file);
      this.file.value = "";
    });
    this.saveButton = button("Save this game", () => saveTranscript(this.review.game));
    this.copyButton = button("Copy link", () => this.copyLink());
    this.copied = h("p", { class: "quiet", role: "status" });
    this.alert = h("p", { class: "alert", role: "alert" });
    this.empty = h("p", { class: "empty" });
    this.title = h("h2", {});
    this.verdict = h("p", { class: "verdict-said" });
    this.graphPart = h("div", {});
    this.graph = new Graph(this.graphPart, (turn) => this.go(turn));
    this.turnPart = h("div", { "aria-live": "polite" });
    this.beforeButton = button("Turn before", () => this.graph.choose(this.at - 1));
    this.afterButton = button("Turn after", () => this.graph.choose(this.at + 1));
    this.playButton = button("Play by itself", () => (this.playing ? this.pause() : this.playItself()), { "aria-pressed": "false" });
    this.pace = h("select", { "aria-label": "Speed" }, Object.keys(PACES).map((name) => h("option", {}, name)));
    this.pace.value = "normal";
    this.graphPart.addEventListener("keydown", (event) => {
      if (event.key !== " ") return;
      event.preventDefault();
      this.playButton.click();
    });
    this.record = new Record(board, (game) => this.look(game));
    this.backButton = button("Back to the game", () => this.comeBack(), { class: "button main" });
    this.tries = h("div", {});
    this.detail = h(
      "section",
      { class: "card", "aria-label": "The turn" },
      this.turnPart,
      h("div", { class: "tools" }, this.beforeButton, this.afterButton, this.playButton, this.pace, this.backButton, button("Play on from here", () => this.playOn(this.review.turns[this.at - 1]))),
      this.tries,
    );
    this.costliest = h("section", { class: "card", "aria-label": "The costliest rolls" });
    this.sums = h("section", { class: "card", "aria-label": "Skill and luck" });
    this.rows = h("tbody", {});
    const columns = ["turn", "player", "scores", "rolled", "best", "loss", "luck", "then"];
    this.list = h(
      "section",
      { class: "card", "aria-label": "Every turn" },
      h("h2", {}, "Every turn"),
      h(
        "div",
        { class: "wide every-turn", tabindex: "0", role: "region", "aria-label": "Every turn, graded" },
        h("table", { class: "review" }, h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name)))), this.rows),
      ),
      h("p", { class: "quiet" }, "Loss and luck in percentage points (pp) of win probability. Then: the win probability of whoever moved, once the dice lie. Exact, with optimal play of both from there on."),
    );
    this.oddsPart = h("details", { class: "card" }, h("summary", {}, "Every roll at this turn"));
    this.odds = new Odds(this.oddsPart);
    this.oddsPart.addEventListener("toggle", () => this.showOdds());
    this.found = h(
      "div",
      { class: "learn" },
      h("div", { class: "learn-main" }, h("section", { class: "card", "aria-label": "Win probability" }, this.title, this.verdict, this.graphPart), this.detail, this.oddsPart),
      h("aside", {}, this.costliest, this.sums),
      this.list,
    );
    this.root.append(
      h("div", { class: "tools" }, button("Open a game", () => this.file.click()), this.file, this.saveButton, this.copyButton),
      this.alert,
      this.copied,
      this.empty,
      this.found,
      this.record.root,
    );
    this.showNothing();
  }

  // The game has gone on, or is another.
  forget() {
    this.pause();
    this.game = this.main = this.left = null;
    if (!this.root.hidden) this.shown();
  }

  async shown() {
    const { game } = this.board;
    this.record.show();
    if (this.game === game && this.main) return;
    if (!game?.turns.length) {
      this.showNothing();
      return;
    }
    this.game = game;
    const values = await game.edition.solved();
    if (this.game !== game) return;
    this.values = values;
    this.main = this.review = reviewOf(values, game);
    this.board.emit("mistakes", game.edition, lessonsIn(this.main));
    const worst = this.main.tallies.flatMap((tally) => tally.costliest).sort((a, b) => b.loss - a.loss)[0];
    this.show(worst?.number ?? this.main.turns.length);
  }

  showNothing() {
    this.review = null;
    this.found.hidden = true;
    this.saveButton.disabled = this.copyButton.disabled = true;
    this.copied.textContent = "";
    this.empty.hidden = false;
    this.empty.textContent = "Play a game, then come back: this screen shows where it was won and lost. Or open one that was saved here or by hogeq play --save.";
  }

  async open(file) {
    const { board } = this;
    const editions = await Promise.all(board.packed.map((_, place) => board.editionAt(place)));
    const bytes = await file.arrayBuffer();
    const game = this.tried(() => readTranscript(file.name, bytes, editions));
    if (!game) return;
    await board.choose(editions.indexOf(game.edition));
    if (board.edition !== game.edition) return; // another was chosen meanwhile
    this.record.add(game);
    await this.look(game);
    await this.record.show();
  }

  // Review a game that is not the one in play.
  async look(game) {
    this.board.begin(game, FRIEND);
    await this.shown();
    this.found.scrollIntoView({ block: "nearest" });
  }

  // The address is the game: whoever opens it comes to this review.
  link() {
    const { review, board } = this;
    if (!review) return "";
    return ["", board.shortTitle, codeOf(review.game), ...namesOf(review.game)].map(encodeURIComponent).join("/");
  }

  async follow(code, ...names) {
    const { board } = this;
    const game = this.tried(() => gameOfCode(board.edition, code, names), "The address: ");
    if (game) await this.look(game);
  }

  // What `read` gives; nothing, and why in the alert, if it refuses.
  tried(read, where = "") {
    this.alert.textContent = "";
    try {
      return read();
    } catch (error) {
      if (!(error instanceof TranscriptError)) throw error;
      this.alert.textContent = `${where}${error.message}`;
      return null;
    }
  }

  async copyLink() {
    this.board.link();
    try {
      await navigator.clipboard.writeText(location.href);
      this.copied.textContent = "Copied. The link opens this game on this page.";
    } catch {
      this.copied.textContent = "The address of this page is the link.";
    }
  }

  // --- side lines ------------------------------------------------------------------------------

  // Another roll after so many turns of the game shown; what is shown then is that game.
  stepAside(turns, dice) {
    const line = this.review.game.upTo(turns, { seed: newSeed() });
    line.roll(dice);
    this.left ??= turns + 1;
    this.review = reviewOf(this.values, line);
    this.show(turns + 1);
    this.backButton.focus({ preventScroll: true });
    this.turnPart.scrollIntoView({ block: "nearest" });
  }

  comeBack() {
    const at = Math.min(this.left, this.main.turns.length);
    this.left = null;
    this.review = this.main;
    this.show(at);
    this.graph.frame.focus({ preventScroll: true });
  }

  fillTries() {
    const { review, at } = this;
    const { game } = review;
    const last = at === review.turns.length && !game.over;
    this.tries.replaceChildren(
      ...this.tryRolls("Try another roll", at - 1, review.turns[at - 1].played.before),
      ...(last ? this.tryRolls(`Go on: ${game.names[game.state.mover]} rolls`, at, game.state) : []),
    );
    this.backButton.hidden = this.left === null;
  }

  tryRolls(title, turns, state) {
    const { edition } = this.review.game; // the board may have another one by now
    const choice = (value, dice) => {
      const label = `${title}: ${edition.diceText(dice)}, ${percent(value)}`;
      const onclick = () => this.stepAside(turns, dice);
      return h("button", { type: "button", class: "choice", "aria-label": label, onclick }, h("b", {}, String(edition.choices[dice])), h("small", {}, percent(value, 0)));
    };
    const choices = Array.from(this.values.rolls(...viewOf(state)), choice);
    return [h("h3", {}, title), h("div", { class: "choices", role: "group", "aria-label": title }, choices)];
  }

  // --- what is shown ---------------------------------------------------------------------------

  show(at) {
    const { review } = this;
    this.found.hidden = false;
    this.empty.hidden = true;
    this.saveButton.disabled = this.copyButton.disabled = false;
    this.copied.textContent = "";
    const { names, state, edition, seed } = review.game;
    const how = state.winner === null ? `stands at ${state.scores.join(" to ")}` : `${names[state.winner]} won, ${Math.max(...state.scores)} to ${Math.min(...state.scores)}`;
    const line = this.left === null ? "" : `Side line from turn ${this.left}: `;
    this.title.textContent = `${line}${names[0]} against ${names[1]}: ${how}`;
    this.verdict.textContent = verdictOf(review);
    this.verdict.title = `${edition.title}${seed === null ? "" : `, seed ${seed}`}`;
    this.fillCostliest();
    this.fillSums();
    this.fillTurns();
    this.at = at;
    this.graph.show(review, at, this.left === null ? null : this.main);
    this.go(at);
    if (!this.root.hidden) this.board.link();
  }

  // A turn that the reader chose: nothing plays on by itself.
  go(at) {
    this.pause();
    this.goTo(at);
  }

  // Turn after turn from here, or from the first if this is the last; longer where something was lost.
  playItself() {
    const { turns } = this.review;
    if (this.at === turns.length) this.goTo(1);
    this.playButton.textContent = "Pause";
    this.playButton.setAttribute("aria-pressed", "true");
    const next = () => {
      if (this.root.hidden || this.at >= turns.length) return this.pause();
      this.goTo(this.at + 1);
      return this.wait(next);
    };
    this.wait(next);
  }

  wait(next) {
    const { loss } = this.review.turns[this.at - 1];
    this.playing = setTimeout(next, PACES[this.pace.value] * (loss >= LEAST_LOSS ? 2 : 1));
  }

  pause() {
    clearTimeout(this.playing);
    this.playing = null;
    this.playButton.textContent = "Play by itself";
    this.playButton.setAttribute("aria-pressed", "false");
  }

  goTo(at) {
    this.at = at;
    this.graph.go(at);
    for (const row of this.rows.rows) {
      if (Number(row.dataset.turn) === at) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
    this.fillDetail(this.review.turns[at - 1]);
    this.fillTries();
    this.showOdds();
  }

  showOdds() {
    if (!this.oddsPart.open || !this.review) return;
    const { before, dice } = this.review.turns[this.at - 1].played;
    Object.assign(this.odds, { chosen: dice, picked: true });
    this.odds.show(this.review.game.edition, this.values, viewOf(before), { counting: "optimal play of both" });
  }

  fillDetail(turn) {
    const { review } = this;
    const { before, dice, faces, turn: played } = turn.played;
    const { edition } = review.game;
    const view = viewOf(before);
    const sides = edition.sides(...view);
    const memory = edition.hidden ? h("p", { class: "quiet" }, edition.memoryLine(view[2])) : null;
    const luck = turn.luck;
    this.turnPart.replaceChildren(
      h("div", { class: "turn-head" }, h("h2", {}, `Turn ${turn.number}: ${nameOf(review, turn)} at ${view[0]} to ${view[1]}`), gradeChip(turn.grade)),
      ...[memory].filter(Boolean),
      h("div", { class: "faces" }, faces.map((face) => dieFace(face, sides))),
      h("ul", { class: "events" }, played.effects.map(effectLine)),
      h("p", {}, choiceSaid(turn, edition)),
      h("p", {}, faces.length === 0 ? `No dice, no luck: ${percent(turn.after)} it is.` : `The dice then made it ${percent(turn.after)}: ${luckSaid(luck)}.`),
    );
    const ways = [this.beforeButton, this.afterButton];
    const pressed = ways.indexOf(document.activeElement);
    ways[0].disabled = this.at === 1;
    ways[1].disabled = this.at === review.turns.length;
    if (ways[pressed]?.disabled) ways[1 - pressed].focus({ preventScroll: true }); // keys go on there
  }

  // The same game up to a turn, which a person may now take better, whoever took it.
  playOn(turn) {
    const { game } = this.review;
    const first = turn.player === 0 || game.edition.ownGoals ? game.begin.mover : 1 - game.begin.mover;
    const again = game.upTo(turn.number - 1, { first, seed: newSeed(), names: ["You", PERFECT.label] });
    this.board.begin(again, PERFECT);
    this.board.show("play");
  }

  fillCostliest() {
    const { review } = this;
    const { edition } = review.game;
    const wrong = review.tallies.flatMap((tally) => tally.costliest);
    const item = (turn) => {
      const { before, dice } = turn.played;
      const [own, other] = viewOf(before);
      return h(
        "li",
        {},
        button(`Turn ${turn.number}, ${own} to ${other}`, () => this.lead(turn.number), { class: "link" }),
        gradeChip(turn.grade),
        h("span", { class: "instead" }, `rolled ${edition.diceText(dice)}, ${percent(turn.chosen)}; best is ${edition.diceText(turn.best[0])}, ${percent(turn.before)}: ${lossText(turn.loss)} pp`),
      );
    };
    const parts = review.tallies.flatMap(({ costliest }, player) =>
      costliest.length ? [h("h3", {}, review.game.names[player]), h("ol", { class: "costliest" }, costliest.map(item))] : [],
    );
    const none = h("p", {}, "None: every choice was the best there was.");
    this.costliest.replaceChildren(h("h2", {}, "The costliest rolls"), ...(wrong.length ? parts : [none]));
  }

  lead(number) {
    this.go(number);
    this.graph.frame.scrollIntoView({ block: "nearest" });
    this.graph.frame.focus({ preventScroll: true });
  }

  fillSums() {
    const { review } = this;
    const { names } = review.game;
    const [mine, theirs] = review.tallies;
    const rows = [
      ["at the start", ...review.start.map((share) => percent(share))],
      ["own choices", pp(-mine.loss), pp(-theirs.loss)],
      ["own dice", pp(mine.luck), pp(theirs.luck)],
      ["the other's choices", pp(theirs.loss), pp(mine.loss)],
      ["the other's dice", pp(-theirs.luck), pp(-mine.luck)],
      ["result", ...review.result.map((share) => percent(share))],
    ];
    const short = (text) => text.replace(" pp", "");
    const grades = GRADES.map(([name]) => [name, String(mine.grades[name]), String(theirs.grades[name])]);
    this.sums.replaceChildren(
      h("h2", {}, "Skill and luck"),
      sumTable("What changed the win probability, in pp", names, rows.map((row) => row.map(short)), "sums"),
      h("p", { class: "quiet" }, "In percentage points (pp). Nothing is left over: start, choices and dice make the result."),
      h("h3", {}, "Choices"),
      sumTable("Choices by grade", names, [...grades, ["accuracy", percent(mine.accuracy), percent(theirs.accuracy)]], "grades"),
      h("p", { class: "quiet" }, "Accuracy: the mean of what a choice kept of the best roll's win probability."),
    );
  }

  fillTurns() {
    const { review } = this;
    const { edition } = review.game;
    this.rows.replaceChildren(
      ...review.turns.map((turn) => {
        const [own, other] = viewOf(turn.played.before);
        const cells = [
          h("span", { class: `who ${turn.player ? "them" : "you"}` }, nameOf(review, turn)),
          `${own} to ${other}`,
          String(edition.choices[turn.played.dice]),
          bestText(turn.best, edition),
          h("span", {}, turn.loss > 0 ? lossText(turn.loss) : "0.00", gradeChip(turn.grade)),
          pp(turn.luck).replace(" pp", ""),
          percent(turn.after),
        ];
        const row = h("tr", {}, h("th", { scope: "row" }, button(String(turn.number), () => this.lead(turn.number), { class: "link", "aria-label": `Turn ${turn.number}` })), cells.map((cell) => h("td", {}, cell)));
        Object.assign(row.dataset, { turn: turn.number, loss: turn.loss, luck: turn.luck, grade: turn.grade });
        row.addEventListener("click", () => this.go(turn.number));
        return row;
      }),
    );
  }
}

// What player 0 got wrong, to be asked in training.
function lessonsIn(review) {
  const wrong = review.turns.filter((turn) => turn.player === 0 && turn.loss >= LEAST_LOSS);
  wrong.sort((a, b) => b.loss - a.loss); // the costliest are asked first
  return wrong.map(({ played: { before, dice }, loss }) => {
    const [own, other, memory] = viewOf(before);
    return { own, other, memory, loss, usual: dice, mine: true };
  });
}

// Rolls that are all best.
function bestText(best, { rolls, choices }) {
  if (best.length === rolls) return "any";
  const few = best.slice(0, 3).map((dice) => choices[dice]).join(" ");
  return best.length > 3 ? `${few} …` : few;
}

const SIGNS = { best: "★", good: "✓", ...MARKS };

function gradeChip(grade) {
  return h("span", { class: `chip grade ${grade}` }, h("span", { "aria-hidden": "true" }, `${SIGNS[grade]} `), h("span", { class: "word" }, grade));
}

function sumTable(caption, names, rows, name) {
  const head = [h("td"), ...names.map((text) => h("th", { scope: "col" }, text))];
  const body = rows.map(([what, ...cells]) => h("tr", {}, h("th", { scope: "row" }, what), cells.map((cell) => h("td", {}, cell))));
  return h("table", { class: name }, h("caption", { class: "hidden" }, caption), h("thead", {}, h("tr", {}, head)), h("tbody", {}, body));
}

function choiceSaid(turn, edition) {
  const others = turn.best.filter((dice) => dice !== turn.played.dice).map((dice) => edition.choices[dice]);
  const chosen = edition.diceText(turn.played.dice);
  const rolled = chosen === "-1" ? "Choosing -1" : `Rolling ${chosen}`;
  if (turn.loss === 0) {
    const also = others.length > 3 ? ", as good as others" : others.length ? `, as good as ${others.join(", ")}` : "";
    return `${rolled} was best${also}: ${percent(turn.chosen)}.`;
  }
  const best = edition.diceText(turn.best[0]);
  return `${rolled} had ${percent(turn.chosen)}. Best was ${best}, ${percent(turn.before)}: the choice lost ${lossText(turn.loss)} pp.`;
}

function luckSaid(luck) {
  if (Math.abs(luck) <= TIE) return "neither good luck nor bad";
  return `${lossText(Math.abs(luck))} pp of ${luck > 0 ? "good" : "bad"} luck`;
}

// One sentence: how player 0 came from the start to the end.
function verdictOf({ game, start, result, tallies: [mine, theirs] }) {
  const [from, to] = [start, result].map(([share]) => percent(share));
  const parts = [-mine.loss, theirs.loss, mine.luck - theirs.luck].map((part) => pp(part));
  return (
    `${game.names[0]} began with ${from} and ${game.over ? "ended with" : "came to"} ${to}: ${parts[0]} by own ` +
    `choices, ${parts[1]} by the other's, ${parts[2]} by the dice.`
  );
}

screen("learn", "Learn", {
  mount(root, board) {
    this.view = new Learn(root, board);
    board.learn = this.view;
  },
  shown() {
    this.view.shown();
  },
  link() {
    return this.view.link();
  },
  follow(...place) {
    return this.view.follow(...place);
  },
});
