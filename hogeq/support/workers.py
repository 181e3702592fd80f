"""Where independent tasks are computed: threads, processes of this machine, or a Dask cluster.

That is chosen once, around a block of code::

    with hogeq.workers(4):                         # four threads
    with hogeq.workers(4, on="local"):             # four processes of this machine
    with hogeq.workers(on="dask://host:8786"):     # the workers of a Dask scheduler

Algorithms call `compute` and do not know the answer. Outside any block the calling thread computes
everything. Results do not depend on who computes them.

Processes are joblib's, the cluster is Dask distributed; both are used as executors of
`concurrent.futures`. Threads are kept from one call to the next, because each keeps the arrays that
it fills (`hogeq.model.shared`).
"""

import atexit
import math
import os
import pickle
import signal
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import closing, contextmanager
from contextvars import ContextVar
from functools import partial
from multiprocessing import active_children
from multiprocessing.pool import ThreadPool
from queue import SimpleQueue
from threading import local as thread_local
from typing import Any, Final, Generic, NamedTuple, TypeVar

from hogeq.support.messages import not_installed, shown
from hogeq.support.parameters import MOST_JOBS, Jobs, check
from hogeq.support.plugins import loaded, run_with

Task = TypeVar("Task")
Result = TypeVar("Result")

LOCAL: Final = "local"
DASK: Final = "dask://"
ALLOWED: Final = f"{LOCAL} (processes of this machine) or {DASK}HOST:PORT"

ATTEMPTS: Final = 3
"""Times that a task, alone in its process, may kill it before it counts as failed."""

CONNECT_SECONDS: Final = 10
"""Seconds to wait for a scheduler to answer."""


class ExecutorError(ValueError):
    """The workers asked for are not available; the message is one line."""


class WorkersLostError(RuntimeError):
    """All workers are gone for good; the message is one line."""


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers(ABC):
    """Base class of those who compute independent tasks.

    Attributes
    ----------
    width : int
        Number of tasks computed at once; 0 if there are no workers yet.
    here : bool
        Whether they are on this machine, and share its folders.
    """

    width: int
    here: bool = True

    @abstractmethod
    def outcomes(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], grace: float = 0.0
    ) -> Generator[tuple[int, Result | Exception], None, None]:
        """Compute tasks; yield the index and the result, or the error, of each as it ends.

        Closing the generator cancels the tasks that are left.

        Parameters
        ----------
        function : callable
        tasks : sequence
        grace : float
            Seconds that tasks in flight get to save their state, after a SIGTERM, when the rest is
            cancelled.

        Raises
        ------
        WorkersLostError
            There is nobody left to compute.
        """

    def map(
        self,
        function: Callable[[Task], Result],
        tasks: Iterable[Task],
        progress: Callable[[int], object] = int,
    ) -> list[Result]:
        """Compute tasks and give their results in the order of the tasks.

        Parameters
        ----------
        function : callable
        tasks : iterable
        progress : callable, optional
            Called in this thread with the index of each task that has ended.

        Raises
        ------
        Exception
            The first error of a task; the others are given up.
        """
        tasks = list(tasks)
        results: dict[int, Result] = {}
        with closing(self.outcomes(function, tasks)) as outcomes:
            for index, result in outcomes:
                if isinstance(result, Exception):
                    raise result
                results[index] = result
                progress(index)
        return [results[index] for index in range(len(tasks))]


# --- threads --------------------------------------------------------------------------------------


