"""Solvers called from Python: so many iterations, or as many as the time allows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from time import perf_counter
from typing import Any, Final, NamedTuple

import numpy as np

from hogeq.evaluation import tablebase
from hogeq.model.game import HogEngine
from hogeq.model.protocol import Engine
from hogeq.search.bounds import (
    SEARCH_TIME_SHARE,
    bound_in_time,
    bound_margin,
    full_memory_bound,
    is_half_or_less,
)
from hogeq.search.results import WIN_RATES, Budget, Equilibrium, Interval, Measurement, Units
from hogeq.solvers import SOLVERS
from hogeq.solvers.base import Solver
from hogeq.solvers.bundle import MixtureBundle
from hogeq.solvers.regret import REACH_DCFR, CFRPlus, self_played
from hogeq.strategies.conversion import strategy_of
from hogeq.strategies.strategy import Strategy
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError
from hogeq.support.pacing import Pace, schedule
from hogeq.support.parameters import Count, check, keys, require_known
from hogeq.support.progress import phase

FIRST_STEP_TIME: Final = 6.0  # of a beginning and a first step, in times of self-play
SECOND_STEP_TIME: Final = 6.0  # in times of the first step, which has few counters
MOST_GROWTH: Final = 1.5  # most by which the time of a step grows from one to the next
CURVE_BUDGET: Final = Budget(starts=2, kicks=0, seconds=5.0, exact_seconds=0.0)
"""Effort of each measurement of a curve: a search without kicks, and no integer program."""


class Snapshot(NamedTuple):
    """The strategy of a solver after some iterations."""

    iteration: int
    seconds: float  # spent up to there
    strategy: Strategy


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Strategies that a solver came to.

    Attributes
    ----------
    policy : Strategy
        The average of the iterations, for most solvers.
    mixture : Strategy, optional
        A mixture, where the solver looks for one.
    metrics : dict of str to float
        Measures of convergence that the solver keeps, by name.
    solver : str
        Name of the solver.
    iterations : int
        Iterations done.
    seconds : float
        Time spent on them.
    snapshots : tuple of Snapshot
        The strategy after 1, 2, 3, 5, 8 and so on iterations, the last of them at the end.
    measure : callable, optional
        Measures a strategy's exploitability, the game's method; not pickled.
    units : Units
        Units of its game.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game("kuhn_poker")
    >>> solved = game.solve("cfr_plus", iterations=100)
    >>> solved.exploitability.upper < 0.01
    True
    >>> [point.iteration for point in solved.curve]
    [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 100]
    """

    policy: Strategy
    mixture: Strategy | None
    metrics: dict[str, float]
    solver: str
    iterations: int
    seconds: float
    snapshots: tuple[Snapshot, ...] = field(default=(), repr=False)
    measure: Callable[[Strategy, Budget | None], Interval] | None = field(default=None, repr=False)
    units: Units = field(default=WIN_RATES, repr=False)

    @cached_property
    def exploitability(self) -> Interval:
        """Interval that contains the exploitability of `strategy`, measured when it is asked for.

        By ``game.exploitability(solution)``; ``game.exploitability(solution, budget)`` chooses the
        effort.
        """
        return self._measure(self.strategy)

    @cached_property
    def curve(self) -> tuple[Measurement, ...]:
        """Exploitability at each of the `snapshots`, by an attack of `curve_budget` each.

        It is measured when it is first asked for, after 100 iterations at eleven snapshots. The
        last may be wider than `exploitability`, whose attack does more. Inside ``with
        hogeq.show_progress():`` it shows how far it is.
        """
        return tuple(
            Measurement(snapshot.iteration, snapshot.seconds, interval.lower, interval.upper)
            for snapshot, interval in zip(self.snapshots, self._intervals, strict=True)
        )

    @property
    def curve_budget(self) -> Budget:
        """Effort of the attack at each point of `curve`."""
        return CURVE_BUDGET

    @cached_property
    def _intervals(self) -> tuple[Interval, ...]:
        """Interval of the exploitability of each of the `snapshots`, by `curve_budget`."""
        intervals = list[Interval]()
        with phase("measuring", len(self.snapshots), "snapshots") as progress:
            for snapshot in self.snapshots:
                intervals.append(self._measure(snapshot.strategy, self.curve_budget))
                progress.step()
        return tuple(intervals)

    def _measure(self, strategy: Strategy, budget: Budget | None = None) -> Interval:
        """Measure a strategy's exploitability in the game of the solution."""
        if self.measure is None:
            raise HogeqError("solution: has no game; allowed: game.exploitability(solution)")
        return self.measure(strategy, budget)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the game behind."""
        return {**self.__dict__, "measure": None}

    @property
    def strategy(self) -> Strategy:
        """The mixture, if the solver looks for one, or else the policy; both play in both seats."""
        return self.policy if self.mixture is None else self.mixture

    def __repr__(self) -> str:
        """Name the solver and how long it ran."""
        return f"Solution({self.solver}, {self.iterations} iterations, {self.seconds:.1f} s)"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, without the strategies."""
        effort = {name: getattr(self, name) for name in ("solver", "iterations", "seconds")}
        return {**effort, "metrics": self.metrics}

    def rows(self) -> list[tuple[str, str]]:
        """Lay out the effort and the measures of convergence."""
        figures = [(name, f"{figure:.6g}") for name, figure in self.metrics.items()]
        return [("solver", self.solver), ("iterations", f"{self.iterations:,}"), *figures]


