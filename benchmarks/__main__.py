"""Everything worth timing, in one table: ``make bench``, some five minutes.

    python benchmarks

Functions called ``bench_...`` are run by pytest-benchmark, on the clock; the other scripts time
themselves. An answer that is wrong ends it.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain

import bench_alternatives
import bench_first_use
import bench_limits
import bench_trees
from timing import FOLDER, Timing, report


def by_pytest() -> Iterator[Timing]:
    """Time the functions that pytest-benchmark knows."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "pytest.json"
    options = (
        *("--benchmark-only", "--quiet", "--benchmark-quiet", f"--benchmark-json={path}"),
        *("--override-ini=python_files=bench_*.py", "--override-ini=python_functions=bench_*"),
    )
    subprocess.run(  # noqa: S603 - our own benchmarks
        [sys.executable, "-m", "pytest", "benchmarks", *options], cwd=FOLDER.parents[1], check=True
    )
    found = json.loads(path.read_text("utf-8"))["benchmarks"]
    for one in sorted(found, key=lambda one: one["group"]):  # in the order of the file within one
        name = one["name"].removeprefix("bench_").replace("_", " ").replace("[", " [")
        yield Timing(one["group"], name, one["stats"]["min"], "wall")


def main() -> None:
    """Run all parts."""
    parts = (
        bench_first_use.timings(1, bench_first_use.SOME),
        by_pytest(),
        bench_alternatives.timings(),
        bench_trees.timings(),
        bench_limits.timings(),
    )
    report("bench", list(chain(*parts)))


if __name__ == "__main__":
    main()
