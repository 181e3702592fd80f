"""Workers for independent tasks: threads, processes of this machine, or a Dask cluster.

`workers` chooses once, around a block of code; algorithms call `compute` and do not know the
answer, and results do not depend on it. Processes are loky's, the cluster is Dask distributed;
both are executors of `concurrent.futures`. Threads stay for the next call, because each keeps the
arrays that it fills (`hogeq.model.shared`).
"""

import atexit
import os
import pickle
import signal
import sys
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import partial
from multiprocessing import active_children
from multiprocessing.pool import ThreadPool
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from threading import local as thread_local
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np  # noqa: F401 - loads the BLAS that a block limits
from threadpoolctl import threadpool_limits

from hogeq.support.messages import ExplainedError, HogeqError, not_installed, refusal
from hogeq.support.parameters import MOST_JOBS, Jobs, check
from hogeq.support.plugins import loaded, run_with

Task = TypeVar("Task")
Result = TypeVar("Result")

LOCAL: Final = "local"
DASK: Final = "dask://"
ATTEMPTS: Final = 3
"""Times that a task, alone in its process, may kill it before it counts as failed."""

CONNECT_SECONDS: Final = 10  # seconds to wait for a scheduler to answer
SLICE: Final = 0.1  # seconds of one wait; between two, Python sees Ctrl-C on every system
HEAVY: Final = 2**14
"""Bytes from which a pickled function is sent to a cluster once, and not with every task."""


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory() -> int:
    """Bytes of memory that this process may have: of the machine, a container on it or a limit.

    Windows does not say.
    """
    if not hasattr(os, "sysconf"):
        return 8 * 2**30
    import resource  # Windows lacks it

    size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):  # no such limit, or none of this kind
        size = min(size, int(Path("/sys/fs/cgroup/memory.max").read_text("ascii")))
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return size if limit == resource.RLIM_INFINITY else min(size, limit)


class ExecutorError(HogeqError):
    """The workers asked for are not available; the message is one line."""


class WorkersLostError(ExplainedError):
    """All workers are gone for good; the message is one line."""


# --- threads --------------------------------------------------------------------------------------


class Threads:
    """Threads of this process, kept for the next call from the same thread; `width` of them."""

    here = True  # whether they are of this machine

    def __init__(self, width: int) -> None:
        self.width = width

    def outcomes(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        grace: float = 0.0,  # noqa: ARG002 - threads get no signals
    ) -> Generator[tuple[int, Result | Exception], None, None]:
        """Compute tasks; yield index and result in their order, and raise the first error.

        If the caller stops early, or a task fails, tasks that have not begun are dropped. The pool
        of threads is made by the first call with its width, and kept for later ones.
        """
        pools = _thread_pools.by_width
        if self.width not in pools:
            # Tasks of a task are computed by its own thread.
            pools[self.width] = ThreadPool(self.width, lambda: _chosen.set(_CALLING_THREAD))
            atexit.register(pools[self.width].terminate)
        pool = pools[self.width]
        try:
            yield from enumerate(pool.imap(function, tasks))
        except BaseException:
            del pools[self.width]
            pool.terminate()
            atexit.unregister(pool.terminate)
            raise


class _ThreadPools(thread_local):
    """Thread pools that the current thread has started."""

    def __init__(self) -> None:
        self.by_width: dict[int, ThreadPool] = {}


_thread_pools = _ThreadPools()


def interruptible(
    function: Callable[..., Result],
    *arguments: Any,
    **named: Any,
) -> Result:
    """Call compiled code that releases the GIL, as HiGHS does, so that Ctrl-C ends the wait for it.

    Python handles signals between its own steps alone. So the call is made in another thread, which
    is left behind when the calling one is interrupted, and does not keep the process alive.
    """
    call: Future[Result] = Future()

    def run() -> None:
        try:
            call.set_result(function(*arguments, **named))
        except BaseException as error:  # noqa: BLE001 - it is raised in the calling thread
            call.set_exception(error)

    Thread(target=run, daemon=True).start()
    while not call.done():
        wait([call], SLICE)
    return call.result()


# --- other processes ------------------------------------------------------------------------------


