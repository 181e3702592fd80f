"""What a program sees of the machine and takes of it, and where nothing isolates."""

import os
import select
import socket
import subprocess
import sys
import time
from ast import literal_eval
from pathlib import Path

import pytest

from hogeq.strategies import programs
from hogeq.strategies.files import read_strategy
from hogeq.support import bubblewrap, sandbox
from tests.slow import mostly_slow
from tests.strategies import hostile
from tests.strategies.programs import boxed, code
from tests.strategies.strategy_files import DICE, GOAL, file, refused


@pytest.fixture(scope="module", params=["its file alone", "its folder"])
def reached(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, int]:
    """Whether each attempt of `hostile` succeeded, for an entry that lies among others."""
    everybody = tmp_path_factory.mktemp("class")
    canary = file(tmp_path_factory.mktemp("judge"), "canary", "kept")
    other = file(everybody, "other.py", "kept")
    folder, text = everybody, Path(hostile.__file__).read_text()
    if request.param == "its folder":
        folder = everybody / "ann"
        folder.mkdir()
        file(folder, "needed", "1")
        text += "\nopen('needed').close()\n"
    (folder / "link").symlink_to(canary)
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOGEQ_SECRET", "1")
        patch.setenv("HOME", str(canary.parent))
        port = server.getsockname()[1]
        for name, value in (("CANARY", str(canary)), ("FOLDER", str(everybody)), ("PORT", port)):
            text = text.replace(f"\n{name} = ", f"\n{name} = {value!r} or ", 1)
        path = file(folder, "final_strategy.py", text)
        before = sorted(everybody.rglob("*")), path.stat()
        answers = programs.examine(path, hostile.GOAL, 10, 60.0)
    assert answers.faults == ()
    assert answers.strategy is not None
    assert answers.alone == (folder == everybody)
    assert (sorted(everybody.rglob("*")), path.stat()) == before
    assert (canary.read_text(), other.read_text()) == ("kept", "kept")
    return dict(zip(hostile.ATTEMPTS, answers.strategy.array.ravel().tolist(), strict=False))


@boxed
@pytest.mark.parametrize("attempt", hostile.ATTEMPTS)
def test_an_entry_reaches_nothing_else(reached: dict[str, int], attempt: str) -> None:
    assert reached[attempt] == 0


def told(folder: Path, expression: str) -> str:
    """Give what an entry says of something, as its name."""
    path = file(
        folder,
        "final_strategy.py",
        f"import os\nPLAYER_NAME = str({expression})\ndef final_strategy(a, b): return 3\n",
    )
    answers = programs.examine(path, GOAL, DICE, 20.0)
    assert answers.faults == ()
    return str(answers.name)


@pytest.mark.slow
@boxed
def test_an_entry_sees_its_file_its_libraries_and_three_devices(tmp_path: Path) -> None:
    file(tmp_path, "other.py", "")
    assert told(tmp_path, "os.listdir('.')") == "['final_strategy.py']"
    assert told(tmp_path, "(os.getcwd(), __file__)") == "('/entry', '/entry/final_strategy.py')"
    assert told(tmp_path, "sorted(os.listdir('/dev'))") == "['null', 'urandom', 'zero']"
    assert told(tmp_path, "os.listdir('/etc')") in {"['ld.so.cache']", "[]"}
    seen = "{one for one in os.listdir('/') if one not in ('entry', 'harness.py', 'dev', 'etc')}"
    folders = {"usr", "lib", "lib32", "lib64", "nix", "gnu"}
    prefixes = {
        Path(prefix).parts[1] for prefix in (sys.prefix, sys.base_prefix, *sys.path) if prefix
    }
    assert set(literal_eval(told(tmp_path, seen))) <= folders | prefixes
    assert told(tmp_path, "sum(map(len, os.walk('/usr/bin')))") == "0"
    assert told(tmp_path, "[os.isatty(0), os.read(0, 9)]") == "[False, b'']"


@boxed
def test_the_checkout_is_not_shown_because_its_libraries_are(tmp_path: Path) -> None:
    here = Path(__file__).parents[2]
    names = [str(here / name) for name in ("hogeq", "pyproject.toml", "tests", ".git")]
    assert told(tmp_path, f"[one for one in {names} if os.path.exists(one)]") == "[]"


@pytest.mark.slow
def test_what_a_strategy_may_need_is_allowed(tmp_path: Path) -> None:
    file(tmp_path, "beside", "3")
    path = file(
        tmp_path,
        "final_strategy.py",
        "import os, threading, time\nimport numpy as np\n"
        "open(os.devnull, 'w').write('lost')\n"
        "os.close(os.dup(0))\n"
        "time.sleep(0.001)\n"
        "rolls = []\n"
        "thread = threading.Thread(target=lambda: rolls.append(int(open('beside').read())))\n"
        "thread.start()\nthread.join()\n"
        "def final_strategy(score, opponent):\n    return int((rolls * np.eye(1))[0, 0])\n",
    )
    assert (read_strategy(path, GOAL, DICE, trust=True).array == 3).all()


@pytest.mark.slow
@boxed
def test_a_home_and_what_is_above_it_are_no_entrys_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    file(home, "beside", "3")
    path = code(home, "return int(open('beside').read())")
    assert programs.examine(path, GOAL, DICE, 20.0).alone is False
    for place in (home, home / "deeper"):
        place.mkdir(exist_ok=True)
        monkeypatch.setenv("HOME", str(place))
        answers = programs.examine(path, GOAL, DICE, 20.0)
        assert answers.faults[0].line.startswith("final_strategy(0, 0) raised FileNotFoundError")


