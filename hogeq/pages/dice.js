// Dice from a seed. The faces of a turn follow from the seed and the number of the turn alone: a turn
// taken back and played again with as many dice shows the same.

// The finaliser of MurmurHash3 (Appleby, public domain): one bit changes half of all.
function mixed(number) {
  let bits = number | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

// Whole numbers below 2 ** 32, by Mulberry32 (Ettinger, public domain).
class Random {
  constructor(seed, turn) {
    this.state = mixed(mixed(seed) + Math.imul(turn + 1, 0x9e3779b9));
  }

  next() {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return (bits ^ (bits >>> 14)) >>> 0;
  }

  // A number below `limit`, each as likely as the others.
  below(limit) {
    const fair = 2 ** 32 - (2 ** 32 % limit);
    for (;;) {
      const bits = this.next();
      if (bits < fair) return bits % limit;
    }
  }
}

function rollDice(seed, turn, count, sides) {
  const random = new Random(seed, turn);
  return Array.from({ length: count }, () => 1 + random.below(sides));
}

// Which of the two moves first, if a coin says so.
function tossCoin(seed) {
  return new Random(seed, -1).below(2);
}

const SEEDS = 10 ** 6; // short enough to be read out

function newSeed() {
  return Math.floor(Math.random() * SEEDS);
}
