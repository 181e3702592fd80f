"""Games of one's own by their positions: equal states are one position of a graph.

The tree of Pig has no end, and its positions are few. Who moves sees `knows`, so that equal
`knows` are one row, with hidden information too.
"""

from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from math import inf
from numbers import Rational, Real
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hogeq.graph.graph import NATURE, Graph
from hogeq.graph.levels import levels_of, spans
from hogeq.search.results import Units
from hogeq.support.aliases import Ints
from hogeq.support.messages import HogeqError, raised, refusal, shown
from hogeq.support.progress import phase
from hogeq.support.workers import memory
from hogeq.trees.building import (
    CHECK_INTERVAL,
    InformationSets,
    Node,
    NodeError,
    drawn_moves,
    history,
)
from hogeq.trees.exact_numbers import are_held, is_held
from hogeq.trees.flat import CHANCE, LARGEST, TERMINAL
from hogeq.trees.lasting_names import NoLastingNameError, number_of
from hogeq.trees.rows import Rows, require_cells
from hogeq.trees.rules import GameRules, name_of, node_of

MOST_POSITIONS: Final = 5_000_000
POSITION_BYTES: Final = 700  # of a position while the graph is built: its state above all
MOST_APART: Final = 16_000  # positions among which two equal ones must have met


@dataclass(frozen=True, eq=False, repr=False)
class Positions(Rows):
    """A game of one's own as a graph of C positions, and what those and its rows are called."""

    name: str
    graph: Graph
    states: list[Any]  # (C,), of each position
    names: Sequence[Any]  # (R,), what the player knows in each row
    seat: NDArray[np.int8]  # (R,), whose row it is
    actions: list[tuple[Any, ...]]  # (R,), those of each row
    is_rounded: bool = False  # whether chance has numbers that no double stands for

    def __repr__(self) -> str:
        """Name the game, and say its sizes."""
        sizes = f"{self.graph.positions:,} positions, {self.num_rows:,} infosets"
        return f"Positions({self.name}: {sizes})"

    @cached_property
    def num_legal(self) -> Ints:  # type: ignore[override]
        """Number of actions of each row, (R,)."""
        return np.array([len(actions) for actions in self.actions], np.int64)

    @cached_property
    def labels(self) -> list[list[str]]:
        """Names of each row's actions."""
        return [list(map(str, actions)) for actions in self.actions]

    @cached_property
    def numbers(self) -> dict[Any, int]:
        """Number of the position of each state."""
        return {state: number for number, state in enumerate(self.states)}

    @cached_property
    def units(self) -> Units:
        """Units of the game: its payoffs."""
        return Units.of_payoffs(*self._sizes)

    @property
    def _sizes(self) -> tuple[float, float, float]:
        """Payoff of an even game, half of what payoffs differ by, and the largest beyond even."""
        half, paid = self.graph.total / 2, self.graph.paid
        largest = float(np.abs(paid - half).max(initial=0.0)) or 1.0
        return half, (float(np.ptp(paid)) or 1.0) / 2.0, largest

    def digest(self) -> str:
        """Hash of the graph and the names of its rows, in any process; hexadecimal."""
        digest = sha256(self.graph.digest.encode())
        for name in self.names:
            digest.update(f"{name}\0".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def facts(self) -> dict[str, Any]:
        """Describe the positions for the manifest of a run, by the keys of trees."""
        sizes = {"positions": self.graph.positions, "infosets": self.num_rows}
        units = dict(zip(("even", "largest_payoff", "scale"), self._sizes, strict=True))
        return {"name": self.name, "tree_sha256": self.digest(), **sizes, **units}

    @cached_property
    def num_histories(self) -> float:
        """Number of nodes of the tree; infinite where positions recur."""
        graph = self.graph
        if graph.recurring.any():
            return inf
        position, entry = graph.ends  # of each move
        after = graph.next[entry]  # position after it, below 0 at an end
        histories = np.zeros(graph.positions)  # by which play can come to each position
        histories[graph.start[:, 0]] = 1.0
        for first_move, end_move in pairwise(np.searchsorted(position, graph.level)):
            goes_on = first_move + np.flatnonzero(after[first_move:end_move] >= 0)
            np.add.at(histories, after[goes_on], histories[position[goes_on]])
        return float(histories.sum() + histories[position[after < 0]].sum())

    @cached_property
    def is_open(self) -> bool:
        """Whether who moves knows the position: nothing is hidden."""
        return self.num_rows == int((self.graph.player != NATURE).sum())


class TooManyError(HogeqError):
    """Refusal of a game of too many positions; the reason alone."""


def of_rules(rules: GameRules, name: str | None = None, most: int | None = None) -> Positions:
    """Compile a game of one's own to a graph, breadth first over its states, 5 million at `most`.

    `ValueError` names the shortest history at which the rules break down.
    """
    walk = _Walk(rules, name or name_of(rules), min(most or MOST_POSITIONS, MOST_POSITIONS))
    walk.run()
    return walk.compiled()


class _Walk:
    """Positions in the order in which a walk breadth first meets them."""

    def __init__(self, rules: GameRules, name: str, most: int) -> None:
        self.rules, self.name, self.most = rules, name, most
        self.sets = InformationSets()
        self.actions: dict[Hashable, int] = {}  # number of each action
        self.position: dict[Hashable, int] = {}  # number of each state at which play goes on
        self.states: list[Any] = []
        self.payoffs: dict[float, int] = {}
        self.player, self.row = array("b"), array("i")  # of each position
        self.degree, self.after = array("i"), array("i")  # its moves; where each leads
        self.drawn: dict[tuple[Any, ...], int] = {}  # number of chances, as they were given
        self.chances: dict[tuple[float, ...], int] = {}  # and scaled to sum to 1
        self.came_from, self.came_by = array("i"), array("i")  # first move to each position
        self.merged = False  # whether two moves led to one position
        self.is_rounded = False  # whether chance has numbers that no double stands for

    def run(self) -> None:
        """Look at every position once."""
        try:
            start = self.number_of(self.rules.initial(), -1, 0)
        except Exception as error:
            raise HogeqError(f"{self.name}: at the start: {self.reason(error)}") from error
        if start < 0:
            raise HogeqError(f"{self.name}: at the start: the game is over")
        looked = 0
        with phase(f"positions of {self.name}", unit="positions") as progress:
            while looked < len(self.states):
                try:
                    self.settle(looked, node_of(self.rules, self.states[looked]))
                except Exception as error:
                    where = self.history(looked)
                    raise HogeqError(f"{self.name}: {where}: {self.reason(error)}") from error
                looked += 1
                if looked % CHECK_INTERVAL == 0:
                    progress.reach(looked)
                    self.check_size(looked)

    @staticmethod
    def reason(error: Exception) -> str:
        """Give the reason of a refusal; an error of the rules' own is named."""
        is_told = isinstance(error, NodeError | NoLastingNameError)
        return str(error) if is_told else raised(error)

    def check_size(self, looked: int) -> None:
        """Refuse a game of too many positions, after so many were looked at."""
        known = len(self.states)
        if known > self.most:
            raise TooManyError(f"more than {self.most:,} positions")
        if looked > MOST_APART and not self.merged:
            raise TooManyError(f"no position of its first {looked:,} comes by two ways")
        if known * POSITION_BYTES > memory():
            raise TooManyError("positions that need more memory than this machine has")

    def settle(self, here: int, node: Node) -> None:
        """Enter a position and where its moves lead."""
        moves = node.moves
        if node.player == CHANCE:
            given = tuple([chance for _, chance, _ in moves])
            if given not in self.drawn:
                drawn = [chance for _, chance, _ in drawn_moves(moves)]
                self.is_rounded = self.is_rounded or not are_held(drawn)
                scaled = tuple(filter(None, map(float, drawn)))
                self.drawn[given] = self.chances.setdefault(scaled, len(self.chances))
            row = self.drawn[given]
        else:
            numbers = [
                (number_of(action, self.actions), chance, after) for action, chance, after in moves
            ]
            row = self.sets.row_of(node._replace(moves=numbers))
        self.player.append(NATURE if node.player == CHANCE else node.player)
        self.row.append(row)
        # A branch of probability 0, as a double, is no way out, and is left out.
        followed = [(number, move[2]) for number, move in enumerate(moves) if float(move[1])]
        self.degree.append(len(followed))
        for number, state in followed:
            self.after.append(self.number_of(state, here, number))

    def number_of(self, state: Any, here: int, move: int) -> int:
        """Give the number of the position after a move, or -1 - t for payoff t at an end."""
        try:
            known = self.position.get(state)
        except TypeError:
            allowed = "states that can be hashed, as tuples of numbers and texts can"
            raise NodeError(refusal("state", state, allowed)) from None
        if known is not None:
            self.merged = self.merged or known >= 0
            return known
        if self.rules.to_move(state) == TERMINAL:
            end = node_of(self.rules, state)
            paid = self.sets.payoff_of(end)
            if self.sets.is_rounded:
                allowed = "payoffs, and a sum of both players', that a double can hold"
                raise NodeError(refusal("payoffs", [*map(str, end.payoffs)], allowed))
            number = -1 - self.payoffs.setdefault(paid, len(self.payoffs))
        else:
            number = len(self.states)
            self.states.append(state)
            self.came_from.append(here)
            self.came_by.append(move)
        self.position[state] = number
        return number

    def history(self, here: int) -> str:
        """Name the shortest history to a position, by its moves."""
        moves: list[str] = []
        movers: list[int] = []
        while here > 0:
            here, move = self.came_from[here], self.came_by[here]
            node = node_of(self.rules, self.states[here])
            moves.append(str(node.moves[move][0]))
            movers.append(node.player)
        numbers = range(len(moves))
        return history(movers[::-1], numbers, lambda _: moves[::-1])

    def compiled(self) -> Positions:
        """Put the positions into levels, and lay out the arrays."""
        known, seat, numbers = self.sets.sorted_rows()
        names = list(self.actions)
        actions = [tuple(names[move] for move in self.sets.legal[row]) for row in numbers]
        new_row = np.zeros(len(known) + 1, np.int64)  # of each row as the walk met it
        new_row[numbers] = np.arange(len(known))
        player = np.frombuffer(self.player, np.int8)
        degree = np.frombuffer(self.degree, np.int32).astype(np.int64)
        after = np.frombuffer(self.after, np.int32).astype(np.int64)
        row = np.frombuffer(self.row, np.int32)
        source = np.repeat(np.arange(len(player)), degree)  # position before each move
        goes_on = after >= 0
        levels = levels_of(np.zeros(len(player), np.int64), source[goes_on], after[goes_on])
        order = levels.order  # positions as the walk met them, level by level
        new_number = np.empty(len(order), np.int64)
        new_number[order] = np.arange(len(order))
        begin = np.cumsum(degree) - degree
        after = after[spans(begin[order], begin[order] + degree[order])]
        after = np.where(after >= 0, new_number[np.maximum(after, 0)], after)
        player, row, degree = player[order], row[order], degree[order]
        nature = player == NATURE
        drawn = [chance for chances in self.chances for chance in chances]
        most = int(degree[~nature].max(initial=1))
        # Situations are the numbers of actions, then the distributions of chance. Ways are the
        # actions by their place, then again the distributions.
        sizes = np.unique(degree[~nature])
        kinds = len(sizes) + len(self.chances)
        require_cells(self.name, "kinds of positions", kinds, most)
        way = np.full((kinds, 1, most), -1)
        way[: len(sizes), 0] = np.where(np.arange(most) < sizes[:, None], np.arange(most), -1)
        way[len(sizes) :, 0, 0] = most + np.arange(len(self.chances))
        num_outcomes = np.array([1] * most + [len(chances) for chances in self.chances])
        level_of = np.repeat(np.arange(len(levels.start) - 1), np.diff(levels.start))
        source = np.repeat(np.arange(len(order)), degree)
        recurs = (after >= 0) & (level_of[source] == level_of[np.maximum(after, 0)])
        states = [self.states[old] for old in order.tolist()]
        arrays: dict[str, Any] = {
            "level": levels.start,
            "player": player,
            "row": np.where(nature, 0, new_row[np.where(nature, -1, row)]),
            "fixed": np.eye(1, most),  # chance has one action
            "situation": np.where(nature, len(sizes) + row, np.searchsorted(sizes, degree)),
            "way": way,
            "lane": np.zeros(1),
            "following": np.zeros((1, 1)),
            "first": np.concatenate([[0], np.cumsum(num_outcomes)]),
            "chance": np.concatenate([np.ones(most), drawn]),
            "end": np.concatenate([np.arange(most), *map(np.arange, num_outcomes[most:])]),
            "place": np.cumsum(degree) - degree,
            "next": after,
            "label": np.zeros(len(after)),
            "payoff": np.array([*self.payoffs] or [0.0]),
            "start": np.array([[new_number[0], 0]]),
            "start_chance": np.ones(1),
            "total": float(self.sets.total),
        }
        if recurs.any():
            arrays["endless"] = self.endless(nature, source, after, recurs, states)
        graph = Graph(**arrays)
        seats = np.array(seat, np.int8)
        return Positions(self.name, graph, states, known, seats, actions, self.is_rounded)

    def endless(
        self,
        nature: NDArray[np.bool_],
        source: Ints,
        after: Ints,
        recurs: NDArray[np.bool_],
        states: list[Any],
    ) -> float:
        """Payoff to player 0 of a play without end.

        It must be given if players can make play go on for ever. Elsewhere play ends with
        probability 1, so that this payoff is of no effect.
        """
        given = self.rules.endless
        if given is not None:
            return _payoff(self.name, given)
        staying = never_ending(nature, source, after, recurs)
        if staying.any():
            here = self.position[states[int(np.argmax(staying))]]
            raise HogeqError(
                f"{self.name}: {self.history(here)}: play can go on for ever; allowed: "
                f"games that end, or an attribute endless, the payoff to player 0 of such a play"
            )
        return float(self.sets.total) / 2


def _payoff(name: str, given: Any) -> float:
    """Check the payoff of a play without end."""
    is_number = isinstance(given, Real) and not isinstance(given, bool)
    exact = Fraction(given) if isinstance(given, Rational) else given
    if not (is_number and -LARGEST <= exact <= LARGEST and is_held(exact)):
        allowed = "a payoff to player 0 that a double can hold"
        raise HogeqError(f"{name}: endless: got {shown(given)}; allowed: {allowed}")
    return float(given)


def never_ending(
    nature: NDArray[np.bool_], source: Ints, after: Ints, recurs: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Largest set of positions in which the players together can stay for certain, (C,).

    A position is left out when all moves of a player leave the set, or one of chance does: what is
    then left is no end component of the game, so that with an empty set all plays end with
    probability 1, whatever the players do. `source` of the moves ascends; those that do not recur
    leave.
    """
    count = len(nature)
    num_moves = np.bincount(source, minlength=count)  # of each position
    num_staying = np.bincount(source[recurs], minlength=count)  # moves that stay in the set
    is_inside = np.ones(count, bool)
    order = np.argsort(after[recurs], kind="stable")
    target, before = after[recurs][order], source[recurs][order]
    begin = np.searchsorted(target, np.arange(count + 1))  # first move to each position
    leaving = np.flatnonzero(np.where(nature, num_staying < num_moves, num_staying == 0))
    while len(leaving):
        is_inside[leaving] = False
        entering = before[spans(begin[leaving], begin[leaving + 1])]  # once for each move to them
        np.subtract.at(num_staying, entering, 1)
        nearby = np.unique(entering)
        leaves = np.where(
            nature[nearby], num_staying[nearby] < num_moves[nearby], num_staying[nearby] == 0
        )
        leaving = nearby[is_inside[nearby] & leaves]
    return is_inside
