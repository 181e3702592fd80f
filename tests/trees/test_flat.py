"""Any game of OpenSpiel as a flat tree: passes, recall, exact responses, equilibria in mixtures."""

import itertools
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy
from open_spiel.python.algorithms import expected_game_score, exploitability

import hogeq
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.trees import building
from hogeq.trees.best_response import best_response
from hogeq.trees.columns import solve_by_columns
from hogeq.trees.flat import FlatTree, payoff
from hogeq.trees.gambit import from_efg
from hogeq.trees.openspiel import from_openspiel
from hogeq.trees.recall import Recall
from hogeq.trees.responses import respond_in_both_seats
from hogeq.trees.sequences import sequence_form
from tests.refusals import refuses

GAMES = ("kuhn_poker", "leduc_poker", "liars_dice(dice_sides=3)", "liars_dice_ir(dice_sides=3)")

# Player 0 is dealt one of two cards, sees it, passes or folds, and then has forgotten the card.
FORGETFUL = """EFG 2 R "Forgetful" { "One" "Two" }
c "" 1 "" { "high" 1/2 "low" 1/2 } 0
p "" 1 1 "high" { "stay" "leave" } 0
p "" 1 3 "later" { "up" "down" } 0
t "" 1 "" { 4, -4 }
t "" 2 "" { 0, 0 }
t "" 3 "" { 1, -1 }
p "" 1 2 "low" { "stay" "leave" } 0
p "" 1 3 "later" { "up" "down" } 0
t "" 4 "" { 0, 0 }
t "" 5 "" { 6, -6 }
t "" 6 "" { 1, -1 }
"""
DRIVER = """EFG 2 R "Absent-minded driver" { "Driver" "Nobody" }
p "" 1 1 "Crossing" { "exit" "on" } 0
t "" 1 "" { 0, 0 }
p "" 1 1 "Crossing" { "exit" "on" } 0
t "" 2 "" { 4, -4 }
t "" 3 "" { 1, -1 }
"""


def read(tmp_path: Path, text: str) -> FlatTree:
    path = tmp_path / "game.efg"
    path.write_text(text)
    return from_efg(path)


def random_strategy(tree: FlatTree, seed: int) -> Floats:
    weights = np.random.default_rng(seed).random((tree.num_rows, tree.num_actions)) * tree.legal
    return weights / weights.sum(axis=1, keepdims=True)


def pure_strategies(tree: FlatTree, player: int) -> list[Floats]:
    choices = [
        range(count) if seat == player else (0,)
        for seat, count in zip(tree.seat, tree.num_legal, strict=True)
    ]
    return [np.eye(tree.num_actions)[list(one)] for one in itertools.product(*choices)]


@pytest.mark.parametrize("name", GAMES)
def test_the_payoff_of_random_play_is_that_of_openspiel(name: str) -> None:
    tree, game = from_openspiel(name), pyspiel.load_game(name)
    uniform = openspiel_policy.UniformRandomPolicy(game)
    value = expected_game_score.policy_value(game.new_initial_state(), [uniform, uniform])[0]
    assert payoff(tree, tree.uniform(), tree.uniform()) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "liars_dice(dice_sides=4)"])
def test_responses_with_perfect_recall_are_those_of_openspiel(name: str) -> None:
    tree, game = from_openspiel(name), pyspiel.load_game(name)
    answer = respond_in_both_seats(tree, tree.uniform(), 30.0)
    expected = exploitability.exploitability(game, openspiel_policy.UniformRandomPolicy(game))
    assert answer.is_proved
    assert answer.value == pytest.approx(expected, abs=1e-9)
    mean = hogeq.Game(tree).value(answer.strategy, "uniform").mean
    assert mean == pytest.approx(expected, abs=1e-9)


def test_a_response_that_has_forgotten_is_the_best_of_all(tmp_path: Path) -> None:
    tree = read(tmp_path, FORGETFUL)
    best = max(payoff(tree, one, tree.uniform()) for one in pure_strategies(tree, 0))
    # Stay with both and then go down: 0 and 6; who remembered would win 4 and 6.
    assert best == pytest.approx(3.5)
    answer = respond_in_both_seats(tree, tree.uniform(), 10.0)
    assert answer.is_proved
    second = payoff(tree, tree.uniform(), tree.uniform())  # who has nothing to do
    assert answer.value == pytest.approx((best - second) / 2, abs=1e-9)
    assert answer.full_memory == pytest.approx((5.0 - second) / 2, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_program_finds_what_enumeration_finds(seed: int) -> None:
    tree = from_openspiel("liars_dice_ir(dice_sides=2)")
    opponent = random_strategy(tree, seed)
    best = max(payoff(tree, one, opponent) for one in pure_strategies(tree, 0))
    worst = [payoff(tree, opponent, one) for one in pure_strategies(tree, 1)]
    answer = respond_in_both_seats(tree, opponent, 30.0)
    assert answer.is_proved
    assert answer.value == pytest.approx((best - min(worst)) / 2, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kuhn_poker", -1 / 18),  # Kuhn 1950
        ("liars_dice_ir(dice_sides=2)", None),
    ],
)
def test_an_equilibrium_in_mixtures_is_proved_from_both_sides(
    name: str, value: float | None
) -> None:
    tree = from_openspiel(name)
    found = solve_by_columns(tree, 60.0)
    assert found.is_proved
    assert found.lower <= found.upper + 1e-9
    if value is not None:
        assert found.lower == pytest.approx(value, abs=1e-9)
    # What the mixtures promise, they keep against every pure strategy of the other.
    first, second = found.strategies
    for one in pure_strategies(tree, 1)[:200]:
        assert average(tree, first, one, 1) <= -found.lower + 1e-9
    for one in pure_strategies(tree, 0)[:200]:
        assert average(tree, second, one, 0) <= found.upper + 1e-9


