"""Where compiled kernels are kept: in one folder, however hogeq was started.

The folder is the user's, by the customs of the platform (``~/.cache/hogeq`` on Linux), or `hogeq`
in `NUMBA_CACHE_DIR` if that is set. In it, each state of the kernels' sources, of numba, of
llvmlite and of Python has a folder of its own, and each kernel a file for every list of argument
types and every processor. So checkouts with the same sources share what was compiled, and stale
code is never found. numba's own cache goes by the path of a kernel's file, and does not notice a
change in the files that it calls.

Files are written whole, and those of one name mean the same: any number of processes may read and
write at once. Where the folder cannot be written, every process compiles what it needs.

A file begins with a digest of its state, its name and its content: one that is damaged, or has come
to the name of another, is compiled anew. Its content is unpickled, which can run any code, so it is
read from a folder that nobody else can change or exchange (:mod:`hogeq.support.private`).

numba compiles one kernel at a time in a process, and most commands need several. A command that
knows which says so beforehand (:mod:`hogeq.model.expecting`), which costs nothing: only when a
kernel is missing, the list is asked for, and what else is missing is shared out among as many
processes as there are cores, unless it is so little that they would take longer to start.
"""

import gc
import hashlib
import logging
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numba
from numba.core import config, event
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import user_cache_dir

from hogeq.kernels import expected
from hogeq.support.private import PrivateFolder, private_folder
from hogeq.support.progress import begin_compiling, compiling, end_compiling, tell
from hogeq.support.workers import cores

KEPT_SECONDS = 30 * 24 * 3600.0  # after so long without use a folder is removed
PATIENCE = 120.0  # seconds that are waited for a helping process
FEWEST = 3  # missing kernels for each helping process: starting it takes as long as three
# What a helping process runs.
PROGRAM = "import pickle, sys\nfor kernel in pickle.load(sys.stdin.buffer): kernel.compile()"

_FILE = re.compile(r"[^.].*\.nbc")
_DIGEST = hashlib.sha256().digest_size
_log = logging.getLogger("hogeq")

config._config_fname = ""  # noqa: SLF001 - a file of whatever folder is the current one


# --- files ----------------------------------------------------------------------------------------


@cache
def state(sources: Path = Path(__file__).parent) -> str:
    """Name the folder for kernels that these versions compile from a folder of sources."""
    python = sys.implementation.cache_tag
    versions = numba.__version__, llvmlite.__version__, python, config.OPT
    digest = hashlib.sha256(repr(versions).encode())
    # Of an installation without sources, its modules as Python compiled them.
    for source in sorted([*sources.glob("*.py"), *sources.glob("*.pyc")]):
        digest.update(b"%s\0%s\0" % (source.name.encode(), source.read_bytes()))
    return f"kernels-{digest.hexdigest()[:16]}"


def root() -> Path:
    """Return the folder of all states; it is relative if the user has no home.

    An `XDG_CACHE_HOME` that is empty or relative counts as not set, as its specification says. So
    does a `NUMBA_CACHE_DIR`: the current folder may come from somebody else, with code in it.
    """
    chosen = Path(os.environ.get("NUMBA_CACHE_DIR", ""))
    if chosen.is_absolute():  # never by numba's settings, which a file of the current folder has
        return chosen / "hogeq"
    folder = Path(user_cache_dir(appname="hogeq", appauthor=False))
    is_by_xdg = sys.platform not in {"win32", "darwin"}
    if is_by_xdg and not Path(os.environ.get("XDG_CACHE_HOME", "/")).is_absolute():
        folder = Path("~/.cache/hogeq")
        with suppress(RuntimeError):  # no home
            return folder.expanduser()
    return folder


def stored() -> list[Path]:
    """List the files of the present state; none if the folder cannot be read."""
    path = root() / state()
    with suppress(OSError), private_folder(path) as folder:
        names = sorted(name for name in folder.names() if _FILE.fullmatch(name))
        return [path / name for name in names]
    return []


def problem() -> str:
    """Name the reason why compiled kernels cannot be stored, or ''; makes the folder if need be."""
    path = root() / state()
    if not path.is_absolute():
        return "no home folder"
    try:
        with suppress(FileNotFoundError), private_folder(path):
            _require_writable(path)
            return ""
        with private_folder(path, make=True):
            _prune()
            _require_writable(path)
            return ""
    except OSError as error:
        return error.strerror or str(error)


def _require_writable(path: Path) -> None:
    """Raise OSError if no file can be written in a folder."""
    with tempfile.TemporaryFile(dir=path):
        pass


