"""Experiments: run one, sweep over many, and list runs."""

import os
import traceback
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import typer

from hogeq.cli import options
from hogeq.cli.options import WORKERS, argument, option, readable, without
from hogeq.cli.shell import Result, computing, warn
from hogeq.rules import ALIASES, EDITIONS
from hogeq.support.messages import (
    BadInputError,
    Text,
    nearest,
    one_line,
    refusal,
)


def run(
    config: Annotated[
        Path | None,
        argument(
            "CONFIG",
            "YAML file: configs/cfr.yaml. [with --resume, that of the run]",
            callback=readable,
        ),
    ] = None,
    overrides: options.Set = None,
    out_root: Annotated[Path, option("Where runs are kept.", "DIR"), without("--resume")] = Path(
        "results"
    ),
    resume: Annotated[Path | None, option("Continue the run in this directory.", "DIR")] = None,
    overwrite: options.Overwrite = False,
    game: options.Game = None,
    forget: options.Forget = None,
    teams: options.Teams = None,
    trust: options.Trust = False,
    jobs: options.Jobs = None,
    on: options.On = None,
    device: options.Device = None,
) -> Result:
    """One experiment: solve, measure, purify, export."""
    if config is None and resume is None:
        raise BadInputError(
            "CONFIG: missing; allowed: a YAML file, or --resume DIR; see hogeq run --help"
        )
    config = config or Path(resume or "") / "config.yaml"
    named = {"game": game, "forget": forget, "teams": teams, "device": device}
    chosen = [f"{key}={value}" for key, value in named.items() if value is not None]
    from hogeq.runs.config import load_config
    from hogeq.runs.files import finite
    from hogeq.runs.runner import RunError, run_experiment

    try:
        loaded = load_config(config, [*(overrides or ()), *chosen], trust)
        with computing(on, jobs):
            summary = run_experiment(loaded, out_root, resume, overwrite)
    except (BadInputError, typer.Exit):
        raise
    except Exception as error:
        is_internal = not isinstance(error, RunError)
        if is_internal or os.environ.get("HOGEQ_DEBUG"):
            traceback.print_exc()  # hours of solving may lie behind it: do not ask for another run
        what = f"internal failure: {type(error).__name__}: " if is_internal else ""
        raise typer.Exit(warn(f"{what}{error}", 1)) from error
    return Result(finite(summary.to_json()), summary.text())


def sweep(
    config: Annotated[Path, argument("SWEEP", "YAML file: configs/sweep.yaml", callback=readable)],
    overrides: options.Set = None,
    on: Annotated[
        str,
        option(
            "Workers: local (processes), or dask://HOST:PORT, those of a scheduler.",
            "WHERE",
            group=WORKERS,
        ),
    ] = "local",
    jobs: options.Jobs = None,
    trust: options.Trust = False,
    out_root: Annotated[Path, option("Where the sweep's folder is made.", "DIR")] = Path("results"),
    overwrite: options.Overwrite = False,
) -> Result:
    """Many runs of one config with keys varied, in parallel.

    A table of the results is written. Points that are done are skipped and those that were cut off
    go on, so the same command may be given again. The status is 1 if a point failed; the others
    are computed all the same.
    """
    from hogeq.runs.sweep import run_sweep
    from hogeq.runs.sweep_file import load_sweep

    plan = load_sweep(config, overrides or (), trust)
    with computing(on, jobs) as workers:
        if not workers.width:
            warn(f"no workers at {on} yet; waiting for them")
        summary = run_sweep(plan, workers, out_root, overwrite=overwrite)
    for row in summary.failures:
        settings = ", ".join(f"{key}={row[key]}" for key in plan.keys if row[key] is not None)
        warn(f"point {row['point']} failed: {row['error']}; it sets {settings}")
    return Result(summary.to_json(), summary.text(), 1 if summary.failures else 0)


def runs(
    root: Annotated[Path, argument("ROOT", "Folder to look in, and in those below.")] = Path(
        "results"
    ),
    solver: Annotated[str | None, option("Only this solver's runs.")] = None,
    edition: Annotated[str | None, option("Only runs of this edition, changed or not.")] = None,
    status: Annotated[
        str | None, option("Only complete, running, interrupted, failed or 'cut off' ones.")
    ] = None,
    where: Annotated[
        list[str] | None, option("Only runs with this in their configs: rules.goal=50", "KEY=VALUE")
    ] = None,
    sort: Annotated[str, option("Sort by attack, bound, seconds, started, ...", "KEY")] = "path",
    compare: Annotated[bool, option("Show the config keys that differ.", name="--compare")] = False,
) -> Result:
    """Run directories: list, filter, sort and compare them.

    Attack and bound are win rates against the average policy, elsewhere than in Hog payoffs; of
    runs that look for a mixture, the attack on that is beside them. A run directory that cannot be
    read is named below the table, with the reason.
    """
    from hogeq.runs import index
    from hogeq.runs.config import parse_override
    from hogeq.solvers import SOLVERS

    _require_known("--sort", sort, index.KEYS)
    _require_known("--status", status, index.STATUSES)
    _require_known("--solver", solver, SOLVERS)
    wanted = [parse_override(item, "--where") for item in where or ()]
    records, broken = index.find_runs(root)
    keys_there = {key for run in records for key in run.config}
    for key, _ in wanted if records else ():
        if key not in keys_there:
            allowed = f"a key of these runs' configs{nearest(key, keys_there)}"
            raise BadInputError(f"--where {one_line(key)}: no run has it; allowed: {allowed}")
    if edition is not None and not index.selected(records, edition=edition):
        _require_known("--edition", edition, [*EDITIONS, *ALIASES])
    chosen = index.selected(records, solver=solver, edition=edition, status=status, where=wanted)
    chosen = index.ordered(chosen, sort)
    keys = index.differing(chosen) if compare else []
    data = {
        "root": root,
        "runs": [run.to_json() for run in chosen],
        "differing": keys,
        "broken": [{"path": path, "why": why} for path, why in broken.items()],
    }
    text: Text = [f"no runs to show under {root}"]
    if chosen:
        text = [index.listing(chosen, root, keys)]
    if broken:
        text += ["", "cannot be read:", *(f"  {path}: {why}" for path, why in broken.items())]
    return Result(data, text)


def _require_known(name: str, given: str | None, known: Collection[str]) -> None:
    if given is not None and given not in known:
        raise BadInputError(refusal(name, given, ", ".join(known), known))
