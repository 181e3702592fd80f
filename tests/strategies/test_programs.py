import os
import select
import socket
import subprocess
import sys
import time
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest

from hogeq.strategies import programs
from hogeq.strategies.files import read_strategy
from hogeq.strategies.submissions import Submission
from hogeq.support import bubblewrap, sandbox
from tests.strategies import hostile
from tests.strategies.strategy_files import DICE, GOAL, ROWS, file, refused

# A class whose name is no name.
NAMELESS = (
    "type('M', (type,), {'__name__': property(lambda kind: 1 / 0)})('X', (Exception,), "
    "{'__repr__': 3})"
)


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


AT = r" \(in final_strategy, line 2\)$"  # where an error was raised


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
        ("return -10**5000", r"\(0, 0\) is a whole number of 16610 bits \(int\); allowed: ints"),
        ("return 10**9", r"\(0, 0\) is a whole number of 30 bits \(int\); allowed: ints"),
        ("return type('Roll', (int,), {})(3)", r"\(0, 0\) is 3 \(Roll\); allowed: ints"),
        ("yield 3", r"\(0, 0\) is <generator object final_strategy at .* \(generator\)"),
        ("return type('X', (), {'__repr__': 3})()", r"\(0, 0\) is <X instance at \w+> \(X\)"),
        (f"return {NAMELESS}()", r"\(0, 0\) is a value that cannot be written \(object\)"),
        (f"raise {NAMELESS}()", rf"\(0, 0\) raised an error that cannot be written{AT}"),
        ("raise type('X', (Exception,), {'__str__': 3})", rf"\(0, 0\) raised X{AT}"),
        ("raise Exception('a' * 10**6)", r"\(0, 0\) raised Exception: a{1,190}\.\.\." + AT),
        (r"raise Exception('\x1b[2J\u202e\n')", rf"raised Exception: \\x1b\[2J\\u202e{AT}"),
        ("import os; os._exit(3)", "ended without an answer"),
        ("import os; os.abort()", r"final_strategy\(0, 0\) ended without an answer"),
        ("return [0] * 10**10", rf"final_strategy\(0, 0\) raised MemoryError{AT}"),
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
    says = r"final_strategy\(2, 1\) gave no answer within 1 seconds; 9 of 16 positions"
    refused(
        code(tmp_path, f"if (score, opponent) == (2, 1):\n        {body}\n    return 1"),
        says,
        trust=True,
        time_limit=1.0,
    )
    refused(
        file(tmp_path, "final_strategy.py", body),
        ": gave no answer within",
        trust=True,
        time_limit=1.0,
    )
    again = f"calls.append(1)\n    if len(calls) > 20:\n        {body}\n    return 1"
    path = code(tmp_path, again)
    path.write_text(f"{path.read_text()}calls = []\n")
    row, column = divmod(programs.order_again(16)[20], 4)  # of the second process
    refused(
        path,
        rf"\({row}, {column}\), asked again, gave no answer.*; 16 of 16",
        trust=True,
        time_limit=1.0,
    )
    assert time.perf_counter() - start < 8


def test_what_is_waited_for_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sandbox, "_PATIENCE", 0.5)
    path = code(tmp_path, "while score == 1 and opponent == 2: pass\n    return 3")
    refused(path, r"gave no answer within 3 seconds", trust=True, time_limit=3.0)
    loop = "no answer to final_strategy(1, 2) for 0.5 s, perhaps in an endless loop"
    assert caplog.messages[-1] == f"hogeq: waiting for {path}, at most 3 s (--time-limit): {loop}"
    assert len(caplog.messages) <= 3


def test_code_that_floods_its_answer_is_cut_off(tmp_path: Path) -> None:
    body = "import os\n    while True:\n        for fd in range(3, 9):\n            try: os.write(fd, b'0' * 65536)\n            except OSError: pass"  # noqa: E501 - one string
    refused(code(tmp_path, body), "gave an answer of no form", trust=True, time_limit=20)


def test_code_sees_nothing_of_our_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOGEQ_SECRET", "1")
    path = code(tmp_path, "import os; return int('HOGEQ_SECRET' in os.environ)")
    assert not read_strategy(path, GOAL, DICE, trust=True).array.any()


# --- what it sees of the machine ------------------------------------------------------------------

ISOLATED = bool(sandbox.isolation().bubblewrap)
boxed = pytest.mark.skipif(not ISOLATED, reason=sandbox.isolation().reason)


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
@pytest.mark.parametrize("filters", [True, False])
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


