"""Every solver of policies on the editions without memory, where the tablebase is the answer.

    python experiments/no_memory.py

The policies and their argmax matrices are measured by the win rate that a best response wins beyond
1/2, exactly. Prints a Markdown table and writes results/no_memory.md.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from common import arguments, publish, solved

from hogeq.model.game import compile_game
from hogeq.purification import argmax
from hogeq.rules import EDITIONS, Rules
from hogeq.search.bounds import full_memory_bound

RUNS: dict[str, tuple[int, dict[str, Any]]] = {
    **dict.fromkeys(
        ("cfr", "cfr_plus", "linear", "dcfr", "pcfr_plus"),
        (1000, {"regret_weight": "belief", "alternating": False}),
    ),
    "fsicfr": (1000, {"regret_weight": "belief"}),
    "cfr_br": (500, {"regret_weight": "belief", "averaging": "last", "responders": 4}),
    "fictitious": (50, {"step_size": "square_root", "keep_matrices": False}),
    "double_oracle": (40, {}),
    "mirror": (1000, {"cold": 1e-6, "cooling": 0.98}),
    "bundle": (60, {}),
}
"""Iterations and parameters; rows that are never reached learn by belief, not by reach."""


def games(goal: int, dice: int) -> dict[str, Rules]:
    """Editions without memory; 0 for the goal and dice of the edition."""
    found = {name: EDITIONS[name] for name in ("hw13", "fa22", "fa15", "sp21")}
    found["fa15 without Piggy Back"] = replace(EDITIONS["fa15"], piggy_back=False)
    return {
        name: replace(rules, goal=goal or rules.size, max_dice=dice or rules.max_dice)
        for name, rules in found.items()
    }


def main() -> None:
    """Print and write the table."""
    given = arguments(
        __doc__, goal=0, dice=0, editions=tuple(games(0, 0)), solvers=tuple(RUNS), share=1.0
    )
    header = ["edition", "solver", "iterations", "policy", "matrix"]
    publish(given.out, "no_memory", header, lines(given))


def lines(given: argparse.Namespace) -> Iterator[list[object]]:
    """Measure every solver on every game."""
    for name, rules in games(given.goal, given.dice).items():
        if name not in given.editions:
            continue
        game = compile_game(rules)
        for solver in given.solvers:
            iterations, parameters = RUNS[solver]
            iterations = max(1, round(given.share * iterations))
            policy = solved(game, solver, iterations, **parameters)
            beyond = [
                full_memory_bound(game, each) - 0.5 for each in (policy, argmax(game, policy))
            ]
            yield [name, solver, iterations, *(f"{rate:.1e}" for rate in beyond)]


if __name__ == "__main__":
    main()
