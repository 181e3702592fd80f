"""Small games with known answers, behind the interface by which solvers see Hog.

A toy is a game tree, walked by plain recursion. A fair coin says who takes the first seat, and one
table covers the information sets of both seats, so a toy is symmetric just as Hog is: tables
have shape (I, K), and two equally good players win half of the time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import permutations, product
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hogeq.model.many import Meetings
from hogeq.model.workspace import TIE, Role, WinRate
from hogeq.strategies.arrays import one_hot

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Chance:
    """A random move; every branch is (probability, what follows)."""

    branches: tuple[tuple[float, "Node"], ...]


@dataclass(frozen=True, eq=False)
class Choice:
    """A move of one seat at one of its information sets, one child for each action."""

    seat: int
    infoset: int
    children: tuple["Node", ...]


Node = float | Chance | Choice  # a number is the first seat's probability of winning
Tables = tuple[Any, Any]  # of the first and the second seat: [infoset][action]


def first_wins(node: Node, tables: Tables) -> Any:
    """First seat's probability of winning."""
    if isinstance(node, Chance):
        return sum(chance * first_wins(child, tables) for chance, child in node.branches)
    if isinstance(node, Choice):
        row = tables[node.seat][node.infoset]
        return sum(row[k] * first_wins(child, tables) for k, child in enumerate(node.children))
    return node


def choices(node: Node) -> Iterator[Choice]:
    """Every move of every seat."""
    if isinstance(node, Choice):
        yield node
    for child in following(node):
        yield from choices(child)


def following(node: Node) -> Sequence[Node]:
    """List what can come next."""
    if isinstance(node, Chance):
        return [child for _, child in node.branches]
    return node.children if isinstance(node, Choice) else ()


class Toy:
    """A game tree, as solvers see a compiled game."""

    positions_recur = False

    def __init__(self, root: Node) -> None:
        self.root = root
        self.nodes: dict[int, list[Choice]] = {}
        for node in choices(root):
            self.nodes.setdefault(node.infoset, []).append(node)
        self.shape = (len(self.nodes), len(next(choices(root)).children))
        if sorted(self.nodes) != list(range(len(self.nodes))):
            raise ValueError("toy: information sets are not numbered from 0 without gaps")
        if any(len({*map(id, nodes)}) < len(nodes) for nodes in self.nodes.values()):
            raise ValueError("toy: a move has two ways to it, which is no tree")
        if any(len(node.children) != self.num_actions for node in choices(root)):
            raise ValueError("toy: information sets differ in their number of actions")
        if any(len({node.seat for node in nodes}) > 1 for nodes in self.nodes.values()):
            raise ValueError("toy: an information set belongs to both seats")
        later = {
            infoset: {
                node.infoset
                for start in nodes
                for child in start.children
                for node in choices(child)
            }
            for infoset, nodes in self.nodes.items()
        }
        self.last_first = list(TopologicalSorter(later).static_order())

    @property
    def num_actions(self) -> int:
        """Number of actions, K."""
        return self.shape[1]

    def seat_infosets(self, seat: int) -> list[int]:
        """Information sets of one seat."""
        return sorted(infoset for infoset, nodes in self.nodes.items() if nodes[0].seat == seat)

    can_be_endless = False
    has_memory = True

    def many(self, pairs: int, dtype: Any = float) -> "ToyMany":  # noqa: ARG002
        """Fresh arrays for passes over n pairs."""
        return ToyMany(self, pairs)

    def duels(self) -> None:
        """Matrices are met as policies are."""

    def quick_dtype(self, pairs: int = 1) -> type[np.floating[Any]]:  # noqa: ARG002
        """Precision of searches."""
        return np.float64

    def workspace(self, players: int, dtype: Any = float) -> "ToyWorkspace":  # noqa: ARG002
        """Fresh arrays for passes over this game."""
        return ToyWorkspace(self, players)


