// Levels of the opponent: play that chooses a roll the less often, the more it loses. That is the logit
// response to the values of optimal play (McKelvey and Palfrey, "Quantal response equilibria", 1995).

// By level, the loss in win probability that halves how often a roll is chosen.
const HALVINGS = [0.16, 0.08, 0.04, 0.02, 0.01, 0.005, 0.0025];

class Level {
  // `values` of optimal play.
  constructor(values, halving) {
    const { rolls, slots } = values.edition;
    Object.assign(this, { values, halving, rolls, slots, weights: new Float64Array(rolls) });
  }

  // Sum up every roll of a position.
  look(own, other) {
    for (let dice = 0; dice < this.rolls; dice++) this.values.sum(own, other, dice, 0);
  }

  // How often each roll is chosen there, by the first of a memory's slots; they need not sum to 1.
  shares(row) {
    const { values, slots, rolls, weights } = this;
    const falls = Math.LN2 / this.halving;
    const worth = values.sums;
    let most = 0;
    for (let dice = 0; dice < rolls; dice++) most = Math.max(most, worth[slots[row + dice]]);
    for (let dice = 0; dice < rolls; dice++) weights[dice] = Math.exp(falls * (worth[slots[row + dice]] - most));
    return weights;
  }

  // The mean of some sums over its rolls.
  mean(row, sums) {
    const weights = this.shares(row);
    let [total, worth] = [0, 0];
    for (let dice = 0; dice < this.rolls; dice++) {
      total += weights[dice];
      worth += weights[dice] * sums[this.slots[row + dice]];
    }
    return worth / total;
  }

  // The roll at a share from 0 to 1 of all choices.
  choose(own, other, memory, share) {
    this.look(own, other);
    const weights = this.shares(memory * this.rolls);
    let left = share * weights.reduce((sum, one) => sum + one, 0);
    return Math.max(0, weights.findIndex((one) => (left -= one) < 0));
  }
}
