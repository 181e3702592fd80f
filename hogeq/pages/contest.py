"""The pages of a contest: the ranks of a field, and one about each submission."""

import hashlib
import html
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Final

import numpy as np

from hogeq.contest.assessment import (
    Assessment,
    Reference,
    contest_notes,
    facts_of,
    game_to,
    response_text,
    usual_reference,
)
from hogeq.contest.staff import Contest, Judged
from hogeq.contest.tournament import WIN
from hogeq.model.compiling import expect
from hogeq.model.game import HogEngine
from hogeq.pages import frame
from hogeq.support.files import csv_text, write_whole
from hogeq.support.messages import counted, duration, loss, percent, printable
from hogeq.support.progress import phase
from hogeq.support.workers import compute

_DECIMALS: Final = 8  # of win rates in the picture, and of costs on the map

_LEAST_REACH: Final = 0.01  # of the colours, on either side of one half

_SHARED: Final = "scheme numbers grid"  # scripts of every page

_COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("rank", "number", "rank"),
    ("strategy", "text", "name"),
    ("file", "text", "file"),
    ("goal", "number", "goal"),
    ("won", "number", "wins"),
    ("tied", "number", "ties"),
    ("mean win rate", "share", "mean_win_rate"),
    ("Nash", "share", "nash"),
    ("lowest", "share", "lowest_win_rate"),
    ("against", "text", "lowest_against"),
)

_NARROW: Final = {"rank", "strategy", "won", "mean win rate"}  # columns that a phone has room for


def field_page(found: Mapping[str, Any], names: Sequence[str]) -> str:
    """Write the page of a tournament, one self-contained HTML file."""
    ranking = [
        {
            **line,
            "name": names[line["index"]],
            "nash": line["nash"] or None,
            "lowest_against": names[line["lowest_against"]],
        }
        for line in found["ranking"]
    ]
    by_player = any(line["name"] != line["file"] for line in ranking)
    left_out = set() if by_player else {"file"}
    if not any(line.get("ties") for line in ranking):
        left_out.add("ties")
    if "goal" not in ranking[0]:
        left_out.add("goal")
    columns = [column for column in _COLUMNS if column[2] not in left_out]
    rates = np.array(found["win_rates"])
    data = {
        "columns": [
            {"name": name, "kind": kind, "narrow": name in _NARROW} for name, kind, _ in columns
        ],
        "rows": [[line[key] for *_, key in columns] for line in ranking],
        "index": [line["index"] for line in ranking],
        "rates": rates.round(_DECIMALS).tolist(),
        "reach": max(_LEAST_REACH, float(np.abs(rates - 0.5).max())),
    }
    title = f"{found['rules']}: {len(names)} strategies, all against all"
    body = frame.fill(
        "field.html",
        title=html.escape(title),
        summary=_summary(ranking),
        win=f"{100.0 * found.get('threshold', WIN):.12g}",
        notes=_notes(found, names),
    )
    return frame.page(title, body, styles="sheet", scripts=f"{_SHARED} field", data=data)


def _summary(ranking: Sequence[Mapping[str, Any]]) -> str:
    first = [line for line in ranking if line["rank"] == 1]
    names = ", ".join(html.escape(line["name"]) for line in first[:3])
    shared = f" and {len(first) - 3} more" if len(first) > 3 else ""
    won = f"{first[0]['wins']} of {len(ranking) - 1} matches"
    mean = percent(first[0]["mean_win_rate"])
    alone = f", {mean} on average" if len(first) == 1 else " each"
    return f"First: <b>{names}{shared}</b>, {won} won{alone}."


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


def public_page(found: Mapping[str, Any], names: Sequence[str]) -> str:
    """Write the page of ranks, in whose order entries are: that of files could tell who is who."""
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
    return field_page({**found, **shown}, [names[index] for index in order])


# --- a submission, and the page of its entrant ----------------------------------------------------


def checked_page(found: Mapping[str, Any], assessed: Assessment | None) -> str:
    """Write the page about a submission, one self-contained HTML file."""
    title = printable(f"{found['player_name'] or found['file']}, {found['rules']}")
    if assessed is None:
        parts, data = _faults(found["faults"]), {}
        verdict = '<p class="bad"><b>Not valid.</b> All that was found:</p>'
    else:
        seconds = found["seconds"]
        answers = f", asked for every position in {duration(seconds['table'])}" if seconds else ""
        verdict = (
            f'<p><b class="good">Valid.</b> {found["bytes"]:,} bytes{answers}. Wins '
            f"{percent(found['win_rate'])} against {html.escape(found['against'])}; "
            f"{response_text(found)}.</p>"
        )
        parts = "".join((_changes(found), _losses(found), _map(found), _rates(found)))
        data = {
            "dice": assessed.rolls.tolist(),
            "best": assessed.best.tolist(),
            "losses": assessed.costs.round(_DECIMALS).tolist(),
            "most": float(assessed.costs.max()),
        }
    notes = "; ".join(contest_notes(found))
    if notes:
        verdict += f"<p>{html.escape(notes[0].upper() + notes[1:])}.</p>"
    body = frame.fill("check.html", title=html.escape(title), verdict=verdict, parts=parts)
    return frame.page(title, body, styles="sheet", scripts=f"{_SHARED} check", data=data)


