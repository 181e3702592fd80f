"""Runs of games other than Hog: what brings the game, and what is no longer it."""

import dataclasses
import json
import re
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.cli import main
from hogeq.runs.summary import response_interval
from hogeq.support.messages import Table
from tests.test_one_game import FORGETFUL


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "rooms.efg"
    path.write_text(FORGETFUL)
    return str(path)


def run_of(folder: Path, game: str, **more: Any) -> Path:
    config = {"name": "run", "game": game, "solver": {"name": "cfr_plus", "iterations": 3}, **more}
    (folder / "run.yaml").write_text(json.dumps(config))
    loaded = hogeq.load_config(folder / "run.yaml")
    return hogeq.run_experiment(loaded, folder, quiet=True).directory


def test_a_run_brings_its_game_and_what_it_forgets(tmp_path: Path) -> None:
    folder = run_of(tmp_path, "kuhn_poker", forget="last:1")
    for given in (folder, folder / "config.yaml"):
        game = hogeq.Game(given)
        assert game.name == "kuhn_poker(), forgetting last:1"
    with pytest.raises(ValueError, match="forget: got 'order'; allowed: last:1, as the run does"):
        hogeq.Game(folder, forget="order")
    run = hogeq.load_run(folder)
    files = [folder, *(folder / name for name in ("policy.npz", "policy.csv"))]
    for file in files:
        np.testing.assert_array_equal(game.strategy(file).array, run.policy.array)
    assert game.strategy(folder / "matrix.csv").policy.max(axis=1).min() == 1.0


def test_metrics_of_a_tree_are_payoffs_and_exact_where_recall_is_perfect(tmp_path: Path) -> None:
    folder = run_of(tmp_path, "kuhn_poker", measure={"every": 1})
    game, run = hogeq.Game(folder), hogeq.load_run(folder)
    last, response = run.metrics[-1], game.attack(run.policy)
    assert last.attack == last.bound == pytest.approx(response.value, abs=1e-12)
    assert (last.response_0, last.response_1) == pytest.approx(response.seats, abs=1e-12)
    assert last.nash_conv == pytest.approx(sum(response.seats), abs=1e-12)
    assert last.nash_conv > 0.0
    header = (folder / "metrics.csv").read_text().partition("\n")[0]
    assert header.endswith("purified_attack,nash_conv,response_0,response_1")


def test_exploitability_has_only_digits_that_are_proved_of_payoffs(tmp_path: Path) -> None:
    """What is proved of a payoff of 1e9 and something are few digits of the something."""
    lines = ['EFG 2 R "far" { "1" "2" }', 'c "" 1 "" { "a" 1/3 "b" 1/3 "c" 1/3 } 0']
    gains = Fraction(123, 1000), Fraction(1, 1000), Fraction(55, 1000)
    for number, gain in enumerate(gains):
        lines.append(f'p "" 1 {number + 1} "{number}" {{ "u" "d" }} 0')
        for outcome, more in ((2 * number + 1, gain), (2 * number + 2, Fraction())):
            lines.append(f't "" {outcome} "" {{ {10**9 + more} {10**9 - more} }}')
    (tmp_path / "far.efg").write_text("\n".join(lines))
    game = hogeq.Game(tmp_path / "far.efg")
    interval = response_interval(game, game.strategy("uniform"), hogeq.Budget())
    exact = sum(gains) / 3 / 2 / 2  # half of all in one seat, nothing in the other
    lower, upper = map(Fraction, game.units.beyond(interval.lower, interval.upper))
    assert lower <= exact <= upper


