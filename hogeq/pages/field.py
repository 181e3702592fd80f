"""The page of a field, for everybody: ranks, and the win rates of all against all."""

import html
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import PurePath
from typing import Final

import numpy as np

from hogeq import Rules, describe
from hogeq.contest.ranking import Ranked, Ranking, columns_of
from hogeq.pages import frame
from hogeq.support.messages import percent, printable

DECIMALS: Final = 8  # of win rates in the picture, and of costs on a map
_MIN_COLOUR_RANGE: Final = 0.01  # least win rate from one half to either end of the colour scale
SHARED: Final = "scheme numbers grid"  # scripts of every page
_NARROW: Final = {"rank", "strategy", "won", "tie-break", "mean win rate"}
"""Columns that are shown on a narrow screen too."""


def field_page(
    tournament: Ranking,
    names: Sequence[str],
    rules: Rules,
    rules_name: str,
    title: str | None = None,
) -> str:
    """Write the page of a tournament, one self-contained HTML file.

    `names` are the names of the entries by their index in the tournament.
    """
    # An entry that the Nash mixture never draws has an empty cell.
    cells = [{**line, "nash": line["nash"] or None} for line in tournament.cells(names)]
    columns = columns_of(cells, tournament.tie_break)  # name, kind and key of each
    win_rates = np.array(tournament.win_rates)  # (n, n), row against column
    data = {
        "columns": [
            {"name": name, "kind": kind, "narrow": name in _NARROW} for name, kind, _ in columns
        ],
        "rows": [[line[key] for _, _, key in columns] for line in cells],
        "index": [line.index for line in tournament.ranking],
        "rates": win_rates.round(DECIMALS).tolist(),
        "reach": max(_MIN_COLOUR_RANGE, float(np.abs(win_rates - 0.5).max())),
    }
    rule_items = [
        f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>"
        for name, text in describe(rules)
    ]
    title = title or f"{rules_name}: {len(names)} strategies, all against all"
    body = frame.fill(
        "field.html",
        title=html.escape(title),
        summary=_summary(tournament.ranking, names),
        played=_date_and_rules(rules_name, tournament.left_out),
        equals=html.escape(_tie_break_text(tournament.tie_break)),
        win=f"{100.0 * tournament.threshold:.12g}",
        notes=_notes(tournament, names),
        rules=html.escape(rules_name),
        parts="".join(rule_items),
    )
    return frame.page(title, body, styles="sheet", scripts=f"{SHARED} field", data=data)


_MAX_FIRST_NAMES: Final = 3  # names that are written of the entries that share the first rank


def _summary(ranking: Sequence[Ranked], names: Sequence[str]) -> str:
    """Say who ranks first, and how many matches they won."""
    first = [line for line in ranking if line.rank == 1]
    named = ", ".join(html.escape(names[line.index]) for line in first[:_MAX_FIRST_NAMES])
    if len(first) > _MAX_FIRST_NAMES:
        named += f" and {len(first) - _MAX_FIRST_NAMES} more"
    won = f"{first[0].wins} of {len(ranking) - 1} matches"
    if len(first) == 1:
        mean = percent(first[0].mean_win_rate)
        return f"First: <b>{named}</b>, {won} won, {mean} on average."
    return f"First: <b>{named}</b>, {won} won each."


def _tie_break_text(tie_break: str | None) -> str:
    """Say how entries with equally many wins are ranked."""
    if tie_break is None:
        return "equals share a rank"
    if tie_break == "bytes":
        return "of equals the smaller file, in bytes, ranks first"
    return f"of equals the higher win rate against {tie_break} ranks first"


def _date_and_rules(rules_name: str, num_left_out: int) -> str:
    """Write the date, the rules, and how many entries are left out."""
    today = date.today().isoformat()  # noqa: DTZ011 - the local date
    text = f"{today}, by the rules of {rules_name}"
    if num_left_out:
        text += f"; {num_left_out} more not valid"
    return html.escape(text)


def _notes(tournament: Ranking, names: Sequence[str]) -> str:
    """List the groups of entries with the same strategy, and the entries that are left out."""
    identical = [" = ".join(names[index] for index in group) for group in tournament.identical]
    left_out = []
    for refused in tournament.field.refused:
        # Names of files without their folders, which are on the staff's machine.
        path = refused.entry
        left_out.append(refused.reason.replace(printable(path), printable(PurePath(path).name)))
    text = ""
    for title, lines in (("The same strategy", identical), ("Left out", left_out)):
        if lines:
            text += f"<h2>{title}</h2>{frame.html_list(lines)}"
    return text


def public_page(
    tournament: Ranking,
    names: Sequence[str],
    rules: Rules,
    rules_name: str,
    title: str | None,
) -> str:
    """Write the page of a tournament for everybody.

    Entries are numbered anew, by rank: the order of the files could betray who is behind a name.
    """
    order = [line.index for line in tournament.ranking]
    new_index = {old: new for new, old in enumerate(order)}
    ranking = [
        replace(
            line,
            index=new_index[line.index],
            lowest_against=new_index[line.lowest_against],
            file=names[line.index],
        )
        for line in tournament.ranking
    ]
    win_rates = tournament.win_rates
    public = tournament._replace(
        ranking=ranking,
        win_rates=[[win_rates[row][column] for column in order] for row in order],
        identical=[],
        field=tournament.field._replace(refused=[]),
        left_out=len(tournament.field.refused),
    )
    return field_page(public, [names[index] for index in order], rules, rules_name, title)
