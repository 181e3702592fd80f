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
from typing import Any, Final, NamedTuple

import numpy as np

from hogeq import __version__
from hogeq.contest.entries import in_order, is_strategy_file, submitted
from hogeq.contest.submission import Submission, inspect_submission
from hogeq.contest.tournament import check_rates, round_robin
from hogeq.model.game import HogEngine
from hogeq.rules import Rules
from hogeq.strategies.arrays import StrategyError, check_matrix
from hogeq.strategies.files import MAX_BYTES, is_folder
from hogeq.strategies.sandbox import Fault
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.files import parse_json, read_whole, write_whole
from hogeq.support.messages import printable
from hogeq.support.parameters import plain
from hogeq.support.progress import phase
from hogeq.support.workers import compute

CACHE: Final = "cache.json"
"""What is known of earlier calls; without it everything is computed again."""


class Entrant(NamedTuple):
    """One student's submission."""

    student: str
    """Name of the folder, or of the file; printable."""
    path: Path
    file: str
    """The file as it lies in the folder, printable."""
    earlier: tuple[str, ...]
    """Files of the same student that do not count."""


class Judged(NamedTuple):
    """A submission and what a contest would say of it."""

    entrant: Entrant
    submission: Submission

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
    """Submissions of a folder, with what earlier calls have found out.

    `judge` and `play` compute what is new alone, and `keep` writes all that is known.
    """

    def __init__(self, game: HogEngine, out: Path, start: tuple[int, int] = (0, 0)) -> None:
        self.game, self.start = game, start
        self.out = out
        self.made_by = {"version": __version__, "rules": plain(game.rules), "start": list(start)}
        salt, known = _read_cache(out / CACHE, self.made_by, game)
        self.salt = salt or secrets.token_hex(16)
        self.files: dict[str, dict[str, Any]] = known.get("files", {})
        self.tables: list[str] = known.get("tables", [])
        self.rates: list[list[float]] = known.get("rates", [])

    def judge(self, entrants: Sequence[Entrant], trust: bool, time_limit: float) -> list[Judged]:
        """Look at every submission as `hogeq check` does; at one that is known, not again."""
        keys = [_key(one.path) for one in entrants]
        new = [number for number, key in enumerate(keys) if key not in self.files]
        look = partial(_inspect, self.game.rules, trust, time_limit)
        paths = [entrants[number].path for number in new]
        with phase("reading", len(entrants), "files") as progress:
            progress.step(len(entrants) - len(new))
            found = compute(look, paths, lambda _: progress.step(), local=True)
        inspected = dict(zip(new, found, strict=True))
        judged = []
        for number, (entrant, key) in enumerate(zip(entrants, keys, strict=True)):
            submission = inspected.get(number) or _known(self.files[key], self.game)
            one = Judged(entrant, submission)
            # What other files say may change, and so may a machine that was slow.
            kinds = {fault.kind for fault in submission.faults}
            if key and not submission.files and kinds.isdisjoint({"time", "unread"}):
                self.files[key] = one.facts()
            judged.append(one)
        return judged

    def play(self, tables: Sequence[Matrix], goals: Sequence[int] | None = None) -> Floats:
        """Exact win rates (n, n) of all tables; of pairs that are known, not again."""
        ends = [self.game.goal] * len(tables) if goals is None else goals
        keys = [
            _hash(table.tobytes() + b"%d" % end) for table, end in zip(tables, ends, strict=True)
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

    def pseudonyms(self, entrants: Sequence[Entrant]) -> list[str]:
        """Names that tell nobody who they are, the same in every call for this folder."""
        names: list[str] = []
        for one in entrants:
            code = _hash(f"{self.salt} {one.student}".encode())
            digits = next(size for size in range(4, 64) if f"Hog {code[:size]}" not in names)
            names.append(f"Hog {code[:digits]}")
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
