"""Rebuild the strategy of the second place of summer 2020, the baseline `huan2020`.

    python experiments/second_place.py

Huan (2020) [1] guesses: a memory is as likely as the number of turns' outcomes that lead to it, the
delta distribution. That is its author's report, with the code; docs/huan2020.md lists what it
leaves open, and which choices come closest to the published results. The table goes into
results/champions/su20/huan2020.csv.

Sizes: G goal, K actions, W records of one turn, H = W * W memories (own record, opponent's record).
A *seat* is 0 for the player who moved first in the game and 1 for the other.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from common import arguments
from numpy.typing import ArrayLike, NDArray

from hogeq.evaluation.tablebase import solve
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.rows import TIE
from hogeq.rules import Rules, rules_from
from hogeq.rules.memory import Memory, memory_sizes
from hogeq.rules.rules import Throw
from hogeq.rules.turn import TurnTable, effect, land, throw_of
from hogeq.strategies.conversion import policy_of, strategy_of_shape
from hogeq.support.aliases import Floats, Ints, Matrix
from hogeq.support.messages import HogeqError
from hogeq.support.parameters import Share, check

# The report's comparison plays both seats, and so walks the same game twice when a strategy plays
# itself: its counts, measured against the default weight, are twice the ways into a state.
WALKS = 2.0
UNCOUNTED = 0.25  # weight in the report of a memory state that was never counted

Counts = NDArray[np.float32]


# --- turns by the sum of the scores ---------------------------------------------------------------


class RolledColumns(NamedTuple):
    """Results of one kind of dice: distinct pairs of gain (bonus added) and record, in columns."""

    gain: Ints
    recorded: Ints
    chance: Floats  # (2 * K, m) probability, by bonus (no, yes) and roll; 0 for no dice


class TurnsBySum:
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
        free = [[turns.branch_of_no_dice(own, opponent) for opponent in scores] for own in scores]
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


def turns_by_sum(game: HogEngine) -> TurnsBySum:
    """Make the turns of a game by the sum of the scores, once."""
    rules = game.rules
    turns, extras, _ = memory_sizes(rules)
    is_countable = (rules.memory, rules.effect, turns, extras) == ("none", "none", 1, 1)
    has_other_turns = rules.gives_extra_turns or rules.forty_niners or rules.piggy_back
    if not is_countable or has_other_turns or game.positions_recur:
        raise HogeqError(
            f"delta distribution: got rules {rules.name}; allowed: rules whose only memory is that "
            "of Feral Hogs and whose every turn scores, without extra turns, 49ers and effects"
        )
    return _kept_turns(rules)


@lru_cache(maxsize=4)
def _kept_turns(rules: Rules) -> TurnsBySum:
    return TurnsBySum(rules)


def over_seats(weights: ArrayLike) -> Floats:
    """Distribution of the memory, (..., H), averaged over the seats that have weight: (2, ..., H).

    A strategy does not see its seat. Where no seat has weight, the result is 0.
    """
    table = np.asarray(weights, np.float64)
    sums = table.sum(axis=-1, keepdims=True)
    shares = np.divide(table, sums, out=np.zeros_like(table), where=sums > 0.0)
    seats = np.maximum((sums > 0.0).sum(axis=0), 1)
    return np.asarray(shares.sum(axis=0) / seats)


def respond_to_beliefs(game: HogEngine, beliefs: ArrayLike, epsilon: float = 0.0) -> Matrix:
    """Matrix that is optimal if the memory is always distributed as believed.

    Neither player knows more than the belief, and the opponent errs: with probability `epsilon`,
    a uniformly random number of dice (Huan 2020 [1], "Error Modeling").
    """
    turns = turns_by_sum(game)
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


def _roll_values(turns: TurnsBySum, total: int, worth: Floats) -> tuple[Floats, Floats]:
    """Values of the rolls of a diagonal, (n, K) each: without the bonus, and with it."""
    own, opponent = turns.cells(total)
    rolled = turns.rolled[total]
    values = worth[own[:, None] + rolled.gain, opponent[:, None]] @ rolled.chance.T
    plain, fed = values[:, : turns.num_actions], values[:, turns.num_actions :]
    scored = own + turns.zero[own, opponent]
    plain[:, 0] = worth[scored, opponent]
    fed[:, 0] = worth[scored + turns.bonus, opponent]
    return plain, fed


# --- the counts -----------------------------------------------------------------------------------


def entries(game: HogEngine, player: ArrayLike | None = None) -> Counts:
    """Count the ways into every memory state in self-play, or in any play, (2, G, G, H).

    A way in is one outcome of one roll, made in one memory state that play can reach, however
    small its probability. The memory before the first turn is entered once.
    """
    turns = turns_by_sum(game)
    plays = _plays(game, player)
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
        for seat in (0, 1):
            rolled = met[:, seat, ..., None] & plays[own, opponent]  # cell, own, opponent's, roll
            every = rolled.sum(axis=1, dtype=np.float32)
            with_bonus = (rolled & turns.fires[:, None]).sum(axis=1, dtype=np.float32)
            made[seat, ..., num_actions:] = with_bonus
            made[seat, ..., :num_actions] = every - with_bonus
        _spread(turns, own, opponent, made, after)
    return np.ascontiguousarray(
        counts.reshape(goal, goal, 2, records * records).transpose(2, 0, 1, 3)
    )


def _plays(game: HogEngine, player: ArrayLike | None) -> NDArray[np.bool_]:
    """Tabulate the rolls that a player makes, (G, G, W or 1, W or 1, K)."""
    if player is None:
        return np.ones((game.goal, game.goal, 1, 1, game.num_actions), bool)
    table = np.asarray(player)
    if table.ndim == 3 and table.dtype.kind in "iu":  # of a player who remembers
        records = turns_by_sum(game).records
        rolls = table.reshape(game.goal, game.goal, records, records, 1)
        return np.asarray(rolls == np.arange(game.num_actions))
    return np.asarray(policy_of(game, table) > 0.0)[:, :, None, None, :]


def _spread(turns: TurnsBySum, own: Ints, opponent: Ints, made: Counts, after: Counts) -> None:
    """Add the outcomes of the rolls of a diagonal's cells, (2, n, W, 2 * K), to the afterstates."""
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


