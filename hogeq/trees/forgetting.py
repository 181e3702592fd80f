"""Games in which players forget: information sets of a flat tree are joined."""

from collections.abc import Hashable
from dataclasses import replace
from typing import Final

import numpy as np

from hogeq.support.messages import HogeqError, refusal
from hogeq.trees.flat import CHANCE, FlatTree, Forget
from hogeq.trees.packed import linked

Move = tuple[int, int]  # who moved, and the number of the move

WAYS: Final = "own_actions, order, or last:K with a whole number K"


def coarser(tree: FlatTree, forget: str | Forget | None) -> FlatTree:
    """Join information sets whose player remembers the same and has the same actions.

    `forget` says what a player remembers of a history. ``own_actions``: the moves of others and of
    chance. ``order``: chance's moves, and the players' but not their order. ``last:K``: chance's
    moves, and the last K of the players. A function was already applied when the tree was built.
    """
    if not isinstance(forget, str):
        return tree
    way, _, count = forget.partition(":")
    is_last = way == "last" and count.isdecimal()
    if forget not in {"own_actions", "order"} and not is_last:
        raise HogeqError(refusal("forget", forget, WAYS))
    histories: list[tuple[Move, ...]] = [()]  # by node, the root first
    arrays = tree.parent, tree.moving_member, tree.incoming_number
    steps = zip(*(array.tolist() for array in arrays), strict=True)
    for node, (parent, mover, move) in enumerate(steps):
        if node:
            histories.append((*histories[parent], (mover, move)))
    legal = [tuple(tree.actions_of([row]).tolist()) for row in range(tree.num_rows)]
    # Number what is remembered at each node of a player, with the player and the actions.
    numbers: dict[Hashable, int] = {}
    nodes = np.flatnonzero(tree.player >= 0)
    rows = tree.row[nodes]
    memory = np.empty(len(nodes), np.int64)
    for index, (node, row) in enumerate(zip(nodes.tolist(), rows.tolist(), strict=True)):
        player = int(tree.member[row])
        key = player, legal[row], _remembered(forget, histories[node], player)
        memory[index] = numbers.setdefault(key, len(numbers))
    # Rows are joined if a chain of shared memories links them, in the order of their first ones.
    joined = linked(tree.num_rows, rows.astype(np.int64), memory)
    _, first, sizes = np.unique(joined, return_index=True, return_counts=True)
    names = [
        f"{tree.names[row]} and {size - 1} more" if size > 1 else tree.names[row]
        for row, size in zip(first.tolist(), sizes.tolist(), strict=True)
    ]
    new_row = np.append(joined, -1).astype(np.int32)  # by old row; -1 stays -1
    return replace(
        tree,
        name=f"{tree.name}, forgetting {forget}",
        row=new_row[tree.row],
        seat=tree.seat[first],
        num_legal=tree.num_legal[first],
        action_numbers=tree.actions_of(first),
        names=names,
        states=None,
    )


def _remembered(forget: str, moves: tuple[Move, ...], player: int) -> Hashable:
    """Pick what a player remembers of a history, its moves; `forget` is as for `coarser`."""
    if forget == "own_actions":
        return tuple(move for move in moves if move[0] != player)
    by_chance = tuple(move for move in moves if move[0] == CHANCE)
    by_players = [move for move in moves if move[0] != CHANCE]
    if forget == "order":
        return by_chance, tuple(sorted(by_players))
    num_forgotten = max(len(by_players) - int(forget.removeprefix("last:")), 0)
    return by_chance, tuple(by_players[num_forgotten:])
