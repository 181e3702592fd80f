"""Dynamic programming over scores with a guess of the hidden memory: the delta distribution.

A strategy sees the scores and not the points of the last turns, on which Feral Hogs depends.  Seed
000 ("Constructing a Delta Distribution", "The Final Strategy") guesses: a memory is as likely as
the number of turns' outcomes that lead to it.  With such a guess every roll earns the bonus with a
known probability, and backward induction over the scores gives a matrix.

Sizes: G goal, K rolls, W records of one turn, H = W * W memories (own record, opponent's record).
A *seat* is 0 for who moved first in the game and 1 for the other.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.rules import Rules
from hogeq.rules.turn import (
    Memory,
    bonus,
    dice_sides,
    land,
    memory_sizes,
    points_distribution,
    record,
    zero_points,
)
from hogeq.strategies.arrays import as_policy, check_matrix, check_policy
from hogeq.support.aliases import Floats, Ints, Matrix, Policy
from hogeq.support.limits import check_number

if TYPE_CHECKING:
    from hogeq.model.game import Game

Counts = NDArray[np.float32]


# --- the game, a diagonal at a time ---------------------------------------------------------------


class _Rolled(NamedTuple):
    """What rolling one kind of dice can leave: distinct pairs of gain and record, in columns."""

    gain: Ints
    """(m,) points, the bonus added."""
    recorded: Ints
    """(m,)"""
    chance: Floats
    """(2 * K, m) probability, by bonus (no, yes) and roll; none for no dice."""


class _Board:
    """Turns of one game, tabulated by the scores they start from and leave.

    A turn raises the sum of the scores, so the cells of one sum (a diagonal) can be done at once.
    An *afterstate* (t, u) is the mover's score with points and bonus, and the opponent's.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.goal, self.rolls = rules.goal, rules.max_dice + 1
        self.records = memory_sizes(rules)[2]
        added = np.array(
            [
                [bonus(rules, Memory(own=own), roll) for roll in range(self.rolls)]
                for own in range(self.records)
            ]
        )
        self.fires = added > 0  # (W, K)
        self.bonus = int(added.max())
        self.zero = np.array([zero_points(rules, opponent) for opponent in range(self.goal)])
        self.zero_record = np.array([record(rules, 0, points) for points in self.zero.tolist()])
        sides = [dice_sides(rules, total, 0, Memory()) for total in range(2 * self.goal - 1)]
        kinds = {kind: self._rolled(kind) for kind in dict.fromkeys(sides)}
        self.rolled = [kinds[kind] for kind in sides]  # Hog Wild depends on the sum alone
        self._land()

    def _rolled(self, sides: int) -> _Rolled:
        columns: dict[tuple[int, int], int] = {}
        found: list[tuple[int, int, float]] = []
        for extra in (0, 1):
            for roll in range(1, self.rolls):
                for points, chance in points_distribution(self.rules, roll, sides).items():
                    key = points + extra * self.bonus, record(self.rules, roll, points)
                    column = columns.setdefault(key, len(columns))
                    found.append((extra * self.rolls + roll, column, float(chance)))
        chances = np.zeros((2 * self.rolls, len(columns)))
        for row, column, share in found:
            chances[row, column] = share
        gain, recorded = np.array(list(columns), np.int64).T
        return _Rolled(gain, recorded, chances)

    def _land(self) -> None:
        """Tabulate what afterstates come to, and those that stay open by the cell they reach."""
        most = max(int(rolled.gain.max()) for rolled in self.rolled)
        top = self.goal + max(most, int(self.zero.max()) + self.bonus)
        self.won = np.zeros((top, self.goal))  # 1 if the mover has won
        rows = []
        for own in range(top):
            for opponent in range(self.goal):
                landing = land(self.rules, own, opponent)
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


@lru_cache(maxsize=4)
def _board_of(rules: Rules) -> _Board:
    return _Board(rules)


