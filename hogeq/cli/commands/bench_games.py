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

DIGEST_LENGTH = 12  # characters of a digest that are shown
SECONDS = 5.0  # default time limit of a proof
MIN_GAP = 1e-6  # with a smaller gap a value counts as proved


class SolvedInstance(NamedTuple):
    """Value of the best strategy found in an instance, and an upper bound on all."""

    name: str
    value: float
    bound: float
    seconds: float

    @property
    def gap(self) -> float:
        """Difference of bound and value."""
        return self.bound - self.value

    @property
    def row(self) -> tuple[str, ...]:
        """Row of the table."""
        gap = f"{self.gap:.1e}" if self.gap >= MIN_GAP else "0"
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
    from hogeq.benchmark.catalogue import Entry, catalogue, seeded

    if folder is not None and what != "write":
        raise BadInputError(f"{what}: got {folder}; allowed: a folder for write; --only chooses")
    entries = {
        name: entry
        for name, entry in (seeded() if seeds else catalogue()).items()
        if not only or any(part in name for part in only)
    }
    if not entries:
        command = "hogeq bench-games list --seeds" if seeds else "hogeq bench-games list"
        raise BadInputError(refusal("--only", only, f"parts of names that `{command}` gives"))
    if what == "list":
        listed = [entry[:3] for entry in entries.values()]  # name, family and a line about it
        instances = [dict(zip(Entry._fields, texts, strict=False)) for texts in listed]
        return Result({"instances": instances}, [Table(listed, left=3)])
    if what == "run":
        are_hog = {entry.family == "hog" for entry in entries.values()}
        if kicks is not None and True not in are_hog:
            raise BadInputError("--kicks: allowed for instances of Hog; --only chose none")
        if seconds is not None and False not in are_hog:
            raise BadInputError("--seconds: allowed for instances of game trees; --only chose none")
        return _solve_instances(
            list(entries.values()),
            Budget.kicks if kicks is None else kicks,
            SECONDS if seconds is None else seconds,
        )
    if folder is None:
        raise BadInputError("write: no folder; allowed: bench-games write DIR")
    return _write_instances(folder, list(entries.values()))


def _write_instances(folder: Path, entries: "list[Entry]") -> Result:
    """Write the arrays of instances to a folder, a file each."""
    from hogeq.benchmark.catalogue import write_instance

    with refusing():
        folder.mkdir(parents=True, exist_ok=True)
        files = [write_instance(folder, entry) for entry in entries]
    rows = [
        (file.name, f"{file.states:,}", f"{file.rows:,}", file.digest[:DIGEST_LENGTH])
        for file in files
    ]
    table = Table(rows, ("instance", "states", "rows", "digest"))
    last_line = f"{len(files)} files written to {folder}"
    return Result({"out": folder, "instances": as_dicts(files)}, [table, "", last_line])


def _solve_instances(entries: "list[Entry]", kicks: int, seconds: float) -> Result:
    """Solve instances, and lay out their values and bounds.

    `kicks` is the effort of the search in Hog, `seconds` the time limit of a proof in a game tree.
    """
    solved: list[SolvedInstance] = []
    with phase("instances", len(entries)) as progress, refusing():
        for entry in entries:
            progress.now(entry.name)
            start = perf_counter()
            value, bound = entry.solve(kicks, seconds)
            solved.append(SolvedInstance(entry.name, value, bound, perf_counter() - start))
            progress.step()
    rows = [instance.row for instance in solved]
    table = Table(rows, ("instance", "value", "bound", "gap", "seconds"))
    num_proved = sum(instance.gap < MIN_GAP for instance in solved)
    last_line = f"{num_proved} of {len(solved)} proved: no strategy has more"
    data = {"kicks": kicks, "seconds": seconds, "instances": as_dicts(solved)}
    return Result(data, [table, "", last_line])
