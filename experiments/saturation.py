"""What the attack says is left, beside what twice the effort did find.

    python experiments/saturation.py  # every edition that hides something, small
    python experiments/saturation.py --editions su20 --goal 30 --dice 6 --seeds 1 2 3

The strategies are those of experiments/moves.py. Each is attacked from several seeds, by so many
kicks for each start, twice as many, and so on: the same search, stopped sooner or later. What is
said when it is stopped is compared with what twice the kicks found, and with the best of all.
Prints a Markdown table by what was said, and writes it to results/saturation_GOAL.md; every search
is a row of saturation_GOAL.csv.
"""

import argparse
import csv
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from common import arguments, publish, small_game
from moves import EDITIONS, opponents

from hogeq.search.attack import SearchBudget, attack
from hogeq.search.saturation import ENOUGH
from hogeq.support.files import replacing

EDGES = (0.0, 1e-5, 1e-4, ENOUGH, 1e-3, 1.0)


class Stopped(NamedTuple):
    """A search that was stopped, and what would have come."""

    edition: str
    against: str
    seed: int
    kicks: int
    sweeps: int
    best: float
    said: float
    twice: float  # what twice the kicks found more
    missing: float  # what the best of all searches found more


def main() -> None:
    """Print and write the table."""
    given = arguments(
        __doc__, editions=EDITIONS, goal=16, dice=4, starts=2, kicks=60, doublings=2, seeds=(1, 2)
    )
    searches = [one for edition in given.editions for one in stopped(edition, given)]
    name = f"saturation_{given.goal}"
    header = ["said to be left", "searches", "said", "twice found", "at most", "more than said"]
    publish(given.out, name, [*header, f"best known {ENOUGH} above"], rows(searches))
    path = given.out / f"{name}.csv"
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([Stopped._fields, *searches])


def stopped(edition: str, given: argparse.Namespace) -> Iterator[Stopped]:
    """Attack every strategy of an edition; yield all searches that could be doubled."""
    game = small_game(edition, given.goal, given.dice)
    for kind, strategy in opponents(game, champions=False):
        runs = {}
        for seed in given.seeds:
            for doubling in range(given.doublings + 1):
                kicks = given.kicks << doubling
                budget = SearchBudget(given.starts, perturbations=kicks, seed=seed)
                runs[seed, kicks] = attack(game, strategy, budget)
        known = max(found.win_rate for found in runs.values())
        for (seed, kicks), found in runs.items():
            more, left = runs.get((seed, 2 * kicks)), found.saturation.left
            if more is not None and left is not None:
                twice = more.win_rate - found.win_rate
                missing = known - found.win_rate
                found_so_far = found.sweeps, found.win_rate, left
                yield Stopped(edition, kind, seed, kicks, *found_so_far, twice, missing)


def rows(searches: list[Stopped]) -> Iterator[list[object]]:
    """Sum searches up by what they said."""
    said, twice, missing = np.array(
        [(one.said, one.twice, one.missing) for one in searches]
    ).T.reshape(3, -1)
    for low, high in pairwise(EDGES):
        here = (low <= said) & (said < high)
        if here.any():
            yield [
                f"{low:g} to {high:g}",
                here.sum(),
                f"{said[here].mean():.6f}",
                f"{twice[here].mean():.6f}",
                f"{twice[here].max():.6f}",
                f"{(twice > said + 1e-9)[here].mean():.0%}",
                f"{(missing > ENOUGH)[here].mean():.0%}",
            ]


if __name__ == "__main__":
    main()
