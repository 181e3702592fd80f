"""Processes of Python that run code of others: in a sandbox that bubblewrap makes, or plain.

A sandbox shows Python, its libraries, those of the system and three devices, all but the devices
read-only, and what its caller adds: no home, no temporary files, no settings, no ``/proc``.
"""

import contextlib
import functools
import os
import signal
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Final

from hogeq.support import child

HARNESS, ENTRY = "/harness.py", "/entry"  # in a sandbox: our code, and the folder of others'

OPTIONS: Final = (
    *("--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534"),
    *("--hostname", "entry", "--cap-drop", "ALL", "--new-session", "--die-with-parent"),
)
NO_NAMESPACES: Final = ("--disable-userns", "--assert-userns-disabled")  # from bubblewrap 0.8 on

# What no namespace separates, counts or makes read-only, by name and the numbers on x86-64 and
# 64-bit ARM, which lacks the oldest.
_REFUSED: Final = """
fork 57 -, vfork 58 -,
shmget 29 194, semget 64 190, msgget 68 186, add_key 248 217, request_key 249 218, keyctl 250 219,
socket 41 198, io_uring_setup 425 425,
ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, pidfd_getfd 438 438,
statmount 457 457, listmount 458 458, sync 162 81, syncfs 306 267, fadvise64 221 223,
flock 73 32, io_setup 206 0, inotify_init 253 -, inotify_init1 294 26, fanotify_init 300 262,
chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452,
chown 92 -, lchown 94 -, fchown 93 55, fchownat 260 54,
utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88,
setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, setxattrat 463 463, file_setattr 469 469,
removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16, removexattrat 466 466"""
# By processor: its number in seccomp, and the numbers of two calls of which some uses are refused:
# clone, which makes processes unless it is told to make a thread, and fcntl, by which others can
# be made to wait for a file.
_PROCESSORS: Final = {"x86_64": (0xC000003E, 56, 72), "aarch64": (0xC00000B7, 220, 25)}
_LEASE: Final = 1024  # F_SETLEASE of fcntl; what has higher numbers is not for an entry either,
_DUPLICATE: Final = 1030  # but for F_DUPFD_CLOEXEC
_CLONE3: Final = 435  # as if not there: threads are then made by clone, whose flags are seen
_CLONE_THREAD: Final = 0x10000  # flag of clone
_FIRST_X32: Final = 0x40000000  # of the other numbers that x86-64 has for the same calls

# Instructions of BPF, the language of seccomp's rules, and the results of RETURN.
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW: Final = (_RETURN, 0, 0, 0x7FFF0000)
_REFUSE: Final = (_RETURN, 0, 0, 0x00050001)  # EPERM
_NOT_THERE: Final = (_RETURN, 0, 0, 0x00050026)  # ENOSYS
# Where they find what a process calls, in bytes of struct seccomp_data.
_CALL, _PROCESSOR, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24

# Nothing from the current folder or a home, and no bytecode left behind.
PYTHON: Final = ("-P", "-s", "-B")


