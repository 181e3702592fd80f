"""What scripts hold: a game that answers, strategies that were checked, and runs read again."""

import base64
import io
import re
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image

import hogeq
from hogeq.evaluation.values import belief, values
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.conversion import strategy_of, strategy_of_shape
from hogeq.support.messages import percent
from tests import mutants
from tests.refusals import refuses

RULES = {"edition": "su20", "goal": 8, "max_dice": 3}
CONFIG = """
name: short
rules: {edition: su20, goal: 8, max_dice: 3}
solver: {name: mixture_bundle, iterations: 2, parts: 2}
measure: {every: 2, attack: {starts: 1, anneal_steps: 5, kicks: 0}}
"""


@pytest.fixture(scope="module")
def game() -> hogeq.Hog:
    return hogeq.Hog(RULES)


def test_a_game_comes_from_a_name_a_mapping_a_file_or_rules(tmp_path: Path) -> None:
    file = tmp_path / "parts.yaml"
    file.write_text("{edition: su20, goal: 8, max_dice: 3}", "utf-8")
    games = [hogeq.Game(given) for given in (RULES, file, str(file), hogeq.rules_from(RULES))]
    assert len({id(one.engine) for one in games}) == 1  # compiled once
    assert hogeq.Game("fa22").rules == hogeq.rules_from("fa22")
    assert repr(games[0]) == f"Game({games[0].rules.name})"
    refuses(lambda: hogeq.Game("su2"), "su2")


def test_a_strategy_comes_from_a_name_a_file_or_an_array(game: hogeq.Hog, tmp_path: Path) -> None:
    two = game.strategy("always_roll:2")
    assert (two.kind, two.is_pure, two.weights.tolist()) == ("matrix", True, [1.0])
    assert repr(two) == "Strategy(always_roll:2; matrix; 8 x 8 x 4)"
    assert repr(game.strategy(two.array)) == "Strategy(matrix; 8 x 8 x 4)"
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
    again = game.strategy(tmp_path / "two.py", trust=True)
    np.testing.assert_array_equal(again.array, two.array)
    assert again.name == "Two"
    assert game.strategy(tmp_path / "0.npz").name == str(tmp_path / "0.npz")


def asked(score: int, opponent: int) -> int:
    return (score + 2 * opponent) % 4


def test_a_function_of_two_scores_is_a_strategy(game: hogeq.Hog) -> None:
    own, other = np.indices((8, 8))
    table = (own + 2 * other) % 4
    made = game.strategy(asked)
    np.testing.assert_array_equal(made.array, table)
    assert (made.name, made.kind) == ("asked", "matrix")
    own_ints: Any = lambda score, opponent: np.int64(score > opponent)  # noqa: E731
    assert game.strategy(own_ints).name == ""
    # Wherever a strategy is taken.
    assert game.win_rate(asked, lambda *_: 2) == game.win_rate(table, "always_roll:2")
    np.testing.assert_array_equal(values(game.engine, asked), values(game.engine, table))
    drawn = game.strategy(hogeq.Mixture([0.5, 0.5], [asked, lambda *_: 2]))
    np.testing.assert_array_equal(drawn.array, [table, np.full((8, 8), 2)])
    assert game.round_robin([asked, "always_roll:2"]).names == ("asked", "always_roll:2")
    minus = hogeq.Game({"edition": "fa13", "goal": 8, "max_dice": 2})
    turned = minus.strategy(lambda score, _: -1 if score > 4 else 2)
    np.testing.assert_array_equal(turned.array, np.where(own > 4, 3, 2))


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda *at: 4 if at == (2, 1) else 0, "(2, 1) is 4; allowed: whole numbers from 0 to 3"),
        (lambda *_: -1, "(0, 0) is -1; allowed: whole numbers from 0 to 3"),
        (lambda *_: True, "(0, 0) is True; allowed: whole numbers"),
        (lambda *at: 1 if at[0] < 1 else None, "(1, 0) is None; allowed: whole numbers"),
        (lambda *_: "3", "(0, 0) is '3'; allowed: whole numbers"),
        (lambda *_: 0.5, "(0, 0) is 0.5; allowed: whole numbers"),
        (lambda *_: float("nan"), "(0, 0) is nan; allowed: whole numbers"),
        (lambda *_: np.array([1, 2]), "(0, 0) is "),
        (lambda *_: [2], "(0, 0) is [2]; allowed: whole numbers"),
        (lambda _: 3, "(0, 0) raised TypeError: "),
        (lambda *at: 1 // (3 - at[0]), "(3, 0) raised ZeroDivisionError: "),
    ],
)
def test_a_bad_answer_of_a_function_is_named_by_its_position(
    game: hogeq.Hog, function: Any, says: str
) -> None:
    for given, name in (
        (function, "strategy"),
        (hogeq.Mixture([1.0], [function]), "mixture, part 1"),
    ):
        with pytest.raises(StrategyError) as error:
            game.strategy(given)
        assert str(error.value).startswith(f"{name}: <lambda>(")
        assert says in str(error.value)
        assert "\n" not in str(error.value)


