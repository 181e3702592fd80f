"""Single steps of the solvers beyond the CFR family, by their papers' equations."""

from typing import Any

import numpy as np
import pytest

from hogeq.games.game import Game
from hogeq.search.ascent import UNUSED_RANDOM, SearchContext
from hogeq.solvers import SOLVERS
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats
from tests import toys
from tests.solvers.test_regret import matched, textbook
from tests.toys import Choice, Node, Toy, first_wins, following


def own_reach(toy: Toy, policy: Floats) -> Floats:
    """Probability of the player's own moves on the way to every information set, (I,).

    Under perfect recall it is the same on all ways.
    """
    found = np.zeros(toy.shape[0])

    def walk(node: Node, reach: tuple[float, float]) -> None:
        if isinstance(node, Choice):
            found[node.infoset] = reach[node.seat]
            for p, child in zip(policy[node.infoset], node.children, strict=True):
                to = (reach[0] * p, reach[1]) if node.seat == 0 else (reach[0], reach[1] * p)
                walk(child, to)
        else:
            for child in following(node):
                walk(child, reach)

    walk(toy.root, (1.0, 1.0))
    return found


def wins(toy: Toy, policy: Floats, opponent: Floats) -> float:
    """Win rate of a policy that sits in either seat half of the time."""
    one, two = policy.tolist(), opponent.tolist()
    return float(first_wins(toy.root, (one, two)) + 1.0 - first_wins(toy.root, (two, one))) / 2.0


def gains(toy: Toy, policy: Floats, opponent: Floats) -> Floats:
    """By how much each action, alone at its information set, wins more than the policy."""
    found = np.zeros(toy.shape)
    for infoset, action in np.ndindex(*toy.shape):
        changed = policy.copy()
        changed[infoset] = one_hot(action, toy.num_actions)
        found[infoset, action] = wins(toy, changed, opponent) - wins(toy, policy, opponent)
    return found


# --- fsicfr (Neller and Hnath 2011) ---------------------------------------------------------------


def test_fsicfr_sums_regrets_and_averages_what_came_after_the_doubling_before_the_last() -> None:
    toy = toys.kuhn()
    solver: Any = SOLVERS["fsicfr"]()
    state, regrets = solver.init(toy), np.zeros(toy.shape)
    played: list[Floats] = []
    for t in range(1, 13):
        policy = matched(regrets)
        played.append(own_reach(toy, policy)[:, None] * policy)
        regrets += textbook(toy, policy) / 2.0  # the coin for the seats
        state = solver.step(toy, state)
        np.testing.assert_allclose(state.regrets[0], regrets, rtol=0, atol=1e-12)
        largest = np.maximum(regrets, 0.0).max(axis=1).sum() / t
        assert solver.stats(toy, state)["average_regret"] == pytest.approx(largest)
        doubled = 2 ** (t.bit_length() - 1) // 2
        total = np.sum(played[doubled:], axis=0)
        reached = total.sum(axis=1) > 0.0
        expected = total[reached] / total[reached].sum(axis=1, keepdims=True)
        found = solver.average(toy, state)
        np.testing.assert_allclose(found[reached], expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found[~reached], matched(regrets)[~reached], atol=1e-12)
    with pytest.raises(ValueError, match=r"^alternating: got True; allowed: false with fsicfr"):
        SOLVERS["fsicfr"](alternating=True).init(toy)


def test_fsicfr_forgets_at_doublings_however_many_iterations_a_call_makes() -> None:
    game = Game("kuhn_poker").engine
    solver: Any = SOLVERS["fsicfr"]()
    one, many, done = solver.init(game), solver.init(game), 0
    for _ in range(20):
        one = solver.step(game, one)
    while done < 20:
        many, count = solver.steps(game, many, 20 - done)
        done += count
    np.testing.assert_allclose(many.strategy_sum, one.strategy_sum, atol=1e-12)
    # Every iteration counts as much at the first row: 9 to 16, and 17 to 20.
    before, since = (many.strategy_sum[place, 0].sum() for place in (1, 0))
    assert before == pytest.approx(2.0 * since)
    assert since > 0.0


# --- cfr_br (Johanson et al. 2012, Tammelin 2014) -------------------------------------------------


