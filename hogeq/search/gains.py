"""How much win rate each cell of a counter-strategy gains."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.model.many import shared_workspace
from hogeq.model.protocol import Engine
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.strategy import Strategy, StrategyLike, strategy_of, table_of
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
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> three = game.strategy("always_roll:3")
    >>> found = game.gains(game.attack(three).matrix, three)
    >>> own, opponent = divmod(int(found.gains.argmax()), 20)
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


def gains(game: Engine, counter: StrategyLike, strategy: StrategyLike) -> Gains:
    """Exact gain of every cell of a counter-strategy over the rolls of the strategy countered.

    A win rate is linear in each cell, so a cell's gain is the difference of two of its
    counterfactual values. Gains of several cells do not add up: each is computed with the other
    cells as they are. Where positions can recur a cell may be met twice, and gains are exact only
    to first order. What is usual of a mixture is the mean of its components.
    """
    target = strategy_of(game, strategy)
    policy = table_of(game, counter).policy
    work = shared_workspace(game, 2)
    values, infoset_reach = np.zeros(game.shape), np.zeros(game.shape[:-1])
    for weight, component in zip(target.chances, target.policies, strict=True):
        met = counterfactual_values(work, np.stack([policy, component]))
        values += weight * met.values
        infoset_reach += weight * met.infoset_reach
    usual = target.likeliest
    chosen = usual[..., None].astype(np.int64)
    as_usual = np.take_along_axis(values, chosen, axis=-1)[..., 0]
    won = (values * policy).sum(axis=-1)
    same = np.take_along_axis(policy, chosen, axis=-1)[..., 0] == 1.0
    return Gains(usual, np.where(same, 0.0, won - as_usual), infoset_reach)


def largest_gains(
    gained: Gains, counter: Strategy | NDArray[Any], count: int = 10
) -> list[CellGain]:
    """List the cells of a counter-strategy that gain most, by descending gain, at most `count`.

    The gains are those of that counter-strategy, a matrix (G, G) or a strategy whose most probable
    rolls are listed. Only cells of positive gain are.
    """
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 0:
        raise ValueError(refusal("count", count, "whole numbers from 0"))
    rolls = np.asarray(counter.likeliest if isinstance(counter, Strategy) else counter)
    if rolls.shape != gained.gains.shape:
        raise StrategyError(f"counter: shape is {rolls.shape}; allowed: {gained.gains.shape}")
    order = (-gained.gains).argsort(axis=None, kind="stable")[:count]
    cells = [divmod(int(place), len(rolls)) for place in order]
    return [
        CellGain(
            own,
            other,
            int(gained.usual[own, other]),
            int(rolls[own, other]),
            float(gained.gains[own, other]),
        )
        for own, other in cells
        if gained.gains[own, other] > 0.0
    ]
