"""Kicks: every move, the bandit that chooses, and what is said of saturation."""

from itertools import product

import numpy as np
import pytest

from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.protocol import Reach, Role, Valued
from hogeq.model.shared import quick_workspace
from hogeq.rules import rules_from
from hogeq.search.ascent import SearchContext
from hogeq.search.attack import LEAST_ROUNDS, SATURATION_GAIN, Saturation, attack, saturation
from hogeq.search.moves import FAR_MOVES, MOVES, NEAR_MOVES, PRIOR_SHARE, STAY, Bandit, bandits
from hogeq.search.results import Budget
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import Mixture
from hogeq.support.aliases import Floats
from hogeq.support.workers import workers
from tests.search.games import best_response, random_policy, small, small_su20
from tests.twin import Play, every_matrix_wins


class Counted:
    """Passes that count the sweeps."""

    def __init__(self, game: HogEngine) -> None:
        self.work = quick_workspace(game, 2)
        self.sweeps = 0

        self.forward, self.win_rate = self.work.forward, self.work.win_rate
        self.cell_reach = self.work.cell_reach

    def backward(self, reach: Reach, policies: Floats, role: Role, **settings: float) -> Valued:
        self.sweeps += 1
        return self.work.backward(reach, policies, role, **settings)


# --- moves ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MOVES)
def test_a_move_makes_another_matrix_and_leaves_the_opponent(name: str) -> None:
    game, opponent = small_su20()
    random = np.random.default_rng(1)
    mate, begun = random.integers(5, size=(2, *game.shape[:2]))
    move = MOVES[name]
    for strengths, mates in product(filter(None, (move.near, move.far)), ([mate], [])):
        changed = 0
        for seed, strength in enumerate([*strengths, *strengths]):
            policies = np.stack([one_hot(begun, 5), opponent])
            work = Counted(game)
            place = SearchContext(game, None, work, policies, np.random.default_rng(seed), mates)
            assert move.apply(place, strength) == work.sweeps
            np.testing.assert_array_equal(policies[1], opponent)
            assert set(np.unique(policies[0])) == {0.0, 1.0}
            np.testing.assert_array_equal(policies[0].sum(axis=2), 1.0)
            changed += int((policies[0].argmax(axis=2) != begun).sum())
        assert (changed > 0) == (name != STAY)


def test_beliefs_are_those_of_a_responder_who_plays_so() -> None:
    """Believed to the full, a roll or the opponent is what the reach of a sweep is computed from.

    A sweep whose reach is that of another responder, by hand.
    """
    game, opponent = small_su20()
    work = quick_workspace(game, 2)
    begun = one_hot(np.zeros(game.shape[:2], np.int8), 5)
    made = np.broadcast_to(np.eye(5)[2], game.shape)
    for name, played in (("believed_roll", made), ("believed_opponent", opponent)):
        want = np.stack([begun, opponent])
        work.backward(work.forward(np.stack([played, opponent])), want, Role.ASCEND)
        same = []
        for seed in range(24):
            policies = np.stack([begun, opponent])
            place = SearchContext(
                game, None, work, policies, np.random.default_rng(seed), [], roll=2
            )
            assert MOVES[name].apply(place, 1.0) == 1
            same.append(np.array_equal(policies, want))
        # A roll is believed in all cells, or in some.
        assert any(same)
        assert all(same) == (name == "believed_opponent")


# --- the bandit -----------------------------------------------------------------------------------


def test_what_pays_by_the_sweep_is_chosen() -> None:
    bandit = Bandit(["a", "b", "c"])
    np.testing.assert_allclose(bandit.chances(), 1 / 3)
    for _ in range(50):
        bandit.report("a", 0.01, 10)  # as much as b, for twice the sweeps
        bandit.report("b", 0.01, 5)
        bandit.report("c", 0.0, 1)
    even = PRIOR_SHARE / 3
    want = [even + (1 - PRIOR_SHARE) / 3, even + 2 * (1 - PRIOR_SHARE) / 3, even]
    np.testing.assert_allclose(bandit.chances(), want, rtol=0, atol=0.01)
    assert bandit.chances().sum() == pytest.approx(1.0, abs=1e-12)


# --- the search -----------------------------------------------------------------------------------


def test_a_game_of_one_action_has_one_roll() -> None:
    assert bandits(1)["roll"].chances().tolist() == [1.0]


