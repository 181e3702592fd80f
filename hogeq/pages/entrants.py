"""The page about a submission, and that of its entrant, which adds where it stands."""

import builtins
import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from hogeq import Assessment, Fault, Hog, Submission
from hogeq.contest import judging
from hogeq.contest.assessment import Facts, Reference, facts_of, game_with_goal, outcome, results
from hogeq.contest.judging import Judged
from hogeq.contest.ranking import Ranked, Ranking
from hogeq.contest.staff import Contest, hash_of
from hogeq.contest.submission import contest_notes
from hogeq.pages import frame
from hogeq.pages.field import DECIMALS, SHARED
from hogeq.support.files import read_whole
from hogeq.support.html import Html
from hogeq.support.html import table as html_table
from hogeq.support.kinds import MAX_BYTES
from hogeq.support.messages import LONGEST_NAME, Part, counted, duration, percent, printable
from hogeq.support.progress import phase
from hogeq.support.workers import compute

LATEST: Final = "of a student's files the last by name counts"


def checked_page(facts: Facts, functions: Sequence[str] = ()) -> str:
    """Write the page about a submission, one self-contained HTML file.

    ``functions`` are lines about functions of a student's project that differ from the rules.
    """
    submission = facts.submission
    assessment = facts.assessment  # None if the submission is not valid
    title = printable(f"{submission.name or facts.file}, {facts.rules}")
    verdict = _verdict(submission, functions)
    sections = _fault_lists(submission.faults)
    map_data: dict[str, Any] = {}
    if assessment is not None:
        summary = assessment.summary(str(facts.against))
        sections += f"<h2>Why it loses</h2><p>{html.escape(_sentence(summary))}.</p>"
        tables = chain(assessment.reasons(), results(facts.win_rates), assessment.positions())
        sections += _tables(tables) + _map(facts.rules, assessment)
        map_data = {
            "dice": assessment.rolls.tolist(),
            "best": assessment.best.tolist(),
            "losses": assessment.costs.round(DECIMALS).tolist(),
            "most": float(assessment.costs.max()),
        }
    body = frame.fill(
        "check.html", title=html.escape(title), verdict=verdict, parts=sections, look="two"
    )
    return frame.page(title, body, styles="sheet", scripts=f"{SHARED} check", data=map_data)


def _verdict(submission: Submission, functions: Sequence[str]) -> str:
    """Write as HTML whether a submission is valid, with notes, and faults of its functions."""
    if submission.faults:
        verdict = '<p class="bad"><b>Not valid.</b> All that was found:</p>'
    else:
        seconds = submission.seconds
        answers = f", asked for every position in {duration(seconds['table'])}" if seconds else ""
        verdict = f'<p><b class="good">Valid.</b> {submission.size:,} bytes{answers}.</p>'
    notes = "; ".join(contest_notes(submission))
    if notes:
        verdict += f"<p>{html.escape(_sentence(notes))}.</p>"
    if functions:
        verdict += f"<h2>Functions of the project</h2>{frame.html_list(functions)}"
    return verdict


def _fault_lists(faults: Sequence[Fault]) -> str:
    """Write an HTML list for each kind of fault: its first occurrence, and how many more."""
    lists = []
    for fault in faults:
        lines = [fault.line]
        if fault.times > 1:
            lines.append(f"and {fault.times - 1:,} more like these")
        lists.append(frame.html_list(lines))
    return "".join(lists)


def _tables(parts: Iterable[Part]) -> str:
    """Write tables as HTML, each with its heading and the line after it.

    If a part has `bars`, a pair (share, look) for each row, rows get a bar as their last cell. A
    look such as "half good" is of a win rate: the bar has a mark at one half, and the second cell
    of the row gets the colour class after "half".
    """
    text = ""
    for heading, table, bars, last_line in parts:
        header = list(table.header or [""] * len(table.rows[0]))
        if bars:
            header.append("")
        classes = [
            _COLUMN_CLASSES.get(title, "text long" if column < table.left else "")
            for column, title in enumerate(header)
        ]
        rows = [[*row] for row in table.rows]
        for row, (share, look) in zip(rows, bars, strict=False):
            if "half" in look:
                colour = look.removeprefix("half").strip()
                row[1] = Html(f'<span class="{colour}">{html.escape(str(row[1]))}</span>')
            row.append(frame.bar(share, look))
        title = html.escape(_sentence(heading.partition(" (")[0]))
        if title:
            text += f"<h2>{title}</h2>"
        text += frame.scrolling(html_table(rows, header, kinds=classes), label=title or "Loss")
        if last_line:
            text += f"<p>{html.escape(_sentence(last_line))}</p>"
    return text


