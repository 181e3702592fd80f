"""Games in which players forget: information sets of a flat tree are joined."""

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Final

import numpy as np

from hogeq.support.messages import HogeqError, refusal
from hogeq.trees.flat import CHANCE, FlatTree, Forget

Move = tuple[int, int]  # who moved, and the number of the move
Keep = Callable[[tuple[Move, ...], int], Hashable]  # what is left of a history, for a player

WAYS: Final = "own_actions, order, or last:K with a whole number K"


def coarser(tree: FlatTree, forget: str | Forget | None) -> FlatTree:
    """Join information sets of histories of which the same is left, if they have the same actions.

    ``own_actions``: what the others did is left. ``order``: chance's moves are left, and the
    players', not in which order. ``last:K``: chance's moves, and the last K of the players. What a
    function forgets, it has forgotten when the tree was built.
    """
    if not isinstance(forget, str):
        return tree
    keep = _keep(forget)
    moves: list[tuple[Move, ...]] = [()]
    steps = zip(tree.parent.tolist(), tree.moved.tolist(), tree.move.tolist(), strict=True)
    for node, (parent, mover, move) in enumerate(steps):
        if node:
            moves.append((*moves[parent], (mover, move)))
    legal = [tuple(tree.moves[row, :many].tolist()) for row, many in enumerate(tree.num_legal)]
    numbers: dict[Hashable, int] = {}
    own = np.flatnonzero(tree.player >= 0)
    rows, left = tree.row[own], np.empty(len(own), np.int64)
    for place, (node, row) in enumerate(zip(own.tolist(), rows.tolist(), strict=True)):
        player = int(tree.member[row])
        key = player, legal[row], keep(moves[node], player)
        left[place] = numbers.setdefault(key, len(numbers))
    size = tree.num_rows + len(numbers)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(own)), (rows, tree.num_rows + left)), (size, size))
    component = connected_components(links, directed=False)[1][: tree.num_rows]
    _, first, joined = np.unique(component, return_index=True, return_inverse=True)
    order = np.argsort(first)  # rows stay in the order of the first of each
    renamed = np.empty(len(order), np.int64)
    renamed[order] = np.arange(len(order))
    first, sizes = first[order], np.bincount(joined)[order]
    names = [
        f"{tree.names[row]} and {size - 1} more" if size > 1 else tree.names[row]
        for row, size in zip(first.tolist(), sizes.tolist(), strict=True)
    ]
    new = np.append(renamed[joined], -1).astype(np.int32)
    return replace(
        tree,
        name=f"{tree.name}, forgetting {forget}",
        row=new[tree.row],
        seat=tree.seat[first],
        num_legal=tree.num_legal[first],
        moves=tree.moves[first],
        names=names,
        states=None,
    )


def _keep(forget: str) -> Keep:
    if forget == "own_actions":
        return lambda moves, player: tuple(move for move in moves if move[0] != player)
    way, _, count = forget.partition(":")
    if forget != "order" and (way != "last" or not count.isdecimal()):
        raise HogeqError(refusal("forget", forget, WAYS))

    def keep(moves: tuple[Move, ...], _: int) -> Hashable:
        chance = tuple(move for move in moves if move[0] == CHANCE)
        played = [move for move in moves if move[0] != CHANCE]
        left = sorted(played) if forget == "order" else played[max(len(played) - int(count), 0) :]
        return chance, tuple(left)

    return keep