def countable(game: "Game") -> bool:
    """Whether counting is for this game: turns alternate, and all of them score."""
    try:
        _board(game)
    except ValueError:
        return False
    return True


def _board(game: "Game") -> _Board:
    rules = game.rules
    turns, extras, _ = memory_sizes(rules)
    if turns > 1 or extras > 1 or rules.gives_extra_turns:
        raise ValueError(
            f"delta distribution: rules {rules.name} give extra turns, allowed are rules whose "
            "turns alternate and whose only memory is that of Feral Hogs"
        )
    if rules.piggy_back or game.positions_recur:
        raise ValueError(
            f"delta distribution: a turn can score 0 by rules {rules.name}, allowed are rules "
            "under which every turn scores"
        )
    return _board_of(rules)


# --- counting -------------------------------------------------------------------------------------


def entries(
    game: "Game", first: ArrayLike | None = None, second: ArrayLike | None = None
) -> Counts:
    """Count the ways into every memory state.

    A way in is one outcome of one roll, made in one memory state that play can come to; how
    probable it is does not matter. The memory before the first turn is entered once. Seed 000
    counts so by counting the calls of a recursion that remembers its results: each state is
    expanded once, and called once for each of its predecessors' outcomes.

    Parameters
    ----------
    game : Game
    first, second : array_like, optional
        Who moves first and who moves second: a matrix (G, G); a policy (G, G, K), of which every
        roll of positive probability is made; whole numbers (G, G, H), the rolls of a player who
        remembers; or None, who makes every roll. `second` is `first` if not given.

    Returns
    -------
    float32 (2, G, G, H)
        By seat of the player to move. Whole numbers; 0 where play never comes.

    Raises
    ------
    ValueError
        If a player is malformed, or the game has other memory than Feral Hogs', extra turns, or
        turns that score nothing.
    """
    board = _board(game)
    players = [_plays(game, first)]
    players.append(players[0] if second is None else _plays(game, second))
    goal, records, rolls = board.goal, board.records, board.rolls
    after = np.zeros((goal, goal, records, 2, records), np.float32)  # t, u, record, seat, lane
    found = np.zeros((goal * goal, 2, records, records), np.float32)  # cell, seat, own, opponent's
    found[0, 0, 0, 0] = 1.0
    for total in range(2 * goal - 1):
        own, opponent = board.cells(total)
        at, other, cell = board.arrivals(total)
        # Whoever moved is now the opponent; what was the opponent's record is the mover's own.
        np.add.at(found, cell, after[at, other].transpose(0, 2, 3, 1)[:, ::-1])
        met = found[own * goal + opponent] > 0.0
        made = np.empty((2, len(own), records, 2 * rolls), np.float32)
        for seat, plays in enumerate(players):
            rolled = met[:, seat, ..., None] & plays[own, opponent]  # cell, own, lane, roll
            every = rolled.sum(axis=1, dtype=np.float32)
            made[seat, ..., rolls:] = (rolled & board.fires[:, None]).sum(axis=1, dtype=np.float32)
            made[seat, ..., :rolls] = every - made[seat, ..., rolls:]
        _spread(board, total, made, after)
    return np.ascontiguousarray(
        found.reshape(goal, goal, 2, records * records).transpose(2, 0, 1, 3)
    )


def _plays(game: "Game", player: ArrayLike | None) -> NDArray[np.bool_]:
    """Tabulate the rolls that a player makes, (G, G, W or 1, W or 1, K)."""
    if player is None:
        return np.ones((game.goal, game.goal, 1, 1, game.num_actions), bool)
    table = np.asarray(player)
    if table.ndim == 3 and table.dtype.kind in "iu":
        if table.shape != (game.goal, game.goal, game.memory_size):
            raise ValueError(
                f"delta distribution: rolls have shape {table.shape}, allowed is "
                f"{(game.goal, game.goal, game.memory_size)}"
            )
        records = _board(game).records
        rolls = table.reshape(game.goal, game.goal, records, records, 1)
        return np.asarray(rolls == np.arange(game.num_actions))
    return np.asarray(policy(game, table) > 0.0)[:, :, None, None, :]


