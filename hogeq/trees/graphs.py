"""The graph of a game tree: one memory, one way to every position."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.graph.graph import NATURE, Graph
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import HogeqError
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree
from hogeq.trees.packed import offsets
from hogeq.trees.rows import require_cells


def of_tree(tree: FlatTree) -> Graph:
    """Compile a tree to a graph, whose positions are the nodes where a player or chance moves.

    Rows are those of the tree; payoffs are player 0's own. A *way* is a distribution over the
    children of a position: an action of a player leads to one of them; chance has one action, whose
    way is its probabilities. Positions of one kind have the same ways.
    """
    inner = np.flatnonzero(tree.player != TERMINAL)
    if not len(inner):
        raise HogeqError(f"{tree.name}: at the start: the game is over; allowed: games with moves")
    terminal = np.flatnonzero(tree.player == TERMINAL)
    # Numbers of nodes in the graph: a position, or -1 - (index of a payoff) of a terminal node.
    number = np.zeros(tree.num_nodes, np.int64)
    number[inner] = np.arange(len(inner))
    payoff, number[terminal] = np.unique(tree.payoff[terminal], return_inverse=True)
    number[terminal] = -1 - number[terminal]
    # Children of one node lie side by side, in the order of their parents.
    num_children = np.bincount(tree.parent[1:], minlength=tree.num_nodes)[inner]
    children = number[1:]
    first_child = offsets(num_children)  # in `children`
    kinds, distributions, situation = _kinds_of_positions(tree, inner, first_child)
    is_chance = tree.player[inner] == CHANCE
    payoff_level = tree.shift + tree.centre
    begins = [level.start for level in tree.levels]
    arrays: dict[str, Any] = {
        "level": np.append(np.unique(np.searchsorted(inner, begins)), len(inner)),
        "player": np.where(is_chance, NATURE, tree.player[inner]),
        "row": np.where(is_chance, 0, tree.row[inner]),
        "situation": situation,
        **memoryless(kinds, distributions, tree.num_actions),
        "place": first_child[:-1],
        "next": children,
        "label": np.zeros(len(children)),
        "payoff": payoff + payoff_level if payoff_level else payoff,  # -0.0 and its digest stay
        "start": np.zeros((1, 2)),
        "total": 2.0 * tree.shift,
    }
    return Graph(**arrays)


def _kinds_of_positions(
    tree: FlatTree, inner: Ints, first_child: Ints
) -> tuple[list[int], list[Floats], Ints]:
    """Find the kinds of C positions: those of one kind have the same distributions over children.

    `inner`, (C,), is the node of each position; its children are those from `first_child`,
    (C + 1,), to before the next, of all nodes but the root. Returns the kinds and the distributions
    of chance as `memoryless` takes them, and the kind of each position, (C,).
    """
    distributions: list[Floats] = []  # of chance over children, each once
    number_of_kind: dict[bytes, int] = {}
    kinds: list[int] = []
    kind_of_position = np.zeros(len(inner), np.int64)
    for position, node in enumerate(inner):
        chances = tree.chance[1:][first_child[position] : first_child[position + 1]]
        by_chance = tree.player[node] == CHANCE
        key = chances.tobytes() if by_chance else b"%d" % len(chances)
        if key not in number_of_kind:
            number_of_kind[key] = len(kinds)
            kinds.append(-1 - len(distributions) if by_chance else len(chances))
            require_cells(tree.name, "kinds of positions", len(kinds), tree.num_actions)
            if by_chance:
                distributions.append(chances)
        kind_of_position[position] = number_of_kind[key]
    return kinds, distributions, kind_of_position


def memoryless(
    kinds: Sequence[int], distributions: Sequence[ArrayLike], actions: int
) -> dict[str, NDArray[Any]]:
    """Lay out the ways, outcome distributions, of a graph without hidden memory; and what is alike.

    Way a is action a of a player, to child a for certain; after the `actions` come the
    `distributions` of chance, which has one action. A kind of position is n, of a player with n
    actions, or -1 - d, of chance with distribution d.
    """
    action = np.arange(actions)
    kind = np.array(kinds, np.int64)[:, None]
    way_of_player = np.where(action < kind, action, -1)
    way_of_chance = np.where(action == 0, actions - 1 - kind, -1)
    sizes = [np.size(chances) for chances in distributions]
    return {
        "way": np.where(kind > 0, way_of_player, way_of_chance)[:, None],
        "first": offsets(np.array([1] * actions + sizes)),
        "chance": np.concatenate([np.ones(actions), *distributions]),
        "end": np.concatenate([action, *map(np.arange, sizes)]),
        "fixed": np.eye(1, actions),  # chance has one action
        "lane": np.zeros(1),  # one memory, one lane
        "following": np.zeros((1, 1)),
        "start_chance": np.ones(1),
    }
