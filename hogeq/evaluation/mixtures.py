"""Mixtures: what a position tells about the component drawn, and the policy that hides it.

Whoever plays a mixture knows what was drawn; nobody else does. The draw is hidden as the memory is,
and like it, it is the less so, the more has been seen.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hogeq.evaluation.values import check_position, reach
from hogeq.model.game import HogEngine
from hogeq.model.many import shared_workspace
from hogeq.model.protocol import Engine
from hogeq.strategies.arrays import normalised
from hogeq.strategies.strategy import Strategy, StrategyLike, strategy_of
from hogeq.support.aliases import Floats


@dataclass(frozen=True, eq=False)
class ComponentsAt:
    """What was drawn, given that a position is reached.

    Attributes
    ----------
    reach : float
        Probability of coming to move there in a game; the expected number of visits where positions
        recur.
    own : float64 (n,)
        Probability that each component of the player to move was drawn; one, if it is no mixture.
    other : float64 (m,)
        The same of the other player.
    memory : float64 (H,)
        Distribution of the hidden memory.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> one, four = (game.strategy(f"always_roll:{dice}") for dice in (1, 4))
    >>> drawn = hogeq.Mixture([0.5, 0.5], [one, four])
    >>> game.components_at(16, 4, drawn, one).own.round(3).tolist()  # well ahead: four dice
    [0.078, 0.922]
    """

    reach: float
    own: Floats
    other: Floats
    memory: Floats


def components_at(
    game: HogEngine,
    strategy: StrategyLike,
    score: int,
    opponent: int,
    against: StrategyLike | None = None,
) -> ComponentsAt | None:
    """Distribution of what was drawn, given that a position is reached; None if it never is.

    By Bayes' rule: a component's weight times its probability of coming to the position, over the
    sum. What a player who sees the scores alone can know; one who saw the whole game knows more.
    Without `against` the other plays the same, drawn apart.
    """
    check_position(game, score, opponent)
    one = strategy_of(game, strategy)
    two = one if against is None else strategy_of(game, against)
    parts = [[strategy_of(game, part) for part in each.components] for each in (one, two)]
    weights = np.zeros((len(one.weights), len(two.weights), game.memory_size))
    for row, column in np.argwhere(np.multiply.outer(one.weights, two.weights)).tolist():
        met = reach(game, parts[0][row], parts[1][column])[score, opponent]
        weights[row, column] = one.weights[row] * two.weights[column] * met
    total = float(weights.sum())
    if total <= 0.0:
        return None
    shares = weights / total
    return ComponentsAt(
        total, shares.sum(axis=(1, 2)), shares.sum(axis=(0, 2)), shares.sum(axis=(0, 1))
    )


def policy_of_mixture(game: Engine, weights: Floats, components: Floats) -> Floats:
    """Policy (G, G, K) of a mixture: in every cell its components, weighted by their reach.

    Under perfect recall it plays as the mixture does (Kuhn 1953, "Extensive games and the problem
    of information"); under imperfect recall it is another strategy. Cells that no component reaches
    have their mean. What reaches a cell depends on the opponent too: that is their mean.
    """
    mean = normalised(np.tensordot(weights, components, 1))
    work = shared_workspace(game, 2)
    total = np.zeros(game.shape)
    for weight, component in zip(weights, components, strict=True):
        if weight > 0.0:
            reached = work.cell_reach(np.stack([component, mean]))[..., None]
            total += weight * reached * component
    return normalised(total, mean)


class Spread(NamedTuple):
    """Entropy of the next roll at every position, in bits, and how much of it the draw decides."""

    mean: Floats
    """(G, G, K), probability of every roll, components weighted as they are drawn."""
    total: Floats
    """(G, G), entropy of the roll for a player who knows neither the draw nor the game so far."""
    drawn: Floats
    """(G, G), mutual information of draw and roll: the Jensen-Shannon divergence of the components'
    rows. 0 where all components play alike."""


def spread(strategy: Strategy) -> Spread:
    """Split the entropy of each roll between the draw before the game and the roll itself."""
    mean = strategy.mean
    within = np.tensordot(strategy.chances, entropy(strategy.policies), axes=1)
    total = entropy(mean)
    return Spread(mean, total, np.maximum(total - within, 0.0))


def entropy(rows: Floats) -> Floats:
    """Entropy in bits of distributions along the last axis."""
    logs = np.log2(rows, out=np.zeros_like(rows), where=rows > 0.0)
    return np.asarray(-np.einsum("...k,...k->...", rows, logs))