# --- what it says ---------------------------------------------------------------------------------

TABLE = "[[1] * 4] * 4"
FORGERIES = {
    "a table at once": f"tell(json.dumps({{'faults': [], 'table': {TABLE}, 'seconds': {{}}}}))",
    "all answers before they are asked for": "tell('-', *['1'] * 16, '.')",
    "all answers of this process, and the end": "tell('-', *['1'] * 16 * SEED, '.')",
    "the answers, and nothing more": "tell('-', *['1'] * 16, '.'); os._exit(0)",
    "answers in place of a name": "tell(*['1'] * 16)",
    "a name that is no text": "tell('{\"a\": 1}')",
    "a name of another form": "tell('\"\\\\ud8\"')",
    "nothing": "os._exit(0)",
    "a success": "tell('-', '.'); os._exit(0)",
    "a line that never ends": "tell('1' * 10**6)",
    "no more descriptors": "[os.closerange(3, 256)]",
    "other descriptors": "r, w = os.pipe(); [os.dup2(r, n) for n in range(3, 256)]",
    "a flood": "tell(*['1'] * 10**6)",
    "a drip": "[(time.sleep(0.1), tell('1', end='')) for _ in range(1000)]",
    "answers without questions": "deaf(); [tell('-'), *(tell('1') for _ in [0] * 16)]",
    "silence": "time.sleep(60)",
    "the end of all": "os.kill(-1, 9); os.kill(os.getpid(), 9)",
    "exit": "sys.exit(0)",
    "an abort": "os.abort()",
    "a null": "tell('1\\0')",
}
ANSWERED = {
    "1.0": "1.0",
    "+1": "+1",
    "01": "01",
    "-0": "-0",
    " 1": " 1",
    "1_0": "1_0",
    "nothing": "",
    "one of Unicode": "\N{SUPERSCRIPT ONE}",
    "a digit of Bengali": "\N{BENGALI DIGIT ONE}",
    "too large a number": "1" * 10,
    "a huge number": "1" * 4000,
    "NaN": "NaN",
    "true": "true",
    "a list": "[1]",
    "a note": "p",
    "the end": ".",
    "a file": 'f"x"',
    "an escape": "?\x1b[2J",
    "a name": '"x"',
    "a carriage return": "1\r",
}
PRELUDE = """import fcntl, json, os, sys, time
def tell(*lines, end='\\n'):
    for n in range(3, 64):
        try: os.write(n, ('\\n'.join(lines) + end).encode())
        except OSError: pass
def deaf():
    for n in range(3, 64):
        try:
            if fcntl.fcntl(n, fcntl.F_GETFL) & 3 == 0: os.close(n)
        except OSError: pass
calls = []
SEED = int(os.environ['PYTHONHASHSEED'])
"""
LOADING = {"code", "crash", "time"}
FAULTS = {
    "when it is loaded": LOADING,
    "when it is asked": LOADING | {"raises", "impure"},
    "later": LOADING | {"raises", "impure"},
}
HONEST = "def final_strategy(score, opponent):\n    return 3 + (score + opponent) % 2\n"


def forged(folder: Path, text: str, **options: Any) -> Submission:
    path = file(folder, "final_strategy.py", PRELUDE + text)
    answers = programs.examine(path, GOAL, DICE, **({"time_limit": 0.8} | options))
    lines = [fault.line for fault in answers.faults]
    assert all(line.isprintable() and line.isascii() and len(line) < 350 for line in lines)
    return answers


@pytest.mark.parametrize("forgery", FORGERIES)
@pytest.mark.parametrize("moment", ["when it is loaded", "when it is asked", "later"])
@boxed
def test_a_forged_answer_is_a_fault_of_its_entry(tmp_path: Path, forgery: str, moment: str) -> None:
    text = f"{FORGERIES[forgery]}\n{HONEST}"
    if moment != "when it is loaded":
        calls = 1 if moment == "when it is asked" else 6
        text = f"{HONEST}    calls.append(1)\n    if len(calls) == {calls}: {FORGERIES[forgery]}\n"
        text += "    return 3 + (score + opponent) % 2\n"
        text = text.replace("    return 3 + (score + opponent) % 2\n", "", 1)
    answers = forged(tmp_path, text)
    assert answers.faults
    assert answers.alone is None
    assert {fault.kind for fault in answers.faults} <= FAULTS[moment]


