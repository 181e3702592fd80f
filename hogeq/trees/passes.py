"""Passes over a flat tree: reach, values, gradient and a responder's sweep.

Two seats become one strategy by a fair coin: U(A, B) = (u0(A, B) + u1(B, A)) / 2, where u_i is the
payoff to player i and the first strategy sits at seat 0. Its value is 0, and the best that a
response wins is NashConv / 2.
"""

from typing import NamedTuple

import numpy as np

from hogeq.support.aliases import Floats, Ints
from hogeq.trees.flat import FlatTree


class Reach(NamedTuple):
    """Probability that play comes to each node, by whose actions, (N,)."""

    own: Floats
    """By those of the player who is asked for."""
    others: Floats
    """By those of the opponent and of chance."""


def seated(tree: FlatTree, first: Floats, second: Floats) -> Floats:
    """Join the rows of one strategy as player 0 and of another as player 1, (R, K)."""
    return np.where(tree.seat[:, None] == 0, first, second)


def edge_probability(tree: FlatTree, joint: Floats) -> Floats:
    """Probability of the step to each node where both play the rows of one array, (N,)."""
    played = joint.reshape(-1)[tree.edge]
    return np.where(tree.edge >= 0, played, tree.chance)


def reach(tree: FlatTree, joint: Floats, player: int) -> Reach:
    """Reach of every node, a player's own actions apart."""
    step = edge_probability(tree, joint)
    mine = tree.mover == player
    parts = []
    for factor in (np.where(mine, step, 1.0), np.where(mine, 1.0, step)):
        for level in tree.levels[1:]:
            factor[level] *= factor[tree.parent[level]]
        parts.append(factor)
    return Reach(*parts)


def node_values(tree: FlatTree, joint: Floats) -> Floats:
    """Compute the expected payoff to player 0 from every node on, (N,)."""
    step, value = edge_probability(tree, joint), tree.payoff.copy()
    for level in tree.levels[:0:-1]:
        # Children of one node lie side by side; a parent without children keeps its payoff.
        parents = tree.parent[level]
        starts = np.flatnonzero(np.diff(parents, prepend=-1))
        value[parents[starts]] = np.add.reduceat(step[level] * value[level], starts)
    return value


def payoff(tree: FlatTree, first: Floats, second: Floats) -> float:
    """Compute the payoff to player 0 where one strategy sits at seat 0, another at seat 1."""
    return float(node_values(tree, seated(tree, first, second))[0])


def mean_payoff(tree: FlatTree, strategy: Floats, opponent: Floats) -> float:
    """Payoff to a strategy, averaged over both seats."""
    return (payoff(tree, strategy, opponent) - payoff(tree, opponent, strategy)) / 2.0


def action_values(tree: FlatTree, joint: Floats, player: int, *, own_reach: bool = True) -> Floats:
    """Counterfactual value of every action of a player, (R, K): the gradient of the payoff.

    Parameters
    ----------
    own_reach : bool
        Whether the player's own earlier actions weigh histories; CFR leaves them out, which under
        perfect recall changes no comparison within a row.
    """
    known = reach(tree, joint, player)
    weight = known.others * known.own if own_reach else known.others
    value = node_values(tree, joint) * (1.0 if player == 0 else -1.0)
    mine = np.flatnonzero(tree.mover == player)
    weighted = weight[tree.parent[mine]] * value[mine]
    flat = np.zeros(tree.num_rows * tree.num_actions)
    np.add.at(flat, tree.edge[mine], weighted)
    return flat.reshape(tree.num_rows, tree.num_actions)


def rank_of_rows(tree: FlatTree, player: int) -> Ints | None:
    """Order a player's rows so that those that come later in plays have higher ranks, (R,).

    None if there is no such order: a row comes before another in one play and after it in the next.
    """
    above = np.full(tree.num_nodes, -1)  # the player's last row before or at each node
    pairs = set()
    for level in tree.levels:
        nodes = np.arange(level.start, level.stop)
        above[nodes] = above[np.maximum(tree.parent[nodes], 0)]
        own = nodes[tree.player[nodes] == player]
        pairs |= set(zip(above[own].tolist(), tree.row[own].tolist(), strict=True))
        above[own] = tree.row[own]
    if not pairs:
        return np.zeros(tree.num_rows, np.int64)
    before, after = np.array([pair for pair in pairs if pair[0] >= 0], np.int64).reshape(-1, 2).T
    rank = np.zeros(tree.num_rows, np.int64)
    for _ in range(len(tree.levels) + 1):
        higher = rank.copy()
        np.maximum.at(higher, after, rank[before] + 1)
        if np.array_equal(higher, rank):
            return rank
        rank = higher
    return None


def best_rows(tree: FlatTree, values: Floats) -> Floats:
    """Strategy that plays the first best legal action of every row, (R, K)."""
    best = np.where(tree.legal, values, -np.inf).argmax(axis=1)
    return np.eye(tree.num_actions)[best]


def ascend(tree: FlatTree, start: Floats, opponent: Floats, player: int) -> Floats:
    """Improve a player's rows one after the other until none alone can be improved, (R, K).

    Needs an order of rows (`rank_of_rows`): rows of one rank do not meet in a play, so they are set
    together, later ones first, and the payoff never falls.
    """
    rank = rank_of_rows(tree, player)
    if rank is None:
        raise ValueError(f"{tree.name}: allowed: games whose information sets have an order")
    mine = tree.seat == player
    strategy = start.copy()
    while True:
        before = strategy.copy()
        for level in range(int(rank[mine].max(initial=0)), -1, -1):
            rows = np.flatnonzero(mine & (rank == level))
            joint = seated(tree, *((strategy, opponent) if player == 0 else (opponent, strategy)))
            values = action_values(tree, joint, player)
            at = np.where(tree.legal, values, -np.inf)[rows]
            gain = at.max(axis=1) - (values[rows] * strategy[rows]).sum(axis=1)
            better = rows[gain > 1e-12]
            strategy[better] = best_rows(tree, values)[better]
        if np.array_equal(before, strategy):
            return strategy
