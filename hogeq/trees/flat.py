"""Any finite zero-sum game of two players, or of one against nature, as flat arrays of nodes.

Two seats become one strategy by a fair coin: U(A, B) = (u0(A, B) + u1(B, A)) / 2, where u_i is the
payoff to player i and the first strategy sits at seat 0. Its value is 0, and the best that a
response wins is NashConv / 2. Where payoffs sum to another constant, half of it is taken off each,
`FlatTree.shift`, and player 0's are put around 0, `FlatTree.centre`; both come back in results. One
player against nature has the first seat; the second has no decision and the opposite payoff.
A team (:mod:`hogeq.trees.teams`) is one player that has the rows of its members.
"""

import math
from array import array
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.search.results import Units, payoffs
from hogeq.strategies.arrays import as_array
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import counted, one_line, printable, raised
from hogeq.support.progress import phase
from hogeq.support.workers import memory
from hogeq.trees.teams import Known, Sides, summed, teams_of

CHANCE: Final = -1
TERMINAL: Final = -2
MOST_NODES: Final = 20_000_000  # of the largest tree that is built
MOST_MOVES: Final = 100_000  # of a play, unless a file says that it ends
NODE_BYTES: Final = 25  # of a tree while it is built, ...
LEVEL_BYTES: Final = 1000  # ... of a depth, ...
ROW_BYTES: Final = 300  # ... of an information set, and ...
ACTION_BYTES: Final = 12  # ... of an action there, of which all sets have as many
FIRST_LOOK: Final = 64  # nodes after which ...
LOOK_UP: Final = 2**14  # ... and again after so many, progress, memory and size are looked at
ESTIMATED: Final = 10  # moves of a walk for one of the random plays that estimate its size
SURE: Final = 20 * math.log(10)  # of 10**20 games that are not too large one may be called so
ENOUGH: Final = 1e60  # nodes in an estimate, after which a play need not go on
ROUNDED: Final = 1e-12  # share of the payoffs at an end that their sum may miss by rounding
ROW_SUM: Final = 1e-9  # by which the sum of a row, or of a node of chance, may differ from 1
LARGEST: Final = 1e300  # no payoff is larger; and the largest, unless 0, is 1 / LARGEST or more
IN_RANGE: Final = f"allowed: numbers from -{LARGEST:g} to {LARGEST:g}"

Indices = NDArray[np.int32]


class HistoryStep(NamedTuple):
    """One move of a player or of chance in a history."""

    player: int | None  # who moved; None for chance
    infoset: Hashable  # information set of the player; None for chance
    action: str

    def __str__(self) -> str:
        """Write the move, and the player that made it."""
        return f"{'chance' if self.player is None else f'player {self.player}'}: {self.action}"


History = tuple[HistoryStep, ...]
Forget = Callable[[int, Any], Hashable]  # of a player, an information state: key of the infoset


