"""Workers that are other processes: of this machine (joblib's), or of a Dask cluster.

Both are used as executors of `concurrent.futures`. :mod:`hogeq.support.workers` chooses among them.
"""

import math
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
from functools import partial
from multiprocessing import active_children
from queue import SimpleQueue
from typing import Any, Final, Generic, TypeVar

from hogeq.support.messages import not_installed, refusal
from hogeq.support.plugins import loaded, run_with

Task = TypeVar("Task")
Result = TypeVar("Result")

DASK: Final = "dask://"

ATTEMPTS: Final = 3
"""Times that a task, alone in its process, may kill it before it counts as failed."""

CONNECT_SECONDS: Final = 10
"""Seconds to wait for a scheduler to answer."""

HEAVY: Final = 2**14
"""Bytes of a pickled function from which a cluster is sent it once, not with every task."""


class ExecutorError(ValueError):
    """The workers asked for are not available; the message is one line."""


class WorkersLostError(RuntimeError):
    """All workers are gone for good; the message is one line."""


class Workers(ABC):
    """Base class of those who compute independent tasks."""

    width: int
    here: bool = True

    @abstractmethod
    def outcomes(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], grace: float = 0.0
    ) -> Generator[tuple[int, Result | Exception], None, None]:
        """Compute tasks; yield the index and the result, or the error, of each as it ends.

        Closing the generator cancels the tasks that are left.
        """

    def map(
        self,
        function: Callable[[Task], Result],
        tasks: Iterable[Task],
        progress: Callable[[int], object] = int,
    ) -> list[Result]:
        """Compute tasks and give their results in the order of the tasks."""
        tasks = list(tasks)
        results: dict[int, Result] = {}
        with closing(self.outcomes(function, tasks)) as outcomes:
            for index, result in outcomes:
                if isinstance(result, Exception):
                    raise result
                results[index] = result
                progress(index)
        return [results[index] for index in range(len(tasks))]


class Remote(Workers):
    """An executor of `concurrent.futures` whose tasks run in other processes.

    A task whose process died is computed again. Processes of one pool die together, so it is not
    known whose fault it was: those tasks are tried again one at a time, and one that kills a
    process which it has to itself `ATTEMPTS` times ends with that error. A Dask scheduler keeps
    such a count of its own.
    """

    def __init__(
        self,
        start: Callable[[], Executor],
        width: int,
        limit: float,
        stop: Callable[[Iterable[Future[Any]], float], bool] = lambda _tasks, _seconds: False,
        keep: Callable[[bytes], Any] | None = None,
    ) -> None:
        self.width = width
        self.busy = False
        self._start = start
        self._pool = start()
        self._limit = limit
        self._stop = stop
        self._keep = keep

    def outcomes(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], grace: float = 0.0
    ) -> Generator[tuple[int, Result | Exception], None, None]:
        """Compute tasks; see :meth:`Workers.outcomes`.

        The function must be one of a module, or a `functools.partial` of one: other processes find
        it by name.
        """
        waiting, suspects = deque(range(len(tasks))), deque[int]()
        deaths = Counter[int]()
        handed = self._handed(function)
        flight = _Flight(lambda index: self._submit(handed(tasks[index])))
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

    def _submit(self, work: tuple[Any, ...]) -> Future[Any]:
        try:
            return self._pool.submit(*work)
        except BrokenExecutor:
            self._pool = self._start()
            return self._pool.submit(*work)

    def _handed(self, function: Callable[[Task], Result]) -> Callable[[Task], tuple[Any, ...]]:
        """Give what is handed over for a task: what to call in another process, and with what.

        Plugins are loaded there before anything is unpickled.
        """
        plugins, keep = loaded(), self._keep
        pickled = pickle.dumps(function) if plugins or keep else b""
        heavy = len(pickled) >= HEAVY
        if not (plugins or heavy):
            return lambda task: (function, task)
        there = keep(pickled) if keep and heavy else pickled
        return lambda task: (run_with, plugins, there, pickle.dumps(task))


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
def processes(jobs: int) -> Iterator[Workers]:
    """Have so many processes of this machine, for the time of a block."""
    from joblib.externals.loky import ProcessPoolExecutor

    def stop(futures: Iterable[Future[Any]], grace: float) -> bool:
        for process in active_children():
            process.terminate()
        return not wait(futures, grace).not_done

    # No more at once than there are processes: those that die with one are then known.
    workers = Remote(
        partial(ProcessPoolExecutor, jobs, initializer=_ignore_signals), jobs, jobs, stop
    )
    try:
        yield workers
    finally:
        workers.close(kill_workers=workers.busy)


def _ignore_signals() -> None:
    """Leave signals to tasks that know what to save, and processes to whoever started them."""
    for kind in (signal.SIGINT, signal.SIGTERM):
        signal.signal(kind, signal.SIG_IGN)


@contextmanager
def cluster(address: str) -> Iterator[Workers]:
    """Have the workers of the Dask scheduler at HOST:PORT, for the time of a block.

    What all tasks of a call share, the policy that they respond to say, is handed over as a task of
    its own that gives it back. So it passes the scheduler once, workers fetch it from each other,
    and if those that have it die, it is there again: the scheduler computes that task anew.
    """
    try:
        import dask
        import distributed
    except ImportError as error:
        raise ExecutorError(not_installed("Dask", "a cluster", "distributed")) from error
    connect: Any = distributed.Client
    try:
        client = connect(f"tcp://{address}", timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        allowed = "the address of a scheduler that answers"
        raise ExecutorError(refusal("on", f"{DASK}{address}", allowed)) from error
    # A mixture of many policies is larger than what Dask warns of, and meant.
    with client, dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GiB"}):
        threads = sum(client.nthreads().values())
        # The same call twice is two tasks: pure ones would share a result.
        pool = client.get_executor(pure=False)
        keep = partial(client.submit, bytes, pure=False)
        workers = Remote(lambda: pool, threads, math.inf, keep=keep)
        workers.here = False
        yield workers
