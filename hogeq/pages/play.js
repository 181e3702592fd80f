// The first screen: a game is played.

class Play {
  constructor(root, board) {
    Object.assign(this, { root, board });
    this.busy = 0; // number of the game whose turn is being shown
    this.build();
    board.on("edition", (edition) => this.enter(edition));
    board.on("game", () => {
      this.clear();
      this.goOn();
    });
    addEventListener("keydown", (event) => this.key(event));
  }

  // --- elements --------------------------------------------------------------------------------

  build() {
    this.bar = h("div", { class: "bar", role: "meter", "aria-label": "Your win probability", "aria-valuemin": "0", "aria-valuemax": "100" }, h("span", { class: "bar-them" }), h("span", { class: "bar-text" }));
    this.cards = [this.card("you"), this.card("them")];
    this.tray = h("div", { class: "tray", "aria-hidden": "true" });
    this.rolledBy = h("p", { class: "rolled-by" });
    this.turnLine = h("p", { class: "turn-line" });
    this.events = h("ul", { class: "events", "aria-live": "polite" });
    this.choices = h("div", { class: "choices", role: "group", "aria-label": "Dice to roll" });
    this.ending = h("div", { class: "ending", hidden: true });
    this.hintLine = h("p", { class: "hint", "aria-live": "polite" });
    this.toggles = {
      bar: button("Win bar", () => this.toggle("bar"), { "aria-pressed": "true" }),
      odds: button("All odds", () => this.toggle("odds"), { "aria-pressed": "false" }),
    };
    this.newButton = button("New game", () => this.newGame.ask(), { class: "button main" });
    this.saveButton = button("Save", () => saveTranscript(this.board.game));
    this.undoButton = button("Take back", () => this.undo());
    this.hintButton = button("Hint", () => this.hint());
    this.alert = h("p", { class: "alert", role: "alert" });
    this.newGame = new NewGame(this.board, (...asked) => this.start(...asked), this.alert);
    this.moves = h("ol", { class: "moves" });
    this.movesHead = h("p", { class: "moves-head quiet" });
    this.oddsPart = h("section", { class: "card", "aria-label": "All odds", hidden: true }, h("h2", {}, "All odds"));
    this.odds = new Odds(this.oddsPart);
    this.meter = h("p", { class: "quiet" });
    this.seedLine = h("p", { class: "quiet seed" });
    this.about = h("dl", { class: "parts" });
    this.root.append(
      h(
        "div",
        { class: "table" },
        h(
          "div",
          { class: "board" },
          this.bar,
          h(
            "div",
            { class: "felt" },
            this.cards[1].root,
            h("div", { class: "middle" }, this.rolledBy, this.tray, this.events, this.ending),
            this.cards[0].root,
            h("div", {}, this.turnLine, this.choices, this.hintLine),
          ),
        ),
        h(
          "aside",
          { class: "side" },
          h("div", { class: "tools" }, this.newButton, this.undoButton, this.hintButton, this.toggles.bar, this.toggles.odds, this.saveButton),
          this.alert,
          this.oddsPart,
          h("section", { class: "card", "aria-label": "Turns" }, h("h2", {}, "Turns"), this.meter, this.movesHead, h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "List of turns" }, this.moves), this.seedLine),
          h(
            "div",
            {},
            h("details", { class: "card", open: innerWidth >= 960 }, h("summary", {}, "The rules"), this.about),
            h("details", { class: "card" }, h("summary", {}, "Keys, and a table of your own"), this.help()),
          ),
        ),
      ),
      this.newGame.box,
    );
  }

  card(kind) {
    const name = h("span", { class: "name" });
    const score = h("span", { class: "score" });
    const token = h("span", { class: "token" });
    const note = h("span", { class: "memory quiet" });
    const root = h("div", { class: `player ${kind}` }, h("div", { class: "who" }, name, note), score, h("div", { class: "track", "aria-hidden": "true" }, token));
    return { root, name, score, token, note };
  }

  help() {
    const keys = [
      ["0 to 9, T", "roll so many dice; T is ten, - the choice -1"],
      ["H", "hint: the best roll"],
      ["B, O", "win bar, all odds"],
      ["U", "take back"],
      ["N", "new game"],
    ];
    return h(
      "div",
      {},
      h("dl", { class: "keys" }, keys.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
      h("p", { class: "quiet" }, "To play against a table of your own, drop its file anywhere on the page, or choose it in New game: .csv, .txt, .json, or a .py that hogeq export wrote; row = own score. A saved game that is dropped is reviewed. Nothing leaves this page."),
    );
  }

  // --- beginning -------------------------------------------------------------------------------

  enter(edition) {
    this.about.replaceChildren(...edition.parts.flatMap(([part, text]) => [h("dt", {}, part), h("dd", {}, text.replace(/ \(\w+\)$/, ""))]));
    this.start(PERFECT);
  }

  // Another game; the board tells this screen of it, as of any game that is put on the table.
  start(opponent, first = "coin", seed = newSeed()) {
    const mover = first === "coin" ? tossCoin(seed) : first === "you" ? 0 : 1;
    const names = ["You", opponent.kind === "friend" ? "Friend" : opponent.label];
    this.board.begin(new Game(this.board.edition, { first: mover, seed, names }), opponent);
  }

  // Whatever is being shown, no longer.
  clear() {
    this.busy++;
    this.alert.textContent = "";
    this.rolling = false;
    this.rolledBy.textContent = "";
    this.tray.replaceChildren();
    this.events.replaceChildren();
    this.hintLine.textContent = "";
  }

  // --- playing ---------------------------------------------------------------------------------

  // Whether a person is to move.
  get yours() {
    const { game, opponent } = this.board;
    return !this.rolling && !game.over && (game.state.mover === 0 || opponent.kind === "friend");
  }

  async goOn() {
    const mine = this.busy;
    this.refresh();
    const { game, opponent, edition } = this.board;
    if (game.over || this.yours) return;
    const dice = await choiceOf(edition, opponent, game);
    await wait(game.turns.length ? 650 : 350);
    if (mine === this.busy) await this.turn(dice);
  }

  async roll(dice) {
    if (this.yours) await this.turn(dice);
  }

  async turn(dice) {
    const mine = ++this.busy;
    const { game } = this.board;
    this.rolling = true;
    this.hintLine.textContent = "";
    const sides = game.sides;
    const played = game.roll(dice);
    this.showChoices();
    await this.throwDice(played, sides, () => mine === this.busy);
    if (mine !== this.busy) return;
    this.rolling = false;
    this.odds.picked = false;
    this.board.moved();
    await this.goOn();
  }

  // Dice tumble, then what they did is told line by line.
  async throwDice(played, sides, current) {
    this.events.replaceChildren();
    this.turnLine.textContent = "";
    const { mover } = played.before;
    this.rolledBy.textContent = mover === 0 ? "You" : this.board.game.names[1];
    this.rolledBy.className = `rolled-by ${mover === 0 ? "you" : "them"}`;
    const dice = played.faces.map((face, i) => {
      const die = dieFace(face, sides);
      die.style.setProperty("--late", `${45 * i}ms`);
      die.style.setProperty("--turn", `${((i * 53) % 40) - 20}deg`);
      die.classList.add("thrown");
      return die;
    });
    this.tray.replaceChildren(...(dice.length ? dice : [h("span", { class: "no-dice thrown" }, String(this.board.edition.choices[played.dice]))]));
    await wait(dice.length ? 480 + 45 * dice.length : 250);
    for (const line of played.turn.effects) {
      if (!current()) return;
      this.events.append(effectLine(line));
      await wait(played.turn.effects.length > 1 ? 330 : 120);
    }
  }

  undo() {
    const { game, opponent } = this.board;
    const person = (turn) => opponent.kind === "friend" || turn.before.mover === 0;
    const last = game.turns.findLastIndex(person);
    if (last < 0) return;
    this.clear();
    game.undo(game.turns.length - last);
    this.board.emit("move", game);
    this.goOn();
  }

  async hint() {
    const { edition, opponent, game } = this.board;
    if (!this.yours) return;
    const values = await valuesAgainst(edition, opponent);
    if (this.board.game !== game || !this.yours) return;
    const best = bestFirst(values.rolls(...game.view))[0];
    this.hintLine.textContent = `Best: ${edition.diceText(best)}, win probability ${percent(values.value(...game.view))}.`;
  }

  // --- what is shown ---------------------------------------------------------------------------

  // What is asked of whom.
  moverLine(state) {
    const { game, opponent } = this.board;
    if (state.winner !== null) return "";
    if (state.mover === 0) return "Your turn: how many dice?";
    return opponent.kind === "friend" ? `${game.names[1]}: how many dice?` : `${game.names[1]} is to move`;
  }

  refresh() {
    const { game, edition, opponent } = this.board;
    const { state } = game;
    const shown = this.rolling ? game.turns[game.turns.length - 1].before : state;
    this.cards.forEach((card, player) => {
      card.name.textContent = game.names[player];
      countTo(card.score, shown.scores[player]);
      card.token.style.setProperty("--at", String(Math.min(1, shown.scores[player] / edition.goals[0][player])));
      card.root.classList.toggle("moving", state.winner === null && state.mover === player);
      card.root.classList.toggle("won", state.winner === player);
      card.note.textContent = state.winner === null && state.mover === player && edition.hidden ? edition.memoryLine(state.memory) : "";
    });
    this.turnLine.textContent = this.rolling ? "" : this.moverLine(state);
    this.showChoices();
    this.showEnd();
    this.showMoves();
    const many = game.over || game.sides === edition.usual_sides ? "" : ` Dice of ${game.sides} sides now.`;
    this.seedLine.textContent = `Seed ${game.seed}.${many} The win bar is yours, and counts on ${countingOn(opponent)}.`;
    this.undoButton.disabled = !game.turns.some((turn) => opponent.kind === "friend" || turn.before.mover === 0);
    this.saveButton.disabled = !game.turns.length;
    this.hintButton.disabled = !this.yours;
    this.showValues();
  }

  showChoices() {
    const { game, edition } = this.board;
    const isKnown = !this.rolling && !game.over;
    if (this.shownFor !== edition) {
      this.shownFor = edition;
      this.choices.replaceChildren(
        ...Array.from({ length: edition.rolls }, (_, dice) => {
          const text = [h("b", {}, String(edition.choices[dice])), h("small", {})];
          return h("button", { type: "button", class: "choice", onclick: () => this.roll(dice) }, text);
        }),
      );
    }
    [...this.choices.children].forEach((choice, dice) => {
      choice.disabled = !this.yours;
      const note = isKnown ? edition.choiceNote(...game.view, dice) : "";
      choice.lastChild.textContent = note;
      const points = note.startsWith("+") ? `: ${counted(Number(note), "point")}` : "";
      choice.setAttribute("aria-label", `Roll ${edition.diceText(dice)}${points}`);
    });
  }

  showEnd() {
    const { game, opponent } = this.board;
    const { winner, scores } = game.state;
    this.ending.hidden = winner === null;
    if (winner === null) return;
    const title = winner === 0 ? "You win" : `${game.names[1]} wins`;
    this.ending.replaceChildren(
      h("p", { class: "verdict" }, `${title}, ${scores[winner]} to ${scores[1 - winner]}`),
      h(
        "div",
        { class: "tools" },
        screens.some((one) => one.name === "learn") ? button("Review this game", () => this.board.show("learn"), { class: "button main" }) : null,
        button("Play again", () => this.start(opponent)),
      ),
    );
  }

  showMoves() {
    const { game, edition } = this.board;
    this.moves.replaceChildren(
      ...game.turns.map(({ before, dice, turn, after }) =>
        h(
          "li",
          { class: before.mover === 0 ? "you" : "them" },
          h("span", { class: "who" }, game.names[before.mover]),
          h("span", { class: "did" }, `${edition.diceText(dice)}, ${counted(turn.points + turn.bonus, "point")}${marks(turn)}`),
          h("span", { class: "stands" }, `${after.scores[0]} : ${after.scores[1]}`),
        ),
      ),
    );
    this.movesHead.textContent = game.turns.length ? `scores: ${game.names.join(" : ")}` : "";
    this.scrollToLast();
  }

  // The last turns, from a whole row on.
  scrollToLast() {
    const box = this.moves.parentElement;
    this.moves.style.paddingBottom = "0";
    const most = box.scrollHeight - box.clientHeight;
    const down = (row) => row.offsetTop - this.moves.offsetTop;
    const first = [...this.moves.children].find((row) => down(row) >= most);
    if (most <= 0 || !first) return;
    this.moves.style.paddingBottom = `${down(first) - most}px`;
    box.scrollTop = down(first);
  }

  // Bar and odds, once they are computed.
  async showValues() {
    const { game, edition, opponent } = this.board;
    const values = await valuesAgainst(edition, opponent);
    if (game !== this.board.game || this.rolling) return;
    const share = chanceOf(values, game.state);
    this.bar.style.setProperty("--share", String(share));
    this.bar.dataset.value = share;
    this.bar.setAttribute("aria-valuenow", fixed(100 * share, 2));
    this.bar.setAttribute("aria-valuetext", `${percent(share)}, counting on ${countingOn(opponent)}`);
    this.bar.querySelector(".bar-text").textContent = `${Math.round(100 * share)} %`;
    const seat = values.theirs ? game.state.mover : 0;
    this.oddsPart.hidden = game.over || this.toggles.odds.getAttribute("aria-pressed") !== "true";
    if (!this.oddsPart.hidden) {
      this.odds.show(edition, values, game.view, { seat, counting: countingOn(opponent) });
    }
    this.meter.textContent = this.given(values);
  }

  // What the person's choices have lost so far, named as in a review.
  given(values) {
    const turns = this.board.game.turns.filter((turn) => turn.before.mover === 0);
    if (!turns.length) return "";
    const losses = turns.map(({ before, dice }) => {
      const found = values.rolls(...viewOf(before));
      const loss = Math.max(...found) - found[dice];
      return loss > TIE ? loss : 0;
    });
    const total = losses.reduce((sum, loss) => sum + loss, 0);
    const named = ["mistake", "blunder"].map((name) => counted(losses.filter((loss) => gradeOf(loss) === name).length, name));
    return `You: ${counted(turns.length, "turn")}, ${named.join(", ")}${total ? `; all choices lost ${lossText(total)} pp` : ""}.`;
  }

  async toggle(what) {
    const pressed = this.toggles[what].getAttribute("aria-pressed") !== "true";
    this.toggles[what].setAttribute("aria-pressed", String(pressed));
    if (what === "bar") this.bar.classList.toggle("off", !pressed);
    await this.showValues();
    // On a phone they open below the screen.
    const { top } = this.oddsPart.getBoundingClientRect();
    if (what === "odds" && pressed && top > innerHeight - 200) this.oddsPart.scrollIntoView();
  }

  key(event) {
    const busy = event.ctrlKey || event.metaKey || event.altKey || this.newGame.box.open;
    if (busy || this.root.hidden || event.target.closest("input, select, textarea")) return;
    const key = event.key.toLowerCase();
    if (/^[0-9]$/.test(key) && Number(key) <= this.board.edition.maxDice) this.roll(Number(key));
    else if (key === "t" && this.board.edition.maxDice >= 10) this.roll(10);
    else if (key === "-" && this.board.edition.least < 0) this.roll(this.board.edition.rolls - 1);
    else if (key === "h") this.hint();
    else if (key === "b") this.toggle("bar");
    else if (key === "o") this.toggle("odds");
    else if (key === "u") this.undo();
    else if (key === "n") this.newGame.ask();
    else return;
    event.preventDefault();
  }
}

