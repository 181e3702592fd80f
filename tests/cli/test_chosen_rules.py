"""Which rules a command goes by: --rules, a run's own, HOGEQ_RULES, or the default, said first."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hogeq
from hogeq.cli import app
from hogeq.cli.shell import Result
from hogeq.runs.config import config_from
from hogeq.runs.runner import run_experiment
from hogeq.support.messages import Table, lines_of
from tests.cli.calls import ask, ok, refused

TREE = {
    "name": "cfr",
    "rules": {"edition": "fa22", "goal": 12, "max_dice": 3},
    "solver": {"name": "dcfr", "iterations": 3},
    "measure": {"attack": {"starts": 1, "anneal_steps": 3, "kicks": 0}},
}
TITLE = "fa22 with goal=12, max_dice=3"
QUICK = ("--starts", "1", "--anneal-steps", "3", "--kicks", "0")


@pytest.fixture
def run(folder: Path) -> Path:
    return run_experiment(config_from(TREE), folder / "small", quiet=True).directory


def test_a_run_brings_its_rules(run: Path) -> None:
    name = "small/cfr"
    assert ask("attack", name, *QUICK)["rules"] == TITLE
    assert TITLE in ok("show", name)
    for rules in (name, f"{name}/config.yaml"):
        of = ("--rules", rules)
        assert ask("compare", "always_roll:1", "always_roll:2", *of)["rules"] == TITLE
        assert ok("rules", rules).startswith(TITLE)
    assert "20 rows" in refused("compare", name, "always_roll:1", "--rules", "small.yaml")
    loaded = hogeq.load_run(run)
    assert loaded.game.rules.goal == 12
    assert loaded.matrix.kind == "matrix"


@pytest.mark.slow
def test_runs_of_two_games_need_rules(folder: Path, run: Path) -> None:
    other = {**TREE, "name": "other", "rules": {"edition": "fa22", "goal": 10, "max_dice": 3}}
    run_experiment(config_from(other), folder / "small", quiet=True)
    line = refused("compare", "small/cfr", "small/other")
    assert "small/cfr and small/other: runs of different rules; --rules chooses" in line
    assert "cannot be read: Is a directory, without a config.yaml" in refused(
        "tablebase", "--rules", str(folder)
    )


@pytest.mark.slow
def test_the_default_is_said_first_and_can_be_set(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = "compare", "always_roll:1", "always_roll:2"
    monkeypatch.delenv("HOGEQ_RULES", raising=False)
    found = CliRunner().invoke(app, [*command, "--json"])
    said = "hogeq: rules fa25, the default; --rules or HOGEQ_RULES chooses others\n"
    assert found.stderr.startswith(said)
    assert json.loads(found.stdout)["rules"] == "fa25"
    ok("export", "optimal", "--out", "optimal.csv")
    assert ok("check", "optimal.csv").startswith("valid for fa25")
    monkeypatch.setenv("HOGEQ_RULES", "small.yaml")
    found = CliRunner().invoke(app, [*command, "--json"])
    assert "the default" not in found.stderr
    title = "su20 with goal=20, max_dice=3"
    assert json.loads(found.stdout)["rules"] == title
    assert f"for {title} written to m.csv" in ok("export", "always_roll:2", "--out", "m.csv")


def test_lines_and_cells_are_printable() -> None:
    result = Result({}, ["a\nb", "", Table([("c\td", 1)], ("e", "f"))])
    assert lines_of(result.text) == ["a\\nb", "", "e     f", "c\\td  1"]