class Threads(Workers):
    """Threads of this process, which are kept for the next call from the same thread.

    Outcomes come in the order of the tasks. A single task is computed by the calling thread.

    Parameters
    ----------
    width : int
        Number of threads; 1 is the calling thread itself.
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


# --- processes and clusters -----------------------------------------------------------------------


class Remote(Workers):
    """An executor of `concurrent.futures` whose tasks run in other processes.

    A task whose process died is computed again. Processes of one pool die together, so it is not
    known whose fault it was: those tasks are tried again one at a time, and one that kills a
    process which it has to itself `ATTEMPTS` times ends with that error. A Dask scheduler keeps
    such a count of its own.

    Parameters
    ----------
    start : callable
        Gives an executor, and another if that one breaks.
    width : int
    limit : float
        Most tasks handed over at once.
    stop : callable, optional
        Called with the futures in flight and seconds to wait: asks them to stop, and returns
        whether all have.

    Attributes
    ----------
    busy : bool
        Whether cancelled tasks may still be running.
    """

    def __init__(
        self,
        start: Callable[[], Executor],
        width: int,
        limit: float,
        stop: Callable[[Iterable[Future[Any]], float], bool] = lambda _tasks, _seconds: False,
    ) -> None:
        self.width = width
        self.busy = False
        self._start = start
        self._pool = start()
        self._limit = limit
        self._stop = stop

    def outcomes(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], grace: float = 0.0
    ) -> Generator[tuple[int, Result | Exception], None, None]:
        """Compute tasks; see :meth:`Workers.outcomes`.

        The function must be one of a module, or a `functools.partial` of one: other processes find
        it by name.
        """
        waiting, suspects = deque(range(len(tasks))), deque[int]()
        deaths = Counter[int]()
        flight = _Flight(lambda index: self._submit(function, tasks[index]))
        try:
            while waiting or suspects or flight:
                alone = bool(suspects) and not flight
                if alone:
                    flight.add(suspects.popleft())
                while waiting and not (alone or suspects) and len(flight) < self._limit:
                    flight.add(waiting.popleft())
                index, result = flight.next()
                if isinstance(result, BrokenExecutor):
                    deaths[index] += alone
                    if deaths[index] < ATTEMPTS:
                        suspects.append(index)
                        continue
                yield index, result
        finally:
            begun = flight.cancel()
            self.busy = bool(begun) and not (grace and self._stop(begun, grace))

    def close(self, **options: bool) -> None:
        """Shut the executor down, with options of its own kind."""
        self._pool.shutdown(**options)

    def _submit(self, function: Callable[[Task], Result], task: Task) -> Future[Result]:
        work = _with_plugins(function, task)
        try:
            return self._pool.submit(*work)
        except BrokenExecutor:
            self._pool = self._start()
            return self._pool.submit(*work)


def _with_plugins(function: Callable[[Task], Result], task: Task) -> tuple[Any, ...]:
    """Give what to call in another process, where plugins are loaded before the task."""
    plugins = loaded()
    if not plugins:
        return function, task
    return run_with, plugins, pickle.dumps((function, task))


class _Flight(Generic[Result]):
    """Tasks that were handed over and have not ended."""

    def __init__(self, submit: Callable[[int], Future[Result]]) -> None:
        self._submit = submit
        self._places: dict[Future[Result], int] = {}
        self._ended: SimpleQueue[Future[Result]] = SimpleQueue()

    def __len__(self) -> int:
        return len(self._places)

    def add(self, index: int) -> None:
        future = self._submit(index)
        self._places[future] = index
        future.add_done_callback(self._ended.put)

    def next(self) -> tuple[int, Result | Exception]:
        """Wait for a task to end; give its index and its result, or its error."""
        future = self._ended.get()
        index = self._places.pop(future)
        try:
            return index, future.result()
        except CancelledError:
            raise WorkersLostError("the scheduler is gone, and its workers with it") from None
        except Exception as error:  # noqa: BLE001 - whatever it is, it is that task's
            return index, error

    def cancel(self) -> list[Future[Result]]:
        """Cancel tasks that have not begun; return those that have."""
        return [future for future in self._places if not future.cancel()]


@contextmanager
def _processes(jobs: int) -> Iterator[Workers]:
    from joblib.externals.loky import ProcessPoolExecutor

    def stop(futures: Iterable[Future[Any]], grace: float) -> bool:
        for process in active_children():
            process.terminate()
        return not wait(futures, grace).not_done

    # No more at once than there are processes: those that die with one are then known.
    found = Remote(
        partial(ProcessPoolExecutor, jobs, initializer=_ignore_signals), jobs, jobs, stop
    )
    try:
        yield found
    finally:
        found.close(kill_workers=found.busy)


def _ignore_signals() -> None:
    """Leave signals to tasks that know what to save, and processes to whoever started them."""
    for kind in (signal.SIGINT, signal.SIGTERM):
        signal.signal(kind, signal.SIG_IGN)


@contextmanager
def _cluster(address: str) -> Iterator[Workers]:
    try:
        import distributed
    except ImportError as error:
        raise ExecutorError(not_installed("Dask", "--on dask://...", "distributed")) from error
    connect: Any = distributed.Client
    try:
        client = connect(f"tcp://{address}", timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ExecutorError(f"--on {DASK}{address}: no scheduler answers there") from error
    with client:
        threads = sum(client.nthreads().values())
        # The same call twice is two tasks: pure ones would share a result.
        pool = client.get_executor(pure=False)
        found = Remote(lambda: pool, threads, math.inf)
        found.here = False
        yield found


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
    task that itself has tasks to compute computes them in its own thread.

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
        have = _processes(jobs)
    elif address != on and _is_port(address.rpartition(":")[2]):
        have = _cluster(address)
    else:
        raise ExecutorError(f"--on: got {shown(on)}; allowed: {ALLOWED}")
    with have as found, _choosing(found, threads):
        yield found


def _is_port(text: str) -> bool:
    return text.isdecimal() and len(text) <= len("65535") and int(text) <= 65535


@contextmanager
def _choosing(anywhere: Workers, here: Threads) -> Iterator[None]:
    token = _chosen.set(_ChosenWorkers(anywhere, here))
    try:
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
    """Compute tasks by the workers that were chosen (:func:`workers`).

    Parameters
    ----------
    function : callable
        Of a module, or a `functools.partial` of one: processes find it by name.
    tasks : iterable
    progress : callable, optional
        Called in this thread with the index of each task that has ended.
    local : bool
        Use threads of this process even if processes or a cluster were chosen: for tasks that share
        memory, and for functions that cannot be sent.

    Returns
    -------
    list
        Results in the order of the tasks.

    Raises
    ------
    Exception
        The first error of a task; the others are given up.
    WorkersLostError
        There is nobody left to compute.
    """
    chosen = _chosen.get()
    return (chosen.here if local else chosen.anywhere).map(function, tasks, progress)


def width() -> int:
    """Give the number of tasks that `compute` computes at once, at least 1."""
    return max(1, _chosen.get().anywhere.width)
