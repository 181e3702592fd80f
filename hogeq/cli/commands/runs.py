"""Experiments: run one, sweep over many, and list runs."""

from pathlib import Path
from typing import Annotated

from hogeq.cli.options import (
    WORKERS,
    ComputeOn,
    Forget,
    GameName,
    Jobs,
    Overrides,
    Overwrite,
    Teams,
    Trust,
    argument,
    option,
    readable,
    without,
)
from hogeq.cli.shell import Result, computing, warn
from hogeq.support.messages import HogeqError, Text, indented, nearest, one_line, refusal, shown


def run(
    config: Annotated[
        Path | None,
        argument(
            "CONFIG",
            "YAML file: configs/cfr.yaml. [with --resume, that of the run]",
            callback=readable,
        ),
    ] = None,
    overrides: Overrides = None,
    out_root: Annotated[Path, option("Where runs are kept.", "DIR"), without("--resume")] = Path(
        "results"
    ),
    resume: Annotated[Path | None, option("Continue the run in this directory.", "DIR")] = None,
    overwrite: Overwrite = False,
    game_name: GameName = None,
    forget: Forget = None,
    teams: Teams = None,
    trust: Trust = False,
    jobs: Jobs = None,
    on: ComputeOn = None,
) -> Result:
    """One experiment: solve, measure, purify, export."""
    if config is None and resume is None:
        raise HogeqError(
            "CONFIG: missing; allowed: a YAML file, or --resume DIR; see hogeq run --help"
        )
    config = config or Path(resume or "") / "config.yaml"
    game_settings = {"game": game_name, "forget": forget, "teams": teams}
    game_overrides = [f"{key}={value}" for key, value in game_settings.items() if value is not None]
    from hogeq.runs.config import load_config
    from hogeq.runs.files import finite
    from hogeq.runs.runner import run_experiment

    loaded = load_config(config, [*(overrides or ()), *game_overrides], trust)
    with computing(on, jobs):
        summary = run_experiment(loaded, out_root, resume, overwrite)
    return Result(finite(summary.to_json()), summary.text())


def sweep(
    config: Annotated[Path, argument("SWEEP", "YAML file: configs/sweep.yaml", callback=readable)],
    overrides: Overrides = None,
    on: Annotated[
        str,
        option(
            "Workers: local (processes), or dask://HOST:PORT, those of a scheduler.",
            "WHERE",
            WORKERS,
        ),
    ] = "local",
    jobs: Jobs = None,
    trust: Trust = False,
    out_root: Annotated[Path, option("Where the sweep's folder is made.", "DIR")] = Path("results"),
    overwrite: Overwrite = False,
) -> Result:
    """Many runs of one config with keys varied, in parallel.

    A table of the results is written. Points that are done are skipped and those that were cut off
    go on, so the same command may be given again. The status is 1 if a point failed; the others
    are computed all the same.
    """
    from hogeq.runs.sweep import load_sweep, run_sweep

    plan = load_sweep(config, overrides or (), trust)
    with computing(on, jobs) as workers:
        if not workers.width:
            warn(f"no workers at {on} yet; waiting for them")
        summary = run_sweep(plan, workers, out_root, overwrite=overwrite)
    for row in summary.failures:
        values = row.to_json(plan.keys)
        settings = ", ".join(f"{key}={value}" for key, value in values.items() if value is not None)
        warn(f"point {row.point.name} failed: {row.error}; it sets {settings}")
    return Result(summary.to_json(), summary.text(), 1 if summary.failures else 0)


def runs(
    root: Annotated[Path, argument("ROOT", "Folder to look in, and in those below.")] = Path(
        "results"
    ),
    where: Annotated[
        list[str] | None,
        option("Only runs with this as a column or in their configs: solver=cfr", "KEY=VALUE"),
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

    if sort not in index.KEYS:
        raise HogeqError(refusal("--sort", sort, ", ".join(index.KEYS), index.KEYS))
    conditions = [parse_override(item, "--where") for item in where or ()]
    # The default folder is made by the first run, and may be missing; others must exist.
    is_missing = root == Path("results") and not root.exists()
    records, broken = ([], {}) if is_missing else index.find_runs(root)
    known_keys = {*index.KEYS, *(key for run in records for key in run.config)}
    for key, _ in conditions if records else ():
        if key not in known_keys:
            allowed = f"a key of these runs' configs{nearest(key, known_keys)}"
            raise HogeqError(f"--where {one_line(key)}: no run has it; allowed: {allowed}")
    chosen = index.sort_runs(index.select_runs(records, conditions), sort)
    keys = index.differing_keys(chosen) if compare else []
    data = {
        "root": root,
        "runs": [run.to_json() for run in chosen],
        "differing": keys,
        "broken": [{"path": path, "why": error} for path, error in broken.items()],
    }
    text: Text
    if chosen:
        text = [index.table_of_runs(chosen, root, keys)]
    elif records:
        text = [f"no runs to show under {root}"]
        for key, wanted in conditions:
            values = dict.fromkeys(shown((run.config | vars(run)).get(key)) for run in records)
            condition = f"--where {one_line(key)}={one_line(wanted)}"
            text += indented([f"{condition}: they have {one_line(', '.join(values))}"])
    else:
        text = [f"no runs under {root} yet; hogeq run CONFIG makes one"]
    if broken:
        problems = [f"{path}: {error}" for path, error in broken.items()]
        text += ["", "cannot be read:", *indented(problems)]
    return Result(data, text)
