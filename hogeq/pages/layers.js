// What the map can show: a number at each cell (null: grey), how it is written, and its colours.

const LAYERS = {
  best: {
    title: "most probable roll",
    about: () => "The roll that the strategy makes most often.",
    of: ({ data, strategy }, cell) => data.choices[strategy.usual(cell)],
    written: String,
    scale: ({ data }) => rollScale(data.colours.rolls, "dice", Math.min(...data.choices)),
  },
  probability: {
    title: "its probability",
    about: () => "How often it makes that roll; 1 where it never mixes.",
    of: ({ strategy }, cell) => Math.max(...strategy.row(cell)),
    written: percent,
    scale: () => evenScale("Cividis", 0, 1, "probability"),
  },
  value: {
    title: "win probability",
    about: () => "Of the player to move when both play the strategy. Grey: play never comes here.",
    of: ({ strategy }, cell) => (strategy.reaches(cell) ? strategy.value[cell] : null),
    written: percent,
    scale: () => evenScale("Cividis", 0, 1, "win probability"),
  },
  reach: {
    title: "probability of coming here",
    about: () =>
      "That a given player, one of the two, comes to move here when both play the strategy; where " +
      "play can come back, how many times on average. Grey: never.",
    of: ({ strategy }, cell) => (strategy.reaches(cell) ? strategy.reach[cell] : null),
    written: (value) => (value > 1 ? times(value) : chance(value)),
    scale: ({ strategy }) => logScale(strategy.reach, "probability", percentTick),
  },
  difference: {
    title: "dice less those of the other",
    about: ({ strategy, other }) =>
      `Mean dice of ${strategy.name} less those of ${other.name}. Grey: play never comes here.`,
    of: ({ strategy, other }, cell) =>
      strategy.reaches(cell) ? strategy.meanDice(cell) - other.meanDice(cell) : null,
    written: (dice) => fixed(dice, 3),
    scale: ({ data }) => signedScale(data.colours.signed, data.rolls - 1, "dice more"),
  },
  deviation: {
    title: "counter: dice less the usual",
    about: () =>
      "Dice of the counter-matrix less the usual roll of the strategy. Grey: it never comes here.",
    of: ({ data: { choices }, strategy: { counter } }, cell) =>
      counter.reach[cell] > 0 ? choices[counter.dice[cell]] - choices[counter.usual[cell]] : null,
    written: String,
    scale: ({ data }) => signedScale(data.colours.signed, data.rolls - 1, "dice more"),
  },
  gain: {
    title: "counter: gain of each position",
    about: () =>
      "What the counter-matrix would lose by the usual roll here alone. Grey: the same roll, or " +
      "it never comes here.",
    of: ({ strategy: { counter } }, cell) => aboveZero(counter.gains[cell]),
    written: (gain) => pp(gain, 4),
    scale: ({ data, strategy }) => lossScale(strategy.counter.gains, data.colours.loss),
  },
};

function aboveZero(value) {
  return value > 0 ? value : null;
}
