"""The CFR family on games with known answers, and on Hog where forgetting does not matter.

Which of them converge was found out here.  On games of perfect recall all five do, in both orders
of updating, whether or not regrets are weighted by own reach; under imperfect recall the weighting
decides, and there are games that none of them can solve.
"""

import io
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hogeq.evaluation.win_rates import mover_value
from hogeq.model.game import Game, compile_game
from hogeq.model.workspace import Role
from hogeq.purification import purify
from hogeq.response.bounds import full_memory_bound
from hogeq.rules import rules_from
from hogeq.solvers import SOLVERS
from hogeq.strategies.arrays import one_hot
from tests import toys
from tests.toys import Chance, Choice, Node, Toy

Floats = NDArray[np.float64]

FAMILY = ("cfr", "cfr_plus", "linear", "dcfr", "pcfr_plus")
WEIGHTS = ("reach", "counterfactual", "belief")


def run(game: Any, name: str, iterations: int, **options: Any) -> tuple[Any, Any]:
    """Run a solver for some iterations and give it with its state."""
    solver = SOLVERS[name](**options)
    state = solver.init(game)
    for _ in range(iterations):
        state = solver.step(game, state)
    return solver, state


def averages(game: Any, name: str, at: list[int], **options: Any) -> Iterator[Floats]:
    """Average policies after several numbers of iterations."""
    solver = SOLVERS[name](**options)
    state = solver.init(game)
    for iteration in range(1, max(at) + 1):
        state = solver.step(game, state)
        if iteration in at:
            yield solver.average(game, state)


def test_the_family_is_whole() -> None:
    assert set(FAMILY) <= set(SOLVERS)


# --- the toys themselves --------------------------------------------------------------------------


def test_solution_of_pennies_and_rooms() -> None:
    heads = [1 / 3, 2 / 3]
    for toy, table in (
        (toys.pennies(), np.array([heads, heads])),
        (toys.rooms(), np.array([[0.2, 0.8], heads, heads])),
    ):
        assert toys.exploitability(toy, table) == pytest.approx(0.0, abs=1e-12)
        assert toys.seat_value(toy, table) == pytest.approx(1 / 3, abs=1e-12)
        assert toys.exploitability(toy, np.full(toy.shape, 0.5)) > 0.05


def test_solution_of_rock_paper_scissors() -> None:
    toy, table = toys.rock_paper_scissors(), np.array([[1 / 2, 1 / 6, 1 / 3]] * 2)
    assert toys.exploitability(toy, table) == pytest.approx(0.0, abs=1e-12)
    assert toys.exploitability(toy, np.full((2, 3), 1 / 3)) > 0.05


@pytest.mark.parametrize("bluff", [0.0, 0.2, 1 / 3])
def test_solutions_of_kuhn_poker(bluff: float) -> None:
    toy, table = toys.kuhn(), toys.kuhn_solution(bluff)
    assert toys.exploitability(toy, table) == pytest.approx(0.0, abs=1e-12)
    assert 4.0 * toys.seat_value(toy, table) - 2.0 == pytest.approx(-1 / 18, abs=1e-12)
    wrong = table.copy()
    wrong[10] = [0.5, 0.5]  # calls too often with a queen
    assert toys.exploitability(toy, wrong) > 0.003


def test_bits_has_an_equilibrium_of_mixtures_but_none_of_policies() -> None:
    toy = toys.bits()
    # Every policy on a grid, all at once: the recursion multiplies whatever numbers it is given.
    grid = np.linspace(0.0, 1.0, 21)
    ones = np.stack([axis.ravel() for axis in np.meshgrid(grid, grid, grid)])
    table = np.stack([1.0 - ones, ones], axis=1)
    first = [toys.first_wins(toy.root, (pure, table)) for pure in toys.pure_tables(toy, [0, 1])]
    second = [toys.first_wins(toy.root, (table, pure)) for pure in toys.pure_tables(toy, [2])]
    gains = (np.max(first, axis=0) + 1.0 - np.min(second, axis=0)) / 2.0 - 0.5
    assert gains.min() == pytest.approx(1 / 8, abs=1e-12)
    # Half 00 and half 11, each against a guess of 0 and of 1: nobody gains.
    for guess in toys.pure_tables(toy, [2]):
        tables = list(toys.pure_tables(toy, [0, 1]))
        wins = [toys.first_wins(toy.root, (tables[i], guess)) for i in (0, 3)]
        assert np.mean(wins) == 0.5
    even = np.full(toy.shape, 0.5)
    assert max(toys.first_wins(toy.root, (t, even)) for t in toys.pure_tables(toy, [0, 1])) == 0.5


