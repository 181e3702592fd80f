"""How long a command takes from a cold shell, kernels cached: medians of ten.

python benchmarks/bench_cold_start.py
"""

import resource
import statistics
import subprocess
import sys
from collections.abc import Iterator
from time import perf_counter

from timing import Timing, report

TIMES = 10
PYTHON = (sys.executable, "-c")
HOGEQ = (sys.executable, "-m", "hogeq")
COMMANDS = {
    "python": (*PYTHON, ""),
    "python, import numba": (*PYTHON, "import numba"),
    "hogeq rules": (*HOGEQ, "rules"),
    "hogeq compare always_roll:6 always_roll:7": (
        *HOGEQ,
        *("compare", "always_roll:6", "always_roll:7"),
    ),
}
SAYS = {"hogeq compare always_roll:6 always_roll:7": "51.73 %"}


def run(name: str) -> tuple[float, float]:
    """Seconds of one command, on the clock and of processor time."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    said = subprocess.run(  # noqa: S603 - our own commands
        COMMANDS[name], capture_output=True, check=True, text=True
    ).stdout
    seconds, after = perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert SAYS.get(name, "") in said
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def timings() -> Iterator[Timing]:
    """Time the commands in turn."""
    for name in COMMANDS:
        run(name)  # fills caches
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    for _ in range(TIMES):
        for name in COMMANDS:
            taken[name].append(run(name))
    for place, clock in enumerate(("wall", "processor")):
        for name, seconds in taken.items():
            median = statistics.median(one[place] for one in seconds)
            yield Timing("from a cold shell", name, median, clock)


if __name__ == "__main__":
    report("cold_start", list(timings()))
