// How often two players of one table come to each position, and with which memory.

class Reach {
  constructor(edition, masses) {
    this.edition = edition;
    this.masses = masses;
  }

  row(own, other) {
    const { goal, memorySize } = this.edition;
    const at = (own * goal + other) * memorySize;
    return this.masses.subarray(at, at + memorySize);
  }

  // Expected visits of one of the two to move there, a fair coin saying who begins.
  cell(own, other) {
    return this.row(own, other).reduce((sum, share) => sum + share, 0);
  }

  // Distribution of the memory there; null where play never comes.
  belief(own, other) {
    const total = this.cell(own, other);
    return total > 0 ? this.row(own, other).map((share) => share / total) : null;
  }
}

// The pass forward, the adjoint of that in values.js.
class Flow {
  constructor(edition, table) {
    edition.lanes ??= new Lanes(edition);
    Object.assign(this, { edition, table });
    this.masses = new Float64Array(edition.cells * edition.memorySize);
    this.waiting = new Float64Array(this.masses.length); // what has come and not yet gone on
    this.waiting[edition.start] = 0.5;
    this.sums = new Float64Array(edition.lanes.slots);
  }

  // Dice rolled at a position with a memory.
  diceAt(cell) {
    return this.table[cell];
  }

  // Send on what waits at a position; how much of that stays at its total.
  push(own, other, waiting = this.waiting, next = waiting) {
    const { edition, masses, sums } = this;
    const { goal, memorySize, lanes, rolls } = edition;
    const cell = own * goal + other;
    const rolled = new Set();
    sums.fill(0);
    for (let memory = 0; memory < memorySize; memory++) {
      const at = cell * memorySize + memory;
      if (waiting[at] === 0) continue;
      const dice = this.diceAt(cell, memory);
      rolled.add(dice);
      masses[at] += waiting[at];
      sums[lanes.slotOf[memory * rolls + dice]] += waiting[at];
      waiting[at] = 0;
    }
    let stays = 0;
    for (const dice of rolled) stays += this.pushRoll(own, other, dice, next);
    return stays;
  }

  pushRoll(own, other, dice, next) {
    const { edition, sums } = this;
    const { goal, memorySize, lanes } = edition;
    let stays = 0;
    const usual = edition.usual(own, other, dice);
    for (const mode of lanes.modes[dice]) {
      const special = mode.extra && dice;
      const [scored, given, left, odds] = special ? edition.branches[edition.extra][dice] : usual;
      for (let i = 0; i < scored.length; i++) {
        const way = edition.land(own + scored[i] + mode.bonus, other + given[i]);
        if (way.winner !== null) continue;
        const again = way.again || mode.forced ? 1 : 0;
        const [mine, theirs] = again ? [way.score, way.opponent] : [way.opponent, way.score];
        const base = (mine * goal + theirs) * memorySize;
        const row = left[i] * lanes.classes;
        for (let c = 0; c < mode.classes.length; c++) {
          const moved = sums[mode.first + c] * odds[i];
          next[base + lanes.next[again][row + mode.classes[c]]] += moved;
          if (mine + theirs === own + other) stays += moved;
        }
      }
    }
    return stays;
  }
}

async function reachOf(edition, table) {
  const flow = new Flow(edition, table);
  const most = edition.goal - 1;
  let since = performance.now();
  for (let total = 0; total <= 2 * most; total++) {
    // Again where a turn can leave the total as it was.
    for (let stays = 1, round = 0; stays > 1e-15 && round < 10000; round++) {
      stays = 0;
      for (let own = Math.max(0, total - most); own <= Math.min(total, most); own++) {
        stays += flow.push(own, total - own);
      }
    }
    if (performance.now() - since > SLICE) {
      await breath();
      since = performance.now();
    }
  }
  return new Reach(edition, flow.masses);
}
