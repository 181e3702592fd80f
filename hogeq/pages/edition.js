// The turns of one game, from the arrays of board.py: every way in which one can end. Of the rules
// that make them so a page knows nothing but what their texts say.

const [OTHER, AGAIN, WON, LOST] = [0, 1, 2, 3]; // who moves once a turn has landed, or has won

class Edition {
  constructor(data) {
    const { goal, memories, choices, starts, goals } = data;
    Object.assign(this, data);
    // Choices go by their numbers: these many dice, and the choice -1 as the last.
    this.rolls = choices.length;
    this.maxDice = Math.max(...choices);
    this.least = Math.min(...choices);
    this.memorySize = memories.length;
    this.hidden = memories.length > 1;
    this.memories = toldApart(memories);
    [this.start] = starts;
    this.ownGoals = goals[0][0] !== goals[1][0];
    this.tables = new Map(
      Object.entries(data.tables).map(([name, cells]) => [name, Uint8Array.from(cells)]),
    );
    this.lists = data.lists.map((list) => ({
      ...list,
      points: Int32Array.from(list.points),
      gifts: Int32Array.from(list.gifts),
      records: Int32Array.from(list.records),
      chances: Float64Array.from(list.chances),
    }));
    const most = Math.max(...this.lists.map(({ points }) => points.length));
    this.ends = Object.fromEntries(["at", "kind", "score", "opponent"].map((name) => [name, new Int32Array(most)]));
    this.kinds = data.kinds.map((kind) => Uint8Array.from(kind));
    this.moves = data.moves.map((by) => Int32Array.from(by));
    this.modes = data.modes.map((modes) => modes.map((mode) => ({ ...mode, lanes: Int32Array.from(mode.lanes) })));
    this.slots = Int32Array.from(data.slots);
    this.twins = twinsIn(this.slots, memories.length);
    this.following = data.following.map((memory) => Int32Array.from(memory));
    this.situations = Uint8Array.from(data.situations);
    this.free = Int32Array.from(data.free);
    this.laneCount = Math.max(...data.lane) + 1;
    this.about = new Map(Object.entries(data.about ?? {}));
    this.cells = goal * goal;
  }

  // --- what a player may know ------------------------------------------------------------------

  memoryLine(memory) {
    return this.columns.map((name, i) => `${name}: ${this.memories[memory][i]}`).join(", ");
  }

  // A choice in words.
  diceText(dice) {
    return dice === 0 ? "no dice" : dice === 1 ? "1 die" : dice > this.maxDice ? "-1" : `${dice} dice`;
  }

  // What stands below a choice: the points that are certain.
  choiceNote(own, other, memory, dice) {
    if (dice > 0 && dice <= this.maxDice) return dice === 1 ? "die" : "dice";
    return `+${this.outcomes(own, other, memory, dice)[0].points}`;
  }

  // Whether somebody is to move there.
  isInside(own, other, memory) {
    const [mine, theirs] = this.goals[this.seats[memory]];
    return own < mine && other < theirs;
  }

  // Positions of one situation are alike in how choices play, by memory.
  situation(own, other) {
    return this.situations[own * this.goal + other];
  }

  // The way to roll that a choice is there.
  way(own, other, memory, dice) {
    return this.number[this.situation(own, other)][memory * this.rolls + dice];
  }

  // Most dice that are rolled there: of more, these are.
  mostDice(own, other, memory) {
    return Math.max(...this.choices.map((_, dice) => this.ways.dice[this.way(own, other, memory, dice)]));
  }

  sides(own, other, memory) {
    return this.ways.sides[this.way(own, other, memory, 1)];
  }

  // --- one turn --------------------------------------------------------------------------------

  // What a way to roll can score: no dice by the position.
  list(own, other, way) {
    const { list, dice } = this.ways;
    return this.lists[list[way] + (dice[way] === 0 ? this.free[own * this.goal + other] : 0)];
  }

  // The same, and into `ends` where that leads: the scores, and who moves then or has won.
  end(own, other, way, seat) {
    const { ends, others, ways } = this;
    const [mine, theirs] = this.moves;
    const kinds = this.kinds[seat];
    const [bonus, forced] = [ways.bonus[way], ways.forced[way]];
    const list = this.list(own, other, way);
    for (let i = 0; i < list.points.length; i++) {
      const reached = own + list.points[i] + bonus;
      const faced = other + list.gifts[i];
      const at = reached * others + faced;
      ends.at[i] = at;
      ends.score[i] = reached + mine[at];
      ends.opponent[i] = faced + theirs[at];
      ends.kind[i] = forced && kinds[at] === OTHER ? AGAIN : kinds[at];
    }
    return list;
  }