@dataclass(frozen=True, eq=False, repr=False)
class FlatTree:
    """A finite two-player zero-sum game: N nodes by depth, children of one node side by side.

    A strategy covers the information sets of both seats, its rows: float64 (R, K), rows of player 0
    first. Where a row has fewer than K actions, the others have probability 0.
    """

    name: str
    player: NDArray[np.int8]  # (N,), who moves: 0, 1, CHANCE or TERMINAL
    parent: Indices  # (N,), the node before, -1 for the root
    row: Indices  # (N,), information set of the player to move, -1 where none moves
    paid: Floats  # (E,), payoffs to player 0 at the E terminal nodes, in their order
    seat: NDArray[np.int8]  # (R,), whose row it is
    num_legal: Ints  # (R,)
    moves: Indices  # (R, K), numbers of actions in the game that the tree was made of
    drawn: Indices  # (C,), such numbers of the C steps of chance, in the order of the nodes
    odds: Floats  # (C,), and their probabilities
    names: Sequence[Any]  # (R,), what the player knows there, in the game's words
    describe: Callable[[Sequence[int]], list[str]]  # writes the moves of a history in words
    states: Sequence[str] | None = None  # (R,), OpenSpiel's names, if others
    num_players: int = 2  # 1 against nature: then player 1 has no rows
    shift: float = 0.0  # half the sum of payoffs, which each player's own are larger by
    centre: float = 0.0  # and by which player 0's own are larger besides, player 1's smaller
    sides: Sides | None = None  # which of two teams each player is in, if there are teams

    def __repr__(self) -> str:
        """Name the game and say its size."""
        return f"FlatTree({self.name}: {self.num_nodes:,} nodes, {self.num_rows:,} infosets)"

    @property
    def num_nodes(self) -> int:
        """Number of nodes, N."""
        return len(self.parent)

    @property
    def num_rows(self) -> int:
        """Number of information sets of both players, R."""
        return len(self.seat)

    @cached_property
    def num_actions(self) -> int:
        """Most actions of an information set, K."""
        return int(self.num_legal.max(initial=1))

    @cached_property
    def legal(self) -> NDArray[np.bool_]:
        """Legal actions of each row, (R, K)."""
        return np.arange(self.num_actions) < self.num_legal[:, None]

    @cached_property
    def levels(self) -> list[slice]:
        """Nodes of each depth, the root's level first."""
        starts = [0, 1]
        while starts[-1] < self.num_nodes:
            # Nodes lie by depth: a level ends where parents are no longer in the one before.
            starts.append(int(np.searchsorted(self.parent, np.int32(starts[-1]))))
        return [slice(*pair) for pair in pairwise(starts)]

    @cached_property
    def families(self) -> list[tuple[slice, Ints, Indices]]:
        """Levels below the root's, each with where siblings start in it and their parents."""
        families = []
        for level in self.levels[1:]:
            parents = self.parent[level]  # children of one node lie side by side
            starts = np.flatnonzero(np.diff(parents, prepend=-1))
            families.append((level, starts, parents[starts]))
        return families

    @property
    def action(self) -> Indices:
        """Place of each node among its siblings, the action that leads there; 0 for the root."""
        nodes = np.arange(self.num_nodes, dtype=np.int32)
        first = np.where(np.diff(self.parent, prepend=np.int32(-2)) != 0, nodes, 0)
        return nodes - np.maximum.accumulate(first)

    @cached_property
    def edge(self) -> Indices:
        """Step to each node: an index of a flattened strategy (R * K), then of chance (C,).

        The last one is that to the root.
        """
        size, drawn = self.num_rows * self.num_actions, self.mover == CHANCE
        edge = self.row[self.parent] * np.int32(self.num_actions) + self.action
        edge[drawn] = size - 1 + np.arange(np.count_nonzero(drawn))
        edge[0] = size + len(self.odds)
        return edge

    def by_step(self, chosen: NDArray[Any], drawn: NDArray[Any], root: float) -> NDArray[Any]:
        """Gather numbers of steps, of players' actions (R, K) and of chance (C,), for each node."""
        return np.concatenate([chosen.ravel(), drawn, np.full(1, root, drawn.dtype)])[self.edge]

    @cached_property
    def move(self) -> Indices:
        """Number of the step to each node in the game that the tree was made of; 0 for the root."""
        return self.by_step(self.moves, self.drawn, 0)

    @cached_property
    def after_chance(self) -> Ints:
        """Nodes to which chance moved, (C,)."""
        return np.flatnonzero(self.mover == CHANCE)[1:]  # all but the root

    @cached_property
    def chance(self) -> Floats:
        """Probability of the step to each node that chance makes, 1 elsewhere, (N,)."""
        return self.by_step(np.ones(self.moves.shape), self.odds, 1.0)

    @cached_property
    def payoff(self) -> Floats:
        """Payoff to player 0 at terminal nodes, 0 elsewhere, (N,)."""
        payoff = np.zeros(self.num_nodes)
        payoff[self.player == TERMINAL] = self.paid
        return payoff

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """Whether chance lets play come to each node, (N,)."""
        possible = np.ones(self.num_nodes, np.bool_)
        possible[self.after_chance] = self.odds > 0.0
        for level in self.levels[1:]:
            possible[level] &= possible[self.parent[level]]
        return possible

    @cached_property
    def largest_payoff(self) -> float:
        """Largest possible payoff to either player; 1 if all are 0."""
        possible = self.possible[self.player == TERMINAL]
        return float(np.abs(self.paid).max(where=possible, initial=0.0)) or 1.0

    @cached_property
    def shares(self) -> Floats:
        """Payoffs as shares of the largest, (N,): comparisons and programs use these."""
        return np.where(self.possible, self.payoff, 0.0) / self.largest_payoff

    @cached_property
    def expected(self) -> float:
        """Most that players can expect together if they see all, a share of the largest payoff.

        1 if all payoffs are 0.
        """
        size = np.abs(self.shares)
        for level, starts, parents in reversed(self.families):
            drawn = np.add.reduceat(self.chance[level] * size[level], starts)
            chosen = np.maximum.reduceat(size[level], starts)
            size[parents] = np.where(self.player[parents] == CHANCE, drawn, chosen)
        return float(size[0]) if self.shares.any() else 1.0

    @cached_property
    def mover(self) -> NDArray[np.int8]:
        """Player that moved to each node; `CHANCE` for the root."""
        mover = self.player[self.parent]
        mover[0] = CHANCE
        return mover

    @cached_property
    def member(self) -> NDArray[np.int8]:
        """Player of each row in the game as it was given, (R,): of a team the member."""
        if self.sides is None:
            return self.seat
        return np.array([name.player for name in self.names], np.int8)

    @cached_property
    def moved(self) -> NDArray[np.int8]:
        """Player, of a team the member, that moved to each node, (N,); `CHANCE` for the root."""
        row = np.where(self.mover == CHANCE, -1, self.row[self.parent])
        return np.append(self.member, np.int8(CHANCE))[row]

    @property
    def units(self) -> Units:
        """Units of the game: its payoffs."""
        return payoffs(self.shift, self.largest_payoff, self.largest_payoff * self.expected)

    @cached_property
    def labels(self) -> list[list[str]]:
        """Names of each row's actions."""
        labels: list[list[str]] = [[] for _ in range(self.num_rows)]
        first = self.first_after
        number, words = self.words(first)
        for node, one in zip(first.tolist(), number.tolist(), strict=True):
            labels[self.row[self.parent[node]]].append(words[one])
        return labels

    @property
    def first_after(self) -> Indices:
        """First node after each action of each row, one row after another."""
        first = np.full(self.moves.size + len(self.odds) + 1, -1, np.int32)
        first[self.edge[::-1]] = np.arange(self.num_nodes)[::-1]  # of many the last one stays
        return first[: self.moves.size][self.legal.ravel()]

    def words(self, nodes: Ints | Indices) -> tuple[Indices, list[str]]:
        """Name the steps that lead to nodes: which of some words each has, and the words."""
        number, words = np.full(self.num_nodes, -1, np.int32), {"": 0}
        number[0] = 0
        with phase("names of actions", len(nodes)) as progress:
            for node in np.sort(nodes)[::-1]:  # a deep one names those on the way to it
                progress.step()
                if number[node] < 0:
                    path = _path(self.parent, node)
                    written = self.describe(self.move[path].tolist())
                    number[path] = [words.setdefault(word, len(words)) for word in written]
        return number[nodes], [*words]

    def digest(self) -> str:
        """Hash of all but the name: equal for equal games, in any process; hexadecimal."""
        found = sha256()
        for whole in (self.player, self.parent, self.row, self.action, self.seat):
            found.update(np.asarray(whole, "<i4").tobytes())
        for numbers in (self.chance, self.payoff, [self.shift, self.centre]):
            found.update(np.asarray(numbers, "<f8").tobytes())
        for name in self.names:
            found.update(f"{name}\0".encode("utf-8", "surrogatepass"))
        return found.hexdigest()

    def uniform(self) -> Floats:
        """Strategy that plays every legal action alike, (R, K)."""
        return self.legal / self.num_legal[:, None]

    def check_strategy(self, given: ArrayLike, name: str = "strategy") -> Floats:
        """Check probabilities of legal actions, (R, K); scale sums of nearly 1."""
        numbers, shape = as_array(given, name), (self.num_rows, self.num_actions)
        if numbers.dtype.kind not in "iuf":
            raise ValueError(f"{name}: holds {numbers.dtype} values; allowed: float64 numbers")
        if numbers.shape != shape:
            raise ValueError(f"{name}: has shape {numbers.shape}; allowed: {shape}")
        rows = numbers.astype(np.float64)
        wrong = ~(np.isfinite(rows) & (rows >= 0.0)) | ((rows > 0.0) & ~self.legal)
        sums = rows.sum(axis=1)
        bad = np.flatnonzero(wrong.any(axis=1) | (np.abs(sums - 1.0) > ROW_SUM))
        if len(bad):
            raise ValueError(
                f"{name}: information set {bad[0]} ({printable(self.names[bad[0]])}): allowed:"
                " probabilities of legal actions that sum to 1"
            )
        rounding = np.abs(sums - 1.0) <= np.finfo(float).eps * self.num_legal
        return rows / np.where(rounding, 1.0, sums)[:, None]

    def history(self, node: int) -> History:
        """Write the history of a node in the game's words."""
        path, steps = _path(self.parent, node), []
        for one, action in zip(path, self.describe(self.move[path].tolist()), strict=True):
            mover, row = int(self.moved[one]), int(self.row[self.parent[one]])
            chance = mover == CHANCE
            steps.append(
                HistoryStep(None if chance else mover, None if chance else self.names[row], action)
            )
        return tuple(steps)


