"""Two finished runs and one of another game, the page of the first two; a board of two games."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hogeq.cli import app
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.runs.config import config_from
from hogeq.runs.runner import run_experiment as run
from tests.cli.calls import ask
from tests.pages.boards import HIDDEN, OPEN, Played
from tests.pages.runs import CONFIG


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with two finished runs, and one of another game."""
    root = tmp_path_factory.mktemp("runs")
    second = CONFIG | {"name": "second", "solver": {"name": "cfr_plus", "iterations": 5}}
    other = CONFIG | {"name": "other", "rules": {"edition": "fa22", "goal": 20, "max_dice": 3}}
    for config in (CONFIG, second, other):
        run(config_from(config), root)
    return root


@pytest.fixture(scope="session")
def written(folder: Path) -> Path:
    """Give the page of both runs, and a strategy beside them."""
    out = folder / "report.html"
    names = [str(folder / name) for name in ("first", "second")]
    given = ["report", *names, "--out", str(out), "--against", "always_roll:2", "--json"]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.stderr
    (folder / "answer.json").write_text(result.stdout)
    return out


@pytest.fixture(scope="session")
def game() -> HogEngine:
    return compile_game(rules_from(CONFIG["rules"]))  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def hidden() -> HogEngine:
    return compile_game(rules_from(HIDDEN))


@pytest.fixture(scope="session")
def both_games(tmp_path_factory: pytest.TempPathFactory, hidden: HogEngine) -> Path:
    """Write the page of two games, by the command."""
    folder = tmp_path_factory.mktemp("board")
    specs = []
    for number, rules in enumerate((HIDDEN, OPEN)):
        file = folder / f"game{number}.yaml"
        file.write_text(json.dumps(rules))
        specs += ["--rules", str(file)]
    out = folder / "board.html"
    told = ask("board", *specs, "--out", str(out), "--opponent", "always_roll:2")
    assert told["bytes"] == out.stat().st_size
    assert [list(names)[-1] for names in told["opponents"].values()] == ["always_roll:2"] * 2
    return out


@pytest.fixture
def board(browser: Any, both_games: Path) -> Iterator[Played]:
    tab = Played(
        browser, both_games, reduced_motion="reduce", viewport={"width": 1280, "height": 900}
    )
    yield tab
    assert tab.said == []
    assert tab.asked == [both_games.as_uri()]
    tab.page.context.close()
