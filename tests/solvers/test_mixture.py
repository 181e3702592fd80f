"""The solver of mixtures: what no policy can do, and what one part alone would."""

from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.evaluation.win_rates import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.solvers import SOLVERS
from hogeq.solvers.cfr_br import responder_weights
from hogeq.strategies.arrays import match_regrets, one_hot
from tests.solvers.family import run

COINS = {
    "goal": 4,
    "max_dice": 2,
    "sides": 2,
    "zero_dice": "alternating_cube_digits",
    "time_trot": True,
    "time_trot_period": 2,
}
FEW = {"responders": 8, "newcomers": 2, "responder_steps": 5}


@pytest.fixture(scope="module")
def coins() -> HogEngine:
    """Give the game of docs/mixtures.md: the value of policies is 1/2 + 1/216."""
    return compile_game(rules_from(COINS))


def exploited(game: HogEngine, mixture: Any) -> float:
    """Win rate, less 1/2, of the best of the matrices that matter in the game of two coins."""
    best = 0.0
    for first, then in ((1, 0), (1, 2), (2, 0), (2, 2)):
        rolls = np.zeros((4, 4), int)
        rolls[0, 0], rolls[0, 1], rolls[1, 1] = 2, first, then
        best = max(best, win_rate(game, rolls, mixture).win_rate)
    return best - 0.5


def test_two_parts_do_what_no_policy_can(coins: HogEngine) -> None:
    solver, state = run(coins, "mixture", 400, parts=2, window=100, **FEW)
    drawn = solver.mixture(coins, state)
    assert exploited(coins, drawn) < 1 / 216
    # Those who roll two coins at 0-1 roll none at 1-1: what was drawn goes together.
    one, other = sorted(drawn.parts, key=lambda part: -part[0, 1, 2])
    assert one[0, 1, 2] > 0.2
    assert one[1, 1, 2] < 0.1
    assert other[1, 1, 2] > 0.6
    assert exploited(coins, solver.average(coins, state)) >= 1 / 216


def test_one_part_is_a_policy(coins: HogEngine) -> None:
    solver, state = run(coins, "mixture", 200, parts=1, window=50, **FEW)
    drawn = solver.mixture(coins, state)
    assert drawn.weights.tolist() == [1.0]
    np.testing.assert_allclose(solver.average(coins, state), drawn.parts[0], atol=1e-12)
    assert 1 / 216 <= exploited(coins, drawn) < 0.015


def test_a_step_by_hand() -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 8, "max_dice": 2}))
    solver: Any = SOLVERS["mixture"](parts=3, averaging="last", window=2, **FEW)
    state = solver.init(game)
    assert len(np.unique(state.regrets.reshape(3, -1), axis=0)) == 3
    for _ in range(3):
        before = {name: array.copy() for name, array in state._asdict().items()}
        state = solver.step(game, state)
        policies = match_regrets(before["regrets"])
        weights = match_regrets(before["draw_regrets"])
        drawn = hogeq.Mixture(weights, policies)
        rates = np.array([win_rate(game, one, drawn).win_rate for one in state.counters])
        np.testing.assert_allclose(rates, state.win_rates, atol=1e-12)
        shares = responder_weights(rates)
        regrets = before["regrets"].copy()
        won = np.zeros(3)
        for part, policy in enumerate(policies):
            for share, counter in zip(shares, state.counters, strict=True):
                both = np.stack([policy, one_hot(counter, game.num_actions)])
                values = counterfactual_values(game.workspace(2), both).values
                regrets[part] += share * (values - (values * policy).sum(axis=2, keepdims=True))
                won[part] += share * win_rate(game, policy, counter).win_rate
        np.testing.assert_allclose(state.regrets, np.maximum(regrets, 0.0), atol=1e-12)
        draws = before["draw_regrets"] + won - weights @ won
        np.testing.assert_allclose(state.draw_regrets, np.maximum(draws, 0.0), atol=1e-12)
        found = solver.mixture(game, state)
        np.testing.assert_allclose(found.parts, match_regrets(state.regrets))
        np.testing.assert_allclose(found.weights, match_regrets(state.draw_regrets))


def test_averages_are_of_the_last_two_windows(coins: HogEngine) -> None:
    solver: Any = SOLVERS["mixture"](parts=2, window=3, **FEW)
    state = solver.init(coins)
    weights = []
    for _ in range(7):
        weights.append(match_regrets(state.draw_regrets))
        state = solver.step(coins, state)
    np.testing.assert_allclose(
        solver.mixture(coins, state).weights, np.mean(weights[3:], axis=0), atol=1e-12
    )
    assert solver.stats(coins, state)["drawn"] == pytest.approx(
        np.exp(-sum(w * np.log(w) for w in match_regrets(state.draw_regrets) if w > 0.0))
    )


def test_other_solvers_have_none(coins: HogEngine) -> None:
    solver, state = run(coins, "cfr_plus", 1)
    assert solver.mixture(coins, state) is None


def test_more_newcomers_than_responders_are_refused() -> None:
    with pytest.raises(ValueError, match=r"newcomers: got 9; allowed: .* responders, which is 8"):
        SOLVERS["mixture"](responders=8, newcomers=9)


def test_a_double_oracle_gives_the_equilibrium_of_its_meta_game(coins: HogEngine) -> None:
    solver, state = run(coins, "double_oracle", 25)
    drawn = solver.mixture(coins, state)
    assert drawn.kind == "matrices"
    assert exploited(coins, drawn) < 1e-9
    assert exploited(coins, solver.average(coins, state)) >= 1 / 216


def test_a_double_oracle_over_policies_has_an_exact_meta_game(coins: HogEngine) -> None:
    solver, state = run(coins, "double_oracle", 12, temperature=0.02)
    drawn = solver.mixture(coins, state)
    assert drawn.kind == "policies"
    assert exploited(coins, drawn) < 0.02
    for row, one in zip(state.payoffs, state.pool, strict=True):
        rates = [win_rate(coins, one, other).win_rate for other in state.pool]
        np.testing.assert_allclose(row, rates, atol=1e-12)
    # A softmax response at this temperature: no roll is certain where play may come to.
    newest = state.pool[-1, 0, 1]
    assert 0.0 < newest.min() < newest.max() < 1.0
    won = [win_rate(coins, one, drawn).win_rate for one in state.pool]
    assert max(won) <= 0.5 + 1e-9
