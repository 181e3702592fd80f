"""Exact values: win rates, values, reach probabilities and beliefs; sums, never a sample.

Hidden states are in the order of `HogEngine.memories`.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.model.game import HogEngine
from hogeq.model.many import shared_duels, shared_workspace
from hogeq.model.workspace import EndlessError, WinRate, Workspace, endless_position
from hogeq.rules import Rules
from hogeq.rules.memory import Memory, memory_sizes, states
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import StrategyLike, check_game, policies_of, strategy_of, table_of
from hogeq.support.aliases import Floats
from hogeq.support.messages import refusal


def win_rate(
    game: HogEngine,
    a: StrategyLike,
    b: StrategyLike,
    *,
    endless_is_draw: bool = False,
    start: tuple[int, int] = (0, 0),
) -> WinRate:
    """Exact win rate of strategy `a` against strategy `b`; each mixture is drawn for itself.

    A game begins with `start`: the score of the player who moves first, and that of the other.

    An `EndlessError` if a game between the two may never end, unless that counts as half a win, as
    in the tablebase and where a game begins with other scores than 0.
    """
    check_position(game, *start)
    check_position(game, *start[::-1])  # each may be the one who moves first
    one, two = strategy_of(game, a), strategy_of(game, b)

    def of_tables(mine: NDArray[Any], theirs: NDArray[Any]) -> WinRate:
        if start == (0, 0):
            return _of_tables(game, mine, theirs, endless_is_draw)
        return _from_scores(game, mine, theirs, start)

    if len(one.chances) == len(two.chances) == 1:
        return of_tables(one.drawn()[0][1], two.drawn()[0][1])
    return mean_win_rate(
        (weight * other, of_tables(mine, theirs))
        for weight, mine in one.drawn()
        for other, theirs in two.drawn()
    )


def mean_win_rate(found: Iterable[tuple[float, WinRate]]) -> WinRate:
    """Mean of win rates, each with its probability."""
    every = list(found)
    shares = np.array([share for share, _ in every])
    columns = np.array([rate for _, rate in every]).T.copy()
    return WinRate(*(float(np.dot(shares, column)) for column in columns))


def _of_tables(game: HogEngine, a: NDArray[Any], b: NDArray[Any], endless_is_draw: bool) -> WinRate:
    duels = shared_duels(game) if a.ndim == b.ndim == len(game.shape) - 1 else None
    if duels is not None:
        return duels.win_rate(np.stack([a, b]).astype(np.int64))
    policies = np.stack(
        [one_hot(one, game.num_actions) if one.ndim == 2 else one for one in (a, b)]
    )
    work = shared_workspace(game, 2)
    found = None if endless_is_draw else endless_position(work, policies)
    if found is not None:
        raise EndlessError(
            f"win rate: a game between the two may never end: at {found[0]} to {found[1]} and "
            "from there on both leave the scores as they are; allowed: strategies whose games end"
        )
    return work.win_rate(policies)


def _from_scores(
    game: HogEngine, a: NDArray[Any], b: NDArray[Any], start: tuple[int, int]
) -> WinRate:
    """Win rate of games that begin with some scores, and nothing to remember."""
    work, policies = shared_workspace(game, 2), policies_of(game, a, b)
    work.backward(policies, keep=True)
    nothing = game.memories.index(Memory())
    rolls = (work.hidden_values(*start, player)[nothing] for player in (0, 1))
    first, other = (np.dot(one, policy[start]) for one, policy in zip(rolls, policies, strict=True))
    return WinRate.from_starts(float(first), float(other))


def remembering_win_rate(game: HogEngine, rolls: NDArray[Any], strategy: StrategyLike) -> WinRate:
    """Exact win rate of a player who knows the hidden memory against one who does not.

    Rolls are whole numbers (G, G, H), dice by own score, opponent's score and memory
    (`HogEngine.memories`); the strategy is a matrix or a policy. A `ValueError` if positions of a
    game with hidden memory can recur.
    """
    if game.has_memory and game.positions_recur:
        raise ValueError(
            f"rules {game.rules.name}: positions can recur and rolls depend on hidden memory; "
            "allowed: rules of which only one is true"
        )
    other = table_of(game, strategy)
    if not game.has_memory:
        return win_rate(game, rolls[:, :, 0], other)
    policy = other.policy

    def memory_values(player: int, own: int, opponent: int, found: Floats) -> Floats:
        if player == 1:
            return found @ policy[own, opponent]
        chosen = rolls[own, opponent].astype(np.int64)[:, None]
        return np.take_along_axis(found, chosen, axis=1)[:, 0]

    return WinRate.from_starts(*game.workspace(2).backward_by(memory_values))


# --- by hidden state ------------------------------------------------------------------------------


def values(game: HogEngine, a: StrategyLike, b: StrategyLike | None = None) -> Floats:
    """Win probability of the player to move in every hidden state, (G, G, H)."""
    policies, work = _played(game, a, b)
    each = np.zeros((game.goal, game.goal, game.memory_size))
    for own, opponent in np.ndindex(each.shape[:2]):
        each[own, opponent] = work.hidden_values(own, opponent) @ policies[0, own, opponent]
    return each


def mean_values(game: HogEngine, a: StrategyLike, b: StrategyLike | None = None) -> Floats:
    """Win probability of the player to move, averaged over the belief, (G, G).

    In games with a hidden memory NaN where play never comes.
    """
    by_memory = values(game, a, b)
    if not game.has_memory:
        return by_memory[:, :, 0]
    weights = reach(game, a, b)
    totals = weights.sum(axis=2)
    average = np.full(totals.shape, np.nan)
    np.divide((by_memory * weights).sum(axis=2), totals, out=average, where=totals > 0.0)
    return average


def hidden_action_values(
    game: HogEngine,
    a: StrategyLike,
    b: StrategyLike | None = None,
    cells: list[tuple[int, int]] | None = None,
) -> Floats:
    """Win probability of every roll in every hidden state, (len(cells), H, K).

    Cells are pairs of own and opponent's score, by default all, row by row.
    """
    _, work = _played(game, a, b)
    wanted = list(np.ndindex(game.goal, game.goal)) if cells is None else cells
    return np.stack([work.hidden_values(*cell) for cell in wanted])


def reach(game: HogEngine, a: StrategyLike, b: StrategyLike | None = None) -> Floats:
    """Probability of reaching every hidden state with the player of `a` to move, (G, G, H).

    A fair coin says who starts. The sum is the expected number of turns of that player, and where
    positions recur a value is an expected number of visits. Play that can never end is followed to
    where that is certain, and no further.
    """
    policies = policies_of(game, a, a if b is None else b)
    work = game.workspace(2)
    work.forward(policies, keep=True)
    return work.hidden_reach()


def belief(
    game: HogEngine, a: StrategyLike, b: StrategyLike | None, score: int, opponent: int
) -> Floats | None:
    """Distribution of the hidden memory at a position, (H,); None if play never gets there."""
    check_position(game, score, opponent)
    weights = reach(game, a, b)[score, opponent]
    total = weights.sum()
    return None if total <= 0.0 else weights / total


def fold(rules: Rules, shares: ArrayLike) -> Floats:
    """Lay a distribution over the memory out along the axes of `hogeq.rules.memory.axes`.

    Shares are (..., H), the table (..., rows, columns). Parts of the memory that have no axis are
    summed over.
    """
    turns, extras, records = memory_sizes(rules)
    table = np.asarray(shares, np.float64)
    parts = table.reshape(*table.shape[:-1], states(rules), turns, extras, records, records)
    if records > 1:
        return parts.sum(axis=(-5, -4, -3))
    whole = parts[..., 0, 0]  # state, turn, extra turn
    if rules.memory == "none":
        return whole[..., 0, :, :]
    return whole.sum(axis=-1 if turns > 1 else -2)


def total_variation(one: ArrayLike, other: ArrayLike) -> Floats:
    """Total variation distance of two distributions: half the summed absolute differences."""
    gap = np.asarray(one, np.float64) - np.asarray(other, np.float64)
    return np.asarray(np.abs(gap).sum(axis=-1) / 2.0)


def check_position(game: HogEngine, score: int, opponent: int) -> None:
    """Refuse scores at which nobody is to move, with a `ValueError`; -1 is not the last one."""
    check_game(game)
    given = ("score", "opponent"), (score, opponent), game.rules.goals
    for name, points, goal in zip(*given, strict=True):
        whole = isinstance(points, int | np.integer) and not isinstance(points, bool)
        if not (whole and 0 <= points < goal):
            raise ValueError(refusal(name, points, f"whole numbers from 0 to {goal - 1}"))


def _played(game: HogEngine, a: StrategyLike, b: StrategyLike | None) -> tuple[Floats, Workspace]:
    """Policies (1 or 2, G, G, K), and a workspace after their pass backward."""
    policies = policies_of(game, a) if b is None else policies_of(game, a, b)
    work = game.workspace(len(policies))
    work.backward(policies, keep=True)
    return policies, work
