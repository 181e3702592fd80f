"""Threads that are kept: they give what a loop gives, and stand in nobody's way."""

import subprocess
import sys
from threading import Event, get_ident

import pytest

from hogeq.support.workers import in_threads


def test_results_come_in_the_order_of_the_tasks() -> None:
    told: list[int] = []
    assert in_threads(abs, range(-20, 0), 3, told.append) == list(range(20, 0, -1))
    assert told == list(range(20))


def test_threads_are_kept() -> None:
    def meet(events: tuple[Event, Event]) -> int:
        mine, other = events
        mine.set()
        assert other.wait(10)
        return get_ident()

    def both() -> set[int]:
        one, two = Event(), Event()
        return set(in_threads(meet, [(one, two), (two, one)], 2))

    assert len(both()) == 2
    assert both() == both()


def test_a_task_that_asks_for_threads_has_its_own() -> None:
    def inner(task: int) -> list[tuple[int, int]]:
        return in_threads(lambda number: (number, get_ident()), [task, -task], 2)

    for (one, first), (two, second) in in_threads(inner, range(1, 9), 2):
        assert one == -two
        assert first == second


def test_the_first_error_is_raised_and_what_comes_next_is_computed() -> None:
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda number: 1 // number, [1, 0, 2], 2)
    assert in_threads(abs, [-1, -2], 2) == [1, 2]


def test_a_process_with_threads_ends_quietly() -> None:
    script = "from hogeq.support.workers import in_threads; print(in_threads(abs, [-1, -2], 2))"
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("[1, 2]\n", "")