def test_best_of_forgetful_by_enumeration() -> None:
    toy = toys.forgetful()
    wins = {
        tuple(table.argmax(axis=1).tolist()): toys.seat_value(toy, table)
        for table in toys.pure_tables(toy, [0, 1])
    }
    assert wins == {(0, 0): 0.9, (0, 1): 0.6, (1, 0): 0.0, (1, 1): 0.5}


@pytest.mark.parametrize("make", [toys.pennies, toys.kuhn, toys.bits, toys.forgetful])
def test_toy_passes_give_the_slope_of_the_win_rate(make: Any) -> None:
    """The same theorem as for Hog: the win rate is linear in each row."""
    toy = make()
    a, b = np.random.default_rng(1).dirichlet(np.ones(toy.num_actions), (2, toy.shape[0]))
    work, alone = toy.workspace(2), toy.workspace(1)
    policies = np.stack([a, b])
    work.forward(policies)
    work.backward(policies, Role.COUNTERFACTUAL)
    slope, infoset_reach = work.counterfactual_values.copy(), work.infoset_reach.copy()
    np.testing.assert_allclose(work.cell_reach(policies), infoset_reach, rtol=0, atol=1e-12)
    before = work.win_rate(policies).win_rate
    for infoset in range(toy.shape[0]):
        changed = policies.copy()
        changed[0, infoset] = one_hot(0, toy.num_actions)
        rise = work.win_rate(changed).win_rate - before
        assert rise == pytest.approx(slope[infoset] @ (changed[0] - a)[infoset], abs=1e-12)
    assert work.win_rate(policies[::-1]).win_rate == pytest.approx(1.0 - before, abs=1e-12)
    alone.forward(a[None])
    alone.backward(a[None], Role.COUNTERFACTUAL)
    policies[1] = a
    work.forward(policies)
    work.backward(policies, Role.COUNTERFACTUAL)
    np.testing.assert_allclose(
        alone.counterfactual_values, 2.0 * work.counterfactual_values, rtol=0, atol=1e-12
    )


# --- convergence on toys --------------------------------------------------------------------------

EARLY, LATE = [20, 25, 30, 35, 40], [260, 270, 280, 290, 300]
SOLVABLE = {
    "pennies": toys.pennies,
    "rock_paper_scissors": toys.rock_paper_scissors,
    "kuhn": toys.kuhn,
    "rooms": toys.rooms,
}


@pytest.mark.parametrize("toy_name", SOLVABLE)
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
    value = {"pennies": 1 / 3, "rooms": 1 / 3, "kuhn": (2 - 1 / 18) / 4, "rock_paper_scissors": 0.5}
    assert toys.seat_value(toy, policies[-1]) == pytest.approx(value[toy_name], abs=0.002)


@pytest.mark.parametrize("toy_name", SOLVABLE)
def test_prediction_is_faster_than_the_others(toy_name: str) -> None:
    """Farina et al. 2021: predictive CFR+ gains orders of magnitude on small games."""
    toy = SOLVABLE[toy_name]()
    gaps = {
        name: toys.exploitability(toy, next(averages(toy, name, [300], alternating=True)))
        for name in ("cfr", "pcfr_plus")
    }
    assert gaps["pcfr_plus"] < 1e-6 < gaps["cfr"] / 100


@pytest.mark.parametrize("toy_name", ["pennies", "rock_paper_scissors"])
@pytest.mark.parametrize("iterations", [1, 10, 100, 300])
def test_average_regret_bounds_exploitability(toy_name: str, iterations: int) -> None:
    """The theorem of CFR, where no information set follows another's choice."""
    toy = SOLVABLE[toy_name]()
    solver, state = run(toy, "cfr", iterations, regret_weight="counterfactual")
    bound = solver.stats(toy, state)["average_regret"]
    gap = toys.exploitability(toy, solver.average(toy, state))
    assert 0.0 < gap <= bound + 1e-12
    assert bound < 1.0 / iterations**0.5


