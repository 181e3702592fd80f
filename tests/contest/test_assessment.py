from dataclasses import replace

import numpy as np
import pytest

from hogeq.baselines import always_roll, optimal
from hogeq.baselines.registry import builtin
from hogeq.contest import assessment
from hogeq.contest.assessment import assess, opponents, outcomes, usual_reference
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound
from hogeq.search.results import Budget
from hogeq.strategies.strategy import strategy_of


def game(edition: str, **more: object) -> HogEngine:
    return compile_game(rules_from({"edition": edition, "goal": 14, "max_dice": 3, **more}))


@pytest.mark.slow
@pytest.mark.parametrize("edition", ["fa22", "fa15"])  # fa15: positions recur
def test_costs_sum_to_what_is_lost_against_a_best_response(edition: str) -> None:
    of = game(edition)
    matrix = np.random.default_rng(0).integers(1, of.num_actions, (14, 14)).astype(np.int8)
    for name in ("optimal", "always_roll:2"):
        found = assess(of, matrix, builtin(name, of).array)
        assert found.best_response >= 0.5 - 1e-12
        assert (found.bound, found.effort) == (found.best_response, None)
        assert found.costs.sum() == pytest.approx(found.best_response - found.win_rate, abs=1e-12)
        assert found.costs.min() >= 0.0
        losses = [one.cost for one in found.losses]
        assert losses[0] == found.costs.max()
        assert losses == sorted(losses, reverse=True)
        for one in found.losses:
            assert matrix[one.score, one.opponent] == one.roll != one.best


def test_the_best_rolls_lose_nothing() -> None:
    of = game("fa22")
    best = optimal(of)
    found = assess(of, best, best)
    assert found.win_rate == found.best_response == pytest.approx(0.5, abs=1e-12)
    assert (found.losses, found.changes) == ((), ())
    assert found.changed == found.win_rate
    assert np.array_equal(found.best, best)


@pytest.mark.parametrize("edition", ["fa22", "su20", "su21"])
def test_no_change_of_one_cell_gains_more_than_those_listed(edition: str) -> None:
    of = game(edition, goal=8)
    matrix = np.full((8, 8), 1, np.int8)
    against = builtin("always_roll:2", of).array
    found = assess(of, matrix, against)
    before = win_rate(of, matrix, against).win_rate
    every = []
    for own in range(8):
        for other in range(8):
            gains = []
            for roll in range(of.num_actions):
                changed = matrix.copy()
                changed[own, other] = roll
                gains.append(win_rate(of, changed, against).win_rate - before)
            every.append(max(gains))
    assert [one.gain for one in found.changes] == pytest.approx(
        sorted(every, reverse=True)[:3], abs=1e-12
    )
    changed = matrix.copy()
    for one in found.changes:
        changed[one.score, one.opponent] = one.instead
    assert found.changed == win_rate(of, changed, against).win_rate


@pytest.mark.parametrize("edition", ["su20", "su21"])
def test_with_memory_the_best_rolls_are_best_against_the_response(edition: str) -> None:
    of = game(edition, goal=8)
    random = np.random.default_rng(5)
    matrix = random.integers(0, of.num_actions, (8, 8)).astype(np.int8)
    against = random.dirichlet(np.ones(of.num_actions), (8, 8))
    found = assess(of, matrix, against)
    assert found.effort == Budget(starts=1, kicks=0)
    assert found.bound == full_memory_bound(of, against)
    assert found.win_rate < found.best_response <= found.bound + 1e-12
    worse = found.costs > 1e-12
    assert worse.sum() > 10
    assert (found.best != matrix)[worse].all()
    for one in found.losses:
        assert (one.roll, one.best) == (matrix[one.score, one.opponent], found.best[one[:2]])
        assert one.roll != one.best


def test_a_matrix_that_beats_the_search_is_the_best_found(monkeypatch: pytest.MonkeyPatch) -> None:
    of = game("su20", goal=8)
    best, against = always_roll(of, 2), always_roll(of, 1)
    poor = replace(attack(of, best, Budget(1, 0, kicks=0)), matrix=always_roll(of, 0), win_rate=0.0)
    monkeypatch.setattr(assessment, "attack", lambda *_: poor)
    found = assess(of, best, against)
    assert found.best_response == found.win_rate
    assert found.costs.min() >= 0.0


@pytest.mark.slow
def test_what_never_ends_counts_half() -> None:
    nothing = [0] * 6  # no dice score nothing, and are rolled for ever
    of = compile_game(rules_from({"goal": 6, "max_dice": 2, "zero_dice": nothing}))
    none = always_roll(of, 0)
    itself = strategy_of(of, none).named("itself")
    assert set(outcomes(of, itself, [itself])[0].values()) == {"itself", None}
    found = assess(of, none, none)
    assert found.win_rate == pytest.approx(0.5, abs=1e-14)
    assert found.best_response > 0.9
    # Turns that wait cost nothing, since another could win; all of them together cost a half.
    assert found.losses == ()
    assert found.costs.max() == pytest.approx(0.0, abs=1e-14)
    assert found.endless == pytest.approx(found.best_response - 0.5, abs=1e-12)
    ends = assess(of, always_roll(of, 2), none)
    assert ends.win_rate > 0.9
    assert ends.endless == 0.0


def test_opponents_and_references_are_those_that_the_rules_allow() -> None:
    names = [one.name for one in opponents(game("fa22"))]
    assert names[:5] == [*(f"always_roll:{dice}" for dice in range(4)), "optimal"]
    assert "champion" not in names
    assert "ignore_memory" not in names  # it is the same table as optimal
    assert usual_reference(game("fa22")) == "optimal"
    assert usual_reference(game("su20")) == "ignore_memory"  # no champion is shipped for goal 14
    assert usual_reference(compile_game(rules_from("su20"))) == "champion"
