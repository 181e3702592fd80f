"""Ask a ``final_strategy`` for every cell, in a process that `hogeq.strategies.read` starts for it.

Run by path, ``python -I child.py FILE GOAL MAX_DICE SECONDS BYTES``; one JSON object goes
to standard output: ``table``, or ``error``, one line. What the strategy itself prints is lost.
Nothing of hogeq is imported: its process starts fast and shares nothing with ours.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


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
        ``table``, list of `goal` lists of `goal` ints; or ``error``, str.
    """
    # Last, so that files beside the strategy cannot stand in for the standard library.
    sys.path.append(str(Path(file).parent))
    try:
        code = compile(Path(file).read_bytes(), file, "exec")
        namespace: dict[str, Any] = {"__name__": "final_strategy", "__file__": file}
        exec(code, namespace)  # noqa: S102 - what this process is for
        strategy = namespace.get("final_strategy")
        if not callable(strategy):
            return {"error": "defines no function final_strategy(score, opponent_score)"}
        return _ask(strategy, goal, max_dice)
    except BaseException as error:  # noqa: BLE001 - SystemExit too: this must answer
        return {"error": f"raised {_one_line(f'{type(error).__name__}: {error}')}"}


def _ask(strategy: Callable[[int, int], Any], goal: int, max_dice: int) -> dict[str, Any]:
    table = []
    for score in range(goal):
        table.append([strategy(score, opponent) for opponent in range(goal)])
        for opponent, dice in enumerate(table[score]):
            # By type: True == 1, and 6.0 == 6.
            if type(dice) is not int or not 0 <= dice <= max_dice:
                return {
                    "error": f"final_strategy({score}, {opponent}) is {_one_line(repr(dice))} "
                    f"({type(dice).__name__}); allowed: ints from 0 to {max_dice}"
                }
    # The other way round: an answer that depends on the calls before it is found out.
    for score in reversed(range(goal)):
        for opponent in reversed(range(goal)):
            again = strategy(score, opponent)
            if again != table[score][opponent]:
                return {
                    "error": f"final_strategy({score}, {opponent}) is {table[score][opponent]}, "
                    f"and {_one_line(repr(again))} when asked again: it must depend on the scores "
                    "alone"
                }
    return {"table": table}


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
