// How often two players of one table come to each position, and with which memory.

class Reach {
  // `recurring`: positions that play can come back to; `endless`: those from which it never ends.
  constructor(edition, masses, recurring, endless) {
    Object.assign(this, { edition, masses, recurring, endless });
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

  // Expected visits of either of the two.
  visits(own, other) {
    return this.endless.has(own * this.edition.goal + other) ? Infinity : 2 * this.cell(own, other);
  }

  // The same with one memory; 0 where play never comes, or never ends.
  meets(cell, memory) {
    return this.endless.has(cell) ? 0 : 2 * this.masses[cell * this.edition.memorySize + memory];
  }

  // Visits in words: a probability where no game comes twice.
  said(own, other) {
    const visits = this.visits(own, other);
    if (visits === Infinity) return "play never ends";
    return this.recurring.has(own * this.edition.goal + other) ? times(visits) : chance(visits);
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
    Object.assign(this, { edition, table });
    this.masses = new Float64Array(edition.cells * edition.memorySize);
    this.waiting = new Float64Array(this.masses.length); // what has come and not yet gone on
    for (const start of edition.starts) this.waiting[start] += 0.25; // one of two players to move first
    this.sums = new Float64Array(edition.sums);
    this.links = new Map(); // from a position to those with its total that a turn led to
    this.leaving = new Set(); // positions with a turn that led elsewhere, or won
  }

  // Dice rolled at a position with a memory.
  diceAt(cell) {
    return this.table[cell];
  }

  // Send on what waits at a position; how much of that stays at its total.
  push(own, other, waiting = this.waiting, next = waiting) {
    const { edition, masses, sums } = this;
    const { goal, memorySize, rolls, slots } = edition;
    const cell = own * goal + other;
    const rolled = new Set();
    sums.fill(0);
    for (let memory = 0; memory < memorySize; memory++) {
      const at = cell * memorySize + memory;
      if (waiting[at] === 0) continue;
      const dice = this.diceAt(cell, memory);
      rolled.add(dice);
      masses[at] += waiting[at];
      sums[slots[memory * rolls + dice]] += waiting[at];
      waiting[at] = 0;
    }
    let stays = 0;
    for (const dice of rolled) stays += this.pushRoll(own, other, dice, next);
    return stays;
  }

  pushRoll(own, other, dice, next) {
    const { edition, sums } = this;
    const { goal, memorySize, ends } = edition;
    let stays = 0;
    const situation = edition.situation(own, other);
    for (const { ways, seat, lanes, first } of edition.modes[dice]) {
      const { points, records, chances } = edition.end(own, other, ways[situation], seat);
      for (let i = 0; i < points.length; i++) {
        const kind = ends.kind[i];
        if (kind >= WON) {
          this.leaving.add(own * goal + other);
          continue;
        }
        const again = kind === AGAIN;
        const [mine, theirs] = again ? [ends.score[i], ends.opponent[i]] : [ends.opponent[i], ends.score[i]];
        const base = (mine * goal + theirs) * memorySize;
        const row = records[i] * edition.laneCount;
        let passed = 0;
        for (let c = 0; c < lanes.length; c++) {
          const moved = sums[first + c] * chances[i];
          next[base + edition.following[kind][row + lanes[c]]] += moved;
          passed += moved;
        }
        if (passed === 0) continue;
        if (mine + theirs === own + other) {
          stays += passed;
          this.link(own * goal + other, mine * goal + theirs);
        } else this.leaving.add(own * goal + other);
      }
    }
    return stays;
  }

  link(from, to) {
    if (!this.links.has(from)) this.links.set(from, new Set());
    this.links.get(from).add(to);
  }

  // Positions linked to themselves, by way of others or not.
  recurring() {
    return [...this.links.keys()].filter((from) => reachable([from], (cell) => this.links.get(cell) ?? []).has(from));
  }

  // Positions after which the total stays for certain, turn after turn. That happens only where
  // nothing is hidden: other games are not compiled.
  endless() {
    const certain = new Set([...this.links.keys()].filter((cell) => !this.leaving.has(cell)));
    for (let before = Infinity; certain.size < before; ) {
      before = certain.size;
      for (const cell of certain) {
        if ([...this.links.get(cell)].some((to) => !certain.has(to))) certain.delete(cell);
      }
    }
    return certain;
  }
}

// What steps lead to from anywhere in `from`.
function reachable(from, steps) {
  const found = new Set();
  const open = [...from];
  const walked = new Set();
  while (open.length) {
    const at = open.pop();
    if (walked.has(at)) continue;
    walked.add(at);
    for (const to of steps(at)) {
      found.add(to);
      open.push(to);
    }
  }
  return found;
}

const SETTLED = 100; // rounds after which it is asked whether any game never ends

async function reachOf(edition, table) {
  const flow = new Flow(edition, table);
  const recurring = [];
  const endless = new Set();
  const most = edition.goal - 1;
  let since = performance.now();
  for (let total = 0; total <= 2 * most; total++) {
    // Again where a turn can leave the total as it was.
    flow.links.clear();
    for (let stays = 1, round = 0; stays > 1e-15 && round < 10000; round++) {
      if (round === SETTLED) {
        for (const cell of flow.endless()) {
          endless.add(cell);
          flow.waiting.fill(0, cell * edition.memorySize, (cell + 1) * edition.memorySize); // it would never go
        }
      }
      stays = 0;
      for (let own = Math.max(0, total - most); own <= Math.min(total, most); own++) {
        stays += flow.push(own, total - own);
      }
    }
    recurring.push(...flow.recurring());
    if (performance.now() - since > SLICE) {
      await breath();
      since = performance.now();
    }
  }
  return new Reach(edition, flow.masses, new Set(recurring), endless);
}
