"""The graph of a game tree: one memory, one way to every position."""

from typing import Any

import numpy as np

from hogeq.graph.graph import NATURE, Graph
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree
from hogeq.trees.rows import require_cells


def of_tree(tree: FlatTree) -> Graph:
    """Compile a tree to a graph, whose positions are the nodes where a player or chance moves.

    Rows are those of the tree; payoffs are player 0's own.
    """
    inner = np.flatnonzero(tree.player != TERMINAL)
    outer = np.flatnonzero(tree.player == TERMINAL)
    number = np.zeros(tree.num_nodes, np.int64)
    number[inner] = np.arange(len(inner))
    payoff, number[outer] = np.unique(tree.payoff[outer], return_inverse=True)
    number[outer] = -1 - number[outer]
    # Children of one node lie side by side, in the order of their parents.
    degree = np.bincount(tree.parent[1:], minlength=tree.num_nodes)[inner]
    children = number[1:]
    ways = [np.ones(1)] * tree.num_actions  # an action of a player ends in one way for certain
    ends = [np.array([action]) for action in range(tree.num_actions)]
    kinds: dict[bytes, int] = {}
    table: list[list[int]] = []
    situation = np.zeros(len(inner), np.int64)
    at = np.concatenate([[0], np.cumsum(degree)])
    for position, node in enumerate(inner):
        chances = tree.chance[1:][at[position] : at[position + 1]]
        if tree.player[node] == CHANCE:
            key, line = chances.tobytes(), [len(ways)]
        else:
            key, line = b"%d" % len(chances), list(range(len(chances)))
        if key not in kinds:
            kinds[key] = len(table)
            require_cells(tree.name, "kinds of positions", len(kinds), tree.num_actions)
            table.append(line + [-1] * (tree.num_actions - len(line)))
            if tree.player[node] == CHANCE:
                ways.append(chances)
                ends.append(np.arange(len(chances)))
        situation[position] = kinds[key]
    is_chance = tree.player[inner] == CHANCE
    own = tree.shift + tree.centre
    begins = [level.start for level in tree.levels]
    arrays: dict[str, Any] = {
        "level": np.append(np.unique(np.searchsorted(inner, begins)), len(inner)),
        "player": np.where(is_chance, NATURE, tree.player[inner]),
        "row": np.where(is_chance, 0, tree.row[inner]),
        "fixed": np.eye(1, tree.num_actions),  # chance has one action
        "situation": situation,
        "way": np.array(table)[:, None],
        "lane": np.zeros(1),
        "following": np.zeros((1, 1)),
        "first": np.concatenate([[0], np.cumsum([len(one) for one in ways])]),
        "chance": np.concatenate(ways),
        "end": np.concatenate(ends),
        "place": at[:-1],
        "next": children,
        "label": np.zeros(len(children)),
        "payoff": payoff + own if own else payoff,  # -0.0 and its digest stay
        "start": np.zeros((1, 2)),
        "start_chance": np.ones(1),
        "total": 2.0 * tree.shift,
    }
    return Graph(**arrays)
