"""A folder to work in, and a small game."""

from pathlib import Path

import pytest

from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.support import progress

SMALL = {"edition": "su20", "goal": 20, "max_dice": 3}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder to work in, with rules of a small game in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text("edition: su20\ngoal: 20\nmax_dice: 3\n")
    (tmp_path / "fa22.yaml").write_text("{edition: fa22, goal: 20, max_dice: 3}")
    (tmp_path / "turns.yaml").write_text("{edition: su21, goal: 20, max_dice: 3}")
    return tmp_path


@pytest.fixture
def game() -> HogEngine:
    return compile_game(rules_from(SMALL))


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave standard error to the messages: a machine that is slow would add lines of progress."""
    monkeypatch.setattr(progress, "LINE_SECONDS", float("inf"))