def _sentence(line: str) -> str:
    """Write the first letter as a capital."""
    return line[:1].upper() + line[1:]


_COLUMN_CLASSES: Final = {"positions": "roomy"}  # a phone has no room for all columns


def _map(rules: str, assessment: Assessment) -> str:
    """Write the frame of the map of losses, which a script draws; empty if nothing is lost."""
    if not assessment.losses:
        return ""
    response = "the best response found" if assessment.effort else "a best response"
    return frame.fill("every.html", rules=html.escape(rules), response=response)


# --- the pages of entrants ------------------------------------------------------------------------


def entrants_pages(
    contest: Contest,
    folder: Path,
    title: str,
    tournament: Ranking,
    names: Sequence[str],
    heading: str,
) -> dict[str, str | None]:
    """Make the pages of entrants, by file name; None for a page that need not be written.

    Assessing a submission is slow. So if `folder` has a page of the same submission by the same
    rules, only its sections about the field are replaced. `title` names the rules, `heading` is the
    first line of a page, and `names` are the public names by index in the tournament.
    """
    game = contest.game
    common_goal = game.rules.size
    tasks: list[_Task] = []
    pages: dict[str, str | None] = {}
    ranked = {contest.valid[line.index].entrant: line for line in tournament.ranking}
    for judged in contest.judged:
        entrant = judged.entrant
        name = contest.page_of(entrant)
        line = ranked.get(entrant)  # None if it is not valid
        goal = contest.own_goals.get(entrant, common_goal)
        notes = [heading, _standing_text(line, names), f"Judged: {entrant.file}."]
        if goal != common_goal:
            notes.append(f"Its goal is {goal}. The opponents below have {common_goal}.")
        if line is not None:
            notes.append(f"The public page calls it {names[line.index]}.")
        if entrant.earlier:
            notes.append(f"Not judged, since {LATEST}: {', '.join(entrant.earlier)}.")
        sections = {
            "standing": "".join(f"<p>{html.escape(note)}</p>" for note in notes),
            "matches": "" if line is None else _matches(line, tournament, names),
        }
        submission = judging.to_json(judged.submission)
        key = hash_of([submission, entrant.file, title, contest.made_by, goal])
        old_page = _read_page(folder / name)
        new_page = _with_sections(old_page, key, sections)
        if new_page is None:
            tasks.append(_Task(judged, name, key, sections, goal))
        pages[name] = None if new_page == old_page else new_page
    game.prepare("full memory")
    with phase("assessing", len(tasks), "entrants") as progress:
        games = {goal: game_with_goal(game, goal) for goal in {task.goal for task in tasks}}
        make_page = partial(_entrant_page, games, title)
        new_pages = compute(make_page, tasks, lambda _: progress.step(), local=True)
    return pages | {task.name: page for task, page in zip(tasks, new_pages, strict=True)}


class _Task(NamedTuple):
    """A page to be made."""

    judged: Judged
    name: str  # of its file
    key: str  # hash of all inputs of the page except those of its sections about the field
    sections: Mapping[str, str]  # HTML of the sections about the field, by their ids
    goal: int


def _read_page(path: Path) -> str:
    """Read a page of an earlier call; empty if there is none that can be read."""
    try:
        return read_whole(path, MAX_BYTES).decode()
    except (OSError, ValueError):
        return ""


def _entrant_page(games: Mapping[int, tuple[Hog, Reference]], title: str, task: _Task) -> str:
    """Write the page of an entrant, without texts from its code except the player's name.

    A submission could otherwise show secrets that it read, as code of other entrants. `games` has,
    by the goal of an entrant, the game and the reference tables to compare with.
    """
    submission = task.judged.submission
    game, reference = games[task.goal]
    has_bad_name = any(fault.kind == "name" for fault in submission.faults)
    safe_submission = replace(
        submission,
        name=None if has_bad_name else submission.name,
        faults=tuple(fault._replace(line=_without_own_text(fault)) for fault in submission.faults),
        files=(counted(len(submission.files), "file"),) if submission.files else (),
    )
    file = task.judged.entrant.file
    page = checked_page(facts_of(game, file, title, safe_submission, reference))
    # Add the empty sections about the field: one after the title, one at the end.
    page = page.replace("</h1>", f"</h1>{_opening_tag('standing', task.key)}</section>", 1)
    page = page.replace("</main>", f"{_opening_tag('matches', task.key)}</section></main>", 1)
    return _with_sections(page, task.key, task.sections) or page


