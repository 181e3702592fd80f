from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hogeq.contest.submission import as_one_file, contest_asks_name, inspect_submission
from hogeq.rules import EDITIONS, Rules
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.submissions import Submission
from tests.strategies.strategy_files import DICE, GOAL, ROWS, file, saved

NAME = "PLAYER_NAME = 'Me'\n"
CODE = "def final_strategy(score, opponent): return {}\n"
NAMED = Rules(name="su20", goal=GOAL, max_dice=DICE)
UNNAMED = Rules(name="fa14", goal=GOAL, max_dice=DICE)


def inspected(
    folder: Path, name: str, content: Any, rules: Rules = NAMED, **options: Any
) -> Submission:
    return inspect_submission(file(folder, name, content), rules, **options)


def kinds(entry: Submission) -> list[tuple[str, int]]:
    return [(fault.kind, fault.times) for fault in entry.faults]


def test_a_good_submission_has_no_fault(tmp_path: Path) -> None:
    code = NAME + CODE.format(f"{ROWS}[score][opponent]")
    entry = inspected(tmp_path, "final_strategy.py", code, trust=True)
    assert entry.faults == ()
    assert entry.strategy is not None
    assert entry.strategy.array.tolist() == ROWS
    assert (entry.name, entry.size, entry.files, entry.alone) == ("Me", len(code), (), True)
    assert (entry.answered, entry.asked) == (16, None)
    assert set(entry.seconds) == {"load", "table", "slowest"}
    assert 0.0 < entry.seconds["slowest"] <= entry.seconds["table"] < 1.0
    table = inspected(tmp_path, "m.json", str(ROWS))
    assert table.faults == ()
    assert table.strategy is not None
    assert (table.name, table.seconds, table.answered, table.alone) == (None, {}, 16, None)


def test_every_kind_of_fault_of_code_is_listed_once(tmp_path: Path) -> None:
    code = (
        "calls = []\n"
        "def final_strategy(score, opponent):\n"
        "    calls.append(1)\n"
        "    if score == 0: return 1 / 0 if opponent else [][1]\n"
        "    if score == 1: return 13 + opponent if opponent < 3 else -1\n"
        "    if score == 2: return [len(calls) % 13, 3.0, 2.0, None][opponent]\n"
        "    return 3\n"
    )
    entry = inspected(tmp_path, "final_strategy.py", code, trust=True)
    where = " (in final_strategy, line 4)"
    assert entry.strategy is None
    assert [(fault.kind, fault.times, fault.line) for fault in entry.faults] == [
        ("name", 1, "PLAYER_NAME is missing or no text"),
        ("raises", 1, f"final_strategy(0, 0) raised IndexError: list index out of range{where}"),
        ("raises", 3, f"final_strategy(0, 1) raised ZeroDivisionError: division by zero{where}"),
        ("range", 3, "final_strategy(1, 0) is 13 (int); allowed: ints from 0 to 12"),
        ("range", 1, "final_strategy(1, 3) is -1 (int); allowed: ints from 0 to 12"),
        ("range", 2, "final_strategy(2, 1) is 3.0 (float); allowed: ints from 0 to 12"),
        ("range", 1, "final_strategy(2, 3) is None (NoneType); allowed: ints from 0 to 12"),
        ("impure", 1, entry.faults[-1].line),
    ]
    assert "when asked again" in entry.faults[-1].line


@pytest.mark.parametrize("code", ["def broken(", "x = 1"])
def test_code_that_does_not_run_has_one_fault(tmp_path: Path, code: str) -> None:
    entry = inspected(tmp_path, "final_strategy.py", code, trust=True)
    assert kinds(entry) == [("code", 1)]
    assert (entry.answered, entry.alone) == (0, None)


def test_a_crash_is_a_fault_of_its_own(tmp_path: Path) -> None:
    """Another call may find no fault: a machine without memory makes the same."""
    for code in ("import os; os._exit(0)", CODE.format("__import__('os').abort()")):
        assert kinds(inspected(tmp_path, "x.py", code, trust=True)) == [("crash", 1)]


def test_code_that_hangs_says_where(tmp_path: Path) -> None:
    code = "def final_strategy(score, opponent):\n    while score == 2: pass\n    return 1\n"
    entry = inspected(tmp_path, "final_strategy.py", code, trust=True, time_limit=3)
    assert (entry.answered, entry.asked) == (8, (2, 0))
    (fault,) = entry.faults
    assert (fault.kind, fault.times) == ("time", 1)
    assert fault.line == (
        "final_strategy(2, 0) gave no answer within 3 seconds; 8 of 16 positions were answered"
    )


@pytest.mark.parametrize(
    ("line", "name", "says"),
    [
        ("PLAYER_NAME = 'Ann'; TEAM_NAME = 'Us'", "Ann", None),
        ("TEAM_NAME = 'Us'", "Us", None),
        ("PLAYER_NAME = 'x' * 64", "x" * 64, None),
        ("PLAYER_NAME = 'x' * 100_000", "x" * 200, "is longer; allowed: 1 to 64 characters"),
        ("PLAYER_NAME = 6", None, "missing or no text"),
        ("", None, "missing or no text"),
        ("PLAYER_NAME = ' '", " ", "not blank"),
        ("PLAYER_NAME = ''", "", "not blank"),
        ("PLAYER_NAME = 'x' * 65", "x" * 65, "is longer; allowed: 1 to 64 characters"),
        (r"PLAYER_NAME = '\ud800'", "\ud800", "not valid Unicode"),
    ],
)
def test_names(tmp_path: Path, line: str, name: str | None, says: str | None) -> None:
    entry = inspected(tmp_path, "final_strategy.py", f"{line}\n{CODE.format(3)}", trust=True)
    assert entry.name == name
    assert kinds(entry) == ([] if says is None else [("name", 1)])
    assert all(says in fault.line for fault in entry.faults if says)