@pytest.mark.parametrize("answer", ANSWERED)
@boxed
def test_an_answer_of_another_form_is_a_fault(tmp_path: Path, answer: str) -> None:
    text = f"sys.modules['__main__'].answer = lambda *cell: {ANSWERED[answer]!r}\n{HONEST}"
    (fault,) = forged(tmp_path, text).faults
    assert fault.kind == "code"
    assert "(0, 0) gave an answer of no form that answers have; 0 of 16" in fault.line


def test_the_answers_are_what_plays_whatever_the_function_is(tmp_path: Path) -> None:
    """A harness that is exchanged answers, no more: its table is checked and asked for again."""
    swap = "sys.modules['__main__'].answer = lambda f, own, other: str({})\n" + HONEST
    good = forged(tmp_path, swap.format("own"), time_limit=20.0)
    assert good.strategy is not None
    assert good.strategy.array.tolist() == [[own] * 4 for own in range(4)]
    for bad, says in (
        ("13", "is 13 (int); allowed: ints from 0 to 12"),
        ("-1", "is -1 (int); allowed: ints from 0 to 12"),
        ("calls.append(1) or len(calls) % 12", "when asked again"),
        ("'!' + 'a' * 4000", "aaa..."),
        ("'?' + '9' * 4000", "999...; allowed: ints"),
    ):
        faults = forged(tmp_path, swap.format(bad), time_limit=20.0).faults
        assert says in faults[0].line


@boxed
def test_what_an_entry_tells_is_cut_and_escaped(tmp_path: Path) -> None:
    text = (
        "PLAYER_NAME = '\\x1b[2J' + 'x' * 10**6\n"
        "for n in range(50):\n"
        "    try: open('/secret\\x1b\\u202e' + str(n) + 'y' * 10**5)\n"
        "    except OSError: pass\n" + HONEST
    )
    answers = forged(tmp_path, text, time_limit=20.0)
    assert answers.faults == ()
    assert answers.name is not None
    assert len(answers.name) == 200
    assert len(answers.attempts) == 20
    for one in answers.attempts:
        assert one.isprintable()
        assert len(one) <= 200
    assert answers.attempts[0].startswith(r"open /secret\x1b\u202e0yyy")


@boxed
@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import socket; socket.create_connection(('192.0.2.1', 9))", "socket.__new__ 2 1"),
        ("import socket; socket.getaddrinfo('example.org', 80)", "socket.getaddrinfo example.org"),
        ("open('/etc/shadow')", "open /etc/shadow"),
        ("import os; os.execv('/bin/true', ['true'])", "os.exec /bin/true"),
        ("import os; os.kill(1, 9)", "os.kill 1 9"),
        ("open('made', 'w')", "open to write /entry/made"),
        ("import os; os.listdir('/home')", "os.listdir /home"),
    ],
)
def test_what_an_entry_tried_is_told(tmp_path: Path, code: str, says: str) -> None:
    text = f"try:\n    {code}\nexcept BaseException: pass\n{HONEST}"
    answers = forged(tmp_path, text, time_limit=20.0)
    assert any(one.startswith(says) for one in answers.attempts), answers.attempts
    assert forged(tmp_path, f"import random, re, zoneinfo\n{HONEST}").attempts == ()


def test_a_warning_is_no_attempt(tmp_path: Path) -> None:
    path = code(tmp_path, "import warnings; warnings.warn('old', stacklevel=2); return 3")
    assert programs.examine(path, GOAL, DICE, 20.0).attempts == ()


def test_files_that_an_entry_names_are_those_of_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "ann"
    folder.mkdir()
    path = file(folder, "final_strategy.py", "")
    file(folder, "a.txt", "")
    file(tmp_path, "secret", "")
    entry = sandbox.Entry(path, False, 1.0)
    named = ["a.txt", "./a.txt", "../secret", "/etc/passwd", "gone", "", "x\0", "final_strategy.py"]
    assert programs._files(entry, [*named, "y" * 9000]) == ("a.txt",)
    assert programs._files(entry._replace(is_alone=True), named) == ()


# --- what it depends on ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rolls",
    [
        "import random; rolls = [random.randrange(13) for _ in range(16)]",
        "rolls = [int(word) for word in {str(n) for n in range(13)}] * 2",
        "import os; rolls = [byte % 13 for byte in os.urandom(16)]",
        "import time; rolls = [time.perf_counter_ns() // 7 % 13] * 8 + [time.time_ns() % 13] * 8",
        "rolls = [id(object()) // 16 % 13, id([]) // 16 % 13, hash('x') % 13, hash('y') % 13] * 4",
    ],
)
def test_a_table_that_differs_from_process_to_process_is_no_table(
    tmp_path: Path, rolls: str
) -> None:
    path = code(tmp_path, "return rolls[4 * score + opponent]")
    path.write_text(f"{path.read_text()}{rolls}\n")
    refused(path, r"when asked again: it must depend on the scores alone", trust=True)


