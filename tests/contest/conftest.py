"""A folder where a class hands in, with secrets beside it."""

from pathlib import Path

import pytest

from hogeq.contest import folders
from tests.contest.hostile import CANARY, DICE, GOAL


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(folders, "MOST_FILES", 50)
    Path("class.yaml").write_text(f"{{edition: fa25, goal: {GOAL}, max_dice: {DICE}}}\n")
    Path("secret.txt").write_text(f"{CANARY}\n")
    Path("secret.csv").write_text(f"{CANARY},1\n")
    Path("class").mkdir()
    return tmp_path