class ToyWorkspace:
    """The passes of `hogeq.model.workspace.Workspace`, by plain recursion."""

    def __init__(self, toy: Toy, players: int) -> None:
        self.toy = toy
        self.players = players
        self.counterfactual_values = np.zeros(toy.shape)
        self.infoset_reach = np.zeros(toy.shape[0])
        self._reach: dict[tuple[int, int, Choice], float] = {}

    def _seated(self, policies: Any) -> Iterator[tuple[tuple[int, int], Tables]]:
        # Who sits where: each player in turn has the first seat.
        for player in range(self.players):
            seats = (player, self.players - 1 - player)
            yield seats, (policies[seats[0]], policies[seats[1]])

    def forward(self, policies: Floats) -> None:
        """Fill the reach of every node, by who sits where."""
        self._reach = {}
        for seats, tables in self._seated(policies.tolist()):
            self._spread(self.toy.root, 1.0 / self.players, seats, tables)

    def _spread(self, node: Node, reach: float, seats: tuple[int, int], tables: Tables) -> None:
        if isinstance(node, Chance):
            for chance, child in node.branches:
                self._spread(child, reach * chance, seats, tables)
        elif isinstance(node, Choice):
            self._reach[(*seats, node)] = reach
            row = tables[node.seat][node.infoset]
            for probability, child in zip(row, node.children, strict=True):
                self._spread(child, reach * probability, seats, tables)

    def backward(
        self,
        policies: Floats,
        role: int = Role.EVALUATE,
        *,
        temperature: float = 1.0,
        damping: float = 1.0,
    ) -> tuple[float, float, int]:
        """Play out player 0's role; see `hogeq.model.workspace.Workspace.backward`."""
        changes = 0
        if role not in (Role.EVALUATE, Role.FULL_MEMORY):
            for infoset in self.toy.last_first:
                self._measure(infoset, policies)
                values, infoset_reach = (
                    self.counterfactual_values[infoset],
                    float(self.infoset_reach[infoset]),
                )
                row = policies[0, infoset]
                if infoset_reach > 0.0 and role == Role.ASCEND:
                    changes += take_best(row, values, infoset_reach)
                elif infoset_reach > 0.0 and role == Role.SOFTMAX:
                    soften(row, values / infoset_reach / temperature, damping)
        seated = list(self._seated(policies.tolist()))
        if role == Role.FULL_MEMORY:
            first, *others = (self._remembered(*of, self.toy.root) for of in seated)
            return first, 1.0 - others[0] if others else first, 0
        wins = [first_wins(self.toy.root, tables) for _, tables in seated]
        return wins[0], wins[-1], changes

    def _measure(self, infoset: int, policies: Floats) -> None:
        self.counterfactual_values[infoset] = 0.0
        self.infoset_reach[infoset] = 0.0
        for seats, tables in self._seated(policies.tolist()):
            for node in self.toy.nodes[infoset]:
                if seats[node.seat] == 0:
                    reach = self._reach[(*seats, node)]
                    wins = np.array([first_wins(child, tables) for child in node.children])
                    self.counterfactual_values[infoset] += reach * (
                        wins if node.seat == 0 else 1.0 - wins
                    )
                    self.infoset_reach[infoset] += reach

    def _remembered(self, seats: tuple[int, int], tables: Tables, node: Node) -> float:
        # Player 0's probability of winning, knowing everything at every move.
        if isinstance(node, Chance):
            return sum(p * self._remembered(seats, tables, child) for p, child in node.branches)
        if isinstance(node, Choice):
            values = [self._remembered(seats, tables, child) for child in node.children]
            if seats[node.seat] == 0:
                return max(values)
            row = tables[node.seat][node.infoset]
            return float(sum(p * value for p, value in zip(row, values, strict=True)))
        return node if seats[0] == 0 else 1.0 - node

    def win_rate(self, policies: Floats, role: int = Role.EVALUATE, **options: float) -> WinRate:
        """Exact win rate of player 0 of two, in the role given."""
        first, other, _ = self.backward(policies, role, **options)
        return WinRate((first + 1.0 - other) / 2.0, first, 1.0 - other)

    def cell_reach(self, policies: Floats) -> Floats:
        """Reach of every information set, player 0 to move."""
        self.forward(policies)
        found = np.zeros(self.toy.shape[0])
        for (*seats, node), reach in self._reach.items():
            if seats[node.seat] == 0:
                found[node.infoset] += reach
        return found


