"""Results of public calls are of public types, agree with each other, and are plain values."""

import json
import pickle
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import hogeq

OPEN = {"edition": "fa22", "goal": 12, "max_dice": 3}  # nothing is remembered
HIDDEN = {"edition": "su20", "goal": 12, "max_dice": 3}


def test_gains_of_a_difference_are_those_of_each_change_alone() -> None:
    game = hogeq.Hog(HIDDEN)
    first, second, rival = (game.strategy(f"always_roll:{dice}") for dice in (1, 2, 3))
    found = game.diff(first, second, rival)
    assert isinstance(found, hogeq.Difference)
    assert found.before == game.win_rate(first, rival).win_rate
    assert found.after == pytest.approx(game.win_rate(second, rival).win_rate, abs=1e-12)
    assert found.match == pytest.approx(game.win_rate(second, first).win_rate, abs=1e-12)
    assert len(found.changes) == 12 * 12
    for change in (found.changes[0], found.changes[-1]):
        matrix = first.likeliest.copy()
        matrix[change.score, change.opponent] = 2
        gained = game.win_rate(matrix, rival).win_rate - found.before
        assert change.gain == pytest.approx(gained, abs=1e-9)
    assert json.loads(json.dumps(found.to_json()))["before"] == found.before


def test_a_difference_in_a_tree_is_of_payoffs() -> None:
    game = hogeq.Game("kuhn")
    solved = game.equilibrium().profile
    found = game.diff("uniform", solved)
    assert isinstance(found, hogeq.Difference)
    assert found.match == pytest.approx(game.value(solved, "uniform").mean, abs=1e-9)
    assert found.after == found.match  # against the first itself
    assert all(one.gain >= two.gain for one, two in pairwise(found.changes))


def test_standings_count_every_match_once() -> None:
    rates = hogeq.WinRates.of([[0.5, 0.52, 0.5], [0.48, 0.5, 0.9], [0.5, 0.1, 0.5]])
    standings = rates.ranks()
    assert all(isinstance(one, hogeq.Standing) for one in standings)
    assert [one.entry for one in standings] == [0, 1, 2]
    assert [(one.rank, one.wins, one.ties) for one in standings] == [
        (1, 1, 1),
        (1, 1, 0),
        (3, 0, 1),
    ]
    assert sum(one.wins + one.ties / 2 for one in standings) == 3  # matches
    strict = rates.ranks(0.6)
    assert strict[0] == hogeq.Standing(entry=1, rank=1, wins=1, ties=1)
    assert [one.rank for one in strict] == [1, 2, 2]


def test_a_tablebase_is_worth_what_its_matrix_wins_from_the_first_seat() -> None:
    game = hogeq.Hog(OPEN)
    solved = game.tablebase()
    assert isinstance(solved, hogeq.Tablebase)
    assert solved.value == pytest.approx(game.win_rate(solved.matrix, solved.matrix).first)
    assert solved.value == pytest.approx(solved.values[0, 0, solved.start], abs=1e-12)
    assert game.attack(solved.matrix).value == pytest.approx(0.5, abs=1e-9)
    again = pickle.loads(pickle.dumps(solved))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.rolls, solved.rolls)
    with pytest.raises(hogeq.HogeqError, match="allowed for a matrix are rules without memory"):
        _ = hogeq.Hog(HIDDEN).tablebase().matrix


def test_components_at_a_position_follow_by_bayes() -> None:
    game = hogeq.Hog(HIDDEN)
    one, two = (game.strategy(f"always_roll:{dice}") for dice in (1, 3))
    drawn = hogeq.Mixture([0.25, 0.75], [one, two])
    both = game.components_at(4, 3, drawn, one)
    alone = [game.components_at(4, 3, part, one) for part in (one, two)]
    assert isinstance(both, hogeq.ComponentsAt)
    reach = np.array([0.0 if part is None else part.reach for part in alone])
    joint = np.array([0.25, 0.75]) * reach
    assert both.reach == pytest.approx(joint.sum(), abs=1e-12)
    assert both.own == pytest.approx(joint / joint.sum(), abs=1e-12)
    assert both.other == pytest.approx([1.0])
    memory = sum(
        share * part.memory for share, part in zip(joint, alone, strict=True) if part is not None
    )
    assert both.memory == pytest.approx(memory / joint.sum(), abs=1e-12)


def test_an_equilibrium_shows_whether_it_is_proved() -> None:
    solved = hogeq.Game("kuhn(players=2,ranks=3)").equilibrium()
    assert repr(solved) == "Equilibrium(-0.055556 to -0.055556, proved; lp)"
    assert repr(replace(solved, is_proved=False)).endswith("-0.055556, not proved; lp)")


@pytest.mark.parametrize("name", ["value", "strategy"])
def test_an_equilibrium_says_where_its_value_and_its_strategy_are(name: str) -> None:
    solved = hogeq.Game("kuhn(players=2,ranks=3)").equilibrium()
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'; .*\.lower and .*\.profile"):
        getattr(solved, name)
    assert not hasattr(solved, name)
    with pytest.raises(AttributeError, match=r"no attribute 'vlaue'$"):
        getattr(solved, "vlaue")  # noqa: B009 - a type checker refuses the misspelt name
    copy = pickle.loads(pickle.dumps(solved))  # noqa: S301 - made here
    assert copy.lower == solved.lower


def test_a_solution_is_a_strategy_wherever_one_is_taken(tmp_path: Path) -> None:
    game = hogeq.Game("kuhn")
    solved = game.solve("cfr_plus", 20)
    assert isinstance(solved, hogeq.Solution)
    alone = pickle.loads(pickle.dumps(solved))  # noqa: S301 - our own
    assert game.value(solved, solved) == game.value(solved.strategy)
    assert (
        solved.exploitability.lower == game.exploitability(solved).lower == solved.curve[-1].lower
    )
    solved.strategy.write(tmp_path / "kuhn.npz")
    assert game.value(tmp_path / "kuhn.npz") == game.value(solved)
    with pytest.raises(hogeq.HogeqError, match=r"allowed: game.exploitability\(solution\)"):
        _ = alone.exploitability
    assert game.exploitability(alone).lower == solved.exploitability.lower
    assert json.loads(json.dumps(alone.to_json()))["iterations"] == 20


def test_a_summary_has_the_figures_of_the_run_it_wrote(in_folder: Path) -> None:
    solver = "{name: cfr, iterations: 5}"
    Path("kuhn.yaml").write_text(f"{{name: tiny, game: kuhn, solver: {solver}}}")
    summary = hogeq.run_experiment(hogeq.load_config("kuhn.yaml"), quiet=True)
    assert isinstance(summary, hogeq.RunSummary)
    run = hogeq.load_run(summary.directory)
    assert run.manifest["figures"] == json.loads(json.dumps(summary.figures()))
    average = run.game.exploitability(run.policy)
    assert summary.average.lower == pytest.approx(average.lower, abs=1e-9)
    assert summary.units.exact(average.lower) == run.units.exact(average.lower)


def test_compiled_code_is_counted_in_its_folder() -> None:
    hogeq.warmup([hogeq.Hog(HIDDEN)], ["matches"])
    code = hogeq.compiled_code()
    assert isinstance(code, hogeq.CompiledCode)
    files = [path.stat().st_size for path in (code.folder / code.state).iterdir()]
    assert (len(files), sum(files)) == (code.kernels, code.bytes)
    assert code.is_writable
    assert [*code.to_json()] == ["folder", "problem", "writable", "state", "kernels", "bytes"]
