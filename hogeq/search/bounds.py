"""Intervals that contain the win rate of a best response and the exploitability of a strategy.

The lower end is the win rate of a counter-matrix, by search (:mod:`hogeq.search.attack`). The
upper end is the win rate of a responder with full memory, by one backward induction. Without hidden
memory both are the same.
"""

from typing import NamedTuple

from hogeq.model.game import HogEngine
from hogeq.search.attack import SearchBudget, attack
from hogeq.search.saturation import Saturation
from hogeq.search.untold_bound import mixture_bound, told_bound, usual_resolution
from hogeq.strategies.strategy import StrategyLike, strategy_of

VALUE_OF_THE_GAME = 0.5
"""Win rate of an equilibrium: the game is symmetric, a fair coin says who moves first."""


class Interval(NamedTuple):
    """Lower and upper bound on a number that is too hard to compute.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> interval = game.exploitability("always_roll:3", hogeq.SearchBudget(starts=2))
    >>> round(interval.lower, 4), round(interval.upper, 4)
    (0.1974, 0.2015)
    """

    lower: float
    """From the strongest counter-matrix found, the attack."""
    upper: float
    """From the best responder with full memory, the bound."""
    budget: SearchBudget
    """Budget of the search for the lower end."""
    saturation: Saturation | None = None
    """Whether that search has saturated; None if nobody knows."""


def full_memory_bound(game: HogEngine, strategy: StrategyLike) -> float:
    """Win rate of the best responder with full memory, an upper bound on any attack.

    Against a mixture that responder is also told what was drawn: a crude bound, the mean of those
    of the components. :func:`hogeq.search.untold_bound.mixture_bound` does not tell.
    """
    return told_bound(game, strategy_of(game, strategy))


def upper_bound(game: HogEngine, strategy: StrategyLike) -> float:
    """Upper bound on any attack, the lowest that takes seconds.

    That of full memory; of a mixture, of a responder who remembers all but the draw, or of one who
    is told it where that would take too much (:mod:`hogeq.search.untold_bound`).
    """
    target = strategy_of(game, strategy)
    return mixture_bound(game, target, usual_resolution(game, target))


def best_response_interval(
    game: HogEngine, strategy: StrategyLike, budget: SearchBudget | None = None
) -> Interval:
    """Interval that contains the win rate of a best response: attack and :func:`upper_bound`."""
    target = strategy_of(game, strategy)
    found = attack(game, target, budget)
    bound = upper_bound(game, target)
    # Where a response is exact, the two are one figure, but for rounding.
    return Interval(found.win_rate, max(bound, found.win_rate), found.budget, found.saturation)


def exploitability(
    game: HogEngine, strategy: StrategyLike, budget: SearchBudget | None = None
) -> Interval:
    """Interval that contains the exploitability of a strategy.

    Exploitability is the value of a best response less the value of the game, which is 1/2: in a
    symmetric game half of NashConv (Lanctot et al. 2017; OpenSpiel's `exploitability`). It is 0 for
    an equilibrium strategy.
    """
    found = best_response_interval(game, strategy, budget)
    return found._replace(
        lower=found.lower - VALUE_OF_THE_GAME, upper=found.upper - VALUE_OF_THE_GAME
    )
