from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.submission import Submission, inspect_submission
from tests.strategies.strategy_files import DICE, GOAL, ROWS, file, saved

NAME = "PLAYER_NAME = 'Me'\n"


def inspected(folder: Path, name: str, content: Any, **options: Any) -> Submission:
    return inspect_submission(file(folder, name, content), GOAL, DICE, **options)


def test_a_good_submission_has_no_fault(tmp_path: Path) -> None:
    code = f"{NAME}def final_strategy(score, opponent): return {ROWS}[score][opponent]\n"
    found = inspected(tmp_path, "final_strategy.py", code, trust=True)
    assert found.faults == ()
    assert found.matrix is not None
    assert found.matrix.tolist() == ROWS
    assert (found.player_name, found.size) == ("Me", len(code))
    assert set(found.seconds) == {"load", "table", "slowest"}
    assert 0.0 < found.seconds["slowest"] <= found.seconds["table"] < 1.0
    table = inspected(tmp_path, "m.json", str(ROWS))
    assert table.faults == ()
    assert table.matrix is not None
    assert (table.player_name, table.seconds) == (None, {})


def test_every_fault_of_code_is_told_at_once(tmp_path: Path) -> None:
    code = (
        "calls = []\n"
        "def final_strategy(score, opponent):\n"
        "    calls.append(1)\n"
        "    if score == 0: return 1 / 0\n"
        "    if score == 1: return 13 + opponent\n"
        "    if score == 2: return len(calls) % 5\n"
        "    return 3\n"
    )
    found = inspected(tmp_path, "final_strategy.py", code, trust=True)
    assert found.matrix is None
    told = {fault.kind: (fault.times, fault.told[0]) for fault in found.faults}
    assert told["name"] == (1, "PLAYER_NAME is missing or no text")
    assert told["raises"] == (4, "final_strategy(0, 0) raised ZeroDivisionError: division by zero")
    assert told["range"] == (4, "final_strategy(1, 0) is 13 (int); allowed: ints from 0 to 12")
    assert told["impure"][0] > 0
    assert "when asked again" in told["impure"][1]


def test_code_that_does_not_run_has_one_fault(tmp_path: Path) -> None:
    for code in ("def broken(", "x = 1"):
        found = inspected(tmp_path, "final_strategy.py", code, trust=True)
        assert [fault.kind for fault in found.faults] == ["code"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("6", "missing or no text"),
        ("' '", "blank"),
        ("'x' * 900", "too long: 900"),
        (r"'\ud800'", "not valid Unicode"),
    ],
)
def test_names_that_the_contest_would_not_take(tmp_path: Path, name: str, says: str) -> None:
    code = f"PLAYER_NAME = {name}\ndef final_strategy(score, opponent): return 3\n"
    found = inspected(tmp_path, "final_strategy.py", code, trust=True)
    assert [fault.kind for fault in found.faults] == ["name"]
    assert says in found.faults[0].told[0]


def test_every_fault_of_a_table_is_told_at_once(tmp_path: Path) -> None:
    found = inspected(tmp_path, "m.csv", "0,1,2,3\n13,1,1,x\n1,1.5,1\n")
    assert found.matrix is None
    shape, cells = found.faults
    assert (shape.kind, shape.told) == (
        "shape",
        (
            "has 3 rows; allowed: 4 rows of 4 whole numbers",
            "row 2 has 3 cells; allowed: 4 whole numbers",
        ),
    )
    assert (cells.kind, cells.times) == ("range", 3)
    assert cells.told[0] == "cell (row 1, column 0) is 13; allowed: whole numbers from 0 to 12"


def test_a_policy_is_no_submission(tmp_path: Path) -> None:
    policy = np.full((GOAL, GOAL, DICE + 1), 1 / (DICE + 1))
    found = inspected(tmp_path, "p.npz", saved(np.savez, policy=policy))
    assert "is a policy" in found.faults[0].told[0]


def test_what_cannot_be_looked_at_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StrategyError, match="cannot be read"):
        inspect_submission(tmp_path / "missing.py", GOAL, DICE, trust=True)
    with pytest.raises(StrategyError, match="only with --trust"):
        inspected(tmp_path, "final_strategy.py", "")
    with pytest.raises(StrategyError, match="gave no answer"):
        inspected(tmp_path, "final_strategy.py", "while True: pass", trust=True, time_limit=0.3)
