"""`hogeq check`: validate a submission and measure it."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hogeq.cli.inputs import Chosen
from hogeq.cli.options import (
    HOG_ALONE,
    PAGE,
    RulesName,
    TimeLimit,
    Trust,
    argument,
    option,
    readable,
)
from hogeq.cli.shell import Result, refusing
from hogeq.support.files import write_whole
from hogeq.support.messages import Text, duration

if TYPE_CHECKING:
    from hogeq import Submission

NOT_VALID = 2  # exit status


def check(
    file: Annotated[Path, argument("FILE", "A submission, or a table.", callback=readable)],
    rules_name: RulesName = None,
    against: Annotated[
        str | None,
        option("Opponent of losses and changes. [optimal; with hidden memory, champion]"),
    ] = None,
    page: Annotated[
        Path | None, option("Write the same as a page.", "FILE", name="--html"), PAGE
    ] = None,
    time_limit: TimeLimit = 60.0,
    trust: Trust = False,
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
    chosen = Chosen.hog(rules_name, trust, HOG_ALONE["check"])
    rules = chosen.choose()
    from hogeq import Game
    from hogeq.contest.functions import PROJECT, Project, compare_functions, main_file
    from hogeq.contest.submission import as_one_file, contest_notes, inspect_submission, is_named

    if against is not None:
        Game.require_strategy(against, hog=True)
    more = [PROJECT] if file.is_dir() else []
    with refusing():
        file = (more and main_file(file)) or file
        submission = inspect_submission(file, rules, trust, time_limit=time_limit)
        entrant = () if is_named(submission) else ("--player-name", "NAME")
        options = ("--rules", chosen.spec or rules.name, *entrant, "--trust", "--out", "one.py")
        submission = as_one_file(submission, chosen.command("export", file, *options))
    game = chosen.load_hog()
    from hogeq.contest.assessment import Reference, assessed_text, facts_of
    from hogeq.pages.entrants import checked_page

    reference, compared, named = None, None, against or game.strongest
    is_code = trust and file.suffix.lower() == ".py"
    project = Project(game, file, more) if is_code else None
    if submission.strategy is not None or (project and project.functions):
        chosen.expect("matches", "search", "values", strategies=[against or ""])
        reference = Reference(chosen.table(named).named(named), game.baselines())
    if project and project.functions and reference:
        is_random = any(fault.kind == "impure" for fault in submission.faults)
        compared = compare_functions(
            project, submission.strategy, reference.against, samples=is_random
        )
        submission = replace(submission, strategy=compared.exact or submission.strategy)
    facts = facts_of(game, str(file), chosen.name, submission, reference)
    functions = compared.functions if compared else []
    if page is not None:
        lines = [one.told for one in functions if one.told]
        with refusing():
            write_whole(page, checked_page(replace(facts, rules=chosen.title), lines))
    data = {
        **facts.to_json(),
        "functions": [{**one._asdict(), "told": one.told} for one in functions],
        # For the one who asks, and on no page: the entry's own words.
        "attempts": list(submission.attempts),
    }
    notes = contest_notes(submission)
    notes += [f"it tried, in its own words: {attempt}" for attempt in submission.attempts]
    told = compared.text() if compared else []
    if submission.faults:
        refusal: Text = [f"{file}: not valid for {chosen.title}"]
        for fault in submission.faults:
            more_like = f" ({fault.times:,} like this)" if fault.times > 1 else ""
            refusal += ["", f"  {fault.line}{more_like}"]
        refusal += [*([""] if notes else []), *notes, *told]
        if facts.assessment is not None:
            table = "its table, all the same:"
            if compared and compared.exact:
                table = "it is random; its table with exact means in place of its samples:"
            refusal += ["", table, *assessed_text(facts), *chosen.endless]
        return Result(data, refusal, NOT_VALID)
    verdict = [*_valid(submission, chosen.title), *notes, *told]
    return Result(data, [*verdict, *assessed_text(facts), *chosen.endless])


def _valid(submission: "Submission", title: str) -> list[str]:
    """Say that a submission is valid, and how long it took."""
    name = f", by {submission.name}" if submission.name else ""
    verdict = [f"valid for {title}{name}: {submission.size:,} bytes"]
    if submission.seconds:
        load, table, slowest = (
            duration(submission.seconds[key]) for key in ("load", "table", "slowest")
        )
        verdict.append(
            f"asked for every position it takes {table}, for one at most {slowest}; to load, {load}"
        )
    return verdict
