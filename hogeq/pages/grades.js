// A game reviewed: what every choice lost, and what was luck. As hogeq.contest.review has it.

// Names of losses, by the win probability below which they end.
const GRADES = [
  ["best", 0],
  ["good", 0.005],
  ["inaccuracy", 0.02],
  ["mistake", 0.05],
  ["blunder", Infinity],
];

const COSTLIEST = 3;

function gradeOf(loss) {
  if (loss <= TIE) return "best";
  return GRADES.find(([, most]) => loss < most)[0];
}

// `values` of optimal play by both. Win probabilities of a turn are those of the player who took it.
function reviewOf(values, game) {
  const states = [...game.turns.map((turn) => turn.before), game.state];
  const rolls = states.slice(0, -1).map((state) => values.rolls(...viewOf(state)));
  const worth = rolls.map((found) => Math.max(...found));
  const end = game.state;
  worth.push(end.winner === null ? values.value(...viewOf(end)) : Number(end.winner === end.mover));
  const turns = game.turns.map((played, i) => {
    const same = states[i].mover === states[i + 1].mover;
    const before = worth[i];
    const chosen = rolls[i][played.dice];
    const after = same ? worth[i + 1] : 1 - worth[i + 1];
    const best = [...rolls[i].keys()].filter((dice) => rolls[i][dice] >= before - TIE);
    const loss = best.includes(played.dice) ? 0 : before - chosen;
    const luck = after - chosen;
    return { number: i + 1, player: states[i].mover, played, before, chosen, after, best, loss, luck, grade: gradeOf(loss) };
  });
  const ofBoth = (state, value) => (state.mover === 0 ? [value, 1 - value] : [1 - value, value]);
  return {
    game,
    turns,
    start: ofBoth(states[0], worth[0]),
    result: ofBoth(end, worth[worth.length - 1]),
    tallies: [0, 1].map((player) => tallyOf(turns, player)),
  };
}

function tallyOf(turns, player) {
  const own = turns.filter((turn) => turn.player === player);
  const sum = (what) => own.reduce((total, turn) => total + turn[what], 0);
  const wrong = own.filter((turn) => turn.loss > 0).sort((a, b) => b.loss - a.loss);
  return {
    moves: own.length,
    grades: Object.fromEntries(GRADES.map(([name]) => [name, own.filter((turn) => turn.grade === name).length])),
    loss: sum("loss"),
    luck: sum("luck"),
    accuracy: own.length ? own.reduce((total, { chosen, before }) => total + (before ? chosen / before : 1), 0) / own.length : 1,
    costliest: wrong.slice(0, COSTLIEST),
  };
}
