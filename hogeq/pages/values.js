// Exact win probabilities, by backward induction over scores and memory.
//
// A roll depends on the memory in two ways: by its mode (dice, bonus, forced turn) and by which memories
// can follow. Memories that agree in both share the sum over the outcomes: su20 needs 28 of these sums
// for each roll at each position, not 196.

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

// Number things by what they are; equal ones have one number.
class Numbering {
  constructor() {
    this.known = new Map();
    this.list = [];
  }

  of(key, value) {
    if (!this.known.has(key)) {
      this.known.set(key, this.list.length);
      this.list.push(value);
    }
    return this.known.get(key);
  }
}

// How the memory of an edition acts.
class Lanes {
  constructor(edition) {
    const { memorySize, rolls, next, bonus, forced, dice: kinds, seats, goals } = edition;
    const records = next[0][0].length;
    const classes = new Numbering();
    this.classOf = Int32Array.from({ length: memorySize }, (_, m) =>
      classes.of(next[m].join(";"), next[m]),
    );
    this.classes = classes.list.length;
    // Memory that follows: [again][record][class], so that neighbours in the last are summed together.
    this.next = [0, 1].map((again) =>
      Int32Array.from({ length: records * this.classes }, (_, i) =>
        classes.list[i % this.classes][again][Math.floor(i / this.classes)],
      ),
    );
    this.modes = []; // of each roll: dice, bonus, forced turn and goals, and the classes that need it
    this.slotOf = new Int32Array(memorySize * rolls); // where a memory's sum stands
    for (let dice = 0, slot = 0; dice < rolls; dice++) {
      const modes = new Numbering();
      const wanted = [];
      const numberOfMode = [];
      for (let m = 0; m < memorySize; m++) {
        const mode = { kinds: kinds.map((one) => one[m]), bonus: bonus[m][dice], forced: forced[m][dice], goals: goals[seats[m]] };
        numberOfMode[m] = modes.of(Object.values(mode).join(" "), mode);
        (wanted[numberOfMode[m]] ??= new Numbering()).of(this.classOf[m], this.classOf[m]);
      }
      this.modes.push(
        modes.list.map((mode, number) => {
          const first = slot;
          slot += wanted[number].list.length;
          return { ...mode, classes: Int32Array.from(wanted[number].list), first };
        }),
      );
      for (let m = 0; m < memorySize; m++) {
        const number = numberOfMode[m];
        this.slotOf[m * rolls + dice] = this.modes[dice][number].first + wanted[number].of(this.classOf[m]);
      }
      this.slots = slot;
    }
  }
}

// Values of all hidden states. Seat 0 plays best; so does seat 1, or it plays a table if there is one.
class Values {
  constructor(edition, table) {
    this.edition = edition;
    this.table = table;
    edition.lanes ??= new Lanes(edition);
    this.lanes = edition.lanes;
    const states = edition.cells * edition.memorySize;
    const one = new Float64Array(states).fill(0.5); // a game that never ends is half a win
    this.seats = [one, table ? new Float64Array(states).fill(0.5) : one];
    this.sums = new Float64Array(this.lanes.slots);
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
      found[dice] = this.sums[this.lanes.slotOf[memory * rolls + dice]];
    }
    return found;
  }

  // The best roll, of those that tie the fewest dice.
  best(own, other, memory, seat = 0) {
    return bestFirst(this.rolls(own, other, memory, seat))[0];
  }

  // The best roll for every memory.
  bests(own, other, seat = 0) {
    const { rolls, memorySize } = this.edition;
    const { slotOf } = this.lanes;
    for (let dice = 0; dice < rolls; dice++) this.sum(own, other, dice, seat);
    return Uint8Array.from({ length: memorySize }, (_, memory) => {
      const row = memory * rolls;
      let most = 0;
      for (let dice = 0; dice < rolls; dice++) most = Math.max(most, this.sums[slotOf[row + dice]]);
      let best = 0;
      while (this.sums[slotOf[row + best]] < most - TIE) best++;
      return best;
    });
  }

  // Win probabilities of one roll, into `sums`, for all memories.
  sum(own, other, dice, seat) {
    const { edition, lanes, sums } = this;
    const { goal, others, becomes, told, memorySize } = edition;
    const mine = this.seats[seat];
    const theirs = this.seats[1 - seat];
    const wild = edition.isWild(own, other);
    for (const mode of lanes.modes[dice]) {
      const { classes, first } = mode;
      const width = classes.length;
      const [myGoal, theirGoal] = mode.goals;
      const [points, gifts, records, chances] = edition.ways(own, other, dice, mode.kinds[wild]);
      for (let c = 0; c < width; c++) sums[first + c] = 0;
      for (let i = 0; i < points.length; i++) {
        const reached = own + points[i] + mode.bonus;
        const at = reached * others + other + gifts[i];
        const flags = told[at];
        const landed = reached + becomes[at];
        const score = flags & SWAP ? other + gifts[i] : landed;
        const opponent = flags & SWAP ? landed : other + gifts[i];
        const chance = chances[i];
        if (score >= myGoal || opponent >= theirGoal) {
          if (score - myGoal >= opponent - theirGoal) for (let c = 0; c < width; c++) sums[first + c] += chance;
          continue;
        }
        if (score + opponent === own + other) this.climbs = false;
        const again = flags & MORE_BOAR || mode.forced ? 1 : 0;
        const follow = lanes.next[again];
        const row = records[i] * lanes.classes;
        if (again) {
          const base = (score * goal + opponent) * memorySize;
          for (let c = 0; c < width; c++) {
            sums[first + c] += chance * mine[base + follow[row + classes[c]]];
          }
        } else {
          const base = (opponent * goal + score) * memorySize;
          for (let c = 0; c < width; c++) {
            sums[first + c] += chance * (1 - theirs[base + follow[row + classes[c]]]);
          }
        }
      }
    }
  }

  // Values of one position, in place; the largest change.
  settle(own, other, seat) {
    const { edition, lanes, sums } = this;
    const { rolls, memorySize, goal } = edition;
    const cell = own * goal + other;
    const values = this.seats[seat];
    const plays = seat === 1 && this.table ? this.table[cell] : -1;
    for (let dice = 0; dice < rolls; dice++) {
      if (plays < 0 || plays === dice) this.sum(own, other, dice, seat);
    }
    let change = 0;
    for (let m = 0; m < memorySize; m++) {
      const row = m * rolls;
      let most = -1;
      if (plays >= 0) most = sums[lanes.slotOf[row + plays]];
      else {
        for (let dice = 0; dice < rolls; dice++) {
          const value = sums[lanes.slotOf[row + dice]];
          if (value > most) most = value;
        }
      }
      const at = cell * memorySize + m;
      change = Math.max(change, Math.abs(most - values[at]));
      values[at] = most;
    }
    return change;
  }

  // All positions with one sum of scores. Where a turn can leave the sum as it was, again until
  // nothing moves.
  settleTotal(total) {
    const { goal } = this.edition;
    let left = [];
    const seats = this.table ? [0, 1] : [0];
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

const SLICE = 24; // milliseconds of computing before the page may draw

// Let the page draw, and go on.
function breath() {
  return new Promise((go) => setTimeout(go));
}

async function solve(edition, table = null) {
  const values = new Values(edition, table);
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