def _faults(faults: Sequence[Mapping[str, Any]]) -> str:
    lists = []
    for fault in faults:
        lines = list(fault["told"])
        if fault["count"] > len(lines):
            lines.append(f"and {fault['count'] - len(lines):,} more like these")
        lists.append(f"<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>")
    return "".join(lists)


def _changes(found: Mapping[str, Any]) -> str:
    if not found["changes"]:
        return ""
    against = html.escape(found["against"])
    keys = ("score", "opponent", "roll", "instead")
    return (
        "<h2>What to change first</h2>"
        f'<p class="quiet">The changes of one cell that gain most against {against}, in '
        f"percentage points of win rate, pp. Together: {percent(found['changed'])}.</p>"
        + _table(
            ("score", "opponent", "rolls", "instead", "gain, pp"),
            [(*(one[key] for key in keys), _points(one["gain"])) for one in found["changes"]],
        )
    )


def _losses(found: Mapping[str, Any]) -> str:
    keys = ("score", "opponent", "roll", "best")
    rows = [
        (
            *(one[key] for key in keys),
            _points(one["cost"]),
            percent(one["reach"]),
        )
        for one in found["losses"]
    ]
    if not rows and found["endless"]:
        return "<h2>Where it loses</h2><p>No single turn loses anything.</p>"
    if not rows:
        nowhere = "By that, nowhere" if found["effort"] else "Nowhere"
        return f"<h2>Where it loses</h2><p>{nowhere}: nothing is lost at any position.</p>"
    response = "the best response found" if found["effort"] else "a best response"
    return (
        "<h2>Where it loses most</h2>"
        '<p class="quiet">What a position loses, in percentage points of win rate, pp: how often '
        "play comes there, times what the roll falls short of the best one, if all later turns are "
        f"played as {response} does.</p>"
        + _table(("score", "opponent", "rolls", "best", "loss, pp", "met in"), rows)
    )


def _points(difference: float) -> str:
    return loss(difference).removesuffix(" pp")


def _map(found: Mapping[str, Any]) -> str:
    measure = ", measured by the best response found" if found["effort"] else ""
    return (
        "<h2>Every position</h2>"
        f'<p class="quiet">{html.escape(found["rules"])}: own score upwards, opponent&rsquo;s to '
        f"the right. The redder, the more it loses{measure}.</p>"
        '<p id="position" aria-live="polite">Point at a position.</p>'
        '<div id="map"></div><p id="scale" class="scale"></p>'
    )