class Remote:
    """Executors of `concurrent.futures` whose tasks run in other processes.

    An executor has one process and one task at a time. So if a process dies, its task is known: it
    is computed again, until it has killed `ATTEMPTS` processes. On a cluster one executor has all
    tasks at once, and the Dask scheduler counts such deaths.

    Parameters
    ----------
    start : callable
        Starts an executor, or returns that of the cluster.
    width : int
        Number of tasks computed at once.
    upload : callable, optional
        Of a cluster: sends a pickled function there once, and returns what stands for it in tasks.
    """

    def __init__(
        self,
        start: Callable[[], Executor],
        width: int,
        upload: Callable[[bytes], Any] | None = None,
    ) -> None:
        self.width = width
        self.here = upload is None  # whether the processes are of this machine
        self._start = start
        self._upload = upload
        self._idle: list[Executor | None] = [None] * width  # None: to be started

    def outcomes(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], grace: float = 0.0
    ) -> Generator[tuple[int, Result | Exception], None, None]:
        """Compute tasks; yield index and result, or error, as each ends.

        Other processes find the function by name, so it must be a module's. If the generator is
        closed, tasks that have not begun are cancelled; others have `grace` seconds to end.
        """
        waiting = deque(range(len(tasks)))  # indices of tasks
        deaths = Counter[int]()  # by task, processes that died while they computed it
        idle = self._idle  # executors without a task
        if not self.here:  # the cluster's executor takes all tasks at once
            idle = [*idle, *[None] * len(tasks)]
        shared_function = self._pickle_shared(function)
        running: dict[Future[Result], tuple[int, Executor]] = {}
        ended: SimpleQueue[Future[Result]] = SimpleQueue()
        try:
            while waiting or running:
                while waiting and idle:
                    index = waiting.popleft()
                    # Plugins load before anything is unpickled.
                    call = (run_with, loaded(), shared_function, pickle.dumps(tasks[index]))
                    future, executor = self._submit(idle.pop(), call)
                    running[future] = index, executor
                    future.add_done_callback(ended.put)
                future = ended.get()
                index, executor = running.pop(future)
                result = _result_or_error(future)
                if not isinstance(result, BrokenExecutor):
                    idle.append(executor)
                    yield index, result
                    continue
                idle.append(None)  # its process died
                deaths[index] += 1
                if deaths[index] < ATTEMPTS:
                    waiting.append(index)
                else:
                    yield index, result
        finally:
            # What cannot be cancelled has begun.
            begun = {
                future: executor for future, (_, executor) in running.items() if not future.cancel()
            }
            idle += [executor for _, executor in running.values() if executor not in begun.values()]
            idle += self.stop(begun, grace)

    def stop(self, begun: Mapping[Future[Any], Executor], grace: float) -> list[Executor | None]:
        """Stop tasks that have begun, given their executors; return idle ones in place of these.

        The executor of a process that was killed becomes None. This method stops nothing: tasks on
        a cluster go on.
        """
        del grace
        return list(begun.values())

    def close(self) -> None:
        """Shut the executors down."""
        for executor in self._idle:
            if executor is not None:
                executor.shutdown()

    def _submit(
        self, executor: Executor | None, call: tuple[Any, ...]
    ) -> tuple[Future[Any], Executor]:
        """Submit a call, function and arguments, to an executor or, if it is None, to a new one."""
        if executor is None:
            executor = self._start()
        try:
            return executor.submit(*call), executor
        except BrokenExecutor:  # its process died with nothing to do
            return self._submit(None, call)

    def _pickle_shared(self, function: Callable[[Task], Result]) -> Any:
        """Pickle a function for all tasks; a large one is sent to a cluster once."""
        pickled = pickle.dumps(function)
        if self._upload is not None and len(pickled) >= HEAVY:
            return self._upload(pickled)
        return pickled


def _result_or_error(future: "Future[Result]") -> Result | Exception:
    """Return the result of a task, or its error; raise `WorkersLostError` if no worker is left."""
    try:
        return future.result()
    except CancelledError:
        reason = "the scheduler is gone, and its workers with it; what is done is kept"
        raise WorkersLostError(reason) from None
    except Exception as error:  # noqa: BLE001 - whatever it is, it is that task's
        return error


class Processes(Remote):
    """Processes of this machine."""

    def __init__(self, width: int) -> None:
        """Prepare executors of loky, `width` of them, which start with their first task."""
        from multiprocessing import resource_tracker as python_resource_tracker

        from loky import ProcessPoolExecutor
        from loky.backend import resource_tracker

        # Python would look for modules in the current folder first, and run anybody's files there.
        # The cleaners of loky and of Python, both of which loky starts, take their environment from
        # this process; workers take their own. Python's cannot start on Windows, and is not used.
        with _environment_with("PYTHONSAFEPATH", "1"):
            resource_tracker.ensure_running()
            if sys.platform != "win32":
                python_resource_tracker.ensure_running()
        # Processes keep this very object: `stop` tells them from other children by its identity.
        self._environment = {"HOGEQ_WORKER": "1", "PYTHONSAFEPATH": "1"}
        start = partial(ProcessPoolExecutor, 1, initializer=_ignore_signals, env=self._environment)
        super().__init__(start, width)

    def stop(self, begun: Mapping[Future[Any], Any], grace: float) -> list[Executor | None]:
        """Ask tasks to stop, and after `grace` seconds kill the processes of those that did not.

        `begun` has the executor, one process, of each task's future. Returns the executors in this
        order, None in place of one whose process was killed.
        """
        if begun and grace:
            for process in active_children():
                if getattr(process, "env", None) is self._environment:
                    process.terminate()
        late = wait(begun, grace).not_done
        for future in late:
            begun[future].shutdown(kill_workers=True)
        return [None if future in late else executor for future, executor in begun.items()]


