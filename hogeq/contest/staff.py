"""A contest: entries that are judged once each and play once a pair, and the staff's folder.

The folder of a contest has two parts. ``public`` may go on a website, and ``staff`` may not. A name
in a file gives nobody the right to replace another's entry.
"""

import hashlib
import json
import os
import re
import secrets
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import Any, Final

import numpy as np

from hogeq import Hog, Submission, WinRates, __version__
from hogeq.contest.entries import Entries, entries_of, read_goals
from hogeq.contest.folders import Entrant
from hogeq.contest.judging import Judge, Judged, facts, submission_from
from hogeq.support.aliases import Floats
from hogeq.support.files import TEMPORARY, read_whole, write_whole
from hogeq.support.kinds import MAX_BYTES
from hogeq.support.messages import BadInputError
from hogeq.support.parameters import plain
from hogeq.support.plugins import loaded
from hogeq.support.progress import phase
from hogeq.support.text import parse_json

PUBLIC: Final = "public"  # part of a contest's folder, for everybody
STAFF: Final = "staff"  # part for those who run the contest
CACHE: Final = "cache.json"  # in STAFF, of earlier calls; without it all is computed again

# Faults that another call may not find. A time limit is a part of what is known by.
_NOT_KEPT: Final = {"crash", "unread"}
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
"""Letters that Python counts as printable and that show nothing."""

_HASHED: Final = 16  # digits in the name of a page


class Contest:
    """Entries that are judged once each and play once a pair.

    With a folder `out` there are verdicts of earlier calls: `judge` and `play` compute what is new
    alone, and `keep` writes all that is known. Nothing is written before.
    """

    judged: list[Judged]

    def __init__(
        self,
        entrants: Sequence[Entrant],
        game: Hog,
        out: Path | None = None,
        start: tuple[int, int] = (0, 0),
        goals: Path | None = None,
    ) -> None:
        self.entrants = entrants
        self.game = game
        self.out = out
        self.start = start
        names = [one.entry if out is None else one.student for one in entrants]
        own_goals = read_goals(goals, names, game.rules.size)
        self.own_goals = {} if own_goals is None else dict(zip(entrants, own_goals, strict=True))
        self.made_by = {
            "version": __version__,
            "rules": plain(game.rules),
            "plugins": [plugin.sha256 for plugin in loaded()],  # whose parts the rules only name
            "start": list(start),
        }
        cache = {} if out is None else _read_cache(out / STAFF / CACHE)
        self.salt: str = cache.get("salt") or secrets.token_hex(16)  # of pseudonyms
        # Whether the folder has a contest by other rules.
        self.replaces = bool(cache) and cache["made_by"]["rules"] != self.made_by["rules"]
        if cache.get("made_by") != self.made_by:
            cache = {}
        self.files: dict[str, dict[str, Any]] = cache.get("files", {})  # verdicts by `key_of`
        self.tables: list[str] = cache.get("tables", [])  # hashes of tables that have played
        self.rates: list[list[float]] = cache.get("rates", [])  # (n, n), of these

    @property
    def valid(self) -> list[Judged]:
        """The submissions that play."""
        return [one for one in self.judged if one.submission.strategy is not None]

    @property
    def goals(self) -> list[int] | None:
        """Goals of the valid submissions, if each has its own."""
        return [self.own_goals[one.entrant] for one in self.valid] if self.own_goals else None

    def judge(self, trust: bool, time_limit: float, *, skip_bad: bool = True) -> Entries:
        """Look at every entry that is not known; give the valid ones."""
        judge = Judge(self.game, trust, time_limit, is_contest=self.out is not None)
        keys = [judge.key_of(one) if self.files else "" for one in self.entrants]
        pairs = list(zip(self.entrants, keys, strict=True))
        new = [entrant for entrant, key in pairs if key not in self.files]
        with phase("reading", len(new), "files") as progress:
            verdicts = judge.judge(new, progress.step, skip_bad=skip_bad)
        by_entrant = {verdict.entrant: verdict for verdict in verdicts}
        self.judged = []
        for entrant, key in pairs:
            if key in self.files:
                known = submission_from(self.files[key], self.game)
                self.judged.append(Judged(entrant, known))
            elif entrant in by_entrant:  # code is not run if a bad entry stops the contest anyway
                self.judged.append(by_entrant[entrant])
        if self.out is not None:
            self.files = {
                one.submission.key: facts(one.submission)
                for one in self.judged
                if _may_be_kept(one.submission)
            }
        return entries_of(self.judged, inside=self.out is not None)

    def play(self, field: Entries) -> WinRates:
        """Exact win rates (n, n) of all tables; of pairs that are known, not again."""
        tables = field.strategies
        goals = self.goals
        keys: list[str] = []
        times: Counter[bytes] = Counter()
        for table, goal in zip(tables, goals or [self.game.rules.size] * len(tables), strict=True):
            content = table.array.tobytes() + b"%d" % goal
            # The same table twice is two entries, whose match is known as well.
            keys.append(_hash(b"%d " % times[content] + content))
            times[content] += 1
        known = self._known_rates(keys)
        unplayed = int(np.isnan(known).sum() - len(known)) // 2
        with phase("tournament", unplayed, "matches") as progress:
            rates = self.game.round_robin(
                tables, self.start, goals, known=known, progress=progress.step
            )
        self.tables = keys
        self.rates = rates.tolist()
        return rates

    def _known_rates(self, keys: Sequence[str]) -> Floats:
        """Win rates (n, n) of the tables of these keys that an earlier call computed, else NaN."""
        old_index = {key: index for index, key in enumerate(self.tables)}
        rates = np.full((len(keys), len(keys)), np.nan)
        known = [index for index, key in enumerate(keys) if key in old_index]
        if known:
            old = [old_index[keys[index]] for index in known]
            rates[np.ix_(known, known)] = np.array(self.rates)[np.ix_(old, old)]
        np.fill_diagonal(rates, np.nan)
        return rates

    def public_names(self, pseudonyms: bool) -> list[str]:
        """Name the valid submissions, never two the same: namesakes by numbers.

        Pseudonyms tell nobody who they are, and are the same in every call for this folder. Who
        gives no name has one too: those of files and folders are for staff.
        """
        names: dict[str, str] = {}  # by what looks the same
        for one in self.valid:
            name = one.player or ""
            choices: Iterator[str] = chain([name], (f"{name} ({number})" for number in count(2)))
            if pseudonyms or not _look(name).strip():
                code = self.code_of(one.entrant)
                choices = (f"Hog {code[:size]}" for size in range(4, len(code)))
            unused = next(choice for choice in choices if _look(choice) not in names)
            names[_look(unused)] = unused
        return [*names.values()]

    def code_of(self, entrant: Entrant) -> str:
        """Pseudonym of a student in names that others may see."""
        raw = os.fsencode(entrant.path.parts[0])
        return _hash(self.salt.encode() + b" " + raw)

    def page_of(self, entrant: Entrant) -> str:
        """Name the page of an entrant: any file system takes it, and no two have the same."""
        plain_name = re.sub(r"[^a-z0-9.]+", "_", entrant.student[:200].lower())[:40].strip("._")
        return f"{plain_name or 'entry'}-{self.code_of(entrant)[:_HASHED]}.html"

    def keep(self, out: Path) -> None:
        """Write all verdicts for the next call: the first file, as the mark of a contest."""
        out.mkdir(parents=True, exist_ok=True)
        (out / STAFF).mkdir(0o700, exist_ok=True)
        cache = {
            name: getattr(self, name) for name in ("made_by", "salt", "files", "tables", "rates")
        }
        sha256 = _hash(json.dumps(cache).encode())
        write_whole(out / STAFF / CACHE, json.dumps(cache | {"sha256": sha256}))


