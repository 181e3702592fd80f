"""The entries of a field: from names, folders and patterns, hundreds of files, to tables."""

import csv
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from glob import has_magic, iglob
from itertools import chain, islice
from pathlib import Path
from typing import Final, NamedTuple

from hogeq.baselines.registry import find_strategy, is_builtin
from hogeq.contest.submission import inspect_submission
from hogeq.model.game import HogEngine
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.files import IN_FOLDER, PICKLES, SUFFIXES, is_folder
from hogeq.strategies.strategy import Strategy, strategy_of
from hogeq.support.messages import printable, refusal
from hogeq.support.workers import compute
from hogeq.support.yaml import read_text

MOST_MATCHES: Final = 10_000
"""Most files that a pattern may stand for: nobody waits until a whole disk is listed."""

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


class Entries(NamedTuple):
    """Entries that were read."""

    entries: list[str]  # as they were named, files of a folder by their paths
    player_names: list[str | None]
    """What they call their players, printable; None if they do not say."""
    strategies: list[Strategy]
    refused: list[Refused]

    @property
    def names(self) -> list[str]:
        """Names for tables and pictures: the player's, else the file's; never two the same."""
        files = short_names(self.entries)
        names = [name or file for name, file in zip(self.player_names, files, strict=True)]
        times = Counter(names)
        return [
            name if times[name] == 1 or name == file else f"{name} ({file})"
            for name, file in zip(names, files, strict=True)
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
            folder = _is_folder(Path(place))
            left_out = written if matched or folder else ()
            for entry in _entries_in(Path(place)) if folder else [place]:
                file = os.path.realpath(entry)
                if file not in met and file not in left_out:
                    found.append(entry)
                    met.add(file)
    return found


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
        files = submitted(filter(is_strategy_file, path.iterdir())) if _is_folder(path) else [path]
        # Of several it is not clear which: the folder is refused when it is read.
        entries += [str(file) for file in (files if len(files) < 2 else [path])]
    if not entries:
        raise StrategyError(
            f"{printable(folder)}: holds no strategy file; allowed: names ending in "
            f"{', '.join(SUFFIXES)}"
        )
    return in_order(entries)


def is_strategy_file(path: Path) -> bool:
    """Whether a file in a folder has the name of a strategy."""
    return path.suffix.lower() in SUFFIXES + PICKLES and not path.name.startswith(".")


def submitted(files: Iterable[Path]) -> list[Path]:
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
) -> Entries:
    """Read all entries, as `named_entries` lists them, several at once.

    Code is run last, and only if nothing else was refused or `skip_bad`, each file for at most
    `time_limit` seconds. `progress` is called with the index of each entry that was read.
    """
    found: dict[int, _Strategy | Refused] = {}
    is_code = [trust and Path(entry).suffix.lower() == ".py" for entry in entries]
    for code in (False, True):
        indices = [index for index, one in enumerate(is_code) if one == code]
        if code and not skip_bad and any(isinstance(one, Refused) for one in found.values()):
            break
        read = compute(
            partial(_read, game, trust, time_limit),
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
    )


def _report(progress: Callable[[int], object], indices: Sequence[int], done: int) -> None:
    progress(indices[done])


def _read(game: HogEngine, trust: bool, time_limit: float, entry: str) -> _Strategy | Refused:
    path = Path(entry)
    try:
        if entry and _is_folder(path):  # an empty name is no folder
            return Refused(entry, f"{printable(path)}: {_UNCLEAR}")
        if trust and path.suffix.lower() == ".py":
            return _submitted(game, path, time_limit)
        return _Strategy(find_strategy(entry, game, trust, time_limit=time_limit), None)
    except StrategyError as error:
        return Refused(entry, str(error))


def _submitted(game: HogEngine, path: Path, time_limit: float) -> _Strategy | Refused:
    """Judge code as `hogeq check` does."""
    found = inspect_submission(path, game.rules, trust=True, time_limit=time_limit)
    if found.matrix is None:
        first, *others = found.faults
        more = f", and {len(others)} more that hogeq check lists" if others else ""
        return Refused(str(path), f"{printable(path)}: {first.line}{more}")
    return _Strategy(
        strategy_of(game, found.matrix), None if found.name is None else printable(found.name)
    )


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
