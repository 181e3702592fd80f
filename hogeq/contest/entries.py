"""The entries of a field: from names, folders and patterns, hundreds of files, to tables."""

import csv
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from glob import has_magic, iglob
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import Final, NamedTuple, TypeVar

from hogeq.baselines.registry import find_strategy, is_builtin
from hogeq.contest.judging import copied, inspect_apart
from hogeq.contest.submission import Submission, inspect_submission
from hogeq.model.game import HogEngine
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.files import IN_FOLDER, LONGEST_NAME, PICKLES, SUFFIXES, is_folder
from hogeq.strategies.strategy import Strategy
from hogeq.support.messages import one_line, printable, raised, refusal
from hogeq.support.workers import compute
from hogeq.support.yaml import read_text

AnyPath = TypeVar("AnyPath", bound=PurePath)

MOST_MATCHES: Final = 10_000
"""Most files that a pattern may stand for: nobody waits until a whole disk is listed."""

LONGEST_REMARK: Final = 500  # most characters of a remark

SUBMISSION: Final = "final_strategy.py"
"""Name of a student's file, whatever else lies in the student's folder."""


_UNCLEAR: Final = (
    f"holds several strategy files; allowed in a folder of a folder: one, or one named {SUBMISSION}"
)


class Refused(NamedTuple):
    """An entry that is no strategy."""

    entry: str
    reason: str  # one line, which names it


class _Strategy(NamedTuple):
    """An entry that is one."""

    strategy: Strategy
    player_name: str | None
    remark: str  # for those who run the contest


class Remark(NamedTuple):
    """A remark on an entry that plays, for the staff of a contest."""

    entry: str
    remark: str


class Entries(NamedTuple):
    """Entries that were read."""

    entries: list[str]  # as they were named, files of a folder by their paths
    player_names: list[str | None]
    """What they call their players, printable; None if they do not say."""
    strategies: list[Strategy]
    refused: list[Refused]
    remarks: list[Remark]

    @property
    def names(self) -> list[str]:
        """Names for tables and pictures: the player's, else the file's; never two the same."""
        files = short_names(self.entries)
        names = [name or file for name, file in zip(self.player_names, files, strict=True)]
        longer = [f"{name} ({file})" for name, file in zip(names, files, strict=True)]
        # A player may be called what another would become.
        times = Counter([*names, *longer])
        return [
            name if times[name] == 1 or name == file else long
            for name, file, long in zip(names, files, longer, strict=True)
        ]

    @property
    def namesakes(self) -> list[list[int]]:
        """Groups of entries that call their players the same."""
        groups = _groups(self.player_names)
        return [group for group in groups if self.player_names[group[0]] is not None]


def named_entries(names: Iterable[str], unless: Iterable[Path] = ()) -> list[str]:
    """List the entries that names stand for: built-in strategies, files, folders and patterns.

    A folder stands for the strategy files in it, and for one in each of its folders; a run is one
    entry. Neither folder nor pattern stands for files in `unless`, which the caller writes. Files
    come in natural order, each once; a built-in strategy named twice is two.
    """
    found: list[str] = []
    links: list[str] = []
    written = {os.path.realpath(path) for path in unless}
    met: set[str] = set()
    for name in names:
        if is_builtin(name) or not name:  # an empty name is no folder: it is refused when read
            found.append(name)
            continue
        matched = has_magic(name) and not Path(name).exists()
        places = in_order(_matches(name)) if matched else [name]
        if not places:
            raise StrategyError(f"{printable(Path(name))}: matches no file")
        for place in places:
            folder = _is_folder(Path(place)) and not (matched and _is_linked(place, _base(name)))
            left_out = written if matched or folder else ()
            for entry in _entries_in(Path(place)) if folder else [place]:
                file = os.path.realpath(entry)
                if (matched or folder) and _is_linked(entry, _base(name)):
                    links.append(entry)
                    found.append(entry)
                elif file not in met and file not in left_out:
                    found.append(entry)
                    met.add(file)
    # A link is refused when it is read, unless the file that it leads to is an entry anyhow.
    return [one for one in found if one not in links or os.path.realpath(one) not in met]


def folder_of(entry: str, names: Iterable[str]) -> Path | None:
    """Give the folder among some names in which an entry was found; None if it is named itself."""
    path, bases = Path(entry), [_base(name) for name in names if not is_builtin(name)]
    around = [] if path in bases else [base for base in bases if path.is_relative_to(base)]
    return max(around, key=lambda base: len(base.parts), default=None)


def _base(name: str) -> Path:
    """Give the folder that a name stands for, or in which all files lie that a pattern matches."""
    path = Path(name)
    if not has_magic(name) or path.exists():
        return path
    plain = next(number for number, part in enumerate(path.parts) if has_magic(part))
    return Path(*path.parts[:plain])


