"""The clock of recorded seconds stands still while kernels are compiled."""

import time
from concurrent.futures import ThreadPoolExecutor

from hogeq.support.clock import compiled_seconds, compiling, working_time


def test_it_goes_on_otherwise() -> None:
    begun = working_time()
    time.sleep(0.05)
    assert working_time() - begun >= 0.05


def test_it_stands_still_within_and_after() -> None:
    begun, compiled = working_time(), compiled_seconds()
    with compiling():
        time.sleep(0.1)
        with compiling():
            time.sleep(0.1)
        assert working_time() - begun < 0.1
    assert working_time() - begun < 0.1
    assert compiled_seconds() - compiled >= 0.2


def test_threads_that_compile_at_once_are_counted_once() -> None:
    def compile_something(seconds: float) -> None:
        with compiling():
            time.sleep(seconds)

    begun, compiled, started = working_time(), compiled_seconds(), time.monotonic()
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(compile_something, [0.2, 0.3, 0.4]))
    taken = time.monotonic() - started
    assert 0.4 <= compiled_seconds() - compiled <= taken
    assert 0.0 <= working_time() - begun <= taken - 0.4 + 1e-9
