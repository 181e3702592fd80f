"""Any finite zero-sum game of two players, or of one against nature, as flat arrays of nodes.

Two seats become one strategy by a fair coin: U(A, B) = (u0(A, B) + u1(B, A)) / 2, where u_i is the
payoff to player i and the first strategy sits at seat 0. Its value is 0, and the best that a
response wins is NashConv / 2. Where payoffs sum to another constant, half of it is taken off each,
`FlatTree.shift`, and player 0's are put around 0, `FlatTree.centre`; both come back in results. One
player against nature has the first seat; the second has no decision and the opposite payoff.
A team (:mod:`hogeq.trees.teams`) is one player that has the rows of its members.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.search.results import Units
from hogeq.support.aliases import Floats, Ints
from hogeq.support.floats import UNIT_ROUNDOFF
from hogeq.support.messages import one_line
from hogeq.support.progress import phase
from hogeq.trees.packed import offsets
from hogeq.trees.passes import add_down, add_up, multiply_down, rise_largest
from hogeq.trees.rows import Rows
from hogeq.trees.teams import Sides

CHANCE: Final = -1
TERMINAL: Final = -2
LARGEST: Final = 1e300  # no payoff is larger; and the largest, unless 0, is 1 / LARGEST or more
IN_RANGE: Final = f"allowed: numbers from -{LARGEST:g} to {LARGEST:g}"
MANY: Final = 10_000  # nodes from which on payoffs are added up by numpy's pairwise summation
PAIRWISE: Final = 64  # most roundings of a pairwise sum

# Roundings of numbers, which bounds count. By n of them a product, or a sum by the sizes of its
# terms, is off by gamma(n) at most: Higham, "Accuracy and stability", 2nd ed., lemma 3.1.
MOVE_ROUNDINGS: Final = 3  # of a move: its number, its row's sum, and a product
COMPONENT_ROUNDINGS: Final = 4  # of a component: its weight, the weights' sum, a product, a sum
OTHER_ROUNDINGS: Final = 8  # more than the products and quotients outside of moves and sums
CENTRING_ROUNDINGS: Final = 4  # of the level of payoffs: it is a sum, taken off and added again

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


def history_text(
    movers: Sequence[int], moves: Sequence[int], describe: Callable[[Sequence[int]], list[str]]
) -> str:
    """Name a node in an error message by the moves that lead there and who made them."""
    players = [None if mover == CHANCE else mover for mover in movers]
    steps = map(HistoryStep, players, [None] * len(moves), describe(moves))
    return f"after {one_line('; '.join(map(str, steps)))}" if moves else "at the start"


class MoveNames(ABC):
    """Writes moves in words one by one, whatever came before them: a `FlatTree.describe`."""

    @abstractmethod
    def of_steps(self, moves: Sequence[int], nodes: Sequence[int]) -> list[str]:
        """Write moves, by their numbers and by the nodes that they lead to."""


class NumberedNames(MoveNames):
    """Writes moves by their numbers in the game, each of which has a name.

    `names` are those in the order of their numbers, and more may still be added.
    """

    def __init__(self, names: Collection[Hashable]) -> None:
        self._names = names
        self._words: list[str] = []

    def __call__(self, moves: Sequence[int]) -> list[str]:
        """Write moves, of a history or of others."""
        if len(self._words) < len(self._names):
            self._words = [*map(str, self._names)]
        return [self._words[move] for move in moves]

    def of_steps(self, moves: Sequence[int], nodes: Sequence[int]) -> list[str]:  # noqa: ARG002
        """Write moves; nodes do not matter."""
        return self(moves)


@dataclass(frozen=True, eq=False, repr=False)
class FlatTree(Rows):
    """A finite two-player zero-sum game: N nodes by depth, children of one node side by side.

    A strategy covers the information sets of both seats, its rows: float64 (R, K), rows of player 0
    first. Where a row has fewer than K actions, the others have probability 0.

    Examples
    --------
    >>> import hogeq
    >>> tree = hogeq.Game("kuhn_poker").tree
    >>> isinstance(tree, hogeq.FlatTree), int((tree.player == hogeq.TERMINAL).sum())
    (True, 30)
    """

    name: str
    player: NDArray[np.int8]  # (N,), who moves: 0, 1, CHANCE or TERMINAL
    parent: Indices  # (N,), the node before, -1 for the root
    row: Indices  # (N,), information set of the player to move, -1 if no player moves
    terminal_payoffs: Floats  # (E,), payoffs to player 0 at the E terminal nodes, in their order
    seat: NDArray[np.int8]  # (R,), player of each row
    num_legal: Ints  # (R,), number of actions of each row
    action_numbers: Indices  # (A,), numbers of actions in the game of the tree, row by row
    chance_numbers: Indices  # (C,), such numbers of the C moves of chance, in the order of nodes
    chance_probabilities: Floats  # (C,), probabilities of the moves of chance
    names: Sequence[Any]  # (R,), what the player knows, in the game's words
    describe: Callable[[Sequence[int]], list[str]] | MoveNames  # writes a history's moves in words
    states: Sequence[str] | None = None  # (R,), OpenSpiel's names, if others
    num_players: int = 2  # 1 against nature: then player 1 has no rows
    # The game's own payoffs: of player 0 paid + centre + shift, of player 1 -paid - centre + shift.
    shift: float = 0.0  # half the sum of both players' payoffs
    centre: float = 0.0
    sides: Sides | None = None  # the team, 0 or 1, of each player, if there are teams
    is_rounded: bool = False  # whether the game has numbers that no double stands for

    def __repr__(self) -> str:
        """Name the game and say its size."""
        return f"FlatTree({self.name}: {self.num_nodes:,} nodes, {self.num_rows:,} infosets)"

    @property
    def state_names(self) -> Sequence[Any]:
        """What OpenSpiel calls the state of each row, (R,)."""
        return self.names if self.states is None else self.states

    def numbers_of_moves(self, row: int) -> list[int]:
        """Give the numbers of a row's actions in the game that the tree was made of."""
        moves: list[int] = self.actions_of([row]).tolist()
        # OpenSpiel 2.0.2 gives the actions of a file's node their numbers in rising order.
        return moves if self.states is None else sorted(moves)

    @cached_property
    def first_action(self) -> Ints:
        """Index of each row's first action among the A actions of all rows; then A, (R + 1,)."""
        return offsets(self.num_legal)

    def actions_of(self, rows: Sequence[int] | Ints) -> Indices:
        """Give the numbers of the actions of some rows, one row after the other."""
        parts = [
            self.action_numbers[self.first_action[row] : self.first_action[row + 1]] for row in rows
        ]
        return np.concatenate(parts) if parts else self.action_numbers[:0]

    @property
    def num_nodes(self) -> int:
        """Number of nodes, N."""
        return len(self.parent)

    @cached_property
    def levels(self) -> list[slice]:
        """Nodes of each depth, the root's level first."""
        starts = [0, 1]
        while starts[-1] < self.num_nodes:
            # Nodes lie by depth: a level ends where parents are no longer in the one before.
            starts.append(int(np.searchsorted(self.parent, np.int32(starts[-1]))))
        return [slice(*pair) for pair in pairwise(starts)]

    @cached_property
    def child_offsets(self) -> Ints:
        """First child of each node, or where it would lie, and of the end, (N + 1,)."""
        return np.searchsorted(self.parent, np.arange(self.num_nodes + 1, dtype=np.int32))

    @cached_property
    def siblings_by_level(self) -> list[tuple[slice, Ints, Indices]]:
        """Levels below the root's, from top to bottom: the nodes, first siblings, and parents.

        Passes over deep trees do without this list: :mod:`hogeq.trees.passes`.

        First siblings are indices into the level, where the children of the next parent begin.
        """
        families = []
        for level in self.levels[1:]:
            parents = self.parent[level]  # children of one node lie side by side
            first_siblings = np.flatnonzero(np.diff(parents, prepend=-1))
            families.append((level, first_siblings, parents[first_siblings]))
        return families

    @property
    def action(self) -> Indices:
        """Action that leads to each node, its number among its siblings; 0 for the root, (N,)."""
        nodes = np.arange(self.num_nodes, dtype=np.int32)
        first = np.where(np.diff(self.parent, prepend=np.int32(-2)) != 0, nodes, 0)
        return nodes - np.maximum.accumulate(first)

    @cached_property
    def incoming_move(self) -> Indices:
        """Number of the move into each node, (N,): its index among the A actions of all rows.

        The C moves of chance have A and the numbers after it; A + C stands for the root.
        """
        num_actions = len(self.action_numbers)
        by_chance = self.mover == CHANCE
        first_action = self.first_action.astype(np.int32)
        move = first_action[self.row[self.parent]] + self.action
        # Chance counts as mover of the root, which is the first: so its own moves begin one lower.
        move[by_chance] = num_actions - 1 + np.arange(np.count_nonzero(by_chance))
        move[0] = num_actions + len(self.chance_probabilities)
        return move

    def by_incoming_move(
        self, of_players: NDArray[Any], of_chance: NDArray[Any], of_root: float
    ) -> NDArray[Any]:
        """Give each node the number of the move into it, (N,).

        Actions of players have numbers (A,), row by row, moves of chance (C,); the root has one of
        its own.
        """
        root = np.full(1, of_root, of_chance.dtype)
        return np.concatenate([of_players, of_chance, root])[self.incoming_move]

    def probabilities(self, policy: Floats) -> Floats:
        """Probability of the move into each node, (N,), if all play by a policy (R, K)."""
        return self.by_incoming_move(policy[self.legal], self.chance_probabilities, 1.0)

    @cached_property
    def incoming_number(self) -> Indices:
        """Number of the step to each node in the game that the tree was made of; 0 for the root."""
        return self.by_incoming_move(self.action_numbers, self.chance_numbers, 0)

    @cached_property
    def nodes_after_chance(self) -> Ints:
        """Nodes to which chance moved, (C,)."""
        return np.flatnonzero(self.mover == CHANCE)[1:]  # all but the root

    @cached_property
    def chance(self) -> Floats:
        """Probability of the step to each node that chance makes, 1 elsewhere, (N,)."""
        return self.by_incoming_move(
            np.ones(len(self.action_numbers)), self.chance_probabilities, 1.0
        )

    @cached_property
    def payoff(self) -> Floats:
        """Payoff to player 0 at terminal nodes, 0 elsewhere, (N,)."""
        payoff = np.zeros(self.num_nodes)
        payoff[self.player == TERMINAL] = self.terminal_payoffs
        return payoff

    @cached_property
    def is_possible(self) -> NDArray[np.bool_]:
        """Whether chance lets play come to each node, (N,)."""
        possible = np.ones(self.num_nodes, np.bool_)
        possible[self.nodes_after_chance] = self.chance_probabilities > 0.0
        num_impossible = (~possible).astype(np.int64)  # moves
        add_down(self, num_impossible)
        return num_impossible == 0

    @cached_property
    def largest_payoff(self) -> float:
        """Largest possible payoff to either player; 1 if all are 0."""
        possible = self.is_possible[self.player == TERMINAL]
        return float(np.abs(self.terminal_payoffs).max(where=possible, initial=0.0)) or 1.0

    @cached_property
    def payoff_shares(self) -> Floats:
        """Payoffs as shares of the largest, (N,): comparisons and programs use these."""
        return np.where(self.is_possible, self.payoff, 0.0) / self.largest_payoff

    @cached_property
    def largest_expected_share(self) -> float:
        """Largest expected size of a payoff that players can affect, as a share of the largest.

        By backward induction, where both players choose the largest size. A lottery after the last
        decision counts by its mean; plays in which nobody decides count by 0. It is 1 if all is 0.
        """
        is_chance = self.player == CHANCE
        mean = self.payoff_shares.copy()  # it has a meaning where nobody decides from there on
        rise_largest(self, np.zeros_like(is_chance), is_chance, self.chance, mean)
        num_decisions = (self.row >= 0).astype(np.int64)
        num_below = num_decisions.copy()  # of each node, itself included
        add_up(self, num_below)
        num_above = num_decisions  # of each node, itself included
        add_down(self, num_above)
        size = np.where((num_below > 0) | (num_above == 0), 0.0, np.abs(mean))
        rise_largest(self, ~is_chance, num_below > 0, self.chance, size)
        # Payoffs whose share of the largest underflows to 0 are still worth something.
        underflows = (self.payoff_shares == 0.0) & (self.payoff != 0.0) & self.is_possible
        return float(size[0]) or (1.0 / LARGEST if underflows.any() else 1.0)

    @property
    def scale(self) -> float:
        """Most that players can expect together, by which figures are written."""
        return self.largest_payoff * self.largest_expected_share

    @cached_property
    def most_moves(self) -> int:
        """Most moves of a node, of players or of chance."""
        first = np.flatnonzero(np.diff(self.parent, prepend=-2))
        return int(np.diff(first, append=self.num_nodes).max())

    @cached_property
    def chance_sum_error(self) -> float:
        """Bound, in roundings of 2**-53, on how far a node's chances may be from the sum 1."""
        starts = np.flatnonzero(np.diff(self.parent[self.nodes_after_chance], prepend=-1))
        sums = np.add.reduceat(self.chance_probabilities, starts) if len(starts) else np.ones(1)
        return self.sum_error(sums)

    def sum_error(self, sums: Floats) -> float:
        """Bound, in roundings of 2**-53, how far exact sums are from 1, by sums in float64."""
        return float(np.abs(sums - 1.0).max(initial=0.0)) * 2.0**53 + min(self.most_moves, PAIRWISE)

    @cached_property
    def payoff_rounding(self) -> tuple[int, float]:
        """Most roundings that make a payoff of two policies, and the largest error of one.

        ``docs/theory.md`` counts them.
        """
        of_sum = PAIRWISE if self.num_nodes > MANY else len(self.terminal_payoffs)
        misses = max(2 * self.most_moves, math.ceil(self.chance_sum_error))
        # One rounding more for each move, since rows are scaled; and twice those of the rest.
        count = len(self.levels) * (misses + MOVE_ROUNDINGS + 1) + of_sum + 2 * OTHER_ROUNDINGS
        size = self.largest_payoff + CENTRING_ROUNDINGS * (abs(self.shift) + abs(self.centre))
        return count, UNIT_ROUNDOFF * size * (1.0 + 1e-6)  # the factor: roundings of this product

    @cached_property
    def mover(self) -> NDArray[np.int8]:
        """Player that moved to each node; `CHANCE` for the root."""
        mover = self.player[self.parent]
        mover[0] = CHANCE
        return mover

    @cached_property
    def member(self) -> NDArray[np.signedinteger[Any]]:
        """Player of each row in the game as it was given, (R,): of a team the member."""
        if self.sides is None:
            return self.seat
        return np.array([name.player for name in self.names], np.int32)  # of many players

    @cached_property
    def moving_member(self) -> NDArray[np.signedinteger[Any]]:
        """Player, of a team the member, that moved to each node, (N,); `CHANCE` for the root."""
        row = np.where(self.mover == CHANCE, -1, self.row[self.parent])
        return np.append(self.member, np.int8(CHANCE))[row]

    @property
    def units(self) -> Units:
        """Units of the game: its payoffs."""
        return Units.of_payoffs(self.shift, self.largest_payoff, self.scale)

    @cached_property
    def labels(self) -> list[list[str]]:
        """Names of each row's actions, (R, number of its actions)."""
        labels: list[list[str]] = [[] for _ in range(self.num_rows)]
        nodes = self.first_node_after_action  # by row, then by action
        number, words = self.words(nodes)
        for row, word in zip(self.row[self.parent[nodes]].tolist(), number.tolist(), strict=True):
            labels[row].append(words[word])
        return labels

    @property
    def first_node_after_action(self) -> Indices:
        """First node after each legal action of each row, row by row."""
        num_actions = len(self.action_numbers)
        first = np.full(num_actions + len(self.chance_probabilities) + 1, -1, np.int32)
        # Assigned from the last node to the first: of many after one action the first stays.
        first[self.incoming_move[::-1]] = np.arange(self.num_nodes)[::-1]
        return first[:num_actions]

    def words(self, nodes: Ints | Indices) -> tuple[Indices, list[str]]:
        """Name the moves (actions or outcomes of chance) that lead into nodes, (n,).

        Returns for each node the index of its word, (n,), and the list of all different words.
        """
        number = np.full(self.num_nodes, -1, np.int32)  # of each node's word; -1: not known yet
        numbers = {"": 0}  # by word
        number[0] = 0
        # Words that do not depend on the moves before are asked for once.
        known = number if isinstance(self.describe, MoveNames) else None
        with phase("names of actions", len(nodes)) as progress:
            for node in np.sort(nodes)[::-1]:  # deepest first: each names its whole path
                progress.step()
                if number[node] < 0:
                    path = _path(self.parent, node, known)
                    path_words = self._words_of(path)
                    number[path] = [numbers.setdefault(word, len(numbers)) for word in path_words]
        return number[nodes], [*numbers]

    def _words_of(self, path: list[int]) -> list[str]:
        """Write the moves that lead to the nodes of a path; they may depend on those before."""
        moves = self.incoming_number[path].tolist()
        if isinstance(self.describe, MoveNames):
            return self.describe.of_steps(moves, path)
        return self.describe(moves)

    def digest(self) -> str:
        """Hash all but the tree's name: equal for equal games, in any process; hexadecimal."""
        digest = sha256()
        for integers in (self.player, self.parent, self.row, self.action, self.seat):
            digest.update(np.asarray(integers, "<i4").tobytes())
        for numbers in (self.chance, self.payoff, [self.shift, self.centre]):
            digest.update(np.asarray(numbers, "<f8").tobytes())
        for name in self.names:
            digest.update(f"{name}\0".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def facts(self) -> dict[str, Any]:
        """Describe the tree for the manifest of a run."""
        return {
            "name": self.name,
            "tree_sha256": self.digest(),
            "nodes": self.num_nodes,
            "infosets": self.num_rows,
            "largest_payoff": self.largest_payoff,
            "even": self.shift,
            "scale": self.scale,
        }

    def history(self, node: int) -> History:
        """List the moves to a node, in the game's words."""
        path = _path(self.parent, node)
        steps = []
        for child, action in zip(path, self._words_of(path), strict=True):
            mover = int(self.moving_member[child])
            row = int(self.row[self.parent[child]])
            if mover == CHANCE:
                steps.append(HistoryStep(player=None, infoset=None, action=action))
            else:
                steps.append(HistoryStep(mover, self.names[row], action))
        return tuple(steps)


def _path(parents: Sequence[int] | Indices, node: int, numbers: Indices | None = None) -> list[int]:
    """List the nodes after the root on the way to a node, itself the last.

    With `numbers`, (N,), of nodes, only those after the last one whose number is 0 or more.
    """
    path = []
    while node > 0 and (numbers is None or numbers[node] < 0):
        path.append(node)
        node = int(parents[node])
    return path[::-1]


def reach(tree: FlatTree, joint: Floats, player: int | None = None) -> Floats:
    """Compute the reach probability of each node, (N,), if both players play by `joint`, (R, K).

    With a `player` its own actions count 1: this is the player's counterfactual reach.
    """
    probability = tree.probabilities(joint)  # of one move
    if player is not None:
        probability[tree.mover == player] = 1.0
    multiply_down(tree, probability)
    return probability


def reach_by_chance(tree: FlatTree) -> Floats:
    """Compute the reach probability of each node, (N,), by the moves of chance alone."""
    probability = tree.chance.copy()  # of one move
    multiply_down(tree, probability)
    return probability


def payoff(tree: FlatTree, first: Floats, second: Floats) -> float:
    """Compute the payoff to player 0 of a policy (R, K) at seat 0 against one at seat 1."""
    probability = reach(tree, np.where(tree.seat[:, None] == 0, first, second))
    # A product of vectors may have as many roundings as there are plays; a pairwise sum has few.
    by_pairs = tree.num_nodes > MANY
    total = (probability * tree.payoff).sum() if by_pairs else probability @ tree.payoff
    return float(total) + (tree.shift + tree.centre)