@contextmanager
def _environment_with(name: str, value: str) -> Iterator[None]:
    """Set an environment variable for processes that start in a block, and restore it after."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)  # other threads may have been here
        else:
            os.environ[name] = before


def _ignore_signals() -> None:
    """Leave signals to tasks that save their work, and processes to their parent."""
    for kind in (signal.SIGINT, signal.SIGTERM):
        signal.signal(kind, signal.SIG_IGN)


@contextmanager
def cluster(address: str) -> Iterator[Remote]:
    """Connect to the workers of the Dask scheduler at HOST:PORT, for the time of a block.

    A function that all tasks of a call share may hold a large policy. It becomes the result of a
    task of its own. So it passes the scheduler once, and workers fetch it from each other; if those
    that have it die, the scheduler computes that task anew.
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
    # Dask would warn of a mixture of many policies, which is as large as it has to be.
    with client, dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GiB"}):
        threads = sum(client.nthreads().values())
        # The same call twice is two tasks: pure ones would share a result.
        executor = client.get_executor(pure=False)
        upload = partial(client.submit, bytes, pure=False)  # a task that gives back its argument
        yield Remote(lambda: executor, threads, upload)


Workers: TypeAlias = Threads | Remote
"""Those who compute independent tasks."""


# --- the choice of workers ------------------------------------------------------------------------


_CALLING_THREAD: Final[tuple[Workers, Threads]] = Threads(1), Threads(1)

_chosen: ContextVar[tuple[Workers, Threads]] = ContextVar("workers", default=_CALLING_THREAD)
"""The workers of a block, and threads for what stays in this process."""


@contextmanager
def workers(jobs: int | None = None, on: str | None = None) -> Iterator[Workers]:
    """Choose the workers of independent tasks, for the time of a block; the innermost one counts.

    Outside any block the calling thread computes everything, and so does a task that itself has
    tasks. NumPy's linear algebra (BLAS) has one thread in a block: its own would keep the cores
    busy while they wait, and sums made in parts may differ in the last bits.

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
    >>> import hogeq
    >>> from hogeq.support.workers import compute
    >>> with hogeq.workers(2):
    ...     compute(abs, [-1, -2, -3])
    [1, 2, 3]
    """
    jobs = min(cores(), MOST_JOBS) if jobs is None else jobs
    check(Jobs, jobs=jobs)
    threads = Threads(jobs)
    with _workers_on(on, threads) as chosen, threadpool_limits(1, user_api="blas"):
        token = _chosen.set((chosen, threads))
        try:
            yield chosen
        finally:
            _chosen.reset(token)


def _workers_on(on: str | None, threads: Threads) -> AbstractContextManager[Workers]:
    """Start the workers for `on` (see `workers`); `ExecutorError` if it names none."""
    if on is None:
        return nullcontext(threads)
    if on == LOCAL:
        return closing(Processes(threads.width))
    address = on.removeprefix(DASK)
    port = address.rpartition(":")[2]
    is_port = port.isdecimal() and len(port) < 6 and int(port) < 2**16
    if address == on or not is_port:
        allowed = f"{LOCAL} (processes of this machine) or {DASK}HOST:PORT"
        raise ExecutorError(refusal("on", on, allowed))
    return cluster(address)


def compute(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    progress: Callable[[int], object] = int,
    *,
    local: bool = False,
) -> list[Result]:
    """Compute tasks by the workers that were chosen (:func:`workers`), results in their order.

    `progress` is called with the index of each task as it ends; if `local`, threads of this process
    compute them, whatever workers were chosen.
    """
    chosen, threads = _chosen.get()
    if local:
        chosen = threads
    tasks = list(tasks)
    results: dict[int, Result] = {}
    if isinstance(chosen, Threads) and (chosen.width == 1 or len(tasks) == 1):
        # The calling thread computes them itself.
        for index, task in enumerate(tasks):
            results[index] = function(task)
            progress(index)
        return list(results.values())
    with closing(chosen.outcomes(function, tasks)) as outcomes:
        for index, result in outcomes:
            if isinstance(result, Exception):
                raise result
            results[index] = result
            progress(index)
    return [results[index] for index in range(len(tasks))]


def width() -> int:
    """Return the number of tasks that `compute` computes at once, at least 1."""
    return max(1, _chosen.get()[0].width)
