"""Sequence form: information sets refined by the own past of the player.

Koller, Megiddo and von Stengel, "Efficient computation of equilibria for extensive two-person
games", 1996. A *sequence* is what a player met and did so far. A *refined* information set is a row
and the sequence that led to it: the coarsest refinement of a row with perfect recall.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hogeq.support.aliases import Floats, Ints
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.inflation import parts_of_rows

LEAST_GAIN: Final = 1e-12  # by which a row must improve a response


@dataclass(frozen=True, eq=False)
class SequenceForm:
    """Sequences of one player: number 0 is the empty one, 1 + J * K + a follows action a at J."""

    tree: FlatTree
    player: int
    row: Ints  # (J,), row of every refined information set
    before: Ints  # (J,), sequence that leads to it
    at: Ints  # (N,), sequence at every node, before the player's action there
    first: Ints  # (J,), a shortest node of every refined information set
    refined: Ints  # (N,), refined information set at the player's nodes, -1 elsewhere

    def steps(self, sequence: int) -> list[tuple[int, int]]:
        """Rows and actions of a sequence, first to last."""
        steps = []
        while sequence:
            refined, action = divmod(sequence - 1, self.tree.num_actions)
            steps.append((int(self.row[refined]), action))
            sequence = int(self.before[refined])
        return steps[::-1]

    @cached_property
    def above(self) -> Ints:
        """Refined information set at which the sequence before each ends, -1 for none, (J,)."""
        return np.where(self.before > 0, (self.before - 1) // self.tree.num_actions, -1)

    @cached_property
    def levels(self) -> list[Ints]:
        """Refined information sets by the number of own actions before them."""
        depth = np.zeros(len(self.row), np.int64)
        for refined, before in enumerate(self.before.tolist()):  # those before come first
            if before:
                depth[refined] = depth[(before - 1) // self.tree.num_actions] + 1
        return _groups(depth)

    @cached_property
    def rank(self) -> Ints | None:
        """Order of rows in plays, (R,); None if two come in either order, or one comes twice."""
        later, rows = np.flatnonzero(self.before), self.tree.num_rows
        earlier = self.row[(self.before[later] - 1) // self.tree.num_actions]
        before, after = np.unique(np.stack([earlier, self.row[later]]), axis=1)
        links = csr_array((np.ones(len(before)), (before, after)), (rows, rows))
        waiting = np.bincount(after, minlength=rows)  # rows before each that have no rank yet
        ready, rank = np.flatnonzero(waiting == 0), np.zeros(rows, np.int64)
        number = 0
        while len(ready):
            rank[ready] = number
            following = links[ready].indices
            np.subtract.at(waiting, following, 1)
            ready = np.unique(following[waiting[following] == 0])
            number += 1
        return None if waiting.any() else rank

    def payoffs(self, joint: Floats) -> Floats:
        """Share of the largest payoff that each sequence ends in, (1 + J * K,).

        Others play a strategy's rows. Passes over sequences take such shares and give such, so
        what they compare has one scale.
        """
        others = reach(self.tree, joint, self.player)
        ends = self.tree.player == TERMINAL
        sign = 1.0 if self.player == 0 else -1.0
        size = 1 + len(self.row) * self.tree.num_actions
        won = sign * others[ends] * self.tree.shares[ends]
        return np.bincount(self.at[ends], won, size).astype(np.float64)

    def remembered(self, payoffs: Floats) -> Floats:
        """Compute the worth of each sequence to a responder with perfect recall, (1 + J * K,)."""
        tree, worth = self.tree, payoffs.copy()
        for refined in reversed(self.levels):
            actions = worth[1:].reshape(-1, tree.num_actions)[refined]
            best = np.where(tree.legal[self.row[refined]], actions, -np.inf).max(axis=1)
            np.add.at(worth, self.before[refined], best)
        return worth

    def respond_with_full_memory(self, payoffs: Floats) -> tuple[float, Ints]:
        """Payoff of a responder with perfect recall, and its actions, (J,)."""
        worth = self.remembered(payoffs)
        actions = worth[1:].reshape(-1, self.tree.num_actions)
        return float(worth[0]), np.where(self.tree.legal[self.row], actions, -np.inf).argmax(axis=1)

    def realisation(self, strategy: Floats) -> Floats:
        """Probability of every sequence by the own actions of a strategy, (1 + J * K,)."""
        weights = np.ones(1 + len(self.row) * self.tree.num_actions)
        actions = weights[1:].reshape(-1, self.tree.num_actions)
        for refined in self.levels:
            actions[refined] = weights[self.before[refined], None] * strategy[self.row[refined]]
        return weights

    def by_rows(self, plan: Floats) -> Floats:
        """Sum the weights of a plan over the pasts of each row, (R, K)."""
        weights = np.zeros((self.tree.num_rows, self.tree.num_actions))
        np.add.at(weights, self.row, np.maximum(plan[1:], 0.0).reshape(-1, self.tree.num_actions))
        return weights

    @cached_property
    def chains(self) -> list[Ints]:
        """Pasts of one row of which a play meets one at most, so that all shared rows are covered.

        Let chance and others choose what follows each sequence: of the pasts of a row that can then
        be met the own actions pick one. Chains that meet most pasts not yet covered come first.
        """
        chains, actions = [], self.tree.num_actions
        for row in self.shared:
            left = self.row == row
            while left.any():
                most, best = left.astype(float), np.zeros(1 + len(left) * actions)
                for refined in reversed(self.levels):
                    most[refined] += best[1:].reshape(-1, actions)[refined].sum(axis=1)
                    np.maximum.at(best, self.before[refined], most[refined])
                tops = np.flatnonzero(most >= best[self.before])
                first = np.full(len(best), len(left))
                np.minimum.at(first, self.before[tops], tops)
                chain = first[self.before] == np.arange(len(left))
                for refined in self.levels[1:]:
                    chain[refined] &= chain[self.above[refined]]
                chains.append(np.flatnonzero(chain & (self.row == row)))
                left &= ~chain
        return chains

    @cached_property
    def inflated(self) -> "SequenceForm":
        """The same sequences, rows split where own actions exclude each other; new ones are last.

        What a pure strategy does with these rows one of the rows before does too.
        """
        if not len(self.shared):
            return self
        tree = self.tree
        parts = parts_of_rows(self.row, self.above, (self.before - 1) % tree.num_actions)
        places, which = np.unique(np.stack([self.row, parts]), axis=1, return_inverse=True)
        renamed = places[0].copy()
        new = np.flatnonzero(places[1])
        renamed[new] = tree.num_rows + np.arange(len(new))
        old = np.append(np.arange(tree.num_rows), places[0][new])
        row, own = tree.row.copy(), self.refined >= 0
        row[own] = renamed[which][self.refined[own]]
        split = replace(
            tree,
            row=row,
            seat=tree.seat[old],
            num_legal=tree.num_legal[old],
            names=[tree.names[one] for one in old.tolist()],
            states=None,
        )
        return replace(self, tree=split, row=renamed[which])

    @cached_property
    def origin(self) -> Ints:
        """Row that each row after inflation is a part of."""
        origin = np.arange(len(self.inflated.tree.seat))
        origin[self.inflated.row] = self.row
        return origin

    @cached_property
    def groups(self) -> list["Group"]:
        """Rows of one rank, the last in plays first; they do not meet, so are set together."""
        if self.rank is None:
            return []
        groups = []
        for refined in _groups(self.rank[self.row])[::-1]:
            rows, which = np.unique(self.row[refined], return_inverse=True)
            groups.append(Group(refined, self.before[refined], rows, which, self.tree.legal[rows]))
        return groups

    def ascend(self, start: Floats, payoffs: Floats) -> Floats:
        """Improve rows until none alone can be improved, (R, K); the payoff never falls."""
        strategy, pure = start.copy(), np.eye(self.tree.num_actions)
        improves = True
        while improves:
            improves = False
            # What comes before a row is set after it: its weight is that of the last round.
            weights, worth = self.realisation(strategy)[self.before, None], payoffs.copy()
            by_action = worth[1:].reshape(-1, self.tree.num_actions)
            for refined, before, rows, which, legal in self.groups:
                actions = by_action[refined]
                total = np.zeros(legal.shape)
                np.add.at(total, which, weights[refined] * actions)
                allowed = np.where(legal, total, -np.inf)
                gain = allowed.max(axis=1) - (total * strategy[rows]).sum(axis=1)
                better = gain > LEAST_GAIN
                if better.any():
                    strategy[rows[better]] = pure[allowed[better].argmax(axis=1)]
                    improves = True
                np.add.at(worth, before, (actions * strategy[rows][which]).sum(axis=1))
        return strategy

    def flow(self) -> csr_array:
        """Equations that realisation weights satisfy, with (1, 0, 0, ...) on the other side."""
        # The empty sequence weighs 1; actions of a refined information set weigh what leads to it.
        count, actions = len(self.row), self.tree.num_actions
        rows = np.concatenate([[0], 1 + np.repeat(np.arange(count), actions), 1 + np.arange(count)])
        columns = np.concatenate([[0], 1 + np.arange(count * actions), self.before])
        values = np.concatenate([np.ones(1 + count * actions), -np.ones(count)])
        return csr_array((values, (rows, columns)), (1 + count, 1 + count * actions))

    @cached_property
    def shared(self) -> Ints:
        """Rows that join several refined information sets."""
        return np.flatnonzero(np.bincount(self.row, minlength=self.tree.num_rows) > 1)

    def met_again(self) -> Iterator[tuple[int, int]]:
        """List the rows that are met twice in a play, with a shortest node of a later visit."""
        if self.rank is not None:
            return
        above = self.above
        is_again, left, up = np.zeros(len(above), bool), np.arange(len(above)), above
        while len(left):
            left, up = left[up >= 0], up[up >= 0]
            is_again[left] |= self.row[up] == self.row[left]
            up = above[up]
        again = np.flatnonzero(is_again)
        yield from zip(self.row[again].tolist(), self.first[again].tolist(), strict=True)


class Group(NamedTuple):
    """Rows that are set together, and their refined information sets."""

    refined: Ints  # (J',)
    before: Ints  # (J',), sequence that leads to each
    rows: Ints  # (R',)
    which: Ints  # (J',), place of each one's row in `rows`
    legal: NDArray[np.bool_]  # (R', K)


def _groups(numbers: Ints) -> list[Ints]:
    """Places of equal numbers, the lowest first."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1) if len(order) else []


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