def solve(game: Engine, name: str, iterations: int, **parameters: Any) -> Solution:
    """Run a solver by name, with its parameters, for so many iterations.

    Takes snapshots of its strategy after 1, 2, 3, 5, 8 and so on iterations, the last at the end.
    Raises `HogeqError` for unknown parameters, if nobody decides, and if numbers overflow.
    """
    if 0 in game.shape:
        raise HogeqError("game: nobody decides; allowed: games with decisions")
    solver_class = SOLVERS[name]
    require_known(parameters, keys(solver_class))
    check(Count, iterations=iterations)
    solver = solver_class(**parameters)
    start_time = perf_counter()
    snapshot_seconds = 0.0  # of making snapshots, which does not count
    snapshots = list[Snapshot]()
    with phase("solving", iterations) as progress:
        state = solver.init(game)
        pace = Pace()
        finished = 0
        for stop in schedule(iterations, "log"):
            while finished < stop:
                with _overflow_named(name, finished + 1):
                    state, done = pace.steps(partial(solver.steps, game), state, stop - finished)
                finished += done
                progress.step(done)
            now = perf_counter()
            policy, mixture = strategies(solver, game, state)
            seconds = now - start_time - snapshot_seconds
            snapshots.append(Snapshot(stop, seconds, mixture or policy))
            snapshot_seconds += perf_counter() - now
    return Solution(
        policy=policy,
        mixture=mixture,
        metrics=solver.stats(game, state),
        solver=name,
        iterations=iterations,
        seconds=snapshots[-1].seconds,
        snapshots=tuple(snapshots),
    )


@contextmanager
def _overflow_named(solver_name: str, iteration: int) -> Iterator[None]:
    """Turn an overflow into a `HogeqError` that names the solver and the iteration."""
    try:
        yield
    except (OverflowError, FloatingPointError) as error:
        fault = f"failed at iteration {iteration}: {error.args[-1]}"
        raise HogeqError(f"solver {solver_name}: {fault}") from error


def strategies(solver: Solver[Any], game: Engine, state: Any) -> tuple[Strategy, Strategy | None]:
    """Give a solver's average policy, and its mixture if it looks for one."""
    mixture = solver.mixture(game, state)
    policy = strategy_of(game, solver.average(game, state))
    return policy, None if mixture is None else strategy_of(game, mixture)


class Candidate(NamedTuple):
    """A strategy that may be an equilibrium."""

    strategy: Strategy
    method: str  # "tablebase", or the solver that found it
    iterations: int = 0  # of the solver


