"""A ``final_strategy`` that tries to reach what it must not; an answer of 1 is a success.

`ATTEMPTS` is what it tries, by name: Python, or the number of a system call on x86-64 and on 64-bit
ARM with its arguments. Each would do no harm if it succeeded. The test writes paths and a port of
its own in place of the constants.
"""

import ctypes
import fcntl
import os
import platform
import resource
import socket
import struct
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

GOAL = 10
CANARY = "/canary"  # a file of the judge
FOLDER = "/folder"  # of the entry, and of others
PORT = 1  # that the judge listens at
JUDGE = os.getppid()

COLUMN = 0 if platform.machine() == "x86_64" else 1
LIBC = ctypes.CDLL(None, use_errno=True)
TEXT = ctypes.create_string_buffer(b"/entry")
DEVICE = ctypes.create_string_buffer(b"/dev/null")
SHARES = ctypes.create_string_buffer(b"system.posix_acl_access")
MODE = ctypes.create_string_buffer(struct.pack("<IHHiHHiHHi", 2, 1, 6, -1, 4, 6, -1, 32, 6, -1))
ZEROS = ctypes.create_string_buffer(256)
MOUNTS = ctypes.create_string_buffer(struct.pack("<IIQQ", 24, 0, 2**64 - 1, 0))
REQUESTS = ctypes.create_string_buffer(8)
NOTHING = ctypes.c_long(0)


def call(*numbers: Any) -> None:
    if LIBC.syscall(numbers[COLUMN], *numbers[2:]) == -1:
        raise OSError(ctypes.get_errno(), "refused")


def holds(found: object) -> None:
    if not found:
        raise OSError


def judge() -> int:
    """Give the process that started this one, unless that is the first of a sandbox."""
    holds(JUDGE > 1)
    return JUDGE


def in_environment() -> None:
    holds(any("HOGEQ_SECRET" in text for text in (*os.environ, *os.environ.values())))


def temporary_files() -> None:
    """Find one that is no part of the way to Python, which may lie there."""
    libraries = (sys.prefix, sys.base_prefix, *sys.path)
    holds([name for name in os.listdir("/tmp") if f"/tmp/{name}/" not in "/ ".join(libraries)])


def descriptors() -> None:
    """Find a descriptor that is neither a pipe nor the null device."""
    for number in range(3, 256):
        try:
            status = os.fstat(number)
        except OSError:
            continue
        if status.st_rdev != os.stat(os.devnull).st_rdev and status.st_mode >> 12 != 1:
            raise RuntimeError(number)
    raise OSError


def connect() -> None:
    with socket.create_connection(("127.0.0.1", PORT), timeout=1):
        pass


def by_link() -> None:
    holds(Path(__file__).with_name("link").read_text())


def own_file() -> int:
    return os.open(__file__, os.O_RDONLY)


PYTHON: dict[str, Callable[[], object]] = {
    "read a file of the judge": lambda: Path(CANARY).read_text(),
    "list the folder of the judge": lambda: os.listdir(Path(CANARY).parent),
    "read another's entry": lambda: Path(FOLDER, "other.py").read_text(),
    "read beside it": lambda: Path(__file__).with_name("other.py").read_text(),
    "read above it": lambda: Path(__file__).parent.parent.joinpath("other.py").read_text(),
    "read by a link": by_link,
    "read the users": lambda: Path("/etc/passwd").read_text(),
    "read the machine's name": lambda: Path("/etc/hostname").read_text(),
    "know the machine's name": lambda: holds(os.uname().nodename != "entry"),
    "know the user": lambda: holds(os.getuid() != 65534),
    "know a home": lambda: holds(os.path.expanduser("~") != "~"),
    "read processes": lambda: os.listdir("/proc/self"),
    "read mounts": lambda: Path("/proc/self/mountinfo").read_text(),
    "read the system": lambda: os.listdir("/sys"),
    "read another's environment": lambda: Path(f"/proc/{JUDGE}/environ").read_text(),
    "read the environment": in_environment,
    "list temporary files": temporary_files,
    "have a descriptor of the judge": descriptors,
    "write its file": lambda: open(__file__, "a"),
    "write beside it": lambda: Path(__file__).with_name("made").touch(),
    "write to the root": lambda: Path("/made").touch(),
    "write shared memory": lambda: Path("/dev/shm/made").touch(),
    "make a device": lambda: Path("/dev/made").touch(),
    "make a folder": lambda: os.mkdir("made"),
    "rename its file": lambda: os.rename(__file__, "made"),
    "remove its file": lambda: os.unlink(__file__),
    "change the mode of its file": lambda: os.chmod(__file__, 0o777),
    "date its file": lambda: os.utime(__file__),
    "change the mode of a device": lambda: os.chmod(os.devnull, 0o666),
    "change the mode of an open device": lambda: os.fchmod(os.open(os.devnull, 0), 0o666),
    "date a device": lambda: os.utime(os.devnull),
    "own a device": lambda: os.chown(os.devnull, os.getuid(), os.getgid()),
    "own an open device": lambda: os.fchown(os.open(os.devnull, 0), os.getuid(), os.getgid()),
    "make others wait for its file": lambda: fcntl.fcntl(own_file(), 1024, fcntl.F_RDLCK),
    "hint at how its file lives": lambda: fcntl.fcntl(own_file(), 1036, bytes(8)),
    "lock its file": lambda: fcntl.flock(own_file(), fcntl.LOCK_EX | fcntl.LOCK_NB),
    "drop its file from memory": lambda: os.posix_fadvise(own_file(), 0, 0, 4),
    "write much": lambda: os.write(os.memfd_create("made"), b"x"),
    "connect to the judge": connect,
    "send to the network": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(
        b"", ("192.0.2.1", 9)
    ),
    "see a network": lambda: holds([one for _, one in socket.if_nameindex() if one != "lo"]),
    "signal the judge": lambda: os.kill(judge(), 0),
    "slow the judge": lambda: os.setpriority(os.PRIO_PROCESS, judge(), 1),
    "limit the judge": lambda: resource.prlimit(judge(), resource.RLIMIT_CPU),
    "be of higher priority": lambda: os.nice(-1),
    "raise a limit": lambda: resource.setrlimit(resource.RLIMIT_CPU, (10**6, 10**6)),
    "become a shell": lambda: os.execv("/bin/sh", ["sh", "-c", ":"]),
    "type for a terminal": lambda: open("/dev/tty"),
    "become root": lambda: os.setuid(0),
    "change the root": lambda: os.chroot("/"),
}

