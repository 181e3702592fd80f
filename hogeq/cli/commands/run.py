"""One experiment: run."""

import os
import traceback
from pathlib import Path
from typing import Annotated

import typer

from hogeq.cli.shell import (
    BadInputError,
    DigitsOption,
    JobsOption,
    JsonOption,
    OnOption,
    TrustOption,
    computing,
    emit,
    say,
)
from hogeq.cli.startup import INTERRUPTED
from hogeq.support.numbers import DIGITS


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(run)


def run(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="YAML file: configs/cfr.yaml")],
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set a key: solver.iterations=50"),
    ] = None,
    out_root: Annotated[Path, typer.Option(metavar="DIR", help="Where runs are kept.")] = Path(
        "results"
    ),
    resume: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Continue the run in this directory.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a run of the same name.")
    ] = False,
    trust: TrustOption = False,
    jobs: JobsOption = None,
    on: OnOption = None,
    digits: DigitsOption = DIGITS,
    as_json: JsonOption = False,
) -> None:
    """One experiment: solve, measure, purify, export."""
    if resume is not None and overwrite:
        raise BadInputError(
            "--resume and --overwrite exclude each other: continue a run, or replace it"
        )
    from hogeq.runs.config import load_config
    from hogeq.runs.errors import ResultsError
    from hogeq.runs.manifest import finite
    from hogeq.runs.runner import RunError, run_experiment
    from hogeq.runs.signals import Interrupted
    from hogeq.support.yaml import ConfigError

    try:
        loaded = load_config(config, overrides or (), trust)
        with computing(on, jobs):
            summary = run_experiment(loaded, out_root, resume, overwrite)
    except (ConfigError, ResultsError) as error:
        raise BadInputError(str(error)) from error
    except RunError as error:
        if os.environ.get("HOGEQ_DEBUG"):
            traceback.print_exc()
        raise typer.Exit(say(error, 1)) from error
    except Interrupted as stop:
        raise typer.Exit(say(stop, 128 + stop.signum)) from stop
    except KeyboardInterrupt as stop:
        raise typer.Exit(say("stopped before anything was written", INTERRUPTED)) from stop
    except (BadInputError, typer.Exit):
        raise
    except Exception as error:
        traceback.print_exc()  # hours of solving may lie behind it: do not ask for another run
        raise typer.Exit(say(f"internal failure: {type(error).__name__}: {error}", 1)) from error
    emit(finite(summary.to_json()), summary.told(digits), as_json)
