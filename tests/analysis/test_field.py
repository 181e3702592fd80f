"""One strategy against a field: against all matrices there are."""

import math
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from hogeq.analysis import field
from hogeq.analysis.field import Objective, Score, answer_field
from hogeq.analysis.tournament import rank
from hogeq.baselines.simple import always_roll, bacon
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.search.attack import attack
from hogeq.search.results import Budget
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import Mixture
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from tests.search.games import TINY
from tests.slow import mostly_slow
from tests.twin import Play, every_matrix_wins

WIN = 0.500001  # the contest's convention [7]

# Goal 4 with two dice: 177,147 matrices that differ. Time Trot would make it 5 million.
GOAL_4: dict[str, Any] = {"goal": 4, "max_dice": 2, "sides": 2, "zero_dice": "one_plus_max_digit"}
GAMES: dict[str, dict[str, Any]] = TINY | {
    "goal 4, two dice, points": GOAL_4 | {"feral_hogs": "points"},
    "goal 4, two dice, dice": GOAL_4 | {"feral_hogs": "dice"},
}


SEEDS = (0, 1)


class Tiny(NamedTuple):
    game: HogEngine
    rivals: list[Floats]
    rates: Floats
    """(n, m), win rate of every matrix against every rival."""


@cache
def tiny(name: str, seed: int) -> Tiny:
    """Give a weak rival, and a chain of counters each to the one before: hard to beat them all.

    A hundredth of every other roll keeps all positions in reach.
    """
    game = compile_game(rules_from(GAMES[name]))
    random = np.random.default_rng(seed)

    def shaken(matrix: Any) -> Floats:
        return 0.99 * one_hot(matrix, game.num_actions) + 0.01 / game.num_actions

    rivals = [shaken(random.integers(game.num_actions, size=game.shape[:2]))]
    rival = random.dirichlet(np.full(game.num_actions, 0.4), game.shape[:2])
    for _ in range(4):
        rivals.append(shaken(attack(game, rival, Budget(starts=2, kicks=0)).matrix))
        rival = rivals[-1] if seed % 2 == 0 else (rivals[-1] + rivals[-2]) / 2.0
    play = Play(game.rules)
    return Tiny(game, rivals, np.stack([every_matrix_wins(play, rival)[2] for rival in rivals]))


def small() -> tuple[HogEngine, list[Any]]:
    game = compile_game(rules_from({"edition": "su20", "goal": 20, "max_dice": 4}))
    rivals = [always_roll(game, 2), bacon(game, 5, 3), always_roll(game, 4)]
    return game, [*rivals, np.full(game.shape, 0.2)]


QUICK = Budget(starts=2, anneal_steps=20, kicks=0)


# --- against all matrices there are ---------------------------------------------------------------


@pytest.mark.parametrize("seed", mostly_slow(SEEDS, 0))
@pytest.mark.parametrize("name", mostly_slow(GAMES, *TINY))
def test_no_matrix_has_a_higher_mean_and_none_beats_more_rivals(name: str, seed: int) -> None:
    case = tiny(name, seed)
    found = answer_field(case.game, case.rivals, "mean", Budget(starts=4, kicks=0))
    assert found.mean == pytest.approx(case.rates.mean(axis=0).max(), abs=1e-12)
    # In games of ten cells one cell is much: perturbations do what small steps cannot.
    budget = Budget(1, kicks=0) if name in TINY else Budget(starts=4, kicks=20)
    found = answer_field(case.game, case.rivals, "beaten", budget)
    assert found.beaten == (case.rates > WIN).sum(axis=0).max()


# --- what must always hold ------------------------------------------------------------------------


@pytest.mark.parametrize("objective", mostly_slow(["mean", "beaten"], "mean"))
def test_win_rates_are_exact(objective: Objective) -> None:
    game, rivals = small()
    found = answer_field(game, rivals, objective, QUICK)
    for rival, rate in zip(rivals, found.win_rates, strict=True):
        assert rate == pytest.approx(win_rate(game, found.strategy, rival).win_rate, abs=1e-14)
    assert found.mean == pytest.approx(found.win_rates.mean(), abs=1e-15)
    assert found.beaten == (found.win_rates > WIN).sum()