_SAFE_KINDS: Final = {"time", "crash", "shape", "unread", "same"}
"""Kinds of faults whose line holds no text that the entrant's code could have chosen."""

# Lines of faults: an error that was raised; the line of code at its end; a wrong number.
_RAISED: Final = re.compile("(?:is -?[0-9]{1,9}, and (when asked again) )?raised ([A-Za-z_]+)")
_LINE: Final = re.compile("\\(.*(line [0-9]{1,9})\\)$")
_NUMBERS: Final = re.compile("is -?[0-9]{1,9}( \\(int\\);|, and -?[0-9]{1,9} when asked again)")


def _without_own_text(fault: Fault) -> str:
    """Describe a fault of a submission without any text that its code could have chosen.

    Only numbers, names of Python's own errors, and texts of ours remain. The line of a fault begins
    with the call that showed it, such as "final_strategy(3, 0) ", if a call did.
    """
    call = re.match("final_strategy\\([0-9]+, [0-9]+\\) ", fault.line)
    where = call[0] if call else ""
    line = fault.line[len(where) :]
    if line.startswith("cannot be judged: "):
        return "cannot be judged: ask those who run the contest"
    if fault.kind == "name":
        return f"PLAYER_NAME: allowed: a text of 1 to {LONGEST_NAME} characters"
    is_cell_of_table = fault.kind == "range" and not where
    if fault.kind in _SAFE_KINDS or is_cell_of_table:
        return fault.line
    raised = _RAISED.match(line)
    if raised is not None:
        second_call, error_name = raised.groups()
        again = f"{second_call}, it " if second_call else ""
        # A class that the code defines may have any name, so only Python's own are named.
        error_type = getattr(builtins, error_name, None)
        is_builtin = isinstance(error_type, type) and issubclass(error_type, BaseException)
        error = error_name if is_builtin else "an error of its own"
        line_number = _LINE.search(line)
        location = f" in {line_number[1]}" if line_number else ""
        return f"{where}{again}raised {error}{location}"
    if _NUMBERS.match(line) or line.startswith(("defines no ", "ended without an answer (")):
        return fault.line
    again = " when asked again" if fault.kind == "impure" else ""
    return f"{where}gave what is not allowed{again}"


def _standing_text(line: Ranked | None, names: Sequence[str]) -> str:
    """Write the rank and win rates of an entrant; its line of the ranking is None if unranked."""
    if line is None:
        return "Not ranked."
    won = f"{line.wins} of {len(names) - 1} matches won"
    lowest = f"{percent(line.lowest_win_rate)}, against {names[line.lowest_against]}"
    mean = f"{percent(line.mean_win_rate)} on average; the least, {lowest}"
    return f"Rank {line.rank} of {len(names)}: {won}, {mean}."


def _matches(line: Ranked, tournament: Ranking, names: Sequence[str]) -> str:
    """Write the matches of an entrant as an HTML table, those with the lowest win rate first.

    `line` is the entrant's line of the ranking, `names` are the public names by index.
    """
    win_rates = tournament.win_rates[line.index]
    opponents = [other for other in tournament.ranking if other is not line]
    rows = []
    for opponent in sorted(opponents, key=lambda other: win_rates[other.index]):
        win_rate = win_rates[opponent.index]
        colour = outcome(win_rate, tournament.threshold)
        word = {"good": "won", "bad": "lost"}.get(colour, "tied")
        share = Html(f'<span class="{colour}">{percent(win_rate)}</span>')
        bar = frame.bar(win_rate, f"half {colour}")
        rows.append((opponent.rank, names[opponent.index], share, bar, word))
    header = ("rank", "against", "wins", "", "")
    table = html_table(rows, header, kinds=("", "text name", "", "", "text roomy"))
    return f"<h2>Its matches, the hardest first</h2>{frame.scrolling(table, 'tall', 'Matches')}"


def _with_sections(page: str, key: str, sections: Mapping[str, str]) -> str | None:
    """Replace the content of sections of a page, by their ids.

    None if the page lacks one with this key: it was made of another submission, or other rules.
    """
    for name, content in sections.items():
        opening = _opening_tag(name, key)
        before, _, rest = page.partition(opening)
        _, closing, after = rest.partition("</section>")
        if not closing:
            return None
        page = f"{before}{opening}{content}{closing}{after}"
    return page


def _opening_tag(name: str, key: str) -> str:
    """Write the tag that begins a section about the field."""
    return f'<section id="{name}" data-key="{key}">'
