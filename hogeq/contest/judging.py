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

from hogeq import Fault, Hog, StrategyError, Submission
from hogeq.contest.folders import Entrant, is_builtin, read_with_neighbours
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
        """Judge entries, several at once, and return the verdicts in their order.

        Tables come before code. Without `skip_bad`, code is run only if no table is bad: otherwise
        it has no verdict. `progress` is called after each entry.
        """
        programs = [
            Path(entrant.name) for entrant in entrants if entrant.is_code and not entrant.folder
        ]
        programs_in = Counter(program.parent for program in programs)
        shared_folders = {folder for folder, count in programs_in.items() if count > 1}
        verdicts: dict[int, Submission] = {}  # by index of the entrant
        for is_code_pass in (False, True):
            is_in_pass = [(self.trust and entrant.is_code) == is_code_pass for entrant in entrants]
            indices = np.flatnonzero(is_in_pass).tolist()
            is_any_bad = any(submission.faults for submission in verdicts.values())
            if is_code_pass and not skip_bad and is_any_bad:
                break
            submissions = compute(
                partial(self._judge_entry, shared_folders),
                [entrants[index] for index in indices],
                lambda _: progress(),
                local=True,
            )
            verdicts |= zip(indices, submissions, strict=True)
        return [Judged(entrants[index], verdicts[index]) for index in sorted(verdicts)]

    def _judge_entry(self, shared_folders: Iterable[Path], entrant: Entrant) -> Submission:
        """Judge an entry; `shared_folders` are those in which several programs are entries.

        An error is a fault of this entry, unless it is of the machine.
        """
        path = entrant.path
        folder = entrant.folder
        if folder is None and entrant.is_code and Path(path).parent in shared_folders:
            # The shell may have named them for a pattern: they do not see each other.
            folder = Path(path).parent
            path = PurePath(path.name)
        try:
            if entrant.fault:
                return refused(entrant.fault.removeprefix(f"{entrant.file}: "))
            if folder is not None:
                return self._judge_copy(folder, path)
            if is_builtin(entrant.name) or not entrant.name or is_folder(path):
                return Submission(0, strategy=self.game.strategy(entrant.name))
            return self._inspect(Path(path))
        except StrategyError as error:
            line = str(error).removeprefix(f"{printable(path)}: ")
            return refused(line.removeprefix(f"strategy {shown(entrant.name)}: "))
        except Exception as error:  # one entry never stops the others
            if isinstance(error, OSError) and error.errno in _OURS:
                raise
            return refused(f"cannot be judged: {raised(error)}")

    def _inspect(self, path: Path) -> Submission:
        """Judge a file as a contest takes it; outside a contest also a policy or a mixture."""
        if self.is_contest or (self.trust and path.suffix.lower() == ".py"):
            rules = self.game.rules
            return inspect_submission(path, rules, self.trust, time_limit=self.time_limit)
        strategy = self.game.strategy(path)
        size = path.stat().st_size if path.is_file() else 0
        name = None if strategy.name == str(path) else strategy.name  # the path: it has no player
        return Submission(size, name, strategy)

    def _judge_copy(self, folder: Path, path: PurePath) -> Submission:
        """Judge a copy of a file of a folder, by its path there.

        The copy of a program has copies of its neighbours beside it. In all texts of the verdict
        the temporary folder of the copies is left out.
        """
        files: list[tuple[PurePath, bytes]] = []
        with tempfile.TemporaryDirectory(
            prefix="hogeq-entry-", ignore_cleanup_errors=True
        ) as temporary:
            copy = Path(temporary).resolve()
            for name, content in read_with_neighbours(folder, path, alone=self._is_alone(path)):
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                (copy / name).write_bytes(content)
                files.append((name, content))
            without_folder = partial(_leave_out_folder, f"{copy}{os.sep}")
            try:
                submission = self._inspect(copy / path.name)
            except StrategyError as error:
                line = without_folder(str(error)).removeprefix(f"{printable(path.name)}: ")
                raise StrategyError(line) from error
        return replace(
            submission,
            name=submission.name and without_folder(submission.name),
            faults=tuple(
                fault._replace(line=without_folder(fault.line)) for fault in submission.faults
            ),
            files=tuple(map(without_folder, submission.files)),
            attempts=tuple(map(without_folder, submission.attempts)),
            key=self._key(path, files),
        )

    def key_of(self, entrant: Entrant) -> str:
        """Hash all that a verdict depends on, as `Submission.key`; empty if it cannot be read."""
        if entrant.folder is None or entrant.fault:
            return ""
        path = entrant.path
        try:
            return self._key(
                path, read_with_neighbours(entrant.folder, path, alone=self._is_alone(path))
            )
        except StrategyError:
            return ""

    def _is_alone(self, path: PurePath) -> bool:
        """Whether a file of a folder is judged without its neighbours.

        A program that is run sees those in its student's folder. If it lies in none, its neighbours
        belong to others.
        """
        is_program = self.trust and path.suffix.lower() == ".py"
        return not is_program or len(path.parts) == 1

    def _key(self, path: PurePath, files: Iterable[tuple[PurePath, bytes]]) -> str:
        """Hash the name of a file, all `files` that it may see, and the time limit of code."""
        limit = self.time_limit if path.suffix.lower() == ".py" else None
        hashes = [(str(name), hashlib.sha256(content).hexdigest()) for name, content in files]
        return hashlib.sha256(repr((path.name, hashes, limit)).encode()).hexdigest()


def _leave_out_folder(folder: str, text: str) -> str:
    """Leave out a folder in a text, as it is called and as messages print it."""
    return text.replace(folder, "").replace(printable(folder), "")


def refused(line: str) -> Submission:
    """Make the submission of an entry that could not be read; `line` says why."""
    return Submission(0, faults=(Fault("unread", 1, line),))


# --- submissions as plain values ------------------------------------------------------------------


def to_json(submission: Submission) -> dict[str, Any]:
    """Return a submission as plain values, its table as two hexadecimal digits a cell."""
    strategy = submission.strategy
    table = None if strategy is None else strategy.dice.tobytes().hex()
    values = {**asdict(replace(submission, strategy=None)), "strategy": table}
    del values["is_code"]  # no verdict depends on it
    return values


def from_json(values: dict[str, Any], game: Hog) -> Submission:
    """Make a submission from the plain values of `to_json`."""
    strategy = None
    if values["strategy"] is not None:
        cells = np.frombuffer(bytes.fromhex(values["strategy"]), np.int8)
        strategy = game.strategy(cells.reshape(game.rules.size, -1))
    tuples = {key: tuple(values[key]) for key in _LISTS if values[key] is not None}
    faults = tuple(Fault(*fault) for fault in values["faults"])
    return Submission(**{**values, **tuples, "strategy": strategy, "faults": faults})
