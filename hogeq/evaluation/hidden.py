"""Values, reach probabilities and beliefs, by hidden state (`HogEngine.memories`)."""

import numpy as np
from numpy.typing import ArrayLike

from hogeq.model.game import HogEngine
from hogeq.model.workspace import Workspace
from hogeq.rules import Rules
from hogeq.rules.memory import memory_sizes, states
from hogeq.strategies.strategy import StrategyLike, check_game, policies_of
from hogeq.support.aliases import Floats
from hogeq.support.messages import refusal


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
