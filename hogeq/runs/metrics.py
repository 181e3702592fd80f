"""The lines of `metrics.csv`."""

import csv
import dataclasses
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from hogeq.runs.files import ResultsError, reported
from hogeq.support.files import read_whole
from hogeq.support.messages import one_line


@dataclasses.dataclass(frozen=True)
class Metrics:
    """One line of `metrics.csv`.

    Attributes
    ----------
    iteration : int
        Iterations done.
    seconds : float
        Seconds spent in the solver's iterations so far, without measuring and compiling kernels.
    attack, bound : float
        Win rate of the strongest counter-matrix found against the average policy, and of the
        responder with full memory: exploitability is between them, less 1/2.
    average_regret : float
        The solver's own figure; NaN where it has none.
    kkt_gap : float
        How far the average policy is from a stationary point of self-play.
    purified_attack : float
        Win rate of the strongest counter-matrix found against the purified average policy.
    mixture_attack, mixture_bound : float
        As `attack` and `bound`, of the mixture, the responder being told what was drawn; NaN if the
        solver looks for none.
    """

    iteration: int
    seconds: float
    attack: float
    bound: float
    average_regret: float
    kkt_gap: float
    purified_attack: float
    mixture_attack: float = math.nan
    mixture_bound: float = math.nan


MAX_BYTES: Final = 1 << 26
"""Size of the largest `metrics.csv` read: half a million lines."""

_ALL: Final = tuple(field.name for field in dataclasses.fields(Metrics))

COLUMNS: Final = _ALL[:-2]
"""Of every run."""

MIXTURE_COLUMNS: Final = _ALL
"""Of the runs of solvers that look for a mixture."""


def columns(metrics: Iterable[Metrics]) -> tuple[str, ...]:
    """Name the columns of the lines of one run."""
    return COLUMNS if all(math.isnan(row.mixture_attack) for row in metrics) else MIXTURE_COLUMNS


def table(metrics: Sequence[Metrics]) -> list[tuple[float, ...]]:
    """Give the lines of one run as numbers, in the order of its columns."""
    width = len(columns(metrics))
    return [dataclasses.astuple(row)[:width] for row in metrics]


def read_metrics(path: str | Path) -> list[Metrics]:
    """Read `metrics.csv`."""
    path = Path(path)
    with reported(path, "read"):
        try:
            text = read_whole(path, MAX_BYTES).decode()
            lines = list(csv.reader(text.splitlines()))
        except (UnicodeDecodeError, csv.Error) as error:
            raise ResultsError(f"{path}: not a table of metrics: {one_line(error)}") from error
    if not lines or tuple(lines[0]) not in (COLUMNS, MIXTURE_COLUMNS):
        raise ResultsError(f"{path}: line 1 must be {','.join(COLUMNS)}")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            values = [float(value) for _, value in zip(lines[0], line, strict=True)]
            rows.append(metrics_row(values))
        except (ValueError, OverflowError) as error:
            raise ResultsError(
                f"{path}: line {number} must be {len(lines[0])} numbers, the first whole"
            ) from error
    return rows


def metrics_row(row: Sequence[float]) -> Metrics:
    """Make a line of its numbers; `ValueError` or `OverflowError` if they are not such a line."""
    iteration, *others = row
    if iteration != int(iteration) or len(row) not in {len(COLUMNS), len(MIXTURE_COLUMNS)}:
        raise ValueError(row)
    return Metrics(int(iteration), *others)