def weights(possible: Counts, perfect: Counts, own: Counts | None, default: float) -> Floats:
    """Weight of every memory state, as Huan (2020) [1] looks it up.

    Its count in perfect play; where that is 0, its count in a strategy's play against itself;
    where that is 0 too, the default; and nothing where no play leads.
    """
    backup = np.full(perfect.shape, default, np.float64)
    if own is not None:
        np.copyto(backup, own, where=own > 0)
    np.copyto(backup, perfect, where=perfect > 0)
    backup[possible == 0] = 0.0
    return backup


def huan2020(
    game: HogEngine,
    *,
    weight: float = UNCOUNTED,
    epsilon: float = 0.01,
    rounds: int = 1,
    draft_weight: float = 1.0,
) -> Matrix:
    """Matrix of the method of Huan (2020) [1], in full.

    A draft guesses the memory by the counts of perfect play alone. Then, `rounds` times, the
    matrix plays itself, those counts fill the gaps, and a new matrix is made.
    """
    counts = entries(game), WALKS * entries(game, solve(game).rolls)
    beliefs = over_seats(weights(*counts, None, draft_weight))
    matrix = respond_to_beliefs(game, beliefs, epsilon)
    for _ in range(rounds):
        own = WALKS * entries(game, matrix)
        beliefs = over_seats(weights(*counts, own, weight))
        matrix = respond_to_beliefs(game, beliefs, epsilon)
    return matrix


def main() -> None:
    """Write the table."""
    given = arguments(__doc__)
    matrix = huan2020(compile_game(rules_from("su20")))
    strategy_of_shape(None, matrix).write(given.out / "champions" / "su20" / "huan2020.csv")


if __name__ == "__main__":
    main()
