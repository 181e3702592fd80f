"""The folder of a contest: ranks for everybody; for staff the names and a page for each."""

import html
import math
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final

from hogeq.contest.ranking import Ranking
from hogeq.contest.staff import PUBLIC, STAFF, Contest
from hogeq.pages import frame
from hogeq.pages.entrants import LATEST, entrants_pages
from hogeq.pages.field import public_page
from hogeq.support.files import csv_text, write_whole
from hogeq.support.html import Html
from hogeq.support.html import table as html_table
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
    tournament: Ranking,
    rules: str,
    *,
    pseudonyms: bool = False,
    title: str | None = None,
) -> list[str]:
    """Write the pages and ranks of a contest; return lines about the files for the user.

    All is computed before the first file is written. The contest's own files, with the verdicts
    that the next call needs not repeat, are written first, and the public folder last.

    Parameters
    ----------
    contest : Contest
    out : Path
        The folder of the contest, which gets one folder for staff and one for everybody.
    tournament : Ranking
        Of the valid entries.
    rules : str
        The name of the rules.
    pseudonyms : bool
        Whether public names hide the entrants' own.
    title : str, optional
        Of the pages, in place of the rules' name.
    """
    names = contest.public_names(pseudonyms)
    staff_folder = out / STAFF
    public_folder = out / PUBLIC
    heading = f"{title or f'The contest of {rules}'}, {date.today().isoformat()}."  # noqa: DTZ011
    pages = entrants_pages(contest, staff_folder / "entrants", rules, tournament, names, heading)
    staff_rows = _staff_rows(contest, tournament, names)
    public_rows = [{**line, "file": ""} for line in tournament.cells(names)]
    absent = {"goal", "tie_break"}.difference(tournament.ranking[0].to_json())
    contest.keep(out)
    for folder in (staff_folder / "entrants", public_folder):
        folder.mkdir(exist_ok=True)
    for name, page in pages.items():
        if page is not None:
            write_whole(staff_folder / "entrants" / name, page)
    for path in (staff_folder / "entrants").glob("*-*.html"):
        if path.name not in pages:  # of an entrant who is no longer in the contest
            path.unlink()
    page = public_page(tournament, names, contest.game.rules, rules, title)
    write_whole(staff_folder / "index.html", _staff_page(staff_rows, title or rules, absent))
    write_whole(staff_folder / "ranks.csv", _csv(RANKS, absent, staff_rows))
    write_whole(public_folder / "index.html", page)
    write_whole(public_folder / "ranks.csv", _csv(PUBLIC_RANKS, absent, public_rows))
    return _written_lines(contest, out)


def _written_lines(contest: Contest, out: Path) -> list[str]:
    """Describe the files of a contest for the user, and what was replaced or left out."""
    judged = contest.judged
    pages = counted(len(judged), "page")
    lines = [
        f"{out / PUBLIC}: index.html and ranks.csv, for everybody",
        f"{out / STAFF}: index.html, ranks.csv and {pages} in entrants, for staff",
    ]
    if contest.replaces:
        lines.append(f"{out}: held a contest by other rules, which this one replaces")
    num_late = sum(fault.kind == "time" for entry in judged for fault in entry.submission.faults)
    if num_late:
        lines.append(f"out of time: {num_late}; another --time-limit runs such code again")
    num_earlier = sum(len(entry.entrant.earlier) for entry in judged)
    if num_earlier:
        lines.append(f"{counted(num_earlier, 'earlier file')} left out: {LATEST}")
    return lines


def _csv(keys: Sequence[str], absent: Collection[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Write rows as CSV, with those of the columns that are not `absent`."""
    keys = [key for key in keys if key not in absent]
    return csv_text(keys, [[row[key] for key in keys] for row in rows])


def _staff_rows(
    contest: Contest, tournament: Ranking, names: Sequence[str]
) -> list[dict[str, Any]]:
    """Make the rows of the table for staff, one for each entrant, in the order of the ranks.

    Entrants without a valid entry come last. A row has the keys of `RANKS`, and "faults". `names`
    are the names on the public page, by index in the tournament.
    """
    valid = contest.valid
    ranked = {valid[line.index].entrant: line for line in tournament.ranking}
    rows = []
    for judged in contest.judged:
        entrant = judged.entrant
        row = dict.fromkeys(RANKS, "")
        if entrant in ranked:
            line = ranked[entrant]
            row |= line.to_json()
            row["lowest_against"] = valid[line.lowest_against].name
            row["public_name"] = names[line.index]
        row |= {
            "name": judged.name,
            "student": entrant.student,
            "file": entrant.file,
            "page": f"entrants/{contest.page_of(entrant)}",
            "not_valid": judged.reason,
            "remark": judged.remark,
            "faults": "; ".join(fault.line for fault in judged.submission.faults),
        }
        rows.append(row)
    return sorted(rows, key=lambda row: row["rank"] or math.inf)  # no rank: last


def _staff_page(rows: Sequence[Mapping[str, Any]], title: str, absent: Collection[str]) -> str:
    """Write the page of all submissions for staff.

    `rows` are those of `_staff_rows`, and `absent` the columns that this contest does not have.
    """
    valid = [row for row in rows if not row["not_valid"]]
    left_out = [row for row in rows if row["not_valid"]]
    remarks = [row for row in rows if row["remark"]]
    tie_keys = () if "tie_break" in absent else ("wins", "tie_break")
    keys = ("rank", "student", "name", *tie_keys, "public_name", "file")
    parts = [_table_of_entrants("Ranks", keys, valid)]
    if left_out:
        parts.append(_table_of_entrants("Not valid", ("student", "file", "faults"), left_out))
    if remarks:
        parts.append(_table_of_entrants("Remarks", ("student", "remark"), remarks))
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


_HEADINGS: Final = {
    "public_name": "on the public page",
    "faults": "why",
    "wins": "won",
    "tie_break": "tie-break",
}

_COLUMN_CLASSES: Final = {
    **dict.fromkeys(("name", "public_name", "student"), "text name"),
    **dict.fromkeys(("faults", "remark"), "text long"),
}
"""CSS classes of columns that are not "text" alone."""


def _table_of_entrants(title: str, keys: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Write some columns of the rows of entrants as an HTML table, with a heading.

    The name of a student is a link to the student's page.
    """
    lines = []
    for row in rows:
        cells = []
        for key in keys:
            value = row[key]
            cell = percent(value) if type(value) is float else str(value)
            if key == "student":
                cell = Html(f'<a href="{html.escape(row["page"])}">{html.escape(cell)}</a>')
            cells.append(cell)
        lines.append(cells)
    header = [_HEADINGS.get(key, key) for key in keys]
    classes = [_COLUMN_CLASSES.get(key, "text") for key in keys]
    table = frame.scrolling(html_table(lines, header, kinds=classes), label=title)
    return f"<h2>{title}</h2>{table}"
