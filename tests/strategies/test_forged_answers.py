"""What a program says: forged answers, other forms, attempts that are told."""

from pathlib import Path
from typing import Any

import pytest

from hogeq.strategies import programs
from hogeq.strategies.submissions import Submission
from hogeq.support import sandbox
from tests.slow import mostly_slow
from tests.strategies.programs import boxed, code
from tests.strategies.strategy_files import DICE, GOAL, file

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
    answers = programs.examine(path, GOAL, DICE, **({"time_limit": 20.0} | options))
    lines = [fault.line for fault in answers.faults]
    assert all(line.isprintable() and line.isascii() and len(line) < 350 for line in lines)
    return answers


@pytest.mark.parametrize("forgery", FORGERIES)
@pytest.mark.parametrize("moment", mostly_slow(FAULTS, "when it is asked"))
@boxed
def test_a_forged_answer_is_a_fault_of_its_entry(tmp_path: Path, forgery: str, moment: str) -> None:
    text = f"{FORGERIES[forgery]}\n{HONEST}"
    if moment != "when it is loaded":
        calls = 1 if moment == "when it is asked" else 6
        text = f"{HONEST}    calls.append(1)\n    if len(calls) == {calls}: {FORGERIES[forgery]}\n"
        text += "    return 3 + (score + opponent) % 2\n"
        text = text.replace("    return 3 + (score + opponent) % 2\n", "", 1)
    # Where nothing ends, the limit does; elsewhere a busy machine has time enough.
    limit = 0.8 if forgery in {"silence", "a drip"} else 20.0
    answers = forged(tmp_path, text, time_limit=limit)
    assert answers.faults
    assert answers.alone is None
    assert {fault.kind for fault in answers.faults} <= FAULTS[moment]


@pytest.mark.parametrize(
    "answer", mostly_slow(ANSWERED, "1.0", "nothing", "1_0", "a digit of Bengali")
)
@boxed
def test_an_answer_of_another_form_is_a_fault(tmp_path: Path, answer: str) -> None:
    text = f"sys.modules['__main__'].answer = lambda *cell: {ANSWERED[answer]!r}\n{HONEST}"
    (fault,) = forged(tmp_path, text).faults
    assert fault.kind == "code"
    assert "(0, 0) gave an answer of no form that answers have; 0 of 16" in fault.line


@pytest.mark.slow
def test_the_answers_are_what_plays_whatever_the_function_is(tmp_path: Path) -> None:
    """A harness that is exchanged answers, no more: its table is checked and asked for again."""
    swap = "sys.modules['__main__'].answer = lambda f, own, other: str({})\n" + HONEST
    good = forged(tmp_path, swap.format("own"))
    assert good.strategy is not None
    assert good.strategy.array.tolist() == [[own] * 4 for own in range(4)]
    for bad, says in (
        ("13", "is 13 (int); allowed: ints from 0 to 12"),
        ("-1", "is -1 (int); allowed: ints from 0 to 12"),
        ("calls.append(1) or len(calls) % 12", "when asked again"),
        ("'!' + 'a' * 4000", "aaa..."),
        ("'?' + '9' * 4000", "999...; allowed: ints"),
    ):
        faults = forged(tmp_path, swap.format(bad)).faults
        assert says in faults[0].line


@boxed
def test_what_an_entry_tells_is_cut_and_escaped(tmp_path: Path) -> None:
    text = (
        "PLAYER_NAME = '\\x1b[2J' + 'x' * 10**6\n"
        "for n in range(50):\n"
        "    try: open('/secret\\x1b\\u202e' + str(n) + 'y' * 10**5)\n"
        "    except OSError: pass\n" + HONEST
    )
    answers = forged(tmp_path, text)
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
        ("open('/etc/shadow')", "open /etc/shadow"),
        *(
            pytest.param(*attempt, marks=pytest.mark.slow)
            for attempt in (
                (
                    "import socket; socket.getaddrinfo('example.org', 80)",
                    "socket.getaddrinfo example.org",
                ),
                ("import os; os.execv('/bin/true', ['true'])", "os.exec /bin/true"),
                ("import os; os.kill(1, 9)", "os.kill 1 9"),
                ("open('made', 'w')", "open to write /entry/made"),
                ("import os; os.listdir('/home')", "os.listdir /home"),
            )
        ),
    ],
)
def test_what_an_entry_tried_is_told(tmp_path: Path, code: str, says: str) -> None:
    text = f"try:\n    {code}\nexcept BaseException: pass\n{HONEST}"
    answers = forged(tmp_path, text)
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
    assert programs._list_files(entry, [*named, "y" * 9000]) == ("a.txt",)
    assert programs._list_files(entry._replace(is_alone=True), named) == ()
