"""The page of a field, for everybody: ranks, and the win rates of all against all."""

import html
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import PurePath
from typing import Any, Final

import numpy as np

from hogeq.contest.ranking import columns_of, named_ranking
from hogeq.contest.tournament import WIN
from hogeq.pages import frame
from hogeq.rules import Rules, describe
from hogeq.support.messages import percent, printable

DECIMALS: Final = 8  # of win rates in the picture, and of costs on a map

_LEAST_REACH: Final = 0.01  # of the colours, on either side of one half

SHARED: Final = "scheme numbers grid"  # scripts of every page

_NARROW: Final = {"rank", "strategy", "won", "tie-break", "mean win rate"}
"""Columns that a phone has room for."""


def field_page(
    found: Mapping[str, Any], names: Sequence[str], rules: Rules, title: str | None = None
) -> str:
    """Write the page of a tournament, one self-contained HTML file."""
    ranking = [{**line, "nash": line["nash"] or None} for line in named_ranking(found, names)]
    columns = columns_of(ranking, found.get("tie_break"))
    rates = np.array(found["win_rates"])
    data = {
        "columns": [
            {"name": name, "kind": kind, "narrow": name in _NARROW} for name, kind, _ in columns
        ],
        "rows": [
            [line[key] or None if key == "nash" else line[key] for *_, key in columns]
            for line in ranking
        ],
        "index": [line["index"] for line in ranking],
        "rates": rates.round(DECIMALS).tolist(),
        "reach": max(_LEAST_REACH, float(np.abs(rates - 0.5).max())),
    }
    parts = (
        f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>"
        for name, text in describe(rules)
    )
    title = title or f"{found['rules']}: {len(names)} strategies, all against all"
    body = frame.fill(
        "field.html",
        title=html.escape(title),
        summary=_summary(ranking),
        played=_played(found),
        equals=html.escape(_equals(found.get("tie_break"))),
        win=f"{100.0 * found.get('threshold', WIN):.12g}",
        notes=_notes(found, names),
        rules=html.escape(found["rules"]),
        parts="".join(parts),
    )
    return frame.page(title, body, styles="sheet", scripts=f"{SHARED} field", data=data)


def _summary(ranking: Sequence[Mapping[str, Any]]) -> str:
    first = [line for line in ranking if line["rank"] == 1]
    names = ", ".join(html.escape(line["name"]) for line in first[:3])
    shared = f" and {len(first) - 3} more" if len(first) > 3 else ""
    won = f"{first[0]['wins']} of {len(ranking) - 1} matches"
    mean = percent(first[0]["mean_win_rate"])
    alone = f", {mean} on average" if len(first) == 1 else " each"
    return f"First: <b>{names}{shared}</b>, {won} won{alone}."


def _equals(tie_break: str | None) -> str:
    """Say how equals are ranked."""
    if tie_break is None:
        return "equals share a rank"
    if tie_break == "bytes":
        return "of equals the smaller file, in bytes, ranks first"
    return f"of equals the higher win rate against {tie_break} ranks first"


def _played(found: Mapping[str, Any]) -> str:
    """Say when, by which rules, and how many entries are left out."""
    text = f"{date.today().isoformat()}, by the rules of {found['rules']}"  # noqa: DTZ011 - of here
    left_out = found.get("left_out", 0)
    return html.escape(f"{text}; {left_out} more not valid" if left_out else text)


def _notes(found: Mapping[str, Any], names: Sequence[str]) -> str:
    same = [" = ".join(names[index] for index in group) for group in found["identical"]]
    # Names of files, not where they lie on the staff's machine.
    out = [
        one["reason"].replace(printable(one["entry"]), printable(PurePath(one["entry"]).name))
        for one in found["refused"]
    ]
    return "".join(
        f"<h2>{title}</h2><ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>"
        for title, lines in (("The same strategy", same), ("Left out", out))
        if lines
    )


def public_page(
    found: Mapping[str, Any], names: Sequence[str], rules: Rules, title: str | None
) -> str:
    """Write the page of ranks, entries in their order: that of files could betray names."""
    order = [line["index"] for line in found["ranking"]]
    place = {index: rank for rank, index in enumerate(order)}
    lines = [
        {
            **line,
            "index": place[line["index"]],
            "lowest_against": place[line["lowest_against"]],
            "file": names[line["index"]],
        }
        for line in found["ranking"]
    ]
    rates = [[found["win_rates"][a][b] for b in order] for a in order]
    shown = {"ranking": lines, "win_rates": rates, "identical": [], "refused": []}
    shown["left_out"] = len(found["refused"])
    return field_page({**found, **shown}, [names[index] for index in order], rules, title)
