"""Algorithms on a game that is not Hog: rock, paper, scissors, after a choice that both forget."""

from typing import Any

import numpy as np
import pytest

from hogeq.purification import PURIFIERS, purify
from hogeq.search.attack import attack
from hogeq.search.results import Budget
from hogeq.solvers import SOLVERS
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.conversion import strategy_of
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from tests import toys
from tests.solvers.family import TREES_ALONE

LEARN: dict[str, dict[str, Any]] = {
    "mirror": {"rate": 1.0},
    "bundle": {"trails": 1, "kicks": 2, "life": 4},
    "mixture_bundle": {"parts": 2},
    "cfr_br": {"responders": 4},
}
QUICK: dict[str, dict[str, Any]] = {"integer": {"rounds": 2, "trails": 2}}


@pytest.fixture(scope="module")
def game() -> Any:
    return toys.forgetful_rock_paper_scissors()


@pytest.fixture(scope="module")
def uneven(game: Any) -> Floats:
    return np.random.default_rng(0).dirichlet(np.ones(game.num_actions), game.shape[:-1])


@pytest.mark.parametrize("name", sorted(SOLVERS.keys() - TREES_ALONE))
def test_solvers_need_no_scores(name: str, game: Any) -> None:
    solver = SOLVERS[name](**LEARN.get(name, {}))
    state = solver.init(game)
    for _ in range(30):
        state = solver.step(game, state)
    policy = solver.average(game, state)
    assert policy.shape == game.shape
    assert policy.sum(axis=-1) == pytest.approx(1.0)
    begun = np.full(game.shape, 1.0 / game.num_actions)
    assert toys.exploitability(game, policy) < 0.6 * toys.exploitability(game, begun)


def test_an_attack_finds_the_best_response(game: Any, uneven: Floats) -> None:
    best = toys.best_response_rate(game, uneven)
    found = attack(game, uneven, Budget(starts=2, kicks=15))
    assert found.win_rate == pytest.approx(best, abs=1e-12)
    assert {"near", "far"} == {name.split(".")[0] for name in found.moves}
    drawn = Strategy.unchecked_mixture(np.stack([uneven, uneven]), np.full(2, 0.5))
    both = attack(game, drawn, Budget(starts=2, kicks=0))
    assert both.win_rate == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("name", PURIFIERS)
def test_purifiers_need_no_scores(name: str, game: Any, uneven: Floats) -> None:
    matrix = purify(game, uneven, name, **QUICK.get(name, {}))
    assert strategy_of(game, matrix).kind == "matrix"
    # Of all matrices none loses less than the one that is best.
    least = min(
        toys.best_response_rate(game, table)
        for table in toys.pure_tables(game, list(range(game.shape[0])))
    )
    lost = attack(game, matrix, Budget(starts=2, kicks=0)).win_rate
    assert lost >= least - 1e-12
    if name == "integer":
        assert (
            lost <= attack(game, purify(game, uneven), Budget(starts=2, kicks=0)).win_rate + 1e-12
        )


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (np.full(3, 3), "has actions out of range; allowed: actions .* from 0 to 2"),
        (np.zeros((3, 3)), "has probabilities that sum to 0.0; allowed: 1"),
        (np.zeros((2, 3)), r"has shape \(2, 3\); allowed: \(3, 3\)"),
    ],
)
def test_what_is_no_strategy_of_it(given: Any, says: str, game: Any) -> None:
    with pytest.raises(StrategyError, match=says):
        strategy_of(game, given)