# --- how much it takes ----------------------------------------------------------------------------

CROWDS = {
    "a process": "if os.fork() == 0: time.sleep(9)",
    "a process of its own": "if os.fork() == 0:\n  os.setsid()\n"
    "  if os.fork() == 0: time.sleep(9)\n  os._exit(0)",
    "another program": "code = 'import time; time.sleep(9)'\n"
    "os.posix_spawn(sys.executable, ['x', '-c', code], {})",
    "threads": "threading.stack_size(32768)\nfor _ in range(300):\n"
    "  threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
    "a process of a thread": "thread = threading.Thread(target=os.fork)\nthread.start()",
}


@boxed
@pytest.mark.parametrize("filters", mostly_slow([True, False], True))
@pytest.mark.parametrize("crowd", CROWDS)
def test_processes_and_threads_are_few(
    tmp_path: Path, crowd: str, filters: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both by the kernel, which refuses them, and by the judge, who kills them."""
    if not filters:
        monkeypatch.setattr(bubblewrap, "_seccomp_rules", lambda: b"")
    start = time.perf_counter()
    path = code(tmp_path, "return 3")
    text = f"import os, sys, threading, time\n{CROWDS[crowd]}\ntime.sleep(1)\nraise SystemExit\n"
    path.write_text(text + path.read_text())
    says = "started other processes or too many threads; allowed: 1 process of 16 threads"
    if crowd == "threads":
        says += "|can't start new thread"
    elif filters:  # what a thread raises is lost
        says = "raised SystemExit" if "thread" in crowd else "raised PermissionError"
    refused(path, says, trust=True)
    assert time.perf_counter() - start < 5


@pytest.mark.slow
@boxed
def test_an_entry_dies_with_the_judge(tmp_path: Path) -> None:
    path = code(tmp_path, "return 3")
    path.write_text(f"import time; time.sleep(60)\n{path.read_text()}")
    path = path.rename(tmp_path / f"dies_with_{os.getpid()}.py")
    judge = (
        "from pathlib import Path; from hogeq.strategies.programs import examine; "
        f"examine(Path({str(path)!r}), 4, 12, 60.0)"
    )
    process = subprocess.Popen([sys.executable, "-c", judge])  # noqa: S603 - our own
    deadline = time.monotonic() + 20
    while not (running := _running(f"/entry/{path.name}")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.5)  # until it is busy, and would not see that its pipes are closed
    process.kill()
    process.wait()
    while any(_is_alive(pid) for pid in running):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _running(file: str) -> list[str]:
    """List the processes of Python in a sandbox that run a file."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        found += [folder.name] if command[4:6] == [b"/harness.py", file.encode()] else []
    return found


def _is_alive(pid: str) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


# --- where nothing isolates -----------------------------------------------------------------------


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = sandbox.Isolation(None, "bubblewrap is not installed")
    monkeypatch.setattr(sandbox, "isolation", lambda: nothing)
    sandbox._warn_once.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("plain")
def test_where_nothing_isolates_one_line_says_so_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = code(tmp_path, "return 3")
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail(caplog.messages[0]))
        with pytest.raises(pytest.fail.Exception, match="isolated not at all: it runs with all"):
            read_strategy(path, GOAL, DICE, trust=True)
    assert (read_strategy(path, GOAL, DICE, trust=True).array == 3).all()
    assert len(caplog.messages) == 1
    # What it leaves in its own group dies, and what leaves that is not waited for.
    start = time.perf_counter()
    says = "ended without an answer|gave no answer"
    for leaves in ("", "os.setsid(); "):
        body = f"import os, time\n    if os.fork(): os._exit(0)\n    {leaves}time.sleep(3)"
        refused(code(tmp_path, body), says, trust=True, time_limit=0.5)
    assert time.perf_counter() - start < 2.5


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("lacks", ["nothing", "POSIX"])
def test_a_plain_process_gives_the_same_verdicts(
    tmp_path: Path, lacks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lacks == "POSIX":
        for module, name in ((os, "killpg"), (os, "set_blocking"), (select, "poll")):
            monkeypatch.delattr(module, name)
    file(tmp_path, "beside", "3")
    path = code(tmp_path, "return int(open('beside').read())")
    beside = programs.examine(path, GOAL, DICE, 20.0)
    assert beside.strategy is not None
    assert beside.strategy.array.tolist() == [[3] * 4] * 4
    assert (beside.alone, beside.files) == (False, ("beside",))
    assert programs.examine(code(tmp_path, "return 3"), GOAL, DICE, 20.0).alone
    refused(code(tmp_path, "import os; os._exit(0)"), "ended without an answer", trust=True)


def test_a_bubblewrap_that_does_not_work_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = file(tmp_path, "bwrap", "#!/bin/sh\necho bwrap: not permitted >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert sandbox.isolation.__wrapped__() == (None, "bwrap: not permitted", ())
    monkeypatch.setenv("PATH", "")
    assert sandbox.isolation.__wrapped__() == (None, "bubblewrap is not installed", ())
    # One that stops working says nothing of the entry.
    broken = sandbox.Isolation(str(program), "")
    monkeypatch.setattr(sandbox, "isolation", lambda: broken)
    (fault,) = programs.examine(code(tmp_path, "return 3"), GOAL, DICE, 20.0).faults
    assert fault == ("crash", 1, "could not be run here: bwrap: not permitted")