@pytest.mark.slow
def test_a_rival_that_draws_is_one_rival() -> None:
    game, (two, some, four, even) = small()
    drawn = Mixture([0.25, 0.75], [two, four])
    answer = answer_field(game, [drawn, some, even], "mean", QUICK)
    rates = [win_rate(game, answer.strategy, rival).win_rate for rival in (drawn, some, even)]
    np.testing.assert_allclose(answer.win_rates, rates, atol=1e-12)
    assert answer.mean == pytest.approx(np.mean(rates), abs=1e-12)
    alone = answer_field(game, [Mixture([0.5, 0.0, 0.5], [two, some, four])], "mean", QUICK)
    both = answer_field(game, [two, four], "mean", QUICK)
    np.testing.assert_array_equal(alone.strategy, both.strategy)


# --- refusals -------------------------------------------------------------------------------------


def test_what_is_no_request_is_refused() -> None:
    game, rivals = small()
    goal: Any = "fame"
    with pytest.raises(ValueError, match="objective: 'fame'; allowed: mean, beaten"):
        answer_field(game, rivals, goal)
    with pytest.raises(ValueError, match="field: 0 strategies"):
        answer_field(game, [])


# --- scores and their slopes ----------------------------------------------------------------------

RATES = np.array([0.47, 0.495, WIN, 0.502, 0.53])


def test_scores_are_what_they_say() -> None:
    width = 0.03
    assert field.mean_wins(RATES)[0] == pytest.approx(sum(RATES) / 5, abs=1e-15)
    wins = [1.0 / (1.0 + math.exp((WIN - rate) / width)) for rate in RATES]
    assert field.smooth_wins(width, RATES)[0] == pytest.approx(sum(wins) / 5, abs=1e-14)
    assert field.smooth_wins(1e-9, RATES)[0] == pytest.approx(0.5)  # a sharp step: at the edge half
    target = np.array([True, False, True, False, True])
    short = sum(math.log1p(math.exp((WIN - rate) / width)) for rate in RATES[target].tolist())
    assert field.shortfall(target, width, RATES)[0] == pytest.approx(-width * short, abs=1e-14)


@pytest.mark.parametrize(
    "score",
    [
        field.mean_wins,
        partial(field.smooth_wins, 0.01),
        partial(field.shortfall, np.array([True, True, False, False, True]), 0.01),
    ],
)
def test_weights_are_the_slope_of_the_score(score: Score) -> None:
    step = 1e-6
    slopes = [
        (score(RATES + shift)[0] - score(RATES - shift)[0]) / (2.0 * step)
        for shift in step * np.eye(5)
    ]
    assert score(RATES)[1] == pytest.approx(slopes, rel=1e-6, abs=1e-9)


def test_a_match_is_won_by_the_rule_of_the_ranking() -> None:
    """A win rate that rounding leaves above the threshold wins no match, in either place."""
    by_rounding = np.nextafter(WIN, 1.0)
    answer = field.Answer(np.zeros((1, 1), np.int8), np.array([by_rounding, WIN + 1e-9, WIN]))
    assert answer.beaten == 1
    assert [won for _, _, won in answer.rows("abc")] == ["", "beaten", "", "1 of 3 beaten"]
    ranked = rank([[0.5, by_rounding], [1.0 - by_rounding, 0.5]])
    assert [standing.wins for standing in ranked] == [0, 0]


def test_a_first_step_is_not_begun_without_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes at least as long as the win rates before it."""
    game = compile_game(rules_from(GOAL_4))
    rivals = field.Field(game, [always_roll(game, 1)])
    now = [0.0]
    rates_of = rivals.rates_of

    def slow(policy: Any, *given: Any) -> Floats:
        now[0] += 2.0
        return rates_of(policy, *given)

    monkeypatch.setattr(rivals, "rates_of", slow)
    for seconds, begins in ((3.0, False), (5.0, True)):
        matrix = np.zeros((4, 4), np.int8)
        deadline = Deadline(seconds, lambda: now[0])
        assert bool([*field.ascend(rivals, matrix, field.mean_wins, deadline=deadline)]) is begins
