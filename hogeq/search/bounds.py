"""Intervals that contain the win rate of a best response and the exploitability of a strategy.

The lower end is the win rate of a counter-matrix, by search (:mod:`hogeq.search.attack`). The
upper end is the win rate of a responder with full memory, by one backward induction. Without hidden
memory both are the same.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hogeq.model.game import HogEngine
from hogeq.model.workspace import Role
from hogeq.search.attack import SearchBudget, attack
from hogeq.search.saturation import Saturation
from hogeq.search.untold_bound import mixture_bound, told_bound, usual_resolution
from hogeq.strategies.mixtures import Mixture, check_mixture
from hogeq.strategies.policies import policy_of

VALUE_OF_THE_GAME = 0.5
"""Win rate of an equilibrium: the game is symmetric, a fair coin says who moves first."""


class Interval(NamedTuple):
    """Lower and upper bound on a number that is too hard to compute.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> game = hogeq.compile_game(rules)
    >>> three = hogeq.builtin("always_roll:3", game)
    >>> interval = hogeq.exploitability(game, three, hogeq.SearchBudget(starts=2))
    >>> interval.lower <= interval.upper, interval.budget.starts
    (True, 2)
    """

    lower: float
    """From the strongest counter-matrix found, the attack."""
    upper: float
    """From the best responder with full memory, the bound."""
    budget: SearchBudget
    """Budget of the search for the lower end."""
    saturation: Saturation | None = None
    """Whether that search has saturated; None if nobody knows."""


def full_memory_bound(game: HogEngine, strategy: ArrayLike | Mixture) -> float:
    """Win rate of the best responder with full memory, an upper bound on any attack.

    Against a mixture that responder is also told what was drawn: a crude bound, the mean of those
    of the parts. :func:`hogeq.search.untold_bound.mixture_bound` does not tell.

    Parameters
    ----------
    game : HogEngine
    strategy : array_like or Mixture
        A matrix (G, G), a policy (G, G, K), or a mixture of such.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the strategy is malformed.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> game = hogeq.compile_game(rules)
    >>> three = hogeq.builtin("always_roll:3", game)
    >>> round(hogeq.full_memory_bound(game, three), 4)
    0.7015
    """
    if isinstance(strategy, Mixture):
        drawn = check_mixture(strategy.weights, strategy.parts, game.goal, game.rules.max_dice)
        return told_bound(game, drawn)
    policy = policy_of(game, strategy)
    return game.workspace(2).win_rate(np.stack([policy, policy]), Role.FULL_MEMORY).win_rate


def upper_bound(game: HogEngine, strategy: ArrayLike | Mixture) -> float:
    """Upper bound on any attack, the lowest that takes seconds.

    That of full memory; of a mixture, of a responder who remembers all but the draw, or of one who
    is told it where that would take too much (:mod:`hogeq.search.untold_bound`).
    """
    if isinstance(strategy, Mixture):
        return mixture_bound(game, strategy, usual_resolution(game, strategy))
    return full_memory_bound(game, strategy)


def best_response_interval(
    game: HogEngine, strategy: ArrayLike | Mixture, budget: SearchBudget | None = None
) -> Interval:
    """Interval that contains the win rate of a best response to a strategy.

    Parameters
    ----------
    game : HogEngine
    strategy : array_like or Mixture
        A matrix (G, G), a policy (G, G, K), or a mixture of such.
    budget : SearchBudget, optional

    Returns
    -------
    Interval
        Win rate of the strongest counter-matrix found (:func:`hogeq.search.attack.attack`), and
        :func:`upper_bound`.

    Raises
    ------
    ValueError
        If the strategy is malformed.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> game = hogeq.compile_game(rules)
    >>> three = hogeq.builtin("always_roll:3", game)
    >>> interval = hogeq.best_response_interval(game, three)
    >>> round(interval.lower, 4), round(interval.upper, 4)
    (0.6974, 0.7015)
    """
    found = attack(game, strategy, budget)
    bound = upper_bound(game, strategy)
    # Where a response is exact, the two are one figure, but for rounding.
    return Interval(found.win_rate, max(bound, found.win_rate), found.budget, found.saturation)


def exploitability(
    game: HogEngine, strategy: ArrayLike | Mixture, budget: SearchBudget | None = None
) -> Interval:
    """Interval that contains the exploitability of a strategy.

    Exploitability is the value of a best response less the value of the game, which is 1/2: in a
    symmetric game half of NashConv (Lanctot et al. 2017; OpenSpiel's `exploitability`). It is 0 for
    an equilibrium strategy.

    Parameters
    ----------
    game : HogEngine
    strategy : array_like or Mixture
        A matrix (G, G), a policy (G, G, K), or a mixture of such.
    budget : SearchBudget, optional

    Returns
    -------
    Interval
        Both ends of :func:`best_response_interval`, less 1/2.

    Raises
    ------
    ValueError
        If the strategy is malformed.

    Examples
    --------
    Without hidden memory both ends are the same.

    >>> from hogeq.model.game import compile_game
    >>> from hogeq.rules import rules_from
    >>> rules = {"edition": "fa22", "goal": 4, "max_dice": 1, "sides": 2}
    >>> exploitability(compile_game(rules_from(rules)), np.zeros((4, 4)))[:2]
    (0.0, 0.0)
    """
    found = best_response_interval(game, strategy, budget)
    return found._replace(
        lower=found.lower - VALUE_OF_THE_GAME, upper=found.upper - VALUE_OF_THE_GAME
    )
