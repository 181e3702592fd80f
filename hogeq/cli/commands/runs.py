"""What has been run: runs."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli.options import argument, option
from hogeq.cli.result import Result, Table, Text, percent
from hogeq.cli.shell import BadInputError, refusing
from hogeq.rules import ALIASES, EDITIONS
from hogeq.support.messages import nearest, one_line, refusal

if TYPE_CHECKING:
    from hogeq.runs.index import RunRecord

COLUMNS = {
    "path": "run",
    "status": "status",
    "edition": "edition",
    "solver": "solver",
    "seed": "seed",
    "iterations": "iterations",
    "attack": "attack",
    "bound": "bound",
    "matrix_attack": "matrix attack",
    "mixture_attack": "mixture attack",
    "seconds": "seconds",
}


def runs(
    root: Annotated[Path, argument("[ROOT]", "Folder to look in, and in those below.")] = Path(
        "results"
    ),
    solver: Annotated[str | None, option("Only this solver's runs.")] = None,
    edition: Annotated[str | None, option("Only runs of this edition, changed or not.")] = None,
    status: Annotated[
        str | None, option("Only complete, running, interrupted, failed or 'cut off' ones.")
    ] = None,
    where: Annotated[
        list[str] | None,
        option("Only runs whose config says so: rules.goal=50", metavar="KEY=VALUE"),
    ] = None,
    sort: Annotated[
        str, option("Sort by attack, bound, seconds, started, ...", metavar="KEY")
    ] = "path",
    descending: Annotated[bool, option("Highest first.", "--descending")] = False,
    compare: Annotated[
        bool, option("Show every config key in which these runs differ.", "--compare")
    ] = False,
) -> Result:
    """Run directories: list, filter, sort and compare them.

    Attack and bound are win rates against the average policy; of runs that look for a mixture, the
    attack on that is beside them. A run directory that cannot be read is named below the table,
    with the reason.
    """
    from hogeq.runs import index

    _require_known("--sort", sort, index.KEYS)
    _require_known("--status", status, index.STATUSES)
    if solver is not None:
        from hogeq.solvers import SOLVERS

        _require_known("--solver", solver, SOLVERS)
    wanted = [_pair(item) for item in where or ()]
    with refusing():
        found, broken = index.find_runs(root)
    keys_there = {key for run in found for key in run.config}
    for key, _ in wanted if found else ():
        if key not in keys_there:
            allowed = f"a key of these runs' configs{nearest(key, keys_there)}"
            raise BadInputError(f"--where {one_line(key)}: no run has it; allowed: {allowed}")
    if edition is not None and not index.selected(found, edition=edition):
        _require_known("--edition", edition, [*EDITIONS, *ALIASES])
    chosen = index.selected(found, solver=solver, edition=edition, status=status, where=wanted)
    chosen = index.ordered(chosen, sort, descending=descending)
    keys = index.differing(chosen) if compare else []
    data = {
        "root": str(root),
        "runs": [run.to_json() for run in chosen],
        "differing": keys,
        "broken": [{"path": str(one.path), "why": one.why} for one in broken],
    }
    text: Text = [_table(chosen, root, keys) if chosen else f"no runs to show under {root}"]
    if broken:
        text += ["", "cannot be read:", *(f"  {one.path}: {one.why}" for one in broken)]
    return Result(data, text)


def _require_known(name: str, given: str | None, known: Collection[str]) -> None:
    if given is not None and given not in known:
        raise BadInputError(refusal(name, given, ", ".join(known), known))


def _pair(item: str) -> tuple[str, Any]:
    from hogeq.runs.config import parse_override

    with refusing():
        return parse_override(item, "--where")


def _table(found: "Sequence[RunRecord]", root: Path, keys: Sequence[str]) -> Table:
    mixed = any(run.mixture_attack is not None for run in found)
    columns = {key: title for key, title in COLUMNS.items() if mixed or key != "mixture_attack"}
    rows = []
    for run in found:
        below = run.path.relative_to(root)
        path = below if below.parts else run.path
        cells = [_cell(name, path if name == "path" else getattr(run, name)) for name in columns]
        rows.append([*cells, *(one_line(run.config.get(key, " ")) for key in keys)])
    return Table(rows, [*columns.values(), *keys], left=4)


def _cell(name: str, value: object) -> str:
    if value is None:
        return "-"
    if name == "seconds":
        return f"{value:.1f}"
    return percent(value) if isinstance(value, float) else one_line(value)
