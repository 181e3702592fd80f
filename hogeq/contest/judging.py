"""Entries judged: a fault of one stops no other, and files of a folder are of others.

A file in a folder of submissions is copied without links into a folder of its own, and the copy is
judged: code sees the files beside it in its student's folder, and nobody else's.
"""

import errno
import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple

import numpy as np

from hogeq import Fault, Hog, Strategy, StrategyError, Submission
from hogeq.contest.folders import Entrant, contents, is_builtin
from hogeq.contest.submission import inspect_submission
from hogeq.support.kinds import is_folder
from hogeq.support.messages import LONGEST_NAME, one_line, printable, raised, shown
from hogeq.support.workers import compute

LONGEST_REMARK: Final = 500  # most characters of a remark
_OURS: Final = {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE}
"""Errors of copying that are of this machine, and no entry's."""

_LISTS: Final = ("asked", "files", "attempts")  # fields that are tuples of plain values


class Judged(NamedTuple):
    """An entry and its verdict."""

    entrant: Entrant
    submission: Submission

    @property
    def player(self) -> str | None:
        """Name of the player, as tables and pages write it."""
        name = self.submission.name
        return None if name is None else one_line(name, LONGEST_NAME)

    @property
    def name(self) -> str:
        """Name for staff: the player's, or else the student's."""
        return self.player or self.entrant.student

    @property
    def reason(self) -> str:
        """Why it is not valid, in a line; empty if it is."""
        faults = self.submission.faults
        more = f", and {len(faults) - 1} more that hogeq check lists" if len(faults) > 1 else ""
        return f"{faults[0].line}{more}" if faults else ""

    @property
    def remark(self) -> str:
        """Remark on the entry for the staff of a contest, one line; empty if there is none."""
        remarks = []
        if self.submission.draws:
            remarks.append("draws random numbers")
        if self.submission.files:
            remarks.append(f"reads other files: {', '.join(self.submission.files)}")
        if self.submission.attempts:
            remarks.append(f"tried in vain: {', '.join(self.submission.attempts)}")
        return one_line("; ".join(remarks), LONGEST_REMARK)


