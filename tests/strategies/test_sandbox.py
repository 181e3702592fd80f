import os
import sys
import time
from pathlib import Path

import pytest

from hogeq.strategies import child, sandbox
from hogeq.strategies.read import read_strategy
from tests.strategies.strategy_files import DICE, GOAL, ROWS, file, refused


def code(folder: Path, body: str) -> Path:
    return file(folder, "final_strategy.py", f"def final_strategy(score, opponent):\n    {body}\n")


def test_code_needs_trust(tmp_path: Path) -> None:
    path = file(tmp_path, "final_strategy.py", f"open({str(tmp_path / 'ran')!r}, 'w')")
    refused(path, "allowed only with --trust")
    assert not (tmp_path / "ran").exists()


def test_trusted_code_is_asked_for_every_cell(tmp_path: Path) -> None:
    file(tmp_path, "table_beside.py", f"rows = {ROWS}")
    path = file(
        tmp_path,
        "final_strategy.py",
        "from table_beside import rows\n"
        "PLAYER_NAME = 'someone'\n"
        "print('{\"table\": []}')\n"
        "def final_strategy(score, opponent_score):\n"
        "    print(score)\n"
        "    return rows[score][opponent_score]\n",
    )
    assert read_strategy(path, GOAL, DICE, trust=True).tolist() == ROWS
    assert not (tmp_path / "__pycache__").exists()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return 1 / (2 - opponent)", "raised ZeroDivisionError: division by zero"),
        ("raise SystemExit('a\\nb')", "raised SystemExit: a b"),
        ("return final_strategy(score, opponent)", "raised RecursionError"),
        ("return 6.0", r"final_strategy\(0, 0\) is 6\.0 \(float\); allowed: ints from 0 to 12"),
        ("return opponent > 2", r"final_strategy\(0, 0\) is False \(bool\)"),
        ("return 11 + opponent", r"final_strategy\(0, 2\) is 13 \(int\)"),
        ("pass", r"final_strategy\(0, 0\) is None \(NoneType\)"),
        ("import os; os._exit(3)", "ended without an answer"),
        ("import os; os.kill(os.getpid(), 11)", "ended without an answer"),
        ("return [0] * 10**10", r"final_strategy\(0, 0\) raised MemoryError$"),
        ("open('written', 'w').write('x' * 10000)", "raised (PermissionError|OSError)"),
    ],
)
def test_code_that_fails_is_refused_in_one_line(tmp_path: Path, body: str, says: str) -> None:
    refused(code(tmp_path, body), says, trust=True)


@pytest.mark.parametrize(
    "body",
    [
        "import random; return random.randrange(13)",
        "state[0] += 1; return state[0] % 13",
        "state[0] = max(state[0], opponent); return state[0]",
    ],
)
def test_code_that_answers_otherwise_when_asked_again_is_refused(tmp_path: Path, body: str) -> None:
    path = code(tmp_path, body)
    path.write_text(path.read_text() + "state = [0]\n")
    refused(path, r"when asked again: it must depend on the scores alone", trust=True)


@pytest.mark.parametrize(
    "content",
    ["def broken(", "final_strategy = 6", "x = 1", b"\x00\xff", "# coding: nonsense", "(" * 10**5],
)
def test_what_defines_no_strategy_is_refused(tmp_path: Path, content: str | bytes) -> None:
    path = file(tmp_path, "final_strategy.py", content)
    refused(path, "raised |defines no function final_strategy", trust=True)


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "import time; time.sleep(60)",
    ],
)
def test_code_that_does_not_end_is_stopped(tmp_path: Path, body: str) -> None:
    start = time.perf_counter()
    refused(code(tmp_path, body), r"gave no answer within 0\.5 seconds", trust=True, time_limit=0.5)
    assert time.perf_counter() - start < 5


def test_what_is_waited_for_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sandbox, "_PATIENCE", 0.2)
    path = code(tmp_path, "while True: pass")
    refused(path, r"gave no answer within 0\.6 seconds", trust=True, time_limit=0.6)
    assert caplog.messages == [f"hogeq: waiting for {path}, at most 0.6 s"]


def test_code_that_floods_its_answer_is_cut_off(tmp_path: Path) -> None:
    body = "import os\n    while True:\n        for fd in range(3, 9):\n            try: os.write(fd, b'0' * 65536)\n            except OSError: pass"  # noqa: E501 - one string
    refused(code(tmp_path, body), "ended without an answer", trust=True, time_limit=20)


