"""Mixtures: what a position tells about the part that was drawn, and the policy that hides it.

Whoever plays a mixture knows what was drawn; nobody else does. The draw is hidden as the memory is,
and like it, it is the less so, the more has been seen.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hogeq.evaluation.hidden import check_position, reach
from hogeq.evaluation.win_rates import checked
from hogeq.model.game import HogEngine
from hogeq.model.shared import shared_workspace
from hogeq.strategies.mixtures import Mixture, parts_of
from hogeq.strategies.rows import normalised
from hogeq.support.aliases import Floats


@dataclass(frozen=True, eq=False)
class PartsAt:
    """What was drawn, given that a position is reached.

    Attributes
    ----------
    reach : float
        Probability of coming to move there in a game; the expected number of visits where positions
        recur.
    own : float64 (n,)
        Probability that each part of the player to move was drawn; one part, if it is no mixture.
    other : float64 (m,)
        The same of the other player.
    memory : float64 (H,)
        Distribution of the hidden memory.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> game = hogeq.compile_game(rules)
    >>> three = hogeq.builtin("always_roll:3", game)
    >>> at = hogeq.parts_at(game, three, 9, 9)
    >>> at.own.tolist(), round(float(at.memory.sum()), 12)  # no mixture: one part
    ([1.0], 1.0)
    """

    reach: float
    own: Floats
    other: Floats
    memory: Floats


def parts_at(
    game: HogEngine,
    strategy: ArrayLike | Mixture,
    score: int,
    opponent: int,
    against: ArrayLike | Mixture | None = None,
) -> PartsAt | None:
    """Distribution of what was drawn, given that a position is reached.

    By Bayes' rule: a part's weight times its probability of coming to the position, over the sum.
    What a player who sees the scores alone can know; one who saw the whole game knows more.

    Parameters
    ----------
    game : HogEngine
    strategy : array_like or Mixture
        Of the player to move: a matrix (G, G), a policy (G, G, K), or a mixture of such.
    score, opponent : int
        Scores of the player to move and of the other.
    against : array_like or Mixture, optional
        The other's strategy; by default the same, drawn apart.

    Returns
    -------
    PartsAt or None
        None if play never gets there.

    Raises
    ------
    StrategyError
        If a strategy is malformed.
    ValueError
        If a score is not from 0 to the goal less 1.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> game = hogeq.compile_game(rules)
    >>> one, four = (hogeq.builtin(f"always_roll:{dice}", game) for dice in (1, 4))
    >>> drawn = hogeq.Mixture([0.5, 0.5], [one, four])
    >>> hogeq.parts_at(game, drawn, 16, 4, one).own.round(3).tolist()  # well ahead: four dice
    [0.078, 0.922]
    """
    check_position(game, score, opponent)
    one = checked(game, strategy)
    two = one if against is None else checked(game, against)
    mine = one.weights if isinstance(one, Mixture) else np.ones(1)
    theirs = two.weights if isinstance(two, Mixture) else np.ones(1)
    weights = np.zeros((len(mine), len(theirs), game.memory_size))
    played = zip(np.flatnonzero(mine), parts_of(one), strict=True)
    for row, (weight, part) in played:
        for column, (chance, rival) in zip(np.flatnonzero(theirs), parts_of(two), strict=True):
            found = reach(game, part, rival)[score, opponent]
            weights[row, column] = weight * chance * found
    total = float(weights.sum())
    if total <= 0.0:
        return None
    shares = weights / total
    return PartsAt(total, shares.sum(axis=(1, 2)), shares.sum(axis=(0, 2)), shares.sum(axis=(0, 1)))


def policy_of_mixture(game: HogEngine, weights: Floats, parts: Floats) -> Floats:
    """Policy (G, G, K) of a mixture: in every cell its parts, weighted by their reach.

    Under perfect recall it plays as the mixture does (Kuhn 1953, "Extensive games and the problem
    of information"); under imperfect recall it is another strategy. Cells that no part reaches have
    the mean of the parts.

    Parameters
    ----------
    game : HogEngine
    weights : float64 (n,)
        Of the parts.
    parts : float64 (n, G, G, K)
        Policies. What reaches a cell depends on the opponent too: that is their mean.
    """
    mean = normalised(np.tensordot(weights, parts, 1))
    work = shared_workspace(game, 2)
    total = np.zeros(game.shape)
    for weight, part in zip(weights, parts, strict=True):
        if weight > 0.0:
            total += weight * work.cell_reach(np.stack([part, mean]))[..., None] * part
    return normalised(total, mean)
