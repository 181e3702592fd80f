"""Limits of time: what was asked for, and what was used, on the clock, by everything that has one.

    python benchmarks/bench_limits.py
    python benchmarks/bench_limits.py --seconds 10

Used is without building the game, which comes before, and without compiling. At most 1.2 times the
time asked for is promised; a certificate and full-size Hog take as long as two backward passes in
any case. On a machine that does other things as well, waiting counts.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from bench_trees import dealt
from timing import ASKED, Timing, report

import hogeq
from hogeq.benchmark.generators import random_tree
from hogeq.contest.submission import inspect_submission
from hogeq.search.certificate import certified_bound
from hogeq.solvers import dags
from hogeq.solvers.dags import METHODS
from hogeq.trees.flat import FlatTree
from hogeq.trees.saved import save_tree
from hogeq.trees.sequences import sequence_form

SECONDS = 1.0
ENDLESS = "def final_strategy(score, opponent):\n    while True:\n        pass\n"


class Ladder(hogeq.GameRules):
    """Partners who hold a number each bid higher in turn, until one stops."""

    players = 1

    def __init__(self, numbers: int, top: int) -> None:
        self.numbers, self.top = numbers, top

    def initial(self) -> Any:
        """Begin with nothing dealt."""
        return ()

    def to_move(self, state: Any) -> int:
        """Deal two numbers; then the partners, one player, bid."""
        if len(state) < 2:
            return hogeq.CHANCE
        ended = len(state) > 2 and state[-1] in {"stop", self.top}
        return hogeq.END if ended else 0

    def actions(self, state: Any) -> list[Any]:
        """List higher bids, and to stop."""
        if len(state) < 2:
            return list(range(self.numbers))
        low = state[-1] + 1 if len(state) > 2 else 1
        return [*range(low, self.top + 1), "stop"]

    def next(self, state: Any, action: Any) -> Any:
        """Put the move behind those before."""
        return (*state, action)

    def knows(self, state: Any, player: int) -> str:  # noqa: ARG002
        """Tell the partner to move the own number, and all bids."""
        return f"partner {len(state) % 2} holds {state[len(state) % 2]} bids {state[2:]}"

    def payoffs(self, state: Any) -> tuple[float]:
        """Pay the last bid if the numbers are worth it, and else take it."""
        bids = [one for one in state[2:] if one != "stop"]
        level = bids[-1] if bids else 0
        made = (state[0] * state[1] + state[0] + 2 * state[1]) % (self.top + 3)
        return (level if level <= made else -level,)


def games() -> dict[str, Callable[[], Any]]:
    """List hard games: of partners, random, with perfect recall."""
    return {
        "ladder 20 6": lambda: Ladder(20, 6),
        "ladder 28 6": lambda: Ladder(28, 6),
        "random, 6 rounds": lambda: random_tree(6, 3, 60, 0),
        "6 cards": lambda: dealt(6),
    }


def game_of(made: Any) -> hogeq.Game:
    """Hold a game; a tree goes by way of a file."""
    if not isinstance(made, FlatTree):
        return hogeq.Game(made)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "game.npz"
        save_tree(made, path)
        return hogeq.Game(path)


def of_tree(game: hogeq.Game, seconds: float) -> dict[str, Callable[[], object]]:
    """List what takes a time in a game other than Hog."""
    tree = game.tree
    assert tree is not None
    found: dict[str, Callable[[], object]] = {
        f"equilibrium --method {method}": partial(dags.equilibrium, tree, seconds, method)
        for method in METHODS
    }
    return {
        **found,
        "equilibrium --policies": lambda: game.in_policies(seconds),
        "attack --seconds": lambda: game.attack("uniform", hogeq.Budget(seconds=seconds)),
        "attack --exact": lambda: game.attack(
            "uniform", hogeq.Budget(1, 0, kicks=0, exact_seconds=seconds)
        ),
        "exploitability": lambda: game.exploitability("uniform", hogeq.Budget(seconds=seconds)),
        "gaps": lambda: game.gaps("uniform", seconds),
    }


def of_hog(game: hogeq.Game, seconds: float, folder: Path) -> dict[str, Callable[[], object]]:
    """List what takes a time in Hog."""
    six, endless = game.strategy("always_roll:6"), folder / "endless.py"
    endless.write_text(ENDLESS)
    return {
        "equilibrium": lambda: game.equilibrium(seconds),
        "attack --seconds": lambda: game.attack(six, hogeq.Budget(seconds=seconds)),
        "attack --certify": lambda: certified_bound(game.hog, six, seconds),
        "improve --seconds": lambda: game.improve("always_roll:4", seconds=seconds),
        "check --time-limit": lambda: inspect_submission(
            endless, game.rules, trust=True, time_limit=seconds
        ),
    }


def timings(seconds: float = SECONDS) -> Iterator[Timing]:
    """Time everything once on each game, after it is compiled."""
    warm = hogeq.Game(Ladder(3, 3))
    for run in of_tree(warm, 0.2).values():
        run()
    for name, make in games().items():
        game = game_of(make())
        assert game.tree is not None
        for player in (0, 1):
            sequence_form(game.tree, player)
        nodes = f"{game.tree.num_nodes:,} nodes"
        yield from timed(f"limits: {name}, {nodes}", of_tree(game, seconds), seconds)
    with TemporaryDirectory() as folder:
        game = hogeq.Game("su20")
        runs = of_hog(game, seconds, Path(folder))
        for run in of_hog(hogeq.Game({"edition": "su20", "goal": 12}), 0.2, Path(folder)).values():
            run()
        yield from timed("limits: su20", runs, seconds)


def timed(group: str, runs: dict[str, Callable[[], object]], seconds: float) -> Iterator[Timing]:
    """Time calls with a limit, beside it."""
    yield Timing(group, ASKED, seconds, "wall")
    for name, run in runs.items():
        begun = perf_counter()
        run()
        yield Timing(group, name, perf_counter() - begun, "wall")


def main(arguments: list[str]) -> None:
    """Time with the limit that is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    report("limits", list(timings(parser.parse_args(arguments).seconds)))


if __name__ == "__main__":
    main(sys.argv[1:])
