"""The folder of a contest: ranks for everybody; for staff the names and a page for each."""

import html
import math
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final

from hogeq.contest.ranking import named_ranking
from hogeq.contest.staff import PUBLIC, STAFF, Contest
from hogeq.pages import frame
from hogeq.pages.entrants import LATEST, entrants_pages
from hogeq.pages.field import public_page
from hogeq.support.files import csv_text, write_whole
from hogeq.support.messages import counted, percent

_FIGURES: Final = (
    *("wins", "ties", "tie_break"),
    *("mean_win_rate", "nash", "lowest_win_rate", "lowest_against"),
)

RANKS: Final = (
    *("goal", "rank", "name", "student", "file", "page", *_FIGURES),
    *("public_name", "not_valid", "remark"),
)
"""Columns of the table of ranks for staff; goal and tie-break stand there if there are any."""

PUBLIC_RANKS: Final = ("goal", "rank", "name", "file", *_FIGURES)
"""Columns of the table of ranks for everybody; ``file`` is empty, since it could name a student."""


def write_contest(
    contest: Contest,
    out: Path,
    found: Mapping[str, Any],
    rules: str,
    *,
    pseudonyms: bool = False,
    title: str | None = None,
) -> list[str]:
    """Write pages, ranks and the verdicts for the next call; list the files.

    All is computed before the first file is written, the mark of the contest comes first, and what
    everybody may see comes last.
    """
    judged, names = contest.judged, contest.public_names(pseudonyms)
    staff, everybody = out / STAFF, out / PUBLIC
    heading = f"{title or f'The contest of {rules}'}, {date.today().isoformat()}."  # noqa: DTZ011
    pages = entrants_pages(contest, staff / "entrants", rules, found, names, heading)
    rows = _staff_rows(contest, found, names)
    public = [{**line, "file": ""} for line in named_ranking(found, names)]
    absent = {"goal", "tie_break"}.difference(found["ranking"][0])
    contest.keep(out)
    for folder in (staff / "entrants", everybody):
        folder.mkdir(exist_ok=True)
    for name, page in pages.items():
        if page is not None:
            write_whole(staff / "entrants" / name, page)
    for path in (staff / "entrants").glob("*-*.html"):
        if path.name not in pages:  # of somebody who has gone
            path.unlink()
    page = public_page({**found, "rules": rules}, names, contest.game.rules, title)
    write_whole(staff / "index.html", _staff_page(rows, title or rules, absent))
    write_whole(staff / "ranks.csv", _csv(RANKS, absent, rows))
    write_whole(everybody / "index.html", page)
    write_whole(everybody / "ranks.csv", _csv(PUBLIC_RANKS, absent, public))
    late = sum(fault.kind == "time" for one in judged for fault in one.submission.faults)
    earlier = sum(len(one.entrant.earlier) for one in judged)
    return [
        f"{everybody}: index.html and ranks.csv, for everybody",
        f"{staff}: index.html, ranks.csv and {counted(len(judged), 'page')} in entrants, for staff",
        *([f"{out}: held a contest by other rules, which this one replaces"] * contest.replaces),
        *([f"out of time: {late}; another --time-limit runs such code again"] if late else []),
        *([f"{counted(earlier, 'earlier file')} left out: {LATEST}"] if earlier else []),
    ]


def _csv(keys: Sequence[str], absent: Collection[str], rows: Sequence[Mapping[str, Any]]) -> str:
    keys = [key for key in keys if key not in absent]
    return csv_text(keys, [[row[key] for key in keys] for row in rows])


def _staff_rows(
    contest: Contest, found: Mapping[str, Any], names: Sequence[str]
) -> list[dict[str, Any]]:
    valid = contest.valid
    ranked = {valid[line["index"]].entrant: line for line in found["ranking"]}
    rows = []
    for one in contest.judged:
        entrant, line = one.entrant, ranked.get(one.entrant)
        row = dict.fromkeys(RANKS, "") | dict(line or {})
        if line is not None:
            against, public = valid[line["lowest_against"]].name, names[line["index"]]
            row |= {"lowest_against": against, "public_name": public}
        row |= {"name": one.name, "student": entrant.student, "file": entrant.file}
        row |= {"page": f"entrants/{contest.page_of(entrant)}"}
        row |= {"not_valid": one.reason, "remark": one.remark}
        rows.append({**row, "faults": "; ".join(fault.line for fault in one.submission.faults)})
    return sorted(rows, key=lambda row: row["rank"] or math.inf)


def _staff_page(rows: Sequence[Mapping[str, Any]], title: str, absent: Collection[str]) -> str:
    """Write the page of all submissions for staff, which leads to that of each entrant."""
    valid = [row for row in rows if not row["not_valid"]]
    left_out = [row for row in rows if row["not_valid"]]
    remarks = [row for row in rows if row["remark"]]
    broken = () if "tie_break" in absent else ("wins", "tie_break")
    keys = ("rank", "student", "name", *broken, "public_name", "file")
    parts = [_listing("Ranks", keys, valid)]
    if left_out:
        parts.append(_listing("Not valid", ("student", "file", "faults"), left_out))
    if remarks:
        parts.append(_listing("Remarks", ("student", "remark"), remarks))
    verdict = (
        f"<p>{counted(len(valid), 'submission')} ranked, {len(left_out)} not valid. This page "
        "is for staff. Each name of a student leads to a page that you may give to that student. "
        f'<a href="../{PUBLIC}/index.html">The public page</a> is for everybody.</p>'
    )
    title = f"{title}: the submissions"
    body = frame.fill(
        "check.html", title=html.escape(title), verdict=verdict, parts="".join(parts), look=""
    )
    return frame.page(title, body, styles="sheet", scripts="", data={})


_HEADS: Final = {
    "public_name": "on the public page",
    "faults": "why",
    "wins": "won",
    "tie_break": "tie-break",
}

_KINDS: Final = {
    **dict.fromkeys(("name", "public_name", "student"), "text name"),
    **dict.fromkeys(("faults", "remark"), "text long"),
}
"""Looks of columns."""


def _listing(title: str, keys: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Make a table of texts, each student's with a link to the page."""
    lines = []
    for row in rows:
        texts = {key: percent(row[key]) if type(row[key]) is float else row[key] for key in keys}
        cells = {key: html.escape(str(text)) for key, text in texts.items()}
        cells["student"] = f'<a href="{html.escape(row["page"])}">{cells["student"]}</a>'
        lines.append([cells[key] for key in keys])
    header = [_HEADS.get(key, key) for key in keys]
    kinds = [_KINDS.get(key, "text") for key in keys]
    return f"<h2>{title}</h2>{frame.table(header, lines, kinds, title)}"
