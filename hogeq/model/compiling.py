"""Kernels compiled ahead of their use, and what is compiled already.

A kernel is compiled for the width of a game's lanes, a precision, and, in large games, a plan: so
games share most of theirs. What a game needs has a few parts, each used by other commands.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from hogeq.kernels import cache
from hogeq.model.game import Game, compile_game
from hogeq.model.shared import shared_duels, shared_workspace
from hogeq.model.workspace import Role, Workspace
from hogeq.rules import Rules
from hogeq.support.aliases import Floats


def _uniform(game: Game) -> Floats:
    return np.full((2, *game.shape), 1.0 / game.num_actions)


def _wide(game: Game) -> Workspace:
    return shared_workspace(game, 2)


def _matrices(game: Game) -> None:
    duels = shared_duels(game)
    if duels is not None:
        duels.win_rate(np.zeros((2, game.goal, game.goal), np.int64))


def _search(game: Game) -> None:
    for dtype in (np.float64,) if game.plan is None else (np.float32, np.float64):
        work = shared_workspace(game, 2, dtype)
        work.forward(_uniform(game))
        work.backward(_uniform(game), Role.COUNTERFACTUAL)


def _hidden(game: Game) -> None:
    work = _wide(game)
    work.hidden_reach()
    work.hidden_values(0, 0)


PARTS: Final[dict[str, Callable[[Game], object]]] = {
    "matrices": _matrices,
    "policies": lambda game: _wide(game).backward(_uniform(game)),
    "search": _search,
    "full memory": lambda game: _wide(game).backward(_uniform(game), Role.FULL_MEMORY),
    "values": lambda game: _wide(game).backward(_uniform(game), keep=True),
    "reach": lambda game: _wide(game).forward(_uniform(game), keep=True),
    "hidden states": _hidden,
}
"""Win rates of matrices; of policies; a search's two passes; a responder with full memory; values
and reach by memory, and those of single positions."""

_WITHOUT_A_PLAN: Final = {"matrices", "full memory", "hidden states"}


class Part(NamedTuple):
    """Some of what a game needs."""

    rules: Rules
    name: str

    def compile(self) -> None:
        """Call its kernels, which compiles those that are not kept."""
        game = compile_game(self.rules)
        work = _wide(game)
        work._values_kept = work._reach_kept = True  # noqa: SLF001 - numbers do not matter here
        with cache.compiling_quietly():
            PARTS[self.name](game)

    def is_compiled(self) -> bool:
        """Whether all of its kernels are kept."""
        try:
            with cache.compiling_nothing():
                self.compile()
        except cache.NotCompiledError:
            return False
        return True


def parts(games: Iterable[Rules]) -> list[Part]:
    """List what games need, and what they share once."""
    found: dict[tuple[object, ...], Part] = {}
    for rules in games:
        game = compile_game(rules)
        kind = len(game.tables.lane), game.positions_recur
        for name in PARTS:
            plan = None if game.plan is None else game.plan.constants
            if name == "matrices" and shared_duels(game) is None:
                continue
            if name in _WITHOUT_A_PLAN:
                plan = None
            elif plan is None and name in {"values", "reach"}:
                continue  # as policies and search
            found.setdefault((name, *kind, plan), Part(rules, name))
    return list(found.values())


class CacheFacts(NamedTuple):
    """Where compiled kernels are kept."""

    folder: Path
    """Of all states of the sources and versions."""
    state: str
    """Name of the folder in it, of the present one."""
    writable: bool
    kernels: int
    """How many are kept for the present state."""
    size: int
    """Their bytes."""


def cache_facts() -> CacheFacts:
    """Describe the cache of compiled kernels."""
    kept = cache.stored()
    size = sum(one.size for one in kept)
    return CacheFacts(cache.root(), cache.state(), cache.writable(), len(kept), size)
