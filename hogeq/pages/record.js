// The games that were played on this page, or opened in it: what was won, and what choices lost.

const MOST_KEPT = 300; // games, the last ones
const LAST_GAMES = 12;

// Games kept for an edition, the oldest first: [{ day, game }].
function keptGames(edition) {
  const kept = readKept("games", edition);
  if (!Array.isArray(kept)) return [];
  return kept.flatMap((one) => {
    try {
      return isDay(one.day) ? [{ day: one.day, game: gameOfCode(edition, one.code, one.names) }] : [];
    } catch {
      return [];
    }
  });
}

// The same, reviewed by the values of optimal play.
async function keptReviews(edition) {
  const values = await edition.solved();
  const found = [];
  let since = performance.now();
  for (const { day, game } of keptGames(edition)) {
    found.push({ day, review: reviewOf(values, game) });
    if (performance.now() - since > SLICE) {
      await breath();
      since = performance.now();
    }
  }
  return found;
}

// What the person got wrong in all kept games, the costliest first, each position once.
async function keptLessons(edition) {
  const lessons = (await keptReviews(edition)).flatMap(({ review }) => lessonsIn(review)).sort((a, b) => b.loss - a.loss);
  const seen = new Set();
  return lessons.filter(({ own, other, memory }) => {
    const key = `${own} ${other} ${memory}`;
    return !seen.has(key) && seen.add(key);
  });
}

class Record {
  // `open` is called with a game.
  constructor(board, open) {
    Object.assign(this, { board, open, last: null });
    this.sums = h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Your games in figures" });
    this.list = h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Your last games" });
    this.root = h(
      "section",
      { class: "card record", "aria-label": "Your games", hidden: true },
      h("h2", {}, "Your games"),
      this.sums,
      h("p", { class: "quiet" }, "Games that you finished on this page, kept in this browser alone, and saved games of yours that you opened. Loss: what your choices lost in a mean game, in pp; luck: what the dice of both gave you."),
      h("h3", {}, "The last ones"),
      this.list,
      h("div", { class: "tools" }, button("Forget these games", () => this.forget())),
    );
    board.on("over", (game) => this.add(game, board.opponent?.kind));
  }

  // A game that is over and was a person's; a turn taken back and played anew makes no other game.
  add(game, kind) {
    const { edition, names } = game;
    if (!game.over || kind === "friend" || names[0] !== "You") return;
    const kept = readKept("games", edition);
    const all = Array.isArray(kept) ? kept : [];
    if (this.last === game) all.pop();
    const code = codeOf(game);
    if (all.some((one) => one?.code === code)) return;
    this.last = game;
    writeKept("games", edition, [...all, { day: dayBefore(), code, names: namesOf(game) }].slice(-MOST_KEPT));
  }

  forget() {
    writeKept("games", this.board.edition, null);
    this.last = null;
    this.show();
  }

  async show() {
    const { edition } = this.board;
    const kept = await keptReviews(edition);
    if (this.board.edition !== edition) return;
    this.root.hidden = !kept.length;
    if (!kept.length) return;
    const rivals = [...new Set(kept.map(({ review }) => review.game.names[1]))];
    const rows = rivals.map((name) => [name, ...figuresOf(kept.filter(({ review }) => review.game.names[1] === name))]);
    if (rivals.length > 1) rows.push(["all", ...figuresOf(kept)]);
    const columns = ["against", "games", "won", "loss", "luck", "accuracy", "blunders"];
    this.sums.replaceChildren(tableOf("Your games by opponent", columns, rows));
    const last = kept.slice(-LAST_GAMES).reverse().map(({ day, review: { game, tallies } }) => [
      button(day, () => this.open(game), { class: "link", "aria-label": `Review the game of ${day} against ${game.names[1]}` }),
      game.names[1],
      h("span", { class: game.state.winner === 0 ? "good" : "bad" }, `${game.state.winner === 0 ? "won" : "lost"} ${game.state.scores.join(" : ")}`),
      lossText(tallies[0].loss),
    ]);
    this.list.replaceChildren(tableOf("Your last games", ["day", "against", "result", "loss"], last));
  }
}

// Of some games: how many, how many won, and means of a game.
function figuresOf(kept) {
  const mean = (of) => kept.reduce((sum, { review }) => sum + of(review), 0) / kept.length;
  const won = kept.filter(({ review }) => review.game.state.winner === 0).length;
  return [
    String(kept.length),
    percent(won / kept.length, 0),
    lossText(mean(({ tallies }) => tallies[0].loss)),
    pp(mean(({ tallies }) => tallies[0].luck - tallies[1].luck)).replace(" pp", ""),
    percent(mean(({ tallies }) => tallies[0].accuracy)),
    fixed(mean(({ tallies }) => tallies[0].grades.blunder), 1),
  ];
}
