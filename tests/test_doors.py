"""What scripts hold: a game that answers, strategies that were checked, and runs read again."""

from pathlib import Path

import numpy as np
import pytest

import hogeq
from hogeq.evaluation.values import belief
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.strategy import strategy_of
from tests import mutants

RULES = {"edition": "su20", "goal": 8, "max_dice": 3}
CONFIG = """
name: short
rules: {edition: su20, goal: 8, max_dice: 3}
solver: {name: mixture_bundle, iterations: 2, parts: 2}
measure: {every: 2, attack: {starts: 1, anneal_steps: 5}}
"""


@pytest.fixture(scope="module")
def game() -> hogeq.Game:
    return hogeq.Game(RULES)


def test_a_game_comes_from_a_name_a_mapping_a_file_or_rules(tmp_path: Path) -> None:
    file = tmp_path / "parts.yaml"
    file.write_text("{edition: su20, goal: 8, max_dice: 3}", "utf-8")
    games = [hogeq.Game(given) for given in (RULES, file, str(file), hogeq.rules_from(RULES))]
    assert len({id(one.engine) for one in games}) == 1  # compiled once
    assert hogeq.Game("fa22").rules == hogeq.rules_from("fa22")
    assert repr(games[0]) == f"Game({games[0].rules.name})"
    with pytest.raises(ValueError, match="su2"):
        hogeq.Game("su2")


def test_a_strategy_comes_from_a_name_a_file_or_an_array(game: hogeq.Game, tmp_path: Path) -> None:
    two = game.strategy("always_roll:2")
    assert (two.kind, two.is_pure, two.weights.tolist()) == ("matrix", True, [1.0])
    assert repr(two) == "Strategy(matrix; 8 x 8 x 4)"
    np.testing.assert_array_equal(two.policy.argmax(axis=-1), two.array)
    policy = game.strategy(np.full((8, 8, 4), 0.25))
    assert policy.kind == "policy"
    drawn = game.strategy(hogeq.Mixture([0.25, 0.75, 0.0], [two, policy, policy]))
    assert repr(drawn) == "Strategy(mixture; 8 x 8 x 4; 3 components)"
    assert drawn.chances.tolist() == [0.25, 0.75]
    np.testing.assert_allclose(drawn.mean, 0.25 * two.policy + 0.75 * policy.policy, atol=1e-15)
    with pytest.raises(StrategyError, match="is a mixture of 3 strategies"):
        _ = drawn.policy
    for number, one in enumerate((two, policy, drawn)):
        one.write(tmp_path / f"{number}.npz")
        again = game.strategy(tmp_path / f"{number}.npz")
        assert again.kind == one.kind
        np.testing.assert_array_equal(again.array, one.array)
        np.testing.assert_array_equal(again.weights, one.weights)
    two.write(tmp_path / "two.py", "Two")
    assert "PLAYER_NAME = 'Two'" in (tmp_path / "two.py").read_text("utf-8")
    np.testing.assert_array_equal(game.strategy(tmp_path / "two.py", trust=True).array, two.array)


def test_a_strategy_is_checked_once_and_does_not_change(
    game: hogeq.Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = np.full((8, 8), 3)
    three = game.strategy(given)
    given[0, 0] = 1
    assert three.array[0, 0] == 3
    with pytest.raises(ValueError, match="read-only"):
        three.array[0, 0] = 1
    with monkeypatch.context() as patched:
        patched.setattr("hogeq.strategies.strategy.check_table", None)
        assert game.strategy(three) is three
        game.exploitability(three, hogeq.SearchBudget(starts=1, anneal_steps=2))
    with pytest.raises(StrategyError, match=r"of shape \(8, 8, 4\); allowed: \(100, 100, 11\)"):
        hogeq.Game("fa22").strategy(three)
    with pytest.raises(StrategyError, match=r"cell \(row 2, column 1\) is 4"):
        game.strategy(
            [[4 if (row, column) == (2, 1) else 0 for column in range(8)] for row in range(8)]
        )


def test_a_game_answers_as_its_parts_do_and_names_will_do(game: hogeq.Game) -> None:
    one, two = game.strategy("always_roll:1"), game.strategy("always_roll:2")
    rate = game.win_rate("always_roll:1", two)
    assert rate == game.win_rate(one, two)
    assert game.round_robin([one, "always_roll:2"])[0, 1] == pytest.approx(rate.win_rate)
    budget = hogeq.SearchBudget(starts=1)
    found = game.attack("always_roll:1", budget)
    np.testing.assert_array_equal(found.matrix, attack(game.engine, one, budget).matrix)
    assert found.bound == pytest.approx(max(found.win_rate, full_memory_bound(game.engine, one)))
    assert game.bound(one) == pytest.approx(full_memory_bound(game.engine, one))
    interval = game.best_response_interval(one, budget)
    less = game.exploitability(one, budget)
    assert (less.lower, less.upper) == (interval.lower - 0.5, interval.upper - 0.5)
    weights = game.belief(5, 5, one, two)
    expected = belief(game.engine, one, two, 5, 5)
    assert weights is not None
    assert expected is not None
    np.testing.assert_array_equal(weights, expected)
    assert len(weights) == len(game.memories)
    assert game.values(one).shape == (8, 8, len(game.memories))
    assert game.reach(one, two)[0, 0].sum() == pytest.approx(0.5)
    assert game.mean_values(one)[0, 0] == pytest.approx(game.win_rate(one, one).first)
    assert game.action_values(one, weight="belief").shape == (8, 8, 4)
    assert game.gains(found.matrix, one).gains.max() > 0.0
    assert game.analyze(0, 0).rolls[0].win_probability == pytest.approx(game.tablebase().value)
    assert game.purify(np.full((8, 8, 4), 0.25)).kind == "matrix"
    drawn = hogeq.Mixture([0.5, 0.5], [one, two])
    at = game.components_at(5, 5, drawn, one)
    assert at is not None
    assert at.own.sum() == pytest.approx(1.0)
    assert game.bound(drawn, 2) <= game.bound(drawn, 1) + 1e-12


def test_a_run_is_read_again_and_brings_its_rules(tmp_path: Path) -> None:
    (tmp_path / "short.yaml").write_text(CONFIG, "utf-8")
    config = hogeq.load_config(tmp_path / "short.yaml")
    summary = hogeq.run_experiment(config, tmp_path, quiet=True)
    run = hogeq.load_run(summary.directory)
    assert run.config.resolved() == config.resolved()
    assert run.game.rules == hogeq.Game(summary.directory).rules == hogeq.rules_from(RULES)
    assert [line.iteration for line in run.metrics][-1] == 2
    assert (run.policy.kind, run.matrix.kind) == ("policy", "matrix")
    assert run.mixture is not None
    assert run.mixture.kind == "mixture"
    assert run.manifest
    assert repr(run) == "Run(short; su20 with goal=8, max_dice=3, mixture_bundle)"
    np.testing.assert_array_equal(run.game.strategy(summary.directory).array, run.matrix.array)


def test_a_game_is_refused_where_its_name_stands() -> None:
    with pytest.raises(TypeError, match=r"^game: got 'su20'; allowed: a Game"):
        strategy_of("su20", np.zeros((8, 8)))  # type: ignore[arg-type]


def test_mutants_are_made_of_modules_that_are_there() -> None:
    for target in mutants.TARGETS:
        tests = [Path(one) for one in target.arguments if one.startswith("tests")]
        missing = [path for path in (*target.paths, *tests) if not (mutants.ROOT / path).exists()]
        assert not missing, target.name