def test_contests_before_fall_2016_asked_for_no_name(tmp_path: Path) -> None:
    entry = inspected(tmp_path, "hog.py", CODE.format(3), UNNAMED, trust=True)
    assert (entry.faults, entry.name) == ((), None)
    asked = {name for name, rules in EDITIONS.items() if contest_asks_name(rules)}
    assert {"fa17", "sp18", "su20", "fa23"} <= asked
    assert not asked & {"fa13", "fa14", "fa15", "sp15", "su15"}
    assert not contest_asks_name(Rules(name="custom"))


def test_other_files_are_listed_and_done_without(tmp_path: Path) -> None:
    file(tmp_path, "helper.py", "rolls = 3\n")
    file(tmp_path, "table\n.txt", "3")
    uses = (
        f"{NAME}import helper\n"
        "def final_strategy(score, opponent): return int(open('table\\n.txt').read())\n"
    )
    entry = inspected(tmp_path, "final_strategy.py", uses, trust=True)
    assert (entry.faults, entry.files, entry.alone) == ((), ("helper.py", r"table\n.txt"), False)
    optional = f"{NAME}try: import helper\nexcept ImportError: pass\n{CODE.format(3)}"
    entry = inspected(tmp_path, "final_strategy.py", optional, trust=True)
    assert (entry.faults, entry.files, entry.alone) == ((), (), True)


@pytest.mark.parametrize("prints", ["print('here')", "import sys; sys.stdout.write('x')"])
def test_that_it_prints_is_noted(tmp_path: Path, prints: str) -> None:
    for body in (f"{prints}\n    return 3\n", f"{prints}\n    return 1 / 0\n"):
        code = f"{NAME}def final_strategy(score, opponent):\n    {body}"
        entry = inspected(tmp_path, "final_strategy.py", code, trust=True)
        assert (entry.prints, entry.strategy is None) == (True, "1 / 0" in body)
    assert not inspected(tmp_path, "final_strategy.py", CODE.format(3), UNNAMED, trust=True).prints


def test_every_kind_of_fault_of_a_table_is_listed_once(tmp_path: Path) -> None:
    rows = '[[13, 1, 14, "x"], [-1, 1, 1, "y"], [1, 1.5, 1], [1e400, null, 3.0, 99999999999999]]'
    entry = inspected(tmp_path, "m.json", rows)
    assert entry.strategy is None
    allowed = "allowed: whole numbers from 0 to 12"
    assert [(fault.kind, fault.times, fault.line) for fault in entry.faults] == [
        ("range", 3, f"cell (row 0, column 0) is 13; {allowed}"),
        ("range", 2, f"cell (row 0, column 3) is 'x'; {allowed}"),
        ("range", 1, f"cell (row 1, column 0) is -1; {allowed}"),
        ("range", 1, f"cell (row 2, column 1) is 1.5; {allowed}"),
        ("shape", 1, "cell (row 2, column 3) is missing; allowed: 4 rows of 4 whole numbers"),
        ("range", 1, f"cell (row 3, column 0) is inf; {allowed}"),
        ("range", 1, f"cell (row 3, column 1) is None; {allowed}"),
    ]
    short = inspected(tmp_path, "m.csv", "0,1,2,3\n1,1,1,1\n")
    (fault,) = short.faults
    assert fault == (
        "shape",
        1,
        "cell (row 2, column 0) is missing; allowed: 4 rows of 4 whole numbers",
    )


def test_a_policy_is_no_submission(tmp_path: Path) -> None:
    policy = np.full((GOAL, GOAL, DICE + 1), 1 / (DICE + 1))
    entry = inspected(tmp_path, "p.npz", saved(np.savez, policy=policy))
    assert "is a policy" in entry.faults[0].line


def test_what_cannot_be_looked_at_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StrategyError, match="cannot be read"):
        inspect_submission(tmp_path / "missing.py", NAMED, trust=True)
    with pytest.raises(StrategyError, match="only with --trust"):
        inspected(tmp_path, "final_strategy.py", "")


def test_an_error_is_said_with_the_last_frame_of_the_file(tmp_path: Path) -> None:
    helper = "def helper(score):\n    return {}[score]\n"
    code = NAME + helper + CODE.format("sorted([3, 2], key=helper)[0]")
    (fault,) = inspected(tmp_path, "final_strategy.py", code, trust=True).faults
    assert fault.line == "final_strategy(0, 0) raised KeyError: 3 (in helper, line 3)"
    (fault,) = inspected(tmp_path, "x.py", NAME + "\nimport hog\n", trust=True).faults
    assert fault.line == "raised ModuleNotFoundError: No module named 'hog' (line 3)"


def test_a_contest_of_one_file_takes_none_that_needs_another(tmp_path: Path) -> None:
    (tmp_path / "n.txt").write_text("1")
    read = "import pathlib\nn = int(pathlib.Path(__file__).with_name('n.txt').read_text())\n"
    path = file(tmp_path, "my strategy.py", NAME + read + CODE.format("n"))
    found = inspect_submission(path, NAMED, trust=True)
    assert (found.faults, found.alone) == ((), False)
    judged = as_one_file(found, "hogeq export ...")
    (fault,) = judged.faults
    assert judged.strategy is found.strategy  # it is judged all the same
    assert fault.line == (
        "needs n.txt; allowed: one file alone; this command makes one: hogeq export ..."
    )
    alone = inspected(tmp_path, "m.json", str(ROWS))
    assert as_one_file(alone, "") is alone
