"""Progress: bars where they fit, plain lines elsewhere, told of by any thread."""

import fcntl
import io
import os
import pickle
import pty
import struct
import termios
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Thread
from types import SimpleNamespace
from typing import TextIO

import pytest

from hogeq.support import progress
from hogeq.support.progress import (
    Phase,
    begin_compiling,
    compiled_seconds,
    compiling,
    end_compiling,
    phase,
    show_progress,
    tell,
    working_time,
)

LIMIT = 5.0  # seconds for what takes a fraction of one


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show at once what would be shown after some seconds."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "INTERVAL", 0.01)


class Screen:
    """A terminal, and all that was written to it."""

    def __init__(self, columns: int) -> None:
        self.master, slave = pty.openpty()
        size = struct.pack("HHHH", 24 if columns else 0, columns, 0, 0)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, size)
        os.set_blocking(self.master, False)
        self.stream: TextIO = os.fdopen(slave, "w")
        self._written = b""

    def getvalue(self) -> str:
        try:
            while more := os.read(self.master, 65536):
                self._written += more
        except BlockingIOError:
            pass
        return self._written.decode()


@contextmanager
def screen(monkeypatch: pytest.MonkeyPatch, columns: int) -> Iterator[Screen]:
    found = Screen(columns)
    monkeypatch.setattr("sys.stderr", found.stream)
    yield found
    monkeypatch.undo()
    found.stream.close()
    os.close(found.master)


def shown(read: Callable[[], str], text: str) -> str:
    """Wait until a text is shown; give all that is."""
    until = time.monotonic() + LIMIT
    while text not in read():
        assert time.monotonic() < until, f"{text!r} is not in {read()!r}"
        time.sleep(0.01)
    return read()


def test_a_bar_is_shown_on_a_terminal_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    with screen(monkeypatch, 80) as terminal:
        with show_progress(), phase("solving", 6, "it", done=2) as told:
            told.step()
            told.measured("exploitability 2.44 to 9.66 points")
            seen = shown(terminal.getvalue, "3/6 [")
            seen = shown(terminal.getvalue, "2.44 to 9.66 points")
            with phase("attack", 40) as within:
                within.step(10, "start 1 of 2, annealing 10/20")
                shown(terminal.getvalue, "attack:  25%|")
            assert "solving:  50%|" in seen
        left = terminal.getvalue().rpartition("\n")[2]
        assert left.endswith("\r")
        assert not left.rstrip("\r").rpartition("\r")[2].strip()


def plain(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Give a standard error that is no terminal."""
    found = io.StringIO()
    monkeypatch.setattr("sys.stderr", found)
    return found


def test_elsewhere_plain_lines_are(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        screen(monkeypatch, columns=0) as terminal,
        show_progress(),
        phase("solving", 6, "it") as told,
        show_progress(),  # inside another it changes nothing
        phase("attack", 40) as within,
    ):
        told.step()
        within.step(10, "start 1 of 2, annealing 10/20")
        within.found(0.5231)
        read = terminal.getvalue
        seen = shown(read, "hogeq: solving 1/6 it, 0:00; attack 25 %, 0:00, start 1 of 2")
        assert "annealing 10/20, best 52.31 %" in seen
        assert "\r" not in seen.replace("\r\n", "\n")


def test_a_plain_line_comes_when_something_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = plain(monkeypatch)
    with show_progress(), phase("attack") as told:
        shown(stream.getvalue, "attack")
        for _ in range(20):
            told.step()
            time.sleep(0.01)
        assert stream.getvalue().count("\n") == 1
        told.found(0.6)
        shown(stream.getvalue, "best 60.00 %")
    assert stream.getvalue().count("\n") == 2


def test_nothing_is_shown_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = plain(monkeypatch)
    with phase("attack") as told:
        told.step()
        time.sleep(0.05)
    with show_progress(), show_progress(visible=False), phase("attack") as told:
        told.found(0.6)
        time.sleep(0.05)
    assert not stream.getvalue()
    with pytest.raises(KeyboardInterrupt), show_progress(), phase("attack"):
        raise KeyboardInterrupt
    before = stream.getvalue()
    with phase("attack") as told:
        told.found(0.6)
        time.sleep(0.05)
    assert stream.getvalue() == before


def test_threads_tell_of_one_phase() -> None:
    told = Phase("attack", 4000)

    def search(start: int) -> None:
        for step in range(1000):
            told.step()
            told.found(0.5 + 0.01 * start + 1e-6 * step)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(search, range(4)))
    told.reach(20)  # what is done is only ever more
    assert (told.done, told.steps, told.text) == (4000, "100 %", "best 53.10 %")


def test_in_another_process_nobody_sees_it() -> None:
    told = Phase("attack", 100)
    told.now("what cannot be seen")
    sent = pickle.loads(pickle.dumps(told))  # noqa: S301 - our own
    sent.step(7)
    assert (sent.name, sent.done, told.done) == ("attack", 7, 0)


def test_a_stream_that_is_gone_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = plain(monkeypatch)
    with show_progress(), phase("attack") as told:
        stream.close()
        told.found(0.6)
        time.sleep(0.05)
        tell("heard by nobody")


def test_what_is_told_goes_above_the_bars_from_any_thread_and_else_to_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with screen(monkeypatch, 60) as terminal:
        with show_progress(), phase("attack", 3, "starts"):
            shown(terminal.getvalue, "0/3 [")
            thread = Thread(target=tell, args=("hogeq: compiling kernels, once: about 20 s",))
            thread.start()
            thread.join()
        assert "\rhogeq: compiling kernels, once: about 20 s\r\n" in terminal.getvalue()
    assert not caplog.messages
    tell("hogeq: by the log")
    assert caplog.messages == ["hogeq: by the log"]


# --- recorded times -------------------------------------------------------------------------------


def test_the_clock_stands_still_while_any_thread_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(progress, "_seconds", 0.0)
    begun, compiled = working_time(), compiled_seconds()

    def spent() -> tuple[float, float]:
        return working_time() - begun, compiled_seconds() - compiled

    with compiling():
        now += 1.0
        assert spent() == (0.0, 1.0)
        begin_compiling()  # another thread, which outlasts it
        now += 2.0
    now += 4.0
    assert spent() == (0.0, 7.0)
    end_compiling()
    now += 8.0
    assert spent() == (8.0, 7.0)
