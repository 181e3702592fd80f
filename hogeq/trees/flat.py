"""Any finite zero-sum game of two players, or of one against nature, as flat arrays of nodes.

Two seats become one strategy by a fair coin: U(A, B) = (u0(A, B) + u1(B, A)) / 2, where u_i is the
payoff to player i and the first strategy sits at seat 0. Its value is 0, and the best that a
response wins is NashConv / 2. Where payoffs sum to another constant, half of it is taken off each,
`FlatTree.shift`, and player 0's are put around 0, `FlatTree.centre`; both come back in results. One
player against nature has the first seat; the second has no decision and the opposite payoff.
A team (:mod:`hogeq.trees.teams`) is one player that has the rows of its members.
"""

from array import array
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.search.results import Units, payoffs
from hogeq.strategies.arrays import as_array
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import one_line, printable, raised
from hogeq.support.progress import phase
from hogeq.support.workers import memory
from hogeq.trees.teams import Known, Sides, summed, teams_of

CHANCE: Final = -1
TERMINAL: Final = -2
MOST_NODES: Final = 20_000_000  # of the largest tree that is built
MOST_MOVES: Final = 100_000  # of a play, unless a file says that it ends
NODE_BYTES: Final = 130  # of a tree that is built, and ...
ROW_BYTES: Final = 500  # ... of an information set with its name
LOOK_UP: Final = 2**14  # nodes after which progress and memory are looked at
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
    action: Indices  # (N,), which action of the parent leads here, from 0; 0 for the root
    chance: Floats  # (N,), probability of that action where chance moves, 1 elsewhere
    payoff: Floats  # (N,), to player 0 at terminal nodes, 0 elsewhere
    move: Indices  # (N,), the action's number in the game that the tree was made of
    seat: NDArray[np.int8]  # (R,), whose row it is
    num_legal: Ints  # (R,)
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
        starts, first = [0, 1], 1
        while first < self.num_nodes:
            # Nodes lie by depth: a level ends where parents are no longer in the one before.
            last = int(np.searchsorted(self.parent, np.int32(first), side="left"))
            starts.append(last)
            first = last
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

    @cached_property
    def edge(self) -> Indices:
        """Index of each node's action in a flattened strategy (R * K); -1 where chance moved."""
        row = self.row[np.maximum(self.parent, 0)]
        edge = np.where(row >= 0, row * self.num_actions + self.action, -1)
        edge[0] = -1
        return edge

    @cached_property
    def moves(self) -> Ints:
        """Number of each row's actions in the game that the tree was made of, (R, K)."""
        moves = np.zeros((self.num_rows, self.num_actions), int)
        chosen = np.flatnonzero(self.edge >= 0)
        moves.ravel()[self.edge[chosen]] = self.move[chosen]
        return moves

    @cached_property
    def after_choice(self) -> Ints:
        """Nodes to which a player moved."""
        return np.flatnonzero(self.edge >= 0)

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """Whether chance lets play come to each node, (N,)."""
        possible = self.chance > 0.0
        for level in self.levels[1:]:
            possible[level] &= possible[self.parent[level]]
        return possible

    @cached_property
    def largest_payoff(self) -> float:
        """Largest possible payoff to either player; 1 if all are 0."""
        return float(np.abs(self.payoff[self.possible]).max()) or 1.0

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
        mover = self.player[np.maximum(self.parent, 0)].copy()
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
        row = self.row[np.maximum(self.parent, 0)]
        moved = np.append(self.member, CHANCE).astype(np.int8)[row]  # -1 is of chance
        moved[0] = CHANCE
        return moved

    @property
    def units(self) -> Units:
        """Units of the game: its payoffs."""
        return payoffs(self.shift, self.largest_payoff, self.largest_payoff * self.expected)

    @cached_property
    def labels(self) -> list[list[str]]:
        """Names of each row's actions."""
        labels: list[list[str]] = [[] for _ in range(self.num_rows)]
        edges, first = np.unique(self.edge[self.after_choice], return_index=True)
        nodes = self.after_choice[first].tolist()
        for row, node in zip((edges // self.num_actions).tolist(), nodes, strict=True):
            labels[row].append(self.label(node))
        return labels

    def label(self, node: int) -> str:
        """Name the action that leads to a node."""
        return self.history(node)[-1].action

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
        return rows / _scale(sums, self.num_legal)[:, None]

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
    deepest: int = MOST_MOVES,
    forget: str | Forget | None = None,
    sides: Sides | None = None,
) -> FlatTree:
    """Lay out a game whose moves are numbers, or all that comes in `longest` moves of players."""
    walk, count = _Walk(forget if callable(forget) else None, sides), 0
    stack: list[tuple[Any, ...]] = [(root, -1, 0, 0, 0, 1.0, 0)]
    with phase(f"tree of {name}", unit="nodes") as progress:
        while stack:
            state, parent, action, move, depth, chance, made = stack.pop()
            walk.parent.append(parent)
            walk.action.append(action)
            walk.move.append(move)
            walk.depth.append(depth)
            walk.chance.append(chance)
            try:
                player, moves = walk.settle(look(state))
            except Exception as error:
                steps = walk.history(count, describe)
                where = f"after {one_line('; '.join(map(str, steps)))}" if steps else "at the start"
                reason = error if isinstance(error, NodeError) else raised(error)
                raise ValueError(f"{name}: {where}: {reason}") from error
            if player >= 0:
                if longest is not None and made >= longest:
                    moves = ()
                made += 1
            for place in range(len(moves) - 1, -1, -1):  # popped in the order of actions
                number, probability, after = moves[place]
                stack.append((after, count, place, number, depth + 1, probability, made))
            count += 1
            if count + len(stack) > MOST_NODES:
                raise ValueError(f"{name}: has more than {MOST_NODES:,} nodes")
            if depth > deepest:
                raise ValueError(f"{name}: has plays of more than {deepest:,} moves")
            if not count % LOOK_UP:
                progress.reach(count)
                need = NODE_BYTES * (count + len(stack)) + ROW_BYTES * len(walk.rows)
                _require_memory(f"{name}: has more than {count:,} nodes", need)
    tree = walk.tree(name, describe)
    if tree.largest_payoff < 1.0 / LARGEST:
        raise ValueError(
            f"{name}: the largest payoff is {tree.largest_payoff:g}; {IN_RANGE}, the largest "
            f"{1.0 / LARGEST:g} or more, or all 0"
        )
    return tree


def _require_memory(given: str, need: int) -> None:
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


class _Walk:
    """Nodes in the order of a depth-first walk, and the information sets met."""

    def __init__(self, forget: Forget | None, sides: Sides | None) -> None:
        self.forget, self.sides = forget, sides
        self.parent, self.action, self.move, self.depth, self.row = (array("i") for _ in range(5))
        self.player, self.chance, self.payoff = array("b"), array("d"), array("d")
        self.rows: dict[tuple[int, Hashable], int] = {}
        self.legal: list[list[int]] = []  # numbers of each row's actions
        self.num_players = 0  # 0 until an end is met
        self.total: Any = 0  # what the payoffs at every end sum to

    def settle(self, node: Node) -> tuple[int, Moves]:
        """Enter a node; give the player to move, and the moves."""
        player, moves, row, payoff = node.player, node.moves, -1, 0.0
        if player >= 0:
            row = self.row_of(node)
        elif player == CHANCE:
            moves = _drawn(moves)
        else:
            payoff = self.payoff_of(node)
        self.player.append(player)
        self.row.append(row)
        self.payoff.append(payoff)
        return player, moves

    def row_of(self, node: Node) -> int:
        """Find the information set of a node; all nodes of one have the same actions."""
        known = self.forget(node.player, node.infoset) if self.forget else node.infoset
        key = node.player, known
        if self.sides is not None:
            key = self.sides[node.player], Known(node.player, known)
        row = self.rows.setdefault(key, len(self.rows))
        numbers = [number for number, _, _ in node.moves]
        wrong = ""
        if row == len(self.legal):
            self.legal.append(numbers)
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
        if not self.num_players:
            self.num_players, total = len(paid), sum(paid)
            is_rounding = len(paid) == 1 or abs(total) <= ROUNDED * largest
            self.total = 0 if is_rounding else total
        if len(paid) != self.num_players:
            raise NodeError(f"{len(paid)} payoffs; allowed: {self.num_players}")
        if len(paid) == 1:
            return float(paid[0])
        total = paid[0] + paid[1]
        if total != self.total and abs(total - self.total) > ROUNDED * largest:
            sums = f"{one_line(total)}, at the first end to {one_line(self.total)}"
            allowed = "allowed: zero-sum and constant-sum games"
            raise NodeError(f"is not zero-sum: payoffs sum to {sums}; {allowed}")
        return float(paid[0])

    def history(self, node: int, describe: Callable[[Sequence[int]], list[str]]) -> History:
        """Write the history of a node for a refusal; information sets are left out."""
        path = _path(self.parent, node)
        movers = [self.player[self.parent[one]] for one in path]
        words = describe([self.move[one] for one in path])
        return tuple(
            HistoryStep(None if mover == CHANCE else mover, None, word)
            for mover, word in zip(movers, words, strict=True)
        )

    def tree(self, name: str, describe: Callable[[Sequence[int]], list[str]]) -> FlatTree:
        """Put the nodes in the order of their depth."""
        order = np.argsort(np.asarray(self.depth), kind="stable")
        renamed = np.full(len(order) + 1, -1, np.int32)  # the root's parent, -1, stays
        renamed[order] = np.arange(len(order))
        keys = sorted(self.rows, key=lambda key: (key[0], str(key[1])))  # those of player 0 first
        first_numbers = [self.rows[key] for key in keys]
        new = np.full(len(keys) + 1, -1, np.int32)
        new[first_numbers] = np.arange(len(keys))
        player, payoff = np.asarray(self.player)[order], np.asarray(self.payoff)[order]
        if self.sides is not None:
            player = np.array([*self.sides, TERMINAL, CHANCE], np.int8)[player]
        half, centre = float(self.total) / 2, 0.0
        ends = player == TERMINAL
        least, most = payoff[ends].min(initial=np.inf), payoff[ends].max(initial=-np.inf)
        middle = least / 2 + most / 2
        # A constant that is large beside the stakes would hide them.
        if self.total or abs(middle) > most - least > 0.0:
            payoff, centre = np.where(ends, payoff - middle, 0.0), float(middle) - half
        return FlatTree(
            name=name if self.sides is None else f"{name}, teams {teams_of(self.sides)}",
            player=player,
            parent=renamed[np.asarray(self.parent)[order]],
            row=new[np.asarray(self.row)[order]],
            action=np.asarray(self.action)[order],
            chance=np.asarray(self.chance)[order],
            payoff=payoff,
            move=np.asarray(self.move)[order],
            seat=np.array([player for player, _ in keys], np.int8),
            num_legal=np.array([len(self.legal[number]) for number in first_numbers], np.int64),
            names=[infoset for _, infoset in keys],
            describe=describe,
            num_players=self.num_players or 2,
            shift=half,
            centre=centre,
            sides=self.sides,
        )


def _path(parents: Sequence[int] | Indices, node: int) -> list[int]:
    """List the nodes after the root on the way to a node, itself the last."""
    path = []
    while node > 0:
        path.append(node)
        node = int(parents[node])
    return path[::-1]


def _scale(sums: Floats, many: Ints) -> Floats:
    """Give sums of so many probabilities, but 1 for those that miss it by rounding alone."""
    return np.where(np.abs(sums - 1.0) > np.finfo(float).eps * many, sums, 1.0)


def seated(tree: FlatTree, first: Floats, second: Floats) -> Floats:
    """Join the rows of one strategy as player 0 and of another as player 1, (R, K)."""
    return np.where(tree.seat[:, None] == 0, first, second)


def edge_probability(tree: FlatTree, joint: Floats) -> Floats:
    """Probability of the step to each node where both play the rows of one array, (N,)."""
    step, chosen = tree.chance.copy(), tree.after_choice
    step[chosen] = joint.reshape(-1)[tree.edge[chosen]]
    return step


def reach(tree: FlatTree, joint: Floats, player: int | None = None) -> Floats:
    """Probability that play comes to each node, (N,); a player's own actions count 1."""
    step = edge_probability(tree, joint)
    if player is not None:
        step[tree.mover == player] = 1.0
    for level in tree.levels[1:]:
        step[level] *= step[tree.parent[level]]
    return step


def node_values(tree: FlatTree, joint: Floats) -> Floats:
    """Compute the expected payoff to player 0 from every node on, (N,)."""
    step, value = edge_probability(tree, joint), tree.payoff.copy()
    for level, starts, parents in reversed(tree.families):
        value[parents] = np.add.reduceat(step[level] * value[level], starts)
    return value


def payoff(tree: FlatTree, first: Floats, second: Floats) -> float:
    """Compute the payoff to player 0 where one strategy sits at seat 0, another at seat 1."""
    value = node_values(tree, seated(tree, first, second))[0]
    return float(value) + tree.shift + tree.centre
