"""Mixtures on the command line: where they have a meaning, and one line where they have none."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hogeq.cli import app
from hogeq.strategies.conversion import strategy_of_shape
from hogeq.strategies.files import read_strategy
from hogeq.strategies.strategy import Mixture
from tests.cli.calls import ask, ok, refused

pytestmark = pytest.mark.usefixtures("drawn")

RULES = "--rules", "small.yaml"
AT = "--score", "9", "--opponent", "8"


@pytest.fixture
def drawn(folder: Path) -> None:
    parts = np.stack([np.full((20, 20), dice) for dice in (1, 3)])
    strategy_of_shape(None, Mixture([0.25, 0.75], parts)).write(folder / "drawn.npz")


def test_win_rates() -> None:
    one, three = (
        ask("compare", f"always_roll:{dice}", "always_roll:2", *RULES)["win_rate"]
        for dice in (1, 3)
    )
    found = ask("compare", "drawn.npz", "always_roll:2", *RULES)
    assert found["win_rate"] == pytest.approx(0.25 * one + 0.75 * three, abs=1e-12)
    assert ask("compare", "drawn.npz", "drawn.npz", *RULES)["win_rate"] == pytest.approx(0.5)
    assert ask("compare", "drawn.npz", "full_memory", *RULES)["win_rate"] < 0.5
    shutil.copy("drawn.npz", "copy.npz")
    field = ask("tournament", "drawn.npz", "always_roll:2", "copy.npz", *RULES)
    assert field["win_rates"][0][1] == pytest.approx(found["win_rate"], abs=1e-12)
    assert field["identical"] == [[0, 2]]


def test_show(folder: Path) -> None:
    found = ask("show", "drawn.npz", *RULES)
    assert found["kind"] == "mixture"
    assert [part["weight"] for part in found["parts"]] == [0.25, 0.75]
    assert found["entropy"] == found["entropy_of_draw"] == pytest.approx(0.811278124459)
    assert found["positions_where_parts_differ"] == 400
    text = ok("show", "drawn.npz", *RULES)
    assert "a mixture of 2 matrices: one is drawn before a game" in text
    assert f" 0 {'-' * 20}\n" in text
    ok("show", "drawn.npz", *RULES, "--out", "drawn.png")
    assert (folder / "drawn.png").stat().st_size > 10_000


def test_beliefs() -> None:
    found = ask("beliefs", "drawn.npz", *RULES, *AT, "--against", "always_roll:2")
    assert "parts_against" not in found
    shares = [part["probability"] for part in found["parts"]]
    assert sum(shares) == pytest.approx(1.0)
    assert shares != [0.25, 0.75]
    against = ask("beliefs", "always_roll:2", *RULES, *AT, "--against", "drawn.npz")
    assert "parts" not in against
    assert len(against["parts_against"]) == 2
    assert sum(one["probability"] for one in found["memories"]) == pytest.approx(1.0)
    text = ok("beliefs", "drawn.npz", *RULES, *AT, "--top", "1")
    assert "what was drawn from drawn.npz, to move" in text
    assert "what was drawn from drawn.npz, the other" in text
    assert " more, together " in text
    never = "--score", "0", "--opponent", "10"
    assert "never comes to 0 points against 10" in refused("beliefs", "drawn.npz", *RULES, *never)
    assert "not for a mixture" in refused("beliefs", "drawn.npz", *RULES, *AT, "--plot", "a.png")
    open_game = ask("beliefs", "drawn.npz", "--rules", "fa22.yaml", *AT)
    assert len(open_game["parts"]) == 2


def test_export(folder: Path) -> None:
    assert ask("export", "drawn.npz", *RULES, "--part", "2", "--out", "a.csv")["kind"] == "matrix"
    assert (folder / "a.csv").read_text("utf-8").startswith("3,3,3")
    assert ask("export", "drawn.npz", *RULES, "--out", "b.npz")["kind"] == "mixture"
    drawn = read_strategy("b.npz", 20, 3)
    assert (drawn.kind, len(drawn.weights)) == ("mixture", 2)
    for given, says in (
        (("drawn.npz", "--player-name", "me"), "--part 1 takes a component"),
        (("drawn.npz", "--out", "c.csv"), "--part 1"),
        (("drawn.npz", "--part", "3", "--out", "c.csv"), "--part: 3; allowed: 1 to 2"),
        (("always_roll:2", "--part", "1", "--out", "c.csv"), "is none"),
    ):
        assert says in refused("export", *given, *RULES)


def test_play() -> None:
    command = ["play", *RULES, "--engine", "drawn.npz", "--seed", "1"]
    played = CliRunner().invoke(app, command, input="2\nq\n")
    assert played.exit_code == 0, played.stderr
    assert "you against what was drawn from drawn.npz" in played.stdout


def test_where_one_table_is_needed() -> None:
    line = refused("check", "drawn.npz", *RULES)
    assert "is a mixture of 2 strategies, one of which is drawn before a game" in line
    assert "hogeq export MIXTURE --part 1" in line


@pytest.mark.slow
def test_attack(folder: Path) -> None:
    few = "--starts", "1", "--anneal-steps", "5", "--kicks", "2", "--out", "counter.csv"
    found = ask("attack", "drawn.npz", *RULES, *few)
    won = ask("compare", "counter.csv", "drawn.npz", *RULES)["win_rate"]
    assert found["attack"] == pytest.approx(won, abs=1e-12)
    assert 0.5 < found["attack"] <= found["bound"] < found["bound_told"]
    text = ok("attack", "drawn.npz", *RULES, *few, "--overwrite", "--plot", "counter.png")
    assert "best responder that remembers everything but the draw\n" in text
    assert "best responder that is told the draw as well\n" in text
    assert (folder / "counter.png").exists()
