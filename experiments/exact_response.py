"""How often, and by how much, the search for a best response falls short, on small games.

    python experiments/exact_response.py

Against random policies, random matrices and policies of CFR-BR, the best matrix is found and proved
by branch and bound (research/branch_and_bound.py). Beside it: coordinate ascent alone, the
search from one start and from four, with and without perturbations, what memory would gain beyond
the optimum, and how much of that the bound from prices takes off (research/priced_bound.py).
Prints a Markdown table and writes results/exact_response.md.
"""

import argparse
from collections.abc import Iterator

import numpy as np
from common import arguments, publish, small_game, solved
from research.branch_and_bound import best_response
from research.priced_bound import tighter_bound
from research.process import decision_process

from hogeq.model.game import HogEngine
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound
from hogeq.search.results import Budget

SHORT = 1e-9  # win rate by which a search must miss to have missed
BUDGETS = {
    "ascent, 1 start": Budget(starts=1, anneal_steps=0, kicks=0),
    "1 start": Budget(starts=1, kicks=0),
    "4 starts": Budget(starts=4, kicks=0),
    "4 starts, 20 kicks": Budget(starts=4, kicks=20),
}


def opponents(game: HogEngine, number: int) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Strategies to respond to, by kind."""
    random = np.random.default_rng(0)
    cells = game.shape[:2]
    yield (
        "random policies",
        [random.dirichlet(np.ones(game.num_actions), cells) for _ in range(number)],
    )
    yield "random matrices", [random.integers(game.num_actions, size=cells) for _ in range(number)]
    yield (
        "CFR-BR",
        [solved(game, "cfr_br", 10 * step, averaging="last") for step in range(1, number + 1)],
    )


def main() -> None:
    """Print and write the table."""
    given = arguments(
        __doc__, edition="su20", goals=(8, 9, 10, 11, 12), dice=(2, 3), number=6, most=3000
    )
    header = ["goal", "dice", "against", "proved", "relaxations", *BUDGETS]
    header += ["memory gains", "prices take off"]
    publish(given.out, "exact_response", header, lines(given))


def lines(given: argparse.Namespace) -> Iterator[list[object]]:
    """Measure every kind of opponents on every game."""
    for goal in given.goals:
        for dice in given.dice:
            game = small_game(given.edition, goal, dice)
            for kind, strategies in opponents(game, given.number):
                yield [goal, dice, kind, *figures(game, strategies, given.most)]


def figures(game: HogEngine, strategies: list[np.ndarray], most: int) -> list[str]:
    """Summarise one kind of opponents."""
    proved, nodes, gained, taken = 0, [], [], []
    missed: dict[str, list[float]] = {name: [] for name in BUDGETS}
    for strategy in strategies:
        exact = best_response(game, strategy, most)
        proved += exact.is_exact
        nodes.append(exact.nodes)
        for name, budget in BUDGETS.items():
            missed[name].append(exact.win_rate - attack(game, strategy, budget).win_rate)
        full = full_memory_bound(game, strategy)
        gained.append(full - exact.win_rate)
        taken.append(full - tighter_bound(decision_process(game, strategy)))
    return [
        f"{proved} of {len(strategies)}",
        f"{np.mean(nodes):.0f}",
        *(_short(np.array(short)) for short in missed.values()),
        f"{np.mean(gained):.1e}",
        f"{sum(taken) / sum(gained):.0%}" if sum(gained) > SHORT else "",
    ]


def _short(short: np.ndarray) -> str:
    count = int((short > SHORT).sum())
    return f"{count} short, by up to {short.max():.1e}" if count else "none short"


if __name__ == "__main__":
    main()
