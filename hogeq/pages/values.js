// Exact win probabilities, by backward induction over scores and memory.
//
// A roll depends on the memory in two ways: by the way to roll that it is, and by which memories can
// follow, the lane. Memories that agree in both share the sum over the outcomes: su20 needs 28 of these
// sums for each roll at each position, not 196.

const TIE = 1e-12; // win probabilities that differ by less are equal

// Rolls, best first; of those that tie the fewest dice.
function bestFirst(values) {
  const left = Array.from(values, (value, dice) => ({ value, dice }));
  const order = [];
  while (left.length) {
    const enough = Math.max(...left.map((one) => one.value)) - TIE;
    const at = left.findIndex((one) => one.value >= enough);
    order.push(left.splice(at, 1)[0].dice);
  }
  return order;
}

// Values of all hidden states. Seat 0 plays best; so does seat 1, or it plays a table or a level if
// there is one. `mine`: what seat 0 plays instead. A table has a roll by position, or by position and
// memory.
class Values {
  constructor(edition, theirs, mine) {
    Object.assign(this, { edition, theirs, players: [mine, theirs] });
    const states = edition.cells * edition.memorySize;
    const one = new Float64Array(states).fill(0.5); // a game that never ends is half a win
    this.seats = [one, theirs ? new Float64Array(states).fill(0.5) : one];
    this.sums = new Float64Array(edition.sums);
  }

  // Win probability of the player to move.
  value(own, other, memory, seat = 0) {
    const { goal, memorySize } = this.edition;
    return this.seats[seat][(own * goal + other) * memorySize + memory];
  }

  // The same for every number of dice.
  rolls(own, other, memory, seat = 0) {
    const { rolls } = this.edition;
    const found = new Float64Array(rolls);
    for (let dice = 0; dice < rolls; dice++) {
      this.sum(own, other, dice, seat);
      found[dice] = this.sums[this.edition.slots[memory * rolls + dice]];
    }
    return found;
  }

  // Win probability of the mover once a turn has ended so.
  after({ winner, again, score, opponent, memory }, seat = 0) {
    if (winner !== null) return Number(winner === 0);
    return again ? this.value(score, opponent, memory, seat) : 1 - this.value(opponent, score, memory, this.theirs ? 1 - seat : 0);
  }

  // The best roll, of those that tie the fewest dice.
  best(own, other, memory, seat = 0) {
    return bestFirst(this.rolls(own, other, memory, seat))[0];
  }

  // The best roll for every memory.
  bests(own, other, seat = 0) {
    const { rolls, memorySize, slots } = this.edition;
    for (let dice = 0; dice < rolls; dice++) this.sum(own, other, dice, seat);
    return Uint8Array.from({ length: memorySize }, (_, memory) => {
      const row = memory * rolls;
      let most = 0;
      for (let dice = 0; dice < rolls; dice++) most = Math.max(most, this.sums[slots[row + dice]]);
      let best = 0;
      while (this.sums[slots[row + best]] < most - TIE) best++;
      return best;
    });
  }

  // Win probabilities of one roll, into `sums`, for all memories.
  sum(own, other, dice, seat) {
    const { edition, sums } = this;
    const { goal, memorySize, ends } = edition;
    const mine = this.seats[seat];
    const theirs = this.seats[1 - seat];
    const situation = edition.situation(own, other);
    for (const { ways, seat: whose, lanes, first } of edition.modes[dice]) {
      const width = lanes.length;
      const { points, records, chances } = edition.end(own, other, ways[situation], whose);
      for (let c = 0; c < width; c++) sums[first + c] = 0;
      for (let i = 0; i < points.length; i++) {
        const kind = ends.kind[i];
        const chance = chances[i];
        if (kind >= WON) {
          if (kind === WON) for (let c = 0; c < width; c++) sums[first + c] += chance;
          continue;
        }
        const score = ends.score[i];
        const opponent = ends.opponent[i];
        if (score + opponent === own + other) this.climbs = false;
        const follow = edition.following[kind];
        const row = records[i] * edition.laneCount;
        if (kind === AGAIN) {
          const base = (score * goal + opponent) * memorySize;
          for (let c = 0; c < width; c++) {
            sums[first + c] += chance * mine[base + follow[row + lanes[c]]];
          }
        } else {
          const base = (opponent * goal + score) * memorySize;
          for (let c = 0; c < width; c++) {
            sums[first + c] += chance * (1 - theirs[base + follow[row + lanes[c]]]);
          }
        }
      }
    }
  }

  // Values of one position, in place; the largest change.
  settle(own, other, seat) {
    const { edition, sums } = this;
    const { rolls, memorySize, goal, slots } = edition;
    const cell = own * goal + other;
    const values = this.seats[seat];
    const player = this.players[seat];
    const level = player instanceof Level ? player : null;
    const plays = player && !level ? rollsAt(edition, player, cell) : null;
    for (let dice = 0; dice < rolls; dice++) {
      if (!plays || plays.includes(dice)) this.sum(own, other, dice, seat);
    }
    level?.look(own, other);
    let change = 0;
    for (let m = 0; m < memorySize; m++) {
      const row = m * rolls;
      let most = -1;
      const twin = edition.twins[m];
      if (plays) most = sums[slots[row + plays[plays.length === 1 ? 0 : m]]];
      else if (twin < m) most = values[cell * memorySize + twin];
      else if (level) most = level.mean(row, sums);
      else {
        for (let dice = 0; dice < rolls; dice++) {
          const value = sums[slots[row + dice]];
          if (value > most) most = value;
        }
      }
      const at = cell * memorySize + m;
      change = Math.max(change, Math.abs(most - values[at]));
      values[at] = most;
    }
    return change;
  }

  // Share of games that seat 0 wins, a fair coin saying who moves first.
  rate() {
    const { begins, starts } = this.edition;
    return (this.value(...begins, starts[0]) + 1 - this.value(...begins, starts[1], this.theirs ? 1 : 0)) / 2;
  }

  // All positions with one sum of scores. Where a turn can leave the sum as it was, again until
  // nothing moves.
  settleTotal(total) {
    const { goal } = this.edition;
    let left = [];
    const seats = this.theirs ? [0, 1] : [0];
    for (let own = Math.max(0, total - goal + 1); own <= Math.min(total, goal - 1); own++) {
      for (const seat of seats) {
        this.climbs = true;
        this.settle(own, total - own, seat);
        if (!this.climbs) left.push([own, seat]);
      }
    }
    for (let change = left.length ? 1 : 0, round = 0; change > 1e-15 && round < 10000; round++) {
      change = 0;
      for (const [own, seat] of left) change = Math.max(change, this.settle(own, total - own, seat));
    }
  }
}

// Rolls of a table at a position: one, or by memory.
function rollsAt({ cells, memorySize }, table, cell) {
  return table.length === cells ? table.subarray(cell, cell + 1) : table.subarray(cell * memorySize, (cell + 1) * memorySize);
}

const SLICE = 24; // milliseconds of computing before the page may draw

// Let the page draw, and go on.
function breath() {
  return new Promise((go) => setTimeout(go));
}

async function solve(edition, theirs = null, mine = null) {
  const values = new Values(edition, theirs, mine);
  let since = performance.now();
  for (let total = 2 * edition.goal - 2; total >= 0; total--) {
    values.settleTotal(total);
    if (performance.now() - since > SLICE) {
      await breath();
      since = performance.now();
    }
  }
  return values;
}
