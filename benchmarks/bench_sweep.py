"""How far a sweep scales: one worker beside two, and what a task costs whoever hands it out.

    python benchmarks/bench_sweep.py

Starts its own Dask scheduler and workers, on this machine alone. Every worker is warm before it is
timed: it has loaded its kernels. The two-worker table is that of one sweep, equal points apart from
their seeds; the costs of a task are of tasks that do nothing.
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
from statistics import median
from typing import Any

import yaml

from hogeq import runs
from hogeq.executor import Workers, workers
from hogeq.sweep import Sweep, load_sweep, run_sweep

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


@contextlib.contextmanager
def cluster(count: int, folder: Path) -> Iterator[str]:
    """Have a scheduler with workers of one thread each, and give its address."""
    file = folder / f"scheduler-{count}.json"

    def start(kind: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", kind, "--scheduler-file", str(file)]
        return subprocess.Popen(  # noqa: S603 - Dask's own command
            [*command, "--no-dashboard", *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    processes = [start("scheduler", "--host", "127.0.0.1", "--port", "0")]
    try:
        while not file.exists():
            time.sleep(0.05)
        options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(folder))
        processes += [start("worker", *options) for _ in range(count)]
        yield json.loads(file.read_text())["address"].replace("tcp://", "dask://")
    finally:
        for process in processes:
            process.kill()
            process.wait()
        file.unlink(missing_ok=True)


@contextlib.contextmanager
def crew(on: str, count: int, folder: Path) -> Iterator[Workers]:
    """Have so many workers, all of them there."""
    with contextlib.ExitStack() as stack:
        where = on if on == "local" else stack.enter_context(cluster(count, folder))
        found = stack.enter_context(workers(where, count))
        pids: set[int] = set()
        while len(pids) < count:
            pids |= set(found.map(_pid, range(4 * count)))
        yield found


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


def efficiency(sweep: Sweep, on: str, repeats: int, folder: Path) -> tuple[float, float]:
    """Seconds of a sweep on one worker, and on two."""
    taken = []
    for count in (1, 2):
        with crew(on, count, folder) as found:

            def whole(found: Workers = found) -> None:
                summary = run_sweep(sweep, found, folder / on, overwrite=True)
                assert not summary.failures

            whole()  # warm
            taken.append(seconds(whole, repeats))
    return taken[0], taken[1]


def overhead(on: str, tasks: int, folder: Path) -> float:
    """Seconds of a task that does nothing, two workers."""
    with crew(on, 2, folder) as found:
        found.map(nothing, range(100))
        return seconds(lambda: found.map(nothing, range(tasks)), 3) / tasks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=8)
    parser.add_argument("--goal", type=int, default=40)
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=2000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = written(folder, options.points, options.goal, options.iterations)
        sweep = load_sweep(path)
        checked = seconds(lambda: load_sweep(path), options.repeats) / options.points
        print(f"load average at the start: {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores\n")
        print(f"| {options.points} points on | 1 worker | 2 workers | efficiency |")
        print("|---|---|---|---|")
        for on in ("local", "dask"):
            one, two = efficiency(sweep, on, options.repeats, folder)
            print(f"| {on} | {one:.2f} s | {two:.2f} s | {one / two / 2:.0%} |")
        read = runs.read
        paths = sorted((folder / "local" / "trial").glob("seed=*"))
        told = seconds(lambda: [read(one) for one in paths], options.repeats) / len(paths)
        size = median(found.elapsed or 0.0 for found in map(read, paths))
        costs = {on: overhead(on, options.tasks, folder) for on in ("local", "dask")}
        print(f"\nload average at the end: {os.getloadavg()[0]:.2f}\n")
        print("| cost of a point, in series | milliseconds |\n|---|---|")
        print(f"| checked before anything runs | {1e3 * checked:.2f} |")
        for on, cost in costs.items():
            print(f"| handed out and reported, {on} | {1e3 * cost:.2f} |")
        print(f"| read for the table | {1e3 * told:.2f} |")
        print(f"\na point here takes {size:.2f} s\n")
        print(f"| seconds of a point | workers kept busy by dask | efficiency of {WORKERS:,} |")
        print("|---|---|---|")
        for long in (0.1, 1.0, 10.0, 100.0, 1000.0):
            handed = max(long / WORKERS, costs["dask"])
            whole = handed + checked + told
            print(f"| {long:g} | {long / costs['dask']:,.0f} | {long / WORKERS / whole:.0%} |")


if __name__ == "__main__":
    main()
