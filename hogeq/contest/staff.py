"""A contest as its staff runs it: a folder of submissions, judged once each and played once a pair.

A folder in the folder is one student's; a file in it is an entry of its own. Of a student's files
those called ``final_strategy.py`` count, or all strategy files where there is none, and of several
the last by name in natural order (``attempt10`` after ``attempt9``): a copy keeps its name, and not
its time. A name in a file gives nobody the right to replace another's entry. Links are followed
nowhere: a submission that has one is not valid.

The folder of a contest has two parts. ``public`` may go on a website, and ``staff`` may not.
"""

import hashlib
import json
import os
import re
import secrets
import stat
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import chain, count
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple, cast

import numpy as np

from hogeq import __version__
from hogeq.contest.entries import (
    Entries,
    Refused,
    Remark,
    in_order,
    is_strategy_file,
    player_name,
    read_goals,
    remark_on,
    submitted,
)
from hogeq.contest.judging import (
    check_kind,
    facts,
    files_within,
    inspect_apart,
    listed,
    refused,
    submission_from,
)
from hogeq.contest.submission import Submission
from hogeq.contest.tournament import ROUNDING, check_rates, round_robin
from hogeq.model.game import HogEngine
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.files import MAX_BYTES, SUFFIXES
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.files import TEMPORARY, parse_json, read_whole, write_whole
from hogeq.support.messages import BadInputError, printable
from hogeq.support.parameters import plain
from hogeq.support.plugins import loaded
from hogeq.support.progress import phase
from hogeq.support.workers import compute

PUBLIC: Final = "public"
"""The part of a contest's folder for everybody."""

STAFF: Final = "staff"
"""The part for those who run the contest."""

CACHE: Final = "cache.json"
"""What is known of earlier calls, in `STAFF`; without it everything is computed again."""

_NOT_KEPT: Final = {"crash", "time", "unread"}  # faults that another call may not find

_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
"""Letters that Python counts as printable and that show nothing."""

_HASHED: Final = 16  # digits in the name of a page


class Entrant(NamedTuple):
    """One student's submission."""

    student: str  # name of the folder, or of the file; printable
    path: PurePath  # of the file that counts, in the folder of submissions
    earlier: tuple[str, ...] = ()  # files of the same student that do not count
    fault: str = ""  # why there is nothing to judge

    @property
    def file(self) -> str:
        """The file as it lies in the folder, printable."""
        return printable(self.path)

    @property
    def is_flat(self) -> bool:
        """Whether it has no folder of its own."""
        return len(self.path.parts) == 1


class Judged(NamedTuple):
    """A submission and its verdict."""

    entrant: Entrant
    submission: Submission

    @property
    def name(self) -> str:
        """Name for staff: the player's, or else the student's."""
        return player_name(self.submission) or self.entrant.student

    @property
    def reason(self) -> str:
        """Why it is not valid, in a line; empty if it is."""
        faults = self.submission.faults
        more = f", and {len(faults) - 1} more on the staff's page" if len(faults) > 1 else ""
        return f"{faults[0].line}{more}" if faults else ""


def entrants(folder: Path, unless: Iterable[Path]) -> list[Entrant]:
    """List the submissions of a folder, by name; no file or folder `unless`, which are written."""
    written = [path.stat() for path in unless if path.exists()]

    def is_written(status: os.stat_result) -> bool:
        return any(os.path.samestat(status, one) for one in written)

    found = []
    statuses = dict(listed(folder, PurePath()))
    for name in in_order(statuses):
        status, path = statuses[name], PurePath(name)
        if name.startswith((".", "__")) or is_written(status):
            continue
        try:
            if stat.S_ISDIR(status.st_mode):
                found.append(_of_folder(folder, path, is_written))
                continue
            check_kind(path, status)
            if is_strategy_file(path):
                found.append(Entrant(printable(name), path))
        except StrategyError as error:
            found.append(Entrant(printable(name), path, fault=str(error)))
    return found


def _of_folder(
    folder: Path, path: PurePath, is_written: Callable[[os.stat_result], bool]
) -> Entrant:
    """Find the file that counts in a student's folder."""
    files = files_within(folder, path, is_written)
    counted = [one for one in files if is_strategy_file(one) and not one.name.startswith("__")]
    in_turn = in_order(str(one) for one in submitted(counted))
    if not in_turn:
        allowed = f"allowed: names ending in {', '.join(SUFFIXES)}"
        raise StrategyError(f"{printable(path)}: holds no strategy file; {allowed}")
    earlier = tuple(printable(one) for one in in_turn[:-1])
    return Entrant(printable(path), PurePath(in_turn[-1]), earlier)