  // Every way in which a turn can end, by points; `told`: what the rules did to these.
  outcomes(own, other, memory, dice) {
    const [way, seat] = [this.way(own, other, memory, dice), this.seats[memory]];
    const { points, gifts, records, chances, told } = this.end(own, other, way, seat);
    const { at, kind, score, opponent } = this.ends;
    const bonus = this.ways.bonus[way];
    return Array.from(points, (scored, i) => {
      const again = kind[i] === AGAIN;
      const extra = again ? [this.extra[Number(this.kinds[seat][at[i]] === AGAIN)]] : [];
      const texts = [this.ways.told[way], told[i], this.landed[at[i]]].flatMap((text) => this.texts[text]);
      return {
        points: scored,
        bonus,
        gift: gifts[i],
        score: score[i],
        opponent: opponent[i],
        winner: kind[i] === WON ? 0 : kind[i] === LOST ? 1 : null,
        again,
        memory: this.following[Number(again)][records[i] * this.laneCount + this.lane[memory]],
        probability: chances[i],
        told: [...texts, ...extra],
      };
    });
  }

  // A whole turn with dice that show these faces; without any faces the choice is -1. Its effects are
  // told as hogeq.rules.turn.turn_effects tells them.
  play(own, other, memory, faces) {
    const dice = this.choiceOf(faces);
    const { plains, ones } = this.list(own, other, this.way(own, other, memory, dice));
    const shown = faces?.length ? shownPoints(faces, ones) : plains[0][0];
    const [, outcome, text] = plains.find(([points]) => points === shown);
    const found = this.outcomes(own, other, memory, dice)[outcome];
    const one = faces?.includes(1) ? ", with a 1" : "";
    const rolled = faces?.length ? `rolled ${dice}: ${faces.join(" ")}${one}` : "rolled no dice";
    const head = [`${faces ? rolled : "chose -1"}, ${counted(shown, "point")}`];
    if (!faces) head.push(`${this.minus}: ${this.memoryLine(found.memory)}`);
    return { ...found, faces, effects: [...head, ...this.texts[text], ...found.told] };
  }

  choiceOf(faces) {
    return faces ? faces.length : this.choices.indexOf(-1);
  }

  // --- values, computed when they are first asked for -------------------------------------------

  solved() {
    this.best ??= solve(this);
    return this.best;
  }

  // Best play of seat 0 against a table or a level that seat 1 plays.
  against(name, theirs) {
    this.rivals ??= new Map();
    if (!this.rivals.has(name)) this.rivals.set(name, solve(this, theirs));
    return this.rivals.get(name);
  }

  // Share of games that a table or a level wins against optimal play.
  async wins(name, theirs) {
    this.won ??= new Map();
    if (!this.won.has(name)) this.won.set(name, 1 - (await solve(this, theirs, await this.optimalRolls())).rate());
    return this.won.get(name);
  }

  // The rolls of optimal play, by position and memory.
  async optimalRolls() {
    if (this.optimal) return this.optimal;
    const values = await this.solved();
    const rolls = new Uint8Array(this.cells * this.memorySize);
    let since = performance.now();
    for (let cell = 0; cell < this.cells; cell++) {
      rolls.set(values.bests(Math.floor(cell / this.goal), cell % this.goal), cell * this.memorySize);
      if (performance.now() - since > SLICE) {
        await breath();
        since = performance.now();
      }
    }
    this.optimal = rolls;
    return rolls;
  }

  // How often two players of a table come where.
  reach(name, table) {
    this.reached ??= new Map();
    if (!this.reached.has(name)) this.reached.set(name, reachOf(this, table));
    return this.reached.get(name);
  }
}

// By memory the first one whose rolls are all summed up alike.
function twinsIn(slots, memories) {
  const width = slots.length / memories;
  const first = new Map();
  return Int32Array.from({ length: memories }, (_, memory) => {
    const row = slots.subarray(memory * width, (memory + 1) * width).join();
    if (!first.has(row)) first.set(row, memory);
    return first.get(row);
  });
}

// Points that faces show: by how many are ones, if these count for themselves, otherwise their sum.
function shownPoints(faces, ones) {
  const count = faces.filter((face) => face === 1).length;
  return ones[count - 1] ?? faces.reduce((sum, face) => sum + face, 0);
}

// Texts of memories; one that reads like another before it is numbered, so that both can be chosen.
function toldApart(memories) {
  const taken = new Set();
  return memories.map((texts) => {
    let told = texts;
    for (let count = 2; taken.has(JSON.stringify(told)); count++) {
      told = [...texts.slice(0, -1), `${texts[texts.length - 1]} (${count})`];
    }
    taken.add(JSON.stringify(told));
    return told;
  });
}

async function unpackEdition(packed) {
  return new Edition(JSON.parse(await unpackText(packed)));
}