def test_average_regret_bounds_exploitability_in_kuhn_poker() -> None:
    toy = toys.kuhn()
    solver, state = run(toy, "cfr", 3000, regret_weight="counterfactual")
    bound = solver.stats(toy, state)["average_regret"]
    assert toys.exploitability(toy, solver.average(toy, state)) <= bound


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


# --- each step, by hand and by the textbook -------------------------------------------------------


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
    options = {"regret_weight": weight, "average_weight": "reach"}
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
    solver: Any = SOLVERS[name](regret_weight="counterfactual")
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


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("cfr", [1.0, 1.0, 1.0, 1.0]),
        ("cfr_plus", [1.0, 2.0, 3.0, 4.0]),
        ("linear", [1.0, 2.0, 3.0, 4.0]),
        ("dcfr", [1.0, 4.0, 9.0, 16.0]),
        ("pcfr_plus", [1.0, 4.0, 9.0, 16.0]),
    ],
)
def test_iterations_count_in_the_average_as_they_should(name: str, weights: list[float]) -> None:
    toy = toys.pennies()  # one move each: reach is the same for all
    solver: Any = SOLVERS[name]()
    state, played = solver.init(toy), []
    for _ in weights:
        played.append(solver.current(state).copy())
        state = solver.step(toy, state)
    expected = np.average(played, axis=0, weights=weights)
    np.testing.assert_allclose(solver.average(toy, state), expected, rtol=0, atol=1e-12)
    assert np.ptp(played, axis=0).max() > 0.1


def test_in_turns_the_second_player_meets_the_first_one_s_newest_strategy() -> None:
    toy = toys.rock_paper_scissors()
    _, state = run(toy, "cfr", 1, alternating=True)
    newest, uniform = matched(state.regrets[0]), np.full((2, 3), 1 / 3)
    assert not np.allclose(newest, uniform)
    work = toy.workspace(2)
    for seat, opponent in enumerate((uniform, newest)):
        policies = np.stack([uniform, opponent])
        work.forward(policies)
        work.backward(policies, Role.COUNTERFACTUAL)
        instant = work.counterfactual_values - (work.counterfactual_values * uniform).sum(
            axis=1, keepdims=True
        )
        np.testing.assert_allclose(state.regrets[seat], instant, rtol=0, atol=1e-12)


# --- on Hog ---------------------------------------------------------------------------------------

MEMORYLESS = ("hw13", "fa22", "sp21")


@cache
def short(edition: str) -> tuple[Game, float]:
    """Give a short game without memory, and its mover's value by backward induction."""
    game = compile_game(rules_from({"edition": edition, "goal": 20, "max_dice": 3}))
    anything = np.full((1, *game.shape), 1.0 / game.num_actions)
    return game, game.workspace(1).backward(anything, Role.FULL_MEMORY)[0]


@pytest.mark.parametrize("edition", MEMORYLESS)
@pytest.mark.parametrize("alternating", [False, True], ids=["simultaneous", "alternating"])
@pytest.mark.parametrize("name", FAMILY)
def test_without_memory_the_tablebase_s_value_is_found(
    name: str, alternating: bool, edition: str
) -> None:
    game, value = short(edition)
    found = [
        abs(mover_value(game, policy) - value)
        for policy in averages(game, name, [10, 100], alternating=alternating)
    ]
    assert found[1] < found[0] / 2 + 1e-5
    assert found[1] < (3e-3 if name == "cfr" else 1e-4)


@pytest.mark.parametrize("edition", [*MEMORYLESS, "fa15"])
@pytest.mark.parametrize("name", ["cfr_plus", "dcfr", "pcfr_plus"])
def test_with_a_floor_the_tablebase_is_found_wherever_play_could_go(
    name: str, edition: str
) -> None:
    """The floor sends play everywhere; what remains to be gained from the average is its price."""
    game, _ = short(edition)
    epsilon = 1e-3
    policy = next(averages(game, name, [150], epsilon=epsilon))
    gap = full_memory_bound(game, policy) - 0.5
    assert 0.0 < gap < 3 * epsilon
    assert full_memory_bound(game, purify(game, policy)) - 0.5 < 1e-4
    looser = next(averages(game, name, [150], epsilon=10 * epsilon))
    assert full_memory_bound(game, looser) - 0.5 > 5 * gap


