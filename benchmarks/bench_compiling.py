"""How long each kernel takes to compile: processor time of one core, from an empty folder.

    python benchmarks/bench_compiling.py [EDITION ...]

Every edition has a process and a folder of its own. What numba and LLVM need once, before they
compile anything, is not counted.
"""

import subprocess
import sys
import tempfile
from dataclasses import replace
from os import environ
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numba import njit
from numba.core import event

from hogeq.kernels.cache import compiling_quietly
from hogeq.model.game import compile_game
from hogeq.model.side_by_side import many_workspace
from hogeq.model.workspace import Role, Workspace
from hogeq.rules import EDITIONS

RULES = {
    **EDITIONS,
    "su20=0": replace(EDITIONS["su20"], pig_out=0),
    "fa18=0": replace(EDITIONS["fa18"], pig_out=0),
}
"""Editions, and two that remember something and whose turns can stay."""
MEASURED = ("su20", "fa19", "fa22", "sp22", "su21", "su20=0", "fa18=0")
"""Plans of two games, diagonals of six-sided dice, turns that stay, generic passes, and both with
memory.
"""


class Listener(event.Listener):
    """Takes the time of each kernel, with all that is compiled within."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}
        self._begun: list[float] = []

    def on_start(self, event: Any) -> None:  # noqa: ARG002 - numba gives it
        """Note when it begins."""
        self._begun.append(process_time())

    def on_end(self, event: Any) -> None:
        """Note how long it took, unless it is part of another."""
        taken = process_time() - self._begun.pop()
        if not self._begun:
            function = event.data["dispatcher"].py_func
            name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
            self.seconds.setdefault(name, []).append(taken)


def passes(edition: str) -> None:
    """Call each kernel of an edition, but those of full memory, once."""
    game = compile_game(RULES[edition])
    policies = np.full((2, *game.shape), 1.0 / game.num_actions)
    dtypes: set[type[np.floating[Any]]] = {np.float64, game.quick_dtype()}
    for work in (game.workspace(2, dtype) for dtype in dtypes):
        work.forward(policies)
        work.backward(policies, Role.SOFTMAX, temperature=1.0, damping=0.0)
    duels = game.duels()
    for roll in (0, game.num_actions - 1) if duels is not None else ():
        assert duels is not None
        duels.win_rate(np.full((2, *game.shape[:2]), roll, np.int64))
    if edition in {"su20", "fa19", "fa22"}:
        many = many_workspace(game, 2)
        many.face(policies)
        many.forward(policies[0])
        many.backward(policies[0], Role.SOFTMAX, damping=0.0)
    if edition in {"sp22", "su21"}:
        generic = Workspace(game.tables, 2)
        generic.forward(policies)
        generic.backward(policies, Role.COUNTERFACTUAL)


def compile_all(edition: str) -> None:
    """Print what an edition compiles; the folder of kernels is to be empty."""
    njit(lambda x: x + 1.0)(1.0)
    listener = Listener()
    with compiling_quietly(), event.install_listener("numba:compile", listener):
        passes(edition)
    for name, seconds in listener.seconds.items():
        print(f"{edition:8}{name:28}" + "".join(f"{one:7.1f}" for one in seconds))


def main() -> None:
    """Measure editions one after the other."""
    print(f"{'':8}{'kernel':28}{'seconds, for each list of argument types':>40}")
    for edition in sys.argv[1:] or MEASURED:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(  # noqa: S603 - ourselves
                [sys.executable, __file__, "--here", edition],
                check=True,
                env={**environ, "NUMBA_CACHE_DIR": str(Path(folder) / "kernels")},
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        compile_all(sys.argv[2])
    else:
        main()
