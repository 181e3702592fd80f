"""Solvers called from Python: a solution's strategy, its exploitability and the curve of that."""

import math
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.search import bounds
from hogeq.solvers import solving
from hogeq.solvers.bundle import MixtureBundle
from hogeq.strategies.strategy import Strategy
from hogeq.support.deadline import Deadline
from hogeq.support.pacing import schedule
from tests.evaluation.players import RECURRING

KUHN = "kuhn(players=2,ranks=3)"
HOG = {"edition": "su20", "goal": 6, "max_dice": 2}


@pytest.mark.parametrize(
    ("iterations", "every", "expected"),
    [
        (1, "log", [1]),
        (90, "log", [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 90]),
        (10, 4, [4, 8, 10]),
        (8, 4, [4, 8]),
    ],
)
def test_schedule(iterations: int, every: Any, expected: list[int]) -> None:
    assert schedule(iterations, every) == expected


@pytest.mark.parametrize(("given", "solver"), [(KUHN, "cfr_plus"), (KUHN, "dag_cfr"), (HOG, "cfr")])
def test_a_curve_is_measured_at_logarithmic_steps(given: Any, solver: str) -> None:
    game: Any = hogeq.Game(given)
    solved = game.solve(solver, 20)
    assert [one.iteration for one in solved.curve] == schedule(20, "log")
    for point, shot in zip(solved.curve, solved.snapshots, strict=True):
        there = game.solve(solver, point.iteration)
        np.testing.assert_array_equal(there.strategy.array, shot.strategy.array)
        assert point.lower <= point.upper
        assert (point.lower, point.upper) == game.exploitability(there.strategy)[:2]
    spent = [one.seconds for one in solved.curve]
    assert spent == sorted(spent)
    assert spent[-1] == solved.seconds > 0.0
    assert solved.exploitability[:2] == solved.curve[-1][2:]


def test_a_curve_goes_down_in_kuhn_poker() -> None:
    solved = hogeq.Game(KUHN).solve("cfr_plus", 200)
    assert solved.curve[0].lower > 0.1
    assert solved.curve[-1].upper < 1e-3
    assert solved.strategy is solved.policy is solved.snapshots[-1].strategy


def test_nothing_is_measured_before_it_is_asked_for() -> None:
    solved = hogeq.Game(KUHN).solve("cfr_plus", 3)
    again = pickle.loads(pickle.dumps(solved))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.strategy.array, solved.strategy.array)
    for name in ("exploitability", "curve"):
        assert name not in solved.__dict__
        with pytest.raises(hogeq.HogeqError, match=r"^solution: has no game; allowed: game"):
            getattr(again, name)


def test_each_point_of_a_curve_has_one_small_effort() -> None:
    game: Any = hogeq.Game(HOG)
    solved = game.solve("cfr", 5)
    budgets: list[Any] = []

    def noted(strategy: Any, budget: Any) -> Any:
        budgets.append(budget)
        return game.exploitability(strategy, budget)

    object.__setattr__(solved, "measure", noted)
    assert solved.units is game.units
    assert budgets == []  # to know the units, nothing is measured
    assert len(solved.curve) == 4
    assert budgets == [solved.curve_budget] * 4  # the exploitability itself was not asked for
    assert (solved.curve_budget.kicks, solved.curve_budget.exact_seconds) == (0, 0.0)
    assert solved.curve_budget.seconds is not None
    assert solved.exploitability.upper <= solved.curve[-1].upper
    assert budgets[4:] == [None]


def test_a_hundred_iterations_are_the_default() -> None:
    assert hogeq.Game("kuhn").solve("cfr_plus").iterations == 100


def test_a_search_for_an_equilibrium_keeps_the_best_strategy_that_it_met(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game: Any = hogeq.Game({"edition": "su20", "goal": 8, "max_dice": 2})
    uniform = np.full(game.engine.shape, 1 / 3)

    def poor(*_: object) -> Strategy:
        return Strategy.unchecked_mixture(np.stack([uniform, uniform]), np.full(2, 0.5))

    monkeypatch.setattr(MixtureBundle, "mixture", poor)
    solved = solving.by_one_strategy(game.engine, 10.0)
    by_cfr = game.bound(game.solve("cfr_plus", 100).strategy)
    assert solved.upper <= by_cfr < game.bound(poor())
    bound = game.bound(solved.strategies[0])
    assert bound <= solved.upper <= bound + 1e-10  # with a margin for rounding
    assert solved.method in {"dcfr", "cfr_plus"}
    assert solved.effort == {"iterations": 100, "components": [1, 1]}


def test_the_ends_of_an_equilibrium_hold_where_positions_recur(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pass that ends too early leaves its bound too low; an enclosure lifts it."""
    game = hogeq.Game(RECURRING["points"])
    assert game.engine.positions_recur
    assert game.engine.has_memory
    true_bound = bounds.bound_in_time

    def too_low(*given: Any) -> float:
        return true_bound(*given) - 1e-5

    monkeypatch.setattr(solving, "bound_in_time", too_low)
    solved = solving.by_one_strategy(game.engine, 5.0)
    assert game.bound(solved.strategies[0]) - 1e-10 <= solved.upper
    assert solved.lower == 1.0 - solved.upper
    assert not solved.is_proved or solved.upper <= 0.5 + 1e-9
    late = solving.by_one_strategy(game.engine, 0.0)
    assert game.bound(late.strategies[0]) - 1e-10 <= late.upper


@pytest.mark.parametrize("seconds", [10.0, 20.0, 40.0, 80.0])
def test_a_step_that_would_end_too_late_is_not_begun(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    step_times = iter([1.0, 5.5, 6.0, 7.0, *[8.0] * 100])

    def played(game: Any, *_: object) -> Any:
        now[0] += 0.1
        return np.full(game.shape, 1 / game.num_actions), 100

    def step(_solver: object, _game: object, state: Any) -> Any:
        now[0] += next(step_times)
        return state

    monkeypatch.setattr(solving, "self_played", played)
    monkeypatch.setattr(MixtureBundle, "step", step)
    deadline = Deadline(seconds, lambda: now[0])
    *_, last = solving.by_solvers(hogeq.Game(HOG).engine, deadline)
    assert (last.method, last.iterations > 0) == ("mixture_bundle", True)
    assert now[0] <= seconds


@pytest.mark.parametrize("iterations", [0, 1.5, math.nan, "3", None])
def test_iterations_are_whole_numbers(iterations: Any) -> None:
    with pytest.raises(ValueError, match=r"^iterations: got .*; allowed: whole numbers from 1 "):
        hogeq.Game("kuhn_poker").solve("cfr_plus", iterations)


@pytest.mark.parametrize("method", ["equilibrium", "in_policies", "gaps"])
@pytest.mark.parametrize("seconds", [None, "1", math.nan, math.inf, -1.0])
def test_times_are_numbers(method: str, seconds: Any) -> None:
    game = hogeq.Game("kuhn_poker")
    ask = partial(game.gaps, "uniform") if method == "gaps" else getattr(game, method)
    with pytest.raises(ValueError, match=r"^seconds: got .*; allowed: numbers from 0$"):
        ask(seconds)


def test_numbers_that_overflow_are_said_in_a_line() -> None:
    with pytest.raises(ValueError, match=r"^solver dcfr: failed at iteration 2: Numerical result"):
        hogeq.Game("kuhn_poker").solve("dcfr", 4, alpha=1e308)
