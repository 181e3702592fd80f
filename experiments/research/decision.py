"""Decision problems of the benchmark, as algorithms know a game (hogeq.model.protocol).

A problem from Hog is played by Hog's own engine. One from a tree becomes its pasts: a row and the
own moves that led to it (`check_benchmark.Tree`). The opponent's policy has no part in its passes.
"""

import numpy as np
from check_benchmark import Instance
from check_trees import Tree
from numpy.typing import DTypeLike
from research import tree_passes

from hogeq.benchmark.catalogue import Entry
from hogeq.model.protocol import Engine, Precision, Reach, Role, Valued, WinRate
from hogeq.strategies.strategy import Strategy, strategy_of
from hogeq.support.aliases import Floats, Ints


class Problem:
    """A problem of one player: value and gradient of a policy, and what a search needs."""

    def __init__(self, engine: Engine, opponent: Strategy, low: float, high: float) -> None:
        self.engine, self.opponent = engine, opponent
        self.low, self.high = low, high
        self.shape = engine.shape
        self.work = engine.workspace(2)
        self.policies = np.stack([opponent.mean, opponent.mean])

    def gradient(self, policy: Floats) -> tuple[float, Floats]:
        """Payoff of a policy, and its derivatives; both in win rates, 0 to 1."""
        self.policies[0] = policy
        reach = self.work.forward(self.policies)
        met = self.work.backward(reach, self.policies, Role.COUNTERFACTUAL)
        return met.win_rate, met.values

    def payoff(self, rate: float) -> float:
        """Payoff of a win rate."""
        return self.low + rate * (self.high - self.low)


def problem_of(entry: Entry) -> Problem:
    """Make the problem of an instance."""
    if entry.hog is not None:
        return Problem(*entry.match(), 0.0, 1.0)
    tree = player_tree(Instance(dict(entry.make()._asdict())))
    engine = TreeProblem(tree)
    nobody = strategy_of(engine, np.full(engine.shape, 1.0 / engine.num_actions))
    return Problem(engine, nobody, engine.low, engine.high)


def player_tree(instance: Instance) -> Tree:
    """Reduce a problem of one player to its pasts."""
    return Tree(instance, 0, np.ones(1), np.zeros((1, instance.rows, instance.actions)))


class TreeProblem:
    """The pasts of one player as an engine; an action that is missing plays as the last one."""

    has_memory = True
    positions_recur = False
    seat_rows = None
    payoff_per_win_rate = 1.0

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.shape = tree.rows, tree.actions
        self.num_actions = tree.actions
        self.low, self.high = _ends(tree)
        legal = tree.legal.sum(axis=1)
        self.last = np.maximum(legal - 1, 0)
        rank = _ranks(tree)
        self.order = np.argsort(-rank, kind="stable")
        self.members = np.argsort(tree.row, kind="stable")
        self.first = np.searchsorted(tree.row[self.members], np.arange(tree.rows + 1))
        scale = self.high - self.low
        self.payoff = tree.payoff / scale
        self.constant = -self.low / scale
        self.mass = tree.mass

    def quick_dtype(self, pairs: int = 1) -> Precision:  # noqa: ARG002 - of the protocol
        """Precision for what need not be exact."""
        return np.float64

    def workspace(self, players: int, dtype: DTypeLike = np.float64) -> "TreePasses":  # noqa: ARG002
        """Fresh arrays."""
        return TreePasses(self)

    def ways_to_stay(self, policies: Floats) -> list[tuple[tuple[int, ...], int]]:  # noqa: ARG002
        """No play is endless."""
        return []

    def duels(self) -> None:
        """Matrices are met as policies are."""


class TreePasses:
    """Passes over the pasts of one player (hogeq.model.protocol.Passes)."""

    def __init__(self, problem: TreeProblem) -> None:
        self.problem = problem
        self.counterfactual_values = np.zeros(problem.shape)
        self.infoset_reach = np.zeros(problem.shape[0])
        self.weight = np.zeros(len(problem.tree.row))
        self.worth = np.zeros_like(problem.payoff)

    def forward(self, policies: Floats, weights: Floats | None = None) -> Reach:  # noqa: ARG002
        """Compute how likely own moves make each past, and the reach of rows."""
        tree = self.problem.tree
        tree_passes.forward(
            policies[0],
            tree.row,
            tree.before,
            self.problem.last,
            self.problem.mass,
            self.weight,
            self.infoset_reach,
        )
        return Reach(self.infoset_reach, np.ones(1), (self.weight,))

    def cell_reach(self, policies: Floats) -> Floats:
        """Reach of every row, a fresh array."""
        return self.forward(policies).rows.copy()

    def win_rate(
        self,
        policies: Floats,
        role: Role = Role.EVALUATE,
        weights: Floats | None = None,  # noqa: ARG002 - there are no opponents
    ) -> WinRate:
        """Win rate of the player."""
        found = self.backward(Reach(self.infoset_reach, np.ones(1)), policies, role)
        return WinRate.from_starts(found.first, found.other)

    def backward(
        self,
        reach: Reach,
        policies: Floats,
        role: Role,
        *,
        temperature: float = 1.0,
        damping: float = 1.0,
    ) -> Valued:
        """Compute values, the player acting by its role."""
        problem, tree = self.problem, self.problem.tree
        self.worth[:] = problem.payoff
        changes = tree_passes.backward(
            int(role),
            policies[0],
            tree.before,
            problem.last,
            problem.order,
            problem.first,
            problem.members,
            self.weight,
            reach.rows,
            self.worth,
            self.counterfactual_values,
            temperature,
            damping,
        )
        rate = self.worth[0] + problem.constant
        return Valued(rate, 1.0 - rate, changes, self.counterfactual_values)


def _ends(tree: Tree) -> tuple[float, float]:
    """Lowest and highest payoff of a player who remembers its past."""
    everything = np.ones_like(tree.legal)
    high = tree.bound(everything)
    tree.payoff = -tree.payoff
    low = -tree.bound(everything)
    tree.payoff = -tree.payoff
    return low, high if high > low else low + 1.0


def _ranks(tree: Tree) -> Ints:
    """Order of rows: those that come later in plays have higher ranks."""
    later = np.flatnonzero(tree.before)
    sooner = (tree.before[later] - 1) // tree.actions
    pairs = np.unique(np.stack([tree.row[sooner], tree.row[later]]), axis=1)
    rank = np.zeros(tree.rows, np.int64)
    for _ in range(tree.rows + 1):
        higher = rank.copy()
        np.maximum.at(higher, pairs[1], rank[pairs[0]] + 1)
        if (higher == rank).all():
            return rank
        rank = higher
    raise ValueError("instance: rows without an order; allowed: rows that have one")