def test_kicks_do_not_depend_on_threads_and_wins_are_exact() -> None:
    game, policy = small_su20()
    budget = Budget(starts=5, anneal_steps=0, kicks=12, seed=5)
    one = attack(game, policy, budget)
    with workers(3):
        two = attack(game, policy, budget)
    assert one.found == two.found
    assert one.moves == two.moves
    assert (one.sweeps, one.saturation) == (two.sweeps, two.saturation)
    np.testing.assert_array_equal(one.matrix, two.matrix)
    assert one.win_rate == pytest.approx(win_rate(game, one.matrix, policy).win_rate, abs=1e-12)
    assert one.win_rate == max(one.found)
    assert one.curve[-1] == (one.sweeps, one.win_rate)
    near = sum(pay.tried for name, pay in one.moves.items() if name.startswith("near"))
    far = sum(pay.tried for name, pay in one.moves.items() if name.startswith("far"))
    assert 0 < near < 5 * 12
    assert 0 < far < near
    assert {name.split(".")[1] for name in one.moves} <= {*NEAR_MOVES, *FAR_MOVES}


def test_against_a_mixture_the_best_matrix_is_found() -> None:
    rules = {"edition": "su20", "goal": 4, "max_dice": 1, "sides": 2}
    game = compile_game(rules_from({**rules, "zero_dice": "twice_tens_minus_ones"}))
    parts = np.random.default_rng(8).dirichlet(np.ones(game.num_actions), (3, *game.shape[:2]))
    weights = [0.5, 0.3, 0.2]
    play = Play(game.rules)
    rates = sum(
        weight * every_matrix_wins(play, part)[2]
        for weight, part in zip(weights, parts, strict=True)
    )
    found = attack(game, Mixture(weights, parts), Budget(starts=4, kicks=10))
    assert found.win_rate == pytest.approx(np.max(rates), abs=1e-12)


# --- saturation -----------------------------------------------------------------------------------


def test_saturation_of_a_curve() -> None:
    early = [(10 * step, 0.5) for step in range(1, LEAST_ROUNDS)]
    rising = [*early, (200, 0.52), (300, 0.521), (400, 0.53), (800, 0.54)]
    assert saturation(rising) == pytest.approx((0.01, 0.01))
    assert not saturation(rising).saturated
    level = [*early, (200, 0.5201), (300, 0.5202), (400, 0.5202), (800, 0.5202)]
    assert saturation(level) == pytest.approx((0.0, 5e-5))
    assert saturation(level).saturated
    assert saturation(level[:LEAST_ROUNDS]).left is None
    assert saturation(level[:LEAST_ROUNDS], apart=0.1).left is None
    # The best of four normal numbers is 0.41 of the mean difference of two above the best of two.
    random = np.random.default_rng(0).standard_normal((100_000, 4))
    luck = random.max(axis=1).mean() - random[:, :2].max(axis=1).mean()
    apart = abs(random[:, 0] - random[:, 1]).mean()
    assert saturation(level, apart=0.01).left == pytest.approx(0.01 * luck / apart, rel=0.05)
    assert not saturation(level, apart=0.01).saturated
    assert not saturation(level[:1]).saturated
    assert saturation(rising).to_json() == {
        "last_half": pytest.approx(0.01),
        "left": pytest.approx(0.01),
        "saturated": False,
    }


def test_until_saturated() -> None:
    game, policy = small_su20()
    plain = Budget(starts=2, anneal_steps=0, kicks=5)
    assert not attack(game, policy, plain).saturation.saturated
    for most in (10, 400):
        budget = Budget(starts=2, anneal_steps=0, kicks=5, until_saturated=True, most_kicks=most)
        found = attack(game, policy, budget)
        tried = sum(pay.tried for name, pay in found.moves.items() if name != "far.stay")
        assert tried <= 2 * most
        assert found.saturation.saturated == (most == 400)
    assert found.saturation.left is not None
    assert found.saturation.left < SATURATION_GAIN


def test_where_nothing_is_hidden_the_first_start_is_enough() -> None:
    game = compile_game(rules_from({"edition": "fa22", "goal": 16, "max_dice": 4}))
    policy = np.full(game.shape, 1 / 5)
    assert attack(game, policy, Budget(starts=1, kicks=0)).saturation == Saturation(0.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(("goal", "dice"), [(10, 3), (11, 2)])
def test_with_kicks_the_attack_misses_no_best_response(goal: int, dice: int) -> None:
    game = small(goal, dice)
    random = np.random.default_rng(goal)
    for strategy in (random_policy(game, 3), random.integers(game.num_actions, size=(goal, goal))):
        found = attack(game, strategy, Budget(starts=4, kicks=20))
        exact = best_response(game, strategy, most=3000)
        assert exact.is_exact
        assert found.win_rate == pytest.approx(exact.win_rate, abs=1e-9)
