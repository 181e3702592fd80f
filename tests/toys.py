"""Small games with known answers, as trees that solvers see as they see Hog.

A fair coin says who takes the first seat, and one table covers the information sets of both seats,
so a toy is symmetric just as Hog is: tables have shape (I, K), and two equally good players win
half of the time. Answers come from the nodes alone, by plain recursion.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

import numpy as np

from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats
from hogeq.trees.building import Node as TreeNode
from hogeq.trees.building import flatten
from hogeq.trees.engine import TreeEngine
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree


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


def following(node: Node) -> Sequence[Node]:
    """List what can come next."""
    if isinstance(node, Chance):
        return [child for _, child in node.branches]
    return node.children if isinstance(node, Choice) else ()


class Toy(TreeEngine):
    """A game tree, as solvers see it; its rows are the information sets, in their order."""

    def __init__(self, root: Node) -> None:
        self.root = root
        super().__init__(flatten("toy", root, _look, lambda moves: [*map(str, moves)]))

    def seat_infosets(self, seat: int) -> list[int]:
        """Information sets of one seat."""
        return np.flatnonzero(self.tree.seat == seat).tolist()


def _look(node: Node) -> TreeNode:
    if isinstance(node, Chance):
        moves = [(place, *branch) for place, branch in enumerate(node.branches)]
        return TreeNode(CHANCE, moves=moves)
    if isinstance(node, Choice):
        moves = [(place, 1.0, child) for place, child in enumerate(node.children)]
        return TreeNode(node.seat, f"{node.infoset:02}", moves=moves)
    payoff = 2.0 * node - 1.0
    return TreeNode(TERMINAL, payoffs=(payoff, -payoff))


def tree_of(root: Node, unit: float = 1.0) -> FlatTree:
    """Lay out a tree whose numbers are payoffs to the first seat, times a unit."""

    def look(node: Node) -> TreeNode:
        if isinstance(node, Chance | Choice):
            return _look(node)
        payoff = unit * node
        return TreeNode(TERMINAL, payoffs=(payoff, -payoff))

    return flatten("toy", root, look, lambda moves: [*map(str, moves)])


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
    room = Choice(0, 1, tuple(Choice(1, 2, tuple(following(one))) for one in throws))
    return Toy(Choice(0, 0, (room, room, room)))


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
    room = Choice(0, 1, (Choice(1, 2, (1.0, 0.0)), Choice(1, 2, (0.0, 0.5))))
    return Toy(Choice(0, 0, (room, room)))


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
