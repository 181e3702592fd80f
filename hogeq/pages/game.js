// A game between two players, turn by turn: nothing here draws.

class Game {
  // `start`: scores of who moves first and of the other.
  constructor(edition, { first = 0, start = edition.begins, seed = newSeed(), names = ["You", "Opponent"] } = {}) {
    Object.assign(this, { edition, seed, names, turns: [] });
    const scores = first === 0 ? [...start] : [start[1], start[0]];
    this.begin = { scores, mover: first, memory: edition.starts[first], turns: 0, winner: null };
  }

  // The same game as it stood before a turn, from 0; another may go on from there.
  upTo(turn, more = {}) {
    const { edition, seed, names, begin } = this;
    const found = new Game(edition, { first: begin.mover, start: viewOf(begin).slice(0, 2), seed, names, ...more });
    for (const { given } of this.turns.slice(0, turn)) found.replay(given);
    return found;
  }

  get state() {
    return this.turns.length ? this.turns[this.turns.length - 1].after : this.begin;
  }

  get over() {
    return this.state.winner !== null;
  }

  // Own score, the other's and the memory, as the player to move has them.
  get view() {
    return viewOf(this.state);
  }

  get sides() {
    return this.edition.sides(...this.view);
  }

  // The mover rolls so many of the seed's dice, or chooses -1.
  roll(dice) {
    const isMinusOne = dice > this.edition.maxDice;
    const rolled = Math.min(dice, this.edition.mostDice(...this.view));
    return this.replay(isMinusOne ? null : rollDice(this.seed, this.state.turns, rolled, this.sides));
  }

  // The mover's dice show these faces; null is the choice -1.
  replay(given) {
    const { edition, state: before } = this;
    const faces = given ?? [];
    if (this.over) throw new Error("the game is over");
    if (given === null && edition.least === 0) throw new Error(`choice -1; allowed: 0 to ${edition.maxDice}`);
    const most = edition.mostDice(...this.view);
    if (faces.length > most) throw new Error(`${faces.length} dice; allowed: 0 to ${most}`);
    const wrong = faces.find((face) => !(Number.isInteger(face) && face >= 1 && face <= this.sides));
    if (wrong !== undefined) throw new Error(`a die shows ${wrong}; allowed: 1 to ${this.sides}`);
    const turn = edition.play(...this.view, given);
    const { mover } = before;
    const over = turn.winner !== null;
    const after = {
      scores: mover === 0 ? [turn.score, turn.opponent] : [turn.opponent, turn.score],
      mover: turn.again || over ? mover : 1 - mover,
      memory: turn.memory,
      turns: before.turns + 1,
      winner: over ? (turn.winner === 0 ? mover : 1 - mover) : null,
    };
    const played = { before, dice: edition.choiceOf(given), given, faces: [...faces], turn, after };
    this.turns.push(played);
    return played;
  }

  // Take back turns; they are given, the last one last.
  undo(count = 1) {
    return this.turns.splice(Math.max(0, this.turns.length - count));
  }
}

function viewOf(state) {
  return [state.scores[state.mover], state.scores[1 - state.mover], state.memory];
}

// Win probability of player 0 in a state. Of optimal play, or against the table or level that player 1 plays.
function chanceOf(values, state) {
  if (state.winner !== null) return state.winner === 0 ? 1 : 0;
  const found = values.value(...viewOf(state), values.theirs ? state.mover : 0);
  return state.mover === 0 ? found : 1 - found;
}
