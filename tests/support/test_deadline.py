"""One idea of a limit of time."""

import pickle
from itertools import count
from math import inf

from hogeq.support.deadline import FOREVER, PACE, Deadline


def ticking(seconds: float) -> Deadline:
    """Give a deadline by whose clock every look takes a second."""
    return Deadline(seconds, count().__next__)


def test_it_is_over_after_so_many_looks() -> None:
    deadline = ticking(3)
    assert [deadline.is_over for _ in range(4)] == [False, False, True, True]
    assert deadline.left == 0.0
    assert deadline.seconds == 3


def test_a_part_has_the_same_clock_and_ends_no_later() -> None:
    deadline = ticking(100)
    for part in (deadline.within(1000.0), deadline.share(0.5), deadline.share(2.0)):
        assert part.clock is deadline.clock
        assert part.end <= deadline.end + 2  # what two looks took
    assert deadline.within(5.0).seconds == 5.0
    assert FOREVER.share(0.5).end == inf


def test_work_that_cannot_be_interrupted_needs_its_time() -> None:
    stopped = Deadline(2.0, lambda: 0.0)
    assert stopped.allows(2 * PACE)
    assert not stopped.allows(2 * PACE + 1)
    assert FOREVER.allows(inf)


def test_it_is_kept_or_made_of_seconds_and_goes_to_other_processes() -> None:
    assert Deadline.of(FOREVER) is FOREVER
    assert Deadline.of(4.0).seconds == 4.0
    assert pickle.loads(pickle.dumps(FOREVER)).end == inf  # noqa: S301 - our own
