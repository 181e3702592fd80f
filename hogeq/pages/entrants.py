"""The page about a submission, and that of its entrant, which adds where it stands."""

import builtins
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from hogeq.contest.assessment import (
    Assessment,
    Facts,
    Part,
    Reference,
    facts_of,
    game_to,
    outcome,
    positions,
    reasons,
    results,
    summary,
)
from hogeq.contest.judging import Judged, facts
from hogeq.contest.staff import Contest
from hogeq.contest.submission import contest_notes
from hogeq.model.compiling import expect
from hogeq.model.game import HogEngine
from hogeq.pages import frame
from hogeq.pages.field import DECIMALS, SHARED
from hogeq.strategies.files import LONGEST_NAME, MAX_BYTES
from hogeq.strategies.submissions import Fault
from hogeq.support.files import read_whole
from hogeq.support.messages import counted, duration, percent, printable
from hogeq.support.progress import phase
from hogeq.support.workers import compute

LATEST: Final = "of a student's files the last by name counts"


def checked_page(facts: Facts, functions: Sequence[str] = ()) -> str:
    """Write the page about a submission, one self-contained HTML file.

    ``functions`` are lines about those of a project that differ from the rules.
    """
    submission, assessed = facts.submission, facts.assessment
    title = printable(f"{submission.name or facts.file}, {facts.rules}")
    parts, data = _faults(submission.faults), {}
    verdict = '<p class="bad"><b>Not valid.</b> All that was found:</p>'
    if not submission.faults:
        seconds = submission.seconds
        answers = f", asked for every position in {duration(seconds['table'])}" if seconds else ""
        verdict = f'<p><b class="good">Valid.</b> {submission.size:,} bytes{answers}.</p>'
    if assessed is not None:
        why = summary(str(facts.against), assessed)
        parts += f"<h2>Why it loses</h2><p>{html.escape(_sentence(why))}.</p>"
        tables = chain(reasons(assessed), results(facts.win_rates), positions(assessed))
        parts += _laid_out(tables) + _map(facts.rules, assessed)
        data = {
            "dice": assessed.rolls.tolist(),
            "best": assessed.best.tolist(),
            "losses": assessed.costs.round(DECIMALS).tolist(),
            "most": float(assessed.costs.max()),
        }
    notes = "; ".join(contest_notes(submission))
    if notes:
        verdict += f"<p>{html.escape(_sentence(notes))}.</p>"
    if functions:
        verdict += f"<h2>Functions of the project</h2>{_listed(functions)}"
    body = frame.fill(
        "check.html", title=html.escape(title), verdict=verdict, parts=parts, look="two"
    )
    return frame.page(title, body, styles="sheet", scripts=f"{SHARED} check", data=data)


def _faults(faults: Iterable[Fault]) -> str:
    lists = []
    for fault in faults:
        lines = [fault.line]
        if fault.times > 1:
            lines.append(f"and {fault.times - 1:,} more like these")
        lists.append(_listed(lines))
    return "".join(lists)