CHANCE = {
    "shared": "import random; n = random.random() < 0.9",
    "one die": "from random import randint; n = randint(1, 20) > 1",
    "its own": "import random; n = random.Random().random() < 0.9",
    "seeded by nothing": "import random; random.seed(1); random.seed(); n = random.random() < 0.9",
    "the system's": "import random; n = random.SystemRandom().random() < 0.9",
    "secrets": "import secrets; n = secrets.randbelow(10) > 0",
    "uuid": "import uuid; n = uuid.uuid4().int % 10 > 0",
    "numpy": "import numpy; n = bool(numpy.random.default_rng().random() < 0.9)",
    "a draw before the seed": "import random; n = random.random() < 0.9; random.seed(3)",
    "another file": "from beside import n",
}


@pytest.mark.parametrize("source", CHANCE)
def test_chance_is_named_whenever_it_is_judged_and_the_verdict_is_the_same(
    tmp_path: Path, source: str
) -> None:
    path = code(tmp_path, "return 2 + n")
    path.write_text(f"{path.read_text()}{CHANCE[source]}\n")
    if source == "another file":
        file(tmp_path, "beside.py", CHANCE["shared"])
    one, two = (programs.examine(path, GOAL, DICE, 20.0) for _ in range(2))
    assert one.draws
    assert (one.faults, one.strategy is None) == (two.faults, two.strategy is None)
    assert {fault.kind for fault in one.faults} <= {"impure"}


@pytest.mark.parametrize(
    "text",
    [
        "import random; random.seed(7); n = random.randint(0, 1)",
        "import random; n = random.Random(7).randint(0, 1)",
        "import random; random.seed('hog', version=1); n = random.choice([0, 1])",
        "import numpy; n = int(numpy.random.default_rng(5).integers(2))",
        "import multiprocessing, numpy.random, random, tempfile, uuid; n = 1",
    ],
)
def test_chance_with_a_seed_of_its_own_is_none(tmp_path: Path, text: str) -> None:
    path = code(tmp_path, "return 2 + n")
    path.write_text(f"{path.read_text()}{text}\n")
    found = programs.examine(path, GOAL, DICE, 20.0)
    assert (found.faults, found.draws) == ((), False)


def test_chance_that_changes_nothing_is_named_and_no_fault(tmp_path: Path) -> None:
    path = code(tmp_path, "return 3")
    path.write_text(f"import random; random.random()\n{path.read_text()}")
    found = programs.examine(path, GOAL, DICE, 20.0)
    assert (found.faults, found.draws) == ((), True)


def test_a_bad_answer_is_said_before_the_time_that_came_after_it(tmp_path: Path) -> None:
    path = code(tmp_path, "while score == 1 and opponent == 2: pass")
    bad, late = programs.examine(path, GOAL, DICE, 1.0).faults
    assert bad == (
        "range",
        6,
        "final_strategy(0, 0) is None (NoneType); allowed: ints from 0 to 12",
    )
    assert late.line.startswith("final_strategy(1, 2) gave no answer within 1 seconds; 6 of 16 ")
    shared = "seen = []\n"
    path.write_text(
        f"{shared}def final_strategy(score, opponent):\n    seen.append(1)\n"
        "    while len(seen) > 18: pass\n    return len(seen) > 16\n"
    )
    kinds = [fault.kind for fault in programs.examine(path, GOAL, DICE, 1.0).faults]
    assert kinds == ["range", "time"]


def test_what_is_seen_only_in_a_second_answer_of_one_process_is_seen(tmp_path: Path) -> None:
    body = "key = score, opponent\n    seen.append(key)\n    return seen.count(key)"
    path = code(tmp_path, body)
    path.write_text(path.read_text() + "seen = []\n")
    refused(path, "is 1, and 2 when asked again", trust=True)


def test_both_processes_are_asked_for_every_position() -> None:
    order = programs.order_again(100)
    assert sorted(order[:100]) == sorted(order[100:]) == list(range(100))
    assert order[:100] not in (order[100:], list(range(100)))


# --- where nothing isolates -----------------------------------------------------------------------


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = sandbox.Isolation(None, "bubblewrap is not installed")
    monkeypatch.setattr(sandbox, "isolation", lambda: nothing)
    sandbox._warn_once.cache_clear()


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
