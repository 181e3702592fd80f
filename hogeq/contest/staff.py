"""A contest: entries that are judged once each and play once a pair, and the staff's folder.

The folder of a contest has two parts. ``public`` may go on a website, and ``staff`` may not. A name
in a file gives nobody the right to replace another's entry.
"""

import hashlib
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
from hogeq.contest import judging
from hogeq.contest.entries import Entries, entries_of, read_goals
from hogeq.contest.folders import Entrant
from hogeq.support.aliases import Floats
from hogeq.support.files import TEMPORARY, json_text, read_whole, write_whole
from hogeq.support.kinds import MAX_BYTES
from hogeq.support.messages import HogeqError
from hogeq.support.parameters import plain
from hogeq.support.plugins import loaded
from hogeq.support.progress import phase
from hogeq.support.text import parse_json

PUBLIC: Final = "public"  # part of a contest's folder, for everybody
STAFF: Final = "staff"  # part for those who run the contest
CACHE: Final = "cache.json"  # in STAFF, of earlier calls; without it all is computed again

# Faults that another call may not find. A fault "time" stays, as keys of code hash the time limit.
_NOT_KEPT: Final = {"crash", "unread"}
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
"""Letters that Python counts as printable and that show nothing."""

_HASHED: Final = 16  # digits of a hash in the name of a page


class Contest:
    """Entries that are judged once each and play once a pair.

    A folder `out` may hold verdicts and win rates of earlier calls: `judge` and `play` compute only
    those that are new, and `keep` writes all of them. Nothing is written before.
    """

    judged: list[judging.Judged]  # by `judge`, in the order of the entrants

    def __init__(
        self,
        entrants: Sequence[Entrant],
        game: Hog,
        out: Path | None = None,
        start: tuple[int, int] = (0, 0),
        goals: Path | None = None,
    ) -> None:
        """Read the cache of the folder `out`, and the file `goals` of a goal for each entry."""
        self.entrants = entrants
        self.game = game
        self.out = out
        self.start = start
        names = [entrant.entry if out is None else entrant.student for entrant in entrants]
        own_goals = read_goals(goals, names, game.rules.size)
        self.own_goals = {} if own_goals is None else dict(zip(entrants, own_goals, strict=True))
        # A cache counts if all these are the same.
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
    def valid(self) -> list[judging.Judged]:
        """The submissions that play."""
        return [judged for judged in self.judged if judged.submission.strategy is not None]

    @property
    def goals(self) -> list[int] | None:
        """Goals of the valid submissions, if each has its own."""
        return [self.own_goals[judged.entrant] for judged in self.valid] if self.own_goals else None

    def judge(self, trust: bool, time_limit: float, *, skip_bad: bool = True) -> Entries:
        """Judge every entry whose verdict is not in the cache; return all, valid and bad ones.

        `judged` and, for a contest in a folder, `files` are set. `trust` says whether code is run.
        """
        judge = judging.Judge(self.game, trust, time_limit, is_contest=self.out is not None)
        keys = [judge.key_of(entrant) if self.files else "" for entrant in self.entrants]
        pairs = list(zip(self.entrants, keys, strict=True))
        new_entrants = [entrant for entrant, key in pairs if key not in self.files]
        with phase("reading", len(new_entrants), "files") as progress:
            verdicts = judge.judge(new_entrants, progress.step, skip_bad=skip_bad)
        new_verdicts = {verdict.entrant: verdict for verdict in verdicts}
        self.judged = []
        for entrant, key in pairs:
            if key in self.files:
                submission = judging.from_json(self.files[key], self.game)
                self.judged.append(judging.Judged(entrant, submission))
            elif entrant in new_verdicts:  # code is not run if a bad entry stops the contest anyway
                self.judged.append(new_verdicts[entrant])
        if self.out is not None:
            self.files = {
                verdict.submission.key: judging.to_json(verdict.submission)
                for verdict in self.judged
                if _may_be_kept(verdict.submission)
            }
        return entries_of(self.judged, inside=self.out is not None)

    def play(self, field: Entries) -> WinRates:
        """Compute the exact win rates (n, n) of all tables, but for pairs that are in the cache.

        `tables` and `rates`, which `keep` writes, are set.
        """
        tables = field.strategies
        goals = self.goals
        keys: list[str] = []
        counts: Counter[bytes] = Counter()
        for table, goal in zip(tables, goals or [self.game.rules.size] * len(tables), strict=True):
            content = table.array.tobytes() + b"%d" % goal
            # Equal tables are told apart by their number, as their match has to be known, too.
            keys.append(hash_of(b"%d " % counts[content] + content))
            counts[content] += 1
        known_rates = self._known_rates(keys)
        # Each match is two entries of the matrix; the diagonal is never played.
        num_unplayed = int(np.isnan(known_rates).sum() - len(known_rates)) // 2
        with phase("tournament", num_unplayed, "matches") as progress:
            rates = self.game.round_robin(
                tables, self.start, goals, known=known_rates, progress=progress.step
            )
        self.tables = keys
        self.rates = rates.tolist()
        return rates

    def _known_rates(self, keys: Sequence[str]) -> Floats:
        """Return the win rates (n, n) of tables with these keys that the cache has; others are NaN.

        The diagonal is NaN.
        """
        cache_index = {key: index for index, key in enumerate(self.tables)}
        rates = np.full((len(keys), len(keys)), np.nan)
        indices = [index for index, key in enumerate(keys) if key in cache_index]
        if indices:
            cache_indices = [cache_index[keys[index]] for index in indices]
            cached_rates = np.array(self.rates)[np.ix_(cache_indices, cache_indices)]
            rates[np.ix_(indices, indices)] = cached_rates
        np.fill_diagonal(rates, np.nan)
        return rates

    def public_names(self, pseudonyms: bool) -> list[str]:
        """Name the valid submissions so that no two names look the same: namesakes have numbers.

        Pseudonyms reveal nobody's identity, and are the same in every call for this folder. A
        player without a name has one, too: names of files and folders are for staff.
        """
        name_by_look: dict[str, str] = {}
        for judged in self.valid:
            name = judged.player or ""
            choices: Iterator[str] = chain([name], (f"{name} ({number})" for number in count(2)))
            if pseudonyms or not _visible_form(name).strip():
                code = self.code_of(judged.entrant)
                choices = (f"Hog {code[:length]}" for length in range(4, len(code)))
            unused_name = next(
                choice for choice in choices if _visible_form(choice) not in name_by_look
            )
            name_by_look[_visible_form(unused_name)] = unused_name
        return [*name_by_look.values()]

    def code_of(self, entrant: Entrant) -> str:
        """Hash the name of a student's folder with the salt, for names that others may see."""
        folder_name = os.fsencode(entrant.path.parts[0])
        return hash_of(self.salt.encode() + b" " + folder_name)

    def page_of(self, entrant: Entrant) -> str:
        """Name the page of an entrant: any file system allows it, and no two have the same."""
        plain_name = re.sub(r"[^a-z0-9.]+", "_", entrant.student[:200].lower())[:40].strip("._")
        return f"{plain_name or 'entry'}-{self.code_of(entrant)[:_HASHED]}.html"

    def keep(self, out: Path) -> None:
        """Write all verdicts and win rates for the next call.

        This is the first file that is written: it marks the folder as that of a contest.
        """
        out.mkdir(parents=True, exist_ok=True)
        (out / STAFF).mkdir(0o700, exist_ok=True)
        cache = {
            name: getattr(self, name) for name in ("made_by", "salt", "files", "tables", "rates")
        }
        write_whole(out / STAFF / CACHE, json_text(cache | {"sha256": hash_of(cache)}))


