"""How the exploitability of a mixture falls with the number of its parts.

    python experiments/parts.py --goal 30 --dice 6 --seconds 600

The solver `mixture` runs for equal processor time with every number of parts, and with responders
in proportion; one part is `cfr_br`. At ever later moments, twice as late each time, the mixture is
attacked with more kicks than it was trained with and other seeds. Prints a Markdown table, writes
results/parts.md, and draws results/parts.png.
"""

import argparse
import time
from collections.abc import Iterator
from typing import Any

from common import arguments, draw, publish, small_game

from hogeq.model.game import Game
from hogeq.response.bounds import upper_bound
from hogeq.response.search import SearchBudget, attack
from hogeq.solvers import SOLVERS

HEADER = ["parts", "responders", "iterations", "processor seconds", "drawn", "attack", "bound"]
TRAINING = 1  # seed; the attack has others


def main() -> None:
    """Print and write the table, and draw it."""
    given = arguments(
        __doc__,
        edition="su20",
        goal=30,
        dice=6,
        parts=(1, 2, 4),
        per_part=16,
        seconds=600.0,
        moments=4,
        starts=8,
        kicks=100,
    )
    game = small_game(given.edition, given.goal, given.dice)
    curves: dict[str, list[tuple[float, float]]] = {}

    def rows() -> Iterator[list[object]]:
        for parts in given.parts:
            for row in course(game, parts, given):
                excess = max(float(row[-2]) - 0.5, 1e-7)
                curves.setdefault(f"{parts} parts", []).append((float(row[3]), excess))
                yield row

    publish(given.out, "parts", HEADER, rows())
    draw(given.out, "parts", {"processor seconds": curves}, "exploitability (attack found)")


def course(game: Game, parts: int, given: argparse.Namespace) -> Iterator[list[Any]]:
    """Solve with so many parts, and attack what has been found at every moment."""
    responders = given.per_part * parts
    solver = SOLVERS["mixture"](
        parts=parts, responders=responders, newcomers=max(1, responders // 4), seed=TRAINING
    )
    state = solver.step(game, solver.init(game))  # compiles
    state = solver.init(game)
    moments = [given.seconds / 2**power for power in reversed(range(given.moments))]
    iterations, spent = 0, 0.0
    budget = SearchBudget(starts=given.starts, perturbations=given.kicks, seed=TRAINING + 1)
    for moment in moments:
        began = time.process_time()
        while spent + time.process_time() - began < moment:
            state = solver.step(game, state)
            iterations += 1
        spent += time.process_time() - began
        mixture = solver.mixture(game, state)
        if mixture is None:
            raise TypeError(f"solver {solver}: gives no mixture")
        drawn = solver.stats(game, state)["drawn"]
        won = attack(game, mixture, budget).win_rate
        yield [
            *(parts, responders, iterations, f"{spent:.1f}", f"{drawn:.2f}"),
            *(f"{won:.6f}", f"{upper_bound(game, mixture):.6f}"),
        ]


if __name__ == "__main__":
    main()
