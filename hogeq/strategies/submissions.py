"""What was read of a file: a strategy, or its faults."""

from dataclasses import dataclass, field
from typing import NamedTuple

from hogeq.strategies.strategy import Strategy


class Fault(NamedTuple):
    """One kind of fault of a file.

    Examples
    --------
    >>> import hogeq
    >>> hogeq.Fault("range", 2, "cell (row 1, column 2) is 11").times
    2
    """

    kind: str
    """"code", "time", "crash", "raises", "range", "impure", "name", "shape", "files" or "unread".

    "time" and "crash" may be of the machine: another call may find another verdict.
    """
    times: int
    line: str  # about the first of them


@dataclass(frozen=True)
class Submission:
    r"""A file that was read: a strategy, or faults; :func:`hogeq.inspect` gives it.

    Examples
    --------
    >>> from pathlib import Path
    >>> import hogeq
    >>> _ = Path("good.csv").write_text("2,3\n0,1\n", "utf-8")
    >>> found = hogeq.inspect("good.csv", hogeq.rules_from({"goal": 2, "max_dice": 4}))
    >>> found.size, found.strategy.array.tolist(), found.faults
    (8, [[2, 3], [0, 1]], ())
    """

    size: int  # bytes of the file
    name: str | None = None  # of its player or team, if the file says it
    strategy: Strategy | None = None  # None if there is any fault
    faults: tuple[Fault, ...] = ()  # every kind of fault and of bad value once, with its count
    seconds: dict[str, float] = field(default_factory=dict)
    """``load``, ``table`` (every position once) and ``slowest`` (one call), as a ``.py`` says
    itself; empty if it is none."""
    answered: int = 0  # positions that have an answer, good or bad, of G * G
    asked: tuple[int, int] | None = None  # position at which a ``.py`` was stopped, if it was
    files: tuple[str, ...] = ()  # others of its folder that a ``.py`` says it opened, printable
    alone: bool | None = None  # whether a ``.py`` needs no other file; None if it is not valid
    prints: bool = False  # whether a ``.py`` printed anything, as it says; the text is lost
    draws: bool = False  # whether it drew random numbers without a seed of its own, as it says
    attempts: tuple[str, ...] = ()
    """What else a ``.py`` tried to reach, printable: its own words, for the staff alone."""
    key: str = ""  # hash of the files that were judged, of an entry in a folder
    is_code: bool = False  # whether it is code, which was run
