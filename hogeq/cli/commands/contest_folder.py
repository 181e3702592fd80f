"""A contest as its staff runs it: tournament DIR --out FOLDER."""

import hashlib
import json
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hogeq.cli.inputs import Chosen, write, write_csv
from hogeq.cli.result import Text
from hogeq.cli.shell import refusing
from hogeq.support.messages import BadInputError, printable
from hogeq.support.numbers import counted
from hogeq.support.progress import phase

if TYPE_CHECKING:
    from hogeq.contest.entries import Entries
    from hogeq.contest.staff import Entrant, Judged
    from hogeq.support.aliases import Floats

RANKS = (
    *("rank", "name", "student", "file", "page", "wins", "ties", "mean_win_rate", "nash"),
    *("lowest_win_rate", "lowest_against", "public_name", "not_valid"),
)
"""Columns of ranks.csv."""

LATEST = "of a student's files the last by name counts"


class Folder:
    """The folder that a contest is written to, and what is in it."""

    def __init__(
        self, named: Sequence[str], out: Path, game: Chosen, start: tuple[int, int]
    ) -> None:
        from hogeq.contest.staff import CACHE, Contest, entrants

        if len(named) != 1 or not Path(named[0]).is_dir():
            raise BadInputError("tournament: --out FOLDER: allowed for one folder of submissions")
        is_other = out.is_dir() and any(out.iterdir()) and not (out / CACHE).exists()
        if is_other or out.resolve() == Path(named[0]).resolve():
            raise BadInputError(f"{out}: has other files; allowed: a new folder, or an earlier one")
        with refusing():
            self.entrants: list[Entrant] = entrants(Path(named[0]), out)
            (out / "entrants").mkdir(parents=True, exist_ok=True)
        self.out, self.game = out, game
        self.contest = Contest(game.engine, out, start)
        self.judged: list[Judged] = []

    def read(self, time_limit: float) -> "Entries":
        """Judge every submission, and give those that are valid."""
        from hogeq.contest.entries import Entries, Refused
        from hogeq.strategies.strategy import strategy_of

        with phase("reading", len(self.entrants), "files") as progress:
            self.judged = self.contest.judge(
                self.entrants, self.game.trust, time_limit, lambda _: progress.step()
            )
        valid = [one for one in self.judged if one.submission.matrix is not None]
        refused = [
            Refused(one.entrant.file, f"{one.entrant.file}: {_reason(one)}")
            for one in self.judged
            if one.submission.matrix is None
        ]
        if len(valid) < 2:
            told = "".join(f"; {one.reason}" for one in refused)
            raise BadInputError(
                f"tournament: {len(valid)} of {len(self.judged)} submissions are valid; allowed: 2 "
                f"or more{told}"
            )
        return Entries(
            [one.entrant.file for one in valid],
            [printable(one.submission.name or one.entrant.student) for one in valid],
            [
                strategy_of(self.game.engine, one.submission.matrix)
                for one in valid
                if one.submission.matrix is not None
            ],
            refused,
        )

    def play(self, field: "Entries") -> "Floats":
        """Play the pairs that were not played before."""
        from numpy import asarray

        tables = [asarray(one) for one in field.strategies]
        with phase("tournament", self.contest.unplayed(tables), "matches") as progress:
            return self.contest.play(tables, progress.step)

    def write(self, data: dict[str, Any], names: Sequence[str], pseudonyms: bool) -> Text:
        """Write pages, ranks and what is known for the next time; say what was written."""
        from hogeq.pages.contest import public_page

        valid = [one for one in self.judged if one.submission.matrix is not None]
        public = self.contest.pseudonyms([one.entrant for one in valid]) if pseudonyms else names
        lines = {valid[line["index"]].entrant.file: line for line in data["ranking"]}
        pages: list[str] = []  # of each entrant
        for one in self.judged:
            plain = re.sub(r"[^\w.-]+", "_", one.entrant.student)[:80]
            same = sum(name.lower().startswith(f"{plain.lower()}.") for name in pages)
            pages.append(f"{plain}.{same + 1}.html" if same else f"{plain}.html")
        write(self.out / "index.html", public_page({**data, "rules": self.game.title}, public))
        self._write_pages(lines, public, pages)
        rows = []
        for one, page in zip(self.judged, pages, strict=True):
            line = lines.get(one.entrant.file, {})
            row = {key: line.get(key, "") for key in RANKS}
            if line:
                against = public[line["lowest_against"]]
                row |= {"lowest_against": against, "public_name": public[line["index"]]}
            name = one.submission.name or one.entrant.student
            row |= {"student": one.entrant.student, "file": one.entrant.file, "name": name}
            rows.append({**row, "page": f"entrants/{page}", "not_valid": _reason(one)})
        unranked = len(rows) + 1
        rows.sort(key=lambda row: row["rank"] or unranked)
        write_csv(self.out / "ranks.csv", RANKS, [list(row.values()) for row in rows])
        self.contest.keep()
        pages_written = counted(len(self.judged), "page")
        earlier = sum(len(one.entrant.earlier) for one in self.judged)
        return [
            "",
            f"{self.out}: index.html (public), ranks.csv, {pages_written} in entrants/",
            *([f"{counted(earlier, 'earlier file')} left out: {LATEST}"] if earlier else []),
        ]

    def _write_pages(
        self, lines: dict[str, dict[str, Any]], public: Sequence[str], pages: Sequence[str]
    ) -> None:
        from hogeq.contest.assessment import Reference, opponents, usual_reference
        from hogeq.pages.contest import standing, with_standing
        from hogeq.support.workers import compute

        engine = self.game.engine
        new: list[tuple[Judged, str, str]] = []
        paths: list[Path] = []
        against = usual_reference(engine)
        for one, name in zip(self.judged, pages, strict=True):
            entrant, line = one.entrant, lines.get(one.entrant.file)
            notes = [f"Judged: {entrant.file}."]
            if line is not None:
                notes.append(f"On the page of all it is called {public[line['index']]}.")
            if entrant.earlier:
                notes.append(f"Not judged, since {LATEST}: {', '.join(entrant.earlier)}.")
            text, path = standing(line, public, notes), self.out / "entrants" / name
            key = hashlib.sha256(json.dumps([one.facts(), self.contest.made_by]).encode())
            known = path.read_text("utf-8") if path.exists() else ""
            page = with_standing(known, key.hexdigest(), text)
            if page is None:
                new.append((one, key.hexdigest(), text))
                paths.append(path)
            elif page != known:
                write(path, page)
        self.game.expect("full memory", strategies=[against])
        reference = Reference(against, self.game.table(against), opponents(engine))
        with phase("assessing", len(new), "entrants") as progress:
            make = partial(_page, engine, self.game.title, reference)
            made = compute(make, new, lambda _: progress.step(), local=True)
        for path, page in zip(paths, made, strict=True):
            write(path, page)


def _reason(one: "Judged") -> str:
    faults = one.submission.faults
    if not faults:
        return ""
    more = f", and {len(faults) - 1} more on the page" if len(faults) > 1 else ""
    return f"{faults[0].line}{more}"


def _page(engine: Any, title: str, reference: Any, task: "tuple[Judged, str, str]") -> str:
    """Make the page of one entrant."""
    from hogeq.contest.assessment import facts_of
    from hogeq.pages.contest import entrant_page

    one, key, text = task
    facts, assessed = facts_of(engine, one.entrant.file, title, one.submission, reference)
    return entrant_page(facts, one.submission.matrix, assessed, key, text)