def policy(game: "Game", strategy: ArrayLike) -> Policy:
    """Policy (G, G, K) of a matrix or a policy, validated."""
    table = np.asarray(strategy)
    if table.ndim == 3:
        return check_policy(table, game.goal, game.rules.max_dice)
    return as_policy(check_matrix(table, game.goal, game.rules.max_dice), game.num_actions)


def _spread(board: _Board, total: int, made: Counts, after: Counts) -> None:
    """Add what the rolls of a diagonal, (2, n, W, 2 * K), lead to, to the afterstates."""
    own, opponent = board.cells(total)
    rolled = board.rolled[total]
    outcomes = made @ (rolled.chance > 0.0).astype(np.float32)
    reached = own[:, None] + rolled.gain
    cell, way = np.nonzero(reached < board.goal)
    # Two outcomes of one cell differ in gain or in record, so no place is added to twice.
    place = reached[cell, way], opponent[cell], rolled.recorded[way]
    after[place] += outcomes[:, cell, :, way]
    for extra in (0, 1):
        scored = own + board.zero[opponent] + extra * board.bonus
        inside = scored < board.goal
        other = opponent[inside]
        after[scored[inside], other, board.zero_record[other]] += made[
            :, inside, :, extra * board.rolls
        ]


# --- guesses --------------------------------------------------------------------------------------


def over_seats(weights: ArrayLike) -> Floats:
    """Distribution of the memory from weights that each seat gives it.

    The mean of the two seats' distributions, since a strategy is not told its seat; where one seat
    has no weight at all, the other's alone, as seed 000 has it.

    Parameters
    ----------
    weights : array_like, shape (2, ..., H)
        Not negative.

    Returns
    -------
    float64 (..., H)
        Sums to 1, or to 0 where no seat has weight.
    """
    table = np.asarray(weights, np.float64)
    sums = table.sum(axis=-1, keepdims=True)
    shares = np.divide(table, sums, out=np.zeros_like(table), where=sums > 0.0)
    seats = np.maximum((sums > 0.0).sum(axis=0), 1)
    return np.asarray(shares.sum(axis=0) / seats)


def own_entries(game: "Game", strategy: ArrayLike, against: ArrayLike | None = None) -> Counts:
    """Count the ways into every memory state of one player's turns.

    Parameters
    ----------
    game : Game
    strategy : array_like
        Of the player to move, as in :func:`entries`.
    against : array_like, optional
        Of the other; by default the same.

    Returns
    -------
    float32 (2, G, G, H)
        By the player's seat.

    Raises
    ------
    ValueError
        As :func:`entries`.
    """
    first = entries(game, strategy, against)
    if against is not None:
        first[1] = entries(game, against, strategy)[1]
    return first


def exact(game: "Game", strategy: ArrayLike, tremble: float = 0.0) -> Floats:
    """Distribution of the memory when a strategy plays itself: what counting estimates.

    Parameters
    ----------
    game : Game
    strategy : array_like
        A matrix (G, G) or a policy (G, G, K).
    tremble : float
        Probability, 0 to 1, that a turn rolls any number of dice instead, all alike; if above 0,
        play comes wherever it can.

    Returns
    -------
    float64 (G, G, H)
        Sums to 1, or to 0 where play never comes.

    Raises
    ------
    ValueError
        If the strategy is malformed.
    """
    from hogeq.evaluation.hidden import reach

    masses = reach(game, trembling(game, strategy, tremble))
    return over_seats(masses[None])


