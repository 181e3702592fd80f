"""A finished run, read from its folder."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hogeq.game import Game
from hogeq.runs.config import Config, load_config
from hogeq.runs.files import CONFIG, MATRIX, METRICS, MIXTURE, POLICY, read_manifest
from hogeq.runs.metrics import Metrics, read_metrics
from hogeq.strategies.strategy import Strategy


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """What the folder of a finished run holds.

    Attributes
    ----------
    folder : Path
    config : Config
    game : Game
    metrics : list of Metrics
        The lines of `metrics.csv`.
    policy, matrix : Strategy
        The solver's policy, and the matrix made of it.
    manifest : dict
        What `manifest.json` says: figures, versions, times.
    mixture : Strategy or None
        Of solvers that look for one.
    """

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
        return f"Run({self.config.name}; {self.game.rules.name}, {self.config.solver.name})"


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
    config = load_config(path / CONFIG, trust=trust)
    game = Game(config.rules)
    mixture = path / MIXTURE
    return Run(
        path,
        config,
        game,
        read_metrics(path / METRICS),
        game.strategy(path / POLICY),
        game.strategy(path / MATRIX),
        read_manifest(path),
        game.strategy(mixture) if mixture.exists() else None,
    )
