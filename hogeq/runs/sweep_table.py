"""What came of a sweep: its table and its figure."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hogeq import figures
from hogeq.runs.errors import ResultsError, replacing, reported
from hogeq.runs.index import read_run
from hogeq.runs.sweep_file import Sweep, SweepPoint, point_labels, setting_text
from hogeq.support.yaml import ConfigError

TABLE: Final = "table.csv"

PARQUET: Final = "table.parquet"

FIGURE: Final = "summary.png"

FIGURE_COLUMNS: Final = ("iterations", "attack", "bound", "matrix_attack", "matrix_bound")

TIME_COLUMNS: Final = ("seconds", "elapsed")


def table_row(
    point: SweepPoint, keys: Sequence[str], folder: Path, error: str | None
) -> dict[str, Any]:
    """Make the line of a point: its settings, and what its run directory says came of it."""
    try:
        found = vars(read_run(folder / point.name, point.config.resolved()))
    except (ConfigError, ResultsError) as broken:
        found = {"status": "failed"}
        error = error or str(broken)
    return {
        "point": point.name,
        **{key: point.settings.get(key) for key in keys},
        "status": found["status"],
        "error": error,
        **{key: found.get(key) for key in (*FIGURE_COLUMNS, *TIME_COLUMNS)},
    }


def write_table(sweep: Sweep, rows: Sequence[Mapping[str, Any]], folder: Path) -> tuple[str, ...]:
    """Write a sweep's table as CSV and as Parquet, and draw its figure.

    Returns
    -------
    tuple of str
        What a user should know: that there is no Parquet file, and why; not again where there was
        a table without one.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows(
        [["" if cell is None else setting_text(cell) for cell in row.values()] for row in rows]
    )
    told = (folder / TABLE).exists() and not (folder / PARQUET).exists()
    with replacing(folder / TABLE) as temporary:
        temporary.write_text(text.getvalue(), encoding="utf-8")
    notes = _write_parquet(sweep, rows, folder / PARQUET)
    with reported(folder / FIGURE, "written"):
        _draw(sweep, rows, folder / FIGURE)
    return () if told else notes


def _write_parquet(sweep: Sweep, rows: Sequence[Mapping[str, Any]], path: Path) -> tuple[str, ...]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        path.unlink(missing_ok=True)  # an older one would not be of these rows
        return (f"no {path.name}: pyarrow is not installed; pip install pyarrow brings it",)
    kinds = {
        **dict.fromkeys(("point", "status", "error"), pa.string()),
        "iterations": pa.int64(),
        **dict.fromkeys((*FIGURE_COLUMNS[1:], *TIME_COLUMNS), pa.float64()),
    }
    columns = {}
    for name in rows[0]:
        cells = [row[name] for row in rows]
        if name in sweep.keys:
            columns[name] = pa.array(_uniform(cells))
        else:
            columns[name] = pa.array(cells, kinds[name])
    with replacing(path) as temporary:
        parquet.write_table(pa.table(columns), temporary)
    return ()


def _uniform(cells: Sequence[Any]) -> list[Any]:
    """Leave a column of numbers or of switches as it is, and write out every other."""
    known = [cell for cell in cells if cell is not None]
    numbers = all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in known)
    if numbers and any(isinstance(cell, float) for cell in known):
        return [cell if cell is None else float(cell) for cell in cells]
    if numbers or all(isinstance(cell, bool) for cell in known):
        return list(cells)
    return [cell if cell is None else setting_text(cell) for cell in cells]


def _draw(sweep: Sweep, rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw the interval of every setting, seeds of one setting in one line."""
    apart = [key for key in sweep.keys if key.rpartition(".")[2] != "seed"]
    labels = point_labels(apart)
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["attack"] is not None:
            about = ", ".join(
                row[key] if isinstance(row[key], str) else f"{labels[key]} {setting_text(row[key])}"
                for key in apart
            )
            lines.setdefault(about or "all seeds", []).append(row)
    if lines:
        figures.intervals(
            list(lines),
            [[row["attack"] for row in group] for group in lines.values()],
            [[row["bound"] for row in group] for group in lines.values()],
            path,
            sweep.name,
        )
