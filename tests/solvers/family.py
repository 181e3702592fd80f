"""The CFR family by name, and runs of it."""

from collections.abc import Iterator
from typing import Any

from hogeq.solvers import SOLVERS
from hogeq.support.aliases import Floats
from tests import toys

FAMILY = ("cfr", "cfr_plus", "linear", "dcfr", "pcfr_plus")
TREES_ALONE = {"dag_cfr"}  # solvers that Hog has no use for
WEIGHTS = ("reach", "counterfactual", "belief")

SOLVABLE = {
    "pennies": toys.pennies,
    "rock_paper_scissors": toys.rock_paper_scissors,
    "kuhn": toys.kuhn,
    "rooms": toys.rooms,
}


def run(game: Any, name: str, iterations: int, **options: Any) -> tuple[Any, Any]:
    """Run a solver for some iterations and give it with its state."""
    solver = SOLVERS[name](**options)
    state = solver.init(game)
    for _ in range(iterations):
        state = solver.step(game, state)
    return solver, state


def averages(game: Any, name: str, at: list[int], **options: Any) -> Iterator[Floats]:
    """Average policies after several numbers of iterations."""
    solver = SOLVERS[name](**options)
    state = solver.init(game)
    for iteration in range(1, max(at) + 1):
        state = solver.step(game, state)
        if iteration in at:
            yield solver.average(game, state)
