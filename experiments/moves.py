"""What every move of the attack finds alone, and what they find together, in as many sweeps.

    python experiments/moves.py  # every edition that hides something, small
    python experiments/moves.py --editions su20 --goal 100 --dice 10 --champions 1

Against averages of CFR, the argmax of one of them with random rolls in a tenth of the cells, and
policies of CFR-BR; or against the champions. The attack has a few starts, and kicks by one of the
moves that refine or by all; what it has found is read off after the same number of sweeps.
Prints a Markdown table and writes it to results/moves_GOAL.md, the curves to moves_GOAL.csv.
"""

import argparse
import csv
from collections.abc import Iterator
from math import ceil

import numpy as np
from common import arguments, publish, small_game, solved

from hogeq.baselines import builtin
from hogeq.model.game import HogEngine
from hogeq.search.attack import SearchBudget, SearchResult, attack
from hogeq.search.moves import MOVES, NEAR
from hogeq.support.files import replacing
from hogeq.support.workers import workers

PORTFOLIO = "all moves"
EDITIONS = ("su20", "su21", "sp20", "fa19", "fa18", "sp19", "fa17")
SWEEPS = {"annealed_again": 10.0, "perturbed_opponent": 5.5, PORTFOLIO: 5.5}
"""Sweeps that a kick takes, or a little fewer; others take 3.5."""


def main() -> None:
    """Print and write the table."""
    given = arguments(
        __doc__,
        editions=EDITIONS,
        goal=16,
        dice=4,
        champions=0,
        starts=2,
        sweeps=1000,
        seed=5,
        jobs=1,
    )
    names = [*NEAR, PORTFOLIO]
    curves: list[list[object]] = [["edition", "against", "moves", "sweeps", "best"]]
    with workers(given.jobs):
        header = ["edition", "against", "starts alone", *names]
        publish(given.out, f"moves_{given.goal}", header, rows(given, names, curves))
    path = given.out / f"moves_{given.goal}.csv"
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(curves)


def opponents(game: HogEngine, champions: bool) -> Iterator[tuple[str, np.ndarray]]:
    """Strategies to attack, by name."""
    if champions:
        yield "champion policy", np.asarray(builtin("champion:policy", game))
        yield "champion matrix", np.asarray(builtin("champion", game))
        return
    average = solved(game, "cfr_plus", 30)
    yield "average of CFR+", average
    random = np.random.default_rng(1)
    matrix = average.argmax(axis=2)
    cells = random.random(matrix.shape) < 0.1
    matrix[cells] = random.integers(game.num_actions, size=int(cells.sum()))
    yield "argmax, a tenth random", matrix
    yield "CFR-BR", solved(game, "cfr_br", 60, responders=12, newcomers=3)


def rows(
    given: argparse.Namespace, names: list[str], curves: list[list[object]]
) -> Iterator[list[object]]:
    """Attack every strategy of every edition by every move."""
    for edition in given.editions:
        game = small_game(edition, given.goal, given.dice)
        for kind, strategy in opponents(game, bool(given.champions)):
            best, alone = [], 0.0
            for name in names:
                found = searched(game, strategy, given, name)
                alone = found.curve[0][1]
                best.append(at(found, given.sweeps))
                curves += [[edition, kind, name, *point] for point in found.curve]
            yield [
                edition,
                kind,
                f"{alone:.5f}",
                *(f"**{one:.5f}**" if one >= max(best) - 5e-6 else f"{one:.5f}" for one in best),
            ]


def searched(
    game: HogEngine, strategy: np.ndarray, given: argparse.Namespace, name: str
) -> SearchResult:
    """Attack by one move, or by all, for so many sweeps or a few more."""
    kick = SWEEPS.get(name, 3.5) * given.starts
    kicks = ceil(max(0, given.sweeps - 66 * given.starts) / kick)
    budget = SearchBudget(given.starts, perturbations=kicks, seed=given.seed)
    return attack(game, strategy, budget, MOVES if name == PORTFOLIO else [name])


def at(found: SearchResult, sweeps: int) -> float:
    """Win rate found after so many sweeps."""
    return [rate for spent, rate in found.curve if spent <= max(sweeps, found.curve[0][0])][-1]


if __name__ == "__main__":
    main()
