"""The CFR family: single steps, by hand and by the textbook; Hog; convergence."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.state_values import best_rolls
from hogeq.rules import rules_from
from hogeq.solvers import SOLVERS
from hogeq.support.aliases import Floats
from tests import toys
from tests.slow import mostly_slow
from tests.solvers.family import FAMILY, SOLVABLE, WEIGHTS, averages, run
from tests.toys import Chance, Choice, Node, Toy


@pytest.mark.parametrize(
    ("weight", "regrets", "infoset_reach"),
    [
        # Uniform play wins (0.9 + 0.6 + 0 + 0.5) / 4 = 0.5. First move: 0.75 and 0.25; second
        # move: 0.9 and 0 come to 0.45, 0.6 and 0.5 to 0.55.
        ("reach", [[0.25, -0.25], [-0.05, 0.05]], [1.0, 1.0]),
        ("belief", [[0.25, -0.25], [-0.05, 0.05]], [1.0, 1.0]),
        # Each first move counted once, and half as much for the seat: (0.9 + 0) / 2 against
        # (0.6 + 0.5) / 2 at the second move; averages count visits, one half each.
        ("counterfactual", [[0.125, -0.125], [-0.05, 0.05]], [0.5, 0.5]),
    ],
)
def test_one_iteration_by_hand(
    weight: str, regrets: list[list[float]], infoset_reach: list[float]
) -> None:
    options = {"regret_weight": weight, "average_weight": "reach", "alternating": False}
    _, state = run(toys.forgetful(), "cfr", 1, **options)
    np.testing.assert_allclose(state.regrets[0], regrets, rtol=0, atol=1e-12)
    np.testing.assert_allclose(state.strategy_sum[0].sum(axis=1), infoset_reach, rtol=0, atol=1e-12)
    assert int(state.iteration) == 1


def matched(regrets: Floats) -> Floats:
    """Regret matching, row by row."""
    rows = []
    for row in regrets:
        positive = [max(0.0, regret) for regret in row]
        total = sum(positive)
        rows.append([p / total for p in positive] if total > 0 else [1 / len(row)] * len(row))
    return np.array(rows)


def textbook(toy: Toy, policy: Floats) -> Floats:
    """Instantaneous regrets of Zinkevich et al. 2007, equations 5 and 7, both seats."""
    regrets = np.zeros(toy.shape)

    def walk(node: Node, others: tuple[float, float]) -> float:
        # others[seat]: probability of coming here if that seat always wanted to.
        if isinstance(node, Chance):
            return sum(
                p * walk(child, (others[0] * p, others[1] * p)) for p, child in node.branches
            )
        if not isinstance(node, Choice):
            return node
        row = policy[node.infoset]
        values = []
        for p, child in zip(row, node.children, strict=True):
            to = (others[0], others[1] * p) if node.seat == 0 else (others[0] * p, others[1])
            values.append(walk(child, to))
        value = float(row @ values)
        sign = 1.0 if node.seat == 0 else -1.0
        regrets[node.infoset] += sign * others[node.seat] * (np.array(values) - value)
        return value

    walk(toy.root, (1.0, 1.0))
    return regrets


@pytest.mark.parametrize("toy_name", ["kuhn", "rooms", "bits"])
@pytest.mark.parametrize("name", FAMILY)
def test_regrets_are_those_of_the_textbook(name: str, toy_name: str) -> None:
    toy = {**SOLVABLE, "bits": toys.bits}[toy_name]()
    solver: Any = SOLVERS[name](alternating=False)
    state = solver.init(toy)
    regrets, last = np.zeros(toy.shape), np.zeros(toy.shape)
    for t in range(1, 13):
        policy = matched(regrets + last if name == "pcfr_plus" else regrets)
        np.testing.assert_allclose(solver.current(state), policy, rtol=0, atol=1e-10)
        last = textbook(toy, policy) / 2.0  # the coin for the seats
        regrets += last
        if name in ("cfr_plus", "pcfr_plus"):
            regrets = np.maximum(regrets, 0.0)
        if name == "linear":
            regrets *= t / (t + 1)
        if name == "dcfr":
            up, down = t**1.5 / (t**1.5 + 1), 1 / 2
            regrets = np.where(regrets > 0.0, regrets * up, regrets * down)
        state = solver.step(toy, state)
        np.testing.assert_allclose(state.regrets[0], regrets, rtol=0, atol=1e-10)
        positive = sum(max(0.0, *row) for row in regrets)
        assert solver.stats(toy, state)["average_regret"] == pytest.approx(positive / t, abs=1e-10)


# --- on Hog: where forgetting does not matter, and what must hold everywhere ----------------------

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
        (toys.kuhn, "cfr_plus", {"epsilon": 0.1}, "no guarantee: perturbed game, epsilon 0.1"),
        (toys.rooms, "cfr", {"epsilon": 0.1}, "no guarantee: perturbed game, epsilon 0.1"),
        (toys.kuhn, "cfr", {}, ""),
        (toys.kuhn, "linear", {}, ""),
        (toys.kuhn, "pcfr_plus", {}, ""),
        (toys.kuhn, "dcfr", {}, ""),
        (toys.kuhn, "dcfr", {"beta": 0.5}, ""),
        (toys.kuhn, "dcfr", {"beta": -np.inf}, ""),
        (toys.kuhn, "dcfr", {"alpha": 0.0}, "no guarantee: alpha 0, beta 0, gamma 2"),
        (toys.kuhn, "dcfr", {"alpha": -1.0}, "no guarantee: alpha -1, beta 0, gamma 2"),
        (toys.kuhn, "dcfr", {"beta": 1.0}, "no guarantee: alpha 1.5, beta 1, gamma 2"),
        (toys.kuhn, "dcfr", {"beta": 2.0, "gamma": 1.0}, "alpha 1.5, beta 2, gamma 1"),
        (toys.kuhn, "dcfr", {"beta": 2.0, "gamma": 0.0}, ""),
        (toys.kuhn, "dcfr", {"beta": 2.0, "plus": True}, ""),
        (toys.kuhn, "linear", {"averaging": "quadratic"}, "alpha 1, beta 1, gamma 2"),
        (toys.kuhn, "cfr", {"averaging": "linear"}, "alpha inf, beta inf, gamma 1"),
        (toys.kuhn, "pcfr_plus", {"alpha": 1.5}, "alpha 1.5, beta inf, gamma"),
        (toys.rooms, "dcfr", {"alpha": 0.0}, "no guarantee: alpha 0, beta 0, gamma 2"),
    ],
)
def test_a_solver_says_where_no_theorem_holds(
    game: Any, name: str, options: dict[str, Any], says: str
) -> None:
    caveat = SOLVERS[name](**options).caveat(game())
    assert says in caveat
    assert bool(says) == bool(caveat)


# --- convergence on games with known answers ------------------------------------------------------

# With perfect recall all converge, in both orders of updating, whether or not regrets are weighted
# by own reach (on Leduc poker they must not be). With imperfect recall the weighting decides, and
# there are games that none of them can solve.

EARLY, LATE = [20, 25, 30, 35, 40], [260, 270, 280, 290, 300]


@pytest.mark.parametrize("toy_name", mostly_slow(["rock_paper_scissors", "kuhn", "rooms"], "kuhn"))
@pytest.mark.parametrize("weight", ["reach", "counterfactual"])
@pytest.mark.parametrize("alternating", [False, True], ids=["simultaneous", "alternating"])
@pytest.mark.parametrize("name", FAMILY)
def test_averages_converge_on_games_of_perfect_recall(
    name: str, alternating: bool, weight: str, toy_name: str
) -> None:
    toy = SOLVABLE[toy_name]()
    options = {"alternating": alternating, "regret_weight": weight}
    policies = list(averages(toy, name, EARLY + LATE, **options))
    gaps = [toys.exploitability(toy, policy) for policy in policies]
    early, late = max(gaps[: len(EARLY)]), max(gaps[len(EARLY) :])
    # A tenfold time divides a gap of order T ** -1/2 by 3.2; half of that in logarithms is asked.
    assert late < early / 10**0.25
    # Alternating updates are the faster ones everywhere.
    assert late < (0.004 if alternating else 0.02)
    value = {"rooms": 1 / 3, "kuhn": (2 - 1 / 18) / 4, "rock_paper_scissors": 0.5}
    assert toys.seat_value(toy, policies[-1]) == pytest.approx(value[toy_name], abs=0.002)


@pytest.mark.parametrize("alternating", [False, True], ids=["simultaneous", "alternating"])
@pytest.mark.parametrize("name", FAMILY)
def test_own_reach_in_the_weights_decides_under_imperfect_recall(
    name: str, alternating: bool
) -> None:
    """Regrets that leave own reach out settle on 0.6 where 0.9 is to be had, for ever."""
    toy = toys.forgetful()
    wins = {}
    for weight in WEIGHTS:
        options = {"alternating": alternating, "regret_weight": weight}
        wins[weight] = toys.seat_value(toy, next(averages(toy, name, [200], **options)))
    assert wins["reach"] == pytest.approx(0.9, abs=0.01)
    assert wins["belief"] == pytest.approx(0.9, abs=0.01)
    assert wins["counterfactual"] == pytest.approx(0.6, abs=0.002)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("name", FAMILY)
def test_where_no_policy_is_an_equilibrium_none_is_found(name: str, weight: str) -> None:
    """The 1/8 that every policy leaves to be gained is left: stuck on the uniform policy."""
    toy = toys.bits()
    policy = next(averages(toy, name, [50], regret_weight=weight))
    assert toys.exploitability(toy, policy) == pytest.approx(1 / 8, abs=1e-12)
