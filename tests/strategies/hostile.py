"""A ``final_strategy`` that tries what a strategy has no use for; it answers with error numbers.

`ATTEMPTS` is what it tries, by name: Python, or the raw number of a system call on x86-64 and on
64-bit ARM with its arguments. Each would do no harm if it were allowed.
"""

import ctypes
import errno
import fcntl
import os
import platform
import resource
import signal
import socket
import subprocess
from collections.abc import Callable
from functools import partial
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
GOAL = 12
COLUMN = 0 if platform.machine() == "x86_64" else 1
JUDGE = os.getppid()
IS_JUDGED = __name__ == "final_strategy"
HERE = os.open(".", os.O_RDONLY) if IS_JUDGED else -1
FILE = os.open("kept", os.O_RDONLY) if IS_JUDGED else -1
TEXT = ctypes.create_string_buffer(b"kept")
ZEROS = ctypes.create_string_buffer(256)


def call(*numbers: Any) -> None:
    ctypes.set_errno(0)
    if LIBC.syscall(numbers[COLUMN], *numbers[2:]) == -1:
        raise OSError(ctypes.get_errno(), "refused")


def fork() -> None:
    if os.fork() == 0:
        os._exit(0)


PYTHON: dict[str, Callable[[], object]] = {
    "open to write": lambda: open("made", "w"),
    "open to append": lambda: open("kept", "a"),
    "open to empty": lambda: os.open("kept", os.O_RDONLY | os.O_TRUNC),
    "open without a name": lambda: os.open(".", os.O_RDWR | 0o20200000),
    "open shared memory": lambda: open("/dev/shm/hogeq-made", "w"),
    "open a process's memory": lambda: open(f"/proc/{JUDGE}/mem", "r+b"),
    "mkdir": lambda: os.mkdir("made"),
    "rmdir": lambda: os.rmdir("made"),
    "link": lambda: os.link("kept", "made"),
    "symlink": lambda: os.symlink("kept", "made"),
    "mkfifo": lambda: os.mkfifo("made"),
    "mknod": lambda: os.mknod("made"),
    "rename": lambda: os.rename("kept", "made"),
    "unlink": lambda: os.unlink("kept"),
    "truncate": lambda: os.truncate("kept", 0),
    "ftruncate": lambda: os.ftruncate(FILE, 0),
    "chmod": lambda: os.chmod("kept", 0o777),
    "fchmod": lambda: os.fchmod(FILE, 0o777),
    "chown": lambda: os.chown("kept", -1, -1),
    "utime": lambda: os.utime("kept", (0, 0)),
    "umask": lambda: os.umask(0),
    "fsync": lambda: os.fsync(FILE),
    "lock a file": lambda: fcntl.flock(FILE, fcntl.LOCK_SH),
    "lock a part": lambda: fcntl.lockf(FILE, fcntl.LOCK_SH),
    "lease": lambda: fcntl.fcntl(FILE, 1024, fcntl.F_RDLCK),
    "notify of changes": lambda: fcntl.fcntl(HERE, 1026, 2),
    "own for signals": lambda: fcntl.fcntl(FILE, 8, JUDGE),
    "grow a pipe": lambda: fcntl.fcntl(1, 1031, 2**20),
    "type for a terminal": lambda: fcntl.ioctl(0, 0x5412, b"x"),
    "fork": fork,
    "spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "run": lambda: subprocess.run(["true"], check=False),
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "setsid": os.setsid,
    "setpgid": lambda: os.setpgid(0, 0),
    "kill": lambda: os.kill(JUDGE, 0),
    "kill its group": lambda: os.killpg(os.getpgid(0), 0),
    "kill itself": lambda: os.kill(os.getpid(), 0),
    "pidfd_open": lambda: os.pidfd_open(JUDGE),
    "limit the judge's time": lambda: resource.prlimit(
        JUDGE, resource.RLIMIT_CPU, resource.prlimit(JUDGE, resource.RLIMIT_CPU)
    ),
    "limit itself": lambda: resource.setrlimit(
        resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE)
    ),
    "read the judge's limits": lambda: resource.prlimit(JUDGE, resource.RLIMIT_CPU),
    "nice": lambda: os.nice(1),
    "setpriority of the judge": lambda: os.setpriority(
        os.PRIO_PROCESS, JUDGE, os.getpriority(os.PRIO_PROCESS, JUDGE)
    ),
    "affinity of the judge": lambda: os.sched_setaffinity(JUDGE, os.sched_getaffinity(JUDGE)),
    "scheduler of the judge": lambda: os.sched_setscheduler(
        JUDGE, os.SCHED_OTHER, os.sched_param(0)
    ),
    "setitimer": lambda: signal.setitimer(signal.ITIMER_REAL, 1000),
    "memfd_create": lambda: os.memfd_create("made"),
    "socket": socket.socket,
    "socket for datagrams": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "socket on this machine": lambda: socket.socket(socket.AF_UNIX),
    "socket of the kernel": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "socketpair": socket.socketpair,
    "chroot": lambda: os.chroot("."),
    "setuid": lambda: os.setuid(os.getuid()),
    "setgid": lambda: os.setgid(os.getgid()),
    "setgroups": lambda: os.setgroups([]),
    "setxattr": lambda: os.setxattr("kept", "user.x", b"1"),
    "removexattr": lambda: os.removexattr("kept", "user.x"),
    "copy_file_range": lambda: os.copy_file_range(FILE, FILE, 1),
    "sendfile": lambda: os.sendfile(1, FILE, 0, 1),
}

