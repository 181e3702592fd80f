"""Checked strategies made of what users give: matrices, policies, mixtures, functions, results."""

from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.rules import Rules
from hogeq.strategies.arrays import (
    TABLES,
    Rule,
    StrategyError,
    as_array,
    check_table,
    check_weights,
    name_of_function,
    one_hot,
    table_of_function,
)
from hogeq.strategies.strategy import HasRules, Kind, Mixture, Sized, Strategy, shape_like
from hogeq.support.aliases import Floats, Policy, matrix_type
from hogeq.support.messages import refusal
from hogeq.support.short_fractions import short_fraction


class HasStrategy(Protocol):
    """A result of a search or a solver, which stands for its strategy."""

    @property
    def strategy(self) -> Strategy:
        """The strategy of the result."""


class HasProfile(Protocol):
    """A result with a strategy for each seat, which stands for both."""

    @property
    def profile(self) -> Strategy:
        """Both, as one strategy."""


StrategyLike: TypeAlias = Strategy | Mixture | ArrayLike | Rule | HasStrategy | HasProfile
"""A strategy, or what one is made of: a mixture, a matrix, a policy, or a function that says how
many dice to roll by both scores, the own one first; or a result that has one."""


def strategy_of_result(candidate: Any) -> Any:
    """Return the `profile` or `strategy` that a result has; anything else as it is."""
    strategy = getattr(candidate, "profile", getattr(candidate, "strategy", None))
    return strategy if isinstance(strategy, Strategy) else candidate


def rules_of(game: Sized) -> Rules | None:
    """Return the rules of a game of Hog; None of any other, whatever it calls its rules."""
    rules = game.rules if isinstance(game, HasRules) else None
    return rules if isinstance(rules, Rules) else None


def least_choice(game: Sized) -> int:
    """Return the lowest choice of a game: the fewest dice, or -1 where the last action is that."""
    rules = rules_of(game)
    return 0 if rules is None else rules.least_answer


def strategy_of(game: Sized, strategy: StrategyLike, name: str = "strategy") -> Strategy:
    """Make a checked strategy of a game; one that was checked is returned as it is.

    Raises
    ------
    StrategyError
        If it is malformed, naming the first bad cell, or of another game, or of one seat alone.
    TypeError
        If `game` is none.
    """
    check_game(game)
    least = least_choice(game)
    checked = strategy_of_shape(game.shape, strategy, name, least, has_scores=game.has_scores)
    return checked.whole(name)


def strategy_of_shape(
    shape: tuple[int, ...] | None,
    spec: StrategyLike,
    name: str = "strategy",
    least: int = 0,
    *,
    has_scores: bool = False,
) -> Strategy:
    """Make a checked strategy of a game whose policies have a shape; None: of Hog, of its own size.

    A game that `has_scores` is one of Hog. Where `least` is -1, a matrix may hold it for the last
    action. Dice below `least` become it.
    """
    spec = strategy_of_result(spec)
    if isinstance(spec, Strategy):
        if shape not in {None, spec.shape}:
            raise StrategyError(f"{name}: is of shape {spec.shape}; allowed: {shape}")
        return spec
    if isinstance(spec, Mixture):
        return _check_mixture(
            spec, shape, "mixture" if name == "strategy" else name, least, has_scores
        )
    if callable(spec) and not hasattr(spec, "__array__"):
        if shape is None or not has_scores:
            raise StrategyError(f"{name}: is a function of two scores; allowed: in games of Hog")
        table = table_of_function(spec, shape, name, least)
        strategy = strategy_of_shape(shape, table, name, least, has_scores=True)
        function_name = name_of_function(spec)
        return strategy if function_name == "<lambda>" else strategy.named(function_name)
    table = as_array(spec, name)
    if table.ndim == 0:
        raise StrategyError(refusal(name, spec, f"{TABLES}, or a function of two scores"))
    has_scores |= shape is None
    shape = shape or shape_like([table])
    if least < 0 and table.ndim == len(shape) - 1:
        table = np.where(table == least, shape[-1] - 1, table)
    table = check_table(table, shape, name, has_scores=has_scores)
    kind: Kind = "policy" if table.ndim == len(shape) else "matrix"
    if kind == "matrix" and least > 0:  # where no action wins, algorithms return action 0
        table = np.maximum(table, np.int8(least))
    return Strategy(kind, table, np.ones(1), shape, least, has_scores=has_scores)


