"""hogeq attack with a picture of what is gained; attack-field with a cap and a trade-off curve."""

import re
from pathlib import Path

import numpy as np
import pytest

from hogeq.baselines.simple import always_roll
from hogeq.model.game import HogEngine
from hogeq.search.population import gains
from hogeq.strategies.files import read_strategy
from hogeq.support.messages import percent, pp
from tests.cli.calls import ask, in_full, ok, refused

R = ("--rules", "small.yaml")
QUICK = ("--starts", "1", "--anneal-steps", "10")
RIVALS = ("always_roll:1", "always_roll:2", "bacon:5,3")
FIELD = ("attack-field", *RIVALS)


def rate(a: str, b: str) -> float:
    return float(ask("compare", a, b, *R)["win_rate"])


# --- one rival ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_each_cell_gains(folder: Path, game: HogEngine) -> None:
    found = ask("attack", "always_roll:2", *R, *QUICK, "--out", "m.csv", "--plot", "gain.png")
    assert (folder / "gain.png").read_bytes().startswith(b"\x89PNG")
    matrix = read_strategy(folder / "m.csv", 20, 3).array
    want = gains(game, matrix, always_roll(game, 2))
    met = want.reach > 0.0
    assert found["reached"] == met.sum()
    assert found["deviates"] == (met & (matrix != 2)).sum()
    assert [cell["gain"] for cell in found["gains"]] == sorted(want.gains.ravel())[:-11:-1]
    for cell in found["gains"]:
        own, opponent = cell["score"], cell["opponent"]
        assert cell["gain"] == want.gains[own, opponent]
        assert (cell["usual"], cell["counter"]) == (2, matrix[own, opponent])
    text = ok("attack", "always_roll:2", *R, *QUICK, "--digits", "10")
    assert in_full(pp, found["gains"][0]["gain"]) in text
    assert f"other dice at {found['deviates']} of the {found['reached']} positions" in text


@pytest.mark.slow
def test_saturation_is_said_and_can_be_waited_for(folder: Path) -> None:
    assert folder.exists()
    short = ask("attack", "always_roll:2", *R, *QUICK, "--kicks", "2")
    assert (short["saturated"], short["left"]) == (False, None)
    waited = [*R, *QUICK, "--kicks", "2", "--until-saturated", "--most-kicks", "400"]
    found = ask("attack", "always_roll:2", *waited)
    assert found["saturated"]
    assert found["left"] < 3e-4
    assert found["sweeps"] > short["sweeps"]
    assert found["attack"] >= short["attack"]
    text = ok("attack", "always_roll:2", *waited)
    assert "2 kicks or more, at most 400, seed 0" in text
    assert "\nthe last half of the sweeps found" in text
    assert " by estimate\n" in text


# --- a field --------------------------------------------------------------------------------------


def test_a_field(folder: Path) -> None:
    (folder / "small.yaml").write_text("{edition: su20, goal: 8, max_dice: 3}")
    beaten = (*FIELD, *R, *QUICK, "--objective", "beaten")
    found = ask(*beaten, "--out", "m.csv", "--jobs", "1")
    exact = [rate("m.csv", rival) for rival in RIVALS]
    assert found["win_rates"] == pytest.approx(exact, abs=1e-12)
    assert found["mean"] == pytest.approx(np.mean(exact), abs=1e-12)
    assert found["beaten"] == sum(each > 0.500001 for each in exact) == 3
    assert found["field"] == list(RIVALS)
    assert f"{in_full(percent, found['mean'])}  3 of 3 beaten" in ok(*beaten, "--digits", "10")


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("attack", "always_roll:1", "--most-kicks", "9"), "--most-kicks: allowed only with"),
        (("attack", "always_roll:1", "--certificate", "p.json"), "allowed only with --certify"),
        (
            ("attack", "always_roll:1", "--certify", "1", "--certificate", "p.txt"),
            "allowed: names ending in .json",
        ),
    ],
)
def test_bad_requests_are_refused_in_one_line(
    folder: Path, arguments: tuple[str, ...], says: str
) -> None:
    before = sorted(path.name for path in folder.iterdir())
    line = refused(*arguments, *R)
    assert re.search(says, line), line
    assert sorted(path.name for path in folder.iterdir()) == before
