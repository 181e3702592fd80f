"""Passes over a flat tree: reach and values.

Two seats become one strategy by a fair coin: U(A, B) = (u0(A, B) + u1(B, A)) / 2, where u_i is the
payoff to player i and the first strategy sits at seat 0. Its value is 0, and the best that a
response wins is NashConv / 2.
"""

import numpy as np

from hogeq.support.aliases import Floats
from hogeq.trees.flat import FlatTree


def seated(tree: FlatTree, first: Floats, second: Floats) -> Floats:
    """Join the rows of one strategy as player 0 and of another as player 1, (R, K)."""
    return np.where(tree.seat[:, None] == 0, first, second)


def edge_probability(tree: FlatTree, joint: Floats) -> Floats:
    """Probability of the step to each node where both play the rows of one array, (N,)."""
    step = joint.reshape(-1)[tree.edge]
    step[tree.after_chance] = tree.chance[tree.after_chance]
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
    return float(node_values(tree, seated(tree, first, second))[0])


def mean_payoff(tree: FlatTree, strategy: Floats, opponent: Floats) -> float:
    """Payoff to a strategy, averaged over both seats."""
    return (payoff(tree, strategy, opponent) - payoff(tree, opponent, strategy)) / 2.0
