"""Code of strategies: asked for every cell, refused in a line; what its answers depend on."""

import math
import time
from pathlib import Path

import pytest

from hogeq.strategies import programs
from hogeq.strategies.files import read_strategy
from hogeq.support import sandbox
from tests.slow import mostly_slow
from tests.strategies.programs import code
from tests.strategies.strategy_files import DICE, GOAL, ROWS, file, refused

# A class whose name is no name.
NAMELESS = (
    "type('M', (type,), {'__name__': property(lambda kind: 1 / 0)})('X', (Exception,), "
    "{'__repr__': 3})"
)


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


def test_code_may_have_any_time(tmp_path: Path) -> None:
    body = "return 3"
    table = read_strategy(code(tmp_path, body), GOAL, DICE, trust=True, time_limit=math.inf)
    assert (table.array == 3).all()


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


@pytest.mark.slow
@pytest.mark.parametrize("body", ["while True: pass", "import time; time.sleep(60)"])
def test_code_that_does_not_end_is_stopped(tmp_path: Path, body: str) -> None:
    start = time.perf_counter()
    says = r"final_strategy\(2, 1\) gave no answer within 3 seconds; 9 of 16 positions"
    refused(
        code(tmp_path, f"if (score, opponent) == (2, 1):\n        {body}\n    return 1"),
        says,
        trust=True,
        time_limit=3.0,
    )
    refused(
        file(tmp_path, "final_strategy.py", body),
        ": gave no answer within",
        trust=True,
        time_limit=3.0,
    )
    again = f"calls.append(1)\n    if len(calls) > 20:\n        {body}\n    return 1"
    path = code(tmp_path, again)
    path.write_text(f"{path.read_text()}calls = []\n")
    row, column = divmod(programs.order_again(16)[20], 4)  # of the second process
    refused(
        path,
        rf"\({row}, {column}\), asked again, gave no answer.*; 16 of 16",
        trust=True,
        time_limit=3.0,
    )
    assert time.perf_counter() - start < 14


@pytest.mark.slow
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


@pytest.mark.parametrize(
    "source", mostly_slow(CHANCE, "shared", "secrets", "another file", "a draw before the seed")
)
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
        pytest.param(
            "import numpy; n = int(numpy.random.default_rng(5).integers(2))", marks=pytest.mark.slow
        ),
        pytest.param(
            "import multiprocessing, numpy.random, random, tempfile, uuid; n = 1",
            marks=pytest.mark.slow,
        ),
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


@pytest.mark.slow
def test_a_bad_answer_is_said_before_the_time_that_came_after_it(tmp_path: Path) -> None:
    path = code(tmp_path, "while score == 1 and opponent == 2: pass")
    bad, late = programs.examine(path, GOAL, DICE, 3.0).faults
    assert bad == (
        "range",
        6,
        "final_strategy(0, 0) is None (NoneType); allowed: ints from 0 to 12",
    )
    assert late.line.startswith("final_strategy(1, 2) gave no answer within 3 seconds; 6 of 16 ")
    shared = "seen = []\n"
    path.write_text(
        f"{shared}def final_strategy(score, opponent):\n    seen.append(1)\n"
        "    while len(seen) > 18: pass\n    return len(seen) > 16\n"
    )
    kinds = [fault.kind for fault in programs.examine(path, GOAL, DICE, 3.0).faults]
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