def _may_be_kept(submission: Submission) -> bool:
    """Whether the verdict depends on nothing but the files that were judged, whose hash is its key.

    It may depend on other files, or on a machine that had no memory left.
    """
    kinds = {fault.kind for fault in submission.faults}
    return bool(submission.key) and not submission.files and not kinds & _NOT_KEPT


def check_out(out: Path, folder: Path) -> None:
    """Refuse a folder that no contest can be written to, before anything is computed."""
    if (out / CACHE).exists() and (out / "entrants").exists():
        raise HogeqError(
            f"{out}: is of an earlier hogeq, private pages beside the public one; allowed: a new "
            f"folder, or an earlier one with {PUBLIC} and {STAFF}"
        )
    is_contest = (out / STAFF / CACHE).exists()
    has_other_files = out.is_dir() and not is_contest and _holds_files(out)
    if has_other_files or out.resolve() == folder.resolve():
        raise HogeqError(f"{out}: has other files; allowed: a new folder, or an earlier one")
    nearest_existing = next(
        path for path in (out, *out.absolute().parents) if os.path.lexists(path)
    )
    if not (nearest_existing.is_dir() and os.access(nearest_existing, os.W_OK)):
        raise HogeqError(f"{out}: cannot be made; allowed: a folder that can be written to")


def _holds_files(out: Path) -> bool:
    """Whether a folder has files, but for a temporary one that a call which was stopped left."""
    return any(
        path.is_symlink() or not (path.is_dir() or path.name.startswith(TEMPORARY))
        for path in out.rglob("*")
    )


def _visible_form(name: str) -> str:
    """Map names that look the same to one text."""
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", name)).casefold()


def _read_cache(path: Path) -> dict[str, Any]:
    """Read the cache that `Contest.keep` wrote; nothing if it was changed."""
    with suppress(OSError, ValueError, AttributeError, KeyError, TypeError):
        cache: dict[str, Any] = parse_json(read_whole(path, MAX_BYTES))
        if cache.pop("sha256") == hash_of(cache):
            return cache
    return {}


def hash_of(content: object) -> str:
    """Hash bytes, or plain values (SHA-256, hexadecimal)."""
    data = content if isinstance(content, bytes) else json_text(content).encode()
    return hashlib.sha256(data).hexdigest()
