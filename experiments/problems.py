"""Problems of one absent-minded player with seeds, of any size: tests, detection, random trees.

    hogeq equilibrium --game "am_simulation(tests=4)" --plugin experiments/problems.py --trust
    python experiments/problems.py "am_simulation(tests=4)" simulation.txt

The second command writes the text format of the suite (:mod:`hogeq.trees.text`), of any game.

They follow three ideas of E. Tewolde, B. H. Zhang, I. Anagnostides, T. Sandholm and V. Conitzer,
"Decision making under imperfect recall: algorithms and benchmarks", arXiv 2602.15252, 2026. Those
named ``am_``, for absent-minded, are none of its instances, whose generators draw without a seed.
``det`` is: its generator enumerates, so that parameters say all.
"""
# ruff: noqa: ARG002, D102 - the base class says what each method does

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

import hogeq
from hogeq.support.messages import printable
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree

AGAIN: Final = Fraction(7, 10)  # that one more test, or one more real case, follows


class Stage(NamedTuple):
    """How far a play of `Simulation` is."""

    tests: int = 0  # passed
    cases: int = 0  # real ones, the next one too; 0 in a test
    scenario: int | None = None  # None before it is drawn
    earned: Fraction = Fraction(0)
    is_over: bool = False


@hogeq.register_game("am_simulation")
class Simulation(hogeq.GameRules):
    """Act well or badly in scenarios: first in tests, then in real cases, and all look alike.

    A bad act in a test ends the play with nothing; in a real case it earns more than a good one.
    """

    players = 1
    scenarios: int = 2
    tests: int = 3  # at most
    cases: int = 1  # at most
    seed: int = 0

    def initial(self) -> Any:
        return Stage(cases=int(not self.tests))

    def to_move(self, state: Any) -> int:
        return hogeq.END if state.is_over else hogeq.CHANCE if state.scenario is None else 0

    def actions(self, state: Any) -> Sequence[str]:
        return "good", "bad"

    def chances(self, state: Any) -> Mapping[Any, Any]:
        again = Fraction(1) if state.cases == 1 else AGAIN
        drawn = dict.fromkeys(range(self.scenarios), again / self.scenarios)
        return drawn if again == 1 else {**drawn, "stop": 1 - again}

    def next(self, state: Any, action: Any) -> Any:
        if action == "stop":
            return state._replace(is_over=state.cases > 0, cases=1)
        if state.scenario is None:
            return state._replace(scenario=action)
        before, is_bad = state._replace(scenario=None), action == "bad"
        if state.cases:
            earned = state.earned + _rewards(self.scenarios, self.seed)[state.scenario][is_bad]
            more = state.cases + 1
            return before._replace(cases=more, earned=earned, is_over=more > self.cases)
        tests = state.tests + 1
        return before._replace(tests=tests, cases=int(tests == self.tests), is_over=is_bad)

    def knows(self, state: Any, player: int) -> str:
        return f"scenario {state.scenario}"

    def payoffs(self, state: Any) -> Sequence[float]:
        return [float(state.earned)]


@lru_cache(None)
def _rewards(scenarios: int, seed: int) -> list[tuple[Fraction, Fraction]]:
    """Earnings of a good and of a bad act in each scenario."""
    drawn = np.random.default_rng([1, scenarios, seed]).integers(1, 33, (scenarios, 2)).tolist()
    return [(Fraction(good, 32), Fraction(good + more, 32)) for good, more in drawn]


