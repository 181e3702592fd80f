"""The clock of recorded seconds stands still while kernels are compiled."""

from types import SimpleNamespace

import pytest

from hogeq.support import progress
from hogeq.support.progress import (
    begin_compiling,
    compiled_seconds,
    compiling,
    end_compiling,
    working_time,
)


class Time:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    found = Time()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=found.monotonic))
    monkeypatch.setattr(progress, "_seconds", 0.0)
    return found


def test_it_stands_still_within_and_after(time: Time) -> None:
    begun, compiled = working_time(), compiled_seconds()
    with compiling():
        time.sleep(1.0)
        assert (working_time() - begun, compiled_seconds() - compiled) == (0.0, 1.0)
        with compiling():
            time.sleep(2.0)
        time.sleep(4.0)
        assert (working_time() - begun, compiled_seconds() - compiled) == (0.0, 7.0)
    time.sleep(8.0)
    assert (working_time() - begun, compiled_seconds() - compiled) == (8.0, 7.0)


def test_threads_that_compile_at_once_are_counted_once(time: Time) -> None:
    begun, compiled = working_time(), compiled_seconds()
    begin_compiling()  # one thread
    time.sleep(1.0)
    begin_compiling()  # and another, which outlasts it
    time.sleep(2.0)
    end_compiling()
    time.sleep(4.0)
    end_compiling()
    time.sleep(8.0)
    assert (working_time() - begun, compiled_seconds() - compiled) == (8.0, 7.0)
