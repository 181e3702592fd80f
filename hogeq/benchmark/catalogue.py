"""The instances of the benchmark, by name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from math import inf
from typing import Final, NamedTuple

from hogeq import Budget, Game, Graph, Hog

HOG: Final = {
    "su20": ((10, 2), (14, 2), (20, 4), (40, 6), (100, 10)),
    "sp20": ((12, 3), (20, 4), (100, 10)),
    "su21": ((10, 2), (20, 4), (100, 10)),
    "fa18": ((10, 3), (20, 4), (100, 10)),
    "fa13": ((10, 3), (20, 4), (100, 10)),
}
"""Goals and most dice of each edition."""

LARGEST: Final = 100  # the full goal, for which champions are shipped
CHAMPION: Final = {"champion": "champion:policy"}  # kind of instance, and its opponent

GAMES: Final = {
    "leduc_poker-own_actions": ("leduc_poker", "own_actions"),
    "leduc_poker-last_1": ("leduc_poker", "last:1"),
    "dark_hex_ir-3x2": ("dark_hex_ir(num_cols=3,num_rows=2)", None),
    "liars_dice_ir-4": ("liars_dice_ir(dice_sides=4)", None),
    "liars_dice_ir-6": ("liars_dice_ir", None),
    "hog_fa13-5x1": ("python_hog(edition=fa13,goal=5,max_dice=1)", None),
}
"""Games of OpenSpiel, and how their players forget; None if they do by themselves."""


class Family(NamedTuple):
    """Decision problems that are made by parameters and a seed."""

    game: str  # name of its games, with places for the parameters and the seed
    about: str  # one line for people


FAMILIES: Final = {
    "trials": Family(
        "trials(rounds={},options={},scenes={},seed={})",
        "Act in rounds of which the last is real: those before are tests, and nobody says which.",
    ),
    "interview": Family(
        "interview(kinds={},rounds={},questions={},seed={})",
        "Ask questions of somebody of a hidden kind, then guess the kind.",
    ),
    "random": Family(
        "random_tree(depth={},options={},rows={},seed={})",
        "Choose in turn with a fair coin; which row a choice is made in is drawn, round by round.",
    ),
}

Generated = Mapping[str, tuple[tuple[int, ...], ...]]

GENERATED: Final[Generated] = {
    "trials": ((3, 3, 2), (3, 4, 3), (4, 3, 2), (4, 3, 3), (5, 3, 2), (6, 2, 2), (5, 3, 3)),
    "interview": ((3, 3, 3), (4, 4, 3), (8, 3, 4), (4, 5, 3), (6, 5, 3), (16, 4, 4)),
    "random": (
        *((3, 4, 4), (4, 3, 3), (4, 3, 8), (5, 2, 4), (5, 3, 4)),
        *((6, 2, 8), (7, 2, 4), (6, 3, 4), (6, 3, 16)),
    ),
}
"""Parameters of the instances of each family, for seed 0."""

SEEDED: Final[Generated] = {
    "interview": ((4, 4, 3), (8, 3, 4)),
    "random": ((4, 3, 8), (5, 3, 12), (6, 2, 8)),
}
"""Parameters of the instances on which methods are compared by many seeds."""

OPEN: Final = range(1, 11)
HELD_OUT: Final = range(201, 211)
"""Seeds that no method, setting or parameter is chosen by."""


class Entry(NamedTuple):
    """An instance that can be made: of Hog, or of a game tree."""

    name: str
    family: str
    about: str
    load: Callable[[], Game]
    opponent: str | None = None  # strategy of the other seat; None if it is to be solved, too
    seat: int = 0  # of the player who decides

    def make(self) -> Graph:
        """Make its graph: of one player against a fixed opponent, or of all seats."""
        game = self.load()
        if self.opponent is None:
            return game.graph
        return game.graph.against(game.strategy(self.opponent).policy, self.seat)

    def solve(self, kicks: int, seconds: float) -> tuple[float, float, bool]:
        """Give a value that the player can get, an upper bound on all strategies, and if it is met.

        It is if both are proved to be one number.

        A game of two players is solved in mixtures, for so many seconds. Else an attack makes so
        many kicks from each of its starts: perturbations, each with another ascent. In Hog the
        bound is that of a player who forgets nothing. In a game tree the attack and its proof have
        the seconds.
        """
        game = self.load()
        opponent = self.opponent or "uniform"
        if self.family == "game":
            equilibrium = game.equilibrium(seconds)
            return equilibrium.lower, equilibrium.upper, equilibrium.is_proved
        if isinstance(game, Hog):
            response = game.attack(opponent, Budget(kicks=kicks))
            return *response.ends, response.is_proved  # rounding included
        response = game.attack(opponent, Budget(kicks=kicks, seconds=seconds))
        seat_bounds = response.seat_bounds or (inf, inf)
        return response.seats[self.seat], seat_bounds[self.seat], response.is_proved


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


def _hog() -> Iterator[Entry]:
    """Make the instances of Hog: every edition and size against each opponent."""
    for edition, sizes in HOG.items():
        for goal, dice in sizes:
            opponents = {"always": f"always_roll:{min(6, dice)}", "ignore": "ignore_memory"}
            if goal == LARGEST:
                opponents |= CHAMPION
            load = partial(hog_game, edition, goal, dice)
            for kind, opponent in opponents.items():
                name = f"{edition}-{goal}x{dice}-{kind}"
                about = f"{edition} to {goal} points with {dice} dice, against {opponent}"
                yield Entry(name, "hog", about, load, opponent)


def _generated(generated: Generated, seeds: Sequence[int]) -> Iterator[Entry]:
    """Make the instances of families of games, for all their parameters and seeds."""
    for kind, parameters in generated.items():
        family = FAMILIES[kind]
        for sizes, seed in product(parameters, seeds):
            name = f"{kind}-{'x'.join(map(str, sizes))}"
            if seed:  # seed 0 is not in the name
                name += f"-{seed}"
            load = partial(Game, family.game.format(*sizes, seed))
            yield Entry(name, kind, family.about, load)


def _games() -> Iterator[Entry]:
    """Make those of OpenSpiel's games: each seat against the uniform strategy, and both players."""
    for name, (game, forget) in GAMES.items():
        forgetting = f", forgetting {forget}" if forget else ""
        load = partial(Game, game, forget=forget)
        for seat in (0, 1):
            about = f"{game}{forgetting}: player {seat} against the uniform strategy"
            yield Entry(f"{name}-seat_{seat}", "tree", about, load, "uniform", seat)
        yield Entry(f"{name}-game", "game", f"{game}{forgetting}: both players", load)
