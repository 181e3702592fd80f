"""Best responses: against all matrices there are, and against what a search must never do."""

from contextlib import nullcontext
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

import hogeq
from hogeq.baselines.registry import builtin
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import EDITIONS, rules_from
from hogeq.search.attack import attack, search_steps
from hogeq.search.bounds import full_memory_bound, respond_in_hog
from hogeq.search.results import Budget
from hogeq.solvers.cfr_br import CFRBR
from hogeq.support.aliases import Floats
from hogeq.support.messages import digits, percent
from hogeq.support.progress import Phase
from hogeq.support.workers import workers
from tests.search.games import TINY, small_su20
from tests.slow import mostly_slow
from tests.twin import Match, Play, every_matrix_wins


class Tiny(NamedTuple):
    game: HogEngine
    policy: Floats
    best: float
    """Win rate of the best matrix of all."""
    remembering: float
    """Win rate of the best player with full memory."""


@cache
def tiny(name: str, seed: int) -> Tiny:
    game = compile_game(rules_from(TINY[name]))
    policy = np.random.default_rng(seed).dirichlet(np.ones(game.num_actions), game.shape[:2])
    play = Play(game.rules)
    rates = every_matrix_wins(play, policy)[2]
    assert 256 <= len(rates) <= 16384
    return Tiny(game, policy, float(rates.max()), Match(play, None, policy).win_rate()[0])


# --- against all matrices there are ---------------------------------------------------------------


@pytest.mark.parametrize("seed", mostly_slow([0, 1], 0))
@pytest.mark.parametrize("name", TINY)
def test_the_attack_finds_the_best_matrix_and_the_bound_is_above_it(name: str, seed: int) -> None:
    case = tiny(name, seed)
    budget = Budget(starts=8, kicks=0)
    assert attack(case.game, case.policy, budget).win_rate == pytest.approx(case.best, abs=1e-12)
    alone = attack(case.game, case.policy, Budget(starts=8, anneal_steps=0, kicks=0)).found
    assert max(alone) <= case.best + 1e-12
    bound = full_memory_bound(case.game, case.policy)
    assert case.best <= bound + 1e-12
    assert bound == pytest.approx(case.remembering, abs=1e-12)


def test_tiny_games_are_games_of_imperfect_recall() -> None:
    """Otherwise the bound would be the answer and the search would be idle."""
    for name in TINY:
        gaps = [tiny(name, seed).remembering - tiny(name, seed).best for seed in (0, 1)]
        assert max(gaps) > 1e-3


# --- what every search must do --------------------------------------------------------------------


def test_the_attack_is_a_matrix_that_wins_what_it_says() -> None:
    game, policy = small_su20()
    kept = policy.copy()
    found = attack(game, policy, Budget(starts=2, anneal_steps=20, kicks=0))
    assert found.matrix.shape == (16, 16)
    assert found.matrix.dtype == np.int8
    assert found.win_rate == pytest.approx(win_rate(game, found.matrix, policy).win_rate, abs=1e-12)
    assert found.win_rate == max(found.found)
    assert (found.budget.starts, len(found.found)) == (2, 2)
    assert found.sweeps >= 2 * (20 + 1)
    np.testing.assert_array_equal(policy, kept)


def test_more_starts_never_find_less_and_keep_what_was_found() -> None:
    game, policy = small_su20()
    finds = [
        attack(game, policy, Budget(starts, anneal_steps=5, seed=4, kicks=0))
        for starts in (1, 2, 4, 8)
    ]
    for fewer, more in pairwise(finds):
        assert more.found[: fewer.budget.starts] == fewer.found
        assert more.win_rate >= fewer.win_rate
    assert len(set(finds[-1].found)) > 1


@pytest.mark.parametrize("seconds", [None, 0.0])
def test_no_attack_wins_less_than_half(seconds: float | None) -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 4}))
    solver = CFRBR(responders=4, averaging="last")
    state = solver.init(game)
    for _ in range(40):
        state = solver.step(game, state)
    policy = solver.average(game, state)
    poor = attack(game, policy, Budget(starts=1, anneal_steps=0, kicks=0, seconds=seconds))
    assert max(poor.found) < 0.49
    assert poor.win_rate >= 0.5
    assert poor.win_rate == pytest.approx(win_rate(game, poor.matrix, policy).win_rate, abs=1e-12)


