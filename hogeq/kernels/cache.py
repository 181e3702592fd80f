"""Where compiled kernels are kept: in one folder, however hogeq was started.

The folder is the user's, by the customs of the platform (``~/.cache/hogeq`` on Linux), or `hogeq`
in `NUMBA_CACHE_DIR` if that is set. In it, each state of the kernels' sources, of numba, of
llvmlite and of Python has a folder of its own, and each kernel a file for every list of argument
types and every processor. So checkouts with the same sources share what was compiled, and stale
code is never found. numba's own cache goes by the path of a kernel's file, and does not notice a
change in the files that it calls.

Files are written whole, and those of one name mean the same: any number of processes may read and
write at once. Where the folder cannot be written, a temporary one takes its place.
"""

import gc
import hashlib
import logging
import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numba
from numba.core import config, event
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import user_cache_dir

from hogeq.support.clock import begin_compiling, compiling, end_compiling
from hogeq.support.files import write_whole
from hogeq.support.progress import tell

KEPT_STATES = 8  # those used last
KEPT_DAYS = 30  # without use
UNSAID = 2.0  # seconds of compiling of which nothing is said
SECONDS = {
    "interpreter.backward": 1.8,
    "interpreter.forward": 1.2,
    "program.run": 1.0,
    "recurring.backward": 6.0,
    "recurring.forward": 4.0,
    "revising.revise": 2.5,
}
"""What compiling takes one core of 2024, of the kernels for which it takes long."""
SHORT = 0.4  # seconds of any other

_DAY = 24 * 3600.0
_STATE = re.compile("kernels-[0-9a-f]{16}")
_DIGEST = hashlib.sha256().digest_size
_log = logging.getLogger("hogeq")


class Stored(NamedTuple):
    """A compiled kernel that is kept."""

    kernel: str
    """Module and name."""
    size: int
    """Bytes."""


# --- folders --------------------------------------------------------------------------------------


@cache
def state(sources: Path = Path(__file__).parent) -> str:
    """Name the folder of what these versions compile from the sources in a folder."""
    python = sys.implementation.cache_tag
    versions = numba.__version__, llvmlite.__version__, python, config.OPT
    found = hashlib.sha256(repr(versions).encode())
    for source in sorted(sources.glob("*.py")):
        found.update(b"%s\0%s\0" % (source.name.encode(), source.read_bytes()))
    return f"kernels-{found.hexdigest()[:16]}"


def root() -> Path:
    """Give the folder of all states; it is relative if the user has no home."""
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR).absolute() / "hogeq"
    return Path(user_cache_dir(appname="hogeq", appauthor=False))


def writable() -> bool:
    """Whether compiled kernels can be kept in :func:`root`."""
    try:
        folder = root() / state()
        if not root().is_absolute():
            return False
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def spare_root() -> Path:
    """Give the folder that is used where :func:`root` cannot be written."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"hogeq-{user}"


def stored() -> list[Stored]:
    """List what is kept for the present state."""
    found = {}
    for folder in _folders():
        for file in folder.glob("[!.]*.nbc"):
            found[file.name] = Stored(file.name.rsplit("-", 1)[0], file.stat().st_size)
    return sorted(found.values())


def _folders() -> Iterator[Path]:
    """Give the folders to look into, the usual one first."""
    if root().is_absolute():
        yield root() / state()
    if _is_safe(spare_root()):
        yield spare_root() / state()


def _is_safe(folder: Path) -> bool:
    """Whether a folder among those of other users is our own, and closed to them.

    What lies in it is executed.
    """
    try:
        found = folder.lstat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return True
    private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    return private and found.st_uid == os.getuid()


# --- files ----------------------------------------------------------------------------------------


def _read(name: str) -> Any:
    """Read a file; None if there is none, or if it is damaged."""
    for folder in _folders():
        with suppress(OSError):
            data = (folder / name).read_bytes()
            if hashlib.sha256(data[_DIGEST:]).digest() == data[:_DIGEST]:
                _note_use(folder)
                return pickle.loads(data[_DIGEST:])  # noqa: S301 - in a folder of the user's own
    return None


def _write(name: str, content: Any) -> None:
    """Write a file, if any folder can be written."""
    data = dumps(content)
    data = hashlib.sha256(data).digest() + data
    problem = _write_into(root(), name, data)
    if problem:
        spare = spare_root()
        elsewhere = "nor elsewhere" if _write_into(spare, name, data) else f"but are in {spare}"
        _say_once(f"compiled kernels cannot be kept in {root()} ({problem}), {elsewhere}")


def _write_into(place: Path, name: str, data: bytes) -> str:
    """Write a file of the present state; say what prevents it, or nothing."""
    if not place.is_absolute():
        return "no home folder"
    folder = place / state()
    try:
        if place == spare_root():
            place.mkdir(mode=0o700, exist_ok=True)
            if not _is_safe(place):
                return "not closed to others"
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            _prune(place)
        write_whole(folder / name, data)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _prune(place: Path) -> None:
    """Remove states that were not used for long; those of the last day always stay."""
    now = time.time()
    ages = []
    for folder in place.iterdir():
        with suppress(OSError):
            if _STATE.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink():
                ages.append((now - folder.stat().st_mtime, folder))
    for rank, (age, folder) in enumerate(sorted(ages)):
        if age > KEPT_DAYS * _DAY or (rank >= KEPT_STATES and age > _DAY):
            shutil.rmtree(folder, ignore_errors=True)


@cache
def _note_use(folder: Path) -> None:
    with suppress(OSError):
        os.utime(folder)


@cache
def _say_once(what: str) -> None:
    _log.warning("hogeq: %s", what)


# --- kernels --------------------------------------------------------------------------------------


_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def compiling_quietly() -> Iterator[None]:
    """Say nothing in a block of what is compiled."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


