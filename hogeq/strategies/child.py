"""Ask a ``final_strategy`` for every cell, in a process that `hogeq.strategies.read` starts for it.

Run by path, ``python -I child.py FILE GOAL MAX_DICE SECONDS BYTES``; one JSON object goes
to standard output, as `main` describes it. What the strategy itself prints is lost. Nothing of
hogeq is imported: its process starts fast and shares nothing with ours.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

TOLD = 5
"""Faults of each kind that are told one by one; all are counted."""


def main(file: str, goal: int, max_dice: int) -> dict[str, Any]:
    """Run a file and ask what it defines, every cell twice.

    Parameters
    ----------
    file : str
        Path of a Python file.
    goal, max_dice : int
        Scores asked for are below `goal`; dice from 0 to `max_dice` are allowed.

    Returns
    -------
    dict
        ``faults``, list of dict: ``kind``, ``count`` and ``told``, lines about the first of them;
        and if a function was found ``table``, list of `goal` lists of `goal` answers, 0 where one
        is no roll; ``player_name``, str or None; ``seconds``, dict of float: ``load``, ``table``
        and ``slowest``, of one call.
    """
    # Last, so that files beside the strategy cannot stand in for the standard library.
    sys.path.append(str(Path(file).parent))
    namespace: dict[str, Any] = {"__name__": "final_strategy", "__file__": file}
    start = perf_counter()
    try:
        code = compile(Path(file).read_bytes(), file, "exec")
        exec(code, namespace)  # noqa: S102 - what this process is for
        strategy = namespace.get("final_strategy")
        if not callable(strategy):
            return _failed("defines no function final_strategy(score, opponent_score)")
        load = perf_counter() - start
        found = _ask(strategy, goal, max_dice)
    except BaseException as error:  # noqa: BLE001 - SystemExit too: this must answer
        return _failed(_raised(error))
    found["seconds"]["load"] = load
    name = namespace.get("PLAYER_NAME")
    found["player_name"] = name[:_NAME_LENGTH] if type(name) is str else None
    return found


def _failed(line: str) -> dict[str, Any]:
    return {"faults": [{"kind": "code", "count": 1, "told": [line]}]}


class _Faults:
    """Faults of the cells, by kind, the worst kind first."""

    def __init__(self) -> None:
        self.kinds: dict[str, list[str]] = {"raises": [], "range": [], "impure": []}
        self.counts = dict.fromkeys(self.kinds, 0)

    def add(self, kind: str, score: int, opponent: int, line: str) -> None:
        self.counts[kind] += 1
        if self.counts[kind] <= TOLD:
            self.kinds[kind].append(f"final_strategy({score}, {opponent}) {line}")

    def told(self) -> list[dict[str, Any]]:
        return [
            {"kind": kind, "count": self.counts[kind], "told": told}
            for kind, told in self.kinds.items()
            if told
        ]


def _ask(strategy: Callable[[int, int], Any], goal: int, max_dice: int) -> dict[str, Any]:
    faults = _Faults()
    cells = [(score, opponent) for score in range(goal) for opponent in range(goal)]
    answers: dict[tuple[int, int], int] = {}
    slowest = 0.0
    start = perf_counter()
    for cell in cells:
        called = perf_counter()
        try:
            dice = strategy(*cell)
        except BaseException as error:  # noqa: BLE001 - as above
            faults.add("raises", *cell, _raised(error))
            continue
        slowest = max(slowest, perf_counter() - called)
        # By type: True == 1, and 6.0 == 6.
        if type(dice) is int and 0 <= dice <= max_dice:
            answers[cell] = dice
        else:
            given = f"{_one_line(repr(dice))} ({type(dice).__name__})"
            faults.add("range", *cell, f"is {given}; allowed: ints from 0 to {max_dice}")
    seconds = perf_counter() - start
    # In another order: an answer that depends on the calls before it is found out.
    again_in = list(answers)
    Random(0).shuffle(again_in)  # noqa: S311 - any order will do
    for cell in again_in:
        before = answers[cell]
        try:
            again = strategy(*cell)
        except BaseException as error:  # noqa: BLE001 - as above
            faults.add("impure", *cell, f"is {before}, and when asked again {_raised(error)}")
            continue
        if type(again) is not int or again != before:
            line = f"is {before}, and {_one_line(repr(again))} when asked again"
            faults.add("impure", *cell, f"{line}: it must depend on the scores alone")
    return {
        "faults": faults.told(),
        "table": [[answers.get((own, other), 0) for other in range(goal)] for own in range(goal)],
        "seconds": {"table": seconds, "slowest": slowest},
    }


def _raised(error: BaseException) -> str:
    return f"raised {_one_line(f'{type(error).__name__}: {error}')}"


_NAME_LENGTH = 2000  # characters of a player's name that are told


def _one_line(text: str) -> str:
    line = ascii(" ".join(text.split()))[1:-1]
    return line if len(line) <= 200 else line[:197] + "..."


def _limit(seconds: int, size: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows: the time limit of the parent remains
        return
    for kind, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, size),
        (resource.RLIMIT_FSIZE, 0),  # no file is written
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or hard > most:
            resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    # What the strategy prints must not mix with the answer.
    answer = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    _limit(int(sys.argv[4]), int(sys.argv[5]))
    reply = json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))).encode()
    while reply:
        reply = reply[os.write(answer, reply) :]
    # No exit handlers, no waiting for threads that were left behind.
    os._exit(0)