def test_the_ends_of_small_payoffs_are_rounded_outward(tmp_path: Path) -> None:
    """Payoffs of 1e-13 are no rounding errors: their bounds are two numbers, however near."""
    (tmp_path / "run.yaml").write_text(
        json.dumps({"name": "run", "game": "kuhn", "solver": {"name": "cfr", "iterations": 1}})
    )
    loaded = hogeq.load_config(tmp_path / "run.yaml")
    summary = hogeq.run_experiment(loaded, tmp_path, quiet=True)
    units = hogeq.Units.of_payoffs(even=0.0, largest=1e-13, scale=1e-13)
    interval = summary.average._replace(lower=1.23456789099e-14, upper=6.54321098701e-14)
    written = dataclasses.replace(summary, units=units, average=interval).text()
    (table,) = [part for part in written if isinstance(part, Table)]
    name, lower, upper, *_ = table.rows[0]
    assert (name, lower, upper) == ("average policy", "1.234567890e-14", "6.543210988e-14")


@pytest.mark.slow
def test_a_run_is_not_resumed_on_another_game(file: str, tmp_path: Path) -> None:
    folder = run_of(tmp_path, file)
    Path(file).write_text(FORGETFUL.replace("{ 1, -1 }", "{ 2, -2 }"))
    config = hogeq.load_config(folder / "config.yaml", ["solver.iterations=5"])
    with pytest.raises(ValueError, match=r"is of another game: that of .* has changed since"):
        hogeq.run_experiment(config, resume=folder, quiet=True)
    Path(file).write_text(FORGETFUL)
    assert hogeq.run_experiment(config, resume=folder, quiet=True).metrics[-1].iteration == 5


def test_a_run_of_a_tree_of_an_older_version_is_not_resumed(tmp_path: Path) -> None:
    folder = run_of(tmp_path, "kuhn_poker")
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["game"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    config = hogeq.load_config(folder / "config.yaml", ["solver.iterations=5"])
    with pytest.raises(ValueError, match=r"was made by hogeq 0\.2, which counted payoffs as win"):
        hogeq.run_experiment(config, resume=folder, quiet=True)


def test_a_run_does_not_stand_for_another_game(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run_of(tmp_path, file)
    Path(file).write_text(FORGETFUL.replace("{ 1, -1 }", "{ 2, -2 }"))
    changed = re.escape(f"{folder}: {file} has changed since this run")
    run, other = hogeq.load_run(folder), shutil.copy(file, tmp_path / "other.efg")
    for refused in (
        lambda: hogeq.Game(folder),
        lambda: run.game,
        lambda: hogeq.Game(file).strategy(folder),
    ):
        with pytest.raises(ValueError, match=f"^{changed}$"):
            refused()
    capsys.readouterr()
    assert main(["report", str(folder), "--out", str(tmp_path / "page.html")]) == 2
    assert capsys.readouterr().err == f"hogeq: {folder}: {file} has changed since this run\n"
    # What needs no game is there, and the strategy for games that are called something else.
    assert run.curve[-1].iteration == run.metrics[-1].iteration
    assert (hogeq.Game(other).strategy(folder).array == run.policy.array).all()
    Path(file).write_text(FORGETFUL)
    assert hogeq.load_run(folder).game.rows.digest() != run.game_now.rows.digest()
    assert (hogeq.Game(file).strategy(folder).array == run.policy.array).all()


def test_a_run_fits_another_file_of_its_games_name(tmp_path: Path) -> None:
    """Names of games are the last parts of paths: the run's own file has not changed."""
    for name, paid in (("a", "{ 1, -1 }"), ("b", "{ 2, -2 }")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "g.efg").write_text(FORGETFUL.replace("{ 1, -1 }", paid))
    own, other = (str(tmp_path / name / "g.efg") for name in "ab")
    folder = run_of(tmp_path, own)
    policy = hogeq.load_run(folder).policy.array
    assert (hogeq.Game(other).strategy(folder).array == policy).all()
    shutil.copy(other, own)
    with pytest.raises(ValueError, match=r"a/g\.efg has changed since this run$"):
        hogeq.Game(other).strategy(folder)
    Path(own).unlink()
    with pytest.raises(ValueError, match=r"a/g\.efg: cannot be read: No such file"):
        hogeq.Game(tmp_path / "b" / "g.efg").strategy(folder)
