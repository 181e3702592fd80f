"""Kernels compiled ahead of their use, and what is compiled already.

Interpreting kernels, and those by diagonals, serve any game; those of large memories are compiled
for their terms. What a game needs has a few parts, each used by other commands.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from hogeq.kernels import ahead, cache
from hogeq.model.cell_layout import CellLayout
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.interpreter import Interpreter
from hogeq.model.memory_passes import memory_shape
from hogeq.model.priced import Board, Claim, Kept, PricedResponder, width_of
from hogeq.model.workspace import Role
from hogeq.rules import EDITIONS, Rules
from hogeq.support.aliases import Floats


class _Scratch:
    """Arrays to call a game's kernels with, those of nobody else."""

    def __init__(self, game: HogEngine) -> None:
        self.game = game
        self.quick = game.workspace(2, game.quick_dtype())
        self.exact = game.workspace(2)
        for work in (self.quick, self.exact):  # numbers do not matter here
            work._weighed = True  # noqa: SLF001

    @cached_property
    def kept_passes(self) -> Interpreter:
        return Interpreter(self.game.rules, self.game.recurrence, 2)

    def full_memory(self) -> None:
        shape = self.game.shape
        values, reach = np.zeros(shape), np.zeros(shape[:2])
        self.kept_passes.backward(Role.FULL_MEMORY, self.uniform, values, reach, 1.0, 1.0)

    def reach(self) -> None:
        self.kept_passes.forward(self.uniform, np.zeros((1, *self.game.shape[:2])))

    @cached_property
    def uniform(self) -> Floats:
        return np.full((2, *self.game.shape), 1.0 / self.game.num_actions)

    @cached_property
    def priced(self) -> PricedResponder:
        goal, dice = 6, self.game.rules.max_dice
        dice = next(few for few in (2, 8, dice) if width_of(few + 1) == width_of(dice + 1))
        rules = replace(EDITIONS["su20"], goal=goal, max_dice=dice)
        return PricedResponder(Board(rules), np.full((goal, goal, dice + 1), 1.0 / (dice + 1)))

    @cached_property
    def claim(self) -> Claim:
        nothing = np.zeros((1, self.priced.board.memories))
        return Claim(np.zeros(1, np.int64), nothing, nothing[0], 1.0, 1.0)

    @cached_property
    def kept(self) -> Kept:
        return Kept(np.ones(1, np.int64), np.zeros((1, *self.priced.prices.shape[1:])))

    def duel(self) -> None:
        duels = self.game.duels()
        if duels is not None:
            duels.win_rate(np.zeros((2, *self.game.shape[:2]), np.int64))


Call = Callable[[_Scratch], object]

PARTS: Final[dict[str, tuple[Call, ...]]] = {
    "matrices": (lambda on: on.duel(),),
    "policies": (lambda on: on.exact.backward(on.uniform),),
    "search": (
        lambda on: on.quick.forward(on.uniform),
        lambda on: on.quick.backward(on.uniform, Role.COUNTERFACTUAL),
        lambda on: on.exact.forward(on.uniform),
        lambda on: on.exact.backward(on.uniform, Role.COUNTERFACTUAL),
    ),
    "full memory": (
        lambda on: on.full_memory(),
        lambda on: on.kept_passes.hidden_values(0),
    ),
    "values": (lambda on: on.full_memory(),),
    "reach": (
        lambda on: on.exact.forward(on.uniform),
        lambda on: on.reach(),
    ),
    "hidden states": (
        lambda on: on.reach(),
        lambda on: on.kept_passes.hidden_values(0),
    ),
    "certificates": (
        lambda on: on.priced.infoset_reach(),
        lambda on: on.priced.remember(),
        lambda on: on.priced.lift(1, on.claim),
        lambda on: on.priced.lend(1, on.claim),
        lambda on: on.priced.keep(1, on.claim, on.kept),
        lambda on: on.priced.revise(1, on.kept, 1.0),
    ),
}
"""Win rates of matrices; of policies; a search's passes; a responder with full memory; values
and reach by memory, and those of single positions; bounds with a proof. Each call needs one kernel
more."""
_INTERPRETED: Final = {"full memory", "values", "hidden states"}


