"""`hogeq purify`: a policy, or a matrix, becomes another matrix."""

from pathlib import Path

import numpy as np
import pytest

from hogeq.model.game import compile_game
from hogeq.purification import PURIFIERS, argmax
from hogeq.purification.local_search import LocalSearch
from hogeq.rules import rules_from
from hogeq.strategies.files import read_strategy, write_strategy
from tests.cli.calls import ask, ok, refused

RULES = "--rules", "small.yaml"
SEARCH = "purify", "policy.npz", *RULES, "--method", "local_search", "--set", "trails=2"

MISSING = "hogeq: none.npz: cannot be read: No such file or directory\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text("{edition: su20, goal: 12, max_dice: 3}")
    write_strategy("policy.npz", np.random.default_rng(0).dirichlet(np.ones(4), (12, 12)))
    return tmp_path


def test_the_likeliest_rolls_unless_told(folder: Path) -> None:
    found = ask("purify", "policy.npz", *RULES)
    assert found["out"] == "matrix.csv"
    assert (found["method"], found["parameters"]) == ("argmax", {})
    game = compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 3}))
    likeliest = argmax(game, read_strategy("policy.npz", 12, 3))
    np.testing.assert_array_equal(read_strategy("matrix.csv", 12, 3), likeliest)
    assert "--overwrite" in refused("purify", "policy.npz", *RULES)
    text = ok("purify", "policy.npz", *RULES, "--overwrite")
    assert text == "matrix of policy.npz by argmax written to matrix.csv\n"


def test_a_search_goes_on_where_it_was(folder: Path) -> None:
    kept = "--checkpoint", "state.npz", "--overwrite"
    for rounds in (2, 5):
        found = ask(*SEARCH, "--set", f"rounds={rounds}", *kept)
        assert found["parameters"]["rounds"] == rounds
    game = compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 3}))
    search = LocalSearch(rounds=5, trails=2)
    whole = search.matrix(game, read_strategy("policy.npz", 12, 3))
    np.testing.assert_array_equal(read_strategy("matrix.csv", 12, 3), whole)
    other = refused(*SEARCH, "--set", "rounds=6", "--set", "seed=1", *kept)
    assert "state.npz is of another search" in other
    ok(*SEARCH, "--set", "rounds=1", "--set", "counters=state.npz", "--out", "again.csv")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("--method", "local"), f"--method: got 'local'; allowed: {', '.join(PURIFIERS)}"),
        (("--set", "rounds"), "allowed: key=value"),
        (("--method", "sample", "--set", "sample=2"), "nearest: samples"),
        (("--checkpoint", "state.npz"), "--method local_search"),
        (("--method", "local_search", "--set", "counters=none.npz"), MISSING),
    ],
)
def test_what_it_cannot_do_is_refused(folder: Path, given: tuple[str, ...], says: str) -> None:
    assert says in refused("purify", "policy.npz", *RULES, *given)
    assert not Path("matrix.csv").exists()
