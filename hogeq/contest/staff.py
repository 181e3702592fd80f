"""A contest as its staff runs it: a folder of submissions, judged once each and played once a pair.

A folder in the folder is one student's; a file in it is an entry of its own. Of a student's files
those called ``final_strategy.py`` count, or all strategy files where there is none, and of several
the last by name in natural order (``attempt10`` after ``attempt9``): a copy keeps its name, and not
its time. A name in a file gives nobody the right to replace another's entry.
"""

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import numpy as np

from hogeq import __version__
from hogeq.contest.entries import (
    Entries,
    Refused,
    in_order,
    is_strategy_file,
    read_goals,
    submitted,
)
from hogeq.contest.submission import Submission, inspect_submission
from hogeq.contest.tournament import check_rates, round_robin
from hogeq.model.game import HogEngine
from hogeq.rules import Rules
from hogeq.strategies.arrays import StrategyError, check_matrix
from hogeq.strategies.files import MAX_BYTES, is_folder
from hogeq.strategies.sandbox import Fault
from hogeq.strategies.strategy import strategy_of
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.files import parse_json, read_whole, write_whole
from hogeq.support.messages import BadInputError, printable
from hogeq.support.parameters import plain
from hogeq.support.progress import phase
from hogeq.support.workers import compute

CACHE: Final = "cache.json"
"""What is known of earlier calls; without it everything is computed again."""


class Entrant(NamedTuple):
    """One student's submission."""

    student: str  # name of the folder, or of the file; printable
    path: Path
    file: str  # the file as it lies in the folder, printable
    earlier: tuple[str, ...]  # files of the same student that do not count


class Judged(NamedTuple):
    """A submission and what a contest would say of it."""

    entrant: Entrant
    submission: Submission

    @property
    def name(self) -> str:
        """What a page calls it: the player, or else the student."""
        return printable(self.submission.name or self.entrant.student)

    @property
    def reason(self) -> str:
        """Why it is not valid, in a line; empty if it is."""
        faults = self.submission.faults
        more = f", and {len(faults) - 1} more on the page" if len(faults) > 1 else ""
        return f"{faults[0].line}{more}" if faults else ""

    def facts(self) -> dict[str, Any]:
        """Give the submission as plain values, its table as two digits a cell."""
        matrix = self.submission.matrix
        table = None if matrix is None else matrix.tobytes().hex()
        return {**asdict(self.submission), "matrix": table}


def entrants(folder: Path, out: Path) -> list[Entrant]:
    """List the submissions of a folder, by name; nothing below `out`, which the caller writes."""
    found = []
    for name in in_order(path.name for path in folder.iterdir()):
        path = folder / name
        if name.startswith((".", "__")) or path.resolve() == out.resolve():
            continue
        if is_folder(path):
            files = [file for file in path.rglob("*") if is_strategy_file(file)]
            counted = [file for file in files if not _is_hidden(file.relative_to(path))]
            in_turn = in_order(str(file.relative_to(folder)) for file in submitted(counted))
            if in_turn:
                shown = [printable(file) for file in in_turn]
                last = folder / in_turn[-1]
                found.append(Entrant(printable(name), last, shown[-1], tuple(shown[:-1])))
        elif is_strategy_file(path):
            found.append(Entrant(printable(name), path, printable(name), ()))
    return found


def _is_hidden(inside: Path) -> bool:
    return any(part.startswith((".", "__")) for part in inside.parts)


