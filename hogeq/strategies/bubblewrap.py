"""Processes of Python that run code of others: in a sandbox that bubblewrap makes, or plain.

A sandbox shows Python, its libraries, those of the system and three devices, all but the devices
read-only, and what its caller adds: no home, no temporary files, no settings, no ``/proc``.
"""

import contextlib
import functools
import os
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Final, cast

from hogeq.strategies import child

HARNESS, ENTRY = "/harness.py", "/entry"  # in a sandbox: our code, and the folder of others'

OPTIONS: Final = (
    *("--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534"),
    *("--hostname", "entry", "--cap-drop", "ALL", "--new-session", "--die-with-parent"),
)
NO_NAMESPACES: Final = ("--disable-userns", "--assert-userns-disabled")  # from bubblewrap 0.8 on

# What no namespace separates, counts or makes read-only. By processor: its number in seccomp, that
# of clone, which makes processes unless it is told to make a thread, that of fcntl, by which others
# can be made to wait for a file, and those of calls.
_REFUSED: Final = {
    "x86_64": (
        0xC000003E,
        56,
        72,
        (
            *(57, 58),  # fork, vfork
            *(29, 64, 68),  # memory beside that of a process: shmget, semget, msgget
            *(248, 249, 250),  # keys of the judge's session: add_key, request_key, keyctl
            *(41, 425),  # sockets, some of which leave a virtual machine: socket, io_uring_setup
            *(101, 310, 311, 438),  # the first process knows our paths: ptrace and its like
            *(457, 458),  # so do mounts: statmount, listmount
            *(162, 306, 221),  # disks are everybody's: sync, syncfs, fadvise
            *(73, 206),  # so are locks and counts of requests: flock, io_setup
            *(253, 294, 300),  # others use the same libraries: inotify_init, fanotify_init
            *(90, 91, 268, 452),  # devices are root's, and may be ours: chmod
            *(92, 93, 94, 260),  # chown
            *(132, 235, 261, 280),  # utime
            *(188, 189, 190, 197, 198, 199, 463, 466, 469),  # setxattr, removexattr, file_setattr
        ),
    ),
    "aarch64": (
        0xC00000B7,
        220,
        25,
        (
            *(194, 190, 186),
            *(217, 218, 219),
            *(198, 425),
            *(117, 270, 271, 438),
            *(457, 458),
            *(81, 267, 223),
            *(32, 0),
            *(26, 262),
            *(52, 53, 452),
            *(54, 55),
            88,
            *(5, 6, 7, 14, 15, 16, 463, 466, 469),
        ),
    ),
}
_LEASE: Final = 1024  # F_SETLEASE of fcntl; what has higher numbers is not for an entry either,
_DUPLICATE: Final = 1030  # but for F_DUPFD_CLOEXEC
_CLONE3: Final = (
    435  # as if it were not there: threads are then made by clone, whose flags are seen
)


# Nothing from the current folder or a home, and no bytecode left behind.
PYTHON: Final = ("-P", "-s", "-B")


def _environment(seed: int) -> dict[str, str]:
    """Variables of a process of an entry; none of ours."""
    threads = {f"{kind}_NUM_THREADS": "1" for kind in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    # A Python that finds its library beside itself needs /proc for that.
    library = {"LD_LIBRARY_PATH": f"{sys.base_prefix}/lib"} if sys.platform == "linux" else {}
    system = {key: os.environ[key] for key in ("SYSTEMROOT",) if key in os.environ}
    return {"PATH": os.defpath, "PYTHONHASHSEED": str(seed), **threads, **library, **system}


@functools.cache
def _mounts() -> tuple[str, ...]:
    """Options of bubblewrap that show Python and the system's libraries, and no folder above."""
    program = os.path.realpath(sys.executable)
    shown = ["/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/nix/store", "/gnu/store"]
    prefixes = dict.fromkeys((sys.base_prefix, sys.base_exec_prefix, sys.prefix))
    shown += [f"{prefix}/{lib}" for prefix in prefixes for lib in ("lib", "lib64")]
    shown += [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
    shown += [path for path in sys.path if path.endswith(("/site-packages", "/dist-packages"))]
    shown += [f"{sys.prefix}/pyvenv.cfg", "/etc/ld.so.cache", program]
    options: list[str] = []
    for path in dict.fromkeys(shown):
        options += ("--ro-bind-try", path, path)
    if program != sys.executable:
        options += ("--symlink", program, sys.executable)
    for path in ("/lib", "/lib32", "/lib64"):
        if Path(path).is_symlink():
            options += ("--symlink", str(Path(path).readlink()), path)
        else:
            options += ("--ro-bind-try", path, path)
    for device in ("null", "zero", "urandom"):
        options += ("--dev-bind", f"/dev/{device}", f"/dev/{device}")
    return (*options, "--ro-bind", child.__file__, HARNESS)


@contextlib.contextmanager
def sandboxed(
    bubblewrap: Sequence[str], code: Sequence[str], options: Sequence[str], seed: int = 1
) -> Iterator[subprocess.Popen[bytes]]:
    """Start Python in a sandbox, with more options of bubblewrap."""
    # A pipe holds it until bubblewrap reads it.
    ours, theirs = os.pipe()
    try:
        os.write(theirs, _filter())
        os.close(theirs)
        filtered = ("--seccomp", str(ours)) if _filter() else ()
        apart = (*bubblewrap, *_mounts(), *filtered, *options, "--remount-ro", "/", "--")
        with process_of([*apart, sys.executable, *PYTHON, *code], "/", (ours,), seed) as process:
            yield process
    finally:
        os.close(ours)


def _filter() -> bytes:
    """Write the rules of seccomp: all calls but `_REFUSED`, and none of other processors."""
    if os.uname().machine not in _REFUSED:
        return b""
    processor, clone, fcntl, calls = _REFUSED[os.uname().machine]
    load, equal, at_least, has_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, refuse, unknown = ((give, 0, 0, what) for what in (0x7FFF0000, 0x00050001, 0x00050026))
    rules = [
        (load, 0, 0, 4),
        (equal, 1, 0, processor),
        refuse,
        (load, 0, 0, 0),
        (at_least, 0, 1, 0x40000000),  # the other numbers of x86-64
        refuse,
        (equal, 0, 1, _CLONE3),
        unknown,
    ]
    for call in calls:
        rules += [(equal, 0, 1, call), refuse]
    rules += [(equal, 0, 5, fcntl), (load, 0, 0, 24)]
    rules += [(equal, 1, 0, _DUPLICATE), (at_least, 1, 0, _LEASE), allow, refuse]
    rules += [(equal, 1, 0, clone), allow, (load, 0, 0, 16), (has_bit, 0, 1, 0x10000), allow]
    return b"".join(struct.pack("HBBI", *rule) for rule in [*rules, refuse])


@contextlib.contextmanager
def process_of(
    command: Sequence[str], folder: str, descriptors: Sequence[int], seed: int
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process with three pipes, in a folder; kill it at the end of the block."""
    process = subprocess.Popen(  # noqa: S603 - the user trusts this file
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=_environment(seed),
        pass_fds=descriptors,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):
                cast("IO[bytes]", pipe).close()
