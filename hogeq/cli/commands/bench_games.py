"""The benchmark of imperfect recall: its instances, listed, written and solved."""

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from hogeq import Budget
from hogeq.cli.options import RUN, SEARCH, argument, option
from hogeq.cli.shell import Result, refusing
from hogeq.support.messages import BadInputError, Table, as_dicts, refusal
from hogeq.support.progress import phase

if TYPE_CHECKING:
    from hogeq.benchmark.catalogue import Entry

KEEP = 12  # characters of a digest that are shown
SECONDS = 5.0  # of a proof, where none are given
CLOSED = 1e-6  # smaller gaps are none


class Listed(NamedTuple):
    """An instance that can be made."""

    name: str
    family: str
    about: str


class Solved(NamedTuple):
    """A value that a strategy of an instance gets, and a bound that none exceeds."""

    name: str
    value: float
    bound: float
    seconds: float

    @property
    def gap(self) -> float:
        """How far apart both are."""
        return self.bound - self.value

    @property
    def row(self) -> tuple[str, ...]:
        """Its row of the table."""
        gap = f"{self.gap:.1e}" if self.gap >= CLOSED else "0"
        return self.name, f"{self.value:.7f}", f"{self.bound:.7f}", gap, f"{self.seconds:.1f}"


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
        option(f"Kicks of the search, in Hog. [{Budget.kicks}]", group=SEARCH, min=0),
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
    from hogeq.benchmark.catalogue import catalogue, seeded, write_instance

    if folder is not None and what != "write":
        raise BadInputError(f"{what}: got {folder}; allowed: a folder for write; --only chooses")
    entries = {
        name: entry
        for name, entry in (seeded() if seeds else catalogue()).items()
        if not only or any(part in name for part in only)
    }
    if not entries:
        listing = f"`hogeq bench-games list{' --seeds' * seeds}`"
        raise BadInputError(refusal("--only", only, f"parts of names that {listing} gives"))
    if what == "list":
        listed = [Listed(one.name, one.family, one.about) for one in entries.values()]
        return Result({"instances": as_dicts(listed)}, [Table(listed, left=3)])
    if what == "run":
        for name, given, of in (("--kicks", kicks, True), ("--seconds", seconds, False)):
            if given is not None and all((one.family == "hog") != of for one in entries.values()):
                kind = "Hog" if of else "game trees"
                raise BadInputError(f"{name}: allowed for instances of {kind}; --only chose none")
        return _run(
            list(entries.values()),
            Budget.kicks if kicks is None else kicks,
            SECONDS if seconds is None else seconds,
        )
    if folder is None:
        raise BadInputError("write: no folder; allowed: bench-games write DIR")
    with refusing():
        folder.mkdir(parents=True, exist_ok=True)
    with refusing():
        written = [write_instance(folder, entry) for entry in entries.values()]
    rows = [(one.name, f"{one.states:,}", f"{one.rows:,}", one.digest[:KEEP]) for one in written]
    table = Table(rows, ("instance", "states", "rows", "digest"))
    last = f"{len(written)} files written to {folder}"
    return Result({"out": folder, "instances": as_dicts(written)}, [table, "", last])


def _run(entries: "list[Entry]", kicks: int, seconds: float) -> Result:
    """Solve instances, and count those that are proved."""
    solved: list[Solved] = []
    with phase("instances", len(entries)) as progress, refusing():
        for entry in entries:
            progress.now(entry.name)
            began = perf_counter()
            value, bound = entry.solve(kicks, seconds)
            solved.append(Solved(entry.name, value, bound, perf_counter() - began))
            progress.step()
    table = Table([one.row for one in solved], ("instance", "value", "bound", "gap", "seconds"))
    closed = sum(one.gap < CLOSED for one in solved)
    proved = f"{closed} of {len(solved)} proved: no strategy has more"
    data = {"kicks": kicks, "seconds": seconds, "instances": as_dicts(solved)}
    return Result(data, [table, "", proved])