@pytest.mark.parametrize("responders", [1, 5])
def test_cfr_br_matches_regrets_against_its_responders(responders: int) -> None:
    toy = toys.kuhn()
    solver: Any = SOLVERS["cfr_br"](responders=responders, window=4)
    state = solver.init(toy)
    visits: list[Floats] = []
    for t in range(1, 11):
        regrets = state.regrets.copy()
        policy = matched(regrets)
        state = solver.step(toy, state)
        counters = [one_hot(counter, toy.num_actions) for counter in state.counters]
        rates = np.array([wins(toy, counter, policy) for counter in counters])
        np.testing.assert_allclose(state.win_rates, rates, rtol=0, atol=1e-12)
        deviation = np.median(np.abs(rates - np.median(rates)))
        weights = np.exp((rates - rates.max()) / max(2.0 * deviation, 1e-6))
        weights /= weights.sum()
        for weight, counter in zip(weights, counters, strict=True):
            regrets += weight * gains(toy, policy, counter)
        regrets = np.maximum(regrets, 0.0)
        np.testing.assert_allclose(state.regrets, regrets, rtol=0, atol=1e-10)
        assert solver.stats(toy, state) == pytest.approx(
            {"average_regret": regrets.max(axis=1).sum() / t, "responder_win": rates.max()}
        )
        work = toy.workspace(2)
        reach = sum(
            weight * work.cell_reach(np.stack([policy, counter]))
            for weight, counter in zip(weights, counters, strict=True)
        )
        visits.append(np.asarray(reach)[:, None] * policy)
        linear = sum(number * one for number, one in enumerate(visits, start=1))
        window = np.sum(visits[max(0, t // 4 * 4 - 4) :], axis=0)
        np.testing.assert_allclose(state.linear_sum, linear, rtol=0, atol=1e-10)
        np.testing.assert_allclose(state.older + state.recent, window, rtol=0, atol=1e-10)


# --- fictitious (Heinrich et al. 2015, theorem 7) -------------------------------------------------


@pytest.mark.parametrize("step_size", ["harmonic", "square_root"])
def test_the_average_of_fictitious_play_mixes_the_responses_themselves(step_size: str) -> None:
    """Under perfect recall a mixture has the own reach that its parts have on average."""
    toy = toys.kuhn()
    solver: Any = SOLVERS["fictitious"](
        responder="stochastic", step_size=step_size, responder_steps=3, keep_matrices=False
    )
    state = solver.init(toy)
    mixture = np.zeros(toy.shape)
    for t in range(1, 8):
        policies = np.stack([np.full(toy.shape, 1 / 2), solver.average(toy, state)])
        context = SearchContext(toy, None, toy.workspace(2), policies, UNUSED_RANDOM)
        context.anneal(3, 0.6, (0.03, 3e-4))  # changes policies[0]
        rate = wins(toy, policies[0], policies[1])
        weight = 1 / t if step_size == "harmonic" else t**-0.5
        response = own_reach(toy, policies[0])[:, None] * policies[0]
        mixture = weight * response + (1.0 - weight) * mixture
        state = solver.step(toy, state)
        average = solver.average(toy, state)
        assert solver.stats(toy, state)["responder_win"] == pytest.approx(rate, abs=1e-12)
        assert len(state.matrices) == 0
        np.testing.assert_allclose(
            own_reach(toy, average)[:, None] * average, mixture, rtol=0, atol=1e-12
        )


# --- mirror (Sokota et al. 2023, algorithm 1) -----------------------------------------------------


def test_mirror_descent_takes_the_step_that_has_a_closed_form() -> None:
    toy, rate = toys.kuhn(), 3.0
    solver: Any = SOLVERS["mirror"](rate=rate, hot=0.2, cold=0.1, cooling=0.8)
    state = solver.init(toy)
    for temperature in (0.2, 0.16, 0.128, 0.1024, 0.1, 0.1):
        policy = solver.average(toy, state)
        reach = toy.workspace(2).cell_reach(np.stack([policy, policy]))[:, None]
        better = gains(toy, policy, policy) / reach
        state = solver.step(toy, state)
        assert solver.stats(toy, state)["kkt_gap"] == pytest.approx(better.max())
        # Maximise rate * (values . new - temperature * KL(new, uniform)) - KL(new, policy).
        powers = (policy * np.exp(rate * better)) ** (1.0 / (1.0 + rate * temperature))
        expected = powers / powers.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(solver.average(toy, state), expected, rtol=0, atol=1e-12)