@pytest.mark.slow
def test_perturbations_never_lose() -> None:
    game, policy = small_su20()
    plain = attack(game, policy, Budget(starts=8, anneal_steps=0, seed=2, kicks=0))
    # At first few perturbations, or a loss could be made good before it is seen.
    for perturbations in (1, 2, 20):
        kicked = attack(game, policy, Budget(starts=8, anneal_steps=0, seed=2, kicks=perturbations))
        assert all(b >= a for a, b in zip(plain.found, kicked.found, strict=True))
        assert kicked.sweeps > plain.sweeps
        rate = win_rate(game, kicked.matrix, policy).win_rate
        assert kicked.win_rate == pytest.approx(rate, abs=1e-12)
    assert sum(kicked.found) > sum(plain.found) + 3e-4


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Phase]:
    """List the phases of attacks."""
    phases: list[Phase] = []

    def phase(name: str, total: int | None) -> nullcontext[Phase]:
        phases.append(Phase(name, total))
        return nullcontext(phases[-1])

    monkeypatch.setattr("hogeq.search.attack.phase", phase)
    return phases


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_attack_tells_its_steps_and_the_best(told: list[Phase], jobs: int) -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 2}))
    policy = np.full((12, 12, 3), 1 / 3)
    budget = Budget(3, 5, kicks=2)
    with workers(jobs):
        found = attack(game, policy, budget)
    # Of each start 5 steps of annealing, and an ascent and two kicks that count as 6 each.
    assert told[0].done == told[0].total == 3 * search_steps(budget) == 3 * (5 + 3 * 6)
    assert told[0].text.endswith(f"kick 6/6, best {percent(found.win_rate)}")


def test_exploitability_is_the_value_of_a_best_response_less_that_of_the_game() -> None:
    game, policy = small_su20()
    budget = Budget(starts=2, kicks=0)
    door = hogeq.Game(game.rules)
    interval, response = door.exploitability(policy, budget), respond_in_hog(game, policy, budget)
    lower, upper = response.ends  # rounding included
    assert lower < response.value < response.bound < upper
    assert (interval.lower, interval.upper) == (lower - 0.5, upper - 0.5)
    found = attack(game, policy, budget)
    assert response.search is not None
    assert (response.value, response.search.saturation) == (found.win_rate, found.saturation)
    assert 0.5 < response.value < response.bound - 1e-3
    assert not response.is_proved
    rate = door.win_rate(response.strategy, policy)
    assert response.seats == (rate.first, rate.second)
    assert response.value == pytest.approx(rate.win_rate, abs=1e-12)


@pytest.mark.parametrize("budget", [0, {}])
def test_an_attack_with_a_budget_that_is_none(budget: Any) -> None:
    with pytest.raises(TypeError, match=f"^budget: got {budget}; allowed: a Budget$"):
        attack(compile_game(rules_from(TINY["points"])), np.ones((4, 4)), budget)


# --- published figures ----------------------------------------------------------------------------


@pytest.mark.slow
def test_attack_on_the_strategy_that_ignores_memory() -> None:
    """Reference figures [8]: at least 0.6366 against this matrix, and 0.6790 with full memory."""
    game = compile_game(EDITIONS["su20"])
    matrix = builtin("ignore_memory", game)
    found = attack(game, matrix, Budget(starts=1, kicks=0))
    assert found.win_rate >= 0.6366
    assert win_rate(game, found.matrix, matrix).win_rate == pytest.approx(found.win_rate, abs=1e-12)
    bound = full_memory_bound(game, matrix)
    assert bound == pytest.approx(0.6790, abs=5e-5)
    assert found.win_rate <= bound


def test_what_is_proved_is_so_in_every_digit_that_is_written() -> None:
    """Passes round, so that 14 digits are not proved even where both ends are one number."""
    game = hogeq.Game({"edition": "su20", "goal": 8, "max_dice": 2})
    for places, is_proved in ((4, True), (8, True), (14, False)):
        before = digits.set(places)
        try:
            found = game.attack("always_roll:2", hogeq.Budget(starts=1, kicks=0))
        finally:
            digits.reset(before)
        assert found.bound - found.value < 1e-12
        assert found.is_proved == is_proved
