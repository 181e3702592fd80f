"""How far a sweep scales: one worker beside two, and what a point costs whoever hands it out.

    python benchmarks/bench_sweep.py

Starts its own Dask scheduler and workers, on this machine alone. Every worker is warm before it is
timed: it has loaded its kernels. Seconds on the clock say little where others use the cores too, so
seconds of processor time stand beside them. What hands out points is one thread, the scheduler's or
the sweep's own, and its processor time per point is what a thousand workers would wait for.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import yaml

from hogeq.runs.index import read_run
from hogeq.runs.sweep import run_sweep
from hogeq.runs.sweep_file import Sweep, load_sweep
from hogeq.support.executors import Workers
from hogeq.support.workers import workers

WORKERS = 1000  # of the model


def written(folder: Path, points: int, goal: int, iterations: int) -> Path:
    path = folder / "sweep.yaml"
    base = {
        "rules": {"edition": "su20", "goal": goal, "max_dice": 5},
        "solver": {"name": "dcfr", "iterations": iterations},
        "measure": {"attack": {"starts": 2, "anneal_steps": 30}},
    }
    tree = {"name": "trial", "base": base, "grid": {"seed": [*range(points)]}}
    path.write_text(yaml.safe_dump(tree))
    return path


class Crew(NamedTuple):
    """So many workers, and the process of their scheduler."""

    workers: Workers
    size: int
    scheduler: psutil.Process | None

    def present(self) -> list[psutil.Process]:
        """Wait for all workers: their processes."""
        pids: set[int] = set()
        while len(pids) < self.size:
            pids |= set(self.workers.map(_pid, range(4 * self.size)))
        return [psutil.Process(pid) for pid in sorted(pids)]


def used(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@contextlib.contextmanager
def cluster(count: int, folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Have a scheduler with workers of one thread each; give its address and its process."""
    file = folder / "scheduler.json"
    # Functions of these scripts must be found by name there too.
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}

    def start(kind: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", kind, "--scheduler-file", str(file)]
        return subprocess.Popen(  # noqa: S603 - Dask's own command
            [*command, "--no-dashboard", *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        )

    started = [start("scheduler", "--host", "127.0.0.1", "--port", "0")]
    try:
        while not file.exists():
            time.sleep(0.05)
        options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(folder))
        started += [start("worker", *options) for _ in range(count)]
        address = json.loads(file.read_text())["address"]
        yield address.replace("tcp://", "dask://"), psutil.Process(started[0].pid)
    finally:
        for process in started:
            process.kill()
            process.wait()
        file.unlink(missing_ok=True)


@contextlib.contextmanager
def crew(on: str, count: int, folder: Path) -> Iterator[Crew]:
    """Have so many workers, all of them there."""
    with contextlib.ExitStack() as stack:
        where, scheduler = on, None
        if on != "local":
            where, scheduler = stack.enter_context(cluster(count, folder))
        found = stack.enter_context(workers(count, where))
        all_here = Crew(found, count, scheduler)
        all_here.present()
        yield all_here


def _pid(_: int) -> int:
    time.sleep(0.05)
    return os.getpid()


def nothing(_: int) -> None:
    return None


def seconds(work: Callable[[], Any], repeats: int) -> float:
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken)


def swept(sweep: Sweep, on: str, count: int, repeats: int, folder: Path) -> tuple[float, float]:
    """Seconds of a sweep on so many workers: on the clock, at best, and of processor time."""
    with crew(on, count, folder) as found:

        def whole() -> None:
            summary = run_sweep(sweep, found.workers, folder / on, overwrite=True)
            assert not summary.failures

        whole()  # warm; a process that grew much on the way has been replaced by another
        whole()
        busy = [psutil.Process(), *found.present()]
        busy += [found.scheduler] if found.scheduler else []
        before = sum(map(used, busy))
        clock = seconds(whole, repeats)
        return clock, (sum(map(used, busy)) - before) / repeats


def handed(on: str, tasks: int, folder: Path) -> float:
    """Processor seconds of a task that does nothing, in whichever thread hands out all of them."""
    with crew(on, 2, folder) as found:
        found.workers.map(nothing, range(100))
        hands = [psutil.Process()] + ([found.scheduler] if found.scheduler else [])
        before = [used(process) for process in hands]
        found.workers.map(nothing, range(tasks))
        after = [used(process) for process in hands]
    return max(end - begin for begin, end in zip(before, after, strict=True)) / tasks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=6)
    parser.add_argument("--goal", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--tasks", type=int, default=2000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = written(folder, options.points, options.goal, options.iterations)
        sweep = load_sweep(path)
        checked = seconds(lambda: load_sweep(path), options.repeats) / options.points
        print(f"load average at the start: {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores\n")
        print(
            f"| {options.points} points | 1 worker | 2 workers | efficiency | of processor time |"
        )
        print("|---|---|---|---|---|")
        for on in ("local", "dask"):
            one, two = (swept(sweep, on, count, options.repeats, folder) for count in (1, 2))
            print(
                f"| {on} | {one[0]:.1f} s ({one[1]:.1f} s) | {two[0]:.1f} s ({two[1]:.1f} s) |"
                f" {one[0] / two[0] / 2:.0%} | {one[1] / two[1]:.0%} |"
            )
        points = [(folder / "local" / "trial" / point.name, point) for point in sweep.points]
        reading = seconds(
            lambda: [read_run(path, point.config.resolved()) for path, point in points],
            options.repeats,
        ) / len(points)
        costs = {on: handed(on, options.tasks, folder) for on in ("local", "dask")}
        print(f"\nload average at the end: {os.getloadavg()[0]:.1f}\n")
        print("| a point, in one thread | milliseconds |\n|---|---|")
        print(f"| checked before anything runs | {1e3 * checked:.2f} |")
        for on, cost in costs.items():
            print(f"| handed out and taken back, {on} | {1e3 * cost:.2f} |")
        print(f"| read for the table | {1e3 * reading:.2f} |")
        print(
            f"\n| seconds of a point | workers that dask keeps busy | efficiency of {WORKERS:,} |"
        )
        print("|---|---|---|")
        for long in (0.1, 1.0, 10.0, 100.0, 1000.0):
            whole = checked + max(long / WORKERS, costs["dask"]) + reading
            print(f"| {long:g} | {long / costs['dask']:,.0f} | {long / WORKERS / whole:.0%} |")


if __name__ == "__main__":
    main()
