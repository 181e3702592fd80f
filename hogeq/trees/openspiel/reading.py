"""Games of OpenSpiel, and files that OpenSpiel reads, as flat trees."""

import os
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyspiel
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hogeq.support.messages import nearest, one_line, printable, refusal, shown, shown_path
from hogeq.trees.flat import CHANCE, MOST_NODES, TERMINAL, FlatTree, Seen, flatten

Forget = Callable[[int, str], str]
"""Of a player and an information state; gives the key of the information set."""


Move = tuple[int, int]
"""Who moved, and the number of the move."""

Keep = Callable[[tuple[Move, ...], int], Hashable]
"""What is left of the moves of a history, for a player."""

WAYS: Final = "own_actions, order, or last:K with a whole number K"


def from_openspiel(
    game: Any, *, forget: str | Forget | None = None, most_nodes: int = MOST_NODES
) -> FlatTree:
    """Build the tree of a game of OpenSpiel.

    Parameters
    ----------
    game : str or pyspiel.Game
        A game, or its name with parameters: ``liars_dice_ir(dice_sides=4)``.
    forget : str or callable, optional
        A way to forget, see :func:`coarser`; or what a player is to know
        instead of OpenSpiel's information state: states of one key become one information set.
        Their legal actions must agree.
    most_nodes : int
        Larger trees are refused.

    Raises
    ------
    ValueError
        If there is no such game, or it is not one of two players, sequential, finite and zero-sum.
    """
    if isinstance(game, str):
        known = pyspiel.registered_names()
        if game.partition("(")[0] not in known:  # OpenSpiel would list them all
            raise ValueError(
                f"game: got {shown(game)}; allowed: a game of OpenSpiel{nearest(game, known)}"
            )
        try:
            game = pyspiel.load_game(game)
        except Exception as error:  # noqa: BLE001 - OpenSpiel raises what C++ throws
            raise ValueError(f"game: {one_line(error)}") from None
    check(game)
    look = partial(_seen, forget if callable(forget) else (lambda _, known: known))
    describe = partial(history, game)
    tree = flatten(str(game), game.new_initial_state(), look, describe, most_nodes)
    return coarser(tree, forget) if isinstance(forget, str) else tree


def from_efg(path: str | os.PathLike[str], *, forget: str | Forget | None = None) -> FlatTree:
    """Read a game in Gambit's extensive form, ``.efg``; forgetting as in `from_openspiel`.

    Raises
    ------
    ValueError
        If the file cannot be read, or its game is not one of two players and zero-sum.
    """
    path = Path(path)
    try:
        game = pyspiel.load_efg_game(path.read_text("utf-8"))
    except OSError as error:
        raise ValueError(f"{shown_path(path)}: cannot be read: {error.strerror}") from None
    except Exception as error:  # noqa: BLE001 - as above
        raise ValueError(f"{shown_path(path)}: {one_line(error)}") from None
    tree = from_openspiel(game, forget=forget)
    return replace(tree, name=tree.name.replace(str(game), printable(path.name)))


def check(game: Any) -> None:
    """Refuse games that no zero-sum theory of two players covers."""
    kind, name = game.get_type(), game.get_type().short_name
    if game.num_players() != 2:
        raise ValueError(f"{name}: has {game.num_players()} players; allowed: 2")
    if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise ValueError(f"{name}: players move at once; allowed: sequential games")
    if kind.utility != pyspiel.GameType.Utility.ZERO_SUM:
        raise ValueError(f"{name}: is not zero-sum; allowed: zero-sum games")
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise ValueError(f"{name}: chance is sampled; allowed: games that list its outcomes")
    if not kind.provides_information_state_string:
        raise ValueError(f"{name}: has no information states; allowed: games that name them")


def _seen(forget: Forget, state: Any) -> Seen:
    if state.is_terminal():
        return Seen(TERMINAL, payoff=state.returns()[0])
    if state.is_chance_node():
        moves = [(move, chance, state.child(move)) for move, chance in state.chance_outcomes()]
        return Seen(CHANCE, moves=moves)
    player = state.current_player()
    known = forget(player, state.information_state_string(player))
    moves = [(move, 1.0, state.child(move)) for move in state.legal_actions()]
    return Seen(player, known, moves=moves)


def history(game: Any, moves: Sequence[int]) -> list[str]:
    """Write the moves of a history in the game's own words."""
    state, words = game.new_initial_state(), []
    for move in moves:
        who = "chance" if state.is_chance_node() else f"player {state.current_player()}"
        words.append(f"{who}: {state.action_to_string(state.current_player(), move)}")
        state.apply_action(move)
    return words


def coarser(tree: FlatTree, forget: str) -> FlatTree:
    """Let both players forget, so that they confuse histories of which the same is left.

    ``own_actions``: what the others did is left. ``order``: chance's moves are left, and the
    players', not in which order. ``last:K``: chance's moves, and the last K of the players. Only
    information sets with the same legal actions are joined.
    """
    keep = _keep(forget)
    moves: list[tuple[Move, ...]] = [()]
    legal: list[tuple[int, ...]] = [()] * tree.num_rows
    steps = zip(tree.parent.tolist(), tree.mover.tolist(), tree.move.tolist(), strict=True)
    for node, (parent, mover, move) in enumerate(steps):
        if node:
            moves.append((*moves[parent], (mover, move)))
    starts = np.searchsorted(tree.parent, np.arange(tree.num_nodes + 1))
    numbers: dict[Hashable, int] = {}
    own = np.flatnonzero(tree.player >= 0)
    rows, left = tree.row[own], np.empty(len(own), np.int64)
    for place, (node, row) in enumerate(zip(own.tolist(), rows.tolist(), strict=True)):
        if not legal[row]:
            legal[row] = tuple(tree.move[starts[node] : starts[node + 1]].tolist())
        player = int(tree.player[node])
        key = player, legal[row], keep(moves[node], player)
        left[place] = numbers.setdefault(key, len(numbers))
    size = tree.num_rows + len(numbers)
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
        names=names,
    )


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