def missing(game: HogEngine, names: Iterable[str]) -> Iterator[cache.Kernel]:
    """Give the kernels of parts that are not kept; the others are called."""
    on = _Scratch(game)
    for name in names:
        for call in PARTS[name]:
            try:
                with cache.compiling_nothing():
                    call(on)
            except cache.NotCompiledError as error:
                yield error.kernel


SOLVERS: Final = frozenset(
    {
        "ignore_memory",
        "delta_distribution",
        "optimal",
        "huan2020",
        "fa15_optimal",
        "fa22_optimal",
    }
)
"""Built-ins that solve a game, by the kernels that are the same for all."""


def expect(game: HogEngine, *names: str, strategies: Iterable[str | None] = ()) -> None:
    """Say what parts of a game a command is about to need, so that all cores compile them.

    That costs nothing unless a kernel is missing (:mod:`hogeq.kernels.ahead`).

    Parameters
    ----------
    game : HogEngine
    *names : str
        Of :data:`PARTS`; or "matches", the part by which two matrices meet.
    strategies : iterable
        What the command loads: some built-ins solve a game.
    """
    named = {spec.partition(":")[0] for spec in strategies if spec}

    def listed() -> Iterator[cache.Kernel]:
        if named & SOLVERS:
            yield from missing(game, ["full memory"])
        matches = "policies" if game.duels() is None else "matrices"
        yield from missing(game, [matches if name == "matches" else name for name in names])

    ahead.expect(listed)


def compile_now(games: Iterable[Rules], names: Iterable[str]) -> None:
    """Compile parts of what games need, on all cores, before several processes need them.

    Parameters
    ----------
    games : iterable of Rules
    names : iterable of str
        Of :data:`PARTS`.
    """
    wanted = set(names)
    kernels = [kernel for part in parts(games) if part.name in wanted for kernel in part.missing()]
    ahead.expect(lambda: kernels)
    for kernel in kernels:
        kernel.compile()


class Part(NamedTuple):
    """Some of what a game needs."""

    rules: Rules
    name: str

    def missing(self) -> list[cache.Kernel]:
        """List its kernels that are not kept."""
        return list(missing(compile_game(self.rules), [self.name]))

    def is_compiled(self) -> bool:
        """Whether all of its kernels are kept."""
        return not self.missing()


def parts(games: Iterable[Rules]) -> list[Part]:
    """List what games need, and what they share once."""
    found: dict[tuple[object, ...], Part] = {}
    for rules in games:
        game = compile_game(rules)
        for name in PARTS:
            # Values and reach need what full memory, a search and hidden states do.
            is_its_own = name not in {"values", "reach"}
            if is_its_own and (name != "matrices" or game.duels() is not None):
                found.setdefault((name, *_kernels_of(game, name)), Part(rules, name))
    return list(found.values())


def _kernels_of(game: HogEngine, name: str) -> tuple[object, ...]:
    """Say on what the kernels of a part depend."""
    if name == "certificates":
        return ()
    if name in _INTERPRETED:
        return (game.positions_recur,)
    quick = game.quick_dtype() if name == "search" else None
    return game.positions_recur, _shape_of(game), quick


def _shape_of(game: HogEngine) -> object:
    """Return the constants of a game's kernels; None if it is interpreted."""
    if game.has_large_memory:
        return memory_shape(game.tables)
    return CellLayout(game.tables, 8).shape if game.has_cell_vectors else None


def compile_kernel(kernel: cache.Kernel) -> None:
    """Compile a kernel, in whatever process, and keep it."""
    with cache.compiling_quietly():
        kernel.compile()


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
