"""Where independent tasks are computed: threads, processes of this machine, or a Dask cluster.

Processes are joblib's, the cluster is Dask distributed; both are used as executors of
`concurrent.futures`. Threads are kept, and so is what each has ready (`hogeq.evaluation.counterfactual`). What is
computed does not depend on who computes it.
"""

import atexit
import math
import signal
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
from threading import local
from typing import Any, Final, Generic, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

LOCAL: Final = "local"
DASK: Final = "dask://"
ALLOWED: Final = f"{LOCAL} (processes of this machine) or {DASK}HOST:PORT"

ATTEMPTS: Final = 3
"""Times that a task may kill a process which it has to itself before it is given up."""

CONNECT_SECONDS: Final = 10
"""How long a scheduler is given to answer."""


class ExecutorError(ValueError):
    """Workers that cannot be had; the message is one line."""


class WorkersLostError(RuntimeError):
    """Workers that are gone and will not come back; the message is one line."""


class Workers:
    """What computes tasks side by side.

    Parameters
    ----------
    start : callable
        Gives an executor, and another if that one breaks.
    width : int
        How many tasks can be computed at once; 0 if none yet.
    limit : float
        How many are handed over at once.
    stop : callable, optional
        Tells tasks in flight to stop, waits so many seconds, and says whether all have.

    Attributes
    ----------
    busy : bool
        Whether there are tasks that were given up and may still be computed.
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
        """Compute tasks; give each one's place and its result, or its error, as they end.

        A task whose process died is computed again. Processes of one pool die together, so it is
        not known whose fault it was: those tasks are tried again one at a time, and one that kills
        a process which it has to itself `ATTEMPTS` times ends with that error. A Dask scheduler
        keeps such a count of its own.

        Parameters
        ----------
        function : callable
            Of a module, or a `functools.partial` of one: other processes find it by name.
        tasks : sequence
        grace : float
            Seconds for tasks that save what they have at a SIGTERM, when the rest is given up.

        Raises
        ------
        WorkersLostError
            There is nobody left to compute.
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
            Told, in this thread, the place of each task that has ended.

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

    def close(self, **options: bool) -> None:
        """Shut the executor down, with options of its own kind."""
        self._pool.shutdown(**options)

    def _submit(self, function: Callable[[Task], Result], task: Task) -> Future[Result]:
        try:
            return self._pool.submit(function, task)
        except BrokenExecutor:
            self._pool = self._start()
            return self._pool.submit(function, task)


class _Flight(Generic[Result]):
    """Tasks handed over and not yet ended."""

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
        """Wait for one to end."""
        future = self._ended.get()
        index = self._places.pop(future)
        try:
            return index, future.result()
        except CancelledError:
            raise WorkersLostError("the scheduler is gone, and its workers with it") from None
        except Exception as error:  # noqa: BLE001 - whatever it is, it is that task's
            return index, error

    def cancel(self) -> list[Future[Result]]:
        """Give up those that have not begun; return those that have."""
        return [future for future in self._places if not future.cancel()]


# --- where ----------------------------------------------------------------------------------------

_chosen: ContextVar[Workers | None] = ContextVar("workers", default=None)


class _Here(local):
    """What a thread knows of threads."""

    def __init__(self) -> None:
        self.pools: dict[int, ThreadPool] = {}  # that it asked for, by their number
        self.working = False  # for one that did


_here = _Here()


@contextmanager
def workers(on: str, jobs: int) -> Iterator[Workers]:
    """Have workers for the time of a block; `compute` in the block uses them too.

    Parameters
    ----------
    on : str
        ``"local"``: processes of this machine; ``"dask://HOST:PORT"``: the workers of the
        scheduler at that address.
    jobs : int
        Number of processes, at least 1; a cluster has as many as it has.

    Raises
    ------
    ExecutorError
        `on` is none of these, no scheduler answers, or Dask is not installed.
    """
    address = on.removeprefix(DASK)
    if on == LOCAL:
        have = _processes(jobs)
    elif address != on and address.rpartition(":")[2].isdecimal():
        have = _cluster(address)
    else:
        raise ExecutorError(f"--on: got {on!r}; allowed: {ALLOWED}")
    with have as found:
        token = _chosen.set(found)
        try:
            yield found
        finally:
            _chosen.reset(token)


def compute(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    jobs: int,
    progress: Callable[[int], object] = int,
) -> list[Result]:
    """Compute tasks on the workers that were chosen, or else in threads.

    Parameters
    ----------
    function : callable
        Of a module, or a `functools.partial` of one: processes find it by name.
    tasks : iterable
    jobs : int
        Number of threads where no workers were chosen; 1: this one.
    progress : callable, optional
        As for `Workers.map`.

    Returns
    -------
    list
        Results in the order of the tasks. They do not depend on who computed them.
    """
    chosen = _chosen.get()
    if chosen is not None:
        return chosen.map(function, tasks, progress)
    return in_threads(function, tasks, jobs, progress)


def in_threads(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    jobs: int,
    progress: Callable[[int], object] = int,
) -> list[Result]:
    """Compute tasks in threads of this process: as `compute`, whatever workers were chosen.

    A task that itself asks for threads gets none besides its own.
    """
    results: list[Result] = []
    if jobs == 1 or _here.working:
        for task in tasks:
            results.append(function(task))
            progress(len(results) - 1)
        return results
    if jobs not in _here.pools:
        _here.pools[jobs] = ThreadPool(jobs, lambda: setattr(_here, "working", True))
        atexit.register(_here.pools[jobs].terminate)
    pool = _here.pools[jobs]
    try:
        for result in pool.imap(function, tasks):
            progress(len(results))
            results.append(result)
    except BaseException:
        pool.terminate()  # what has not begun must not
        atexit.unregister(pool.terminate)
        del _here.pools[jobs]
        raise
    return results


def width(jobs: int) -> int:
    """How many tasks `compute` computes at once, at least 1."""
    chosen = _chosen.get()
    return jobs if chosen is None else max(1, chosen.width)


@contextmanager
def _processes(jobs: int) -> Iterator[Workers]:
    from joblib.externals.loky import ProcessPoolExecutor

    def stop(futures: Iterable[Future[Any]], grace: float) -> bool:
        for process in active_children():
            process.terminate()
        return not wait(futures, grace).not_done

    # No more at once than there are processes: those that die with one are then known.
    found = Workers(
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
        raise ExecutorError(
            "--on dask://...: Dask is not installed; pip install 'hogeq[cluster]'"
        ) from error
    connect: Any = distributed.Client
    try:
        client = connect(f"tcp://{address}", timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ExecutorError(f"--on {DASK}{address}: no scheduler answers there") from error
    with client:
        threads = sum(client.nthreads().values())
        # The same call twice is two tasks: pure ones would share a result.
        pool = client.get_executor(pure=False)
        yield Workers(lambda: pool, threads, math.inf)