class Kernel(NamedTuple):
    """A kernel for one list of argument types."""

    module: str
    function: str
    signature: Any
    file: str
    """Name of what is kept of it."""

    @property
    def seconds(self) -> float:
        """What compiling it takes, about."""
        return SECONDS.get(f"{self.module.rpartition('.')[2]}.{self.function}", SHORT)

    def compile(self) -> None:
        """Compile it without calling it, or load what is kept."""
        getattr(import_module(self.module), self.function).compile(self.signature)

    def is_kept(self) -> bool:
        """Whether it need not be compiled."""
        return any((folder / self.file).exists() for folder in _folders())


class NotCompiledError(Exception):
    """A kernel that is not kept was called where none may be compiled."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel.function)
        self.kernel = kernel


_asked: ContextVar[bool] = ContextVar("asked", default=False)


@contextmanager
def compiling_nothing() -> Iterator[None]:
    """Raise NotCompiledError in a block instead of compiling a kernel."""
    token = _asked.set(True)
    try:
        yield
    finally:
        _asked.reset(token)


_elsewhere: Callable[[Kernel], bool] = lambda _kernel: False  # noqa: E731 - until another is set


def ask_first(elsewhere: Callable[[Kernel], bool]) -> None:
    """Ask a function, before a kernel is compiled, whether it is kept by now; it may wait."""
    global _elsewhere  # noqa: PLW0603 - one for the process
    _elsewhere = elsewhere


class KernelCache(_Cache):
    """What a dispatcher of numba asks before it compiles, and tells afterwards."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self._function = function

    @property
    def cache_path(self) -> str:
        """Folder, as numba's statistics name it."""
        return str(root() / state())

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Give the compiled kernel for argument types; None if it must be compiled."""
        with compiling():
            # Unlike numba's own: what is loaded needs none of numba's typing, which takes longer.
            file = self._file(signature, context.codegen())
            found = _read(file)
            if found is None:
                function = self._function
                kernel = Kernel(function.__module__, function.__name__, signature, file)
                if _asked.get():
                    raise NotCompiledError(kernel)
                if _elsewhere(kernel):
                    found = _read(file)
            return found and CompileResult._rebuild(context, *found)  # noqa: SLF001 - as numba does

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled kernel."""
        with compiling():
            # The annotated source is of no use, and takes long to write.
            reduced = compiled._replace(type_annotation="")._reduce()  # noqa: SLF001
            _write(self._file(signature, compiled.codegen), reduced)

    def enable(self) -> None:
        """Do nothing: it always is."""

    def disable(self) -> None:
        """Do nothing."""

    def flush(self) -> None:
        """Do nothing: nothing goes stale."""

    def _file(self, signature: Any, codegen: Any) -> str:
        key = repr((signature, codegen.magic_tuple())).encode()
        return f"{self.name}-{hashlib.sha256(key).hexdigest()[:32]}.nbc"


class _Compilations(event.Listener):
    """Stops the clock while numba compiles, and says so where it takes a while.

    Garbage is collected afterwards: to look for some among the many objects that numba makes took a
    tenth of the time. Events come one at a time, since numba compiles under a lock.
    """

    def __init__(self) -> None:
        self._unsaid = 0.0
        self._foretold = 0.0
        self._collected: list[bool] = []  # whether garbage was, before each thing in work

    def foretell(self, clock: float, compiled: float) -> None:
        """Say at once how long several kernels take, of which this process compiles some."""
        self._unsaid += clock
        if self._say():
            self._foretold = compiled

    def on_start(self, event: Any) -> None:
        """Be told that something is being compiled, perhaps within something else."""
        begin_compiling()
        self._collected.append(gc.isenabled())
        gc.disable()
        name = getattr(event.data["dispatcher"]._cache, "name", "")  # noqa: SLF001
        seconds = SECONDS.get(name, 0.0)
        if seconds <= self._foretold:
            self._foretold -= seconds
            return
        self._unsaid += seconds
        self._say()

    def on_end(self, event: Any) -> None:  # noqa: ARG002 - which one does not matter
        """Be told that it is done."""
        if self._collected.pop():
            gc.enable()
        end_compiling()

    def _say(self) -> bool:
        if self._unsaid <= UNSAID or _quiet.get():
            return False
        tell(f"hogeq: compiling kernels, once: about {self._unsaid:.0f} s")
        self._unsaid = 0.0
        return True


_compilations = _Compilations()
event.register("numba:compile", _compilations)
foretell = _compilations.foretell


def cached(dispatcher: Any) -> Any:
    """Keep what a dispatcher compiles."""
    dispatcher._cache = KernelCache(dispatcher.py_func)  # noqa: SLF001 - there is no other door
    return dispatcher


# Parts are written into their callers, and each is compiled once, there. Kernels are what Python
# calls, and what is kept. They leave arrays' owners alone (_nrt), or else every look at an array
# would count references up and down, which took longer than the work; so they allocate nothing.
part = numba.njit(error_model="numpy", inline="always")


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, and keep it."""
    return cached(numba.njit(error_model="numpy", nogil=True, _nrt=False)(function))
