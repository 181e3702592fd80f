"""Limits of time: one deadline goes from the caller down to every loop."""

from collections.abc import Callable
from math import inf
from typing import Final

from hogeq.support.progress import working_time

PACE: Final = 2_000_000
"""Entries of sparse arrays that are made in a second, at least, by work without interruption."""


class Deadline:
    """The time until which a computation may go on; compiling does not count.

    Loops ask `is_over` between steps, and give what is valid so far. Work that cannot be
    interrupted is begun only if `allows` says that it should end in time. What is computed without
    a check in between is to be linear in the game.

    Parameters
    ----------
    seconds : float
        From now on; infinity for no limit.
    clock : callable, optional
        Gives seconds, by default `usual_clock`. Tests give one that counts how often it is asked.

    Examples
    --------
    >>> Deadline(0.0).is_over, Deadline().is_over
    (True, False)
    """

    def __init__(self, seconds: float = inf, clock: Callable[[], float] | None = None) -> None:
        self.clock = clock or self.usual_clock
        self.begun = self.clock()
        self.end = self.begun + seconds

    @staticmethod
    def usual_clock() -> float:
        """Return seconds; a benchmark sets processor time in its place."""
        return working_time()

    @classmethod
    def of(cls, limit: "float | Deadline") -> "Deadline":
        """Begin a limit in seconds; a deadline is kept."""
        return limit if isinstance(limit, Deadline) else cls(limit)

    @property
    def seconds(self) -> float:
        """Seconds in all."""
        return self.end - self.begun

    @property
    def spent(self) -> float:
        """Seconds since it began."""
        return self.clock() - self.begun

    @property
    def left(self) -> float:
        """Seconds left, 0 or more."""
        return max(self.end - self.clock(), 0.0)

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self.clock() >= self.end

    def within(self, seconds: float) -> "Deadline":
        """Begin a deadline of so many seconds that does not end after this one."""
        return self.__class__(min(seconds, self.left), self.clock)

    def share(self, part: float) -> "Deadline":
        """Begin a deadline of a part of the time left."""
        return self.within(part * self.left)

    def allows(self, entries: float) -> bool:
        """Whether so many entries of sparse arrays can be made in the time left."""
        return entries <= PACE * self.left


FOREVER: Final = Deadline()
"""No limit."""