class Contest:
    """A folder of submissions, and the verdicts of earlier calls.

    `judge` and `play` compute what is new alone, and `keep` writes all that is known. Nothing is
    written before.
    """

    judged: list[Judged]

    def __init__(
        self,
        folder: Path,
        out: Path,
        game: HogEngine,
        start: tuple[int, int] = (0, 0),
        goals: Path | None = None,
        unless: Iterable[Path] = (),
    ) -> None:
        _check_out(out, folder)
        self.game, self.folder, self.out, self.start = game, folder, out, start
        self.entrants = entrants(folder, (out, *unless))
        students = [one.student for one in self.entrants]
        own = read_goals(goals, students, game.goal)
        self.own_goals = {} if own is None else dict(zip(students, own, strict=True))
        self.made_by = {
            "version": __version__,
            "rules": plain(game.rules),
            "plugins": [plugin.sha256 for plugin in loaded()],  # whose parts the rules only name
            "start": list(start),
        }
        salt, known = _read_cache(out / STAFF / CACHE, self.made_by, game)
        self.salt = salt or secrets.token_hex(16)
        self.files: dict[str, dict[str, Any]] = known.get("files", {})
        self.tables: list[str] = known.get("tables", [])
        self.rates: list[list[float]] = known.get("rates", [])

    @property
    def has_code(self) -> bool:
        """Whether a submission may be a program."""
        return any(one.path.suffix.lower() == ".py" for one in self.entrants)

    @property
    def valid(self) -> list[Judged]:
        """The submissions that play."""
        return [one for one in self.judged if one.submission.strategy is not None]

    @property
    def goals(self) -> list[int] | None:
        """Goals of the valid submissions, if each has its own."""
        if not self.own_goals:
            return None
        return [self.own_goals[one.entrant.student] for one in self.valid]

    def judge(self, trust: bool, time_limit: float) -> Entries:
        """Look at every submission as `hogeq check` does, unless it is known; give the valid."""
        keys = [_key(self.folder, one.path, one.is_flat, time_limit) for one in self.entrants]
        known = self.files
        new = [number for number, key in enumerate(keys) if not key or key not in known]
        look = partial(_inspect, self.game, self.folder, trust, time_limit)
        with phase("reading", len(keys), "files") as progress:
            progress.step(len(keys) - len(new))
            unknown = [self.entrants[number] for number in new]
            found = compute(look, unknown, lambda _: progress.step(), local=True)
        inspected = dict(zip(new, found, strict=True))
        self.judged, self.files = [], {}
        for number, (entrant, key) in enumerate(zip(self.entrants, keys, strict=True)):
            # By what was judged: a file may change after it was looked up.
            submission, judged = inspected.get(number) or (
                submission_from(known[key], self.game),
                key,
            )
            # What other files say may change, and so may a machine that was slow or full.
            kinds = {fault.kind for fault in submission.faults}
            if judged and not submission.files and kinds.isdisjoint(_NOT_KEPT):
                self.files[judged] = facts(submission)
            self.judged.append(Judged(entrant, submission))
        left_out = [
            Refused(one.entrant.file, f"{one.entrant.file}: {one.reason}")
            for one in self.judged
            if one.submission.strategy is None
        ]
        if len(self.valid) < 2:
            told = "".join(f"; {one.reason}" for one in left_out)
            raise BadInputError(
                f"tournament: {len(self.valid)} of {len(self.judged)} submissions are valid; "
                f"allowed: 2 or more{told}"
            )
        return Entries(
            [one.entrant.file for one in self.valid],
            [one.name for one in self.valid],
            [cast("Strategy", one.submission.strategy) for one in self.valid],
            left_out,
            [
                Remark(one.entrant.file, remark)
                for one in self.judged
                if (remark := remark_on(one.submission))
            ],
        )

    def play(self, field: Entries) -> Floats:
        """Exact win rates (n, n) of all tables; of pairs that are known, not again."""
        tables, goals = field.strategies, self.goals
        ends = goals or [self.game.goal] * len(tables)
        plays = [
            table.array.tobytes() + b"%d" % end for table, end in zip(tables, ends, strict=True)
        ]
        # The same table twice is two entries, whose match is known as well.
        keys = [_hash(b"%d " % plays[:number].count(one) + one) for number, one in enumerate(plays)]
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
        """Name the valid submissions, never two the same: namesakes by numbers.

        Pseudonyms tell nobody who they are, and are the same in every call for this folder. Who
        gives no name has one too: those of files and folders are for staff.
        """
        names: dict[str, str] = {}  # by what looks the same
        for one in self.valid:
            given = player_name(one.submission) or ""
            hidden = pseudonyms or not _alike(given).strip()
            names |= [self._pseudonym(one, names) if hidden else _numbered(given, names)]
        return [*names.values()]

    def _pseudonym(self, one: Judged, names: Collection[str]) -> tuple[str, str]:
        code = self.code_of(one.entrant)
        sizes = (f"Hog {code[:size]}" for size in range(4, len(code)))
        return next((alike, name) for name in sizes if (alike := _alike(name)) not in names)

    def code_of(self, entrant: Entrant) -> str:
        """Pseudonym of a student in names that others may see."""
        raw = os.fsencode(entrant.path.parts[0])
        return _hash(self.salt.encode() + b" " + raw)

    def page_of(self, entrant: Entrant) -> str:
        """Name the page of an entrant: any file system takes it, and no two have the same."""
        plain_name = re.sub(r"[^a-z0-9.]+", "_", entrant.student[:200].lower())[:40].strip("._")
        return f"{plain_name or 'entry'}-{self.code_of(entrant)[:_HASHED]}.html"

    def keep(self) -> None:
        """Write all verdicts for the next call: the first file, as the mark of a contest."""
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / STAFF).mkdir(0o700, exist_ok=True)
        known = {
            name: getattr(self, name) for name in ("made_by", "salt", "files", "tables", "rates")
        }
        write_whole(self.out / STAFF / CACHE, json.dumps(known))


