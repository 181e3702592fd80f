"""Kernels compiled ahead of their use, and what is compiled already.

Interpreting kernels serve any game; others are compiled for a game's terms. What a game needs has a
few parts, each used by other commands.

numba compiles one kernel at a time in a process, and most commands need several. Whoever knows
which says so beforehand (:func:`expect`), which costs nothing: only when a kernel is missing, the
list is asked for, and what else is missing is shared out among as many processes as there are
cores. This one does its own share while it waits for a kernel of theirs, and compiles that itself
if they do not deliver.
"""

import atexit
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO, Final

import numpy as np

from hogeq.kernels import cache
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.priced import Board, Claim, Kept, PricedResponder, width_of
from hogeq.model.protocol import Role
from hogeq.model.workspace import Layout
from hogeq.rules import EDITIONS, Rules
from hogeq.support.aliases import Floats
from hogeq.support.workers import cores

PARTS: Final = (
    "matrices",
    "policies",
    "search",
    "full memory",
    "values",
    "reach",
    "hidden states",
    "certificates",
)
"""Win rates of matrices; of policies; a search's passes; a responder with full memory; values
and reach by memory, and those of single positions; bounds with a proof."""
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

__all__ = ["PARTS", "SOLVERS", "cache", "compile_now", "expect", "missing", "parts_of"]

Call = Callable[[], object]


def _calls(game: HogEngine, part: str) -> Iterator[Call]:
    """Give calls on arrays of nobody else, of which each needs one kernel more."""
    uniform = np.full((2, *game.shape), 1.0 / game.num_actions)
    if part == "matrices":
        duels = game.duels()
        if duels is not None:
            yield lambda: duels.win_rate(np.zeros((2, *game.shape[:2]), np.int64))
    elif part == "policies":
        yield lambda: game.workspace(2).win_rate(uniform)
    elif part == "search":
        for dtype in {game.quick_dtype(), np.float64}:
            layout = game.layout(2, dtype)
            yield partial(layout.forward, uniform, np.zeros((1, *game.shape[:2])))
            yield partial(_backward, game, layout, Role.COUNTERFACTUAL, uniform)
    elif part == "certificates":
        yield from _certificate_calls(game.rules)
    else:
        yield from _interpreted_calls(game, part, uniform)


def _interpreted_calls(game: HogEngine, part: str, uniform: Floats) -> Iterator[Call]:
    passes = game.interpreter(2)
    if part in {"reach", "hidden states"}:
        yield lambda: passes.forward(uniform, np.zeros((1, *game.shape[:2])))
    if part in {"full memory", "values"}:
        yield partial(_backward, game, passes, Role.FULL_MEMORY, uniform)
    if part in {"full memory", "hidden states"}:
        yield lambda: passes.hidden_values(0)


def _backward(game: HogEngine, layout: Layout, role: Role, policies: Floats) -> object:
    filled = np.zeros(game.shape), np.zeros(game.shape[:2])
    return layout.backward(int(role), policies, np.ones(1), *filled, 1.0, 1.0)


def _certificate_calls(rules: Rules) -> Iterator[Call]:
    goal, dice = 6, rules.num_actions - 1
    dice = next(few for few in (2, 8, dice) if width_of(few + 1) == width_of(dice + 1))
    small = replace(EDITIONS["su20"], goal=goal, max_dice=dice)
    priced = PricedResponder(Board(small), np.full((goal, goal, dice + 1), 1.0 / (dice + 1)))
    nothing = np.zeros((1, priced.board.memories))
    claim = Claim(np.zeros(1, np.int64), nothing, nothing[0], 1.0, 1.0)
    kept = Kept(np.ones(1, np.int64), np.zeros((1, *priced.prices.shape[1:])))
    yield priced.infoset_reach
    yield priced.remember
    yield lambda: priced.lift(1, claim)
    yield lambda: priced.lend(1, claim, kept)
    yield lambda: priced.revise(1, kept, 1.0)