def trembling(game: "Game", strategy: ArrayLike, epsilon: float) -> Policy:
    """Strategy that errs: with probability `epsilon`, any number of dice, all alike.

    The strongest response to it that is found, ``attack(game, trembling(game, s, epsilon))``, is
    the perturbed best response to `s`: it is told what to do wherever an error can lead.

    Parameters
    ----------
    game : Game
    strategy : array_like
        A matrix (G, G) or a policy (G, G, K).
    epsilon : float
        0 to 1.

    Returns
    -------
    float64 (G, G, K)

    Raises
    ------
    ValueError
        If the strategy is malformed or `epsilon` out of range.
    """
    check_number("epsilon", epsilon, least=0, most=1)
    return (1.0 - epsilon) * policy(game, strategy) + epsilon / game.num_actions


def total_variation(one: ArrayLike, other: ArrayLike) -> Floats:
    """Half the summed absolute differences of two distributions, over the last axis."""
    gap = np.asarray(one, np.float64) - np.asarray(other, np.float64)
    return np.asarray(np.abs(gap).sum(axis=-1) / 2.0)


# --- the dynamic program --------------------------------------------------------------------------


def respond(game: "Game", beliefs: ArrayLike, epsilon: float = 0.0) -> Matrix:
    """Matrix that is optimal if the memory is always distributed as guessed.

    Backward induction over the scores. Both players know no more than the guess, and the opponent
    errs: with probability `epsilon` a turn of the opponent's rolls any number of dice, all alike
    (seed 000, "Error Modeling").

    Parameters
    ----------
    game : Game
    beliefs : array_like, shape (G, G, H)
        Distribution of the memory at every cell; where it is all 0, no roll earns a bonus.
    epsilon : float
        0 to 1.

    Returns
    -------
    int8 (G, G)
        The fewest dice of those that tie within `hogeq.evaluation.tablebase.TIE`.

    Raises
    ------
    ValueError
        As :func:`entries`; if `beliefs` has another shape; if `epsilon` is out of range.
    """
    from hogeq.evaluation.tablebase import TIE

    board = _board(game)
    check_number("epsilon", epsilon, least=0, most=1)
    shares = np.asarray(beliefs, np.float64)
    shape = (board.goal, board.goal, board.records**2)
    if shares.shape != shape:
        raise ValueError(f"beliefs: shape is {shares.shape}, allowed is {shape}")
    lucky = shares.reshape(*shape[:2], board.records, board.records).sum(axis=3) @ board.fires
    matrix = np.zeros((board.goal, board.goal), np.int8)
    worth = np.stack([board.won, board.won])  # of an afterstate to its mover: me, the opponent
    for total in range(2 * board.goal - 2, -1, -1):
        own, opponent = board.cells(total)
        chance = lucky[own, opponent]
        cells = np.zeros((2, board.goal * board.goal))
        for player in (0, 1):
            plain, fed = _roll_values(board, total, worth[player])
            # A value of a bonus that cannot be earned may be of no position at all.
            value = np.where(chance > 0.0, chance * fed, 0.0)
            value += np.where(chance < 1.0, (1.0 - chance) * plain, 0.0)
            best = value.max(axis=1)
            if player == 0:
                matrix[own, opponent] = (value >= best[:, None] - TIE).argmax(axis=1)
            else:
                best = (1.0 - epsilon) * best + epsilon * value.mean(axis=1)
            cells[player, own * board.goal + opponent] = best
        at, other, cell = board.arrivals(total)
        worth[:, at, other] = 1.0 - cells[::-1, cell]
    return matrix


def _roll_values(board: _Board, total: int, worth: Floats) -> tuple[Floats, Floats]:
    """Values of the rolls of a diagonal, (n, K) each: without the bonus, and with it."""
    own, opponent = board.cells(total)
    rolled = board.rolled[total]
    values = worth[own[:, None] + rolled.gain, opponent[:, None]] @ rolled.chance.T
    plain, fed = values[:, : board.rolls], values[:, board.rolls :]
    scored = own + board.zero[opponent]
    plain[:, 0] = worth[scored, opponent]
    fed[:, 0] = worth[scored + board.bonus, opponent]
    return plain, fed
