"""The benchmark of imperfect recall: its instances, listed and written."""

from pathlib import Path
from typing import Annotated, Literal

from hogeq.cli.options import argument, option
from hogeq.cli.result import Result, Table
from hogeq.cli.shell import refusing
from hogeq.support.files import write_arrays
from hogeq.support.messages import BadInputError, refusal

KEEP = 12  # characters of a digest that are shown


def bench_games(
    what: Annotated[Literal["list", "write"], argument("list|write", "Which of both to do.")],
    folder: Annotated[
        Path | None, argument("[DIR]", "Where write puts one .npz file for each instance.")
    ] = None,
    only: Annotated[
        list[str] | None,
        option("Part of the names that are meant; may be given again.", "NAME", "--only"),
    ] = None,
) -> Result:
    """List the instances of the benchmark of imperfect recall, or write them as arrays.

    docs/benchmark.md describes the arrays.
    """
    from hogeq.benchmark.catalogue import catalogue

    entries = {
        name: entry
        for name, entry in catalogue().items()
        if not only or any(part in name for part in only)
    }
    if not entries:
        raise BadInputError(
            refusal("--only", only, "parts of names that `hogeq bench-games list` gives")
        )
    if what == "list":
        data = [
            {"name": one.name, "family": one.family, "about": one.about} for one in entries.values()
        ]
        return Result({"instances": data}, [Table([tuple(one.values()) for one in data], left=3)])
    if folder is None:
        raise BadInputError("write: no folder; allowed: bench-games write DIR")
    with refusing():
        folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name, entry in entries.items():
        with refusing():
            instance = entry.make()
        write_arrays(folder / f"{name}.npz", **instance._asdict())
        rows.append(
            {
                "name": name,
                "states": instance.states,
                "rows": instance.rows,
                "digest": instance.digest,
            }
        )
    text = [
        (row["name"], f"{row['states']:,}", f"{row['rows']:,}", str(row["digest"])[:KEEP])
        for row in rows
    ]
    header = ("instance", "states", "rows", "digest")
    return Result(
        {"out": folder, "instances": rows},
        [Table(text, header), "", f"{len(rows)} files written to {folder}"],
    )
