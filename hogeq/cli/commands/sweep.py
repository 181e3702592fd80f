"""Many runs side by side: sweep."""

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hogeq.cli.shell import (
    BadInputError,
    DigitsOption,
    JsonOption,
    TrustOption,
    computing,
    emit,
    refusing,
    say,
    table,
)
from hogeq.support.numbers import DIGITS, percent
from hogeq.support.parameters import MOST_JOBS
from hogeq.support.progress import show_progress

if TYPE_CHECKING:
    from hogeq.runs.sweep import SweepSummary

_SHOWN = ("attack", "bound", "matrix_attack", "seconds")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(sweep)


def sweep(
    config: Annotated[Path, typer.Argument(metavar="SWEEP", help="YAML file: configs/sweep.yaml")],
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set a key of the base config."),
    ] = None,
    on: Annotated[
        str,
        typer.Option(
            metavar="WHERE",
            help="Who computes: local (processes), or dask://HOST:PORT, a scheduler's workers.",
        ),
    ] = "local",
    jobs: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_JOBS, help="Processes of this machine. [all cores]"),
    ] = None,
    trust: TrustOption = False,
    out_root: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the sweep's folder is made.")
    ] = Path("results"),
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Do every point anew, whatever is there.")
    ] = False,
    digits: DigitsOption = DIGITS,
    as_json: JsonOption = False,
) -> None:
    """Many runs of one config with keys varied, side by side, and a table of what came of them.

    Points that are done are skipped and those that were cut off go on, so the same command may be
    given again. The status is 1 if a point failed; the others are computed all the same.
    """
    from hogeq.runs.errors import ResultsError
    from hogeq.runs.signals import Interrupted
    from hogeq.runs.sweep import run_sweep
    from hogeq.runs.sweep_file import load_sweep
    from hogeq.support.yaml import ConfigError

    with refusing():
        plan = load_sweep(config, overrides or (), trust)
    try:
        with (
            computing(on, jobs) as workers,
            show_progress(),
        ):
            if not workers.width:
                say(f"no workers at {on} yet; waiting for them", 0)
            summary = run_sweep(plan, workers, out_root, overwrite=overwrite)
    except (ConfigError, ResultsError) as error:
        raise BadInputError(str(error)) from error
    except Interrupted as stop:
        name = signal.Signals(stop.signum).name
        say(f"stopped by {name}; what is done is kept, and the same command goes on from it", 0)
        raise typer.Exit(128 + stop.signum) from None
    for note in summary.notes:
        say(f"note: {note}", 0)
    for row in summary.failures:
        settings = ", ".join(f"{key}={row[key]}" for key in plan.keys if row[key] is not None)
        say(f"point {row['point']} failed: {row['error']}; it sets {settings}", 1)
    emit(summary.to_json(), _told(summary, digits), as_json)
    if summary.failures:
        raise typer.Exit(1)


def _told(summary: "SweepSummary", digits: int) -> str:
    rows = [
        (row["point"], row["status"], *(_shown(key, row[key], digits) for key in _SHOWN))
        for row in summary.rows
    ]
    count = len(summary.rows)
    lines = [
        table(rows, ("point", "status", "attack", "bound", "matrix attack", "seconds"), left=2),
        "",
        (
            f"{count} points, {summary.done_before} of them done before, "
            f"{len(summary.failures)} failed; {summary.seconds:.1f} s"
        ),
        f"written to {summary.directory}",
    ]
    return "\n".join(lines)


def _shown(name: str, value: float | None, digits: int) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if name == "seconds" else percent(value, digits)
