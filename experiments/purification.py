"""From a policy to a matrix: every method, measured by one strong attack.

    python experiments/purification.py                         (policy by CFR-BR)
    python experiments/purification.py --strategy results/champions/su20/policy.npz

Besides the methods: the bundle method with a rising price of entropy, begun from the policy;
integer programs over the rows that such a price has left mixed, begun twice; and how the best of n
samples depends on n, Huan's open question (2020).
Prints a Markdown table and writes results/purification.md and .png, or purification_GOAL if that is
given.
"""

import argparse
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from common import EFFORT, arguments, draw, effort, publish, small_game, solved

from hogeq.model.game import HogEngine
from hogeq.purification import PURIFIERS, argmax, thresholded
from hogeq.purification.base import Threshold
from hogeq.purification.integer import IntegerRounding
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound
from hogeq.search.results import Budget
from hogeq.solvers.bundle import ProximalBundle
from hogeq.solvers.cuts import BundleState
from hogeq.strategies.conversion import policy_of, strategy_of_shape
from hogeq.strategies.files import read_strategy
from hogeq.support.aliases import Floats
from hogeq.support.workers import workers

LAST_PRICE = 0.014  # of entropy when the bundle method ends, in win rate per nat

RISING: dict[str, Any] = {"trails": 6, "responses": 1, "largest_step": 60.0, "sharpen": 5e-4}
"""Of the bundle method before integer programs, as in configs/champion_matrix.yaml ..."""
RISEN = 40  # ... in so many iterations


class Run(NamedTuple):
    """One row of the table."""

    method: str
    parameters: dict[str, Any]


def main() -> None:
    """Print and write the table, draw the figure."""
    given = arguments(
        __doc__,
        edition="su20",
        goal=0,
        dice=0,
        strategy="",
        methods=(*PURIFIERS, "bundle"),
        iterations=300,
        samples=16,
        programs=40,
        sharpened=120,
        jobs=1,
        **EFFORT,
    )
    with workers(given.jobs):
        compare(given)


def compare(given: argparse.Namespace) -> None:
    """Make matrices by every method, attack them all."""
    game = small_game(given.edition, given.goal, given.dice)
    if given.strategy:
        policy = policy_of(game, read_strategy(given.strategy, game.goal, game.rules.max_dice))
    else:
        policy = solved(game, "cfr_br", given.iterations, averaging="last", responder_sweeps=2)
    strong = effort(given)
    runs: list[Run] = [
        Run("argmax", {}),
        *(
            Run("threshold", {"threshold": level, "samples": given.samples})
            for level in (0.0, 0.1, 0.2, 0.3, 0.4)
        ),
    ]
    runs = [run for run in runs if run.method in given.methods]
    header = ["method", "parameters", "attack", "bound", "processor seconds"]
    rows = lines(game, policy, runs, strong)
    if "bundle" in given.methods:
        rows = chain(rows, sharpened(game, policy, given.sharpened, strong))
    if "integer" in given.methods:
        rows = chain(rows, rounded(game, policy, given.programs, strong))
    name = f"purification_{given.goal}" if given.goal else "purification"
    publish(given.out, name, header, rows)
    figure(given.out, name, game, policy, given.samples)


def lines(
    game: HogEngine, policy: Floats, runs: list[Run], strong: Budget
) -> Iterator[list[object]]:
    """Measure the policy, the policy without unlikely rolls, and every method."""
    yield ["the policy itself", "", *measured(game, policy, strong), ""]
    for level in (0.05, 0.1, 0.2, 0.3):
        cut = thresholded(game, policy, level)
        yield [f"policy cut at {level}", "", *measured(game, cut, strong), ""]
    for method, parameters in runs:
        began = time.process_time()
        matrix = PURIFIERS[method](**parameters).matrix(game, policy)
        seconds = time.process_time() - began
        labels = [f"{key} {value}" for key, value in parameters.items()]
        yield [method, ", ".join(labels), *measured(game, matrix, strong), f"{seconds:.1f}"]


def measured(game: Any, strategy: Any, budget: Budget) -> list[str]:
    """Attack found and full-memory bound, formatted."""
    found = attack(game, strategy, budget).win_rate
    return [f"{found:.6f}", f"{full_memory_bound(game, strategy):.6f}"]


def sharpened(
    game: HogEngine, policy: Floats, iterations: int, strong: Budget
) -> Iterator[list[object]]:
    """Measure the matrix that the bundle method ends with when entropy has a rising price."""
    sharpen = LAST_PRICE / iterations
    with TemporaryDirectory() as folder:
        start = Path(folder) / "policy.npz"
        strategy_of_shape(None, policy).write(start)
        began = time.process_time()
        solver = ProximalBundle(start=str(start), sharpen=sharpen)
        state = after(solver, game, iterations)
        matrix = argmax(game, solver.average(game, state))
        seconds = time.process_time() - began
    labels = f"sharpen {sharpen:.1e}, iterations {iterations}"
    yield ["bundle", labels, *measured(game, matrix, strong), f"{seconds:.1f}"]


def rounded(
    game: HogEngine, policy: Floats, programs: int, strong: Budget
) -> Iterator[list[object]]:
    """Measure what integer programs make of the rows that a rising price has left mixed.

    Begun twice, the second time with the counters that the first one met.
    """
    with TemporaryDirectory() as folder:
        start, counters = Path(folder) / "policy.npz", Path(folder) / "counters.npz"
        strategy_of_shape(None, policy).write(start)
        known = ""
        for begun in ("once", "twice"):
            began = time.process_time()
            solver = ProximalBundle(start=str(start), counters=known, **RISING)
            state = after(solver, game, RISEN)
            np.savez(counters, pool=state.pool)
            search = IntegerRounding(rounds=programs, counters=str(counters))
            found = search.init(game, solver.average(game, state))
            for later in search.rounds_from(game, found):
                found = later
            np.savez(counters, pool=found.pool)
            known = str(counters)
            seconds = time.process_time() - began
            labels = f"rounds {programs}, begun {begun}, from bundle"
            yield ["integer", labels, *measured(game, found.matrix, strong), f"{seconds:.1f}"]


def after(solver: ProximalBundle, game: HogEngine, iterations: int) -> BundleState:
    """Run the bundle method for so many iterations."""
    state = solver.init(game)
    for _ in range(iterations):
        state = solver.step(game, state)
    return state


def figure(out: Any, name: str, game: Any, policy: Any, samples: int) -> None:
    """Draw the best of n samples against n, with and without a threshold, averaged over orders."""
    lines = {}
    for level in (0.0, 0.3):
        _, rates = Threshold(samples, level).drawn(game, policy)
        orders = np.random.default_rng(0).permuted(np.tile(rates, (200, 1)), axis=1)
        best = np.minimum.accumulate(orders, axis=1).mean(axis=0)
        lines[f"threshold {level}"] = [(n + 1.0, rate) for n, rate in enumerate(best.tolist())]
    draw(out, name, {"samples drawn": lines}, "attack on the best", logarithmic=False)


if __name__ == "__main__":
    main()
