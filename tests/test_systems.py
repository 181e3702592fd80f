"""Windows and macOS, as far as another system can show: nothing that only POSIX has is asked for.

A process hides modules, functions and flags that Windows lacks, then imports every module of the
package and runs the commands of a student.
"""

import re
from pathlib import Path

import pytest

from tests.processes import printed

ROOT = Path(__file__).parents[1]

HIDE = """
import builtins, errno, importlib, os, pathlib, pkgutil, select, signal, sys
# Libraries know the system that they were made for.
import asyncio, llvmlite.binding, loky, matplotlib.pyplot, multiprocessing.pool, numba.core.registry
import numba.core.dispatcher, numba.np.ufunc, numpy, pyspiel, open_spiel.python.policy
import scipy.optimize, scipy.sparse.linalg, subprocess, tqdm, typer.main, webbrowser, ctypes.util
import threadpoolctl
import concurrent.futures.process, plotly.graph_objects, http.client, importlib.metadata
modules = "fcntl grp posix pty pwd resource syslog termios tty".split()
names = '''chown chroot confstr eventfd fchdir fchmod fchown fork forkpty getegid geteuid getgid
    getgroups getloadavg getpgid getpgrp getresuid getsid getuid killpg lchown lockf
    memfd_create mkfifo mknod nice openpty pathconf pipe2 posix_spawn pread pwrite
    sched_getaffinity sched_setaffinity set_blocking setgid setpgid setsid setuid statvfs sync
    sysconf tcgetpgrp uname wait3 wait4 writev O_CLOEXEC O_DIRECTORY O_DSYNC O_NOCTTY O_NOFOLLOW
    O_NONBLOCK O_SYNC'''.split()
signals = '''SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2
    SIGXCPU alarm pause pthread_kill pthread_sigmask setitimer sigwait'''.split()
class Windows:
    def find_spec(self, name, *_):
        if name in modules:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None
class Here:
    platform = sys.platform
    def __getattr__(self, name):
        return getattr(sys, name)
def hide():
    threadpoolctl.sys = Here()  # it looks anew each time
    subprocess.Popen.kill = lambda process: process.send_signal(9)  # as here, by its number
    sys.meta_path.insert(0, Windows())
    for name in modules:
        sys.modules.pop(name, None)
    for owner, hidden in ((os, names), (signal, signals), (select, ["poll", "epoll", "kqueue"])):
        for name in hidden:
            if hasattr(owner, name):
                delattr(owner, name)
    os.supports_dir_fd = os.supports_fd = set()
    sys.platform = "win32"
"""

EVERY = f"""{HIDE}
hide()
import hogeq
for module in pkgutil.walk_packages(hogeq.__path__, "hogeq."):
    if module.name not in ("hogeq.__main__", "hogeq.run"):
        importlib.import_module(module.name)
"""

COMMANDS = f"""{HIDE}
import hogeq.cli.application, hogeq.cli.commands
hide()
from hogeq.cli import main
for call in sys.argv[1:]:
    assert main(call.split()) == 0, call
"""

CALLS = (
    "export optimal --rules small.yaml --out table.csv",
    "export optimal --rules small.yaml --player-name Me --out final_strategy.py",
    "check table.csv --rules small.yaml",
    "check final_strategy.py --rules small.yaml --trust",
    "board --rules small.yaml --opponent table.csv --out board.html",
    "attack table.csv --rules small.yaml --starts 1 --kicks 0",
    "compare table.csv always_roll:2 --rules small.yaml",
    "improve table.csv --rules small.yaml --against always_roll:1 --out better.csv",
    "diff table.csv better.csv --rules small.yaml",
    "analyze --rules small.yaml --score 3 --opponent 4",
    "tournament table.csv always_roll:1 --rules small.yaml",
    "tournament class --rules small.yaml --trust --no-sandbox --out contest",
    "run config.yaml",
    "equilibrium --game kuhn_poker",
    "doctor --rules small.yaml",
)


def run(code: str, *arguments: str) -> str:
    return printed("-c", code, *arguments)


@pytest.mark.slow
def test_every_module_is_imported_without_posix() -> None:
    run(EVERY)


@pytest.mark.slow
def test_the_commands_of_a_student_need_no_posix(in_folder: Path) -> None:
    rules = "{edition: fa25, goal: 12, max_dice: 3}"
    Path("small.yaml").write_text(rules)
    Path("config.yaml").write_text(
        f"{{name: new, rules: {rules}, solver: {{name: dcfr, iterations: 2}}, "
        "measure: {attack: {starts: 1, anneal_steps: 3, kicks: 0}}}"
    )
    for student in ("ann", "bob"):
        Path("class", student).mkdir(parents=True)
        code = f"PLAYER_NAME = '{student}'\ndef final_strategy(a, b): return 2\n"
        Path("class", student, "final_strategy.py").write_text(code)
    assert "valid for" in run(COMMANDS, *CALLS)


# Each stands behind a question for the system, or in what Linux alone runs.
POSIX = re.compile(
    r"\bos\.(fork|killpg|setsid|uname|getuid|geteuid|sysconf|sched_getaffinity|fchmod|mkfifo"
    r"|set_blocking|O_NOFOLLOW|O_DIRECTORY|O_NONBLOCK)\b|\bdir_fd\b|SIGKILL|SIGALRM|SIGHUP"
    r"|select\.poll|import (fcntl|resource|pwd|grp|termios|tty|pty)\b"
)
ALLOWED = {
    "hogeq/support/private.py",
    "hogeq/runs/files.py",
    "hogeq/support/bubblewrap.py",
    "hogeq/support/child.py",
    "hogeq/support/files.py",
    "hogeq/support/workers.py",
}


def test_posix_is_asked_for_in_few_places() -> None:
    paths = sorted((ROOT / "hogeq").rglob("*.py"))
    found = {str(path.relative_to(ROOT)) for path in paths if POSIX.search(path.read_text("utf-8"))}
    assert found <= ALLOWED
