// A game in the address of the page: who moved first, the scores that it began with, and the dice of
// every turn. All else follows, as it does from a transcript.

// `0.0.0-35-0-4`: player 0 moved first at 0 to 0, rolled a 3 and a 5, then the other rolled no dice;
// `x` is the choice -1.
function codeOf(game) {
  const { begin, edition, turns } = game;
  const [own, other] = viewOf(begin);
  const rolls = turns.map(({ given }) => (given === null ? "x" : given.join(betweenFaces(edition)) || "0"));
  return [`${begin.mover}.${own}.${other}`, ...rolls].join("-");
}

// Code and names -> a Game; or a TranscriptError.
function gameOfCode(edition, code, names) {
  const [begin, ...rolls] = code.split("-");
  const [first, ...start] = begin.split(".").map(Number);
  const fits = start.length === 2 && start.every((score, i) => Number.isInteger(score) && score >= 0 && score < edition.goals[first]?.[i]);
  if (!(first === 0 || first === 1) || !fits || !rolls.length) refuseValue("address", code, `a game of ${edition.title}`);
  if (names.length !== 2 || names[0] === names[1] || !names.every(isName)) refuseValue("players", names, NAMES_ALLOWED);
  const game = new Game(edition, { first, start, seed: null, names });
  rolls.forEach((roll, i) => {
    try {
      const faces = roll === "0" ? [] : roll.split(betweenFaces(edition)).map(Number);
      game.replay(roll === "x" ? null : faces);
    } catch (error) {
      refuseGame(`turn ${i + 1}: ${error.message}`);
    }
  });
  return game;
}

function betweenFaces(edition) {
  return Math.max(...edition.ways.sides) < 10 ? "" : ".";
}