class ToyMany:
    """The passes of `hogeq.model.many.ManyWorkspace`, one pair after the other."""

    def __init__(self, toy: Toy, pairs: int) -> None:
        self.toy = toy
        self.works = [ToyWorkspace(toy, 2) for _ in range(pairs)]
        self.each = np.zeros((pairs, *toy.shape))
        self.each_reach = np.zeros((pairs, toy.shape[0]))

    def face(self, opponents: Floats, weights: Floats | None = None) -> None:
        """Set the opponents and their weights."""
        number = len(self.works)
        self.opponents = np.broadcast_to(opponents, (number, *self.toy.shape)).copy()
        self.weights = np.full(number, 1.0 / number) if weights is None else np.array(weights)

    def _pairs(self, policy: Floats) -> list[Floats]:
        players = np.broadcast_to(policy, self.opponents.shape)
        return [np.stack(pair) for pair in zip(players, self.opponents, strict=True)]

    def forward(self, policy: Floats) -> None:
        """Fill the reach of every node, pair by pair."""
        for work, policies in zip(self.works, self._pairs(policy), strict=True):
            work.forward(policies)

    def backward(
        self,
        policy: Floats,
        role: int = Role.EVALUATE,
        *,
        temperature: float = 1.0,
        damping: float = 1.0,
    ) -> Meetings:
        """Move the one row that meets all opponents, or value those of all players."""
        changes = 0
        for infoset in self.toy.last_first if role != Role.EVALUATE else ():
            for number, (work, policies) in enumerate(
                zip(self.works, self._pairs(policy), strict=True)
            ):
                work._measure(infoset, policies)
                self.each[number, infoset] = work.counterfactual_values[infoset]
                self.each_reach[number, infoset] = work.infoset_reach[infoset]
            values = self.weights @ self.each[:, infoset]
            reach = float(self.weights @ self.each_reach[:, infoset])
            if reach > 0.0 and role == Role.ASCEND:
                changes += take_best(policy[infoset], values, reach)
            elif reach > 0.0 and role == Role.SOFTMAX:
                soften(policy[infoset], values / reach / temperature, damping)
        found = [
            work.backward(pair) for work, pair in zip(self.works, self._pairs(policy), strict=True)
        ]
        first, other, _ = map(np.array, zip(*found, strict=True))
        return Meetings(first, other, np.array(changes))

    def win_rates(self, policy: Floats) -> Floats:
        """Exact win rate of the player in every pair."""
        return self.backward(policy).win_rates


def take_best(row: Floats, values: Floats, infoset_reach: float) -> int:
    """Put all on the best action, the present one on a tie; 1 if that is a change."""
    best = [k for k, value in enumerate(values) if value >= values.max() - TIE * infoset_reach]
    present = [k for k in best if row[k] == 1.0]
    chosen = (present or best)[0]
    row[:] = np.arange(len(row)) == chosen
    return 0 if present else 1


def soften(row: Floats, scaled: Floats, damping: float) -> None:
    """Move part of the way to the softmax."""
    weights = np.array([exp(value - scaled.max()) for value in scaled])
    row += damping * (weights / weights.sum() - row)


# --- answers by enumeration -----------------------------------------------------------------------


def pure_tables(toy: Toy, infosets: list[int]) -> Iterator[Floats]:
    """Every pure table at these information sets; the first action elsewhere."""
    for actions in product(range(toy.num_actions), repeat=len(infosets)):
        table = np.zeros(toy.shape)
        table[:, 0] = 1.0
        table[infosets] = one_hot(np.array(actions, int), toy.num_actions)
        yield table


def best_response_rate(toy: Toy, policy: Floats) -> float:
    """Win rate of the best table against a policy: all pure ones are tried.

    The best table is pure as long as no information set is met twice on a path.
    """
    follow = policy.tolist()
    first = max(
        first_wins(toy.root, (table.tolist(), follow))
        for table in pure_tables(toy, toy.seat_infosets(0))
    )
    second = min(
        first_wins(toy.root, (follow, table.tolist()))
        for table in pure_tables(toy, toy.seat_infosets(1))
    )
    return float(first + 1.0 - second) / 2.0


def exploitability(toy: Toy, policy: Floats) -> float:
    """By how much the best table wins more than half."""
    return best_response_rate(toy, policy) - 0.5


def seat_value(toy: Toy, policy: Floats) -> float:
    """First seat's probability of winning when both play by one policy."""
    return float(first_wins(toy.root, (policy.tolist(), policy.tolist())))


# --- games ----------------------------------------------------------------------------------------


def simultaneous(wins: Sequence[Sequence[float]]) -> Toy:
    """Both seats choose at once; ``wins[i][j]`` is the first seat's probability of winning."""
    return Toy(Choice(0, 0, tuple(Choice(1, 1, tuple(row)) for row in wins)))


def pennies() -> Toy:
    """Play matching pennies, where matching tails wins only half of the time.

    First seat: heads 1/3, second seat: heads 1/3, value 1/3, for p = (1 - p) / 2.
    """
    return simultaneous([[1.0, 0.0], [0.0, 0.5]])


