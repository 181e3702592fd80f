"""Limits of time: what was asked for, and what was used, by everything that has one.

    python benchmarks/bench_limits.py
    python benchmarks/bench_limits.py --seconds 10 --only "attack"

Used is processor time, and limits are of it too, so that a machine that does other things as well
gives the same figures; HiGHS alone looks at the clock. Building the game, its sequences and its
numbers in fractions comes before, and so does compiling. At most 1.2 times the time asked for is
promised; a certificate and full-size Hog take as long as two backward passes in any case.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from bench_trees import dealt
from timing import ASKED, Timing, report

import hogeq
from hogeq.benchmark.catalogue import Entry
from hogeq.contest.submission import inspect_submission
from hogeq.runs.summary import response_interval
from hogeq.solvers.dags import METHODS
from hogeq.support.deadline import Deadline
from hogeq.trees.decision_problems import RandomTree
from hogeq.trees.enclosures import exact_numbers_of
from hogeq.trees.flat import FlatTree
from hogeq.trees.rules import from_rules
from hogeq.trees.saved import save_tree
from hogeq.trees.sequences import sequence_form

SECONDS = 1.0
EDITIONS = ("sp20", "su21", "fa18", "fa19", "sp19", "fa17", "fa13", "fa25")
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


class Walk(hogeq.GameRules):
    """A walker who forgets how far he came: at each step he goes on, or stops for what is there."""

    players = 1

    def __init__(self, steps: int, signs: int) -> None:
        self.steps, self.signs = steps, signs

    def initial(self) -> int:
        """Begin at the first step."""
        return 0

    def to_move(self, state: int) -> int:
        """Let him walk until he stops or has made all steps."""
        return 0 if 0 <= state < self.steps else hogeq.END

    def actions(self, state: int) -> list[str]:  # noqa: ARG002
        """List the two."""
        return ["go", "stop"]

    def next(self, state: int, action: str) -> int:
        """Count the steps; where he stopped is below 0."""
        return state + 1 if action == "go" else -1 - state

    def knows(self, state: int, player: int) -> int:  # noqa: ARG002
        """Read a sign: signs come again and again."""
        return state % self.signs

    def payoffs(self, state: int) -> tuple[float]:
        """Pay most at the end."""
        return (2.0 if state >= 0 else -state * 7919 % 1009 / 1009.0,)


class Forgetter(hogeq.GameRules):
    """A player alone, who knows what chance drew last; or two players who know a sum of moves."""

    def __init__(self, moves: int, players: int) -> None:
        self.moves, self.players = moves, players

    def initial(self) -> Any:
        """Begin with no move."""
        return ()

    def to_move(self, state: Any) -> int:
        """Let two move in turn; of one player the first is chance."""
        if len(state) == self.moves:
            return hogeq.END
        return len(state) % 2 if self.players == 2 else (hogeq.CHANCE, 0)[len(state) % 2]

    def actions(self, state: Any) -> list[int]:  # noqa: ARG002
        """List three."""
        return [0, 1, 2]

    def next(self, state: Any, action: int) -> Any:
        """Put the move behind those before."""
        return (*state, action)

    def knows(self, state: Any, player: int) -> Any:  # noqa: ARG002
        """Tell the sum of all moves, which comes again in a play; or the last move."""
        return sum(state) % 5 if self.players == 2 else (len(state), state[-1])

    def payoffs(self, state: Any) -> tuple[float, ...]:
        """Pay by a number made of the moves."""
        paid = sum(3**place * move for place, move in enumerate(state)) * 7919 % 1009 / 1009 - 0.5
        return (paid, -paid)[: self.players]


class Bits(hogeq.GameRules):
    """Two players in turn pick bits; all that they know are the number of bits and the last few."""

    players = 2

    def __init__(self, moves: int, known: int) -> None:
        self.moves, self.known = moves, known

    def initial(self) -> Any:
        """Begin with no bit."""
        return ()

    def to_move(self, state: Any) -> int:
        """Let two move in turn."""
        return hogeq.END if len(state) == self.moves else len(state) % 2

    def actions(self, state: Any) -> list[int]:  # noqa: ARG002
        """List both bits."""
        return [0, 1]

    def next(self, state: Any, action: int) -> Any:
        """Put the bit behind those before."""
        return (*state, action)

    def knows(self, state: Any, player: int) -> Any:  # noqa: ARG002
        """Tell how many bits there are, and the last."""
        return len(state), state[-self.known :]

    def payoffs(self, state: Any) -> tuple[float, float]:
        """Pay by a number made of the bits."""
        paid = sum(bit << place for place, bit in enumerate(state)) * 7919 % 1009 / 1009 - 0.5
        return paid, -paid


class Ruin(hogeq.GameRules):
    """Two players in turn move a sum of money by 1 or 2, to all or nothing; positions recur."""

    def __init__(self, money: int, is_seen: bool) -> None:
        self.money, self.is_seen = money, is_seen

    def initial(self) -> Any:
        """Begin in the middle."""
        return self.money // 2, 0, 0

    def to_move(self, state: Any) -> int:
        """Let a player choose the stake, then chance decide."""
        now, player, stake = state
        if not 0 < now < self.money:
            return hogeq.END
        return hogeq.CHANCE if stake else player

    def actions(self, state: Any) -> list[int]:
        """List stakes, or signs."""
        return [-1, 1] if state[2] else [1, 2]

    def next(self, state: Any, action: int) -> Any:
        """Move the money by the stake, up or down."""
        now, player, stake = state
        return (now + action * stake, 1 - player, 0) if stake else (now, player, action)

    def knows(self, state: Any, player: int) -> Any:  # noqa: ARG002
        """See the money, or which half it is in."""
        return state if self.is_seen else 2 * state[0] > self.money

    def payoffs(self, state: Any) -> tuple[float, float]:
        """Pay who has all."""
        return (1.0, -1.0) if state[0] >= self.money else (-1.0, 1.0)


def games() -> dict[str, Callable[[], Any]]:
    """List hard games: of partners, random, with perfect recall."""
    return {
        "ladder 20 6": lambda: Ladder(20, 6),
        "ladder 28 6": lambda: Ladder(28, 6),
        "random, 6 rounds": lambda: from_rules(RandomTree(6, 3, 60, 0)),
        "6 cards": lambda: dealt(6),
        "16 bits, 3 known": lambda: Bits(16, 3),
        "16 bits, all known": lambda: Bits(16, 16),
    }


def game_of(made: Any) -> hogeq.Game:
    """Hold a game; a tree goes by way of a file."""
    if not isinstance(made, FlatTree):
        return hogeq.Game(made)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "game.npz"
        save_tree(made, path)
        return hogeq.Game(path)


Runs = dict[str, Callable[[], object]]


def of_tree(game: hogeq.Game, seconds: float) -> Runs:
    """List what takes a time in a game other than Hog."""
    tree, budget = game.tree, hogeq.Budget(seconds=seconds)
    assert tree is not None
    uniform = tree.uniform()
    found: Runs = {
        f"equilibrium --method {method}": partial(game.equilibrium, seconds, method)
        for method in METHODS
    }
    return {
        **found,
        "equilibrium --policies": partial(game.in_policies, seconds),
        "attack --seconds": partial(game.attack, "uniform", budget),
        "attack --exact": partial(game.attack, "uniform", hogeq.Budget(exact_seconds=seconds)),
        "exploitability": partial(game.exploitability, "uniform", budget),
        "nash_conv": partial(game.nash_conv, "uniform", budget),
        "attack --certify": partial(game.certify, "uniform", seconds),
        "gaps": partial(game.gaps, "uniform", seconds),
        "run, measure.attack.seconds": partial(response_interval, game, uniform, budget),
        "bench-games run, proof": partial(_entry(tree, "random").solve, 0, seconds),
        "bench-games run, game": partial(_entry(tree, "game").solve, 0, seconds),
    }


def _entry(tree: FlatTree, family: str) -> Entry:
    return Entry(tree.name, family, "", lambda: hogeq.Game(tree))


def of_walk(game: hogeq.Game, seconds: float) -> Runs:
    """List what takes a time where a row is met again in a play."""
    return {
        "gaps": partial(game.gaps, "uniform", seconds),  # first: before anybody inflates
        "equilibrium": partial(game.equilibrium, seconds),
        "equilibrium --policies": partial(game.in_policies, seconds),
        "attack --seconds": partial(game.attack, "uniform", hogeq.Budget(seconds=seconds)),
        "nash_conv": partial(game.nash_conv, "uniform", hogeq.Budget(seconds=seconds)),
        "attack --certify": partial(game.certify, "uniform", seconds),
    }


def of_positions(game: hogeq.Game, seconds: float) -> Runs:
    """List what takes a time in a game by its positions."""
    return {
        "equilibrium": partial(game.equilibrium, seconds),
        "attack --seconds": partial(game.attack, "uniform", hogeq.Budget(seconds=seconds)),
    }


def of_hog(game: hogeq.Game, seconds: float) -> Runs:
    """List what takes a time in Hog."""
    six, budget = game.strategy("always_roll:6"), hogeq.Budget(seconds=seconds)
    return {
        "equilibrium": partial(game.equilibrium, seconds),
        "attack --seconds": partial(game.attack, six, budget),
        "attack --certify": partial(game.certify, six, seconds),
        "exploitability": partial(game.exploitability, six, budget),
        "improve --seconds": partial(game.improve, "always_roll:4", seconds=seconds),
        "run, measure.attack.seconds": partial(response_interval, game, six, budget),
    }


def timings(seconds: float = SECONDS, only: str = "") -> Iterator[Timing]:
    """Time everything once on each game, after it is compiled."""
    Deadline.usual_clock = process_time  # type: ignore[method-assign]
    warm = hogeq.Game(Ladder(3, 3))
    _run_all(of_tree(warm, 0.2), only)
    for name, make in games().items():
        game = game_of(make())
        for player in (0, 1):
            sequence_form(game.tree, player)
        exact_numbers_of(game.tree)
        nodes = f"{game.tree.num_nodes:,} nodes"
        yield from timed(f"limits: {name}, {nodes}", of_tree(game, seconds), seconds, only)
    _run_all(of_walk(hogeq.Game(Walk(8, 2)), 0.2), only)
    for steps, signs in ((6_000, 200), (4_000, 2_000), (10_000, 1)):
        game = hogeq.Game(Walk(steps, signs))
        for player in (0, 1):
            sequence_form(game.tree, player)
        group = f"limits: {steps:,} steps, {signs:,} signs"
        yield from timed(group, of_walk(game, seconds), seconds, only)
    for players in (1, 2):
        _run_all(of_walk(hogeq.Game(Forgetter(4, players)), 0.2), only)
        game = hogeq.Game(Forgetter(12, players))
        for player in (0, 1):
            sequence_form(game.tree, player)
        group = f"limits: {players} who forget, {game.tree.num_nodes:,} nodes"
        yield from timed(group, of_walk(game, seconds), seconds, only)
    for is_seen in (True, False):
        _run_all(of_positions(hogeq.Game(Ruin(6, is_seen)), 0.2), only)
        for money in (200, 2_000):
            group = f"limits: ruin, {money:,}, " + ("seen" if is_seen else "hidden")
            game = hogeq.Game(Ruin(money, is_seen))
            yield from timed(group, of_positions(game, seconds), seconds, only)
    small = hogeq.Game({"edition": "su20", "goal": 6, "max_dice": 2})  # is laid out as a tree
    exactly = hogeq.Budget(exact_seconds=seconds)
    by_tree: Runs = {
        "equilibrium": partial(small.equilibrium, seconds),
        "attack --exact": partial(small.attack, "always_roll:2", exactly),
        "existence": partial(small.existence, seconds, process_time),
    }
    _run_all(by_tree, only)
    yield from timed("limits: su20 to 6, 2 dice", by_tree, seconds, only)
    full_size = hogeq.Game("su20")
    _run_all(of_hog(full_size, 0.01), only)
    yield from timed("limits: su20", of_hog(full_size, seconds), seconds, only)
    for name in EDITIONS:  # each at once after it is compiled, while its arrays are kept
        by_edition: Runs = {"equilibrium": partial(hogeq.Game(name).equilibrium, seconds)}
        _run_all(by_edition, only)
        yield from timed(f"limits: {name}", by_edition, seconds, only)
    with TemporaryDirectory() as folder:
        endless = Path(folder) / "endless.py"
        endless.write_text(ENDLESS)
        check = partial(
            inspect_submission, endless, hogeq.Game("su20").rules, trust=True, time_limit=seconds
        )
        another: Runs = {"check --time-limit": check}  # by the clock: it is another process
        yield from timed("limits: su20, a process", another, seconds, only, perf_counter)


def _run_all(runs: Runs, only: str) -> None:
    """Compile what runs need."""
    for name, run in runs.items():
        if only in name:
            run()


def timed(
    group: str, runs: Runs, seconds: float, only: str, clock: Callable[[], float] = process_time
) -> Iterator[Timing]:
    """Time calls with a limit, beside it."""
    kind = "processor" if clock is process_time else "wall"
    yield Timing(group, ASKED, seconds, kind)
    for name, run in runs.items():
        if only in name:
            begun = clock()
            run()
            yield Timing(group, name, clock() - begun, kind)


def main(arguments: list[str]) -> None:
    """Time with the limit that is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--only", default="", help="a part of the name of what is timed")
    given = parser.parse_args(arguments)
    report("limits", list(timings(given.seconds, given.only)))


if __name__ == "__main__":
    main(sys.argv[1:])