def _may_be_kept(submission: Submission) -> bool:
    """Whether the next call would find the same.

    What other files say may change, and so may a machine that was full. The key is that of the
    files that were judged: a file may change after it was looked up.
    """
    kinds = {fault.kind for fault in submission.faults}
    return bool(submission.key) and not submission.files and not kinds & _NOT_KEPT


def check_out(out: Path, folder: Path) -> None:
    """Refuse a folder that no contest can be written to, before anything is computed."""
    if (out / CACHE).exists() and (out / "entrants").exists():
        raise BadInputError(
            f"{out}: is of an earlier hogeq, private pages beside the public one; allowed: a new "
            f"folder, or an earlier one with {PUBLIC} and {STAFF}"
        )
    is_other = out.is_dir() and not (out / STAFF / CACHE).exists() and _holds_files(out)
    if is_other or out.resolve() == folder.resolve():
        raise BadInputError(f"{out}: has other files; allowed: a new folder, or an earlier one")
    above = next(path for path in (out, *out.absolute().parents) if os.path.lexists(path))
    if not (above.is_dir() and os.access(above, os.W_OK)):
        raise BadInputError(f"{out}: cannot be made; allowed: a folder that can be written to")


def _holds_files(out: Path) -> bool:
    """Whether there is more than a call that was stopped leaves: empty folders, and half a file."""
    return any(
        path.is_symlink() or not (path.is_dir() or path.name.startswith(TEMPORARY))
        for path in out.rglob("*")
    )


def _look(name: str) -> str:
    """Map names that look the same to one text."""
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", name)).casefold()


def _read_cache(path: Path) -> dict[str, Any]:
    """Read the cache that `Contest.keep` wrote; nothing if it was changed."""
    with suppress(OSError, ValueError, AttributeError, KeyError, TypeError):
        cache: dict[str, Any] = parse_json(read_whole(path, MAX_BYTES))
        if cache.pop("sha256") == _hash(json.dumps(cache).encode()):
            return cache
    return {}


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
