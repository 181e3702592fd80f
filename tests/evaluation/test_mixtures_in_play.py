"""Mixtures in play: win rates are means over the draws, and what was drawn shows in the scores."""

from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.analysis.tournament import round_robin
from hogeq.baselines import builtin
from hogeq.evaluation.counterfactual import Spread, policy_of_mixture, spread
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.values import components_at, reach, remembering_win_rate, win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.strategies.conversion import StrategyLike, strategy_of_shape
from tests import toys
from tests.refusals import refuses

SIZES = {"goal": 9, "max_dice": 3}


@pytest.fixture
def game() -> HogEngine:
    return compile_game(hogeq.rules_from({"edition": "su20", **SIZES}))


def players(game: HogEngine) -> tuple[hogeq.Mixture, hogeq.Mixture]:
    random = np.random.default_rng(1)
    matrices = random.integers(0, game.num_actions, (2, *game.shape[:2]))
    policies = random.dirichlet(np.ones(game.num_actions), (3, *game.shape[:2]))
    weights = np.array([0.3, 0.7]), np.array([0.5, 0.2, 0.3])
    return hogeq.Mixture(weights[0], matrices), hogeq.Mixture(weights[1], policies)


def test_win_rates_are_means_over_both_draws(game: HogEngine) -> None:
    one, two = players(game)
    expected = np.zeros(3)
    for weight, a in zip(one.weights, one.parts, strict=True):
        for chance, b in zip(two.weights, two.parts, strict=True):
            expected += weight * chance * np.array(win_rate(game, a, b))
    assert win_rate(game, one, two) == pytest.approx(tuple(expected), abs=1e-14)
    assert win_rate(game, two, one).win_rate == pytest.approx(1.0 - expected[0], abs=1e-14)
    assert win_rate(game, one, one).win_rate == pytest.approx(0.5, abs=1e-14)
    same = hogeq.Mixture([0.5, 0.5], [two.parts[0]] * 2)
    alone = win_rate(game, two.parts[0], one.parts[0])
    assert win_rate(game, same, one.parts[0]) == pytest.approx(alone, abs=1e-14)


def test_a_round_robin_takes_mixtures(game: HogEngine) -> None:
    one, two = players(game)
    field: list[StrategyLike] = [one, builtin("always_roll:2", game), two]
    rates = round_robin(game, field)
    assert rates[0, 2] == pytest.approx(win_rate(game, one, two).win_rate, abs=1e-14)
    assert rates + rates.T == pytest.approx(np.ones((3, 3)))


def test_whoever_remembers_plays_the_same_whatever_is_drawn(game: HogEngine) -> None:
    one, _ = players(game)
    solved = solve(game)
    each = [remembering_win_rate(game, solved.rolls, part).win_rate for part in one.parts]
    found = solved.against(one).win_rate
    assert found == pytest.approx(float(one.weights @ each), abs=1e-14)


def test_mixtures_of_another_game_are_refused(game: HogEngine) -> None:
    one, two = players(game)
    small = compile_game(hogeq.rules_from({"edition": "su20", "goal": 8, "max_dice": 3}))
    refuses(lambda: win_rate(small, one, one), r", part 1: cell .* is one too many")
    fewer = compile_game(hogeq.rules_from({"edition": "su20", "goal": 9, "max_dice": 2}))
    refuses(lambda: win_rate(fewer, two, one), r", part 1: has shape \(9, 9, 4\)")


def test_a_part_that_is_never_drawn_does_not_matter() -> None:
    # Positions recur in sp22, and games of two who never roll do not end.
    game = compile_game(hogeq.rules_from({"edition": "sp22", **SIZES}))
    never, two = (builtin(f"always_roll:{dice}", game) for dice in (0, 2))
    alone = win_rate(game, two, two)
    assert win_rate(game, hogeq.Mixture([0.0, 1.0], [never, two]), two) == alone
    assert win_rate(game, hogeq.Mixture([1.0], [two]), two) == alone


def test_what_was_drawn_follows_by_bayes_rule(game: HogEngine) -> None:
    one, two = players(game)
    reach_found = np.array([[reach(game, a, b)[4, 5] for b in two.parts] for a in one.parts])
    joint = one.weights[:, None, None] * two.weights[:, None] * reach_found
    at = components_at(game, one, 4, 5, two)
    assert at is not None
    assert at.reach == pytest.approx(joint.sum(), abs=1e-15)
    assert at.own == pytest.approx(joint.sum(axis=(1, 2)) / joint.sum())
    assert at.other == pytest.approx(joint.sum(axis=(0, 2)) / joint.sum())
    assert at.memory == pytest.approx(joint.sum(axis=(0, 1)) / joint.sum())


def test_unreached_positions_say_so(game: HogEngine) -> None:
    three = builtin("always_roll:3", game)
    assert components_at(game, hogeq.Mixture([1.0], [three]), 0, 5) is None
    refuses(lambda: components_at(game, three, 9, 0), "score: got 9")


def test_entropy_is_split_between_the_draw_and_the_rolls() -> None:
    never, always = np.zeros((1, 1), int), np.ones((1, 1), int)
    even = np.full((1, 1, 2), 0.5)

    def halves(*parts: Any) -> Spread:
        return spread(strategy_of_shape((1, 1, 2), hogeq.Mixture([0.5, 0.5], parts)))

    drawn = halves(never, always)
    assert (drawn.total.item(), drawn.drawn.item()) == (1.0, 1.0)
    rolled = halves(even, even)
    assert (rolled.total.item(), rolled.drawn.item()) == (1.0, 0.0)
    both = halves(never, even)
    assert both.mean.ravel().tolist() == [0.75, 0.25]
    assert both.drawn.item() == pytest.approx(0.811278124459 - 0.5)  # entropy of 1/4, less 1/2 bit


def test_under_perfect_recall_a_policy_plays_as_the_mixture_does() -> None:
    """Kuhn (1953), on his poker: the policy has every component by its own reach."""
    toy, weights = toys.kuhn(), np.array([0.5, 0.2, 0.3])
    *components, opponent = np.random.default_rng(2).dirichlet(np.ones(2), (4, toy.shape[0]))
    one = policy_of_mixture(toy, weights, np.array(components))
    work = toy.workspace(2)
    rates = [work.win_rate(np.stack([each, opponent])).win_rate for each in components]
    alike = work.win_rate(np.stack([one, opponent])).win_rate
    assert alike == pytest.approx(weights @ rates, abs=1e-14)
    mean = np.tensordot(weights, components, 1)
    assert alike != pytest.approx(work.win_rate(np.stack([mean, opponent])).win_rate, abs=1e-4)