// A line of what a turn did; a rule that fired stands out.
function effectLine(line) {
  const at = line.indexOf(": ");
  const rolled = line.match(/^(rolled \d+)(: [\d ]+)(.*)$/); // its dice lie on the table
  if (rolled) return h("li", {}, rolled[1], h("span", { class: "hidden" }, rolled[2]), rolled[3]);
  if (at < 0) return h("li", {}, line);
  return h("li", { class: "fired" }, h("b", {}, line.slice(0, at)), line.slice(at));
}

// Short names of the rules that fired.
function marks(turn) {
  const names = turn.effects.slice(1).map((line) => line.slice(0, line.indexOf(":")));
  return names.length ? `, ${names.join(", ")}` : "";
}

// A score moves to where it is now.
function countTo(element, score) {
  const from = Number(element.textContent || score);
  element.dataset.score = score;
  if (STILL.matches || from === score) {
    element.textContent = String(score);
    return;
  }
  const began = performance.now();
  const draw = (now) => {
    if (Number(element.dataset.score) !== score) return;
    const share = Math.min(1, Math.max(0, now - began) / 450); // a frame may be from before
    element.textContent = String(Math.round(from + (score - from) * (1 - (1 - share) ** 3)));
    if (share < 1) requestAnimationFrame(draw);
  };
  requestAnimationFrame(draw);
}

screen("play", "Play", {
  mount(root, board) {
    this.view = new Play(root, board);
  },
});
