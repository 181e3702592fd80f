"""How the exploitability of a mixture falls with the number of its parts.

    python experiments/parts.py --goal 30 --dice 6 --parts 1 2 3 4 8 --seconds 40

`mixture_bundle` runs for equal processor time with every number of parts. At ever later
moments, twice as late each time, and whenever its iterations have doubled, the mixture is attacked
with other seeds than it was trained with, and by the strongest counters that it was trained
against, which climb further; the bound is of the last moment. Prints a Markdown table, writes
results/parts.md, and draws results/parts.png: by time and by iterations.
"""

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
from common import arguments, course, draw, publish, small_game

from hogeq.model.game import HogEngine
from hogeq.model.shared import shared_workspace
from hogeq.search.ascent import SearchContext
from hogeq.search.attack import attack
from hogeq.search.bounds import upper_bound
from hogeq.search.results import Budget
from hogeq.solvers import SOLVERS
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Matrix

HEADER = ["parts", "iterations", "processor seconds", "drawn", "attack", "bound"]
TRAINING = 1  # seed; the attack has others
STRONGEST = 8  # counters, those that win most
FIRST = 20  # iterations, of the first doubling


def main() -> None:
    """Print and write the table, and draw it."""
    given = arguments(
        __doc__,
        edition="su20",
        goal=30,
        dice=6,
        parts=(1, 2, 3, 4, 8),
        trails=0,
        seconds=40.0,
        moments=2,
        starts=8,
        kicks=40,
    )
    game = small_game(given.edition, given.goal, given.dice)
    by_time: dict[str, list[tuple[float, float]]] = {}
    by_iterations: dict[str, list[tuple[float, float]]] = {}

    def rows() -> Iterator[list[object]]:
        for parts in given.parts:
            for row in points(game, parts, given):
                excess = max(float(row[-2]) - 0.5, 1e-7)
                name = f"{parts} {'parts' if parts > 1 else 'part'}"
                by_time.setdefault(name, []).append((float(row[2]), excess))
                by_iterations.setdefault(name, []).append((float(row[1]), excess))
                yield row

    publish(given.out, "parts", HEADER, rows())
    panels = {"processor seconds": by_time, "iterations": by_iterations}
    draw(given.out, "parts", panels, "exploitability (attack found)")


def solver_of(parts: int, given: argparse.Namespace) -> Any:
    """Give the solver."""
    options: dict[str, Any] = {"parts": parts, "seed": TRAINING}
    if given.trails:
        options |= {"trails": given.trails, "kicks": 3, "largest_step": 40.0}
        options |= {"ascents": 4, "perturbed": 2}
    return SOLVERS["mixture_bundle"](**options)


def points(game: HogEngine, parts: int, given: argparse.Namespace) -> Iterator[list[Any]]:
    """Solve with so many parts, and attack what has been found at every moment."""
    solver = solver_of(parts, given)
    moments = [given.seconds / 2**power for power in reversed(range(given.moments))]
    doubled = FIRST
    budget = Budget(starts=given.starts, kicks=given.kicks, seed=TRAINING + 1)
    for iterations, (state, spent) in enumerate(course(game, solver), 1):
        if spent < moments[0] and iterations < doubled:
            continue
        moments = [moment for moment in moments if moment > spent]
        doubled *= 2 if iterations == doubled else 1
        mixture = solver.mixture(game, state)
        drawn = solver.stats(game, state)["drawn"]
        won = max(attack(game, mixture, budget).win_rate, climbed(game, mixture, state.pool))
        bound = "" if moments else f"{upper_bound(game, mixture):.6f}"
        yield [parts, iterations, f"{spent:.1f}", f"{drawn:.2f}", f"{won:.6f}", bound]
        if not moments:
            return


def climbed(game: HogEngine, mixture: Strategy, counters: Matrix) -> float:
    """Climb further from the counters that win most, and give the highest win rate."""
    context = SearchContext.of(game, mixture)
    policies = context.policies  # row 0 is the responder
    work = shared_workspace(game, len(policies))
    rates = []
    for counter in counters:
        policies[0] = one_hot(counter, game.num_actions)
        rates.append(work.win_rate(policies, weights=mixture.chances).win_rate)
    best = 0.0
    for which in np.argsort(rates)[-STRONGEST:]:
        policies[0] = one_hot(counters[which], game.num_actions)
        best = max(best, context.climb()[0])
    return best


if __name__ == "__main__":
    main()