@pytest.mark.parametrize("edition", ["hw13", "fa22", "fa15"])
def test_without_memory_the_interval_closes(edition: str) -> None:
    """What an opponent comes to avoid must still be averaged over all iterations, or be junk."""
    game, _ = short(edition)
    policy = next(averages(game, "dcfr", [100]))
    assert full_memory_bound(game, policy) - 0.5 < 1e-4
    assert full_memory_bound(game, purify(game, policy)) - 0.5 < 1e-4


def su20() -> Game:
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


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("alternating", [False, True], ids=["simultaneous", "alternating"])
@pytest.mark.parametrize("name", FAMILY)
def test_a_saved_state_goes_on_bit_for_bit(name: str, alternating: bool, weight: str) -> None:
    game = su20()
    options = {"alternating": alternating, "regret_weight": weight}
    solver, state = run(game, name, 3, **options)
    file = io.BytesIO()
    np.savez(file, **state._asdict())
    for _ in range(4):
        state = solver.step(game, state)
    file.seek(0)
    with np.load(file) as arrays:
        again = SOLVERS[name](**options).restore(state, arrays)
    assert int(again.iteration) == 3
    for _ in range(4):
        again = solver.step(game, again)
    for field, expected in state._asdict().items():
        found = getattr(again, field)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes()
    assert int(again.iteration) == 7
    assert solver.average(game, again).tobytes() == solver.average(game, state).tobytes()


def test_a_restored_state_shares_nothing_with_what_was_saved() -> None:
    solver, state = run(toys.kuhn(), "pcfr_plus", 2)
    saved = state._asdict()
    again = solver.restore(state, saved)
    for field, array in again._asdict().items():
        assert not np.shares_memory(array, saved[field])


@pytest.mark.parametrize("name", FAMILY)
def test_averages_are_fresh_and_uniform_where_play_never_came(name: str) -> None:
    game = su20()
    solver = SOLVERS[name]()
    state = solver.init(game)
    np.testing.assert_array_equal(solver.average(game, state), 1.0 / game.num_actions)
    state = solver.step(game, state)
    first = solver.average(game, state)
    first[:] = -1.0
    again = solver.average(game, state)
    assert again.min() >= 0.0
    np.testing.assert_allclose(again.sum(axis=2), 1.0, rtol=0, atol=1e-12)


def test_average_regret_falls() -> None:
    game = su20()
    found = []
    for iterations in (10, 100):
        solver, state = run(game, "cfr", iterations)
        found.append(solver.stats(game, state)["average_regret"])
    assert 0.0 < found[1] < found[0] / 2


@pytest.mark.parametrize(("alternating", "expected"), [(False, 0.3), (True, 0.15)])
def test_regret_is_measured_by_its_largest_roll(alternating: bool, expected: float) -> None:
    """After one step of `test_one_iteration_by_hand`: 0.25 and 0.05, for one iteration.

    Of two players each has the seat that moves half of the time, and the mean is given.
    """
    toy = toys.forgetful()
    solver, state = run(toy, "cfr", 1, alternating=alternating)
    found = solver.stats(toy, state)["average_regret"]
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("field", "value"),
    [("alpha", np.nan), ("beta", np.nan), ("gamma", -1.0), ("gamma", np.nan)]
    + [("epsilon", value) for value in (-0.1, 1.0, np.nan)],
)
def test_parameters_that_mean_nothing_are_refused(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf"^{field}: got .*; allowed: ") as refusal:
        SOLVERS["dcfr"](**{field: value})
    assert "\n" not in str(refusal.value)


def test_a_floor_too_high_for_the_rolls_is_refused() -> None:
    game = su20()
    SOLVERS["cfr"](epsilon=0.2).init(game)
    with pytest.raises(ValueError, match=r"^epsilon: got 0\.21; .*1/5 with 5 rolls"):
        SOLVERS["cfr"](epsilon=0.21).init(game)
