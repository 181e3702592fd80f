"""What a command needs before it starts, and how small ones start fast.

Libraries are imported where they are used, which saves a second; `rest_the_garbage_collector` and
`load_numba_without_blas` save 0.4 seconds more of a command that compiles a game.
"""

import atexit
import gc
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

INTERRUPTED = 130  # 128 + SIGINT, as shells have it

BLAS = "scipy.linalg.cython_blas"

KEPT_OBJECTS = 100_000  # made and kept before Python looks for garbage


def rest_the_garbage_collector() -> None:
    """Look for garbage seldom, and not at all at the end of the process.

    What is imported is never garbage: to look through all of it takes longer than most commands
    compute, on the way in and once more on the way out.
    """
    gc.set_threshold(KEPT_OBJECTS)
    atexit.register(gc.freeze)


@contextmanager
def stopping_at_once() -> Iterator[None]:
    """End the process quietly if it is interrupted in the block, while modules are imported.

    A `KeyboardInterrupt` would come out of the middle of somebody's module, which may catch it.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def leave_the_prompt() -> None:
    """Begin a new line of a terminal, which has just shown ^C."""
    with suppress(OSError):
        if os.isatty(2):
            os.write(2, b"\n")


def _stop(*_: object) -> None:
    leave_the_prompt()
    with suppress(OSError):
        os.write(2, b"hogeq: stopped\n")
    os._exit(INTERRUPTED)


def draw_without_windows() -> None:
    """Let matplotlib draw into files, whatever the user's other programs draw with."""
    os.environ["MPLBACKEND"] = "agg"


def open_standard_error() -> None:
    """Give a process that was started without standard error one, where what is said is lost."""
    if sys.stderr is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = os.fdopen(2, "w")


def load_numba_without_blas() -> None:
    """Load numba without SciPy's linear algebra.

    numba imports it only to learn whether there is a BLAS. No kernel of ours calls one, and code
    that does will import it then.
    """
    from hogeq.support.messages import BadInputError

    threads, disabled = (
        os.environ.get(name, "").strip() for name in ("NUMBA_NUM_THREADS", "NUMBA_DISABLE_JIT")
    )
    if threads.lstrip("+-").isdecimal() and int(threads) < 1:
        raise BadInputError(f"NUMBA_NUM_THREADS: got {threads}; allowed: whole numbers from 1")
    if disabled.isdecimal() and int(disabled):
        allowed = "0, since hogeq runs compiled code only"
        raise BadInputError(f"NUMBA_DISABLE_JIT: got {disabled}; allowed: {allowed}")
    modules: dict[str, Any] = sys.modules
    if BLAS in modules:
        return
    modules[BLAS] = None  # Python's way to say that a module cannot be had
    try:
        with warnings.catch_warnings():
            # numba would go on without what it cannot read, after a traceback.
            warnings.filterwarnings("error", "Environment variable 'NUMBA_", RuntimeWarning)
            import numba.np.arraymath  # noqa: F401
    except RuntimeWarning as error:
        raise BadInputError(str(error).partition("\n")[0]) from error
    finally:
        del modules[BLAS]
