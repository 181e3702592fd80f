"""A short run, and what it leaves."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hogeq.runs.config import Config, apply_overrides, config_from
from hogeq.runs.files import (
    CHECKPOINT,
    CONFIG,
    FINAL_STRATEGY,
    MANIFEST,
    MATRIX,
    METRICS,
    POLICY,
    read_metrics,
)

ROOT = Path(__file__).parents[2]
TREE: dict[str, Any] = {
    "name": "trial",
    "rules": {"edition": "su20", "goal": 10, "max_dice": 2},
    "solver": {"name": "cfr_plus", "iterations": 12},
    "measure": {"attack": {"starts": 1, "anneal_steps": 4, "kicks": 0}},
}


def trial(*overrides: str) -> Config:
    return config_from(apply_overrides(TREE, overrides))


def written(path: Path, *overrides: str) -> Path:
    file = path / "config.yaml"
    file.write_text(trial(*overrides).to_yaml())
    return file


quick = pytest.mark.usefixtures("plain_figures")


def numbers(path: Path) -> dict[str, Any]:
    """Everything in a run directory that must not depend on what happened on the way."""
    rows = [dataclasses.asdict(row) for row in read_metrics(path / METRICS)]
    with np.load(path / CHECKPOINT) as checkpoint:
        state = {
            name: checkpoint[name].tobytes()
            for name in checkpoint.files
            if name.startswith("state.")
        }
    manifest = json.loads((path / MANIFEST).read_text())
    return {
        "files": {file.name for file in path.iterdir()},
        "policy": (path / POLICY).read_bytes(),
        "matrix": (path / MATRIX).read_bytes(),
        "strategy": (path / FINAL_STRATEGY).read_bytes(),
        "config": (path / CONFIG).read_bytes(),
        "metrics": [repr({**row, "seconds": None}) for row in rows],
        "state": state,
        "figures": manifest["figures"],
        "status": manifest["status"],
    }


class Killed(BaseException):
    """Stands in for a death at a given moment."""
