"""Files as a contest takes them: one matrix, of one file, by an entrant with a name."""

import re
from dataclasses import replace
from pathlib import Path

from hogeq import Fault, Rules, Submission, inspect
from hogeq.support.messages import player_name_fault, printable

_FAULTS_OF_RUNNING_CODE = {"raises", "range", "impure"}  # code that does not run says no name


def contest_asks_name(rules: Rules) -> bool:
    """Whether the contest of an edition, from fall 2016 on, asked its entries for a name."""
    semester = re.match(r"(sp|su|fa)([0-9]{2})(?![0-9])", rules.name)
    terms = "sp", "su", "fa"
    return semester is not None and (int(semester[2]), terms.index(semester[1])) >= (16, 2)


def inspect_submission(
    path: Path, rules: Rules, trust: bool = False, *, time_limit: float = 60.0
) -> Submission:
    """Judge a file as a contest would: code needs a name, and a table one roll a position.

    `StrategyError` if there is nothing to look at, or a mixture.
    """
    submission = inspect(path, rules, trust=trust, time_limit=time_limit)
    kinds = {fault.kind for fault in submission.faults}
    needs_name = submission.name is not None or contest_asks_name(rules)
    if submission.is_code and kinds <= _FAULTS_OF_RUNNING_CODE and needs_name:
        line = _name_fault(submission.name)
        name_faults = [Fault("name", 1, line)] if line else []
        submission = replace(submission, faults=(*name_faults, *submission.faults))
    if submission.strategy is not None and submission.strategy.kind != "matrix":
        submission.strategy.unmixed(printable(path))  # raises for a mixture
        line = "is a policy, a probability for each roll; allowed: one roll for each position"
        submission = replace(submission, faults=(*submission.faults, Fault("shape", 1, line)))
    return replace(submission, strategy=None) if submission.faults else submission


def as_one_file(submission: Submission, export: str) -> Submission:
    """Judge a file as a contest that takes one does: other files that it needs are a fault.

    Its table stays, if that is the only fault. `export` is the command that makes one file.
    """
    if submission.alone is not False:
        return submission
    line = f"needs {', '.join(submission.files) or 'other files'}; allowed: one file alone"
    cure = f"{line}; this command makes one: {export}"
    return replace(submission, faults=(*submission.faults, Fault("files", 1, cure)))


def contest_notes(submission: Submission) -> list[str]:
    """List notes for a contest that are no faults."""
    notes = []
    if submission.files:
        alone = "works without them" if submission.alone else "does not work without them"
        notes.append(f"it reads other files, and {alone}: {', '.join(submission.files)}")
    if submission.draws:
        seed = "without a seed of its own: another run may give other answers"
        notes.append(f"it draws random numbers {seed}")
    if submission.prints:
        notes.append("it prints: what it prints is not shown")
    return notes


def is_named(submission: Submission) -> bool:
    """Whether a file says a name of its player that a contest takes."""
    return not _name_fault(submission.name)


def _name_fault(name: str | None) -> str:
    """Explain why a contest refuses a player's name, or a file without one (None); else empty."""
    return "PLAYER_NAME is missing or no text" if name is None else player_name_fault(name)
