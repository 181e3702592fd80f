"""`hogeq check`: validate a submission and measure it."""

from pathlib import Path

from hogeq.cli.inputs import Chosen
from hogeq.cli.shell import Result, refusing
from hogeq.support.files import write_whole
from hogeq.support.messages import Text, duration

NOT_VALID = 2  # exit status


def check(
    file: Path,
    chosen: Chosen,
    against: str | None = None,
    page: Path | None = None,
    time_limit: float = 60.0,
    trust: bool = False,
) -> Result:
    """Check a submission as the contest would, and measure it.

    Every kind of fault is listed with its count, and the exit status is 2 if there is one. For a
    valid table come groups of what it loses to a best response against a strong opponent: by
    mistake, phase and lead, each with the whole as its sum. Then simple changes that gain most,
    what it wins against the strategies of the package, and last single positions. With hidden
    memory nobody can compute a best response: losses are measured by the best one that a short
    search finds, with its effort, and by a bound that none exceeds.

    JSON: the keys of `hogeq.contest.assessment.facts_of`, and attempts (at forbidden
    things, in the file's own words).
    """
    rules = chosen.choose()
    from hogeq.baselines.registry import require_known
    from hogeq.contest.submission import as_one_file, inspect_submission, is_named

    if against is not None:
        require_known(against)
    with refusing():
        submission = inspect_submission(file, rules, trust, time_limit=time_limit)
        entrant = () if is_named(submission) else ("--player-name", "NAME")
        options = ("--rules", chosen.spec or rules.name, *entrant, "--trust", "--out", "one.py")
        submission = as_one_file(submission, chosen.command("export", file, *options))
    engine = chosen.load().engine
    from hogeq.contest.assessment import (
        OPPONENTS,
        Reference,
        assessed_text,
        contest_notes,
        facts_of,
        opponents,
        usual_reference,
    )
    from hogeq.pages.entrants import checked_page

    reference = None
    if submission.strategy is not None:
        named = against or usual_reference(engine)
        chosen.expect("matches", "search", "full memory", strategies=[against or "", *OPPONENTS])
        reference = Reference(chosen.table(named).named(named), opponents(engine))
    data, assessed = facts_of(engine, str(file), chosen.name, submission, reference)
    about = {**data, "rules": chosen.title}
    if page is not None:
        with refusing():
            write_whole(page, checked_page(about, assessed))
    # For the one who asks, and on no page: the entry's own words.
    data["attempts"] = list(submission.attempts)
    notes = contest_notes(data) + [f"it tried, in its own words: {one}" for one in data["attempts"]]
    if submission.faults:
        refusal: Text = [f"{file}: not valid for {chosen.title}"]
        for fault in submission.faults:
            more = f" ({fault.times:,} like this)" if fault.times > 1 else ""
            refusal += ["", f"  {fault.line}{more}"]
        refusal += [*([""] if notes else []), *notes]
        if assessed is not None:
            refusal += ["", "its table, all the same:", *assessed_text(data), *chosen.endless]
        return Result(data, refusal, NOT_VALID)
    name = f", by {data['player_name']}" if data["player_name"] else ""
    verdict: Text = [f"valid for {chosen.title}{name}: {data['bytes']:,} bytes"]
    if data["seconds"]:
        load, table, slowest = (
            duration(data["seconds"][key]) for key in ("load", "table", "slowest")
        )
        verdict.append(
            f"asked for every position it takes {table}, for one at most {slowest}; to load, {load}"
        )
    return Result(data, [*verdict, *notes, *assessed_text(data), *chosen.endless])
