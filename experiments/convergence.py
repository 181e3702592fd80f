"""Exploitability against iterations and against seconds, for every solver.

    python experiments/convergence.py --edition su20
    python experiments/convergence.py --edition su21

Each solver gets its iterations and a limit of processor seconds spent solving, whichever ends
first; after 1, 2, 3, 5, 8, ... iterations its policy is attacked. Prints a Markdown table of where
each solver stood at its best and at its end, and writes results/convergence_EDITION.md and .png.
"""

import time
from typing import Any

from common import Points, arguments, draw, publish, small_game

from hogeq.model.game import Game
from hogeq.response.bounds import full_memory_bound
from hogeq.response.search import SearchBudget, attack
from hogeq.runs.runner import schedule
from hogeq.solvers import SOLVERS

PARAMETERS: dict[str, tuple[str, dict[str, Any]]] = {
    "cfr": ("cfr", {"average_weight": "reach"}),
    "cfr_plus": ("cfr_plus", {"average_weight": "reach"}),
    "linear": ("linear", {"average_weight": "reach"}),
    "dcfr": ("dcfr", {"average_weight": "reach"}),
    "dcfr, tuned": ("dcfr", {"alpha": 1.0, "gamma": 1.0, "average_weight": "reach"}),
    "pcfr_plus": ("pcfr_plus", {"average_weight": "reach"}),
    "fsicfr": ("fsicfr", {}),
    "cfr_br": ("cfr_br", {"averaging": "last"}),
    "fictitious": ("fictitious", {"step_size": "square_root"}),
    "double_oracle": ("double_oracle", {"responder_steps": 20}),
    "mirror": ("mirror", {}),
    "bundle": ("bundle", {}),
    "dynamic": ("dynamic", {}),
}


def main() -> None:
    """Print and write the table, draw the figure."""
    given = arguments(
        __doc__,
        edition="su20",
        goal=0,
        dice=0,
        iterations=300,
        seconds=120.0,
        starts=1,
        anneal_steps=40,
        kicks=10,
        solvers=tuple(PARAMETERS),
    )
    game = small_game(given.edition, given.goal, given.dice)
    budget = SearchBudget(given.starts, given.anneal_steps, perturbations=given.kicks)
    by_iteration: dict[str, Points] = {}
    by_second: dict[str, Points] = {}
    rows = []
    for name in given.solvers:
        curve = trace(game, *PARAMETERS[name], given.iterations, given.seconds, budget)
        by_iteration[name] = [(done, max(won - 0.5, 1e-9)) for done, _, won, _ in curve]
        by_second[name] = [(seconds, max(won - 0.5, 1e-9)) for _, seconds, won, _ in curve]
        best, last = min(curve, key=lambda point: point[2]), curve[-1]
        rows.append(
            [
                name,
                best[0],
                f"{best[2]:.6f}",
                last[0],
                f"{last[1]:.1f}",
                f"{last[2]:.6f}",
                f"{last[3]:.6f}",
            ]
        )
    name = f"convergence_{given.edition}"
    header = ["solver", "best after", "attack", "iterations", "seconds", "attack", "bound"]
    publish(given.out, name, header, rows)
    panels = {"iterations": by_iteration, "seconds of solving": by_second}
    draw(given.out, name, panels, "attack found, win rate - 1/2")


def trace(
    game: Game,
    name: str,
    parameters: dict[str, Any],
    iterations: int,
    limit: float,
    budget: SearchBudget,
) -> list[tuple[int, float, float, float]]:
    """Run a solver and give iterations, seconds, attack and bound on the way."""
    solver = SOLVERS[name](**parameters)
    solver.step(game, solver.init(game))  # what is compiled first does not count
    began = time.process_time()
    state, done, curve = solver.init(game), 0, []
    seconds = time.process_time() - began  # self-play, where a solver begins with it
    for moment in schedule(iterations, "log"):
        while done < moment and (seconds < limit or done == 0):
            began = time.process_time()
            state = solver.step(game, state)
            seconds += time.process_time() - began
            done += 1
        policy = solver.average(game, state)
        found = attack(game, policy, budget).win_rate
        curve.append((done, seconds, found, full_memory_bound(game, policy)))
        if done < moment:
            break
    return curve


if __name__ == "__main__":
    main()
