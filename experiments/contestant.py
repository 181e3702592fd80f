"""What a champion is worth to a contestant: it against every baseline, and a field of them all.

    python experiments/contestant.py --editions su20 su21

Enters the champion's matrix, the counters known to it and to the champion's policy, the best
counter found to `ignore_memory`, and every baseline that the rules allow, each table once. All play
all, exactly; a match is won by more than 0.500001. Prints a Markdown table for each edition, the
entries by rank, and writes it to results/contestant_EDITION.md.
"""

from pathlib import Path
from typing import Any

import numpy as np
from common import arguments, publish, small_game
from numpy.typing import NDArray

from hogeq.baselines.registry import builtin
from hogeq.contest.tournament import lowest_win_rates, mean_win_rates, rank, round_robin
from hogeq.model.game import HogEngine
from hogeq.search.attack import SearchBudget, attack
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.read import read_strategy
from hogeq.support.workers import workers

BASELINES = (
    *(f"always_roll:{dice}" for dice in range(3, 9)),
    *(f"{name}:8,6" for name in ("bacon", "swap", "rise", "special", "more_boar", "extra_turn")),
    "hog_wild_heuristic",
    "ignore_memory",
    "delta_distribution",
    "huan2020",
)


def main() -> None:
    """Print and write a table for each edition."""
    given = arguments(
        __doc__, editions=("su20",), goal=0, dice=0, folder="", starts=4, kicks=20, jobs=1
    )
    with workers(given.jobs):
        for edition in given.editions:
            game = small_game(edition, given.goal, given.dice)
            folder = Path(given.folder or given.out / "champions" / edition)
            entries = field(game, folder, SearchBudget(given.starts, perturbations=given.kicks))
            rates = round_robin(game, list(entries.values()))
            means, worst = mean_win_rates(rates), lowest_win_rates(rates)
            names = list(entries)
            rows = []
            for entry, place, wins in rank(rates):
                against = "" if entry == 0 else f"{rates[0, entry]:.4f}"
                ends = f"{means[entry]:.4f}", f"{worst[entry][0]:.4f}"
                rows.append([place, names[entry], against, f"{wins}/{len(names) - 1}", *ends])
            header = ["rank", "entry", "champion against it", "matches won", "mean", "worst"]
            publish(given.out, f"contestant_{edition}", header, rows)


def field(game: HogEngine, folder: Path, budget: SearchBudget) -> dict[str, NDArray[Any]]:
    """Entries by name: the champion first, then counters and baselines."""
    entries: dict[str, NDArray[Any]] = {}
    for name, file in (
        ("champion", "matrix"),
        ("counter to the champion", "counter_to_matrix"),
        ("counter to its policy", "counter_to_policy"),
    ):
        entries[name] = read_strategy(folder / f"{file}.csv", game.goal, game.rules.max_dice)
    for name in BASELINES:
        try:
            one: NDArray[Any] = np.asarray(builtin(name, game))
        except StrategyError:  # the rules do not allow it
            continue
        tables = [other for other in entries.values() if isinstance(other, np.ndarray)]
        if not any(np.array_equal(one, other) for other in tables):
            entries[name] = one
    found = attack(game, entries["ignore_memory"], budget)
    return entries | {"counter to ignore_memory": found.matrix}


if __name__ == "__main__":
    main()
