"""Passes over full-size games, searches and tournaments, each with its answer checked.

``make bench`` prints the least times, and within a group every figure as a ratio to the least.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from against import Work

from hogeq.analysis.tournament import round_robin
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import EDITIONS
from hogeq.search.attack import attack
from hogeq.search.results import Budget
from hogeq.support.workers import workers
from tests import twin

Benchmark = Any  # pytest-benchmark ships no types

EDITIONS_TIMED = ("su20", "fa19", "fa23", "fa15", "fa18", "su21", "sp22")


@cache
def full_game(edition: str = "su20") -> HogEngine:
    return compile_game(EDITIONS[edition])


def timed(benchmark: Benchmark, run: Callable[[], Any]) -> Any:
    """Time after one call that compiles; return the result."""
    return benchmark.pedantic(run, rounds=15, warmup_rounds=1)


@pytest.mark.parametrize("edition", EDITIONS_TIMED)
@pytest.mark.parametrize("what", ["values", "reach", "weighted", "sweep", "cfr_plus", "pair"])
def bench_pass(benchmark: Benchmark, edition: str, what: str) -> None:
    benchmark.group = f"{edition}, goal 100"
    value = timed(benchmark, getattr(Work(edition, single=False), what)())
    assert np.isfinite(value)


@pytest.mark.benchmark(group="su20, goal 100, sweep against eight opponents")
@pytest.mark.parametrize("single", [False, True], ids=["double", "single"])
def bench_mixture(benchmark: Benchmark, single: bool) -> None:
    work = Work("su20", single=single)
    rate = timed(benchmark, work.mixture())
    exact = [win_rate(work.game, work.found, one).win_rate for one in work.policies[1:]]
    assert rate == pytest.approx(np.mean(exact), abs=1e-5 if single else 1e-12)


@pytest.mark.benchmark(group="su20, goal 100, all pairs of 12 matrices")
@pytest.mark.parametrize("jobs", [1, 2])
def bench_tournament(benchmark: Benchmark, jobs: int) -> None:
    game = full_game()
    field = list(np.random.default_rng(0).integers(game.num_actions, size=(12, *game.shape[:2])))
    with workers(jobs):
        rates = benchmark.pedantic(lambda: round_robin(game, field), rounds=3, warmup_rounds=1)
    assert rates[0, 1] == pytest.approx(win_rate(game, field[0], field[1]).win_rate, abs=1e-12)


@pytest.mark.benchmark(group="su20, goal 20, 3 dice, win rate of two policies")
@pytest.mark.parametrize("how", ["hogeq", "memoised recursion"])
def bench_against_recursion(benchmark: Benchmark, how: str) -> None:
    rules = replace(EDITIONS["su20"], goal=20, max_dice=3)
    game = compile_game(rules)
    one, two = np.random.default_rng(0).dirichlet(np.ones(4), (2, 20, 20))

    def recursion() -> float:
        return float(twin.Match(twin.Play(rules), one.tolist(), two.tolist()).win_rate()[0])

    def ours() -> float:
        return win_rate(game, one, two).win_rate

    run = ours if how == "hogeq" else recursion
    rate = benchmark.pedantic(run, rounds=3, warmup_rounds=how == "hogeq")
    assert rate == pytest.approx(ours(), abs=1e-12)


@pytest.mark.benchmark(group="su20, goal 100, one start of the attack")
def bench_attack(benchmark: Benchmark) -> None:
    game = full_game()
    target = np.full((100, 100), 5)
    run = lambda: attack(game, target, Budget(starts=1, kicks=0))  # noqa: E731
    result = benchmark.pedantic(run, rounds=3, warmup_rounds=1)
    exact = win_rate(game, result.matrix, target).win_rate
    assert result.win_rate == pytest.approx(exact, abs=1e-12)
