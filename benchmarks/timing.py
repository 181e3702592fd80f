"""What benchmarks share: how they time, what they ran on, and how they report it."""

import json
import os
import platform
from collections.abc import Callable, Sequence
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any, NamedTuple, TypeVar

from hogeq.runs.files import environment, now
from hogeq.support.files import replacing

Result = TypeVar("Result")

FOLDER = Path(__file__).parents[1] / "build" / "bench"
MOST_CALLS = 30
OURS = "hogeq"
ASKED = "asked for"


class Timing(NamedTuple):
    """One way to do something, timed."""

    group: str
    """What is done; those of a group are compared."""
    name: str
    """How; `OURS` or `ASKED`, if there is one, is what the others of its group are divided by."""
    seconds: float
    clock: str = "processor"
    """Or "wall", where several threads or processes work."""


def least(
    run: Callable[[], Result], seconds: float = 1.0, *, warm: bool = True
) -> tuple[Result, float]:
    """Time a call again and again for so many seconds; its result and its least processor time.

    With `warm` a first call, which may have to compile, does not count.
    """
    if warm:
        run()
    taken: list[float] = []
    while not taken or (sum(taken) < seconds and len(taken) < MOST_CALLS):
        start = thread_time()
        result = run()
        taken.append(thread_time() - start)
    return result, min(taken)


def in_turn(
    runs: Sequence[Callable[[], Result]], seconds: float
) -> tuple[list[Result], list[float], list[float]]:
    """Time calls that share a machine with others in turn, at least twice, for so many seconds.

    Returns
    -------
    results : list
    wall, processor : list of float
        Least times of each: on the clock, and of processor time, all threads together.
    """
    results = [run() for run in runs]
    taken: list[list[tuple[float, float]]] = [[] for _ in runs]
    begun = perf_counter()
    while len(taken[0]) < 2 or perf_counter() - begun < seconds:
        for run, times in zip(runs, taken, strict=True):
            start = perf_counter(), process_time()
            run()
            times.append((perf_counter() - start[0], process_time() - start[1]))
    wall, processor = zip(*(map(min, zip(*times, strict=True)) for times in taken), strict=True)
    return results, list(wall), list(processor)


def context() -> dict[str, Any]:
    """Describe the machine, what it was doing, the versions and the time."""
    found = environment()
    return {
        "time": now(),
        "cpu": _cpu(),
        "load": [round(load, 2) for load in os.getloadavg()],
        **found,
        "packages": {**found["packages"], "open_spiel": version("open_spiel")},
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def table(timings: Sequence[Timing]) -> str:
    """Markdown: every group, each of its times, and the ratio to ours or else to the least."""
    lines = [("what", "how", "time", "ratio"), ("---", "---", "--:", "--:")]
    for (group, clock), members in groupby(timings, lambda timing: (timing.group, timing.clock)):
        rows = list(members)
        ours = [row.seconds for row in rows if row.name in {OURS, ASKED}]
        base = ours[0] if ours else min(row.seconds for row in rows)
        for place, row in enumerate(rows):
            what = "" if place else group + (", on the clock" if clock == "wall" else "")
            lines.append((what, row.name, spoken(row.seconds), _ratio(row.seconds / base)))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        f"| {what:{widths[0]}} | {how:{widths[1]}} | {time:>{widths[2]}} | {ratio:>{widths[3]}} |"
        for what, how, time, ratio in lines
    )


def spoken(seconds: float) -> str:
    """Three digits and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):  # noqa: B007 - the last is kept
        if seconds >= size:
            break
    number = seconds / size
    return f"{number:.0f} {unit}" if number >= 99.5 else f"{number:.3g} {unit}"


def _ratio(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 99.5 else f"{ratio:.3g}"


def report(name: str, timings: Sequence[Timing]) -> None:
    """Print the context and the table, and write both to ``build/bench/NAME.json``."""
    about = context()
    cores = f"{about['cores']} core{'s' if about['cores'] != 1 else ''}"
    load = ", ".join(f"{load:g}" for load in about["load"])
    print(f"{about['cpu']}, {cores}, load {load}, {about['time']}")
    print(", ".join(f"{key} {value}" for key, value in about["packages"].items()))
    print(f"\n{table(timings)}\n")
    FOLDER.mkdir(parents=True, exist_ok=True)
    data = {"context": about, "timings": [timing._asdict() for timing in timings]}
    path = FOLDER / f"{name}.json"
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(data, indent=1) + "\n")
    print(f"written to {path.relative_to(FOLDER.parents[1])}")
