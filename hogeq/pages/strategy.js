// A strategy as it is asked for; cells are numbered row by row, row = own score.

class Strategy {
  constructor(data, unpacked) {
    Object.assign(this, unpacked);
    this.rolls = data.rolls;
    this.choices = data.choices;
  }

  // Probabilities of the rolls.
  row(cell) {
    return this.policy.subarray(cell * this.rolls, (cell + 1) * this.rolls);
  }

  // Their win probabilities.
  valuesOf(cell) {
    return this.values.subarray(cell * this.rolls, (cell + 1) * this.rolls);
  }

  // The number of the most probable choice, the lower on ties.
  usual(cell) {
    const row = this.row(cell);
    return row.indexOf(Math.max(...row));
  }

  meanDice(cell) {
    return this.row(cell).reduce((sum, share, dice) => sum + share * this.choices[dice], 0);
  }

  reaches(cell) {
    return this.reach[cell] > 0;
  }
}

// One that is only compared with.
async function unpackPolicy(data, { name, policy }) {
  return new Strategy(data, { name, policy: await unpackFractions(policy) });
}

// One that is explored; what was unpacked once is kept.
const unpacked = new Map();

function unpackStrategy(data, strategy) {
  if (!unpacked.has(strategy)) unpacked.set(strategy, unpackExplored(data, strategy));
  return unpacked.get(strategy);
}

async function unpackExplored(data, { name, policy, explored }) {
  const { values, value, reach, belief, counter } = explored;
  return new Strategy(data, {
    name,
    policy: await unpackFractions(policy),
    values: await unpackFractions(values),
    value: await unpackFractions(value),
    reach: await unpackFloats(reach),
    belief: belief && (await unpackFractions(belief)),
    counter: {
      ...counter,
      dice: await unpackFractions(counter.dice),
      usual: await unpackFractions(counter.usual),
      reach: await unpackFloats(counter.reach),
      gains: await unpackFloats(counter.gains),
    },
  });
}
