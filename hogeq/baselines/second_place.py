"""Backward induction over beliefs about the hidden memory, as the second place of summer 2020 did.

A strategy sees the scores and not the points of the last turns, on which Feral Hogs depends. Huan
(2020) [1] believes some distribution of the memory and rolls best by it; docs/huan2020.md has the
method, and experiments/second_place.py the counts that were the beliefs there.

Sizes: G goal, K actions, W records of one turn, H = W * W memories (own record, opponent's record).
A *seat* is 0 for the player who moved first in the game and 1 for the other.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hogeq.rules import Rules
from hogeq.rules.memory import Memory, memory_sizes
from hogeq.rules.rules import Throw
from hogeq.rules.turn import TurnTable, effect, land, throw_of
from hogeq.strategies.strategy import policy_of
from hogeq.support.aliases import Floats, Ints, Matrix, Policy
from hogeq.support.messages import HogeqError
from hogeq.support.parameters import Share, check

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine


class RolledColumns(NamedTuple):
    """Results of one kind of dice: distinct pairs of gain (bonus added) and record, in columns."""

    gain: Ints
    recorded: Ints
    chance: Floats  # (2 * K, m) probability, by bonus (no, yes) and roll; 0 for no dice


class Diagonals:
    """Turns of one game as arrays, for all cells of one sum of scores (a diagonal) at once.

    A turn raises the sum of the scores, so a diagonal leads to later ones only. An *afterstate*
    (t, u) is the mover's score with points and bonus, and the opponent's.
    """

    def __init__(self, rules: Rules) -> None:
        self.turns = turns = TurnTable(rules)
        self.goal, self.num_actions = rules.size, rules.max_dice + 1
        self.records = memory_sizes(rules)[2]
        rolls = range(self.num_actions)
        own_records = [Memory(own=own) for own in range(self.records)]
        added = np.array(
            [[effect(rules, 0, 0, own, roll).bonus for roll in rolls] for own in own_records]
        )
        self.fires = added > 0  # (W, K)
        self.bonus = int(added.max())
        scores = range(self.goal)
        free = [[turns.free(own, opponent) for opponent in scores] for own in scores]
        self.zero = np.array([[branch.points for branch in row] for row in free])
        self.zero_record = np.array([[branch.record for branch in row] for row in free])
        throws = [throw_of(rules, 0, total, Memory()) for total in range(2 * self.goal - 1)]
        kinds = {throw: self._rolled(throw) for throw in dict.fromkeys(throws)}
        self.rolled = [kinds[throw] for throw in throws]  # Hog Wild, Hog Tied: by the sum alone
        self._land()

    def _rolled(self, throw: Throw) -> RolledColumns:
        columns: dict[tuple[int, int], int] = {}
        shares: list[tuple[int, int, float]] = []
        for extra in (0, 1):
            for roll in range(1, self.num_actions):
                for points, _, recorded, chance in self.turns.branches(roll, throw):
                    key = points + extra * self.bonus, recorded
                    column = columns.setdefault(key, len(columns))
                    shares.append((extra * self.num_actions + roll, column, float(chance)))
        chances = np.zeros((2 * self.num_actions, len(columns)))
        for row, column, share in shares:
            chances[row, column] = share
        gain, recorded = np.array(list(columns), np.int64).T
        return RolledColumns(gain, recorded, chances)

    def _land(self) -> None:
        """Tabulate the afterstates that win, and the cells to which the others lead."""
        most = max(int(rolled.gain.max()) for rolled in self.rolled)
        top = self.goal + max(most, int(self.zero.max()) + self.bonus)
        self.won = np.zeros((top, self.goal))  # 1 if the mover has won
        rows = []
        for own in range(top):
            for opponent in range(self.goal):
                landing = land(self.turns.rules, own, opponent)
                if landing.winner is None:
                    cell = landing.opponent * self.goal + landing.score
                    rows.append((landing.score + landing.opponent, own, opponent, cell))
                else:
                    self.won[own, opponent] = landing.winner == 0
        rows.sort()
        totals, *self._open = np.array(rows, np.int64).T
        self._open_from = np.searchsorted(totals, np.arange(2 * self.goal))

    def cells(self, total: int) -> tuple[Ints, Ints]:
        """Own and opponent's scores of a diagonal."""
        own = np.arange(max(0, total - self.goal + 1), min(total, self.goal - 1) + 1)
        return own, total - own

    def arrivals(self, total: int) -> tuple[Ints, Ints, Ints]:
        """Afterstates (t, u) whose next mover is on a diagonal, and the cell where each is."""
        here = slice(self._open_from[total], self._open_from[total + 1])
        own, opponent, cell = (column[here] for column in self._open)
        return own, opponent, cell


def countable(game: "HogEngine") -> bool:
    """Whether memory states can be counted: turns alternate, and every turn scores."""
    try:
        diagonals_of(game)
    except ValueError:
        return False
    return True


