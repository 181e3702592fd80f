"""Short sweeps, and what they leave."""

import csv
import json
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from hogeq.model.game import compile_game
from hogeq.rules import rules_from
from hogeq.runs.files import CHECKPOINT, FILES, MANIFEST, METRICS
from hogeq.runs.sweep import FIGURE, TABLE, TIME_COLUMNS, SweepSummary, load_sweep, run_sweep
from hogeq.support.workers import Remote

ROOT = Path(__file__).parents[2]
BASE: dict[str, Any] = {
    "rules": {"edition": "su20", "goal": 8, "max_dice": 2},
    "solver": {"name": "cfr_plus", "iterations": 6},
    "measure": {"attack": {"starts": 1, "anneal_steps": 3, "kicks": 0}},
}
GRID: dict[str, Any] = {"rules.edition": ["su20", "fa22"], "seed": [0, 1]}
LONG = 1500  # iterations: enough to be killed in
ENDLESS = 100 * LONG  # on any machine
GAME = compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 3}))

# What must not depend on where, when and how often a run was begun.
KEPT = tuple(name for name in FILES if name not in {MANIFEST, METRICS, CHECKPOINT})


def written(folder: Path, **parts: Any) -> Path:
    path = folder / "sweep.yaml"
    path.write_text(yaml.safe_dump({"name": "trial", "base": BASE, **parts}))
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Everything a sweep leaves, apart from times."""
    with (folder / TABLE).open() as file:
        rows = [list(row.items()) for row in csv.DictReader(file)]
    found = {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for path in folder.glob("*/*")
        if path.name in KEPT
    }
    assert not list(folder.glob("**/.tmp*"))
    table = json.dumps([row[: -len(TIME_COLUMNS)] for row in rows]).encode()
    return {**found, "table": table, "figure": (folder / FIGURE).read_bytes()}


def manifest(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((path / MANIFEST).read_text())
    return found


def until(true: Callable[[], object], seconds: float = 60.0) -> None:
    limit = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.02)


def here(path: Path, root: Path, *overrides: str, **options: Any) -> SweepSummary:
    """Run a sweep in a thread of this process."""
    with ThreadPoolExecutor(1) as pool:
        return run_sweep(load_sweep(path, overrides), Remote(lambda: pool, 1), root, **options)


def spoken(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own code
        [sys.executable, "-m", "hogeq", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        text=True,
        **options,
    )
