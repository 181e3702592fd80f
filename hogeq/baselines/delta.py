"""Guesses of the hidden memory by counting: the delta distribution.

A strategy sees the scores and not the points of the last turns, on which Feral Hogs depends. Huan
(2020) [1], "Constructing a Delta Distribution", guesses: a memory is as likely as the number of
turns' outcomes that lead to it. `docs/sources.md` lists the sources.

Sizes: G goal, K actions, W records of one turn, H = W * W memories (own record, opponent's record).
A *seat* is 0 for the player who moved first in the game and 1 for the other.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.rules import Rules
from hogeq.rules.memory import Memory, memory_sizes
from hogeq.rules.outcomes import TurnTable
from hogeq.strategies.strategy import policy_of
from hogeq.support.aliases import Floats, Ints, Policy
from hogeq.support.parameters import Share, check

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine

Counts = NDArray[np.float32]


class RolledColumns(NamedTuple):
    """Results of rolling one kind of dice: distinct pairs of gain and record, in columns."""

    gain: Ints
    """(m,) points, the bonus added."""
    recorded: Ints
    """(m,)"""
    chance: Floats
    """(2 * K, m) probability, by bonus (no, yes) and roll; 0 for no dice."""


class Diagonals:
    """Turns of one game as arrays, for all cells of one sum of scores (a diagonal) at once.

    A turn raises the sum of the scores, so a diagonal leads to later ones only. An *afterstate*
    (t, u) is the mover's score with points and bonus, and the opponent's.
    """

    def __init__(self, rules: Rules) -> None:
        self.turns = turns = TurnTable(rules)
        self.goal, self.num_actions = rules.size, rules.max_dice + 1
        self.records = memory_sizes(rules)[2]
        added = np.array(
            [
                [
                    turns.memory_effect(Memory(own=own), roll).bonus
                    for roll in range(self.num_actions)
                ]
                for own in range(self.records)
            ]
        )
        self.fires = added > 0  # (W, K)
        self.bonus = int(added.max())
        scores = range(self.goal)
        free = [[turns.free(own, opponent) for opponent in scores] for own in scores]
        self.zero = np.array([[branch.points for branch in row] for row in free])
        self.zero_record = np.array([[branch.record for branch in row] for row in free])
        sides = [turns.dice_sides(total, 0, Memory()) for total in range(2 * self.goal - 1)]
        kinds = {kind: self._rolled(kind) for kind in dict.fromkeys(sides)}
        self.rolled = [kinds[kind] for kind in sides]  # Hog Wild depends on the sum alone
        self._land()

    def _rolled(self, sides: int) -> RolledColumns:
        columns: dict[tuple[int, int], int] = {}
        shares: list[tuple[int, int, float]] = []
        for extra in (0, 1):
            for roll in range(1, self.num_actions):
                for points, _, recorded, chance in self.turns.branches(roll, sides):
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
                landing = self.turns.land(own, opponent)
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
    if rules.memory != "none":
        raise ValueError(
            f"delta distribution: rules {rules.name} remember more (memory is {rules.memory}); "
            "allowed: rules whose only memory is that of Feral Hogs"
        )
    if turns > 1 or extras > 1 or rules.gives_extra_turns:
        raise ValueError(
            f"delta distribution: rules {rules.name} give extra turns; allowed: rules whose "
            "turns alternate and whose only memory is that of Feral Hogs"
        )
    if rules.piggy_back or game.positions_recur:
        raise ValueError(
            f"delta distribution: a turn can score 0 by rules {rules.name}; allowed: rules "
            "under which every turn scores"
        )
    return _diagonals(rules)


@lru_cache(maxsize=4)
def _diagonals(rules: Rules) -> Diagonals:
    return Diagonals(rules)


def entries(
    game: "HogEngine",
    first: ArrayLike | None = None,
    second: ArrayLike | None = None,
) -> Counts:
    """Count the ways into every memory state, (2, G, G, H).

    A way in is one outcome of one roll, made in one memory state that play can reach, however
    small its probability. The memory before the first turn is entered once. Huan (2020)
    [1] counts so by counting the calls of a recursion that remembers its results: each state is
    expanded once, and called once for each of its predecessors' outcomes.
    """
    turns = diagonals_of(game)
    players = [_plays(game, first)]
    players.append(players[0] if second is None else _plays(game, second))
    goal, records, num_actions = turns.goal, turns.records, turns.num_actions
    # Afterstates by t, u, record, seat, opponent's record.
    after = np.zeros((goal, goal, records, 2, records), np.float32)
    counts = np.zeros((goal * goal, 2, records, records), np.float32)  # cell, seat, own, opponent's
    counts[0, 0, 0, 0] = 1.0
    for total in range(2 * goal - 1):
        own, opponent = turns.cells(total)
        at, other, landed = turns.arrivals(total)
        # The player who moved is now the opponent, so the two records change places.
        np.add.at(counts, landed, after[at, other].transpose(0, 2, 3, 1)[:, ::-1])
        met = counts[own * goal + opponent] > 0.0
        made = np.empty((2, len(own), records, 2 * num_actions), np.float32)
        for seat, plays in enumerate(players):
            rolled = met[:, seat, ..., None] & plays[own, opponent]  # cell, own, opponent's, roll
            every = rolled.sum(axis=1, dtype=np.float32)
            with_bonus = (rolled & turns.fires[:, None]).sum(axis=1, dtype=np.float32)
            made[seat, ..., num_actions:] = with_bonus
            made[seat, ..., :num_actions] = every - with_bonus
        _spread(turns, own, opponent, made, after)
    return np.ascontiguousarray(
        counts.reshape(goal, goal, 2, records * records).transpose(2, 0, 1, 3)
    )


def _plays(game: "HogEngine", player: ArrayLike | None) -> NDArray[np.bool_]:
    """Tabulate the rolls that a player makes, (G, G, W or 1, W or 1, K)."""
    if player is None:
        return np.ones((game.goal, game.goal, 1, 1, game.num_actions), bool)
    table = np.asarray(player)
    if table.ndim == 3 and table.dtype.kind in "iu":
        if table.shape != (game.goal, game.goal, game.memory_size):
            raise ValueError(
                f"delta distribution: rolls have shape {table.shape}; allowed: "
                f"{(game.goal, game.goal, game.memory_size)}"
            )
        records = diagonals_of(game).records
        rolls = table.reshape(game.goal, game.goal, records, records, 1)
        return np.asarray(rolls == np.arange(game.num_actions))
    return np.asarray(policy_of(game, table) > 0.0)[:, :, None, None, :]


def _spread(turns: Diagonals, own: Ints, opponent: Ints, made: Counts, after: Counts) -> None:
    """Add what the rolls of a diagonal's cells, (2, n, W, 2 * K), lead to, to the afterstates."""
    rolled = turns.rolled[own[0] + opponent[0]]
    outcomes = made @ (rolled.chance > 0.0).astype(np.float32)
    reached = own[:, None] + rolled.gain
    cell, way = np.nonzero(reached < turns.goal)
    # Two outcomes of one cell differ in gain or in record, so no cell is added to twice.
    index = reached[cell, way], opponent[cell], rolled.recorded[way]
    after[index] += outcomes[:, cell, :, way]
    for extra in (0, 1):
        scored = own + turns.zero[own, opponent] + extra * turns.bonus
        inside = scored < turns.goal
        recorded = turns.zero_record[own, opponent]
        after[scored[inside], opponent[inside], recorded[inside]] += made[
            :, inside, :, extra * turns.num_actions
        ]