def rock_paper_scissors() -> Toy:
    """Rock beats scissors for 1, paper beats rock for 2, scissors beat paper for 3.

    A skew-symmetric game [[0, -a, b], [a, 0, -c], [-b, c, 0]] is solved by (c, b, a) / (a + b + c):
    here a = 2, b = 1, c = 3, hence (1/2, 1/6, 1/3). Payoffs -3 to 3 become 0 to 1.
    """
    payoffs = [[0, -2, 1], [2, 0, -3], [-1, 3, 0]]
    return simultaneous([[(payoff + 3) / 6 for payoff in row] for row in payoffs])


def forgetful_rock_paper_scissors() -> Toy:
    """`rock_paper_scissors`, in one of three rooms that the first seat chooses and both forget."""
    throws = following(rock_paper_scissors().root)

    def room() -> Choice:
        return Choice(0, 1, tuple(Choice(1, 2, tuple(following(one))) for one in throws))

    return Toy(Choice(0, 0, (room(), room(), room())))


def kuhn() -> Toy:
    """Kuhn poker (Kuhn 1950): value -1/18 for the first seat; payoffs -2 to 2 become 0 to 1.

    Action 0 is to pass (check or fold), 1 to bet (or call). First seat: infosets 0-2 by card at
    the start, 3-5 after pass and bet; second seat: 6-8 by card after a pass, 9-11 after a bet.
    """

    def leaf(payoff: int) -> float:
        return (payoff + 2) / 4

    def deal(first: int, second: int) -> Node:
        ahead = 1 if first > second else -1
        called = leaf(2 * ahead)
        after_pass = Choice(1, 6 + second, (leaf(ahead), Choice(0, 3 + first, (leaf(-1), called))))
        return Choice(0, first, (after_pass, Choice(1, 9 + second, (leaf(1), called))))

    return Toy(Chance(tuple((1 / 6, deal(*cards)) for cards in permutations(range(3), 2))))


def kuhn_solution(bluff: float) -> Floats:
    """Every equilibrium of Kuhn poker, by how often the first seat bets a jack, 0 to 1/3."""
    bets = [bluff, 0.0, 3 * bluff, 0.0, bluff + 1 / 3, 1.0, 1 / 3, 0.0, 1.0, 0.0, 1 / 3, 1.0]
    return np.array([[1.0 - bet, bet] for bet in bets])


def rooms() -> Toy:
    """`pennies`, in one of two rooms that the first seat chooses and both forget.

    Imperfect recall of what does not matter: the game is well formed in the sense of Lanctot et
    al. 2012, who prove that CFR solves such games. Value 1/3 as in `pennies`.
    """

    def room() -> Choice:
        return Choice(0, 1, (Choice(1, 2, (1.0, 0.0)), Choice(1, 2, (0.0, 0.5))))

    return Toy(Choice(0, 0, (room(), room())))


def forgetful() -> Toy:
    """One seat moves twice, and at its second move has forgotten its first.

    Left, left wins 0.9, left, right 0.6, right, left 0, right, right 0.5. The best is 0.9; but
    who judges the second move as if both first moves had been made, each once, compares
    0.9 + 0 with 0.6 + 0.5 and goes right for ever, which wins 0.6. Against a fair judge who wins
    half (the second seat never moves), the two seats make it a symmetric game.
    """
    return Toy(Choice(0, 0, (Choice(0, 1, (0.9, 0.6)), Choice(0, 1, (0.0, 0.5)))))


def bits() -> Toy:
    """First seat writes a bit twice, forgetting the first; second seat then guesses it.

    First wins if both bits are equal and the guess is wrong. With bits 1 written with
    probability p and q and guessed with g, first wins p q (1 - g) + (1 - p) (1 - q) g. A mixture
    of the tables 00 and 11 wins 1/2 against any guess; a policy wins min(p q, (1 - p) (1 - q)),
    1/4 at most. A guess of g = 1/2 concedes 1/2, any other more. So there is no equilibrium in
    policies: whatever they are, best responses gain 1/8 in total or more, each counted half.
    """

    def guess(first: int, second: int) -> Node:
        return Choice(1, 2, tuple(1.0 if first == second != guess else 0.0 for guess in range(2)))

    return Toy(
        Choice(0, 0, tuple(Choice(0, 1, tuple(guess(i, j) for j in range(2))) for i in range(2)))
    )
