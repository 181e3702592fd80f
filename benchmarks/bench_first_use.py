"""How long commands take when nothing is compiled yet, and when everything is: medians.

python benchmarks/bench_first_use.py [TIMES]

Searches are kept short, so that what is left is what a user waits for before they begin.
"""

import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from os import environ
from pathlib import Path
from time import perf_counter

from timing import Timing, report

SHORT = ("--starts", "1", "--anneal-steps", "2", "--kicks", "0", "--jobs", "1")
ME = ("--player-name", "Me", "--overwrite")
CONFIG = Path(__file__).parents[1] / "configs" / "cfr.yaml"
FEW = tuple(
    part
    for key in (
        "solver.iterations=2",
        "measure.attack={starts: 1, anneal_steps: 2}",
        "measure.final_attack={starts: 1, anneal_steps: 2}",
    )
    for part in ("--set", key)
)
BOTH = ("always_roll:6", "always_roll:4")
COMMANDS = {
    "compare, su20": ("compare", *BOTH),
    "compare, fa22": ("compare", *BOTH, "--rules", "fa22"),
    "compare, su21": ("compare", *BOTH, "--rules", "su21"),
    "compare with ignore_memory, su20": ("compare", "ignore_memory", "always_roll:6"),
    "tablebase, su20": ("tablebase",),
    "tablebase, fa22": ("tablebase", "--rules", "fa22"),
    "attack, su20": ("attack", "always_roll:6", *SHORT),
    "attack, fa22": ("attack", "always_roll:6", "--rules", "fa22", *SHORT),
    "analyze, su20": ("analyze", "--score", "3", "--opponent", "4"),
    "beliefs, su20": ("beliefs", "always_roll:6", "--score", "30", "--opponent", "40"),
    "play, su20": ("play", "--first", "you"),
    "tournament, su20": ("tournament", *BOTH, "--jobs", "1"),
    "compare, sp22": ("compare", *BOTH, "--rules", "sp22"),
    "check, fa25": ("check", "final_strategy.py", "--rules", "fa25", "--trust"),
    "export optimal, fa25": ("export", "optimal", "--rules", "fa25", *ME),
    "board, fa25": ("board", "--rules", "fa25", "--overwrite"),
    "run, su20, two iterations": ("run", str(CONFIG), *FEW, "--out-root", ".", "--overwrite"),
    "rules": ("rules",),
    "strategies": ("strategies",),
    "doctor": ("doctor",),
    "warmup, su20": ("warmup",),
}
TOGETHER = {"README's three commands, fa25": ("export optimal, fa25", "check, fa25", "board, fa25")}
SOME = ("compare, su20", "compare, fa22", "analyze, su20", "rules")


def run(command: tuple[str, ...], cache: Path) -> tuple[float, float]:
    """Seconds of one command, on the clock and of processor time."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    subprocess.run(  # noqa: S603 - our own commands
        [sys.executable, "-m", "hogeq", *command],
        capture_output=True,
        check=True,
        cwd=cache,
        # Not the folder itself: `hogeq` in it would be a package to Python.
        env={**environ, "NUMBA_CACHE_DIR": str(cache / "kernels")},
        stdin=subprocess.DEVNULL,
    )
    seconds, after = perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run_all(names: Iterable[str], cache: Path) -> tuple[float, float]:
    """Seconds of commands, one after the other."""
    wall, processor = zip(*(run(COMMANDS[name], cache) for name in names), strict=True)
    return sum(wall), sum(processor)


def timings(times: int, names: Iterable[str] = (*TOGETHER, *COMMANDS)) -> Iterator[Timing]:
    """Time commands twice in a folder of their own."""
    for name in names:
        commands = TOGETHER.get(name, (name,))
        taken = []
        for _ in range(times):
            with tempfile.TemporaryDirectory() as folder:
                run(("export", "always_roll:6", *ME), Path(folder))  # what is checked
                taken.append([run_all(commands, Path(folder)) for _ in range(2)])
        for use, what in enumerate(("first use", "second use")):
            for place, clock in enumerate(("wall", "processor")):
                median = statistics.median(one[use][place] for one in taken)
                yield Timing(name, what, median, clock)


if __name__ == "__main__":
    report("first_use", list(timings(int(sys.argv[1]) if len(sys.argv) > 1 else 3)))