def _environment(seed: int) -> dict[str, str]:
    """Make the environment variables of an entry's process; it has none of this process."""
    threads = {f"{kind}_NUM_THREADS": "1" for kind in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    # A Python that finds its library beside itself needs /proc for that.
    library = {"LD_LIBRARY_PATH": f"{sys.base_prefix}/lib"} if sys.platform == "linux" else {}
    system = {key: os.environ[key] for key in ("SYSTEMROOT",) if key in os.environ}
    return {"PATH": os.defpath, "PYTHONHASHSEED": str(seed), **threads, **library, **system}


@functools.cache
def _mounts() -> tuple[str, ...]:
    """List options of bubblewrap that show Python, the system's libraries, and three devices.

    Folders above these, and what else is in them, are not shown.
    """
    program = os.path.realpath(sys.executable)
    paths = ["/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/nix/store", "/gnu/store"]
    for prefix in (sys.base_prefix, sys.base_exec_prefix, sys.prefix):
        paths += [f"{prefix}/lib", f"{prefix}/lib64"]
    paths += [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
    paths += [path for path in sys.path if path.endswith(("/site-packages", "/dist-packages"))]
    paths += [f"{sys.prefix}/pyvenv.cfg", "/etc/ld.so.cache", program]
    options: list[str] = []
    for path in dict.fromkeys(paths):  # each once; those that are missing are passed over
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
    bubblewrap: Sequence[str],
    arguments: Sequence[str],
    mounts: Sequence[str],
    seed: int = 1,
    questions: IO[bytes] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start Python in a sandbox with these arguments; kill it at the end of the block.

    ``bubblewrap`` is the program and its options, ``mounts`` are more of these, ``seed`` is of
    Python's hashes, and ``questions`` its standard input.
    """
    rules = _seccomp_rules()
    read_end, write_end = os.pipe()  # which holds the rules until bubblewrap reads them
    os.write(write_end, rules)
    os.close(write_end)
    try:
        seccomp = ("--seccomp", str(read_end)) if rules else ()
        options = (*_mounts(), *seccomp, *mounts, "--remount-ro", "/", "--")
        command = [*bubblewrap, *options, sys.executable, *PYTHON, *arguments]
        with process_of(command, "/", seed, questions, read_end) as process:
            yield process
    finally:
        os.close(read_end)


def _seccomp_rules() -> bytes:
    """Write a seccomp filter, a program in BPF that is run at each system call.

    It refuses `_REFUSED`, some uses of fcntl and clone, and all calls of another processor; others
    are allowed. An instruction is (code, number of instructions to skip if a comparison is true,
    number if it is false, operand). The filter is empty if the numbers of this processor's calls
    are not known.
    """
    machine = os.uname().machine
    if machine not in _PROCESSORS:
        return b""
    processor, clone, fcntl = _PROCESSORS[machine]
    column = 1 + [*_PROCESSORS].index(machine)  # the first one has the names
    refused_calls = [line.split()[column] for line in _REFUSED.split(",")]
    rules = [
        (_LOAD, 0, 0, _PROCESSOR),
        *((_IF_EQUAL, 1, 0, processor), _REFUSE),
        (_LOAD, 0, 0, _CALL),
        *((_IF_AT_LEAST, 0, 1, _FIRST_X32), _REFUSE),
        *((_IF_EQUAL, 0, 1, _CLONE3), _NOT_THERE),
    ]
    for call in refused_calls:
        if call != "-":  # this processor lacks it
            rules += [(_IF_EQUAL, 0, 1, int(call)), _REFUSE]
    rules += [
        # Of fcntl: allowed are commands below _LEASE, and _DUPLICATE.
        (_IF_EQUAL, 0, 5, fcntl),
        (_LOAD, 0, 0, _SECOND_ARGUMENT),
        *((_IF_EQUAL, 1, 0, _DUPLICATE), (_IF_AT_LEAST, 1, 0, _LEASE), _ALLOW, _REFUSE),
        # Every other call but clone is allowed, and clone if it makes a thread.
        *((_IF_EQUAL, 1, 0, clone), _ALLOW),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        *((_IF_BIT, 0, 1, _CLONE_THREAD), _ALLOW, _REFUSE),
    ]
    return b"".join(struct.pack("HBBI", *rule) for rule in rules)


@contextlib.contextmanager
def process_of(
    command: Sequence[str], folder: str, seed: int, questions: IO[bytes] | None, *descriptors: int
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process in a folder, its output in pipes; kill it and its group after the block.

    ``seed`` is of Python's hashes, ``questions`` its standard input, and ``descriptors`` are files
    that stay open in it.
    """
    process = subprocess.Popen(  # noqa: S603 - the user trusts this file
        command,
        bufsize=0,
        stdin=questions or subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=_environment(seed),
        pass_fds=descriptors,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            with contextlib.suppress(OSError):
                if hasattr(os, "killpg"):  # not on Windows
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
