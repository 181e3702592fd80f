"""One experiment: run."""

import os
import traceback
from pathlib import Path
from typing import Annotated

import typer

from hogeq.cli.options import (
    JobsOption,
    OnOption,
    OverwriteOption,
    SetOption,
    TrustOption,
    argument,
    option,
)
from hogeq.cli.result import Result, digits
from hogeq.cli.shell import BadInputError, computing, warn
from hogeq.cli.startup import INTERRUPTED, leave_the_prompt


def run(
    config: Annotated[
        Path | None,
        argument("[CONFIG]", "YAML file: configs/cfr.yaml. [with --resume, that of the run]"),
    ] = None,
    overrides: SetOption = None,
    out_root: Annotated[Path, option("Where runs are kept.", metavar="DIR")] = Path("results"),
    resume: Annotated[
        Path | None, option("Continue the run in this directory.", metavar="DIR")
    ] = None,
    overwrite: OverwriteOption = False,
    trust: TrustOption = False,
    jobs: JobsOption = None,
    on: OnOption = None,
) -> Result:
    """One experiment: solve, measure, purify, export."""
    if resume is not None and overwrite:
        raise BadInputError(
            "--resume and --overwrite exclude each other: continue a run, or replace it"
        )
    if config is None and resume is None:
        raise BadInputError(
            "CONFIG: missing; allowed: a YAML file, or --resume DIR; see hogeq run --help"
        )
    config = config or Path(resume or "") / "config.yaml"
    from hogeq.runs.config import load_config
    from hogeq.runs.files import ResultsError, finite
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
        raise typer.Exit(warn(error, 1)) from error
    except KeyboardInterrupt as stop:
        leave_the_prompt()
        if isinstance(stop, Interrupted):
            raise typer.Exit(warn(stop, 128 + stop.signum)) from stop
        raise typer.Exit(warn("stopped before anything was written", INTERRUPTED)) from stop
    except (BadInputError, typer.Exit):
        raise
    except Exception as error:
        traceback.print_exc()  # hours of solving may lie behind it: do not ask for another run
        failure = f"internal failure: {type(error).__name__}: {error}"
        raise typer.Exit(warn(failure, 1)) from error
    return Result(finite(summary.to_json()), summary.lines(digits.get()))