def _rates(found: Mapping[str, Any]) -> str:
    rows = []
    for one in found["win_rates"]:
        rate = one["win_rate"]
        name = html.escape(one["strategy"])
        shown = "never ends" if rate is None else percent(rate)
        kind = "" if rate is None else "good" if rate > WIN else "bad" if 1.0 - rate > WIN else ""
        bar = "" if rate is None else f'<meter min="0" max="1" value="{rate:.4f}"></meter>'
        rows.append(
            f'<tr><td class="text">{name}</td><td class="{kind}">{shown}</td><td>{bar}</td></tr>'
        )
    return (
        "<h2>What it wins</h2>"
        f'<div class="wide" tabindex="0" role="region" aria-label="Win rates"><table><thead><tr>'
        '<th class="text">against</th><th>wins</th><th></th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _table(header: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{name}</th>" for name in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    filled = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="wide" tabindex="0"><table>{filled}</table></div>'


def _standing(line: Mapping[str, Any] | None, names: Sequence[str], notes: Sequence[str]) -> str:
    """Say where an entrant stands by the line of the ranking, None if not ranked; and more."""
    told = ["Not ranked."]
    if line is not None:
        others = len(names) - 1
        won = f"{line['wins']} of {others} matches won, {percent(line['mean_win_rate'])} on average"
        lowest = f"{percent(line['lowest_win_rate'])}, against {names[line['lowest_against']]}"
        told = [f"Rank {line['rank']} of {len(names)}: {won}; the least, {lowest}."]
    return "".join(f"<p>{html.escape(one)}</p>" for one in (*told, *notes))


def _with_standing(page: str, key: str, text: str) -> str | None:
    """Put another standing into a page that was made of the same; None if it was not."""
    found = re.search(f"{re.escape(_opening(key))}.*?</section>", page, re.DOTALL)
    if found is None:
        return None
    return f"{page[: found.start()]}{_opening(key)}{text}</section>{page[found.end() :]}"


def _opening(key: str) -> str:
    return f'<section id="standing" data-key="{key}">'


# --- the folder of a contest ----------------------------------------------------------------------

RANKS: Final = (
    *("rank", "name", "student", "file", "page", "wins", "ties", "mean_win_rate", "nash"),
    *("lowest_win_rate", "lowest_against", "public_name", "not_valid"),
)
"""Columns of ranks.csv."""

LATEST: Final = "of a student's files the last by name counts"


def write_contest(
    contest: Contest, found: Mapping[str, Any], title: str, pseudonyms: bool
) -> list[str]:
    """Write pages, ranks and what is known for the next time; say what was written."""
    judged, out = contest.judged, contest.out
    public = contest.public_names(pseudonyms)
    lines = {contest.valid[line["index"]].entrant.file: line for line in found["ranking"]}
    pages: list[str] = []  # of each entrant
    for one in judged:
        plain = re.sub(r"[^\w.-]+", "_", one.entrant.student)[:80]
        same = sum(name.lower().startswith(f"{plain.lower()}.") for name in pages)
        pages.append(f"{plain}.{same + 1}.html" if same else f"{plain}.html")
    write_whole(out / "index.html", public_page({**found, "rules": title}, public))
    _write_entrants(contest, title, lines, public, pages)
    header = ("goal", *RANKS) if contest.own_goals else RANKS
    rows = []
    for one, page in zip(judged, pages, strict=True):
        line = lines.get(one.entrant.file, {})
        row = {key: line.get(key, "") for key in header}
        if line:
            against = public[line["lowest_against"]]
            row |= {"lowest_against": against, "public_name": public[line["index"]]}
        row |= {"student": one.entrant.student, "file": one.entrant.file, "name": one.name}
        rows.append({**row, "page": f"entrants/{page}", "not_valid": one.reason})
    rows.sort(key=lambda row: row["rank"] or math.inf)
    write_whole(out / "ranks.csv", csv_text(header, [list(row.values()) for row in rows]))
    contest.keep()
    earlier = sum(len(one.entrant.earlier) for one in judged)
    written = f"{out}: index.html (public), ranks.csv, {counted(len(judged), 'page')} in entrants/"
    return [
        written,
        *([f"{counted(earlier, 'earlier file')} left out: {LATEST}"] if earlier else []),
    ]


def _write_entrants(
    contest: Contest,
    title: str,
    lines: Mapping[str, Mapping[str, Any]],
    public: Sequence[str],
    pages: Sequence[str],
) -> None:
    game = contest.game
    new: list[tuple[Judged, str, str, int]] = []
    paths: list[Path] = []
    for one, name in zip(contest.judged, pages, strict=True):
        entrant, line = one.entrant, lines.get(one.entrant.file)
        goal = contest.own_goals.get(entrant.student, game.goal)
        notes = [f"Judged: {entrant.file}."]
        if goal != game.goal:
            notes.append(f"Its goal is {goal}. The opponents below have {game.goal}.")
        if line is not None:
            notes.append(f"On the page of all it is called {public[line['index']]}.")
        if entrant.earlier:
            notes.append(f"Not judged, since {LATEST}: {', '.join(entrant.earlier)}.")
        text, path = _standing(line, public, notes), contest.out / "entrants" / name
        facts = json.dumps([one.facts(), contest.made_by, goal])
        key = hashlib.sha256(facts.encode()).hexdigest()
        known = path.read_text("utf-8") if path.exists() else ""
        page = _with_standing(known, key, text)
        if page is None:
            new.append((one, key, text, goal))
            paths.append(path)
        elif page != known:
            write_whole(path, page)
    expect(game, "full memory", strategies=[usual_reference(game)])
    with phase("assessing", len(new), "entrants") as progress:
        games = {goal: game_to(game, goal) for goal in {goal for *_, goal in new}}
        make = partial(_entrant_page, games, title)
        made = compute(make, new, lambda _: progress.step(), local=True)
    for path, page in zip(paths, made, strict=True):
        write_whole(path, page)


def _entrant_page(
    games: Mapping[int, tuple[HogEngine, Reference]], title: str, task: tuple[Judged, str, str, int]
) -> str:
    """Write the page of an entrant with the text of its standing; a key says what it is made of."""
    one, key, text, goal = task
    game, reference = games[goal]
    page = checked_page(*facts_of(game, one.entrant.file, title, one.submission, reference))
    return page.replace("</h1>", f"</h1>{_opening(key)}{text}</section>", 1)