CALLS: dict[str, tuple[int | ctypes.c_long | ctypes.Array[ctypes.c_char], ...]] = {
    "ptrace the judge": (101, 117, 16, JUDGE if JUDGE > 1 else 10**6, 0, 0),
    "ptrace the first process": (101, 117, 0x4206, 1, 0, 0),
    "read the first process": (310, 270, 1, ZEROS, 0, ZEROS, 0, NOTHING),
    "write the first process": (311, 271, 1, ZEROS, 0, ZEROS, 0, NOTHING),
    "change the mode of a device by a new call": (452, 452, -100, DEVICE, 0o666, 0),
    "share a device": (188, 5, DEVICE, SHARES, MODE, 28, 0),
    "make a queue of the kernel": (425, 425, 4, ZEROS),
    "make semaphores": (64, 190, 0, 1, 0o600),
    "make messages": (68, 186, 0, 0o600),
    "list the mounts": (458, 458, MOUNTS, ZEROS, 1, 0),
    "make the machine write": (306, 267, 0),
    "make requests of disks": (206, 0, 1, REQUESTS),
    "watch files": (294, 26, 0),
    "watch files by an old call": (253, 26, 0),
    "watch files by a new call": (300, 262, 0x200, 0),
    "mount": (165, 40, TEXT, TEXT, TEXT, 0x1000, 0),
    "unmount": (166, 39, TEXT, 2),
    "open a tree": (428, 428, -100, TEXT, 1),
    "make another user space": (272, 97, 0x10000000),
    "make another space of mounts": (272, 97, 0x20000),
    "name the machine": (170, 161, TEXT, 5),
    "set the clock": (227, 112, 0, ZEROS),
    "make a process": (56, 220, 17, 0, 0, 0, 0),
    "make a thread by another call": (435, 435, ZEROS, 88),
    "make shared segments": (29, 194, 0, 4096, 0o1600),
    "find the judge's keys": (250, 219, 0, -3, 0, 0, 0),
    "list the judge's keys": (250, 219, 11, -3, ZEROS, 256, 0),
    "ask for a key": (249, 218, TEXT, TEXT, 0, 0),
    "add a key": (248, 217, TEXT, TEXT, TEXT, 1, -3),
    "make a socket to the machine's host": (41, 198, 40, 1, 0),
    "make a socket of the kernel": (41, 198, 16, 3, 0),
    "make a socket of other numbers": (0x40000029, 198, 2, 1, 0),
    "load a module": (175, 105, ZEROS, 0, TEXT),
    "count events": (298, 241, ZEROS, 0, -1, -1, 0),
    "read the kernel's log": (103, 116, 3, ZEROS, 100),
}
ATTEMPTS = PYTHON | {name: partial(call, *numbers) for name, numbers in CALLS.items()}


def succeeds(code: Callable[[], object]) -> int:
    try:
        code()
    except (OSError, ValueError):
        return 0
    return 1


ANSWERS = [succeeds(code) for code in ATTEMPTS.values()] if __name__ == "final_strategy" else []


def final_strategy(score: int, opponent: int) -> int:
    index = GOAL * score + opponent
    return ANSWERS[index] if index < len(ANSWERS) else 0
