"""What the search for a best response finds with more starts, longer annealing, and perturbations.

    python experiments/responder.py --jobs 2

Every budget attacks the champions of an edition, policy and matrix.
Prints a Markdown table and writes results/responder_EDITION.md.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from common import arguments, publish, small_game

from hogeq.search.attack import SearchBudget, attack
from hogeq.strategies.read import read_strategy
from hogeq.support.workers import workers

BUDGETS = [
    SearchBudget(starts=4),
    SearchBudget(starts=16),
    SearchBudget(starts=32),
    SearchBudget(starts=8, anneal_steps=240),
    SearchBudget(starts=4, perturbations=20),
    SearchBudget(starts=4, perturbations=100),
    SearchBudget(starts=4, perturbations=400),
]


def main() -> None:
    """Print and write the table."""
    given = arguments(__doc__, edition="su20", champions="results/champions", seed=5, jobs=1)
    game = small_game(given.edition, 0, 0)

    def rows() -> Iterator[list[object]]:
        for file in ("policy.npz", "matrix.csv"):
            strategy = read_strategy(Path(given.champions) / given.edition / file)
            for budget in BUDGETS:
                begun = time.process_time()
                found = attack(game, strategy, replace(budget, seed=given.seed))
                seconds = time.process_time() - begun
                figures = [budget.starts, budget.anneal_steps, budget.perturbations]
                lowest, highest = min(found.found), max(found.found)
                yield [
                    Path(file).stem,
                    *figures,
                    f"{lowest:.6f}",
                    f"{highest:.6f}",
                    found.sweeps,
                    f"{seconds:.0f}",
                ]

    header = [
        "champion",
        "starts",
        "steps",
        "kicks",
        "worst start",
        "attack",
        "sweeps",
        "processor seconds",
    ]
    with workers(given.jobs):
        publish(given.out, f"responder_{given.edition}", header, rows())


if __name__ == "__main__":
    main()
