"""How much win rate each cell of a counter-strategy gains."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.model.game import HogEngine
from hogeq.strategies.arrays import MOST_DICE, as_array, check_matrix, check_policy, is_policy
from hogeq.strategies.mixtures import Mixture
from hogeq.strategies.policies import check_game, policies_of
from hogeq.strategies.usual import usual_rolls
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.messages import refusal


class CellGain(NamedTuple):
    """Gain of one cell of a counter-matrix."""

    score: int
    opponent: int
    usual: int
    """Most probable roll of the strategy countered."""
    counter: int
    """Roll of the counter-matrix."""
    gain: float
    """Gain of that roll over the usual one, in win rate."""


class Gains(NamedTuple):
    """Gain of every cell of a counter-strategy over the usual roll of the strategy countered.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> game = hogeq.compile_game(rules)
    >>> three = hogeq.builtin("always_roll:3", game)
    >>> found = hogeq.gains(game, hogeq.attack(game, three).matrix, three)
    >>> own, opponent = divmod(int(found.gains.argmax()), game.goal)
    >>> int(found.usual[own, opponent])  # what is rolled there by `three`
    3
    """

    usual: Matrix
    """(G, G), most probable roll of the strategy countered, the lower on ties."""
    gains: Floats
    """(G, G), win rate that would be lost by rolling the usual dice at this cell alone."""
    reach: Floats
    """(G, G), probability that the counter-strategy comes to move there; the expected number of
    visits where positions recur."""

    def __repr__(self) -> str:
        """Say how much can be gained: the arrays would fill pages."""
        rows, columns = self.gains.shape
        most = self.gains.max(initial=0.0)
        return f"Gains({rows} x {columns} cells, of which one gains at most {most:.3g})"


def gains(game: HogEngine, counter: ArrayLike, strategy: ArrayLike | Mixture) -> Gains:
    """Exact gain of every cell of a counter-strategy over the rolls of the strategy countered.

    A win rate is linear in each cell, so a cell's gain is the difference of two of its
    counterfactual values. Gains of several cells do not add up: each is computed with the other
    cells as they are. Where positions can recur a cell may be met twice, and gains are exact only
    to first order.

    Parameters
    ----------
    game : HogEngine
    counter : array_like
        A matrix (G, G) or a policy (G, G, K).
    strategy : array_like or Mixture
        The same, or a mixture of such; what is usual is the mean of its parts.

    Returns
    -------
    Gains

    Raises
    ------
    ValueError
        If a strategy is malformed.
    TypeError
        If `game` is none.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> game = hogeq.compile_game(rules)
    >>> three = hogeq.builtin("always_roll:3", game)
    >>> counter = hogeq.attack(game, three).matrix
    >>> found = hogeq.gains(game, counter, three)
    >>> found.gains.shape
    (20, 20)
    """
    check_game(game)
    drawn = strategy.drawn() if isinstance(strategy, Mixture) else [(1.0, strategy)]
    work = game.workspace(2)
    values, infoset_reach, mean = np.zeros(game.shape), np.zeros(game.shape[:2]), 0.0
    for weight, part in drawn:
        policies = policies_of(game, counter, part)
        found = counterfactual_values(work, policies)
        values += weight * found.values
        infoset_reach += weight * found.infoset_reach
        mean = mean + weight * policies[1]
    usual = np.argmax(mean, axis=2)
    as_usual = np.take_along_axis(values, usual[..., None], axis=2)[..., 0]
    won = (values * policies[0]).sum(axis=2)
    same = np.take_along_axis(policies[0], usual[..., None], axis=2)[..., 0] == 1.0
    return Gains(usual.astype(np.int8), np.where(same, 0.0, won - as_usual), infoset_reach)


def largest_gains(found: Gains, counter: ArrayLike, count: int = 10) -> list[CellGain]:
    """List the cells of a counter-strategy that gain most.

    Parameters
    ----------
    found : Gains
        Gains of that counter-strategy.
    counter : array_like
        A matrix (G, G) or a policy (G, G, K), of which the most probable rolls are listed.
    count : int
        Most cells to list, 0 or more.

    Returns
    -------
    list of CellGain
        By descending gain, ties row by row; only cells of positive gain.

    Raises
    ------
    ValueError
        If the counter-strategy is malformed or of another size than the gains, or `count` is no
        whole number or negative.

    Examples
    --------
    A game to 4 points with one die of two sides. No dice score 1 point at the start, a perfect
    square that becomes 4: a win at once.

    >>> from hogeq.model.game import compile_game
    >>> from hogeq.rules import rules_from
    >>> game = compile_game(
    ...     rules_from({"edition": "fa22", "goal": 4, "max_dice": 1, "sides": 2})
    ... )
    >>> none, one = np.zeros((4, 4), np.int8), np.ones((4, 4), np.int8)
    >>> largest_gains(gains(game, none, one), none, 1)
    [CellGain(score=0, opponent=0, usual=1, counter=0, gain=0.125)]
    """
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 0:
        raise ValueError(refusal("count", count, "whole numbers from 0"))
    rolls = _usual_of(counter, found.gains.shape)
    order = (-found.gains).argsort(axis=None, kind="stable")[:count]
    cells = [divmod(int(place), len(rolls)) for place in order]
    return [
        CellGain(
            own,
            other,
            int(found.usual[own, other]),
            int(rolls[own, other]),
            float(found.gains[own, other]),
        )
        for own, other in cells
        if found.gains[own, other] > 0.0
    ]


def _usual_of(counter: ArrayLike, shape: tuple[int, ...]) -> Matrix:
    """Most probable rolls of a counter-strategy to that many scores."""
    table = as_array(counter, "counter")
    if table.ndim not in {2, 3} or table.shape[:2] != shape:
        allowed = f"{shape} as the gains, or a policy of as many scores"
        raise ValueError(f"counter: shape is {table.shape}; allowed: {allowed}")
    if is_policy(table):
        return usual_rolls(check_policy(table, len(table), table.shape[2] - 1, "counter"))
    return check_matrix(table, len(table), MOST_DICE, "counter")
