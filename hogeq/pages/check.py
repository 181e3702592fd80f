"""The page about a submission: what is wrong with it, or how it does."""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from hogeq.contest.assessment import Assessment
from hogeq.contest.tournament import WIN
from hogeq.pages import frame
from hogeq.support.aliases import Matrix
from hogeq.support.messages import printable
from hogeq.support.numbers import DIGITS, EXACT, counted, duration, percent, pp

_DECIMALS: Final = 8  # of costs on the map


def checked_page(
    found: Mapping[str, Any], matrix: Matrix | None, assessed: Assessment | None
) -> str:
    """Write the page about a submission, one self-contained HTML file."""
    title = printable(f"{found['player_name'] or found['file']}, {found['rules']}")
    if matrix is None or assessed is None:
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
            "dice": matrix.tolist(),
            "best": assessed.best.tolist(),
            "losses": assessed.costs.round(_DECIMALS).tolist(),
            "most": float(assessed.costs.max()),
        }
    notes = "; ".join(contest_notes(found))
    if notes:
        verdict += f"<p>{html.escape(notes[0].upper() + notes[1:])}.</p>"
    return frame.page(
        title,
        frame.fill("check.html", title=html.escape(title), verdict=verdict, parts=parts),
        style=frame.part("sheet.css"),
        script=frame.parts(("scheme.js", "numbers.js", "grid.js", "check.js")),
        data=frame.as_json(data),
    )


def contest_notes(found: Mapping[str, Any]) -> list[str]:
    """Say what a contest may not like, although it is no fault."""
    notes = []
    if found["files"]:
        alone = "works without them" if found["alone"] else "does not work without them"
        files = ", ".join(found["files"])
        notes.append(f"it reads other files, where a contest may take one, and {alone}: {files}")
    if found["prints"]:
        notes.append("it prints: what it prints is not shown")
    return notes


def response_text(found: Mapping[str, Any], digits: int = DIGITS) -> str:
    """Say what a best response wins; or the best found, by what effort, and what none exceeds."""
    rate, effort = percent(found["best_response"], digits), found["effort"]
    if effort is None:
        told = f"a best response wins {rate}"
        if not found["endless"]:
            return told
        lost = pp(found["endless"], digits, signed=False)
        return f"{told}; {lost} of that are lost by games that never end"
    kicks = counted(effort["kicks"], "kick") if effort["kicks"] else "no kicks"
    spent = f"({counted(effort['starts'], 'start')}, {kicks})"
    better = found["best_response"] > found["win_rate"] + EXACT
    told = (
        f"the best response found {spent} wins {rate}"
        if better
        else f"none found {spent} wins more"
    )
    return f"{told}, and none can win more than {percent(found['bound'], digits)}"


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
    return pp(difference, signed=False).removesuffix(" pp")


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
