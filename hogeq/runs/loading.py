"""Finished runs, read from their folders."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hogeq.game import Game
from hogeq.runs.config import Config, config_from, load_config
from hogeq.runs.files import (
    CONFIG,
    MANIFEST,
    MATRIX,
    METRICS,
    MIXTURE,
    POLICY,
    ResultsError,
    config_in_manifest,
    readable_manifest,
    reported,
)
from hogeq.runs.metrics import Metrics, read_metrics
from hogeq.strategies.strategy import Strategy


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """What the folder of a finished run holds.

    Attributes
    ----------
    name : str
        Of its config.
    folder : Path
    config : Config
    game : Game
    metrics : list of Metrics
        The lines of `metrics.csv`; none if that is missing.
    policy, matrix : Strategy
        The solver's policy, and the matrix made of it.
    manifest : dict
        What `manifest.json` says: figures, versions, times; empty if that is missing.
    mixture : Strategy or None
        Of solvers that look for one.
    """

    name: str
    folder: Path
    config: Config
    game: Game
    metrics: list[Metrics]
    policy: Strategy
    matrix: Strategy
    manifest: dict[str, Any]
    mixture: Strategy | None = None

    def __repr__(self) -> str:
        """Name the run."""
        return f"Run({self.name}; {self.game.rules.name}, {self.config.solver.name})"


def load_run(folder: str | os.PathLike[str], trust: bool = False) -> Run:
    """Read the folder of a finished run.

    Parameters
    ----------
    folder : path
    trust : bool
        Whether the code of the run's plugins may be run.

    Raises
    ------
    ConfigError, ResultsError, StrategyError
        One of its files cannot be read, or is not what a run writes.

    Examples
    --------
    >>> from pathlib import Path
    >>> import hogeq
    >>> _ = Path("short.yaml").write_text(
    ...     "{name: short, rules: {edition: fa22, goal: 10, max_dice: 2},"
    ...     " solver: {name: dcfr, iterations: 3}}",
    ...     "utf-8",
    ... )
    >>> summary = hogeq.run_experiment(hogeq.load_config("short.yaml"), quiet=True)
    >>> run = hogeq.load_run(summary.directory)
    >>> run.policy.kind, run.metrics[-1].iteration
    ('policy', 3)
    """
    path = Path(folder)
    with reported(path, "read"):
        there = {entry.name for entry in path.iterdir()}
    for name in (POLICY, MATRIX):
        if name not in there:
            raise ResultsError(f"{path}: no {name} in it; allowed: directories of finished runs")
    manifest = readable_manifest(path)
    champion = config_in_manifest(path, manifest)
    if champion is not None:
        config = config_from(champion, f"{path / MANIFEST}: config")
    elif CONFIG in there:
        config = load_config(path / CONFIG, trust=trust)
    else:
        raise ResultsError(f"{path}: no {CONFIG} in it, nor a config in its manifest")
    if config.game:
        raise ResultsError(f"{path}: plays {config.game}; allowed here: runs of Hog")
    game = Game(config.rules)
    return Run(
        config.name,
        path,
        config,
        game,
        read_metrics(path / METRICS) if METRICS in there else [],
        game.strategy(path / POLICY),
        game.strategy(path / MATRIX),
        manifest,
        game.strategy(path / MIXTURE) if MIXTURE in there else None,
    )


def load_runs(folders: Sequence[Path], trust: bool = False) -> list[Run]:
    """Read finished runs of one game; those that share a name are called by their folders."""
    runs = [load_run(folder, trust) for folder in folders]
    first = runs[0]
    for run in runs[1:]:
        rules = replace(run.game.rules, name=first.game.rules.name)
        if rules != first.game.rules:
            raise ResultsError(
                f"{run.folder} plays {run.game.rules.name} and {first.folder} plays "
                f"{first.game.rules.name}; allowed on one page are runs of one game"
            )
    names = [run.name for run in runs]
    return [
        run if names.count(run.name) == 1 else replace(run, name=str(run.folder)) for run in runs
    ]