def _is_linked(entry: str | Path, base: Path) -> bool:
    """Whether there is a link on the way to an entry from the folder in which it was found."""
    parts = PurePath(entry).relative_to(base).parts
    steps = (Path(base, *parts[:count]) for count in range(1, len(parts) + 1))
    return any(step.is_symlink() for step in steps)


def _matches(pattern: str) -> list[str]:
    found = list(islice(iglob(pattern, recursive=True), MOST_MATCHES + 1))  # noqa: PTH207
    if len(found) > MOST_MATCHES:
        raise StrategyError(
            f"{printable(Path(pattern))}: matches more than {MOST_MATCHES:,} files; allowed: "
            "patterns that match fewer"
        )
    return found


def _is_folder(path: Path) -> bool:
    """Whether a path is a folder of entries, not a run."""
    return is_folder(path) and not (
        (path / IN_FOLDER).exists() and (path / "manifest.json").exists()
    )


def _entries_in(folder: Path) -> list[str]:
    inside = list(folder.iterdir())
    entries = [str(path) for path in inside if is_strategy_file(path)]
    for path in inside:
        if not is_folder(path) or path.name.startswith("."):
            continue
        is_one = path.is_symlink() or not _is_folder(path)  # a link is refused when it is read
        files = [path] if is_one else submitted(filter(is_strategy_file, path.iterdir()))
        # Of several it is not clear which: the folder is refused when it is read.
        entries += [str(file) for file in (files if len(files) < 2 else [path])]
    if not entries:
        raise StrategyError(
            f"{printable(folder)}: holds no strategy file; allowed: names ending in "
            f"{', '.join(SUFFIXES)}"
        )
    return in_order(entries)


def is_strategy_file(path: PurePath) -> bool:
    """Whether a file in a folder has the name of a strategy."""
    return path.suffix.lower() in SUFFIXES + PICKLES and not path.name.startswith(".")


def submitted(files: Iterable[AnyPath]) -> list[AnyPath]:
    """Files of a student that may count: those named `SUBMISSION`, else all."""
    every = list(files)
    return [file for file in every if file.name == SUBMISSION] or every


def in_order(names: Iterable[str]) -> list[str]:
    """Sort names naturally: ``a2`` before ``a10``."""

    def key(name: str) -> list[tuple[int, str]]:
        return [
            (int(part), "") if part.isdecimal() and len(part) < 19 else (-1, part)
            for part in re.split(r"([0-9]+)", name)
        ]

    return sorted(names, key=lambda name: (key(name), name))


def read_field(
    game: HogEngine,
    entries: Sequence[str],
    trust: bool = False,
    progress: Callable[[int], object] = int,
    *,
    skip_bad: bool = True,
    time_limit: float = 60.0,
    named: Sequence[str] = (),
) -> Entries:
    """Read all entries, as `named_entries` lists them of those `named`, several at once.

    Files that are not named themselves are those of others: no link to them is followed, and code
    sees no more than its own folder. Code is run last, and only if nothing else was refused or
    `skip_bad`, each file for at most `time_limit` seconds. `progress` is called with the index of
    each entry that was read.
    """
    found: dict[int, _Strategy | Refused] = {}
    is_code = [trust and Path(entry).suffix.lower() == ".py" for entry in entries]
    for code in (False, True):
        indices = [index for index, one in enumerate(is_code) if one == code]
        if code and not skip_bad and any(isinstance(one, Refused) for one in found.values()):
            break
        read = compute(
            partial(_read, game, trust, time_limit, named or entries),
            [entries[index] for index in indices],
            partial(_report, progress, indices),
            local=True,
        )
        found |= zip(indices, read, strict=True)
    good = {index: one for index, one in sorted(found.items()) if isinstance(one, _Strategy)}
    return Entries(
        [entries[index] for index in good],
        [one.player_name for one in good.values()],
        [one.strategy for one in good.values()],
        [one for _, one in sorted(found.items()) if isinstance(one, Refused)],
        [Remark(entries[index], one.remark) for index, one in good.items() if one.remark],
    )


def _report(progress: Callable[[int], object], indices: Sequence[int], done: int) -> None:
    progress(indices[done])


def _read(
    game: HogEngine, trust: bool, time_limit: float, named: Sequence[str], entry: str
) -> _Strategy | Refused:
    try:
        folder, path = folder_of(entry, named), Path(entry)
        files = {one for one in map(Path, named) if one.suffix.lower() == ".py"}
        if path in files and len([one for one in files if one.parent == path.parent]) > 1:
            folder = folder or path.parent  # the shell may have named them, for a pattern
        return _strategy(game, trust, time_limit, entry, folder)
    except StrategyError as error:
        return Refused(entry, str(error))
    except Exception as error:  # noqa: BLE001 - one entry never stops the others
        return Refused(entry, f"{printable(Path(entry))}: cannot be judged: {raised(error)}")


