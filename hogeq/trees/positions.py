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
from hogeq.support.messages import HogeqError, refusal, shown
from hogeq.support.progress import phase
from hogeq.support.workers import memory
from hogeq.trees.building import (
    CHECK_INTERVAL,
    InformationSets,
    Node,
    NodeError,
    reason_of,
    scale_chances,
)
from hogeq.trees.exact_numbers import are_exact_doubles, is_exact_double
from hogeq.trees.flat import CHANCE, LARGEST, TERMINAL, history_text
from hogeq.trees.graphs import memoryless
from hogeq.trees.lasting_names import number_of
from hogeq.trees.rows import Rows, require_cells
from hogeq.trees.rules import GameRules, name_of, node_of

MOST_POSITIONS: Final = 5_000_000
POSITION_BYTES: Final = 700  # of a position while the graph is built: its state above all
MOST_DISTINCT: Final = 16_000  # positions among which two equal ones must have met


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
        """Payoff of an even game, half the range of payoffs, and the largest distance from even."""
        even = self.graph.total / 2
        payoffs = self.graph.paid
        largest = float(np.abs(payoffs - even).max(initial=0.0)) or 1.0
        half_range = (float(np.ptp(payoffs)) or 1.0) / 2.0
        return even, half_range, largest

    def digest(self) -> str:
        """Hash of the graph and the names of its rows, in any process; hexadecimal."""
        digest = sha256(self.graph.digest.encode())
        for name in self.names:
            digest.update(f"{name}\0".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def facts(self) -> dict[str, Any]:
        """Describe the positions for the manifest of a run, by the keys of trees."""
        sizes = {"positions": self.graph.positions, "infosets": self.num_rows}
        # Half the range is stored as "largest_payoff", the largest distance as "scale".
        units = dict(zip(("even", "largest_payoff", "scale"), self._sizes, strict=True))
        return {"name": self.name, "tree_sha256": self.digest(), **sizes, **units}

    @cached_property
    def num_histories(self) -> float:
        """Number of nodes (histories) of the game tree; infinite if positions recur.

        Level by level: a position has as many histories as the moves that lead to it, each counted
        by the histories of the position before.
        """
        graph = self.graph
        if graph.recurring.any():
            return inf
        position, entry = graph.ends  # by move: where it is made, and its index in `next`
        after = graph.next[entry]  # position after each move, negative at the end of the game
        histories = np.zeros(graph.positions)  # number of histories that lead to each position
        histories[graph.start[:, 0]] = 1.0
        for first_move, end_move in pairwise(np.searchsorted(position, graph.level)):
            goes_on = first_move + np.flatnonzero(after[first_move:end_move] >= 0)
            np.add.at(histories, after[goes_on], histories[position[goes_on]])
        num_terminal = histories[position[after < 0]].sum()
        return float(histories.sum() + num_terminal)

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
        """Begin without positions; more than `most` of them are refused."""
        self.rules = rules
        self.name = name
        self.most = most  # positions allowed
        self.sets = InformationSets()
        self.actions: dict[Hashable, int] = {}  # number of each action
        # Number of the position of each state, -1 - t at an end with payoff number t.
        self.position: dict[Hashable, int] = {}
        self.states: list[Any] = []  # of each position
        self.payoffs: dict[float, int] = {}  # number of each payoff
        self.player = array("b")  # of each position
        self.row = array("i")  # of each position: information set, or distribution of chance
        self.degree = array("i")  # of each position: number of moves
        self.after = array("i")  # of each move, position by position: the number it leads to
        # Number of each distribution of chance: as the rules give it, and scaled to sum to 1.
        self.drawn: dict[tuple[Any, ...], int] = {}
        self.chances: dict[tuple[float, ...], int] = {}
        self.came_from = array("i")  # of each position: the one before it in a shortest history
        self.came_by = array("i")  # of each position: the move that leads there from that one
        self.merged = False  # whether two moves led to one position
        self.is_rounded = False  # whether a double cannot hold a probability of chance exactly

    def run(self) -> None:
        """Enter every position and its moves, breadth first; raise `HogeqError` for faulty rules.

        The list of states is the queue: entering moves appends the new states after them.
        """
        no_position, no_move = -1, 0  # nothing leads to the start
        try:
            start = self.number_of(self.rules.initial(), no_position, no_move)
        except Exception as error:
            raise HogeqError(f"{self.name}: at the start: {reason_of(error)}") from error
        if start < 0:
            raise HogeqError(f"{self.name}: at the start: the game is over")
        entered = 0
        with phase(f"positions of {self.name}", unit="positions") as progress:
            while entered < len(self.states):
                try:
                    self.enter(entered, node_of(self.rules, self.states[entered]))
                except Exception as error:
                    where = self.history(entered)
                    raise HogeqError(f"{self.name}: {where}: {reason_of(error)}") from error
                entered += 1
                if entered % CHECK_INTERVAL == 0:
                    progress.reach(entered)
                    self.check_size(entered)

    def check_size(self, entered: int) -> None:
        """Raise `TooManyError` for a game of too many positions, `entered` of them so far.

        So many positions without two equal ones mean a tree, for which a graph saves nothing.
        """
        num_states = len(self.states)
        if num_states > self.most:
            raise TooManyError(f"more than {self.most:,} positions")
        if entered > MOST_DISTINCT and not self.merged:
            raise TooManyError(f"no position of its first {entered:,} comes by two ways")
        if num_states * POSITION_BYTES > memory():
            raise TooManyError("positions that need more memory than this machine has")

    def enter(self, position: int, node: Node) -> None:
        """Append a position: its information set, or chance's distribution, and where moves lead.

        Distributions are numbered as the rules give them, and scaled to sum to 1.
        """
        moves = node.moves
        if node.player == CHANCE:
            unscaled = tuple([chance for _, chance, _ in moves])
            if unscaled not in self.drawn:
                drawn = [chance for _, chance, _ in scale_chances(moves)]
                self.is_rounded = self.is_rounded or not are_exact_doubles(drawn)
                scaled = tuple(filter(None, map(float, drawn)))
                self.drawn[unscaled] = self.chances.setdefault(scaled, len(self.chances))
            row = self.drawn[unscaled]
        else:
            numbers = [
                (number_of(action, self.actions), chance, after) for action, chance, after in moves
            ]
            row = self.sets.row_of(node._replace(moves=numbers))
        self.player.append(NATURE if node.player == CHANCE else node.player)
        self.row.append(row)
        # A move of chance whose probability is 0 as a double is left out.
        followed = [(number, move[2]) for number, move in enumerate(moves) if float(move[1])]
        self.degree.append(len(followed))
        for number, state in followed:
            self.after.append(self.number_of(state, position, number))

    def number_of(self, state: Any, position: int, move: int) -> int:
        """Give the state that a move from a position leads to its number, a new one if it is new.

        Returns the number of its position; -1 - t if play ends there with payoff number t. A new
        position is appended to `states`, to be looked at later, with the position and the number of
        the move by which the walk came to it first.
        """
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
            payoff = self.sets.payoff_of(end)
            if self.sets.is_rounded:
                allowed = "payoffs, and a sum of both players', that a double can hold"
                raise NodeError(refusal("payoffs", [*map(str, end.payoffs)], allowed))
            number = -1 - self.payoffs.setdefault(payoff, len(self.payoffs))
        else:
            number = len(self.states)
            self.states.append(state)
            self.came_from.append(position)
            self.came_by.append(move)
        self.position[state] = number  # of ends, too
        return number

    def history(self, position: int) -> str:
        """Write the shortest history of a position by its moves, traced back to the start."""
        moves: list[str] = []
        movers: list[int] = []
        while position > 0:
            move = self.came_by[position]
            position = self.came_from[position]
            node = node_of(self.rules, self.states[position])
            moves.append(str(node.moves[move][0]))
            movers.append(node.player)
        numbers = range(len(moves))
        return history_text(movers[::-1], numbers, lambda _: moves[::-1])

    def compiled(self) -> Positions:
        """Sort the positions into levels, and lay out the arrays of their graph.

        1. Number rows by player, and positions level by level: play goes from a level to a later
           one, or stays in it if positions recur.
        2. Make the *situations* of positions: each number of actions, and each distribution of
           chance, is one. Their *ways* are the actions by number, then the distributions.
        """
        row_names, seat, old_rows = self.sets.sorted_rows()
        action_names = list(self.actions)
        actions = [tuple(action_names[move] for move in self.sets.legal[row]) for row in old_rows]
        # Of each row as the walk met it; the last entry is for chance, which has row -1 below.
        new_row = np.zeros(len(row_names) + 1, np.int64)
        new_row[old_rows] = np.arange(len(row_names))
        player = np.frombuffer(self.player, np.int8)
        degree = np.frombuffer(self.degree, np.int32).astype(np.int64)
        after = np.frombuffer(self.after, np.int32).astype(np.int64)
        row = np.frombuffer(self.row, np.int32)
        source = np.repeat(np.arange(len(player)), degree)  # position before each move
        goes_on = after >= 0
        level_of = levels_of(np.zeros(len(player), np.int64), source[goes_on], after[goes_on])
        order = np.argsort(level_of, kind="stable")  # positions as the walk met them, by level
        new_number = np.empty(len(order), np.int64)
        new_number[order] = np.arange(len(order))
        begin = np.cumsum(degree) - degree
        after = after[spans(begin[order], begin[order] + degree[order])]
        after = np.where(after >= 0, new_number[np.maximum(after, 0)], after)
        player, row, degree = player[order], row[order], degree[order]
        nature = player == NATURE
        most = int(degree[~nature].max(initial=1))  # actions of a position
        sizes = np.unique(degree[~nature])  # numbers of actions that occur
        require_cells(self.name, "kinds of positions", len(sizes) + len(self.chances), most)
        kinds = [*sizes.tolist(), *range(-1, -1 - len(self.chances), -1)]  # of each situation
        level_of = level_of[order]
        source = np.repeat(np.arange(len(order)), degree)
        recurs = (after >= 0) & (level_of[source] == level_of[np.maximum(after, 0)])
        states = [self.states[old] for old in order.tolist()]
        arrays: dict[str, Any] = {
            "level": np.append(0, np.cumsum(np.bincount(level_of))),
            "player": player,
            "row": np.where(nature, 0, new_row[np.where(nature, -1, row)]),
            "situation": np.where(nature, len(sizes) + row, np.searchsorted(sizes, degree)),
            **memoryless(kinds, [*self.chances], most),
            "place": np.cumsum(degree) - degree,
            "next": after,
            "label": np.zeros(len(after)),
            "payoff": np.array([*self.payoffs] or [0.0]),
            "start": np.array([[new_number[0], 0]]),
            "total": float(self.sets.total),
        }
        if recurs.any():
            arrays["endless"] = self.endless(nature, source, after, recurs, states)
        graph = Graph(**arrays)
        seats = np.array(seat, np.int8)
        return Positions(self.name, graph, states, row_names, seats, actions, self.is_rounded)

    def endless(
        self,
        nature: NDArray[np.bool_],
        source: Ints,
        after: Ints,
        recurs: NDArray[np.bool_],
        states: list[Any],
    ) -> float:
        """Payoff to player 0 of a play without end.

        The rules must state it if players can make play go on for ever. Otherwise play ends with
        probability 1, and this payoff has no effect. `nature` and `states` are by position (C,),
        `source`, `after` and `recurs` by move (M,): where it is made, where it leads, and whether
        it stays in the level.
        """
        stated_payoff = self.rules.endless
        if stated_payoff is not None:
            return _payoff(self.name, stated_payoff)
        is_staying = never_ending(nature, source, after, recurs)
        if is_staying.any():
            position = self.position[states[int(np.argmax(is_staying))]]
            raise HogeqError(
                f"{self.name}: {self.history(position)}: play can go on for ever; allowed: "
                f"games that end, or an attribute endless, the payoff to player 0 of such a play"
            )
        return float(self.sets.total) / 2


def _payoff(name: str, payoff: Any) -> float:
    """Check the payoff of a play without end: a number that a double holds exactly."""
    is_number = isinstance(payoff, Real) and not isinstance(payoff, bool)
    exact = Fraction(payoff) if isinstance(payoff, Rational) else payoff
    if not (is_number and -LARGEST <= exact <= LARGEST and is_exact_double(exact)):
        allowed = "a payoff to player 0 that a double can hold"
        raise HogeqError(f"{name}: endless: got {shown(payoff)}; allowed: {allowed}")
    return float(payoff)


def never_ending(
    nature: NDArray[np.bool_], source: Ints, after: Ints, recurs: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Mark the largest set of positions in which the players together can stay for certain, (C,).

    Beginning with all positions, remove one if all its moves leave the set, or if it is chance's
    and one of them does, until none is left to remove. If the set is empty the game has no end
    component: all plays end with probability 1, whatever the players do. Takes time linear in the
    number of moves.

    `nature`, (C,), marks positions of chance. Moves (M,) have a `source`, ascending, and lead to
    `after`; those that do not recur, by `recurs`, leave the set anyway.
    """
    num_positions = len(nature)
    num_moves = np.bincount(source, minlength=num_positions)  # of each position
    num_staying = np.bincount(source[recurs], minlength=num_positions)  # moves into the set
    is_inside = np.ones(num_positions, bool)
    order = np.argsort(after[recurs], kind="stable")
    target, before = after[recurs][order], source[recurs][order]
    begin = np.searchsorted(target, np.arange(num_positions + 1))  # first move to each position
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
