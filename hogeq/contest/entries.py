"""The entries of a field that were judged: tables, names and remarks."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from hogeq import Strategy, StrategyError
from hogeq.contest.folders import is_builtin
from hogeq.contest.judging import Judged
from hogeq.support.kinds import NEEDS_TRUST
from hogeq.support.messages import HogeqError, counted, printable, refusal, refusals_of
from hogeq.support.text import csv_rows
from hogeq.support.yaml import read_text


class Refused(NamedTuple):
    """An entry that is no strategy."""

    entry: str
    reason: str  # one line, which names it


class Remark(NamedTuple):
    """A remark on an entry that plays, for the staff of a contest."""

    entry: str
    remark: str


class Entries(NamedTuple):
    """Entries that were read."""

    entries: list[str]  # as they were named, files of a folder by their paths
    player_names: list[str | None]  # printable; None if they do not say
    strategies: list[Strategy]
    refused: list[Refused]
    remarks: list[Remark]

    @property
    def names(self) -> list[str]:
        """Names for tables and pictures: the player's, else the file's; never two the same."""
        files = short_names(self.entries)
        names = [name or file for name, file in zip(self.player_names, files, strict=True)]
        long_names = [f"{name} ({file})" for name, file in zip(names, files, strict=True)]
        # Long names count, too: a player may be called as the long name of another.
        counts = Counter([*names, *long_names])
        return [
            name if counts[name] == 1 or name == file else long_name
            for name, file, long_name in zip(names, files, long_names, strict=True)
        ]

    def require(self, skip_bad: bool = True) -> None:
        """Refuse a field of fewer than two entries; without `skip_bad`, one with any bad entry."""
        total = len(self.entries) + len(self.refused)
        if self.refused and not skip_bad:
            reasons = "; ".join(self.left_out)
            skip = "; --skip-bad leaves out what cannot be read" if total > 2 else ""
            raise HogeqError(f"{reasons}{skip}")
        if len(self.entries) < 2:
            valid = f"{len(self.entries)} of {total} entries {'is' if total == 1 else 'are'} valid"
            allowed = "allowed: 2 or more, and a file counts once"
            raise HogeqError("; ".join([f"tournament: {valid}", allowed, *self.left_out]))

    @property
    def left_out(self) -> list[str]:
        """Why entries are left out, a line each; one for all code that may not be run."""
        lines = [refused.reason for refused in self.refused]
        lines_of_code = [line for line in lines if line.endswith(NEEDS_TRUST)]
        if len(lines_of_code) < 2:
            return lines
        other_lines = [line for line in lines if line not in lines_of_code]
        return [*other_lines, f"{counted(len(lines_of_code), '.py file')}: {NEEDS_TRUST}"]

    @property
    def namesakes(self) -> list[list[int]]:
        """Groups of entries that call their players the same."""
        groups = _groups(self.player_names)
        return [group for group in groups if self.player_names[group[0]] is not None]


def entries_of(judged: Sequence[Judged], *, inside: bool = False) -> Entries:
    """Sort judged entries into valid and bad; with `inside` files are named within their folder."""
    entries = Entries([], [], [], [], [])
    for verdict in judged:
        name = verdict.entrant.file if inside else verdict.entrant.entry
        strategy = verdict.submission.strategy
        if verdict.submission.faults or strategy is None:
            entries.refused.append(Refused(name, f"{printable(name)}: {verdict.reason}"))
            continue
        entries.entries.append(name)
        entries.player_names.append(verdict.player)
        entries.strategies.append(strategy)
        if verdict.remark:
            entries.remarks.append(Remark(name, verdict.remark))
    return entries


def identical_entries(strategies: Sequence[Strategy]) -> list[list[int]]:
    """List the groups of two and more strategies that are the same, cell by cell."""
    return _groups(
        (strategy.kind, strategy.weights.tobytes(), strategy.array.tobytes())
        for strategy in strategies
    )


def _groups(keys: Iterable[object]) -> list[list[int]]:
    """List the groups of two and more indices whose keys are equal."""
    groups: dict[object, list[int]] = {}
    for index, key in enumerate(keys):
        groups.setdefault(key, []).append(index)
    return [group for group in groups.values() if len(group) > 1]


def read_goals(path: Path | None, entries: Sequence[str], usual: int) -> list[int] | None:
    """Read a goal for each entry from a CSV of entries and goals; None without a file.

    The file may name an entry in full or by its `short_names`. Other entries have the goal `usual`.
    """
    if path is None:
        return None
    goals: dict[str, int] = {}
    text = read_text(path)
    with refusals_of(printable(path), StrategyError):
        rows = [(number, [*map(str.strip, row)]) for number, row in csv_rows(text)]
    lines = [(number, row) for number, row in rows if any(row)]
    has_header = bool(lines) and lines[0][1] == ["entry", "goal"]
    for number, row in lines[1:] if has_header else lines:
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
    """Shorten the paths of files to those from their common folder; built-ins keep their names."""
    files = {entry: Path(entry).absolute() for entry in entries if not is_builtin(entry)}
    if not files:
        return list(entries)
    folder = os.path.commonpath([file.parent for file in files.values()])
    shortened = {entry: printable(file.relative_to(folder)) for entry, file in files.items()}
    return [shortened.get(entry, entry) for entry in entries]