def own_entries(
    game: "HogEngine",
    strategy: ArrayLike,
    against: ArrayLike | None = None,
) -> Counts:
    """Count the ways into every memory state of one player's turns."""
    first = entries(game, strategy, against)
    if against is not None:
        first[1] = entries(game, against, strategy)[1]
    return first


def exact_distribution(game: "HogEngine", strategy: ArrayLike, tremble: float = 0.0) -> Floats:
    """Exact distribution of the memory in self-play, which counting estimates."""
    from hogeq.evaluation.hidden import reach

    weights = reach(game, trembling(game, strategy, tremble))
    return over_seats(weights[None])


def trembling(game: "HogEngine", strategy: ArrayLike, epsilon: float) -> Policy:
    """Strategy that errs: with probability `epsilon`, a uniformly random number of dice.

    The response that ``attack(game, trembling(game, s, epsilon))`` finds is a perturbed best
    response to `s`: chosen at every cell to which an error can lead.
    """
    check(Share, epsilon=epsilon)
    return (1.0 - epsilon) * policy_of(game, strategy) + epsilon / game.num_actions


def over_seats(weights: ArrayLike) -> Floats:
    """Distribution of the memory, averaged over the two seats.

    The mean of the two seats' distributions, since a strategy does not see its seat; where one seat
    has no weight, the other's alone, as in Huan (2020) [1]. A seat is 0 for who moved first in the
    game and 1 for the other.

    Weights (2, ..., H) are those of each memory by seat, not negative. The result, (..., H), sums
    to 1, or to 0 where no seat has weight.
    """
    table = np.asarray(weights, np.float64)
    sums = table.sum(axis=-1, keepdims=True)
    shares = np.divide(table, sums, out=np.zeros_like(table), where=sums > 0.0)
    seats = np.maximum((sums > 0.0).sum(axis=0), 1)
    return np.asarray(shares.sum(axis=0) / seats)
