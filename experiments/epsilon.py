"""Errors on purpose: the perturbed game, and error modelling in dynamic programs.

    python experiments/epsilon.py

A solver that lets every roll keep a probability of at least epsilon learns in cells that it would
never reach; a dynamic program whose opponent errs knows what to do there. What is measured is the
policy, its argmax, and its argmax against opponents who err on 1 turn in 100.
Prints a Markdown table and writes results/epsilon.md and .png.
"""

from collections.abc import Iterator
from typing import Any

from common import EFFORT, arguments, draw, effort, publish, small_game, solved

from hogeq.baselines.delta import countable, trembling
from hogeq.baselines.registry import builtin
from hogeq.evaluation.win_rates import win_rate
from hogeq.purification import argmax
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound


def main() -> None:
    """Print and write the table, draw the figure."""
    given = arguments(
        __doc__,
        edition="su20",
        goal=0,
        dice=0,
        iterations=100,
        epsilons=(0.0, 1e-5, 1e-4, 1e-3, 1e-2),
        **EFFORT,
    )
    game = small_game(given.edition, given.goal, given.dice)
    budget = effort(given)
    erring = trembling(game, builtin("ignore_memory", game), 0.01)
    runs: dict[str, tuple[str, int, dict[str, Any]]] = {
        "cfr_plus": ("cfr_plus", given.iterations, {"average_weight": "reach"}),
        "dcfr": ("dcfr", given.iterations, {"average_weight": "reach", "alpha": 1.0, "gamma": 1.0}),
    }
    if countable(game):
        runs["dynamic, exact"] = ("dynamic", 10, {"memory": "exact"})
        runs["dynamic, counted"] = ("dynamic", 2, {"memory": "counted"})
    lines: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}

    def rows() -> Iterator[list[object]]:
        for name, (solver, iterations, parameters) in runs.items():
            for epsilon in given.epsilons:
                policy = solved(game, solver, iterations, epsilon=epsilon, **parameters)
                matrix = argmax(game, policy)
                found = [attack(game, each, budget).win_rate for each in (policy, matrix)]
                against = win_rate(game, matrix, erring).win_rate
                figures = [*found, full_memory_bound(game, policy), against]
                lines[name].append((max(epsilon, 1e-6), found[0] - 0.5))
                yield [name, epsilon, *(f"{figure:.6f}" for figure in figures)]

    header = ["solver", "epsilon", "attack", "argmax, attack", "bound", "argmax against errors"]
    publish(given.out, "epsilon", header, rows())
    panels = {"epsilon (0 at the left edge)": lines}
    draw(given.out, "epsilon", panels, "attack found, win rate - 1/2")


if __name__ == "__main__":
    main()