def _strategy(
    game: HogEngine, trust: bool, time_limit: float, entry: str, folder: Path | None
) -> _Strategy:
    """Read an entry that is named, or that was found in a folder."""
    path = Path(entry)
    if folder is not None and any(_is_linked(one, folder) for one in (path, path / IN_FOLDER)):
        raise StrategyError(f"{printable(path)}: is a link; allowed: files and folders")
    if entry and _is_folder(path):  # an empty name is no folder
        raise StrategyError(f"{printable(path)}: {_UNCLEAR}")
    if trust and path.suffix.lower() == ".py":
        return _submitted(game, path, folder, time_limit)
    if folder is None or is_folder(path):
        return _Strategy(find_strategy(entry, game, trust, time_limit=time_limit), None, "")
    with copied(folder, path.relative_to(folder), alone=True) as copy:
        try:
            return _Strategy(find_strategy(str(copy), game), None, "")
        except StrategyError as error:
            raise StrategyError(str(error).replace(printable(copy), printable(path))) from None


def _submitted(game: HogEngine, path: Path, folder: Path | None, time_limit: float) -> _Strategy:
    """Judge code as `hogeq check` does."""
    if folder is None:
        found = inspect_submission(path, game.rules, trust=True, time_limit=time_limit)
    else:
        inside = path.relative_to(folder)
        flat = len(inside.parts) == 1
        found = inspect_apart(game, folder, inside, flat=flat, trust=True, time_limit=time_limit)
    if found.strategy is None:
        first, *others = found.faults
        more = f", and {len(others)} more that hogeq check lists" if others else ""
        raise StrategyError(f"{printable(path)}: {first.line}{more}")
    return _Strategy(found.strategy, player_name(found), remark_on(found))


def player_name(submission: Submission) -> str | None:
    """Give the name of a submission's player, as tables and pages write it."""
    return None if submission.name is None else one_line(submission.name, LONGEST_NAME)


def remark_on(submission: Submission) -> str:
    """Write the remark on a submission, one line; empty if there is none."""
    parts = ("reads other files", submission.files), ("tried in vain", submission.attempts)
    told = [f"{what}: {', '.join(files)}" for what, files in parts if files]
    return one_line("; ".join(told), LONGEST_REMARK)


def identical_entries(strategies: Sequence[Strategy]) -> list[list[int]]:
    """List the groups of two and more strategies that are the same, cell by cell."""
    return _groups([(one.kind, one.weights.tobytes(), one.array.tobytes()) for one in strategies])


def _groups(keys: Iterable[object]) -> list[list[int]]:
    groups: dict[object, list[int]] = {}
    for index, key in enumerate(keys):
        groups.setdefault(key, []).append(index)
    return [group for group in groups.values() if len(group) > 1]


def read_goals(path: Path | None, entries: Sequence[str], usual: int) -> list[int] | None:
    """Read a goal for each entry, `usual` where none is given; None without a file."""
    if path is None:
        return None
    lines = [[cell.strip() for cell in row] for row in csv.reader(read_text(path).splitlines())]
    goals: dict[str, int] = {}
    for number, row in enumerate(filter(any, lines), start=1):
        if number == 1 and row == ["entry", "goal"]:
            continue
        if len(row) != 2 or not re.fullmatch("[0-9]{1,4}", row[1]) or row[0] in goals:
            allowed = "entry,goal: each entry once, and a whole number"
            raise StrategyError(refusal(f"{printable(path)}: line {number}", row, allowed))
        goals[row[0]] = int(row[1])
    names = list(zip(entries, short_names(entries), strict=True))
    unknown = goals.keys() - set(chain(*names))
    if unknown:
        allowed = f"the entries: {', '.join(file for _, file in names)}"
        raise StrategyError(refusal(f"{printable(path)}: entry", min(unknown), allowed))
    return [goals.get(entry, goals.get(file, usual)) for entry, file in names]


def short_names(entries: Sequence[str]) -> list[str]:
    """Give files and built-ins as tables name them: from the folder on that all files lie in."""
    files = {entry: Path(entry).absolute() for entry in entries if not is_builtin(entry)}
    if not files:
        return list(entries)
    above = os.path.commonpath([file.parent for file in files.values()])
    return [
        printable(files[entry].relative_to(above)) if entry in files else entry for entry in entries
    ]