Moves = Sequence[tuple[Any, Fraction | float, Any]]
"""Name or number of each move, its probability (1 of a player's), the state it leads to."""


class Node(NamedTuple):
    """Node of a game at a state: the player to move, and the moves."""

    player: int  # who moves: a number from 0, `CHANCE` or `TERMINAL`
    infoset: Hashable = None  # all that the player knows; equal ones are one information set
    payoff: float = 0.0  # to player 0 at the end
    moves: Moves = ()
    payoffs: Sequence[Fraction | float] = ()  # to every player, if others than payoff and -payoff


class NodeError(ValueError):
    """Refusal of a node; `flatten` puts the game and the history before it."""


def flatten(
    name: str,
    root: Any,
    look: Callable[[Any], Node],
    describe: Callable[[Sequence[int]], list[str]],
    longest: int | None = None,
    deepest: int | None = None,
    forget: str | Forget | None = None,
    sides: Sides | None = None,
) -> FlatTree:
    """Lay out a game whose moves are numbers, or all that comes in `longest` moves of players.

    Nodes are met depth first, so that few states are held at once. With `deepest`, the number of
    nodes of a file, `look` is asked once for each node, in this order.
    """
    walk, count, known, again = _Walk(forget if callable(forget) else None, sides), 0, 1, FIRST_LOOK
    estimate = _Estimate(root, look) if deepest is longest is None else None
    waiting: list[Iterator[Any]] = [iter([(0, 1.0, root)])]  # siblings still to come, by depth
    path: list[int] = []  # numbers of the moves to the node at hand, after one for the root
    movers: list[int] = []  # who made them
    with phase(f"tree of {name}", unit="nodes") as progress:
        while waiting:
            step = next(waiting[-1], None)
            if step is None:
                waiting.pop()
                continue
            depth = len(waiting) - 1
            path[depth:], movers[depth:] = step[:1], ()
            try:
                node = look(step[2])
                is_last = longest is not None and sum(one >= 0 for one in movers) >= longest
                moves = walk.settle(node, depth, is_last)
            except Exception as error:
                where = _where(movers, path[1:], describe)
                reason = error if isinstance(error, NodeError) else raised(error)
                raise ValueError(f"{name}: {where}: {reason}") from error
            count += 1
            if moves:
                waiting.append(iter(moves))
                movers.append(node.player)
                known += len(moves)
                if known > MOST_NODES:
                    raise ValueError(f"{name}: has more than {MOST_NODES:,} nodes")
                if depth >= (deepest or MOST_MOVES):
                    raise ValueError(f"{name}: has plays of more than {depth:,} moves")
            if count == again:
                again = (count // LOOK_UP + 1) * LOOK_UP
                progress.reach(count)
                need = NODE_BYTES * known + LEVEL_BYTES * len(walk.levels)
                need += len(walk.legal) * (ROW_BYTES + ACTION_BYTES * walk.most)
                require_memory(f"{name}: has more than {count:,} nodes", need)
                if estimate is not None and estimate.is_vast(count // ESTIMATED):
                    raise ValueError(f"{name}: has more than {MOST_NODES:,} nodes")
                progress.measured(estimate.figure if estimate else "")
    tree = walk.tree(name, describe)
    if tree.largest_payoff < 1.0 / LARGEST:
        raise ValueError(
            f"{name}: the largest payoff is {tree.largest_payoff:g}; {IN_RANGE}, the largest "
            f"{1.0 / LARGEST:g} or more, or all 0"
        )
    return tree


class _Estimate:
    """Number of nodes by random plays, which tell that a tree is too large long before a walk does.

    The sum over the nodes of a play of one over the probability to come there has as its mean the
    number of nodes, N (Knuth 1975, "Estimating the efficiency of backtrack programs"). So if N is
    at most `MOST_NODES`, M, who bets a tenth of a fortune on every play, at odds X / M for a sum
    X, has a supermartingale: by Ville's inequality a fortune ever grows by `SURE` with a
    probability of at most 1 / SURE.
    """

    def __init__(self, root: Any, look: Callable[[Any], Node]) -> None:
        self.root, self.look = root, look
        self.random = np.random.default_rng(0)
        self.fortune = self.sum = 0.0  # of the first the logarithm
        self.plays = self.spent = 0  # spent: moves looked at

    def is_vast(self, moves: int) -> bool:
        """Play until so many moves were looked at; tell whether the tree has too many nodes."""
        while self.spent <= moves and self.fortune < SURE:
            found = self.play()
            self.plays, self.sum = self.plays + 1, self.sum + found
            self.fortune += math.log(0.9 + 0.1 * found / MOST_NODES)
        return self.fortune >= SURE

    @property
    def figure(self) -> str:
        """The estimate in words."""
        found = f"some {self.sum / self.plays:.1g} by {counted(self.plays, 'random play')}"
        return f"{found}, at most {MOST_NODES:,}"

    def play(self) -> float:
        """Give the sum of one play, or of its first moves."""
        state, weight, total = self.root, 1.0, 1.0
        for _ in range(MOST_MOVES):
            self.spent += 1
            try:
                moves = self.look(state).moves
            except Exception:  # noqa: BLE001 - the walk will come there and refuse it
                break
            if not moves or total > ENOUGH:
                break
            self.spent += len(moves)
            weight *= len(moves)
            total += weight
            state = moves[int(self.random.integers(len(moves)))][2]
        return total


def require_memory(given: str, need: int) -> None:
    """Refuse trees that need more bytes than there are."""
    if need > memory():
        machine = f"{memory() / 2**30:.1f} GiB of this machine"
        raise ValueError(f"{given}, which need more memory than the {machine}")


def _drawn(moves: Moves) -> Moves:
    """Scale probabilities of chance that sum to nearly 1; refuse others."""
    chances = [float(chance) for _, chance, _ in moves]
    total = sum(chances)
    for chance in chances:
        if not 0.0 <= chance <= 1.0 + ROW_SUM:
            raise NodeError(f"an action of chance is of probability {chance:g}; allowed: 0 to 1")
    if abs(total - 1.0) > ROW_SUM:
        sums = f"probabilities of chance sum to {total:.12g}"
        raise NodeError(f"{sums}; allowed: 1 within {ROW_SUM:g}")
    if abs(total - 1.0) <= np.finfo(float).eps * len(chances):  # by rounding alone
        return moves
    return [(number, float(chance) / total, after) for number, chance, after in moves]


_number: Final = itemgetter(0)  # of a move


class _Level(NamedTuple):
    """Nodes of one depth, as a walk meets them."""

    row: "array[Any]"  # information set of each node, in the order of first meetings; else -1
    many: "array[Any]"  # its moves
    payoff: "array[Any]"  # of ends alone
    chance: "array[Any]"  # of the moves of chance, and ...
    drawn: "array[Any]"  # ... their numbers


class _Walk:
    """Nodes by depth in the order of a depth-first walk, and the information sets met."""

    def __init__(self, forget: Forget | None, sides: Sides | None) -> None:
        self.forget, self.sides = forget, sides
        self.levels: list[_Level] = []
        self.rows: dict[int, dict[Hashable, int]] = {}  # by player or team
        self.legal: list[Sequence[int]] = []  # numbers of each row's actions
        self.seen: dict[tuple[int, ...], Sequence[int]] = {}  # such numbers, each once
        self.most = 1  # actions of a row
        self.num_players = 0  # 0 until an end is met
        self.total: Any = 0  # what the payoffs at every end sum to

    def settle(self, node: Node, depth: int, is_last: bool) -> Moves:
        """Enter a node; give the moves that are laid out, none of a player where play is cut."""
        if depth == len(self.levels):
            self.levels.append(_Level(array("i"), array("i"), array("d"), array("d"), array("i")))
        level, row, moves = self.levels[depth], -1, node.moves
        if node.player >= 0:
            row, moves = self.row_of(node), () if is_last else moves
        elif node.player == CHANCE:
            moves = _drawn(moves)
            level.chance.extend([float(chance) for _, chance, _ in moves])
            level.drawn.extend(map(_number, moves))
        else:
            moves = ()
            level.payoff.append(self.payoff_of(node))
        level.row.append(row)
        level.many.append(len(moves))
        return moves

    def row_of(self, node: Node) -> int:
        """Find the information set of a node; all nodes of one have the same actions."""
        known = self.forget(node.player, node.infoset) if self.forget else node.infoset
        player, key = node.player, known
        if self.sides is not None:
            player, key = self.sides[node.player], Known(node.player, known)
        row = self.rows.setdefault(player, {}).setdefault(key, len(self.legal))
        numbers = list(map(_number, node.moves))
        wrong = ""
        if row == len(self.legal):
            self.legal.append(self.seen.setdefault(tuple(numbers), numbers))
            self.most = max(self.most, len(numbers))
            if len(set(numbers)) < len(numbers):
                wrong = "has two equal actions; allowed: different ones"
            elif not numbers:
                wrong = "has no action; allowed: one or more"
        elif self.legal[row] != numbers:
            wrong = "histories differ in their legal actions"
        if wrong:
            raise NodeError(f"information state {one_line(known)}: {wrong}")
        return row

    def payoff_of(self, end: Node) -> float:
        """Give the payoff to player 0 at an end; both players' payoffs have one sum."""
        paid: Sequence[Any] = end.payoffs or (end.payoff, -end.payoff)
        for one in paid:
            if not abs(one) <= LARGEST:
                raise NodeError(f"payoff {float(one):g}; {IN_RANGE}")
        largest = max(map(abs, paid))
        if self.sides is not None:
            paid = summed(paid, self.sides)
        total = sum(paid) if len(paid) > 1 else 0
        if not self.num_players:
            self.num_players = len(paid)
            self.total = 0 if abs(total) <= ROUNDED * largest else total
        if len(paid) != self.num_players:
            raise NodeError(f"{len(paid)} payoffs; allowed: {self.num_players}")
        if total != self.total and abs(total - self.total) > ROUNDED * largest:
            sums = f"{one_line(total)}, at the first end to {one_line(self.total)}"
            allowed = "allowed: zero-sum and constant-sum games"
            raise NodeError(f"is not zero-sum: payoffs sum to {sums}; {allowed}")
        return float(paid[0])

    def joined(self, field: str, kind: Any) -> NDArray[Any]:
        """Join and forget an array of all levels."""
        parts = [np.frombuffer(getattr(level, field), kind) for level in self.levels]
        self.levels = [level._replace(**{field: array("b")}) for level in self.levels]
        return np.concatenate(parts)

    def tree(self, name: str, describe: Callable[[Sequence[int]], list[str]]) -> FlatTree:
        """Put the nodes in the order of their depth, with few copies at a time."""
        names: list[Any] = []
        seat, first_numbers = array("b"), array("i")
        for player in sorted(self.rows):
            known = sorted(self.rows[player], key=str)
            names += known
            seat.extend([player] * len(known))
            first_numbers.extend(map(self.rows[player].__getitem__, known))
        self.rows.clear()
        new = np.full(len(names) + 1, -1, np.int32)
        new[first_numbers] = np.arange(len(names))
        num_legal = np.array([len(self.legal[number]) for number in first_numbers], np.int64)
        moves = np.zeros((len(names), self.most), np.int32)
        for row, number in enumerate(first_numbers):
            moves[row, : num_legal[row]] = self.legal[number]
        paid = self.joined("payoff", np.float64)
        half, centre = float(self.total) / 2, 0.0
        least, most = paid.min(initial=np.inf), paid.max(initial=-np.inf)
        middle = least / 2 + most / 2
        # A constant that is large beside the stakes would hide them.
        if self.total or abs(middle) > most - least > 0.0:
            paid -= middle
            centre = float(middle) - half
        row = new[self.joined("row", np.int32)]
        many = self.joined("many", np.int32)
        player = np.array([*seat, CHANCE], np.int8)[row]
        player[(row < 0) & (many == 0)] = TERMINAL
        inner = np.flatnonzero(many)
        many = np.append(np.int32(1), many[inner])  # the root comes once, after no node
        parent = np.repeat(np.append(-1, inner).astype(np.int32), many)
        return FlatTree(
            name=name if self.sides is None else f"{name}, teams {teams_of(self.sides)}",
            player=player,
            parent=parent,
            row=row,
            paid=paid,
            seat=np.array(seat, np.int8),
            num_legal=num_legal,
            moves=moves,
            drawn=self.joined("drawn", np.int32),
            odds=self.joined("chance", np.float64),
            names=names,
            describe=describe,
            num_players=self.num_players or 2,
            shift=half,
            centre=centre,
            sides=self.sides,
        )


def _where(
    movers: Sequence[int], moves: Sequence[int], describe: Callable[[Sequence[int]], list[str]]
) -> str:
    """Name a node for a refusal, by the moves to it."""
    players = [None if mover == CHANCE else mover for mover in movers]
    steps = map(HistoryStep, players, [None] * len(moves), describe(moves))
    return f"after {one_line('; '.join(map(str, steps)))}" if moves else "at the start"


def _path(parents: Sequence[int] | Indices, node: int) -> list[int]:
    """List the nodes after the root on the way to a node, itself the last."""
    path = []
    while node > 0:
        path.append(node)
        node = int(parents[node])
    return path[::-1]


def reach(tree: FlatTree, joint: Floats, player: int | None = None) -> Floats:
    """Probability that play comes to each node, (N,); a player's own actions count 1."""
    step = tree.by_step(joint, tree.odds, 1.0)
    if player is not None:
        step[tree.mover == player] = 1.0
    for level in tree.levels[1:]:
        step[level] *= step[tree.parent[level]]
    return step


def payoff(tree: FlatTree, first: Floats, second: Floats) -> float:
    """Compute the payoff to player 0 where one strategy sits at seat 0, another at seat 1."""
    joint = np.where(tree.seat[:, None] == 0, first, second)
    return float(reach(tree, joint) @ tree.payoff) + tree.shift + tree.centre