class Contest:
    """A folder of submissions, and what earlier calls have found out of it.

    `judge` and `play` compute what is new alone, and `keep` writes all that is known.
    """

    judged: list[Judged]

    def __init__(
        self,
        folder: Path,
        out: Path,
        game: HogEngine,
        start: tuple[int, int] = (0, 0),
        goals: Path | None = None,
    ) -> None:
        is_other = out.is_dir() and any(out.iterdir()) and not (out / CACHE).exists()
        if is_other or out.resolve() == folder.resolve():
            raise BadInputError(f"{out}: has other files; allowed: a new folder, or an earlier one")
        self.game, self.out, self.start = game, out, start
        self.entrants = entrants(folder, out)
        students = [one.student for one in self.entrants]
        own = read_goals(goals, students, game.goal)
        self.own_goals = {} if own is None else dict(zip(students, own, strict=True))
        (out / "entrants").mkdir(parents=True, exist_ok=True)
        self.made_by = {"version": __version__, "rules": plain(game.rules), "start": list(start)}
        salt, known = _read_cache(out / CACHE, self.made_by, game)
        self.salt = salt or secrets.token_hex(16)
        self.files: dict[str, dict[str, Any]] = known.get("files", {})
        self.tables: list[str] = known.get("tables", [])
        self.rates: list[list[float]] = known.get("rates", [])

    @property
    def valid(self) -> list[Judged]:
        """The submissions that play."""
        return [one for one in self.judged if one.submission.matrix is not None]

    @property
    def goals(self) -> list[int] | None:
        """Goals of the valid submissions, if each has its own."""
        if not self.own_goals:
            return None
        return [self.own_goals[one.entrant.student] for one in self.valid]

    def judge(self, trust: bool, time_limit: float) -> Entries:
        """Look at every submission as `hogeq check` does, unless it is known; give the valid."""
        keys = [_key(one.path) for one in self.entrants]
        new = [number for number, key in enumerate(keys) if key not in self.files]
        look = partial(_inspect, self.game.rules, trust, time_limit)
        paths = [self.entrants[number].path for number in new]
        with phase("reading", len(keys), "files") as progress:
            progress.step(len(keys) - len(new))
            found = compute(look, paths, lambda _: progress.step(), local=True)
        inspected = dict(zip(new, found, strict=True))
        self.judged = []
        for number, (entrant, key) in enumerate(zip(self.entrants, keys, strict=True)):
            submission = inspected.get(number) or _known(self.files[key], self.game)
            one = Judged(entrant, submission)
            # What other files say may change, and so may a machine that was slow.
            kinds = {fault.kind for fault in submission.faults}
            if key and not submission.files and kinds.isdisjoint({"time", "unread"}):
                self.files[key] = one.facts()
            self.judged.append(one)
        refused = [
            Refused(one.entrant.file, f"{one.entrant.file}: {one.reason}")
            for one in self.judged
            if one.submission.matrix is None
        ]
        if len(self.valid) < 2:
            told = "".join(f"; {one.reason}" for one in refused)
            raise BadInputError(
                f"tournament: {len(self.valid)} of {len(self.judged)} submissions are valid; "
                f"allowed: 2 or more{told}"
            )
        return Entries(
            [one.entrant.file for one in self.valid],
            [one.name for one in self.valid],
            [strategy_of(self.game, cast("Matrix", one.submission.matrix)) for one in self.valid],
            refused,
        )

    def play(self, field: Entries) -> Floats:
        """Exact win rates (n, n) of all tables; of pairs that are known, not again."""
        tables, goals = field.strategies, self.goals
        ends = goals or [self.game.goal] * len(tables)
        keys = [
            _hash(table.array.tobytes() + b"%d" % end)
            for table, end in zip(tables, ends, strict=True)
        ]
        known = self._known_rates(keys)
        unplayed = int(np.isnan(known).sum() - len(known)) // 2
        with phase("tournament", unplayed, "matches") as progress:
            rates = round_robin(self.game, tables, progress.step, known, self.start, goals)
        self.tables, self.rates = keys, rates.tolist()
        return rates

    def _known_rates(self, keys: Sequence[str]) -> Floats:
        before = {key: number for number, key in enumerate(self.tables)}
        known = np.full((len(keys), len(keys)), np.nan)
        new = [number for number, key in enumerate(keys) if key in before]
        if new:
            old = [before[keys[number]] for number in new]
            known[np.ix_(new, new)] = np.array(self.rates)[np.ix_(old, old)]
        np.fill_diagonal(known, np.nan)
        return known

    def public_names(self, pseudonyms: bool) -> list[str]:
        """Name the valid submissions: namesakes by numbers, since their files say who is who.

        Pseudonyms tell nobody who they are, and are the same in every call for this folder.
        """
        names: list[str] = []
        given = [one.name for one in self.valid]
        for number, one in enumerate(self.valid):
            before = given[:number].count(one.name)
            name = f"{one.name} ({before + 1})" if before else one.name
            if pseudonyms:
                code = _hash(f"{self.salt} {one.entrant.student}".encode())
                digits = next(size for size in range(4, 64) if f"Hog {code[:size]}" not in names)
                name = f"Hog {code[:digits]}"
            names.append(name)
        return names

    def keep(self) -> None:
        """Write what is known, for the next call."""
        known = {
            name: getattr(self, name) for name in ("made_by", "salt", "files", "tables", "rates")
        }
        write_whole(self.out / CACHE, json.dumps(known))


def _read_cache(path: Path, made_by: dict[str, Any], game: HogEngine) -> tuple[str, dict[str, Any]]:
    """Read the salt of an earlier call and, by the same rules and version, what it found."""
    salt = ""
    try:
        known = parse_json(read_whole(path, MAX_BYTES))
        salt = str(known["salt"])
        is_ours = known["made_by"] == made_by
        if is_ours:
            for fields in known["files"].values():
                _known(fields, game)
            check_rates(known["rates"])
        return salt, known if is_ours and len(known["rates"]) == len(known["tables"]) else {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return salt, {}


def _key(path: Path) -> str:
    try:
        return _hash(path.suffix.encode() + read_whole(path, MAX_BYTES))
    except (OSError, ValueError):
        return ""  # it will be refused when it is read


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _inspect(rules: Rules, trust: bool, time_limit: float, path: Path) -> Submission:
    try:
        return inspect_submission(path, rules, trust, time_limit=time_limit)
    except StrategyError as error:
        # Without the path: entrants read this.
        why = str(error).partition(": ")[2] or str(error)
        return Submission(0, None, None, (Fault("unread", 1, why),), {}, 0, None, (), None)


def _known(fields: dict[str, Any], game: HogEngine) -> Submission:
    cells, table, goal = fields["matrix"], None, game.goal
    if cells is not None:
        found = np.frombuffer(bytes.fromhex(cells), np.int8).reshape(goal, goal)
        table = check_matrix(found, goal, game.num_actions - 1)
    faults = tuple(Fault(*one) for one in fields["faults"])
    asked = None if fields["asked"] is None else tuple(fields["asked"])
    lists = {"matrix": table, "faults": faults, "asked": asked, "files": tuple(fields["files"])}
    return Submission(**{**fields, **lists})
