"""Many runs side by side: sweep."""

import signal
from pathlib import Path
from typing import Annotated

import typer

from hogeq.cli.options import (
    WORKERS,
    OverwriteOption,
    SetOption,
    TrustOption,
    argument,
    option,
)
from hogeq.cli.result import Result, Table, Text, percent
from hogeq.cli.shell import BadInputError, computing, refusing, warn
from hogeq.support.parameters import MOST_JOBS
from hogeq.support.progress import show_progress

FIGURES = ("attack", "bound", "matrix_attack", "seconds")


def sweep(
    config: Annotated[Path, argument("SWEEP", "YAML file: configs/sweep.yaml")],
    overrides: SetOption = None,
    on: Annotated[
        str,
        option(
            "Who computes: local (processes), or dask://HOST:PORT, a scheduler's workers.",
            group=WORKERS,
            metavar="WHERE",
        ),
    ] = "local",
    jobs: Annotated[
        int | None,
        option("Processes of this machine. [all cores]", group=WORKERS, min=1, max=MOST_JOBS),
    ] = None,
    trust: TrustOption = False,
    out_root: Annotated[Path, option("Where the sweep's folder is made.", metavar="DIR")] = Path(
        "results"
    ),
    overwrite: OverwriteOption = False,
) -> Result:
    """Many runs of one config with keys varied, side by side, and a table of what came of them.

    Points that are done are skipped and those that were cut off go on, so the same command may be
    given again. The status is 1 if a point failed; the others are computed all the same.
    """
    from hogeq.runs.files import ResultsError
    from hogeq.runs.signals import Interrupted
    from hogeq.runs.sweep import run_sweep
    from hogeq.runs.sweep_file import load_sweep
    from hogeq.support.yaml import ConfigError

    with refusing():
        plan = load_sweep(config, overrides or (), trust)
    try:
        with computing(on, jobs) as workers, show_progress():
            if not workers.width:
                warn(f"no workers at {on} yet; waiting for them")
            summary = run_sweep(plan, workers, out_root, overwrite=overwrite)
    except (ConfigError, ResultsError) as error:
        raise BadInputError(str(error)) from error
    except Interrupted as stop:
        name = signal.Signals(stop.signum).name
        warn(f"stopped by {name}; what is done is kept, and the same command goes on from it")
        raise typer.Exit(128 + stop.signum) from None
    for note in summary.notes:
        warn(f"note: {note}")
    for row in summary.failures:
        settings = ", ".join(f"{key}={row[key]}" for key in plan.keys if row[key] is not None)
        warn(f"point {row['point']} failed: {row['error']}; it sets {settings}")
    rows = [
        (row["point"], row["status"], *(_cell(key, row[key]) for key in FIGURES))
        for row in summary.rows
    ]
    header = ("point", "status", "attack", "bound", "matrix attack", "seconds")
    text: Text = [
        Table(rows, header, left=2),
        "",
        (
            f"{len(summary.rows)} points, {summary.done_before} of them done before, "
            f"{len(summary.failures)} failed; {summary.seconds:.1f} s"
        ),
        f"written to {summary.directory}",
    ]
    return Result(summary.to_json(), text, 1 if summary.failures else 0)


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if name == "seconds" else percent(value)
