"""Who computes is chosen around a block; threads are kept, and stand in nobody's way."""

import os
import subprocess
import sys
import time
from _thread import interrupt_main
from multiprocessing import get_context
from threading import Event, get_ident
from types import SimpleNamespace

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from hogeq.support.workers import compute, cores, interruptible, memory, width, workers


def _meet(events: tuple[Event, Event]) -> int:
    mine, other = events
    mine.set()
    assert other.wait(10)
    return get_ident()


def test_threads_are_kept() -> None:
    def both() -> set[int]:
        one, two = Event(), Event()
        with workers(2):
            return set(compute(_meet, [(one, two), (two, one)]))

    assert len(both()) == 2
    assert both() == both()


def test_the_only_task_is_computed_here_and_may_have_threads() -> None:
    def only(events: list[tuple[Event, Event]]) -> tuple[int, set[int]]:
        return get_ident(), set(compute(_meet, events))

    one, two = Event(), Event()
    with workers(2):
        ((here, both),) = compute(only, [[(one, two), (two, one)]])
    assert here == get_ident()
    assert len(both) == 2


def test_nested_blocks_restore_what_was_chosen() -> None:
    with workers() as found:
        assert found.width == width() == cores()  # all cores are the default
        with workers(2):
            assert width() == 2
        assert width() == cores()
    assert width() == 1
    assert set(compute(lambda _task: get_ident(), range(4))) == {get_ident()}


def _threads_of_blas(_task: int = 0) -> set[int]:
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


def test_linear_algebra_has_one_thread_within_a_block() -> None:
    with threadpool_limits(2, user_api="blas"):
        assert _threads_of_blas() == {2}
        with workers(2):
            assert compute(_threads_of_blas, [0, 1]) == [{1}, {1}]
            with workers(1):
                assert _threads_of_blas() == {1}
            assert _threads_of_blas() == {1}
        assert _threads_of_blas() == {2}


def test_processes_compute_what_can_be_sent_and_threads_what_must_stay() -> None:
    with workers(2, on="local"):
        assert os.getpid() not in compute(_process, [1, 2, 3])
        assert set(compute(lambda _task: os.getpid(), [1, 2, 3], local=True)) == {os.getpid()}


def test_an_interruption_leaves_compiled_code_behind() -> None:
    assert interruptible(max, [1, 3, 2], key=lambda number: -number) == 1
    with pytest.raises(ZeroDivisionError):
        interruptible(divmod, 1, 0)
    begun, end = Event(), Event()

    def compiled() -> None:
        begun.set()
        interrupt_main()
        end.wait(10)

    try:
        with pytest.raises(KeyboardInterrupt):
            interruptible(compiled)
        assert begun.is_set()
    finally:
        end.set()


def _process(_task: int) -> int:
    return os.getpid()


@pytest.mark.slow
def test_to_stop_tasks_leaves_other_processes_alone() -> None:
    other = get_context("spawn").Process(target=time.sleep, args=(60,))
    other.start()
    with workers(2, on="local") as crew:
        start = time.perf_counter()
        outcomes = crew.outcomes(time.sleep, [0.0, 60.0], 0.5)
        assert next(outcomes) == (0, None)
        outcomes.close()
        assert time.perf_counter() - start < 20
        assert other.is_alive()
        other.kill()
        other.join()
        assert compute(abs, [-1, -2]) == [1, 2]


@pytest.mark.parametrize("jobs", [0, 1.5, True, 1025])
def test_what_is_no_number_of_workers_is_refused(jobs: int) -> None:
    with pytest.raises(ValueError, match=r"^jobs: .*allowed: whole numbers from 1"):
        workers(jobs).__enter__()


def test_results_come_in_order_and_the_first_error_is_raised() -> None:
    told: list[int] = []
    with workers(3):
        with pytest.raises(ZeroDivisionError):
            compute(lambda number: 1 // number, [1, 0, 2])
        assert compute(abs, range(-20, 0), told.append) == list(range(20, 0, -1))
    assert sorted(told) == list(range(20))


def test_an_interruption_gives_up_what_has_not_begun() -> None:
    begun: list[int] = []

    def stop(_place: int) -> None:
        raise KeyboardInterrupt

    with workers(2):
        with pytest.raises(KeyboardInterrupt):
            compute(_slow, [(begun, task) for task in range(50)], stop)
        assert len(begun) < 25
        assert compute(abs, [-1, -2]) == [1, 2]


def _slow(task: tuple[list[int], int]) -> None:
    begun, number = task
    begun.append(number)
    Event().wait(0.01)


def test_a_process_with_threads_ends_quietly() -> None:
    script = (
        "from hogeq.support.workers import compute, workers\n"
        "with workers(2): print(compute(abs, [-1, -2]))"
    )
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("[1, 2]\n", "")


def test_windows_starts_no_cleaner_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's own passes files to its process by a module that Windows lacks."""
    monkeypatch.setattr("hogeq.support.workers.sys", SimpleNamespace(platform="win32"))

    def lacking() -> None:
        raise ModuleNotFoundError("No module named '_posixsubprocess'")

    monkeypatch.setattr("multiprocessing.resource_tracker.ensure_running", lacking)
    with workers(2, "local"):
        assert list(compute(abs, [-1, -2])) == [1, 2]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit address space")
def test_memory_is_what_a_limit_leaves() -> None:
    assert memory() > 2**30
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30)); "
        "from hogeq.support.workers import memory; print(memory())"
    )
    told = subprocess.run(  # noqa: S603 - ourselves
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert int(told.stdout) == 2**30
