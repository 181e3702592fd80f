"""The smallest games of Hog in which a mixture can do what no policy can.

    python experiments/mixtures.py
    python experiments/mixtures.py --goals 2 --dice 1 2 3 --sides 2 3 4 6     # search

Without sizes: the games of docs/mixtures.md. With sizes: all games of these sizes that one way to
score without dice, one swap, and one memory can make (Feral Hogs, or Time Trot of period 2 to 8),
each game once. A mixture is never beaten by more than 1/2; for the others the table says by how
much the best matrix and the best policy are, less 1/2: the latter from both sides, by branch and
bound (normal_form.py). Prints a Markdown table and writes results/mixtures.md.
"""

import argparse
from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

from common import arguments, publish
from normal_form import TinyGame, policy_value, solve

from hogeq.rules import Rules, rules_from
from hogeq.rules.parts import SWAPS, ZERO_DICE
from hogeq.rules.turn import total_rises

TROT = {"time_trot": True, "time_trot_period": 2}
CUBES = {"zero_dice": "alternating_cube_digits"}
DOUBLE = {"zero_dice": "twice_tens_minus_ones", "swap": "double"}
GAMES: tuple[dict[str, Any], ...] = (
    {"goal": 4, "max_dice": 2, "sides": 2, **CUBES, **TROT},
    *({"goal": 3, "max_dice": 1, "sides": sides, **DOUBLE, **TROT} for sides in (2, 3, 6)),
    {"goal": 4, "max_dice": 1, "sides": 3, **DOUBLE, "feral_hogs": "points"},
    {"edition": "sp20", "goal": 10, "max_dice": 1, "sides": 4},
)
MEMORIES: tuple[dict[str, Any], ...] = (
    {"feral_hogs": "points"},
    {"feral_hogs": "dice"},
    *({"time_trot": True, "time_trot_period": period} for period in range(2, 9)),
)
PURE = 1e-9  # a best matrix that is beaten by no more is not beaten
HEADER = [
    *("game", "goal", "dice", "sides", "states", "cells", "matrices", "mixed"),
    *("best matrix", "best policy, at least", "found", "programs"),
]


def main() -> None:
    """Print and write the table."""
    given = arguments(__doc__, goals=(0,), dice=(0,), sides=(0,), most=64)
    publish(given.out, "mixtures", HEADER, lines(given))


def lines(given: argparse.Namespace) -> Iterator[list[object]]:
    """Solve games one after the other; of a search, give those in which policies fall short."""
    searching = max(given.goals) > 0
    met = set()
    tried = 0
    for spec in searched(given) if searching else GAMES:
        game = tiny(spec)
        if game is None:
            continue
        if searching:
            same = repr((game.cell, game.ways))
            if same in met:
                continue
            met.add(same)
        tried += 1
        found = figures(game, given.most if searching else 10**6)
        if found is not None and (not searching or float(found[-3]) > 0.0):
            yield [named(spec), game.rules.size, game.rules.max_dice, game.rules.sides, *found]
    if searching:
        yield [f"of {tried} games", *[""] * (len(HEADER) - 1)]


def searched(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """List the games of a search."""
    for goal, dice, sides, memory, zero, swap in product(
        given.goals, given.dice, given.sides, MEMORIES, ZERO_DICE, SWAPS
    ):
        sizes = {"goal": goal, "max_dice": dice, "sides": sides}
        yield {**sizes, "zero_dice": zero, "swap": swap, **memory}


def tiny(spec: dict[str, Any]) -> TinyGame | None:
    """List the states of a game, if they can be listed."""
    rules: Rules = rules_from(spec)
    if not total_rises(rules):
        return None
    try:
        return TinyGame(rules)
    except OverflowError:
        return None


def figures(game: TinyGame, most: int) -> list[Any] | None:
    """Solve one game; None if there is nothing to choose, or too much."""
    cells = game.eliminate()
    shape = [len(game.rolls[cell]) for cell in cells]
    if not 2 <= prod(shape) <= most:
        return None
    payoffs = game.payoffs(game.matrices(cells))
    best_matrix = float(payoffs.max(axis=0).min()) - 0.5
    if best_matrix < PURE:
        mixed, lower, upper, nodes = 1, 0.0, 0.0, 0
    else:
        found = policy_value(payoffs, shape)
        mixed = int((solve(payoffs)[1] > PURE).sum())
        lower, upper, nodes = found.lower - 0.5, found.upper - 0.5, found.nodes
    where = " ".join(f"{own}-{other}" for own, other in cells)
    return [
        *(len(game.states), where, prod(shape), mixed, f"{best_matrix:.6f}"),
        *(f"{max(lower - 1e-9, 0.0):.6f}", f"{max(upper, 0.0):.6f}", nodes),
    ]


def named(spec: dict[str, Any]) -> str:
    """Say what makes a game, its sizes aside."""
    parts = {key: value for key, value in spec.items() if key not in {"goal", "max_dice", "sides"}}
    return ", ".join(
        key if value is True else f"{key}: {value}" if key != "edition" else str(value)
        for key, value in parts.items()
        if (key, value) != ("swap", "none")
    )


if __name__ == "__main__":
    main()