def test_code_sees_nothing_of_our_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOGEQ_SECRET", "1")
    path = code(tmp_path, "import os; return int('HOGEQ_SECRET' in os.environ)")
    assert not read_strategy(path, GOAL, DICE, trust=True).any()


# --- what the process has given up ----------------------------------------------------------------

confined = pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine not in {"x86_64", "aarch64"},
    reason="Landlock and seccomp are Linux's",
)

FORBIDDEN = {
    "makes an empty file": "open('made', 'w')",
    "makes a folder": "os.mkdir('made')",
    "makes a link": "os.link('kept', 'made')",
    "makes a pipe": "os.mkfifo('made')",
    "renames": "os.rename('kept', 'made')",
    "removes": "os.unlink('kept')",
    "empties": "os.truncate('kept', 0)",
    "empties by opening": "os.open('kept', os.O_RDONLY | os.O_TRUNC)",
    "appends": "open('kept', 'a')",
    "changes the mode": "os.chmod('kept', 0o777)",
    "changes the times": "os.utime('kept', (0, 0))",
    "shares memory": "open('/dev/shm/hogeq-made', 'w')",
    "opens a socket": "socket.socket()",
    "opens a datagram socket": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "opens a local socket": "socket.socket(socket.AF_UNIX)",
    "forks": "os.fork()",
    "starts a program": "subprocess.run(['true'])",
    "starts a program at once": "os.posix_spawn('/bin/true', ['true'], {})",
    "signals us": "os.kill(os.getppid(), 0)",
}


@confined
@pytest.mark.parametrize("what", FORBIDDEN)
def test_what_a_strategy_has_no_use_for_is_forbidden(tmp_path: Path, what: str) -> None:
    kept = file(tmp_path, "kept", "kept")
    before = kept.stat()
    path = file(
        tmp_path, "final_strategy.py", f"import os, socket, subprocess\n{FORBIDDEN[what]}\n"
    )
    refused(path, "raised PermissionError", trust=True)
    assert sorted(tmp_path.iterdir()) == [path, kept]
    assert kept.read_text() == "kept"
    assert (kept.stat().st_mode, kept.stat().st_mtime_ns) == (before.st_mode, before.st_mtime_ns)


@confined
def test_a_process_in_a_session_of_its_own_cannot_be_left_behind(tmp_path: Path) -> None:
    body = (
        "import os\n    if os.fork() == 0: os.setsid(); __import__('time').sleep(60)\n    return 0"
    )
    refused(code(tmp_path, body), "raised PermissionError", trust=True)


def test_what_a_strategy_may_need_is_allowed(tmp_path: Path) -> None:
    file(tmp_path, "beside", "3")
    path = file(
        tmp_path,
        "final_strategy.py",
        "import os, threading\nimport numpy as np\n"
        "open(os.devnull, 'w').write('lost')\n"
        "rolls = []\n"
        "thread = threading.Thread(target=lambda: rolls.append(int(open('beside').read())))\n"
        "thread.start()\nthread.join()\n"
        "def final_strategy(score, opponent):\n    return int((rolls * np.eye(1))[0, 0])\n",
    )
    assert (read_strategy(path, GOAL, DICE, trust=True) == 3).all()


def test_where_the_system_has_no_means_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    there = 'sys.platform != "linux"'
    text = Path(child.__file__).read_text("utf-8")
    assert there in text
    elsewhere = file(tmp_path, "elsewhere.py", text.replace(there, "True"))
    monkeypatch.setattr(child, "__file__", str(elsewhere))
    sandbox._say_once.cache_clear()
    path = code(tmp_path, "return 3")
    assert (read_strategy(path, GOAL, DICE, trust=True) == 3).all()
    (line,) = caplog.messages
    assert line.endswith(": change files, open connections, leave processes behind")
    read_strategy(path, GOAL, DICE, trust=True)
    assert len(caplog.messages) == 1
    # What it leaves in its own session dies all the same.
    start = time.perf_counter()
    body = "import os\n    if os.fork(): os._exit(0)\n    import time; time.sleep(60)"
    says = r"gave no answer within 0\.5 seconds"
    refused(code(tmp_path, body), says, trust=True, time_limit=0.5)
    assert time.perf_counter() - start < 5