def by_one_strategy(game: HogEngine, limit: float | Deadline) -> Equilibrium:
    """Search for an equilibrium strategy of Hog, which wins half of its games against all others.

    1. Compute strategies: the tablebase without hidden memory, else those of `by_solvers`.
    2. Bound the win rate of responses to each, and keep the strategy with the least bound. Both
       players are alike, so the value is 1/2, and the strategy secures 1 less the bound.
    """
    deadline = Deadline.of(limit)
    if game.has_memory:
        candidates = by_solvers(game, deadline.share(SEARCH_TIME_SHARE))
    else:
        matrix = tablebase.solve(game).matrix
        candidates = [Candidate(strategy_of(game, matrix), "tablebase")]
    # The last is a mixture, if there is one: only its bound may take long.
    bounds = [_bound_on_responses(game, candidate.strategy, deadline) for candidate in candidates]
    best = int(np.argmin(bounds))
    strategy, method, iterations = candidates[best]
    bound = max(bounds[best], 0.5)  # an equilibrium strategy wins 1/2 as a response
    # A tablebase is computed whole, whatever the limit, and so is its proof.
    limit_of_margin = deadline if game.has_memory else FOREVER
    upper = min(bound + bound_margin(game, bound, strategy, limit_of_margin), 1.0)
    return Equilibrium(
        lower=1.0 - upper,
        upper=upper,
        strategies=(strategy, strategy),
        is_proved=is_half_or_less(upper),
        method=method,
        effort={"iterations": iterations, "components": [len(strategy.weights)] * 2},
        seconds=deadline.spent,
    )


def _bound_on_responses(game: HogEngine, strategy: Strategy, deadline: Deadline) -> float:
    """Upper bound on the win rate of responses to a strategy, as tight as the time allows."""
    spent_before = deadline.spent
    full_memory = full_memory_bound(game, strategy)
    bounding_seconds = deadline.spent - spent_before
    return bound_in_time(game, strategy, deadline, full_memory, bounding_seconds)


def by_solvers(game: Engine, deadline: Deadline) -> list[Candidate]:
    """Compute policies by self-play, and a mixture by `mixture_bundle` until the time is over.

    1. A hundred iterations of discounted CFR by reach, with which the bundle begins, too.
    2. As many of CFR+, in a quarter of the time that is left, or in all of it if the bundle has no
       time to begin. Where positions recur there is no CFR+.
    3. Steps of the bundle. A step begins only if as much time is left as it should take. Its first
       mixtures may be worse than the policies; hence all are returned, the mixture last.
    """
    spent_before = deadline.spent
    policy, iterations = self_played(game, REACH_DCFR, deadline)
    expected_seconds = deadline.spent - spent_before  # of self-play, then of the longest step
    candidates = [Candidate(strategy_of(game, policy), "dcfr", iterations)]
    share_of_cfr = 0.25
    has_time_for_bundle = deadline.left * (1.0 - share_of_cfr) >= FIRST_STEP_TIME * expected_seconds
    if not game.positions_recur and not deadline.is_over:
        time_for_cfr = deadline.share(share_of_cfr if has_time_for_bundle else 1.0)
        policy, iterations = self_played(game, CFRPlus(), time_for_cfr)
        candidates.append(Candidate(strategy_of(game, policy), "cfr_plus", iterations))
    if not has_time_for_bundle:
        return candidates
    candidates += _mixture_in_time(game, deadline, expected_seconds)
    return candidates


def _mixture_in_time(game: Engine, deadline: Deadline, first_seconds: float) -> list[Candidate]:
    """Do steps of the mixture bundle until the time is over; none if there is no time for one.

    A step begins only if as much time is left as it should take, by the longest step so far; the
    first is expected to take `first_seconds` times `MOST_GROWTH`.
    """
    solver = MixtureBundle()
    state = solver.init(game)
    expected_seconds = first_seconds
    iterations = 0
    growth = MOST_GROWTH
    while deadline.left > growth * expected_seconds:
        spent_before = deadline.spent
        state = solver.step(game, state)
        step_seconds = deadline.spent - spent_before
        is_first_step = iterations == 0
        expected_seconds = step_seconds if is_first_step else max(step_seconds, expected_seconds)
        growth = SECOND_STEP_TIME if is_first_step else MOST_GROWTH
        iterations += 1
    if iterations == 0:
        return []
    mixture = strategy_of(game, solver.mixture(game, state))
    return [Candidate(mixture, "mixture_bundle", iterations)]