def _check_out(out: Path, folder: Path) -> None:
    """Refuse a folder that no contest can be written to, before anything is computed."""
    if (out / CACHE).exists() and (out / "entrants").exists():
        raise BadInputError(
            f"{out}: is of an earlier hogeq, private pages beside the public one; allowed: a new "
            f"folder, or an earlier one with {PUBLIC} and {STAFF}"
        )
    is_other = out.is_dir() and not (out / STAFF / CACHE).exists() and _holds_files(out)
    if is_other or out.resolve() == folder.resolve():
        raise BadInputError(f"{out}: has other files; allowed: a new folder, or an earlier one")
    above = next(one for one in (out, *out.absolute().parents) if os.path.lexists(one))
    if not (above.is_dir() and os.access(above, os.W_OK)):
        raise BadInputError(f"{out}: cannot be made; allowed: a folder that can be written to")


def _holds_files(out: Path) -> bool:
    """Whether there is more than a call that was stopped leaves: empty folders, and half a file."""
    return any(
        path.is_symlink() or not (path.is_dir() or path.name.startswith(TEMPORARY))
        for path in out.rglob("*")
    )


def _alike(name: str) -> str:
    """Map names that look the same to one text."""
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", name)).casefold()


def _numbered(given: str, names: Collection[str]) -> tuple[str, str]:
    """Give a name that no other looks like, by a number if it must be."""
    numbered = (f"{given} ({number})" for number in count(2))
    return next(
        (alike, name) for name in chain([given], numbered) if (alike := _alike(name)) not in names
    )


def _read_cache(path: Path, made_by: dict[str, Any], game: HogEngine) -> tuple[str, dict[str, Any]]:
    """Read the salt of an earlier call and, by the same rules and version, its verdicts."""
    salt, known = "", {}
    try:
        known = parse_json(read_whole(path, MAX_BYTES))
        salt = str(known["salt"])
        is_ours = known["made_by"] == made_by
        if is_ours:
            for fields in known["files"].values():
                submission_from(fields, game)
            rates = check_rates(known["rates"]) if known["rates"] else np.empty((0, 0))
            is_ours = len(rates) == len(known["tables"])
            is_ours &= {*map(type, known["tables"])} <= {str}
            is_ours &= np.allclose(rates + rates.T, 1.0, rtol=0.0, atol=ROUNDING)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        is_ours = False
    return salt, known if is_ours else {}


def _key(folder: Path, path: PurePath, flat: bool, time_limit: float) -> str:
    """Hash the inputs of a verdict: the file; for code, its time and its neighbours too."""
    files, content, left = {path}, [], MAX_BYTES
    is_code = path.suffix.lower() == ".py"
    try:
        if is_code and not flat:
            files |= {*files_within(folder, path.parent)}
        for one in sorted(files):
            part = read_whole(one, left, within=folder)
            left -= len(part)
            content.append((str(one.relative_to(path.parent)), _hash(part)))
    except (OSError, ValueError):
        return ""  # it will be refused when it is read
    return _hash(repr((content, time_limit if is_code else None)).encode())


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _inspect(
    game: HogEngine, folder: Path, trust: bool, time_limit: float, entrant: Entrant
) -> tuple[Submission, str]:
    """Judge an entrant; give the key of the judged files too, empty if there is none."""
    if entrant.fault:
        return refused(entrant.fault.removeprefix(f"{entrant.file}: ")), ""
    flat, key = entrant.is_flat, ""

    def note(copy: Path) -> None:
        nonlocal key
        key = _key(copy.parent, PurePath(copy.name), flat, time_limit)

    found = inspect_apart(
        game, folder, entrant.path, flat=flat, trust=trust, time_limit=time_limit, note=note
    )
    return found, key
