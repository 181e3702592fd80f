import errno
import os
import re
import resource
import subprocess
import time
from itertools import chain
from pathlib import Path

import pytest

from hogeq.strategies import child, sandbox
from hogeq.strategies.files import read_strategy
from tests.strategies import hostile
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
    assert read_strategy(path, GOAL, DICE, trust=True).array.tolist() == ROWS
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
        ("import os; os.abort()", r"final_strategy\(0, 0\) ended without an answer"),
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
    says = r"final_strategy\(2, 1\) gave no answer within 0\.5 seconds; 9 of 16 positions"
    refused(
        code(tmp_path, f"if (score, opponent) == (2, 1):\n        {body}\n    return 1"),
        says,
        trust=True,
        time_limit=0.5,
    )
    refused(
        file(tmp_path, "final_strategy.py", body),
        ": gave no answer within",
        trust=True,
        time_limit=0.5,
    )
    again = f"calls.append(1)\n    if len(calls) > 20:\n        {body}\n    return 1"
    path = code(tmp_path, again)
    path.write_text(f"{path.read_text()}calls = []\n")
    row, column = divmod(child.order_again(16)[4], 4)
    refused(
        path,
        rf"\({row}, {column}\), asked again, gave no answer.*; 16 of 16",
        trust=True,
        time_limit=0.5,
    )
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
    assert not read_strategy(path, GOAL, DICE, trust=True).array.any()


# --- what the process has given up ----------------------------------------------------------------

FILTERED = sandbox.isolation().filters_calls
BUBBLEWRAP = sandbox.isolation().bubblewrap
confined = pytest.mark.skipif(not FILTERED, reason="the kernel filters no system calls")


@pytest.fixture(scope="module", params=["namespaces", "calls alone"])
def errors(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, int]:
    """Error number of every attempt of `hostile`, made where both means hold and where one does."""
    if request.param == "namespaces" and BUBBLEWRAP is None:
        pytest.skip(sandbox.isolation().reason)
    folder = tmp_path_factory.mktemp("hostile")
    kept = file(folder, "kept", "kept")
    before, judge = kept.stat(), _judge()
    path = file(folder, "final_strategy.py", Path(hostile.__file__).read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "calls alone":
            alone = sandbox.Isolation(None, "", filters_calls=True)
            patch.setattr(sandbox, "isolation", lambda: alone)
        answers = sandbox.examine(path, hostile.GOAL, 250, 60.0)
    assert answers.faults == ()
    assert answers.table is not None
    assert sorted(folder.iterdir()) == [path, kept]
    assert kept.read_text() == "kept"
    assert (kept.stat().st_mode, kept.stat().st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert _judge() == judge
    return dict(zip(hostile.ATTEMPTS, chain.from_iterable(answers.table), strict=False))


def _judge() -> tuple[object, ...]:
    """Tell what code of others could change of this process, and leave behind."""
    kinds = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
    limits = [resource.getrlimit(kind) for kind in kinds]
    left = [Path(f"/proc/sysvipc/{kind}").read_text() for kind in ("shm", "sem", "msg")]
    return os.nice(0), os.sched_getaffinity(0), os.sched_getscheduler(0), limits, left


@confined
@pytest.mark.parametrize("attempt", hostile.ATTEMPTS)
def test_what_a_strategy_has_no_use_for_is_refused(errors: dict[str, int], attempt: str) -> None:
    assert errors[attempt] in {errno.EPERM, errno.ENOSYS}


@confined
def test_the_numbers_of_allowed_calls_are_those_of_the_system() -> None:
    """By the kernel's own headers, where they are installed."""
    headers = {
        1: ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", r"#define __NR_(\w+) (\d+)"),
        2: ("/usr/include/asm-generic/unistd.h", r"#define __NR(?:3264)?_(\w+) (\d+)"),
    }
    for column, (header, pattern) in headers.items():
        if not Path(header).exists():
            pytest.skip("no headers of the kernel")
        numbers = dict(re.findall(pattern, Path(header).read_text()))
        numbers.setdefault("newfstatat", numbers.get("fstatat"))
        for row in child.ALLOWED_CALLS.replace("\n", ", ").split(", "):
            name, *columns = row.split() or ["", "-", "-"]
            if columns[column - 1] != "-":
                assert numbers[name] == columns[column - 1], name


@pytest.mark.skipif(BUBBLEWRAP is None, reason="no bwrap")
def test_with_namespaces_no_other_process_is_seen(tmp_path: Path) -> None:
    body = "import os; return sum(name.isdecimal() for name in os.listdir('/proc'))"
    assert read_strategy(code(tmp_path, body), GOAL, DICE, trust=True).array.max() <= 3


def test_what_a_strategy_may_need_is_allowed(tmp_path: Path) -> None:
    file(tmp_path, "beside", "3")
    path = file(
        tmp_path,
        "final_strategy.py",
        "import os, threading, time\nimport numpy as np\n"
        "open(os.devnull, 'w').write('lost')\n"
        "time.sleep(0.001)\n"
        "rolls = []\n"
        "thread = threading.Thread(target=lambda: rolls.append(int(open('beside').read())))\n"
        "thread.start()\nthread.join()\n"
        "def final_strategy(score, opponent):\n    return int((rolls * np.eye(1))[0, 0])\n",
    )
    assert (read_strategy(path, GOAL, DICE, trust=True).array == 3).all()


def test_where_the_system_has_no_means_one_line_says_so_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    nothing = sandbox.Isolation(None, "bwrap is not installed", filters_calls=False)
    monkeypatch.setattr(sandbox, "isolation", lambda: nothing)
    sandbox._warn_once.cache_clear()
    assert nothing.text == sandbox.NOT_ISOLATED
    path = code(tmp_path, "return 3")
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail(caplog.messages[0]))
        with pytest.raises(pytest.fail.Exception, match="by a process and a time limit only"):
            read_strategy(path, GOAL, DICE, trust=True)
    assert (read_strategy(path, GOAL, DICE, trust=True).array == 3).all()
    assert len(caplog.messages) == 1
    # What it leaves in its own session dies all the same.
    start = time.perf_counter()
    body = "import os\n    if os.fork(): os._exit(0)\n    import time; time.sleep(60)"
    refused(
        code(tmp_path, body), "ended without an answer|gave no answer", trust=True, time_limit=0.5
    )
    assert time.perf_counter() - start < 5


def test_a_bubblewrap_that_does_not_work_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = file(tmp_path, "bwrap", "#!/bin/sh\necho bwrap: not permitted >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert sandbox._tried_bubblewrap() == (None, "bwrap: not permitted")
    monkeypatch.setenv("PATH", "")
    assert sandbox._tried_bubblewrap() == (None, "bwrap is not installed")
