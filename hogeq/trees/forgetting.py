"""Games in which players forget: information sets of a flat tree are joined."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hogeq.support.aliases import Ints
from hogeq.support.messages import one_line, refusal
from hogeq.trees.flat import CHANCE, FlatTree

Forget = Callable[[int, Any], Hashable]  # of a player and an information state: the infoset's key
Legal = tuple[int, ...]  # numbers of an information set's actions
Move = tuple[int, int]  # who moved, and the number of the move
Keep = Callable[[tuple[Move, ...], int], Hashable]  # what is left of a history, for a player

WAYS: Final = "own_actions, order, or last:K with a whole number K"


def coarser(tree: FlatTree, forget: str | Forget | None) -> FlatTree:
    """Join information sets of histories of which the same is left, if they have the same actions.

    ``own_actions``: what the others did is left. ``order``: chance's moves are left, and the
    players', not in which order. ``last:K``: chance's moves, and the last K of the players. A
    function gives the key of an information set; sets with one key must have the same actions.
    """
    if forget is None:
        return tree
    legal = [tuple(tree.moves[row, :many].tolist()) for row, many in enumerate(tree.num_legal)]
    names, name = list(tree.names), tree.name
    if callable(forget):
        seats = tree.seat.tolist()
        names = [forget(seat, known) for seat, known in zip(seats, names, strict=True)]
        component = _by_key(tree, legal, names)
    else:
        component = _by_history(tree, legal, _keep(forget))
        name = f"{tree.name}, forgetting {forget}"
    _, first, joined = np.unique(component, return_index=True, return_inverse=True)
    order = np.argsort(first)  # rows stay in the order of the first of each
    renamed = np.empty(len(order), np.int64)
    renamed[order] = np.arange(len(order))
    first, sizes = first[order].tolist(), np.bincount(joined)[order].tolist()
    if not callable(forget):
        for row, size in zip(first, sizes, strict=True):
            names[row] = f"{names[row]} and {size - 1} more" if size > 1 else names[row]
    new = np.append(renamed[joined], -1).astype(np.int32)
    return replace(
        tree,
        name=name,
        row=new[tree.row],
        seat=tree.seat[first],
        num_legal=tree.num_legal[first],
        names=[names[row] for row in first],
        states=None,
    )


def _by_key(tree: FlatTree, legal: Sequence[Legal], keys: Sequence[Hashable]) -> Ints:
    """Join information sets by their seats and keys, (R,)."""
    numbers: dict[Hashable, int] = {}
    known: list[Legal] = []
    component = np.empty(tree.num_rows, np.int64)
    for row, (seat, actions, key) in enumerate(zip(tree.seat.tolist(), legal, keys, strict=True)):
        number = component[row] = numbers.setdefault((seat, key), len(numbers))
        if number == len(known):
            known.append(actions)
        if known[number] != actions:
            where = f"{tree.name}: information state {one_line(key)}"
            raise ValueError(f"{where}: histories differ in their legal actions")
    return component


def _by_history(tree: FlatTree, legal: Sequence[Legal], keep: Keep) -> Ints:
    """Join information sets that are linked by histories of which the same is left, (R,)."""
    moves: list[tuple[Move, ...]] = [()]
    steps = zip(tree.parent.tolist(), tree.mover.tolist(), tree.move.tolist(), strict=True)
    for node, (parent, mover, move) in enumerate(steps):
        if node:
            moves.append((*moves[parent], (mover, move)))
    numbers: dict[Hashable, int] = {}
    own = np.flatnonzero(tree.player >= 0)
    rows, left = tree.row[own], np.empty(len(own), np.int64)
    for place, (node, row) in enumerate(zip(own.tolist(), rows.tolist(), strict=True)):
        player = int(tree.seat[row])
        key = player, legal[row], keep(moves[node], player)
        left[place] = numbers.setdefault(key, len(numbers))
    size = tree.num_rows + len(numbers)
    links = coo_array((np.ones(len(own)), (rows, tree.num_rows + left)), (size, size))
    return connected_components(links, directed=False)[1][: tree.num_rows]


def _keep(forget: str) -> Keep:
    if forget == "own_actions":
        return lambda moves, player: tuple(move for move in moves if move[0] != player)
    way, _, count = forget.partition(":")
    if forget != "order" and (way != "last" or not count.isdecimal()):
        raise ValueError(refusal("forget", forget, WAYS))

    def keep(moves: tuple[Move, ...], _: int) -> Hashable:
        chance = tuple(move for move in moves if move[0] == CHANCE)
        played = [move for move in moves if move[0] != CHANCE]
        left = sorted(played) if forget == "order" else played[max(len(played) - int(count), 0) :]
        return chance, tuple(left)

    return keep