def _check_mixture(
    mixture: Mixture, shape: tuple[int, ...] | None, name: str, least: int, has_scores: bool
) -> Strategy:
    """Check and copy a mixture; if all parts are matrices, they stay so, else all are policies."""
    try:
        parts = list(mixture.parts)
    except TypeError as error:
        allowed = "a list of parts, each a matrix (G, G) or a policy (G, G, K)"
        raise StrategyError(refusal(name, mixture.parts, allowed)) from error
    tables = []
    for number, part in enumerate(parts, 1):
        where = f"{name}, part {number}"
        table = part
        if callable(part):
            table = strategy_of_shape(shape, part, where, least, has_scores=has_scores)
        tables.append(as_array(table, where))
    weights = check_weights(mixture.weights, len(tables), name)
    has_scores |= shape is None
    shape = shape or shape_like(tables)
    is_pure = all(table.ndim != len(shape) for table in tables)
    size = shape[:-1] if is_pure else shape
    # One by one into the array: there may be many.
    components = np.empty((len(tables), *size), matrix_type(shape[-1]) if is_pure else np.float64)
    for index, table in enumerate(tables):
        where = f"{name}, part {index + 1}"
        part = strategy_of_shape(shape, table, where, least, has_scores=has_scores).array
        components[index] = part if part.ndim == len(size) else one_hot(part, shape[-1])
    return Strategy("mixture", components, weights, shape, least, has_scores=has_scores)


def joined(seats: NDArray[np.int8], first: Strategy, second: Strategy) -> Strategy:
    """Make one strategy for both seats of a tree, whose rows have `seats` (R,).

    A player uses the rows of its own seat alone. So both may be drawn by one number from 0 to 1:
    its intervals in which neither strategy changes component are the components of the result.
    """
    is_first = seats[:, None] == 0
    if 1 in (len(first.chances), len(second.chances)):  # one mixture at most: it keeps its chances
        policies: Floats = np.where(is_first, first.policies, second.policies)
        both = Strategy.unchecked_mixture(policies, first.chances * second.chances)
        return replace(both, rows=first.rows)
    ends = [_ends_of_intervals(strategy.chances.tolist()) for strategy in (first, second)]
    cuts = sorted({*ends[0], *ends[1]} - {Fraction()})  # ends of the intervals of the result
    chances = [float(end - begin) for begin, end in pairwise([Fraction(), *cuts])]
    first_policies, second_policies = (
        strategy.policies[[bisect_left(of_strategy, cut) for cut in cuts]]
        for strategy, of_strategy in zip((first, second), ends, strict=True)
    )
    policies = np.where(is_first, first_policies, second_policies)
    both = Strategy.unchecked_mixture(policies, np.array(chances))
    return replace(both, rows=first.rows)


def _ends_of_intervals(chances: list[float]) -> list[Fraction]:
    """Divide the numbers from 0 to 1 into an interval for each chance; return their upper ends.

    Chances are read as short fractions if those sum to 1, so that thirds stay thirds. Otherwise the
    last interval takes what rounding leaves.
    """
    exact = [short_fraction(chance) for chance in chances]
    if sum(exact) != 1:
        exact = [Fraction(chance) for chance in chances]
    one = Fraction(1)
    return [*(min(end, one) for end in accumulate(exact[:-1])), one]


def table_of(game: Sized, strategy: StrategyLike) -> Strategy:
    """Check a matrix or a policy; a mixture is refused."""
    return strategy_of(game, strategy).unmixed()


def policy_of(game: Sized, strategy: StrategyLike) -> Policy:
    """Return the policy (G, G, K) of a matrix or a policy, checked: a fresh array."""
    return table_of(game, strategy).policy.copy()


def policies_of(game: Sized, *strategies: StrategyLike) -> Floats:
    """Stack the policies of n strategies: float64 (n, G, G, K)."""
    return np.stack([table_of(game, strategy).policy for strategy in strategies])


def check_game(game: object) -> None:
    """Refuse other things than a game, such as its rules or its name, with a `TypeError`."""
    if not isinstance(getattr(game, "shape", None), tuple) or isinstance(game, np.ndarray):
        raise TypeError(refusal("game", game, "a Game, as hogeq.compile_game gives it"))