def test_a_function_must_depend_on_the_scores_alone(game: hogeq.Hog) -> None:
    calls = count()  # 64 positions, then the last again
    with pytest.raises(
        StrategyError, match=r"\(7, 7\) is 0, and 1 when asked again: it must depend"
    ):
        game.strategy(lambda *_: next(calls) // 64)


def test_other_games_take_no_function_of_two_scores() -> None:
    with pytest.raises(
        StrategyError, match="is a function of two scores; allowed: in games of Hog"
    ):
        strategy_of_shape((5, 2), asked)
    refuses(lambda: strategy_of_shape(None, asked), "is a function of two scores", StrategyError)


def test_results_show_themselves_in_a_notebook(game: hogeq.Hog, tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    one = game.strategy(asked).named(evil)
    policy = game.strategy(np.full((8, 8, 4), 0.25))
    played = hogeq.Transcript.of([[3], [], [2]], game.rules, ("Ann", evil))
    (tmp_path / "game.json").write_text(played.to_json())
    review = game.review(tmp_path / "game.json")
    assert review == game.review(played)
    found = game.attack(one, hogeq.Budget(starts=1, kicks=0))
    rates = game.round_robin([one, "always_roll:2", policy])
    assert rates.names == (evil, "always_roll:2", "strategy 3")
    shown: dict[str, tuple[Any, list[str]]] = {
        "matrix": (one, ["data:image/png;base64,", "matrix; 8 x 8 x 4"]),
        "policy": (policy, ["data:image/png;base64,", "policy; 8 x 8 x 4"]),
        "attack": (found, [percent(found.win_rate), percent(found.bound or 0.0)]),
        "analysis": (game.analyze(0, 0), [percent(game.analyze(0, 0).rolls[0].win_probability)]),
        "of a strategy": (game.analyze(0, 0, one), ["<th>played</th>", "100.00 %"]),
        "review": (review, ["Lost by choices: Ann ", review.turns[0].grade]),
        "tournament": (rates, ["<td>always_roll:2</td>", percent(rates[0, 1]), "strategy 3"]),
    }
    for name, (thing, texts) in shown.items():
        text = thing._repr_html_()
        assert text is not None
        assert [one for one in texts if one not in text] == [], name
        assert "<script" not in text
        assert len(text) < 5000
        ET.fromstring(text)  # noqa: S314 - our own; every element is closed
    assert len(hogeq.Game("fa25").strategy("optimal")._repr_html_() or "") < 10_000
    part: Any = rates[:1]
    assert part._repr_html_() is None  # without names
    assert strategy_of_shape((5, 2), np.full((5, 2), 0.5))._repr_html_() is None


def test_the_picture_of_a_strategy_has_its_colours(game: hogeq.Hog) -> None:
    minus = hogeq.Game({"edition": "fa13", "goal": 8, "max_dice": 2})
    made = minus.strategy(lambda score, opponent: -1 if score > 4 else min(opponent, 2))
    text = made._repr_html_() or ""
    data = base64.b64decode(re.findall(r'base64,([^"]*)"', text)[0])
    keys = re.findall(r"color:(#\w{6})\">\N{BLACK SQUARE}</span> (-?\d+)", text)
    assert [int(choice) for _, choice in keys] == [0, 1, 2, -1]
    colours = {int(choice): tuple(bytes.fromhex(colour[1:])) for colour, choice in keys}
    assert len(set(colours.values())) == 4
    with Image.open(io.BytesIO(data)) as image:
        pixels = np.asarray(image.convert("RGB"))
    wanted = [[colours[-1 if own > 4 else min(other, 2)] for other in range(8)] for own in range(8)]
    np.testing.assert_allclose(pixels[::-1], wanted, atol=1)  # own score upward


def test_a_game_file_of_other_rules_is_refused(game: hogeq.Hog, tmp_path: Path) -> None:
    other = hogeq.rules_from({"edition": "fa22", "goal": 9, "max_dice": 2})
    played = hogeq.Transcript.of([[1]], other, ("Ann", "Bob"))
    (tmp_path / "game.json").write_text(played.to_json())
    refuses(lambda: game.review(str(tmp_path / "game.json")), "allowed: those asked for")


def test_a_strategy_is_checked_once_and_does_not_change(
    game: hogeq.Hog, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = np.full((8, 8), 3)
    three = game.strategy(given)
    given[0, 0] = 1
    assert three.array[0, 0] == 3
    with pytest.raises(ValueError, match="read-only"):
        three.array[0, 0] = 1
    with monkeypatch.context() as patched:
        patched.setattr("hogeq.strategies.conversion.check_table", None)
        assert game.strategy(three) is three
        game.bound(three)
    with pytest.raises(StrategyError, match=r"of shape \(8, 8, 4\); allowed: \(100, 100, 11\)"):
        hogeq.Game("fa22").strategy(three)
    with pytest.raises(StrategyError, match=r"cell \(row 2, column 1\) is 4"):
        game.strategy(
            [[4 if (row, column) == (2, 1) else 0 for column in range(8)] for row in range(8)]
        )


def test_a_game_answers_as_its_parts_do_and_names_will_do(game: hogeq.Hog) -> None:
    one, two = game.strategy("always_roll:1"), game.strategy("always_roll:2")
    rate = game.win_rate("always_roll:1", two)
    assert rate == game.win_rate(one, two)
    assert game.round_robin([one, "always_roll:2"])[0, 1] == pytest.approx(rate.win_rate)
    budget = hogeq.Budget(starts=1, kicks=0)
    found = game.attack("always_roll:1", budget)
    np.testing.assert_array_equal(found.matrix, attack(game.engine, one, budget).matrix)
    assert found.bound == pytest.approx(max(found.win_rate, full_memory_bound(game.engine, one)))
    assert game.bound(one) == pytest.approx(full_memory_bound(game.engine, one))
    less = game.exploitability(one, budget)
    assert (less.lower, less.upper) == (found.ends[0] - 0.5, found.ends[1] - 0.5)
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
    gains = game.gains(found.matrix, one)
    assert isinstance(gains, hogeq.Gains)
    assert gains.gains.max() > 0.0
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
