"""Files as a contest takes them: one matrix, of one file, by an entrant with a name."""

import re
from dataclasses import replace
from pathlib import Path

from hogeq import Fault, Rules, Submission, inspect
from hogeq.support.messages import player_name_fault, printable

_RUN = {"raises", "range", "impure"}  # faults of code that runs; other code has no name either


def contest_asks_name(rules: Rules) -> bool:
    """Whether the contest of an edition, from fall 2016 on, asked its entries for a name."""
    semester = re.match(r"(sp|su|fa)([0-9]{2})(?![0-9])", rules.name)
    terms = "sp", "su", "fa"
    return semester is not None and (int(semester[2]), terms.index(semester[1])) >= (16, 2)


def inspect_submission(
    path: Path, rules: Rules, trust: bool = False, *, time_limit: float = 60.0
) -> Submission:
    """Look at a file as a contest would; `StrategyError` if there is nothing to look at."""
    found = inspect(path, rules, trust=trust, time_limit=time_limit)
    if found.is_code and {fault.kind for fault in found.faults} <= _RUN:
        named = _name_faults(found.name, contest_asks_name(rules))
        found = replace(found, faults=(*named, *found.faults))
    if found.strategy is not None and found.strategy.kind != "matrix":
        found.strategy.unmixed(printable(path))
        line = "is a policy, a probability for each roll; allowed: one roll for each position"
        found = replace(found, faults=(*found.faults, Fault("shape", 1, line)))
    return replace(found, strategy=None) if found.faults else found


def as_one_file(found: Submission, export: str) -> Submission:
    """Judge a file as a contest that takes one does: other files that it needs are a fault.

    Its table stays, if that is the only fault. `export` is the command that makes one file.
    """
    if found.alone is not False:
        return found
    line = f"needs {', '.join(found.files) or 'other files'}; allowed: one file alone"
    cure = f"{line}; this command makes one: {export}"
    return replace(found, faults=(*found.faults, Fault("files", 1, cure)))


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


def is_named(found: Submission) -> bool:
    """Whether a file says a name of its player that a contest takes."""
    return not _name_faults(found.name, is_asked=True)


def _name_faults(name: str | None, is_asked: bool) -> list[Fault]:
    if name is None:
        line = "PLAYER_NAME is missing or no text"
        return [Fault("name", 1, line)] if is_asked else []
    fault = player_name_fault(name)
    return [Fault("name", 1, fault)] if fault else []