def _listed(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>"


def _laid_out(parts: Iterable[Part]) -> str:
    """Write tables as the command prints them, with bars."""
    text = ""
    for heading, table, bars, last in parts:
        header = [*(table.header or [""] * len(table.rows[0])), *[""] * bool(bars)]
        kinds = ["text long" if column < table.left else "" for column in range(len(header))]
        kinds = [_KINDS.get(title, kind) for title, kind in zip(header, kinds, strict=True)]
        rows = [[html.escape(str(cell)) for cell in row] for row in table.rows]
        for row, (share, look) in zip(rows, bars, strict=False):
            kind = look.removeprefix("half").strip()
            row[1] = f'<span class="{kind}">{row[1]}</span>' if "half" in look else row[1]
            row.append(frame.bar(share, look))
        title, after = map(html.escape, map(_sentence, (heading.partition(" (")[0], last)))
        text += f"<h2>{title}</h2>" if title else ""
        text += frame.table(header, rows, kinds, title or "Loss")
        text += f"<p>{after}</p>" if after else ""
    return text


def _sentence(line: str) -> str:
    return line[:1].upper() + line[1:]


_KINDS: Final = {"positions": "roomy"}  # looks of columns: a phone has no room for all


def _map(rules: str, assessed: Assessment) -> str:
    if not assessed.losses:
        return ""
    response = "the best response found" if assessed.effort else "a best response"
    return frame.fill("every.html", rules=html.escape(rules), response=response)


# --- the pages of entrants ------------------------------------------------------------------------


def entrants_pages(
    contest: Contest,
    folder: Path,
    title: str,
    found: Mapping[str, Any],
    names: Sequence[str],
    heading: str,
) -> dict[str, str | None]:
    """Make the pages of entrants by their names; None for one that is in the folder already."""
    game = contest.game
    new: list[_Task] = []
    pages: dict[str, str | None] = {}
    ranked = {contest.valid[line["index"]].entrant: line for line in found["ranking"]}
    for one in contest.judged:
        entrant, name, line = one.entrant, contest.page_of(one.entrant), ranked.get(one.entrant)
        goal = contest.own_goals.get(entrant, game.goal)
        notes = [heading, _standing(line, names), f"Judged: {entrant.file}."]
        if goal != game.goal:
            notes.append(f"Its goal is {goal}. The opponents below have {game.goal}.")
        if line is not None:
            notes.append(f"The public page calls it {names[line['index']]}.")
        if entrant.earlier:
            notes.append(f"Not judged, since {LATEST}: {', '.join(entrant.earlier)}.")
        texts = {
            "standing": "".join(f"<p>{html.escape(note)}</p>" for note in notes),
            "matches": "" if line is None else _matches(line, found, names),
        }
        key = _hash([facts(one.submission), entrant.file, title, contest.made_by, goal])
        known = _read_page(folder / name)
        pages[name] = _with_sections(known, key, texts)
        if pages[name] is None:
            new.append(_Task(one, name, key, texts, goal))
        elif pages[name] == known:
            pages[name] = None
    expect(game, "full memory")
    with phase("assessing", len(new), "entrants") as progress:
        games = {goal: game_to(game, goal) for goal in {one.goal for one in new}}
        make = partial(_entrant_page, games, title)
        made = compute(make, new, lambda _: progress.step(), local=True)
    return pages | {task.name: page for task, page in zip(new, made, strict=True)}


class _Task(NamedTuple):
    """A page to be made."""

    judged: Judged
    name: str
    key: str  # of what it is made of
    texts: Mapping[str, str]  # its sections about the field
    goal: int


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _read_page(path: Path) -> str:
    try:
        return read_whole(path, MAX_BYTES).decode()
    except (OSError, ValueError):
        return ""


def _entrant_page(games: Mapping[int, tuple[HogEngine, Reference]], title: str, task: _Task) -> str:
    """Write the page of an entrant, without any text of its code but the player's name.

    Code could say anything: what it read, or what another entry holds.
    """
    one = task.judged
    game, reference = games[task.goal]
    given = one.submission
    has_bad_name = any(fault.kind == "name" for fault in given.faults)
    submission = replace(
        given,
        name=None if has_bad_name else given.name,
        faults=tuple(fault._replace(line=_in_our_words(fault)) for fault in given.faults),
        files=(counted(len(given.files), "file"),) if given.files else (),
    )
    page = checked_page(facts_of(game, one.entrant.file, title, submission, reference))
    page = page.replace("</h1>", f"</h1>{_opening('standing', task.key)}</section>", 1)
    page = page.replace("</main>", f"{_opening('matches', task.key)}</section></main>", 1)
    return _with_sections(page, task.key, task.texts) or page


_OURS: Final = {"time", "crash", "shape", "unread", "same"}  # faults that code has no words in

_RAISED: Final = re.compile("(?:is -?[0-9]{1,9}, and (when asked again) )?raised ([A-Za-z_]+)")

_LINE: Final = re.compile("\\(.*(line [0-9]{1,9})\\)$")

_NUMBERS: Final = re.compile("is -?[0-9]{1,9}( \\(int\\);|, and -?[0-9]{1,9} when asked again)")


def _in_our_words(fault: Fault) -> str:
    """Describe a fault of code without any text of its own, plain numbers apart."""
    asked = re.match("final_strategy\\([0-9]+, [0-9]+\\) ", fault.line)
    where = asked[0] if asked else ""
    line = fault.line[len(where) :]
    if line.startswith("cannot be judged: "):
        return "cannot be judged: ask those who run the contest"
    if fault.kind == "name":
        return f"PLAYER_NAME: allowed: a text of 1 to {LONGEST_NAME} characters"
    if fault.kind in _OURS or (fault.kind == "range" and not where):  # a cell of a table
        return fault.line
    raised = _RAISED.match(line)
    if raised is not None:
        known = getattr(builtins, raised[2], None)
        is_known = isinstance(known, type) and issubclass(known, BaseException)
        again = f"{raised[1]}, it " if raised[1] else ""
        at = _LINE.search(line)
        kind = raised[2] if is_known else "an error of its own"
        return f"{where}{again}raised {kind}{f' in {at[1]}' if at else ''}"
    if _NUMBERS.match(line) or line.startswith(("defines no ", "ended without an answer (")):
        return fault.line
    again = " when asked again" if fault.kind == "impure" else ""
    return f"{where}gave what is not allowed{again}"


def _standing(line: Mapping[str, Any] | None, names: Sequence[str]) -> str:
    """Say where an entrant stands by the line of the ranking, None if not ranked."""
    if line is None:
        return "Not ranked."
    won = f"{line['wins']} of {len(names) - 1} matches won"
    lowest = f"{percent(line['lowest_win_rate'])}, against {names[line['lowest_against']]}"
    mean = f"{percent(line['mean_win_rate'])} on average; the least, {lowest}"
    return f"Rank {line['rank']} of {len(names)}: {won}, {mean}."


def _matches(line: Mapping[str, Any], found: Mapping[str, Any], names: Sequence[str]) -> str:
    """List the matches of an entrant, the hardest first."""
    rates, threshold = found["win_rates"][line["index"]], found["threshold"]
    rows = []
    for other in sorted(found["ranking"], key=lambda one: rates[one["index"]]):
        if other is not line:
            rate = rates[other["index"]]
            kind = outcome(rate, threshold)
            share = f'<span class="{kind}">{percent(rate)}</span>', frame.bar(rate, f"half {kind}")
            word = {"good": "won", "bad": "lost"}.get(kind, "tied")
            rows.append((other["rank"], html.escape(names[other["index"]]), *share, word))
    header = ("rank", "against", "wins", "", "")
    table = frame.table(header, rows, ("", "text name", "", "", "text roomy"), "Matches", "tall")
    return f"<h2>Its matches, the hardest first</h2>{table}"


def _with_sections(page: str, key: str, texts: Mapping[str, str]) -> str | None:
    """Put other sections into a page that was made of the same; None if it was not."""
    for name, text in texts.items():
        opening = _opening(name, key)
        before, _, rest = page.partition(opening)
        _, end, after = rest.partition("</section>")
        if not end:
            return None
        page = f"{before}{opening}{text}{end}{after}"
    return page


def _opening(name: str, key: str) -> str:
    return f'<section id="{name}" data-key="{key}">'
