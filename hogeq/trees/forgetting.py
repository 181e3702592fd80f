"""Games in which players forget: information sets of a flat tree are joined."""

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Final

import numpy as np

from hogeq.support.messages import HogeqError, refusal
from hogeq.trees.flat import CHANCE, FlatTree, Forget

Move = tuple[int, int]  # who moved, and the number of the move
Remember = Callable[[tuple[Move, ...], int], Hashable]  # memory of a history, for a player

WAYS: Final = "own_actions, order, or last:K with a whole number K"


def coarser(tree: FlatTree, forget: str | Forget | None) -> FlatTree:
    """Join information sets whose player remembers the same and has the same actions.

    `forget` says what a player remembers of a history. ``own_actions``: the moves of others and of
    chance. ``order``: chance's moves, and the players' but not their order. ``last:K``: chance's
    moves, and the last K of the players. A function was already applied when the tree was built.
    """
    if not isinstance(forget, str):
        return tree
    remember = _remember(forget)
    histories: list[tuple[Move, ...]] = [()]  # by node, the root first
    arrays = tree.parent, tree.moving_member, tree.incoming_number
    steps = zip(*(array.tolist() for array in arrays), strict=True)
    for node, (parent, mover, move) in enumerate(steps):
        if node:
            histories.append((*histories[parent], (mover, move)))
    pairs = zip(tree.action_numbers, tree.num_legal, strict=True)
    legal = [tuple(numbers[:count].tolist()) for numbers, count in pairs]
    # Number what is remembered at each node of a player, with the player and the actions.
    numbers: dict[Hashable, int] = {}
    nodes = np.flatnonzero(tree.player >= 0)
    rows = tree.row[nodes]
    memory = np.empty(len(nodes), np.int64)
    for index, (node, row) in enumerate(zip(nodes.tolist(), rows.tolist(), strict=True)):
        player = int(tree.member[row])
        key = player, legal[row], remember(histories[node], player)
        memory[index] = numbers.setdefault(key, len(numbers))
    # Rows are joined if a chain of shared memories links them: components of a bipartite graph.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = tree.num_rows + len(numbers)
    links = coo_array((np.ones(len(nodes)), (rows, tree.num_rows + memory)), (size, size))
    component = connected_components(links, directed=False)[1][: tree.num_rows]
    _, first, joined = np.unique(component, return_index=True, return_inverse=True)
    order = np.argsort(first)  # new rows are in the order of their first old ones
    new_number = np.empty(len(order), np.int64)
    new_number[order] = np.arange(len(order))
    first, sizes = first[order], np.bincount(joined)[order]
    names = [
        f"{tree.names[row]} and {size - 1} more" if size > 1 else tree.names[row]
        for row, size in zip(first.tolist(), sizes.tolist(), strict=True)
    ]
    new_row = np.append(new_number[joined], -1).astype(np.int32)  # by old row; -1 stays -1
    return replace(
        tree,
        name=f"{tree.name}, forgetting {forget}",
        row=new_row[tree.row],
        seat=tree.seat[first],
        num_legal=tree.num_legal[first],
        action_numbers=tree.action_numbers[first],
        names=names,
        states=None,
    )


def _remember(forget: str) -> Remember:
    """Make the function that computes a player's memory of a history, moves (mover, number).

    `HogeqError` if `forget` is none of ``own_actions``, ``order`` and ``last:K``.
    """
    if forget == "own_actions":
        return lambda moves, player: tuple(move for move in moves if move[0] != player)
    way, _, count = forget.partition(":")
    if forget != "order" and (way != "last" or not count.isdecimal()):
        raise HogeqError(refusal("forget", forget, WAYS))

    def remember(moves: tuple[Move, ...], _: int) -> Hashable:
        by_chance = tuple(move for move in moves if move[0] == CHANCE)
        by_players = [move for move in moves if move[0] != CHANCE]
        if forget == "order":
            return by_chance, tuple(sorted(by_players))
        num_forgotten = max(len(by_players) - int(count), 0)
        return by_chance, tuple(by_players[num_forgotten:])

    return remember
