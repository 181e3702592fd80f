"""One strategy seen from inside, for the report: computed exactly."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.evaluation.values import fold, reach
from hogeq.model.game import HogEngine
from hogeq.search.attack import SearchBudget, SearchResult, attack
from hogeq.search.bounds import full_memory_bound
from hogeq.search.population import Gains, gains
from hogeq.strategies.strategy import policy_of
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.progress import tell_steps

REGIONS = 10
"""Most regions along either score."""


class Counter(NamedTuple):
    """The counter-matrix found, and the gain of its cells and regions."""

    search: SearchResult
    """With its matrix, exact win rate and bound: that of the responder with full memory."""
    cells: Gains
    regions: Floats
    """(R, R). The same for all cells of a region at once."""


@dataclass(frozen=True)
class Explored:
    """A strategy seen from inside, when both players play it."""

    policy: Floats
    """(G, G, K)."""
    values: Floats
    """(G, G, K). Win probability of every roll of the player to move, averaged over the belief; NaN
    at positions that play never comes to, which have none."""
    reach: Floats
    """(G, G). Probability of coming to move there."""
    belief: Floats
    """(G, G, rows, columns). Distribution of the memory along `hogeq.rules.memory.axes`; 0 where
    play never comes."""
    counter: Counter


def explore(game: HogEngine, strategy: ArrayLike, budget: SearchBudget) -> Explored:
    """Compute values, reach, beliefs and the counter-matrix of a strategy."""
    policy = policy_of(game, strategy)
    valued = counterfactual_values(game.workspace(1), policy[None], "belief")
    masses = fold(game.rules, reach(game, policy))
    total = masses.sum(axis=(2, 3))
    reached = total > 0.0
    belief = np.divide(
        masses,
        total[..., None, None],
        out=np.zeros_like(masses),
        where=reached[..., None, None],
    )
    return Explored(
        policy=policy,
        values=np.where(reached[..., None], valued.values, np.nan),
        reach=total,
        belief=belief,
        counter=_counter(game, policy, budget),
    )


def region_size(goal: int) -> int:
    """Points that a region spans in either score: 10, more where there would be too many."""
    return max(10, -(-goal // REGIONS))


def region_gains(game: HogEngine, matrix: Matrix, usual: Matrix, policy: Floats) -> Floats:
    """Win rate that a matrix loses against a policy by rolling the usual dice in a whole region.

    Gains of cells do not add up; those of a region are evaluated together, and so are exact.
    """
    work = game.workspace(2)
    rows, usual_rows = policy_of(game, matrix), policy_of(game, usual)
    policies = np.stack([rows, policy])
    whole = work.win_rate(policies).win_rate
    size = region_size(game.goal)
    starts = range(0, game.goal, size)
    lost = np.zeros((len(starts), len(starts)))
    for row, own in enumerate(tell_steps("gains of regions", starts)):
        for column, other in enumerate(starts):
            at = slice(own, own + size), slice(other, other + size)
            if (matrix[at] == usual[at]).all():
                continue
            policies[0][at] = usual_rows[at]
            lost[row, column] = whole - work.win_rate(policies).win_rate
            policies[0][at] = rows[at]
    return lost


def _counter(game: HogEngine, policy: Floats, budget: SearchBudget) -> Counter:
    search = attack(game, policy, budget)
    cells = gains(game, search.matrix, policy)
    return Counter(
        replace(search, bound=full_memory_bound(game, policy)),
        cells,
        region_gains(game, search.matrix, cells.usual, policy),
    )
