"""How far above 1/2 the best policies stay, by the length of the game and from run to run.

    python experiments/excess.py --jobs 2

An excess that were an accident of one run would differ from seed to seed; one that is the price of
mixing without memory is paid in every turn and grows with their number.  Every run is CFR-BR with
responders of its own; the better of its last policy and the average over its last window counts.
Prints a Markdown table and writes results/excess_EDITION.md and .png.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from report import arguments, draw, publish, small_game

from hogeq.respond import Effort, attack
from hogeq.solvers.cfr_br import CFRBR


def main() -> None:
    """Print and write the table, draw the figure."""
    given = arguments(
        __doc__,
        edition="su20",
        dice=0,
        goals=(15, 20, 30, 50, 70, 100),
        seeds=3,
        iterations=200,
        starts=4,
        anneal_steps=60,
        jobs=1,
    )
    runs: dict[str, list[tuple[float, float]]] = {}

    def rows() -> Iterator[list[object]]:
        for goal in given.goals:
            game = small_game(given.edition, goal, given.dice)
            for seed in range(given.seeds):
                solver = CFRBR(seed=seed, jobs=given.jobs)
                state = solver.init(game)
                for _ in range(given.iterations):
                    state = solver.step(game, state)
                effort = Effort(given.starts, given.anneal_steps, seed=1000, jobs=given.jobs)
                excess, policy = min(
                    (
                        (attack(game, policy, effort).win_rate - 0.5, policy)
                        for policy in (
                            replace(solver, averaging=averaging).average(game, state)
                            for averaging in ("last", "window")
                        )
                    ),
                    key=lambda pair: pair[0],
                )
                turns = float(game.workspace(2).cell_reach(np.stack([policy, policy])).sum())
                runs.setdefault(f"seed {seed}", []).append((goal, excess))
                yield [goal, f"{turns:.1f}", seed, f"{excess:.6f}", f"{excess / turns:.6f}"]

    header = ["goal", "turns of a player", "seed", "excess", "excess a turn"]
    name = f"excess_{given.edition}"
    publish(given.out, name, header, rows())
    draw(given.out, name, {"goal": runs}, "attack found, win rate - 1/2", logarithmic=False)


if __name__ == "__main__":
    main()
