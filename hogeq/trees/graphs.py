"""The graph of a game tree: one memory, one way to every position."""

from typing import Any

import numpy as np

from hogeq.graph.graph import NATURE, Graph
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree
from hogeq.trees.rows import require_cells


def of_tree(tree: FlatTree) -> Graph:
    """Compile a tree to a graph, whose positions are the nodes where a player or chance moves.

    Rows are those of the tree; payoffs are player 0's own. A *way* is a distribution over the
    children of a position: an action of a player leads to one of them; chance has one action, whose
    way is its probabilities. Positions of one kind have the same ways.
    """
    inner = np.flatnonzero(tree.player != TERMINAL)
    terminal = np.flatnonzero(tree.player == TERMINAL)
    # Numbers of nodes in the graph: a position, or -1 - (index of a payoff) of a terminal node.
    number = np.zeros(tree.num_nodes, np.int64)
    number[inner] = np.arange(len(inner))
    payoff, number[terminal] = np.unique(tree.payoff[terminal], return_inverse=True)
    number[terminal] = -1 - number[terminal]
    # Children of one node lie side by side, in the order of their parents.
    num_children = np.bincount(tree.parent[1:], minlength=tree.num_nodes)[inner]
    children = number[1:]
    first_child = np.concatenate([[0], np.cumsum(num_children)])  # in `children`
    ways = [np.ones(1)] * tree.num_actions  # way a: action a of a player, to child a for certain
    ends = [np.array([action]) for action in range(tree.num_actions)]  # children of each way
    kinds: dict[bytes, int] = {}
    ways_of_kinds: list[list[int]] = []  # the way of each action of a kind, -1 if it is not legal
    situation = np.zeros(len(inner), np.int64)  # kind of each position
    for position, node in enumerate(inner):
        chances = tree.chance[1:][first_child[position] : first_child[position + 1]]
        if tree.player[node] == CHANCE:
            key, position_ways = chances.tobytes(), [len(ways)]
        else:
            key, position_ways = b"%d" % len(chances), list(range(len(chances)))
        if key not in kinds:
            kinds[key] = len(ways_of_kinds)
            require_cells(tree.name, "kinds of positions", len(kinds), tree.num_actions)
            ways_of_kinds.append(position_ways + [-1] * (tree.num_actions - len(position_ways)))
            if tree.player[node] == CHANCE:
                ways.append(chances)
                ends.append(np.arange(len(chances)))
        situation[position] = kinds[key]
    is_chance = tree.player[inner] == CHANCE
    payoff_level = tree.shift + tree.centre
    begins = [level.start for level in tree.levels]
    arrays: dict[str, Any] = {
        "level": np.append(np.unique(np.searchsorted(inner, begins)), len(inner)),
        "player": np.where(is_chance, NATURE, tree.player[inner]),
        "row": np.where(is_chance, 0, tree.row[inner]),
        "fixed": np.eye(1, tree.num_actions),  # chance has one action
        "situation": situation,
        "way": np.array(ways_of_kinds)[:, None],
        "lane": np.zeros(1),
        "following": np.zeros((1, 1)),
        "first": np.concatenate([[0], np.cumsum([len(way) for way in ways])]),
        "chance": np.concatenate(ways),
        "end": np.concatenate(ends),
        "place": first_child[:-1],
        "next": children,
        "label": np.zeros(len(children)),
        "payoff": payoff + payoff_level if payoff_level else payoff,  # -0.0 and its digest stay
        "start": np.zeros((1, 2)),
        "start_chance": np.ones(1),
        "total": 2.0 * tree.shift,
    }
    return Graph(**arrays)