class Judge(NamedTuple):
    """The judge of entries, and its rights."""

    game: Hog
    trust: bool = False  # whether code is run
    time_limit: float = 60.0  # seconds for the code of each
    is_contest: bool = False  # whether entries have to be matrices, as a contest takes them

    def judge(
        self,
        entrants: Sequence[Entrant],
        progress: Callable[[], object] = int,
        *,
        skip_bad: bool = True,
    ) -> list[Judged]:
        """Judge entries, several at once: code last, and without `skip_bad` only if none is bad."""
        programs = [Path(one.name) for one in entrants if one.is_code and not one.folder]
        counts = Counter(program.parent for program in programs)
        crowded = {folder for folder, count in counts.items() if count > 1}
        found: dict[int, Submission] = {}  # by index of the entrant
        for runs in (False, True):
            is_turn = [(self.trust and entrant.is_code) == runs for entrant in entrants]
            indices = np.flatnonzero(is_turn).tolist()
            if runs and not skip_bad and any(one.faults for one in found.values()):
                break
            submissions = compute(
                partial(self._judged, crowded),
                [entrants[index] for index in indices],
                lambda _: progress(),
                local=True,
            )
            found |= zip(indices, submissions, strict=True)
        return [Judged(entrants[index], found[index]) for index in sorted(found)]

    def _judged(self, crowded: Iterable[Path], entrant: Entrant) -> Submission:
        """Judge an entry; `crowded` are folders of which several programs are named."""
        path = entrant.path
        folder = entrant.folder
        if folder is None and entrant.is_code and Path(path).parent in crowded:
            # The shell may have named them for a pattern: they do not see each other.
            folder = Path(path).parent
            path = PurePath(path.name)
        try:
            if entrant.fault:
                return refused(entrant.fault.removeprefix(f"{entrant.file}: "))
            if folder is not None:
                return self._judged_copy(folder, path, flat=len(path.parts) == 1)
            if is_builtin(entrant.name) or not entrant.name or is_folder(path):
                return _of(self.game.strategy(entrant.name))
            return self._inspected(Path(path))
        except StrategyError as error:
            line = str(error).removeprefix(f"{printable(path)}: ")
            return refused(line.removeprefix(f"strategy {shown(entrant.name)}: "))
        except Exception as error:  # one entry never stops the others
            if isinstance(error, OSError) and error.errno in _OURS:
                raise
            return refused(f"cannot be judged: {raised(error)}")

    def _inspected(self, path: Path) -> Submission:
        """Look at a file as `hogeq check` does; at a table, outside a contest, of any kind."""
        if self.is_contest or (self.trust and path.suffix.lower() == ".py"):
            rules = self.game.rules
            return inspect_submission(path, rules, self.trust, time_limit=self.time_limit)
        strategy = self.game.strategy(path)
        size = path.stat().st_size if path.is_file() else 0
        name = None if strategy.name == str(path) else strategy.name
        return replace(_of(strategy), size=size, name=name)

    def _judged_copy(self, folder: Path, path: PurePath, *, flat: bool) -> Submission:
        """Judge a copy of a file of a folder; `flat` if its neighbours belong to others."""
        alone = self._is_alone(path, flat=flat)
        files: list[tuple[PurePath, bytes]] = []
        with tempfile.TemporaryDirectory(
            prefix="hogeq-entry-", ignore_cleanup_errors=True
        ) as temporary:
            copy = Path(temporary).resolve()
            for name, content in contents(folder, path, alone=alone):
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                (copy / name).write_bytes(content)
                files.append((name, content))

            def relative(text: str) -> str:  # the folder of the copy is another each time
                text = text.replace(f"{copy}{os.sep}", "")
                return text.replace(printable(f"{copy}{os.sep}"), "")

            try:
                found = self._inspected(copy / path.name)
            except StrategyError as error:
                line = relative(str(error)).removeprefix(f"{printable(path.name)}: ")
                raise StrategyError(line) from error
        return replace(
            found,
            name=found.name and relative(found.name),
            faults=tuple(fault._replace(line=relative(fault.line)) for fault in found.faults),
            files=tuple(map(relative, found.files)),
            attempts=tuple(map(relative, found.attempts)),
            key=self._key(path, files),
        )

    def key_of(self, entrant: Entrant) -> str:
        """Hash all that a verdict depends on, as `Submission.key`; empty if it cannot be read."""
        if entrant.folder is None or entrant.fault:
            return ""
        alone = self._is_alone(entrant.path, flat=len(entrant.path.parts) == 1)
        try:
            return self._key(entrant.path, contents(entrant.folder, entrant.path, alone=alone))
        except StrategyError:
            return ""

    def _is_alone(self, path: PurePath, *, flat: bool) -> bool:
        return flat or not self.trust or path.suffix.lower() != ".py"

    def _key(self, path: PurePath, files: Iterable[tuple[PurePath, bytes]]) -> str:
        limit = self.time_limit if path.suffix.lower() == ".py" else None
        hashes = [(str(name), hashlib.sha256(content).hexdigest()) for name, content in files]
        return hashlib.sha256(repr((path.name, hashes, limit)).encode()).hexdigest()


def _of(strategy: Strategy) -> Submission:
    return Submission(0, None, strategy, (), {}, 0)


def refused(line: str) -> Submission:
    """Make the submission that was not looked at."""
    return Submission(0, None, None, (Fault("unread", 1, line),), {}, 0)


# --- submissions as plain values ------------------------------------------------------------------


def facts(submission: Submission) -> dict[str, Any]:
    """Give a submission as plain values, its table as two digits a cell."""
    strategy = submission.strategy
    table = None if strategy is None else strategy.dice.tobytes().hex()
    values = {**asdict(replace(submission, strategy=None)), "strategy": table}
    del values["is_code"]
    return values


def submission_from(values: dict[str, Any], game: Hog) -> Submission:
    """Make a submission of the values that `facts` gave."""
    strategy = None
    if values["strategy"] is not None:
        cells = np.frombuffer(bytes.fromhex(values["strategy"]), np.int8)
        strategy = game.strategy(cells.reshape(game.rules.size, -1))
    tuples = {key: tuple(values[key]) for key in _LISTS if values[key] is not None}
    faults = tuple(Fault(*fault) for fault in values["faults"])
    return Submission(**{**values, **tuples, "strategy": strategy, "faults": faults})