def missing(game: HogEngine, *names: str) -> Iterator[cache.Kernel]:
    """Give the kernels of parts that are not kept; the others are called."""
    for name in names:
        for call in _calls(game, name):
            try:
                with cache.compiling_nothing():
                    call()
            except cache.NotCompiledError as error:
                yield error.kernel


def parts_of(game: HogEngine) -> list[str]:
    """List what a game needs, none twice: values and reach need what other parts do."""
    twice = {"values", "reach"} | ({"matrices"} if game.duels() is None else set())
    return [part for part in PARTS if part not in twice]


def expect(game: HogEngine, *names: str, strategies: Iterable[str | None] = ()) -> None:
    """Say what parts of a game a command is about to need, so that all cores compile them.

    They are those of :data:`PARTS`, or "matches", the part by which two matrices meet; and what
    built-ins among the strategies need that solve a game.
    """
    solved = any(spec and spec.partition(":")[0] in SOLVERS for spec in strategies)

    def listed() -> Iterator[cache.Kernel]:
        matches = "policies" if game.duels() is None else "matrices"
        named = [matches if name == "matches" else name for name in names]
        return missing(game, *["full memory"] * solved, *named)

    expect_listed(listed)


def compile_now(games: Iterable[Rules], names: Iterable[str]) -> None:
    """Compile parts of what games need, on all cores, before several processes need them."""
    kernels = [kernel for rules in games for kernel in missing(compile_game(rules), *names)]
    expect_listed(lambda: kernels)
    for kernel in kernels:
        kernel.compile()


# --- on all cores ---------------------------------------------------------------------------------

PATIENCE = 120.0  # seconds after which a helper is not waited for

_PROGRAM = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from hogeq.model.compiling import help_out; help_out(sys.stdin.buffer)"
)
_expected: Callable[[], Iterable[cache.Kernel]] | None = None
_helpers: "list[tuple[subprocess.Popen[bytes], set[str]]]" = []
_own: list[cache.Kernel] = []


def expect_listed(listed: Callable[[], Iterable[cache.Kernel]]) -> None:
    """Say what lists the missing kernels that are about to be needed, instead of the last list."""
    global _expected  # noqa: PLW0603 - one for the process
    _expected = listed


def provides(kernel: cache.Kernel) -> bool:
    """Whether a helper has compiled a missing kernel; wait if it is about to."""
    global _expected
    listed, _expected = _expected, None
    if listed is not None and not cache.problem():
        others = {other.file: other for other in listed() if other.file != kernel.file}
        width = max(1, cores())
        shares = [list(others.values())[first::width] for first in range(width)]
        _own[:] = shares.pop()
        for share in filter(None, shares):
            _hire(share)
    helper = next((process for process, files in _helpers if kernel.file in files), None)
    give_up = time.monotonic() + PATIENCE
    while helper and helper.poll() is None and not kernel.is_kept() and time.monotonic() < give_up:
        if _own:
            _own.pop(0).compile()
        else:
            time.sleep(0.01)
    return helper is not None and kernel.is_kept()


def _hire(share: list[cache.Kernel]) -> None:
    with suppress(OSError, ValueError):
        process = subprocess.Popen(  # noqa: S603 - this Python
            [sys.executable, "-P", "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=cache.environment(),
        )
        _helpers.append((process, {kernel.file for kernel in share}))
        with process.stdin as pipe:  # type: ignore[union-attr]
            pipe.write(pickle.dumps(sys.path) + cache.pickled(share))


def dismiss() -> None:
    """End what helpers still do."""
    for process, _ in _helpers:
        process.kill()
        process.wait()
    _helpers.clear()


def help_out(given: BinaryIO) -> None:
    """Compile the kernels whose list is read: what a helper does."""
    kernels: list[Any] = pickle.load(given)  # noqa: S301 - from who started this process
    for kernel in kernels:
        kernel.compile()


cache.ask_first(provides)
atexit.register(dismiss)