def _prune() -> None:
    """Remove the folders of states that were not used for `KEPT_SECONDS`."""
    for folder in root().glob("kernels-*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > KEPT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def _digest(name: str, data: bytes) -> bytes:
    return hashlib.sha256(f"{state()}/{name}\0".encode() + data).digest()


def _read(name: str) -> Any:
    """Read a file; None if there is none, if it is damaged, another's or not to be trusted."""
    path = root() / state()
    with suppress(OSError), private_folder(path) as folder:
        data = folder.read(name)
        digest, content = data[:_DIGEST], data[_DIGEST:]
        if _digest(name, content) == digest:
            _note_use(folder)
            # Whole, but perhaps of another version of a library than the state names.
            with suppress(Exception):
                return pickle.loads(content)  # noqa: S301 - in a folder of the user's own
    return None


def _write(name: str, content: Any) -> None:
    """Write a file with its digest; warn once if the folder cannot be written."""
    reason = problem()
    if not reason:
        data = dumps(content)
        try:
            with private_folder(root() / state()) as folder:
                folder.write(name, _digest(name, data) + data)
        except OSError as error:
            reason = error.strerror or str(error)
    if reason:
        _warn_once(f"hogeq: compiled kernels cannot be kept in {root()} ({reason})")


_used = set[Path]()


def _note_use(folder: PrivateFolder) -> None:
    """Note once in a process that a folder is used."""
    if folder.path not in _used:
        _used.add(folder.path)
        folder.note_use()


@cache
def _warn_once(line: str) -> None:
    _log.warning(line)


@cache
def tell_once() -> None:
    """Say that kernels are compiled, when the first of this process is."""
    tell("hogeq: compiling kernels, once")


# --- kernels --------------------------------------------------------------------------------------


class Kernel(NamedTuple):
    """A kernel for one list of argument types."""

    module: str
    function: str
    signature: Any
    file: str

    def compile(self) -> None:
        """Compile it without calling it, or load the stored kernel."""
        getattr(import_module(self.module), self.function).compile(self.signature)


class NotCompiledError(Exception):
    """A kernel that is not kept was called where none may be compiled."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel.function)
        self.kernel = kernel


_refuses: ContextVar[bool] = ContextVar("refuses", default=False)


@contextmanager
def compiling_nothing() -> Iterator[None]:
    """Raise NotCompiledError in a block instead of compiling a kernel."""
    token = _refuses.set(True)
    try:
        yield
    finally:
        _refuses.reset(token)


def compile_all(
    kernels: Sequence[Kernel],
    width: int | None = None,
    done: Callable[[int], object] = lambda _: None,
) -> None:
    """Compile kernels by `width` processes, this one included; by default one for each core.

    A kernel that another process does not deliver is compiled when it is called. `done` gets
    numbers of kernels, as they are compiled.
    """
    width = width or cores()
    *shares, own_share = [kernels[first::width] for first in range(width)]
    helpers: list[subprocess.Popen[bytes]] = []
    try:
        with suppress(OSError):
            # Without a folder that can be written, what a helper compiles would be lost.
            for share in shares if not problem() else ():
                helpers += [_helper(share)] if share else []
        for kernel in own_share:
            kernel.compile()
            done(1)
        for helper, share in zip(helpers, shares, strict=False):
            with suppress(subprocess.TimeoutExpired):
                helper.wait(PATIENCE)
            done(len(share))
    finally:
        for helper in helpers:
            helper.kill()
            helper.wait()


def _helper(kernels: Sequence[Kernel]) -> "subprocess.Popen[bytes]":
    """Start a process that compiles kernels, and keeps them in the same folder."""
    import_path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with tempfile.TemporaryFile() as pickled_kernels:
        pickled_kernels.write(dumps(kernels))
        pickled_kernels.seek(0)
        return subprocess.Popen(  # noqa: S603 - this Python
            [sys.executable, "-P", "-c", PROGRAM],
            stdin=pickled_kernels,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **import_path},
        )


class KernelCache:
    """Cache of a dispatcher of numba, which reads it before it compiles and writes it after."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self._function = function

    @property
    def cache_path(self) -> str:
        """Folder, as numba's statistics name it."""
        return str(root() / state())

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the compiled kernel for argument types; None if it must be compiled.

        If it is the first one missing, other kernels that a command announced are compiled before.
        """
        with compiling():
            # Unlike numba's own: what is loaded needs none of numba's typing, which takes longer.
            file = self._file(signature, context.codegen())
            content = _read(file)
            if content is None:
                function = self._function
                kernel = Kernel(function.__module__, function.__name__, signature, file)
                if _refuses.get():
                    raise NotCompiledError(kernel)
                tell_once()
                if expected:
                    missing_kernels = expected.pop()()
                    others = {other.file: other for other in missing_kernels if other.file != file}
                    compile_all([*others.values()], min(cores(), 1 + len(others) // FEWEST))
            return content and CompileResult._rebuild(context, *content)  # noqa: SLF001 - as numba does

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled kernel."""
        with compiling():
            # The annotated source is of no use, and takes long to write.
            reduced = compiled._replace(type_annotation="")._reduce()  # noqa: SLF001
            _write(self._file(signature, compiled.codegen), reduced)

    def _file(self, signature: Any, codegen: Any) -> str:
        function = self._function.__module__, self._function.__qualname__
        key = repr((function, signature, codegen.magic_tuple())).encode()
        return f"{self.name}-{hashlib.sha256(key).hexdigest()[:32]}.nbc"


class _Compilations(event.Listener):
    """Stops the clock while numba compiles.

    Garbage is collected afterwards: to look for some among the many objects that numba makes took a
    tenth of the time. Events come one at a time, since numba compiles under a lock.
    """

    def __init__(self) -> None:
        self._collected: list[bool] = []  # whether garbage was, before each thing in work

    def on_start(self, event: Any) -> None:  # noqa: ARG002 - which one does not matter
        begin_compiling()
        self._collected.append(gc.isenabled())
        gc.disable()

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        if self._collected.pop():
            gc.enable()
        end_compiling()


event.register("numba:compile", _Compilations())


def cached(dispatcher: Any) -> Any:
    """Store the kernels that a dispatcher compiles."""
    dispatcher._cache = KernelCache(dispatcher.py_func)  # noqa: SLF001 - there is no other door
    return dispatcher


# Parts are written into their callers, and each is compiled once, there. Kernels are what Python
# calls, and what is kept. They leave arrays' owners alone (_nrt), or else every look at an array
# would count references up and down, which took longer than the work; so they allocate nothing.
part = numba.njit(error_model="numpy", inline="always")
# Called by kernels, not written into them, and by nothing else, so that Python needs no way in.
routine = numba.njit(
    error_model="numpy", _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True
)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, and keep it."""
    return cached(numba.njit(error_model="numpy", nogil=True, _nrt=False)(function))