def diagonals_of(game: "HogEngine") -> Diagonals:
    """Diagonals of a game, made once."""
    rules = game.rules
    turns, extras, _ = memory_sizes(rules)
    where, only = f"delta distribution: rules {rules.name}", "whose only memory is Feral Hogs'"
    if rules.memory != "none":
        raise HogeqError(f"{where} remember {rules.memory}; allowed: rules {only}")
    if rules.effect != "none":
        raise HogeqError(f"{where} have {rules.effect}; allowed: rules without, {only}")
    if turns > 1 or extras > 1 or rules.gives_extra_turns:
        raise HogeqError(f"{where} give extra turns; allowed: rules without, {only}")
    if rules.forty_niners:
        raise HogeqError(f"{where} have 49ers; allowed: rules without, {only}")
    if rules.piggy_back or game.positions_recur:
        raise HogeqError(f"{where} have turns that score 0; allowed: rules where every turn scores")
    return _diagonals(rules)


@lru_cache(maxsize=4)
def _diagonals(rules: Rules) -> Diagonals:
    return Diagonals(rules)


def exact_distribution(game: "HogEngine", strategy: ArrayLike, tremble: float = 0.0) -> Floats:
    """Exact distribution of the memory in self-play, which counting estimates."""
    from hogeq.evaluation.values import reach

    weights = reach(game, trembling(game, strategy, tremble))
    return over_seats(weights[None])


def trembling(game: "HogEngine", strategy: ArrayLike, epsilon: float) -> Policy:
    """Strategy that errs: with probability `epsilon`, a uniformly random number of dice."""
    check(Share, epsilon=epsilon)
    return (1.0 - epsilon) * policy_of(game, strategy) + epsilon / game.num_actions


def over_seats(weights: ArrayLike) -> Floats:
    """Distribution of the memory, (..., H), averaged over the seats that have weight: (2, ..., H).

    A strategy does not see its seat. Where no seat has weight, the result is 0.
    """
    table = np.asarray(weights, np.float64)
    sums = table.sum(axis=-1, keepdims=True)
    shares = np.divide(table, sums, out=np.zeros_like(table), where=sums > 0.0)
    seats = np.maximum((sums > 0.0).sum(axis=0), 1)
    return np.asarray(shares.sum(axis=0) / seats)


def respond_to_beliefs(game: "HogEngine", beliefs: ArrayLike, epsilon: float = 0.0) -> Matrix:
    """Matrix that is optimal if the memory is always distributed as believed.

    Neither player knows more than the belief, and the opponent errs: with probability `epsilon`,
    a uniformly random number of dice (Huan 2020 [1], "Error Modeling").
    """
    from hogeq.model.rows import TIE

    turns = diagonals_of(game)
    check(Share, epsilon=epsilon)
    shares = np.asarray(beliefs, np.float64)
    shape = (turns.goal, turns.goal, turns.records**2)
    if shares.shape != shape:
        raise HogeqError(f"beliefs: shape is {shares.shape}; allowed: {shape}")
    lucky = shares.reshape(*shape[:2], turns.records, turns.records).sum(axis=3) @ turns.fires
    matrix = np.zeros((turns.goal, turns.goal), np.int8)
    worth = np.stack([turns.won, turns.won])  # of an afterstate to its mover: me, the opponent
    for total in range(2 * turns.goal - 2, -1, -1):
        own, opponent = turns.cells(total)
        chance = lucky[own, opponent]
        cells = np.zeros((2, turns.goal * turns.goal))
        for player in (0, 1):
            plain, fed = _roll_values(turns, total, worth[player])
            # Where no bonus can be earned, `fed` may belong to no position at all.
            value = np.where(chance > 0.0, chance * fed, 0.0)
            value += np.where(chance < 1.0, (1.0 - chance) * plain, 0.0)
            best = value.max(axis=1)
            if player == 0:
                matrix[own, opponent] = (value >= best[:, None] - TIE).argmax(axis=1)
            else:
                best = (1.0 - epsilon) * best + epsilon * value.mean(axis=1)
            cells[player, own * turns.goal + opponent] = best
        at, other, cell = turns.arrivals(total)
        worth[:, at, other] = 1.0 - cells[::-1, cell]
    return matrix


def _roll_values(turns: Diagonals, total: int, worth: Floats) -> tuple[Floats, Floats]:
    """Values of the rolls of a diagonal, (n, K) each: without the bonus, and with it."""
    own, opponent = turns.cells(total)
    rolled = turns.rolled[total]
    values = worth[own[:, None] + rolled.gain, opponent[:, None]] @ rolled.chance.T
    plain, fed = values[:, : turns.num_actions], values[:, turns.num_actions :]
    scored = own + turns.zero[own, opponent]
    plain[:, 0] = worth[scored, opponent]
    fed[:, 0] = worth[scored + turns.bonus, opponent]
    return plain, fed
