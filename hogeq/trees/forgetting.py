"""Games in which players forget: information sets of a flat tree are joined."""

from collections.abc import Hashable
from dataclasses import replace
from typing import Final

import numpy as np

from hogeq.support.aliases import Ints
from hogeq.support.messages import HogeqError, refusal
from hogeq.trees.flat import CHANCE, FlatTree, Forget
from hogeq.trees.packed import components_by_key

Move = tuple[int, int]  # who moved, and the number of the move

WAYS: Final = "own_actions, order, or last:K with a whole number K"


def forget_by_name(tree: FlatTree, forget: str | Forget | None) -> FlatTree:
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
    nodes = np.flatnonzero(tree.player >= 0)
    memory = _numbers_of_memories(tree, forget, nodes)
    rows = tree.row[nodes].astype(np.int64)
    # Rows are joined if a chain of shared memories links them, in the order of their first ones.
    joined = components_by_key(tree.num_rows, rows, memory)
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


def _numbers_of_memories(tree: FlatTree, forget: str, nodes: Ints) -> Ints:
    """Assign numbers to memories at some nodes of players, (n,): equal ones have one number.

    A memory holds also the player and the actions there; `forget` is as for `forget_by_name`.
    """
    legal = [tuple(tree.actions_of([row]).tolist()) for row in range(tree.num_rows)]
    histories = _histories(tree)
    number_of_memory: dict[Hashable, int] = {}
    memory = np.empty(len(nodes), np.int64)
    rows = tree.row[nodes].tolist()
    for index, (node, row) in enumerate(zip(nodes.tolist(), rows, strict=True)):
        player = int(tree.member[row])
        key = player, legal[row], _remembered(forget, histories[node], player)
        memory[index] = number_of_memory.setdefault(key, len(number_of_memory))
    return memory


def _histories(tree: FlatTree) -> list[tuple[Move, ...]]:
    """List the history of each node: its moves, each with who made it."""
    histories: list[tuple[Move, ...]] = [()]  # the root's
    arrays = tree.parent[1:], tree.moving_member[1:], tree.incoming_number[1:]
    for parent, mover, move in zip(*(array.tolist() for array in arrays), strict=True):
        histories.append((*histories[parent], (mover, move)))
    return histories


def _remembered(forget: str, moves: tuple[Move, ...], player: int) -> Hashable:
    """Pick what a player remembers of a history, its moves; `forget` is as for `forget_by_name`."""
    if forget == "own_actions":
        return tuple(move for move in moves if move[0] != player)
    by_chance = tuple(move for move in moves if move[0] == CHANCE)
    by_players = [move for move in moves if move[0] != CHANCE]
    if forget == "order":
        return by_chance, tuple(sorted(by_players))
    num_forgotten = max(len(by_players) - int(forget.removeprefix("last:")), 0)
    return by_chance, tuple(by_players[num_forgotten:])
