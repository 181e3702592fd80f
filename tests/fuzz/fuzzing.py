"""Bytes that are almost a file, and what every reader owes to them."""

import gc
import os
import time
from collections.abc import Callable
from typing import Final

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

SECONDS: Final = float(os.environ.get("HOGEQ_FUZZ_SECONDS", "0"))
"""For each target; with none, the same few examples every time."""

EXAMPLES: Final = 150

Reader = Callable[[bytes], object]


def mutated(seeds: list[bytes], words: list[bytes]) -> SearchStrategy[bytes]:
    """Give any bytes, or a file with a few places cut, doubled or replaced."""
    place = st.integers(0, 2**16)
    edit = st.tuples(place, st.integers(0, 12), st.sampled_from(words) | st.binary(max_size=4))

    def changed(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
        for where, cut, new in edits:
            at = where % (len(data) + 1)
            data = data[:at] + new + data[at + cut :]
        return data

    files = st.builds(changed, st.sampled_from(seeds), st.lists(edit, max_size=6))
    return st.one_of(files, files, st.lists(st.sampled_from(words)).map(b"".join), st.binary())


def fuzz(read: Reader, error: type[Exception], files: SearchStrategy[bytes]) -> None:
    """Give files to a reader: it takes them, or refuses them in one line, within a second."""

    def check(data: bytes) -> None:
        gc.disable()  # To look through what other tests left is not its work.
        start = time.process_time()
        try:
            read(data)
        except error as refused:
            line = str(refused)
            assert line.isprintable(), line
            assert len(line) < 2000
        finally:
            gc.enable()
        assert time.process_time() - start < 1

    def run(examples: int, *, again: bool) -> None:
        limits = settings(
            max_examples=examples,
            derandomize=not again,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        test = limits(given(files)(check))
        if again:
            test = seed(time.time_ns())(test)
        test()

    if not SECONDS:
        run(EXAMPLES, again=False)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        run(500, again=True)
