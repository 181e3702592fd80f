"""Where independent tasks are computed: threads, processes of this machine, or a Dask cluster.

That is chosen once, around a block of code::

    with hogeq.workers(4):                         # four threads
    with hogeq.workers(4, on="local"):             # four processes of this machine
    with hogeq.workers(on="dask://host:8786"):     # the workers of a Dask scheduler

Algorithms call `compute` and do not know the answer. Outside any block the calling thread computes
everything. Results do not depend on who computes them.

NumPy's linear algebra (BLAS) has one thread within a block: its own wait for work busily, on the
cores that compute tasks, and what they add up in parts may differ in the last bits.

Processes are joblib's, the cluster is Dask distributed; both are used as executors of
`concurrent.futures`. Threads are kept from one call to the next, because each keeps the arrays that
it fills (`hogeq.model.many`).
"""

import atexit
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from multiprocessing.pool import ThreadPool
from threading import local as thread_local
from typing import Final, NamedTuple

import numpy as np  # noqa: F401 - loads the BLAS that a block limits
from threadpoolctl import threadpool_limits

from hogeq.support.executors import (
    DASK,
    ExecutorError,
    Result,
    Task,
    Workers,
    cluster,
    processes,
)
from hogeq.support.messages import refusal
from hogeq.support.parameters import MOST_JOBS, Jobs, check

LOCAL: Final = "local"
ALLOWED: Final = f"{LOCAL} (processes of this machine) or {DASK}HOST:PORT"


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# --- threads --------------------------------------------------------------------------------------


class Threads(Workers):
    """Threads of this process, which are kept for the next call from the same thread.

    Outcomes come in the order of the tasks. A single task is computed by the calling thread.
    """

    def __init__(self, width: int) -> None:
        self.width = width

    def outcomes(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        grace: float = 0.0,  # noqa: ARG002 - threads get no signals
    ) -> Generator[tuple[int, Result | Exception], None, None]:
        """Compute tasks; see :meth:`Workers.outcomes`."""
        attempt = partial(_attempt, function)
        if self.width == 1 or len(tasks) == 1:
            yield from enumerate(map(attempt, tasks))
            return
        pool = _pools.get(self.width)
        try:
            yield from enumerate(pool.imap(attempt, tasks))
        except BaseException:
            _pools.drop(self.width)  # tasks that have not begun must not begin
            raise


def _attempt(function: Callable[[Task], Result], task: Task) -> Result | Exception:
    try:
        return function(task)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is that task's
        return error


class _Pools(thread_local):
    """The thread pools that the current thread has started, by their number of threads."""

    def __init__(self) -> None:
        self._started: dict[int, ThreadPool] = {}

    def get(self, width: int) -> ThreadPool:
        if width not in self._started:
            # What a task computes in turn, it computes by itself.
            pool = ThreadPool(width, lambda: _chosen.set(_NOBODY))
            atexit.register(pool.terminate)
            self._started[width] = pool
        return self._started[width]

    def drop(self, width: int) -> None:
        pool = self._started.pop(width)
        pool.terminate()
        atexit.unregister(pool.terminate)


_pools = _Pools()


# --- which of them --------------------------------------------------------------------------------


class _ChosenWorkers(NamedTuple):
    """The workers of a block."""

    anywhere: Workers
    here: Threads


_NOBODY: Final = _ChosenWorkers(Threads(1), Threads(1))

_chosen: ContextVar[_ChosenWorkers] = ContextVar("workers", default=_NOBODY)


@contextmanager
def workers(jobs: int | None = None, on: str | None = None) -> Iterator[Workers]:
    """Choose who computes independent tasks, for the time of a block.

    Blocks can be nested: the innermost counts, and when it ends the one around it counts again. A
    task that itself has tasks to compute computes them in its own thread. In the whole process BLAS
    has one thread until the outermost block ends.

    Parameters
    ----------
    jobs : int, optional
        Number of threads or processes, 1 to 1,024; by default one for each core that this process
        may use. A cluster has as many workers as it has.
    on : str, optional
        ``"local"``: processes of this machine; ``"dask://HOST:PORT"``: the workers of the
        scheduler at that address. By default threads of this process.

    Yields
    ------
    Workers

    Raises
    ------
    ValueError
        `jobs` is no whole number from 1 to 1,024.
    ExecutorError
        `on` is none of these, no scheduler answers, or Dask is not installed.

    Examples
    --------
    >>> with workers(2):
    ...     compute(abs, [-1, -2, -3])
    [1, 2, 3]
    """
    jobs = min(cores(), MOST_JOBS) if jobs is None else jobs
    check(Jobs, jobs=jobs)
    threads = Threads(jobs)
    if on is None:
        with _choosing(threads, threads):
            yield threads
        return
    address = on.removeprefix(DASK)
    if on == LOCAL:
        have = processes(jobs)
    elif address != on and _is_port(address.rpartition(":")[2]):
        have = cluster(address)
    else:
        raise ExecutorError(refusal("on", on, ALLOWED))
    with have as chosen, _choosing(chosen, threads):
        yield chosen


def _is_port(text: str) -> bool:
    return text.isdecimal() and len(text) <= len("65535") and int(text) <= 65535


@contextmanager
def _choosing(anywhere: Workers, here: Threads) -> Iterator[None]:
    token = _chosen.set(_ChosenWorkers(anywhere, here))
    try:
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        _chosen.reset(token)


def compute(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    progress: Callable[[int], object] = int,
    *,
    local: bool = False,
) -> list[Result]:
    """Compute tasks by the workers that were chosen (:func:`workers`)."""
    chosen = _chosen.get()
    return (chosen.here if local else chosen.anywhere).map(function, tasks, progress)


def width() -> int:
    """Give the number of tasks that `compute` computes at once, at least 1."""
    return max(1, _chosen.get().anywhere.width)
