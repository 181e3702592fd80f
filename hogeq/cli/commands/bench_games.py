"""The benchmark of imperfect recall: its instances, listed, written and solved."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import isinf
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import hogeq
from hogeq.cli.options import RUN, SEARCH, argument, option
from hogeq.cli.shell import Result, refusing
from hogeq.support.messages import HogeqError, Table, refusal, scientific
from hogeq.support.progress import phase

if TYPE_CHECKING:
    from hogeq.benchmark.catalogue import Entry

DIGEST_LENGTH = 12  # characters of a digest that are shown
SECONDS = 5.0  # default time limit of a proof
DIGIT = Decimal("1e-7")  # the last digit of a value that is written


def bench_games(
    what: Annotated[Literal["list", "write", "run"], argument("list|write|run", "The action.")],
    folder: Annotated[
        Path | None, argument("DIR", "Folder for write: one .npz file for each instance.")
    ] = None,
    only: Annotated[
        list[str] | None, option("Only names that contain this; may be given again.", "NAME")
    ] = None,
    seeds: Annotated[
        bool,
        option("Generated problems of ten open and ten held-out seeds instead.", name="--seeds"),
    ] = False,
    kicks: Annotated[
        int | None,
        option(f"Kicks of the search, in Hog. [{hogeq.Budget.kicks}]", group=SEARCH, min=0),
        RUN,
    ] = None,
    seconds: Annotated[
        float | None, option("Of each proof, in a game tree. [5]", group=SEARCH, min=0), RUN
    ] = None,
) -> Result:
    """List, write or solve instances of the recall benchmark.

    Write makes arrays, which docs/benchmark.md describes. Run searches for a best strategy of each,
    and bounds it: in Hog by an attack and a responder with full memory, in game trees by an
    integer program, in games of two players by mixtures of both.
    """
    from hogeq.benchmark.catalogue import Entry, catalogue, seeded

    if folder is not None and what != "write":
        raise HogeqError(f"{what}: got {folder}; allowed: a folder for write; --only chooses")
    entries = {
        name: entry
        for name, entry in (seeded() if seeds else catalogue()).items()
        if not only or any(part in name for part in only)
    }
    if not entries:
        command = "hogeq bench-games list --seeds" if seeds else "hogeq bench-games list"
        raise HogeqError(refusal("--only", only, f"parts of names that `{command}` gives"))
    if what == "list":
        listed = [entry[:3] for entry in entries.values()]  # name, family and a line about it
        instances = [dict(zip(Entry._fields, texts, strict=False)) for texts in listed]
        return Result({"instances": instances}, [Table(listed, left=3)])
    if what == "run":
        are_hog = {entry.family == "hog" for entry in entries.values()}
        if kicks is not None and True not in are_hog:
            raise HogeqError("--kicks: allowed for instances of Hog; --only chose none")
        if seconds is not None and False not in are_hog:
            raise HogeqError("--seconds: allowed for instances of game trees; --only chose none")
        return _solve_instances(
            list(entries.values()),
            hogeq.Budget.kicks if kicks is None else kicks,
            SECONDS if seconds is None else seconds,
        )
    if folder is None:
        raise HogeqError("write: no folder; allowed: bench-games write DIR")
    return _write_instances(folder, list(entries.values()))


def _write_instances(folder: Path, entries: "list[Entry]") -> Result:
    """Write the arrays of instances to a folder, a file each."""
    instances: list[dict[str, Any]] = []
    with refusing():
        folder.mkdir(parents=True, exist_ok=True)
        for entry in entries:
            graph = entry.make()
            graph.save(folder / f"{entry.name}.npz")
            sizes = {"states": graph.states, "rows": graph.rows}
            instances.append({"name": entry.name, **sizes, "digest": graph.digest})
    rows = [
        (file["name"], f"{file['states']:,}", f"{file['rows']:,}", file["digest"][:DIGEST_LENGTH])
        for file in instances
    ]
    table = Table(rows, ("instance", "states", "rows", "digest"))
    last_line = f"{len(instances)} files written to {folder}"
    return Result({"out": folder, "instances": instances}, [table, "", last_line])


def _solve_instances(entries: "list[Entry]", kicks: int, seconds: float) -> Result:
    """Solve instances, and lay out their values and bounds.

    `kicks` is the effort of the search in Hog, `seconds` the time limit of a proof in a game tree.
    """
    instances: list[dict[str, Any]] = []
    rows = []
    num_proved = 0
    with phase("instances", len(entries)) as progress:
        for entry in entries:
            progress.now(entry.name)
            start = perf_counter()
            value, bound, is_proved = entry.solve(kicks, seconds)
            time = perf_counter() - start
            instances.append({"name": entry.name, "value": value, "bound": bound, "seconds": time})
            num_proved += is_proved
            rows.append((entry.name, *interval_texts(value, bound), f"{time:.1f}"))
            progress.step()
    table = Table(rows, ("instance", "value", "bound", "gap", "seconds"))
    last_line = f"{num_proved} of {len(instances)} proved: no strategy has more"
    data = {"kicks": kicks, "seconds": seconds, "instances": instances}
    return Result(data, [table, "", last_line])


def interval_texts(value: float, bound: float) -> tuple[str, str, str]:
    """Write a value, an upper bound and their gap, rounded outward."""
    low = f"{Decimal(value).quantize(DIGIT, ROUND_FLOOR):f}"
    if isinf(bound):
        return low, "inf", "inf"
    high = f"{Decimal(bound).quantize(DIGIT, ROUND_CEILING):f}"
    gap = "0" if bound == value else scientific(max(bound - value, 0.0), 1, ROUND_CEILING)
    return low, high, gap
