"""What has been run: runs."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.shell import BadInputError, DigitsOption, JsonOption, emit, refusing, table
from hogeq.rules import ALIASES, EDITIONS
from hogeq.support.messages import nearest, one_line, refusal
from hogeq.support.numbers import DIGITS, percent

if TYPE_CHECKING:
    from hogeq.runs.index import RunRecord

_COLUMNS = {
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


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(runs)


def runs(
    root: Annotated[
        Path, typer.Argument(metavar="[ROOT]", help="Folder to look in, and in those below.")
    ] = Path("results"),
    solver: Annotated[str | None, typer.Option(help="Only this solver's runs.")] = None,
    edition: Annotated[
        str | None, typer.Option(help="Only runs of this edition, changed or not.")
    ] = None,
    status: Annotated[
        str | None,
        typer.Option(help="Only complete, running, interrupted, failed or 'cut off' ones."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Only runs whose config says so: rules.goal=50"),
    ] = None,
    sort: Annotated[
        str, typer.Option(metavar="KEY", help="Sort by attack, bound, seconds, started, ...")
    ] = "path",
    descending: Annotated[bool, typer.Option("--descending", help="Highest first.")] = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="Show every config key in which these runs differ.")
    ] = False,
    digits: DigitsOption = DIGITS,
    as_json: JsonOption = False,
) -> None:
    """Run directories: list, filter, sort and compare them.

    Attack and bound are win rates against the average policy; of runs that look for a mixture, the
    attack on that is beside them. A run directory that cannot be read
    is named below the table, with the reason.
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
    lines = [_listed(chosen, root, keys, digits)] if chosen else [f"no runs to show under {root}"]
    if broken:
        lines += ["", "cannot be read:", *(f"  {one.path}: {one.why}" for one in broken)]
    emit(data, "\n".join(lines), as_json)


def _require_known(option: str, given: str | None, known: Collection[str]) -> None:
    if given is not None and given not in known:
        raise BadInputError(refusal(option, given, ", ".join(known), known))


def _pair(item: str) -> tuple[str, Any]:
    from hogeq.runs.overrides import parse_override

    with refusing():
        return parse_override(item, "--where")


def _listed(found: "list[RunRecord]", root: Path, keys: list[str], digits: int) -> str:
    rows = []
    mixed = any(run.mixture_attack is not None for run in found)
    columns = {key: title for key, title in _COLUMNS.items() if mixed or key != "mixture_attack"}
    for run in found:
        shown = {**{name: getattr(run, name) for name in columns}, "path": _below(run.path, root)}
        rows.append([_cell(name, value, digits) for name, value in shown.items()])
        rows[-1] += [one_line(run.config.get(key, " ")) for key in keys]
    return table(rows, [*columns.values(), *keys], left=4)


def _below(path: Path, root: Path) -> str:
    inside = path.relative_to(root)
    return str(inside) if inside.parts else str(path)


def _cell(name: str, value: object, digits: int) -> str:
    if value is None:
        return "-"
    if name == "seconds":
        return f"{value:.1f}"
    return percent(value, digits) if isinstance(value, float) else one_line(value)
