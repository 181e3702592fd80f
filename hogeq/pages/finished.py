"""Finished runs, read back from their directories."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hogeq.runs.config import Config, config_from, load_config
from hogeq.runs.files import (
    CONFIG,
    MANIFEST,
    MATRIX,
    METRICS,
    POLICY,
    ResultsError,
    config_in_manifest,
    readable_manifest,
    reported,
)
from hogeq.runs.metrics import Metrics, read_metrics
from hogeq.strategies.read import read_strategy


@dataclass(frozen=True)
class FinishedRun:
    """What a run directory holds."""

    name: str
    """Of its config; the directory's where several runs share one."""
    path: Path
    config: Config
    manifest: dict[str, Any]
    """As `manifest.json` has it; empty if that is missing."""
    metrics: tuple[Metrics, ...]
    """The lines of `metrics.csv`; none if that is missing."""
    policy: NDArray[np.float64]
    """(G, G, K)."""
    matrix: NDArray[np.int8]
    """(G, G)."""


def load(paths: Sequence[Path], trust: bool = False) -> list[FinishedRun]:
    """Read finished runs of one game."""
    runs = [_read(path, trust) for path in paths]
    first = runs[0]
    for run in runs[1:]:
        if not _same_game(run, first):
            raise ResultsError(
                f"{run.path} plays {run.config.rules.name} and {first.path} plays "
                f"{first.config.rules.name}; allowed on one page are runs of one game"
            )
    names = [run.name for run in runs]
    return [run if names.count(run.name) == 1 else replace(run, name=str(run.path)) for run in runs]


def _read(path: Path, trust: bool) -> FinishedRun:
    with reported(path, "read"):
        there = {entry.name for entry in path.iterdir()}
    for name in (POLICY, MATRIX):
        if name not in there:
            raise ResultsError(f"{path}: no {name} in it; allowed: directories of finished runs")
    manifest = readable_manifest(path)
    kept = config_in_manifest(path, manifest)
    if kept is not None:
        config = config_from(kept, f"{path / MANIFEST}: config")
    elif CONFIG in there:
        config = load_config(path / CONFIG, trust=trust)
    else:
        raise ResultsError(f"{path}: no {CONFIG} in it, nor a config in its manifest")
    goal, dice = config.rules.goal, config.rules.max_dice
    metrics = path / METRICS
    return FinishedRun(
        name=config.name,
        path=path,
        config=config,
        manifest=manifest,
        metrics=tuple(read_metrics(metrics)) if metrics.exists() else (),
        policy=read_strategy(path / POLICY, goal, dice).astype(np.float64),
        matrix=read_strategy(path / MATRIX, goal, dice).astype(np.int8),
    )


def _same_game(one: FinishedRun, two: FinishedRun) -> bool:
    rules = one.config.rules
    return replace(rules, name=two.config.rules.name) == two.config.rules