def average(tree: FlatTree, mixture: Strategy, response: Floats, player: int) -> float:
    """Payoff of a response to a mixture."""
    pairs = [(response, one) if player == 0 else (one, response) for one in mixture.policies]
    sign = 1.0 - 2.0 * player
    return sign * float(mixture.chances @ [payoff(tree, *pair) for pair in pairs])


def test_recall_of_known_games(tmp_path: Path) -> None:
    for player in (0, 1):
        kuhn = Recall(from_openspiel("kuhn_poker"), player).audit()
        assert all(finding.holds for finding in kuhn.findings.values())
    forgetful = Recall(read(tmp_path, FORGETFUL), 0).audit().findings
    assert not forgetful["perfect recall"].holds
    # Chance's card is forgotten, not an own act; what follows pays otherwise.
    witness = forgetful["A-loss recall"].witness
    assert witness is not None
    assert [len(one) for one in witness[1:3]] == [2, 2]
    assert not forgetful["well-formed"].holds
    assert forgetful["skew well-formed"].holds
    driver = Recall(read(tmp_path, DRIVER), 0).audit().findings["no absent-mindedness"].witness
    assert driver is not None
    assert [[step.action for step in one] for one in driver[1:3]] == [[], ["on"]]


def test_an_absent_minded_player_has_no_pure_best_response(tmp_path: Path) -> None:
    tree = read(tmp_path, DRIVER)
    form = sequence_form(tree, 0)
    assert form.visits.tolist() == [1, 2]
    assert best_response(form, form.payoffs_against(tree.uniform()), 1.0).strategy.max() < 0.7
    assert respond_in_both_seats(tree, tree.uniform(), 1.0).seats[0] == pytest.approx(4 / 3)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("kuhn_poker(players=3)", "has 3 players; allowed: 1 or 2"),
        ("mfg_crowd_modelling", "is a mean field game; allowed: games of one or two players"),
        ("no_such_game", "game: "),
        ("bargaining", "is not zero-sum; allowed: zero-sum and constant-sum games"),
    ],
)
def test_other_games_are_refused_in_one_line(name: str, reason: str) -> None:
    refuses(lambda: from_openspiel(name), reason)


def test_a_tree_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "MOST_NODES", 100)
    refuses(lambda: from_openspiel("leduc_poker"), "has more than 100 nodes")


def test_histories_that_differ_in_their_actions_cannot_be_confused() -> None:
    with pytest.raises(ValueError, match="histories differ in their legal actions"):
        from_openspiel("leduc_poker", forget=lambda _, known: "nothing" + known[:0])


@pytest.mark.parametrize(
    ("forget", "name", "infosets", "recall"),
    [
        # In Kuhn's poker the opponent's answer tells the own bet; without any the player is lost.
        ("own_actions", "kuhn_poker", 12, [True, True, True]),
        ("last:0", "kuhn_poker", 6, [False, False, False]),
        # Calling or raising is forgotten, whatever was answered: all that is lost are own acts.
        ("own_actions", "leduc_poker", 756, [False, True, True]),
        # Bids only rise: their order tells nothing.
        ("order", "liars_dice(dice_sides=3)", 192, [True, True, True]),
        ("last:2", "liars_dice(dice_sides=3)", 96, [False, False, True]),
    ],
)
def test_named_ways_to_forget(forget: str, name: str, infosets: int, recall: list[bool]) -> None:
    tree = from_openspiel(name, forget=forget)
    assert tree.num_rows == infosets == len(set(zip(tree.seat, tree.names, strict=True)))
    findings = list(Recall(tree, 0).audit().findings.values())
    assert [finding.holds for finding in findings[:3]] == recall
    uniform = from_openspiel(name)
    assert payoff(tree, tree.uniform(), tree.uniform()) == pytest.approx(
        payoff(uniform, uniform.uniform(), uniform.uniform()), abs=1e-12
    )


def test_a_file_of_gambit_s_is_forgotten_alike(tmp_path: Path) -> None:
    text = FORGETFUL.replace('p "" 1 3', 'p "" 1 4', 1)  # the second card is remembered
    assert read(tmp_path, text).num_rows == 4
    path = tmp_path / "game.efg"
    assert from_efg(path, forget=lambda _, known: known[:5]).num_rows == 3
    assert from_efg(path, forget="last:1").name == "game.efg, forgetting last:1"
    refuses(lambda: from_efg(path, forget="everything"), "allowed: own_actions, order, or last:K")