class Grid(hogeq.GameRules):
    """Look in a grid for hidden cells, and keep none but those that are found.

    Who found nothing new knows neither how often it looked nor where.
    """

    players = 1
    height: int
    width: int
    rounds: int

    def placements(self) -> Mapping[Any, Mapping[Any, float]]:
        """List the ways to hide cells, all as likely: the worth of each cell, by its place."""
        raise NotImplementedError

    def initial(self) -> Any:
        return None, (), 0  # the placement, cells found, rounds

    def to_move(self, state: Any) -> int:
        placement, found, rounds = state
        if placement is None:
            return hogeq.CHANCE
        is_over = rounds == self.rounds or len(found) == len(self.placements()[placement])
        return hogeq.END if is_over else 0

    def actions(self, state: Any) -> Sequence[Any]:
        cells = product(range(self.height), range(self.width))
        return [cell for cell in cells if cell not in state[1]]

    def chances(self, state: Any) -> Mapping[Any, Any]:
        return dict.fromkeys(self.placements(), Fraction(1, len(self.placements())))

    def next(self, state: Any, action: Any) -> Any:
        placement, found, rounds = state
        if placement is None:
            return action, found, rounds
        is_found = action in self.placements()[placement]
        return placement, tuple(sorted({*found, action} if is_found else found)), rounds + 1

    def knows(self, state: Any, player: int) -> Any:
        return state[1]

    def payoffs(self, state: Any) -> Sequence[float]:
        worth = self.placements()[state[0]]
        return [sum(worth[cell] for cell in state[1])]


@hogeq.register_game("am_detection")
class Detection(Grid):
    """Look for a hidden line of cells."""

    height: int = 2
    width: int = 3
    length: int = 2
    rounds: int = 3
    seed: int = 0

    def placements(self) -> Mapping[Any, Mapping[Any, float]]:
        return _lines(self.height, self.width, self.length, self.seed)


@lru_cache(None)
def _lines(height: int, width: int, length: int, seed: int) -> dict[Any, dict[Any, float]]:
    """Straight lines of cells; the cells of one have the same worth."""
    cells = [*product(range(height), range(width))]
    drawn = [
        tuple((row + down * step, column + (1 - down) * step) for step in range(length))
        for (row, column), down in product(cells, (1, 0))
    ]
    lines = dict.fromkeys(line for line in drawn if line[-1] in cells)
    worth = np.random.default_rng([2, height, width, length, seed]).integers(1, 9, len(lines))
    return {
        line: dict.fromkeys(line, each / 8.0)
        for line, each in zip(lines, worth.tolist(), strict=True)
    }


@hogeq.register_game("det")
class Enumerated(Grid):
    """Look for hidden communities of cells.

    All ways to place the communities apart are as likely. The defaults are the specification by
    enumeration of the suite's repository, ``detectionstandard.yaml``.
    """

    height: int = 2
    width: int = 3
    rounds: int = 3
    communities: str = "star 3 line 1"
    values: str = "3 1"  # of a cell of each community, from the first in their order on

    def placements(self) -> Mapping[Any, Mapping[Any, float]]:
        return _placements(self.height, self.width, self.communities, self.values)


PRIORITIES: Final = ("line", "cycle", "star", "clique")  # the last is placed first


@lru_cache(None)
def _placements(height: int, width: int, communities: str, values: str) -> dict[Any, Any]:
    """List the ways to place communities one after the other: the worth of each cell, by place."""
    words, worths = communities.split(), [*map(float, values.split())]
    wanted = [(kind, int(size)) for kind, size in zip(words[::2], words[1::2], strict=True)]
    wanted.sort(key=lambda one: (PRIORITIES.index(one[0]), one[1]), reverse=True)
    partial: list[tuple[Any, ...]] = [()]
    for kind, size in wanted:
        shape = _edges(kind, size)
        partial = [
            (*placed, cells)
            for placed in partial
            for cells in combinations(
                [
                    one
                    for one in product(range(height), range(width))
                    if not any(one in cells for cells in placed)
                ],
                1 + max((max(edge) for edge in shape), default=0),
            )
            if any(_holds(order, shape) for order in permutations(cells))
        ]
    return {
        placed: {cell: worth for cells, worth in zip(placed, worths, strict=True) for cell in cells}
        for placed in partial
    }


def _edges(kind: str, size: int) -> list[tuple[int, int]]:
    """List the edges of a shape; a star has so many rays, the others so many cells."""
    if kind == "star":
        return [(0, ray) for ray in range(1, size + 1)]
    if kind == "clique":
        return [*combinations(range(size), 2)]
    line = [(cell, cell + 1) for cell in range(size - 1)]
    return [*line, (0, size - 1)] if kind == "cycle" else line


