"""The instances of the benchmark, by name."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

from hogeq import Budget, FlatTree, Graph, Hog, Strategy
from hogeq.benchmark.generators import interview, random_tree, trials
from hogeq.solvers.dags import solve_tree
from hogeq.support.deadline import Deadline
from hogeq.trees.annealing import annealed_rows
from hogeq.trees.best_response import best_response
from hogeq.trees.graphs import of_tree
from hogeq.trees.loading import load_tree
from hogeq.trees.sequences import sequence_form

HOG: Final = {
    "su20": ((10, 2), (14, 2), (20, 4), (40, 6), (100, 10)),
    "sp20": ((12, 3), (20, 4), (100, 10)),
    "su21": ((10, 2), (20, 4), (100, 10)),
    "fa18": ((10, 3), (20, 4), (100, 10)),
    "fa13": ((10, 3), (20, 4), (100, 10)),
}
"""Goals and most dice of each edition."""

LARGEST: Final = 100
CHAMPION: Final = {"champion": "champion:policy"}

GAMES: Final = {
    "leduc_poker-own_actions": ("leduc_poker", "own_actions"),
    "leduc_poker-last_1": ("leduc_poker", "last:1"),
    "dark_hex_ir-3x2": ("dark_hex_ir(num_cols=3,num_rows=2)", None),
    "liars_dice_ir-4": ("liars_dice_ir(dice_sides=4)", None),
    "liars_dice_ir-6": ("liars_dice_ir", None),
    "hog_fa13-5x1": ("python_hog(edition=fa13,goal=5,max_dice=1)", None),
}
"""Games of OpenSpiel, and how they forget."""

Generated = tuple[tuple[Callable[..., FlatTree], tuple[tuple[int, ...], ...]], ...]

GENERATED: Final[Generated] = (
    (trials, ((3, 3, 2), (3, 4, 3), (4, 3, 2), (4, 3, 3), (5, 3, 2), (6, 2, 2), (5, 3, 3))),
    (interview, ((3, 3, 3), (4, 4, 3), (8, 3, 4), (4, 5, 3), (6, 5, 3), (16, 4, 4))),
    (
        random_tree,
        (
            *((3, 4, 4), (4, 3, 3), (4, 3, 8), (5, 2, 4), (5, 3, 4)),
            *((6, 2, 8), (7, 2, 4), (6, 3, 4), (6, 3, 16)),
        ),
    ),
)
"""Generators, and the parameters of their instances, for seed 0."""

SEEDED: Final[Generated] = (
    (interview, ((4, 4, 3), (8, 3, 4))),
    (random_tree, ((4, 3, 8), (5, 3, 12), (6, 2, 8))),
)
"""Generators and parameters of the instances on which methods are compared by many seeds."""

OPEN: Final = range(1, 11)
HELD_OUT: Final = range(201, 211)
"""Seeds that no method, setting or parameter is chosen by."""


Match = tuple[Hog, Strategy]  # a game of Hog, and the opponent


class Entry(NamedTuple):
    """An instance that can be made: of Hog, or of a game tree."""

    name: str
    family: str
    about: str
    load: Callable[[], Match | FlatTree]
    seat: int | None = None  # in a tree, against the uniform strategy; None: no opponent, or both

    def make(self) -> Graph:
        """Make its graph: of one player against a fixed opponent, or of both seats of a tree."""
        loaded = self.load()
        if not isinstance(loaded, FlatTree):
            game, opponent = loaded
            return game.graph.against(opponent.policy)
        graph = of_tree(loaded)
        return graph if self.seat is None else graph.against(loaded.uniform(), self.seat)

    def solve(self, kicks: int, seconds: float) -> tuple[float, float]:
        """Give a value that player 0 can get, and a bound that no strategy exceeds.

        In Hog an attack gives each of its starts some kicks, and the bound is that of a player who
        forgets nothing. In a game tree annealing, by as many kicks, and a program have some
        seconds; a game of two players is solved in mixtures.
        """
        tree = self.load()
        if not isinstance(tree, FlatTree):
            game, opponent = tree
            return game.search(opponent, Budget(kicks=kicks)).win_rate, game.bound(opponent)
        if self.family == "game":
            solved = solve_tree(tree, seconds)
            return solved.lower, solved.upper
        form = sequence_form(tree, self.seat or 0)
        deadline = Deadline(seconds)
        sequence_payoffs = form.payoffs(tree.uniform())
        response = best_response(form, sequence_payoffs, 0.0, deadline=deadline.share(0.5))
        if not response.is_proved:
            budget, begin = Budget(kicks=kicks), response.strategy
            begin = annealed_rows(tree, tree.uniform(), begin, budget, deadline.share(0.5))
            response = best_response(form, sequence_payoffs, deadline, begin, deadline=deadline)
        return response.payoff * tree.largest_payoff, response.bound * tree.largest_payoff


def catalogue() -> dict[str, Entry]:
    """List all instances of one seed, by name."""
    entries = (*_hog(), *_generated(GENERATED, [0]), *_games())
    return {entry.name: entry for entry in entries}


def seeded() -> dict[str, Entry]:
    """List the instances of open and held-out seeds, by name."""
    return {entry.name: entry for entry in _generated(SEEDED, [*OPEN, *HELD_OUT])}


def hog_game(edition: str, goal: int, dice: int) -> Hog:
    """Compile an edition to another goal and with fewer dice."""
    return Hog({"edition": edition, "goal": goal, "max_dice": dice})


def match(edition: str, goal: int, dice: int, opponent: str) -> Match:
    """Compile a game of Hog, and make the opponent."""
    game = hog_game(edition, goal, dice)
    return game, game.strategy(opponent)


def _hog() -> Iterator[Entry]:
    """Instances of Hog: every edition and size against each opponent."""
    for edition, sizes in HOG.items():
        for goal, dice in sizes:
            opponents = {"always": f"always_roll:{min(6, dice)}", "ignore": "ignore_memory"}
            if goal == LARGEST:
                opponents |= CHAMPION
            for kind, opponent in opponents.items():
                name = f"{edition}-{goal}x{dice}-{kind}"
                about = f"{edition} to {goal} points with {dice} dice, against {opponent}"
                yield Entry(name, "hog", about, partial(match, edition, goal, dice, opponent))


def _generated(generated: Generated, seeds: Sequence[int]) -> Iterator[Entry]:
    """Instances of generators, for all their parameters and seeds; seed 0 is not in the name."""
    for generate, parameters in generated:
        family = generate.__name__.removesuffix("_tree")
        about = str(generate.__doc__).partition("\n")[0]
        for sizes, seed in product(parameters, seeds):
            name = f"{family}-{'x'.join(map(str, sizes))}"
            if seed:
                name += f"-{seed}"
            yield Entry(name, family, about, partial(generate, *sizes, seed))


def _games() -> Iterator[Entry]:
    """Instances of OpenSpiel's games: each seat against the uniform strategy, and both players."""
    for name, (game, forget) in GAMES.items():
        forgetting = f", forgetting {forget}" if forget else ""
        tree = partial(load_tree, game, forget)
        for seat in (0, 1):
            about = f"{game}{forgetting}: player {seat} against the uniform strategy"
            yield Entry(f"{name}-seat_{seat}", "tree", about, tree, seat)
        yield Entry(f"{name}-game", "game", f"{game}{forgetting}: both players", tree)


def write_instance(folder: Path, entry: Entry) -> dict[str, Any]:
    """Make an instance and write its arrays to a folder; give its name, sizes and digest."""
    instance = entry.make()
    instance.save(folder / f"{entry.name}.npz")
    sizes = {"states": instance.states, "rows": instance.rows}
    return {"name": entry.name, **sizes, "digest": instance.digest}
