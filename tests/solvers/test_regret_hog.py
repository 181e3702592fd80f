"""The CFR family on Hog: where forgetting does not matter, and what must hold everywhere."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.state_values import best_rolls
from hogeq.rules import rules_from
from hogeq.solvers import SOLVERS
from tests import toys
from tests.slow import mostly_slow
from tests.solvers.family import FAMILY, averages, run

MEMORYLESS = ("hw13", "fa22")


@cache
def short(edition: str) -> tuple[HogEngine, float]:
    """Give a short game without memory, and its mover's value by backward induction."""
    game = compile_game(rules_from({"edition": edition, "goal": 20, "max_dice": 3}))
    anything = np.full((1, *game.shape), 1.0 / game.num_actions)
    return game, best_rolls(game, anything)[1]


@pytest.mark.parametrize("edition", mostly_slow(MEMORYLESS, "fa22"))
@pytest.mark.parametrize("alternating", [False, True], ids=["simultaneous", "alternating"])
@pytest.mark.parametrize("name", FAMILY)
def test_without_memory_the_tablebase_s_value_is_found(
    name: str, alternating: bool, edition: str
) -> None:
    game, value = short(edition)
    found = [
        abs(win_rate(game, policy, policy, endless_is_draw=True).first - value)
        for policy in averages(
            game, name, [10, 100], alternating=alternating, regret_weight="reach"
        )
    ]
    assert found[1] < found[0] / 2 + 1e-5
    assert found[1] < (3e-3 if name == "cfr" else 1e-4)


def su20() -> HogEngine:
    return compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 4}))


@pytest.mark.parametrize("alternating", [False, True], ids=["simultaneous", "alternating"])
@pytest.mark.parametrize("name", FAMILY)
def test_every_roll_keeps_its_floor(name: str, alternating: bool) -> None:
    game, epsilon = su20(), 0.01
    options = {"alternating": alternating, "epsilon": epsilon}
    solver: Any = SOLVERS[name](**options)
    state = solver.init(game)
    for _ in range(15):
        state = solver.step(game, state)
        for policy in (solver.current(state), solver.average(game, state)):
            assert policy.min() >= epsilon * (1 - 1e-12)
            np.testing.assert_allclose(policy.sum(axis=2), 1.0, rtol=0, atol=1e-12)
    assert solver.current(state).min() == pytest.approx(epsilon, rel=1e-9)
    without, state = run(game, name, 15, alternating=alternating)
    assert without.current(state).min() == 0.0


def test_a_floor_too_high_for_the_rolls_is_refused() -> None:
    game = su20()
    SOLVERS["cfr"](epsilon=0.2).init(game)
    with pytest.raises(ValueError, match=r"^epsilon: got 0\.21; .*1/5 with 5 rolls"):
        SOLVERS["cfr"](epsilon=0.21).init(game)


@pytest.mark.parametrize(
    ("game", "name", "options", "says"),
    [
        (toys.kuhn, "cfr_plus", {}, ""),
        (toys.kuhn, "cfr", {"regret_weight": "reach"}, "guarantee: regret_weight reach, average"),
        (toys.kuhn, "dcfr", {"average_weight": "reach"}, "counterfactual, average_weight reach"),
        (toys.rooms, "pcfr_plus", {}, "imperfect recall: no guarantee unless well-formed"),
        (toys.rooms, "linear", {"regret_weight": "belief"}, "no guarantee: imperfect recall"),
        (su20, "cfr", {}, "no guarantee: imperfect recall"),
        (lambda: short("fa22")[0], "cfr", {}, "no guarantee: imperfect recall"),
        (toys.kuhn, "cfr_br", {}, "no guarantee: responses come from a search"),
    ],
)
def test_a_solver_says_where_no_theorem_holds(
    game: Any, name: str, options: dict[str, Any], says: str
) -> None:
    caveat = SOLVERS[name](**options).caveat(game())
    assert says in caveat
    assert bool(says) == bool(caveat)
