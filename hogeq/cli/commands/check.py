"""`hogeq check`: validate a submission and measure it."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import hogeq
from hogeq.cli.inputs import Chosen, HogGame
from hogeq.cli.options import PAGE, TimeLimit, argument, option, readable
from hogeq.cli.shell import Result, refusing
from hogeq.support.files import write_whole
from hogeq.support.messages import Text, duration, indented

if TYPE_CHECKING:
    from hogeq.contest.assessment import Facts
    from hogeq.contest.functions import Comparison

NOT_VALID = 2  # exit status


def check(
    file: Annotated[Path, argument("FILE", "A submission, or a table.", callback=readable)],
    chosen: HogGame,
    against: Annotated[
        str | None,
        option("Opponent of losses and changes. [optimal; with hidden memory, champion]"),
    ] = None,
    page: Annotated[
        Path | None, option("Write the same as a page.", "FILE", name="--html"), PAGE
    ] = None,
    time_limit: TimeLimit = 60.0,
) -> Result:
    """Check a submission as the contest would, and measure it.

    Every kind of fault is listed with its count, and the exit status is 2 if there is one. For a
    valid table come groups of what it loses to a best response against a strong opponent: by
    mistake, phase and lead, each with the whole as its sum. Then simple changes that gain most,
    what it wins against the strategies of the package, and last single positions. With hidden
    memory nobody can compute a best response: losses are measured by the best one that a short
    search finds, with its effort, and by a bound that none exceeds.

    Of a project's folder final_strategy.py or hog.py is checked. Functions of the semester's
    project are compared with the rules at every pair of scores, in hog.py too. A final_strategy
    that samples rolls is random, and not valid; it is measured with their exact means.

    JSON: the keys of `hogeq.contest.assessment.facts_of`, attempts (at forbidden things, in the
    file's own words), and functions (function, file, calls, differ, kind, first, cost, told).
    """
    rules = chosen.choose()
    from hogeq.contest.functions import PROJECT, Comparison, Project, compare_functions, main_file
    from hogeq.contest.submission import as_one_file, inspect_submission, is_named

    if against is not None:
        hogeq.Game.require_strategy(against, hog=True)
    project_files = [PROJECT] if file.is_dir() else []
    if project_files:  # a project's folder: the file with the strategy
        file = main_file(file) or file
    submission = inspect_submission(file, rules, chosen.trust, time_limit=time_limit)
    # The command that makes one file of a submission of several, for a note.
    name_option = () if is_named(submission) else ("--player-name", "NAME")
    options = ("--rules", chosen.spec or rules.name, *name_option, "--trust", "--out", "one.py")
    submission = as_one_file(submission, chosen.command("export", file, *options))
    game = chosen.load_hog()
    from hogeq.contest.assessment import Reference, facts_of
    from hogeq.pages.entrants import checked_page

    reference = None
    compared = Comparison([], [], None)
    opponent = against or game.strongest
    may_run = chosen.trust and file.suffix.lower() == ".py"
    project = Project(game, file, project_files) if may_run else None
    if submission.strategy is not None or (project and project.functions):
        game.prepare("matches", "search", "values", strategies=[against or ""])
        reference = Reference(chosen.table(opponent).named(opponent), game.baselines())
    if project and project.functions and reference:
        is_random = any(fault.kind == "impure" for fault in submission.faults)
        compared = compare_functions(
            project, submission.strategy, reference.against, samples=is_random
        )
        # The table of a random submission has the exact means of its samples, if they are known.
        submission = replace(submission, strategy=compared.exact or submission.strategy)
    facts = facts_of(game, str(file), chosen.name, submission, reference)
    if page is not None:
        lines = [function.told for function in compared.functions if function.told]
        with refusing():
            write_whole(page, checked_page(replace(facts, rules=chosen.title), lines))
    data = {
        **facts.to_json(),
        "functions": [
            {**function._asdict(), "told": function.told} for function in compared.functions
        ],
        # Texts of the submission's own code: printed here, but written on no page.
        "attempts": list(submission.attempts),
    }
    status = NOT_VALID if submission.faults else 0
    return Result(data, _verdict_text(chosen, facts, compared), status)


def _verdict_text(chosen: Chosen, facts: "Facts", compared: "Comparison") -> Text:
    """Lay out whether a submission is valid, notes, its functions, and its table's assessment."""
    from hogeq.contest.assessment import assessed_text
    from hogeq.contest.submission import contest_notes

    submission = facts.submission
    notes = contest_notes(submission)
    notes += [f"it tried, in its own words: {attempt}" for attempt in submission.attempts]
    assessment = [*assessed_text(facts), *chosen.endless]
    if not submission.faults:
        valid = _validity_lines(submission, chosen.title)
        return [*valid, *notes, *compared.text(), *assessment]
    text: Text = [f"{facts.file}: not valid for {chosen.title}", *_fault_lines(submission)]
    text += [*([""] if notes else []), *notes, *compared.text()]
    if facts.assessment is None:
        return text
    # The table is measured nevertheless.
    heading = "its table, all the same:"
    if compared.exact:
        heading = "it is random; its table with exact means in place of its samples:"
    return [*text, "", heading, *assessment]


def _fault_lines(submission: "hogeq.Submission") -> list[str]:
    """List each kind of fault of a submission after an empty line, with the number of faults."""
    lines = []
    for fault in submission.faults:
        count = f" ({fault.times:,} like this)" if fault.times > 1 else ""
        lines += ["", *indented([f"{fault.line}{count}"])]
    return lines


def _validity_lines(submission: "hogeq.Submission", title: str) -> list[str]:
    """Say that a submission is valid, and how long its code took."""
    name = f", by {submission.name}" if submission.name else ""
    lines = [f"valid for {title}{name}: {submission.size:,} bytes"]
    if submission.seconds:
        load = duration(submission.seconds["load"])
        table = duration(submission.seconds["table"])
        slowest = duration(submission.seconds["slowest"])
        lines.append(
            f"asked for every position it takes {table}, for one at most {slowest}; to load, {load}"
        )
    return lines
