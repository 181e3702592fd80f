"""Sequence form: what a player who forgot nothing of the own past would tell apart.

Koller, Megiddo and von Stengel, "Efficient computation of equilibria for extensive two-person
games", 1996. A *sequence* is what a player met and did so far. A *refined* information set is a row
and the sequence that led to it: the coarsest refinement of a row with perfect recall.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hogeq.support.aliases import Floats, Ints
from hogeq.trees.flat import TERMINAL, FlatTree
from hogeq.trees.passes import reach


@dataclass(frozen=True, eq=False)
class SequenceForm:
    """Sequences of one player: number 0 is the empty one, 1 + J * K + a follows action a at J.

    Attributes
    ----------
    tree : FlatTree
    player : int
    row : int64 (J,)
        Row of every refined information set.
    before : int64 (J,)
        Sequence that leads to it.
    at : int64 (N,)
        Sequence at every node, before the player's action there.
    first : int64 (J,)
        A shortest node of it.
    refined : int64 (N,)
        Refined information set at every node of the player, -1 elsewhere.
    """

    tree: FlatTree
    player: int
    row: Ints
    before: Ints
    at: Ints
    first: Ints
    refined: Ints

    def steps(self, sequence: int) -> list[tuple[int, int]]:
        """Rows and actions of a sequence, first to last."""
        steps = []
        while sequence:
            refined, action = divmod(sequence - 1, self.tree.num_actions)
            steps.append((int(self.row[refined]), action))
            sequence = int(self.before[refined])
        return steps[::-1]

    def payoffs(self, joint: Floats) -> Floats:
        """Payoff that each sequence ends in, others playing a strategy's rows, (1 + J * K,)."""
        others = reach(self.tree, joint, self.player).others
        ends = self.tree.player == TERMINAL
        sign = 1.0 if self.player == 0 else -1.0
        size = 1 + len(self.row) * self.tree.num_actions
        weighted = sign * others[ends] * self.tree.payoff[ends]
        worth = np.zeros(size)
        np.add.at(worth, self.at[ends], weighted)
        return worth

    def depths(self) -> Ints:
        """Count the own actions before each refined information set, (J,)."""
        depth = np.zeros(len(self.row), np.int64)
        for refined, before in enumerate(self.before):  # those before come first
            if before:
                depth[refined] = depth[(before - 1) // self.tree.num_actions] + 1
        return depth

    def respond_with_full_memory(self, payoffs: Floats) -> tuple[float, Ints]:
        """Payoff of a responder who forgets nothing of the own past, and its actions, (J,)."""
        tree, depth, worth = self.tree, self.depths(), payoffs.copy()
        chosen = np.zeros(len(self.row), np.int64)
        for level in range(int(depth.max(initial=-1)), -1, -1):
            refined = np.flatnonzero(depth == level)
            actions = worth[1:].reshape(-1, tree.num_actions)[refined]
            actions = np.where(tree.legal[self.row[refined]], actions, -np.inf)
            chosen[refined] = actions.argmax(axis=1)
            np.add.at(worth, self.before[refined], actions.max(axis=1))
        return float(worth[0]), chosen

    def realisation(self, strategy: Floats) -> Floats:
        """Probability of every sequence by the own actions of a strategy, (1 + J * K,)."""
        weights = np.ones(1 + len(self.row) * self.tree.num_actions)
        for refined, (row, before) in enumerate(zip(self.row, self.before, strict=True)):
            first = 1 + refined * self.tree.num_actions
            weights[first : first + self.tree.num_actions] = weights[before] * strategy[row]
        return weights

    def flow(self) -> csr_array:
        """Equations that realisation weights satisfy, with (1, 0, 0, ...) on the other side.

        The empty sequence weighs 1; actions of a refined information set weigh what leads to it.
        """
        count, actions = len(self.row), self.tree.num_actions
        rows = np.concatenate([[0], 1 + np.repeat(np.arange(count), actions), 1 + np.arange(count)])
        columns = np.concatenate([[0], 1 + np.arange(count * actions), self.before])
        values = np.concatenate([np.ones(1 + count * actions), -np.ones(count)])
        return csr_array((values, (rows, columns)), (1 + count, 1 + count * actions))

    def is_shared(self) -> NDArray[np.bool_]:
        """Whether a row joins several refined information sets, (R,)."""
        return np.bincount(self.row, minlength=self.tree.num_rows) > 1

    def met_again(self) -> Iterator[tuple[int, int]]:
        """List the rows that are met twice in a play, with a shortest node of a later visit."""
        for row, before, node in zip(self.row.tolist(), self.before, self.first, strict=True):
            if any(row == met for met, _ in self.steps(int(before))):
                yield row, int(node)


def sequence_form(tree: FlatTree, player: int) -> SequenceForm:
    """List the sequences of a player."""
    at, refined = np.zeros(tree.num_nodes, np.int64), np.full(tree.num_nodes, -1)
    numbers: dict[tuple[int, int], int] = {}
    first: list[int] = []
    for level in tree.levels:
        nodes = np.arange(level.start, level.stop)
        parent = np.maximum(tree.parent[nodes], 0)
        followed = 1 + refined[parent] * tree.num_actions + tree.action[nodes]
        at[nodes] = np.where(tree.mover[nodes] == player, followed, at[parent])
        own = nodes[tree.player[nodes] == player]
        pairs = at[own] * tree.num_rows + tree.row[own]
        each, start, which = np.unique(pairs, return_index=True, return_inverse=True)
        codes = np.empty(len(each), np.int64)
        for place in np.argsort(start).tolist():  # in the order of nodes
            before, row = divmod(int(each[place]), tree.num_rows)
            codes[place] = numbers.setdefault((row, before), len(numbers))
            if codes[place] == len(first):
                first.append(int(own[start[place]]))
        refined[own] = codes[which]
    rows, befores = np.array([*numbers], np.int64).reshape(-1, 2).T
    return SequenceForm(tree, player, rows, befores, at, np.array(first, np.int64), refined)
