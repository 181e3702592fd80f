"""Games of OpenSpiel, and files that OpenSpiel reads, as flat trees."""

import os
from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel

from hogeq.support.messages import nearest, one_line, printable, shown, shown_path
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree

MOST_NODES = 20_000_000
"""Nodes of the largest tree that is built: some 2 GB."""


Forget = Callable[[int, str], str]
"""Of a player and an information state; gives the key of the information set."""


def from_openspiel(
    game: Any, *, forget: Forget | None = None, most_nodes: int = MOST_NODES
) -> FlatTree:
    """Build the tree of a game of OpenSpiel.

    Parameters
    ----------
    game : str or pyspiel.Game
        A game, or its name with parameters: ``liars_dice_ir(dice_sides=4)``.
    forget : callable, optional
        What a player is to know instead of OpenSpiel's information state: states of one key become
        one information set. Their legal actions must agree.
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
    return _Builder(game, forget or (lambda _, known: known), most_nodes).build()


def from_efg(path: str | os.PathLike[str]) -> FlatTree:
    """Read a game in Gambit's extensive form, ``.efg``.

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
    return replace(from_openspiel(game), name=printable(path.name))


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


class _Builder:
    """Walks a game once, depth first; nodes are put in order of depth at the end."""

    def __init__(self, game: Any, forget: Forget, most_nodes: int) -> None:
        self.game, self.forget, self.most_nodes = game, forget, most_nodes
        self.rows: dict[tuple[int, str], int] = {}
        self.legal: list[list[int]] = []
        # player, parent, row, action, move, depth; chance, payoff
        self.whole = array("q")
        self.numbers = array("d")

    def build(self) -> FlatTree:
        stack = [(self.game.new_initial_state(), -1, 0, 0, 0, 1.0)]
        count = 0
        while stack:
            state, parent, action, move, depth, chance = stack.pop()
            player, row, payoff = TERMINAL, -1, 0.0
            moves: list[tuple[int, float]] = []
            if state.is_terminal():
                payoff = state.returns()[0]
            elif state.is_chance_node():
                player, moves = CHANCE, state.chance_outcomes()
            else:
                player = state.current_player()
                legal = state.legal_actions()
                moves = [(move, 1.0) for move in legal]
                known = self.forget(player, state.information_state_string(player))
                row = self._row(player, known, legal)
            self.whole.extend((player, parent, row, action, move, depth))
            self.numbers.extend((chance, payoff))
            # Popped in reverse, so that nodes come in the order of their actions.
            for place, (each, probability) in reversed(list(enumerate(moves))):
                stack.append((state.child(each), count, place, each, depth + 1, probability))
            count += 1
            if count > self.most_nodes:
                raise ValueError(
                    f"{self.game.get_type().short_name}: has more than {self.most_nodes:,} nodes"
                )
        return self._flat()

    def _row(self, player: int, known: str, legal: list[int]) -> int:
        row = self.rows.setdefault((player, known), len(self.rows))
        if row == len(self.legal):
            self.legal.append(legal)
        elif self.legal[row] != legal:
            raise ValueError(
                f"{self.game.get_type().short_name}: information state {one_line(known)}: histories"
                " differ in their legal actions"
            )
        return row

    def _flat(self) -> FlatTree:
        whole = np.frombuffer(self.whole, np.int64).reshape(-1, 6)
        order = np.argsort(whole[:, 5], kind="stable")
        renamed = np.empty(len(order) + 1, np.int64)
        renamed[order], renamed[-1] = np.arange(len(order)), -1  # the root's parent, -1, stays
        player, parent, row, action, move, _ = whole[order].T
        chance, payoff = np.frombuffer(self.numbers).reshape(-1, 2)[order].T
        known = sorted(self.rows)  # those of player 0 first
        order_of_rows = [self.rows[key] for key in known]
        new = np.full(len(known) + 1, -1)
        new[order_of_rows] = np.arange(len(known))
        return FlatTree(
            name=str(self.game),
            player=player.astype(np.int8),
            parent=renamed[parent],
            row=new[row],
            action=np.ascontiguousarray(action),
            chance=np.ascontiguousarray(chance),
            payoff=np.ascontiguousarray(payoff),
            move=np.ascontiguousarray(move),
            seat=np.array([player for player, _ in known], np.int8),
            num_legal=np.array([len(self.legal[key]) for key in order_of_rows], np.int64),
            names=[name for _, name in known],
            describe=partial(history, self.game),
        )


def history(game: Any, moves: Sequence[int]) -> list[str]:
    """Write the moves of a history in the game's own words."""
    state, words = game.new_initial_state(), []
    for move in moves:
        who = "chance" if state.is_chance_node() else f"player {state.current_player()}"
        words.append(f"{who}: {state.action_to_string(state.current_player(), move)}")
        state.apply_action(move)
    return words