# Numbers on both processors are the same from 424 on.
CALLS: dict[str, tuple[int | ctypes.Array[ctypes.c_char], ...]] = {
    "clone a process": (56, 220, 17, 0, 0, 0, 0),
    "clone a thread in a namespace": (56, 220, 0x40010F00, 0, 0, 0, 0),
    "sync": (162, 81),
    "clone3": (435, 435, ZEROS, 88),
    "tkill": (200, 130, JUDGE, 0),
    "tgkill": (234, 131, JUDGE, JUDGE, 0),
    "rt_sigqueueinfo": (129, 138, JUDGE, 0, ZEROS),
    "rt_tgsigqueueinfo": (297, 240, JUDGE, JUDGE, 0, ZEROS),
    "pidfd_send_signal": (424, 424, FILE, 0, 0, 0),
    "pidfd_getfd": (438, 438, FILE, 0, 0),
    "process_madvise": (440, 440, FILE, 0, 0, 0, 0),
    "ptrace": (101, 117, 16, JUDGE, 0, 0),
    "process_vm_readv": (310, 270, JUDGE, 0, 0, 0, 0, 0),
    "process_vm_writev": (311, 271, JUDGE, 0, 0, 0, 0, 0),
    "kcmp": (312, 272, JUDGE, JUDGE, 0, 0, 0),
    "sched_setparam": (142, 118, JUDGE, ZEROS),
    "sched_setattr": (314, 274, JUDGE, ZEROS, 0),
    "ioprio_set": (251, 30, 1, JUDGE, 0),
    "migrate_pages": (256, 238, JUDGE, 0, 0, 0),
    "move_pages": (279, 239, JUDGE, 0, 0, 0, 0, 0),
    "set_mempolicy": (238, 237, 0, 0, 0),
    "mlockall": (151, 230, 0),
    "prctl": (157, 167, 15, TEXT, 0, 0, 0),
    "personality": (135, 92, 0xFFFFFFFF),
    "seccomp": (317, 277, 0, 0, ZEROS),
    "shmget": (29, 194, 0, 4096, 0o1600),
    "shmat": (30, 196, -1, 0, 0),
    "semget": (64, 190, 0, 1, 0o1600),
    "semop": (65, 193, -1, ZEROS, 1),
    "msgget": (68, 186, 0, 0o1600),
    "msgsnd": (69, 189, -1, ZEROS, 0, 0),
    "mq_open": (240, 180, TEXT, 0o102, 0o600, 0),
    "keyctl": (250, 219, 0, -3, 0, 0, 0),
    "add_key": (248, 217, TEXT, TEXT, TEXT, 1, -3),
    "request_key": (249, 218, TEXT, TEXT, 0, 0),
    "memfd_secret": (447, 447, 0),
    "eventfd2": (290, 19, 0, 0),
    "signalfd4": (289, 74, -1, ZEROS, 8, 0),
    "timerfd_create": (283, 85, 0, 0),
    "timer_create": (222, 107, 0, 0, ZEROS),
    "epoll_create1": (291, 20, 0),
    "inotify_init1": (294, 26, 0),
    "fanotify_init": (300, 262, 0, 0),
    "userfaultfd": (323, 282, 1),
    "io_uring_setup": (425, 425, 1, ZEROS),
    "perf_event_open": (298, 241, ZEROS, 0, -1, -1, 0),
    "bpf": (321, 280, 0, ZEROS, 8),
    "unshare": (272, 97, 0x10000000),
    "unshare files": (272, 97, 0x400),
    "setns": (308, 268, HERE, 0),
    "pivot_root": (155, 41, TEXT, TEXT),
    "mount": (165, 40, TEXT, TEXT, TEXT, 0, 0),
    "umount2": (166, 39, TEXT, 0),
    "open_tree": (428, 428, -100, TEXT, 1),
    "fsopen": (430, 430, TEXT, 0),
    "mount_setattr": (442, 442, -100, TEXT, 0, ZEROS, 32),
    "openat2": (437, 437, -100, TEXT, ZEROS, 24),
    "fchmodat2": (452, 452, -100, TEXT, 0o777, 0),
    "name_to_handle_at": (303, 264, -100, TEXT, ZEROS, ZEROS, 0),
    "open_by_handle_at": (304, 265, HERE, ZEROS, 0),
    "fallocate": (285, 47, FILE, 0, 0, 1),
    "sethostname": (170, 161, TEXT, -1),
    "settimeofday": (164, 170, ZEROS, ZEROS),
    "clock_settime": (227, 112, 99, ZEROS),
    "adjtimex": (159, 171, ZEROS),
    "syslog": (103, 116, 10, 0, 0),
    "reboot": (169, 142, 0, 0, 0, 0),
    "init_module": (175, 105, ZEROS, 0, TEXT),
    "swapoff": (168, 225, TEXT),
    "acct": (163, 89, TEXT),
    "capset": (126, 91, ZEROS, ZEROS),
    "a call of later kernels": (5000, 5000, 0),
}
ATTEMPTS = PYTHON | {name: partial(call, *numbers) for name, numbers in CALLS.items()}


def attempt(code: Callable[[], object]) -> int:
    try:
        code()
    except OSError as error:
        return error.errno or errno.EPERM
    except ValueError:  # what setrlimit makes of it
        return errno.EPERM
    return 0


ANSWERS = [attempt(code) for code in ATTEMPTS.values()] if IS_JUDGED else []


def final_strategy(score: int, opponent: int) -> int:
    index = GOAL * score + opponent
    return ANSWERS[index] if index < len(ANSWERS) else 0