def _holds(cells: Sequence[tuple[int, int]], shape: Sequence[tuple[int, int]]) -> bool:
    """Whether cells are neighbours where the shape has edges; they may be elsewhere too."""
    return all(
        abs(cells[one][0] - cells[two][0]) + abs(cells[one][1] - cells[two][1]) == 1
        for one, two in shape
    )


@hogeq.register_game("am_random")
class RandomTree(hogeq.GameRules):
    """A tree of chance and choices by draws, whose nodes of as many actions share a few sets."""

    players = 1
    least: int = 2  # depth of ends, ...
    most: int = 6  # ... which get likelier from one to the other
    width: int = 3  # most actions
    sets: int = 2  # information sets of each number of actions
    seed: int = 0

    def _draw(self, state: bytes, what: int, below: int) -> int:
        key = self.seed.to_bytes(8, "little") + bytes([what])
        return int.from_bytes(blake2b(state, digest_size=8, key=key).digest(), "little") % below

    def initial(self) -> Any:
        return b""  # the place of each action so far

    def to_move(self, state: Any) -> int:
        late = len(state) + 1 - self.least
        if late > 0 and self._draw(state, 0, self.most + 1 - self.least) < late:
            return hogeq.END
        return hogeq.CHANCE if self._draw(state, 1, 4) == 0 else 0

    def actions(self, state: Any) -> Sequence[int]:
        return range(min(2, self.width) + self._draw(state, 2, max(1, self.width - 1)))

    def chances(self, state: Any) -> Mapping[Any, Any]:
        drawn = [1 + self._draw(state, 3 + action, 8) for action in self.actions(state)]
        return {action: Fraction(one, sum(drawn)) for action, one in enumerate(drawn)}

    def next(self, state: Any, action: Any) -> Any:
        return state + bytes([action])

    def knows(self, state: Any, player: int) -> str:
        return f"{len(self.actions(state))} actions, set {self._draw(state, 255, self.sets)}"

    def payoffs(self, state: Any) -> Sequence[float]:
        return [self._draw(state, 254, 1025) / 1024]


# --- the text format of the suite -----------------------------------------------------------------

UNSAFE: Final = re.compile(r"[\s/:=#]+")  # in names, where they have a meaning


def text_of(tree: FlatTree) -> Iterator[str]:
    """Write a tree, line by line; of what has a meaning in names is made ``_``."""
    which, words = tree.words(np.arange(tree.num_nodes))
    first = tree.parent.searchsorted(np.arange(tree.num_nodes + 1, dtype=np.int32)).tolist()
    paths, among = ["/"], [list[str]() for _ in range(tree.num_rows)]
    for node, (player, row) in enumerate(zip(tree.player.tolist(), tree.row.tolist(), strict=True)):
        path, paths[node] = paths[node], ""
        if player == TERMINAL:
            own = float(tree.payoff[node]) + tree.centre
            paid = [f"1={tree.shift + own!r}", f"2={tree.shift - own!r}"][: tree.num_players]
            yield f"node {path} leaf payoffs {' '.join(paid)}\n"
            continue
        labels: dict[str, str] = {}
        for child in range(first[node], first[node + 1]):
            name = UNSAFE.sub("_", printable(words[which[child]])) or "_"
            while name in labels:
                name += "_"
            labels[name] = f"{name}={float(tree.chance[child])!r}" if player == CHANCE else name
        mover = "chance" if player == CHANCE else f"player {player + 1}"
        yield f"node {path} {mover} actions {' '.join(labels.values())}\n"
        paths += [
            f"{path.rstrip('/')}/{'C' if player == CHANCE else f'P{player + 1}'}:{name}"
            for name in labels
        ]
        if player != CHANCE:
            among[row].append(path)
    for row, (name, nodes) in enumerate(zip(tree.names, among, strict=True)):
        yield f"infoset {row}_{UNSAFE.sub('_', printable(name))} nodes {' '.join(nodes)}\n"


if __name__ == "__main__":
    _, game, file = sys.argv
    made = hogeq.Game(game).tree
    if made is None:
        raise SystemExit(f"{game}: is Hog; allowed: other games")
    with Path(file).open("w", encoding="utf-8") as lines:
        lines.writelines(text_of(made))
