// The rules of one game, from the tables of edition.py: how a turn is played, and every way it can end.

const SWAP = 1;
const MORE_BOAR = 2;

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
    this.becomes = Int32Array.from(data.becomes);
    this.told = Uint8Array.from(data.told);
    this.branches = data.branches.map((kind) => kind.map((roll) => roll.map(numbers)));
    this.freeRolls = this.free_records.map((record, points) =>
      [[points], [0], [record], [1]].map(numbers),
    );
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
  choiceNote(own, other, dice) {
    if (dice > 0 && dice <= this.maxDice) return dice === 1 ? "die" : "dice";
    return `+${this.ways(own, other, dice, 0)[0][0]}`;
  }

  // Whether somebody is to move there.
  isInside(own, other, memory) {
    const [mine, theirs] = this.goals[this.seats[memory]];
    return own < mine && other < theirs;
  }

  // Whether Hog Wild gives other dice.
  isWild(own, other) {
    return Number((own + other) % this.wild_multiple === 0);
  }

  // Which of the kinds of dice are rolled.
  kind(own, other, memory) {
    return this.dice[this.isWild(own, other)][memory];
  }

  sides(own, other, memory) {
    return this.kinds[this.kind(own, other, memory)];
  }

  // --- one turn --------------------------------------------------------------------------------

  // Where a turn ends that leaves these scores; again: by More Boar alone. `goals`: the mover's and
  // the other's.
  land(reached, opponent, [mine, theirs]) {
    const at = reached * this.others + opponent;
    let score = reached + this.becomes[at];
    let other = opponent;
    const told = this.told[at];
    if (told & SWAP) [score, other] = [other, score];
    const over = score >= mine || other >= theirs;
    return {
      score,
      opponent: other,
      winner: over ? (score - mine >= other - theirs ? 0 : 1) : null,
      again: !over && (told & MORE_BOAR) !== 0,
    };
  }

  ending(own, other, memory, dice, points, gift, record) {
    const bonus = this.bonus[memory][dice];
    const landing = this.land(own + points + bonus, other + gift, this.goals[this.seats[memory]]);
    const again = landing.winner === null && (landing.again || this.forced[memory][dice] === 1);
    const after = this.next[memory][Number(again)][record];
    return { points, bonus, gift, ...landing, again, boar: landing.again, memory: after };
  }

  // Points, gifts, records and probabilities of a choice, with one of the kinds of dice.
  ways(own, other, dice, kind) {
    return dice ? this.branches[kind][dice] : this.freeRolls[this.free[own * this.goal + other]];
  }

  // Every way in which a turn can end, by points.
  outcomes(own, other, memory, dice) {
    const [points, gifts, records, chances] = this.ways(own, other, dice, this.kind(own, other, memory));
    return Array.from(points, (scored, i) => ({
      ...this.ending(own, other, memory, dice, scored, gifts[i], records[i]),
      probability: chances[i],
    }));
  }

  // A whole turn with dice that show these faces; without any faces the choice is -1.
  play(own, other, memory, faces) {
    const dice = this.choiceOf(faces);
    const ways = this.outcomes(own, other, memory, dice);
    const plain = faces?.length ? this.rolled(faces) : faces ? this.freePlain(own, other) : ways[0].points;
    const points = faces?.length ? this.boosted(plain) : ways[0].points;
    const found = ways.find((way) => way.points === points);
    return { ...found, faces, effects: this.effects(own, other, faces, plain, found) };
  }

  choiceOf(faces) {
    return faces ? faces.length : this.choices.indexOf(-1);
  }

  rolled(faces) {
    const ones = faces.filter((face) => face === 1).length;
    if (!ones) return faces.reduce((sum, face) => sum + face, 0);
    return this.pig_out === "count_ones" ? Math.min(ones, 11 - faces.length) : this.pig_out;
  }

  boosted(points) {
    return this.boost === null ? points : this.boost[points];
  }

  freePlain(own, other) {
    return (this.free_plain ?? this.free)[own * this.goal + other];
  }

  // The mover's score step by step: with its points, after Square Swine, after the landing part.
  landing(own, other, { points, bonus, gift }) {
    const reached = own + points + bonus;
    const opponent = other + gift;
    const at = reached * this.others + opponent;
    const becomes = reached + this.becomes[at];
    const squared = this.square ? nextSquare(reached) : reached;
    return { reached, squared, becomes, swaps: (this.told[at] & SWAP) !== 0 && becomes !== opponent };
  }

  // What each part of the rules did, the points first: as hogeq.rules.turn.turn_effects says it.
  effects(own, other, faces, plain, turn) {
    const pig = faces?.includes(1) ? ", with a 1" : "";
    const rolled = faces?.length ? `rolled ${faces.length}: ${faces.join(" ")}${pig}` : "rolled no dice";
    const lines = [`${faces ? rolled : "chose -1"}, ${counted(plain, "point")}`];
    if (!faces) lines.push(`${this.named.bonus}: ${this.memoryLine(turn.memory)}`);
    if (plain !== turn.points) {
      lines.push(`Hogtimus Prime: ${counted(turn.points, "point")} instead of ${plain}`);
    }
    if (turn.bonus) lines.push(`${this.named.bonus}: ${counted(turn.bonus, "point")} more`);
    if (turn.gift) lines.push(`Piggy Back: ${counted(turn.gift, "point")} to the other`);
    const { reached, squared, becomes, swaps } = this.landing(own, other, turn);
    if (squared !== reached) lines.push(`Square Swine: ${reached} becomes ${squared}`);
    if (becomes !== squared) lines.push(`${this.named.landing}: ${squared} becomes ${becomes}`);
    if (swaps) lines.push("Swap: the scores trade places");
    if (turn.again) lines.push(`${turn.boar ? "More Boar" : this.named.turn}: an extra turn`);
    return lines;
  }

  // --- values, computed when they are first asked for -------------------------------------------

  solved() {
    this.best ??= solve(this);
    return this.best;
  }

  // Best play of seat 0 against a table that seat 1 plays.
  against(name, table) {
    this.rivals ??= new Map();
    if (!this.rivals.has(name)) this.rivals.set(name, solve(this, table));
    return this.rivals.get(name);
  }

  // How often two players of a table come where.
  reach(name, table) {
    this.reached ??= new Map();
    if (!this.reached.has(name)) this.reached.set(name, reachOf(this, table));
    return this.reached.get(name);
  }
}

// Points, gifts and records are whole numbers; probabilities come last.
function numbers(column, index) {
  return (index < 3 ? Int32Array : Float64Array).from(column);
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

// Above a perfect square the next one; any other number as it is.
function nextSquare(number) {
  const root = Math.round(Math.sqrt(number));
  return root * root === number ? (root + 1) ** 2 : number;
}

async function unpackEdition(packed) {
  return new Edition(JSON.parse(await unpackText(packed)));
}
