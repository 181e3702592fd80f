"""Ends that are called proved: against all pure strategies, in fractions, by plain recursion."""

import itertools
from collections.abc import Callable
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import Strategy
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees import columns, enclosures, responses, whole_dags
from hogeq.trees.beliefs import recall_dag
from hogeq.trees.best_response import Answer, best_response
from hogeq.trees.columns import solve_by_columns
from hogeq.trees.enclosures import Payoffs, plan_of, round_to_short_fractions
from hogeq.trees.enumeration import enumerate_responses
from hogeq.trees.exact_numbers import distribution
from hogeq.trees.integer_program import solve_by_program
from hogeq.trees.responses import respond_in_both_seats
from hogeq.trees.sequence_payoffs import stakes
from hogeq.trees.sequences import sequence_form
from tests.slow import fast_and_slow
from tests.trees.games_in_fractions import Node, dominated, drawn, infosets, laid_out, pure, worth

Games = Callable[[np.random.Generator], Node]


def matrix_value(matrix: list[list[Fraction]]) -> Fraction:
    """Value of a matrix game by the simplex method in fractions, with Bland's rule."""
    level = min(map(min, matrix)) - 1
    rows, columns = len(matrix), len(matrix[0])
    table = [
        [one - level for one in row]
        + [Fraction(at == place) for place in range(rows)]
        + [Fraction(1)]
        for at, row in enumerate(matrix)
    ]
    costs, basis = (
        [Fraction(1)] * columns + [Fraction(0)] * (rows + 1),
        [*range(columns, columns + rows)],
    )
    while (enters := next((at for at, one in enumerate(costs[:-1]) if one > 0), None)) is not None:
        leaves = min(
            (at for at in range(rows) if table[at][enters] > 0),
            key=lambda at: (table[at][-1] / table[at][enters], basis[at]),
        )
        pivot = table[leaves][enters]
        table[leaves] = [one / pivot for one in table[leaves]]
        for line in (*(one for at, one in enumerate(table) if at != leaves), costs):
            factor = line[enters]
            line[:] = [one - factor * two for one, two in zip(line, table[leaves], strict=True)]
        basis[leaves] = enters
    return level + 1 / -costs[-1]


def check(root: Node) -> tuple[bool, bool]:
    """Compare a game with the truth; give whether its response and its value are proved."""
    tree = laid_out(root)
    mine, theirs = pure(root, 0), pure(root, 1)
    half = Fraction(1, 2)
    uniform = tuple({one: [half, half] for one in infosets(root, seat)} for seat in (0, 1))
    first = max(worth(root, (one, uniform[1])) for one in mine)
    second = -min(worth(root, (uniform[0], one)) for one in theirs)
    response = respond_in_both_seats(tree, tree.uniform(), 5.0)
    mean = (first + second) / 2
    assert Fraction(response.value) <= mean <= Fraction(response.bound)
    assert Fraction(response.seats[0]) <= first
    assert Fraction(response.seats[1]) <= second
    written = response.units.exact
    if response.is_proved:
        told = response.to_json()
        assert told["attack"] == told["bound"]
        assert written(told["attack"]) == written(float(mean))
        assert response.rows()[0][1] == written(float(mean))
        seats = f"mean of {written(float(first))} and {written(float(second))} by seat"
        assert seats in response.rows()[0][2]
    elif response.method != "integer program":
        assert response.units.exact(response.value) != response.units.exact(response.bound)
    value = matrix_value([[worth(root, (one, two)) for two in theirs] for one in mine])
    solved = hogeq.Game(tree).equilibrium(5.0)
    assert Fraction(solved.lower) <= value <= Fraction(solved.upper)
    if solved.is_proved:
        told = solved.to_json()
        assert told["lower"] == told["upper"]
        assert {solved.rows()[0][1], solved.rows()[1][1]} == {written(float(value))}
    return response.is_proved, solved.is_proved


def check_many(seeds: range, games: Games) -> list[float]:
    found = []
    for seed in seeds:
        root = games(np.random.default_rng(seed))
        if all(len(infosets(root, seat)) <= 3 for seat in (0, 1)):
            try:
                found.append(check(root))
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {root}") from error
    return [float(one) for one in np.mean(found, axis=0)]


@pytest.mark.parametrize("seeds", fast_and_slow([range(60)], [range(1000, 2200)]))
def test_what_one_payoff_dominates_is_proved_to_the_digits_that_are_written(seeds: range) -> None:
    responses, values = check_many(seeds, dominated)
    assert responses > 0.9
    assert values > 0.6


@pytest.mark.slow
def test_without_fractions_ends_hold_by_their_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enclosures, "MOST_NODES", 0)
    enclosures.exact_numbers_of.cache_clear()
    check_many(range(40), dominated)
    proved = check_many(range(40), lambda draw: drawn(draw, 4))
    assert min(proved) > 0.8
    enclosures.exact_numbers_of.cache_clear()


def test_margins_contain_what_fractions_say(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(30):
        tree = laid_out(dominated(np.random.default_rng(seed)))
        uniform = hogeq.Game(tree).strategy("uniform")
        ends, truths = [], []
        for most in (10_000, 0):
            monkeypatch.setattr(enclosures, "MOST_NODES", most)
            enclosures.exact_numbers_of.cache_clear()
            for player in (0, 1):
                one = Payoffs(tree, player, plan_of(sequence_form(tree, 1 - player), uniform))
                own = plan_of(sequence_form(tree, player), uniform)
                dag = recall_dag(one.form)
                assert (one.exact_payoffs is not None) is (most > 0)
                if one.exact_payoffs is not None:
                    truths.append(one.exact_payoffs)
                elif not one.level:
                    for truth, middle, radius in zip(
                        truths[player], one.midpoints, one.radii, strict=True
                    ):
                        off = abs(truth - one.unit * Fraction(middle))
                        assert off <= one.unit * Fraction(radius)
                ends.append((one.payoff_bounds(own)[0], one.best_response_bound(dag)))
        for precise, rough in zip(ends[:2], ends[2:], strict=True):
            assert rough[0] <= precise[0] <= precise[1] <= rough[1], seed
    enclosures.exact_numbers_of.cache_clear()


@pytest.mark.parametrize("looks", [0, 1, 2, 3, 5, 8, 13])
def test_ends_hold_whenever_the_time_for_fractions_is_over(
    looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enclosures, "PACES", 4)
    kinds = set()
    for seed in range(12):
        tree = laid_out(dominated(np.random.default_rng(seed)))
        uniform = hogeq.Game(tree).strategy("uniform")
        for player in (0, 1):
            form, ends = sequence_form(tree, player), []
            for deadline in (FOREVER, Deadline(looks, count().__next__)):
                plan = plan_of(sequence_form(tree, 1 - player), uniform, deadline)
                one = Payoffs(tree, player, plan, deadline)
                own = plan_of(form, uniform, deadline)
                worth = form.payoffs_against(tree.uniform()) / tree.largest_expected_share
                unit, dag = stakes(tree), recall_dag(form)
                moved = one.moved_bound(worth, unit, form.upper_bound(worth))
                ends.append((one.payoff_bounds(own)[0], one.best_response_bound(dag), moved))
                exact = plan.exact_weights, one.exact_payoffs, own.exact_weights
                kinds.add(tuple(numbers is None for numbers in exact))
            precise, rough = ends
            assert rough[0] <= precise[0] <= precise[1] <= min(rough[1:]), seed
            assert precise[1] <= precise[2], seed
    assert len(kinds) > 1


@pytest.mark.slow
def test_enumeration_bounds_all_responses_whatever_is_rounded() -> None:
    """Sums over sequences in fractions, of every pure strategy; some round below the truth."""
    draw, rounded = np.random.default_rng(0), 0
    for _ in range(400):
        form = sequence_form(laid_out(drawn(draw, 6)), 0).inflate(FOREVER)
        if not len(form.shared_rows) or form.rank_of_row is None:
            continue
        size = form.num_sequences
        payoffs = draw.normal(size=size) * 3.0 ** draw.integers(0, 9, size)
        start = np.zeros(form.tree.num_rows, np.int64)
        least = float(form.pure_realisation(start) @ payoffs)
        _, value, bound = enumerate_responses(form, payoffs, start, least)
        worth = [Fraction(one) for one in payoffs.tolist()]
        best = max(
            sum((worth[one] for one in np.flatnonzero(form.realisation(plan)).tolist()), Fraction())
            for acts in itertools.product(range(form.tree.num_actions), repeat=form.tree.num_rows)
            for plan in [one_hot(np.array(acts), form.tree.num_actions)]
        )
        assert best <= Fraction(bound)
        assert bound - value < 1e-9
        rounded += Fraction(value) < best
    assert rounded > 10


def needle(stake: str, actions: int = 300) -> str:
    """Write a forgetful player whose best response gets 1/2 in the first seat, beside a lottery."""
    lines = [
        'EFG 2 R "needle" { "a" "b" } ""',
        'c "" 1 "" { "lottery" 1/2 "game" 1/2 } 0',
        'c "" 2 "" { "win" 1/2 "lose" 1/2 } 0',
        f't "" 1 "" {{ {stake} -{stake} }}',
        f't "" 2 "" {{ -{stake} {stake} }}',
        'c "" 3 "" { "one" 1/2 "two" 1/2 } 0',
    ]
    acts, number = " ".join(f'"{one}"' for one in range(actions)), 2
    for chance in (1, 2):
        lines.append(f'p "" 1 {chance} "sees {chance}" {{ "0" "1" }} 0')
        for first in (0, 1):
            lines.append(f'p "" 1 3 "has forgotten" {{ {acts} }} 0')
            for last in range(actions):
                number += 1
                paid = "0" if first else "0.5"
                if last == 217:
                    paid = "1" if first else "0.4"
                elif first and chance == 2 and last == 0:
                    paid = "1.1"
                lines.append(f't "" {number} "" {{ {paid} -{paid} }}')
    return "\n".join(lines)


def test_a_lottery_hides_no_decision(in_folder: Path) -> None:
    (in_folder / "needle.efg").write_text(needle("1e12"))
    game = hogeq.Game("needle.efg")
    found = game.attack("uniform")
    assert found.is_proved
    assert found.to_json()["seats"][0] == 0.5
    assert found.to_json()["attack"] == pytest.approx(0.1868958333333, abs=1e-12)
    solved = game.equilibrium(10.0).to_json()
    assert (solved["lower"], solved["upper"], solved["proved"]) == (0.5, 0.5, True)


ROUNDING = """EFG 2 R "t" { "P1" "P2" }
""

c "" 1 "" { "0" 1/2 "1" 1/4 "2" 1/4 } 0
p "" 2 1 "" { "0" "1" "2" } 0
t "" 13 "" { 2, -2 }
t "" 14 "" { -1/2, 1/2 }
t "" 15 "" { 1, -1 }
t "" 16 "" { 10000000000, -10000000000 }
t "" 17 "" { -10000000000, 10000000000 }
"""


def test_large_payoffs_that_cancel_leave_no_rounding(in_folder: Path) -> None:
    (in_folder / "rounding.efg").write_text(ROUNDING)
    solved = hogeq.Game("rounding.efg").equilibrium(5.0)
    assert solved.is_proved
    assert (solved.lower, solved.upper) == (-0.25, -0.25)


HIDDEN = """EFG 2 R "a third, and a branch that player 1 never takes" {{ "A" "B" }}
p "" 1 1 "" {{ "a" "b" }} 0
t "" 1 "" {{ {none} }}
p "" 2 1 "" {{ "c" "d" }} 0
t "" 2 "" {{ {third} }}
t "" 3 "" {{ {large} }}
"""


@pytest.mark.parametrize(
    ("none", "third", "large", "value"),
    [
        ("0 1", "1/3 2/3", "1e12 -999999999999", 1 / 3),
        ("0 0", "1/3 -1/3", "1e12 -1e12", 1 / 3),
        ("0 1e12", "1e-6 999999999999.999999", "1e12 0", 1e-6),
        ("0 1/3", "1 -2/3", "1e30 -2999999999999999999999999999999/3", 1.0),
    ],
)
def test_a_constant_sum_rounds_no_payoff_away(
    none: str, third: str, large: str, value: float, in_folder: Path
) -> None:
    text = HIDDEN.format(none=none, third=third, large=large)
    (in_folder / "hidden.efg").write_text(text)
    solved = hogeq.Game("hidden.efg").equilibrium(5.0)
    assert solved.lower <= value <= solved.upper
    # The program's tolerance hides the last two values; then nothing is called proved.
    assert solved.is_proved == (value == 1 / 3)


def test_policies_are_measured_by_bounds_and_not_by_what_was_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A response that falls short shows nothing about what a policy secures."""
    whole = best_response

    def poor(form: Any, *given: Any, **more: Any) -> Answer:
        answer, first = whole(form, *given, **more), np.zeros(form.tree.num_rows, np.int64)
        return answer._replace(strategy=one_hot(first, form.tree.num_actions), payoff=-9.0)

    monkeypatch.setattr(responses, "best_response", poor)
    monkeypatch.setattr(columns, "best_response", poor)
    found = hogeq.Game("kuhn_poker").in_policies(0.2)
    assert found.lower <= -1 / 18 <= found.upper
    assert found.upper - found.lower < 1.5  # by the bounds of uniform policies at worst


@pytest.mark.slow
def test_what_highs_bounds_is_not_called_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bound may be any number; a belief DAG takes its place, or nothing is proved."""
    honest = solve_by_program

    def lies(form: Any, worth: Any, seconds: float) -> tuple[Any, float]:
        found, _ = honest(form, worth, seconds)
        return found, max(-1e-9, float(form.perfect_recall_values(worth)[0][0]) - 1e-6)

    monkeypatch.setattr("hogeq.trees.best_response.MOST_SHARED_ROWS", -1)
    monkeypatch.setattr("hogeq.trees.best_response.STARTS", 0)
    monkeypatch.setattr("hogeq.trees.best_response.solve_by_program", lies)
    for seed in range(30):
        root = drawn(np.random.default_rng(seed), 5)
        if all(len(infosets(root, seat)) <= 3 for seat in (0, 1)):
            check(root)
    monkeypatch.setattr(whole_dags, "whole_dag", lambda *_: None)
    methods = set()
    for seed in range(30):
        tree = laid_out(drawn(np.random.default_rng(seed), 5))
        found = respond_in_both_seats(tree, tree.uniform(), 1.0)
        methods.add(found.method)
        assert not (found.is_proved and found.method == "integer program")


def test_probabilities_that_miss_1_are_divided_by_their_sum() -> None:
    """As by positions; the largest had the difference, which may be more than a rounding."""
    draw = np.random.default_rng(7)
    for size in (2, 3, 50):
        given = draw.dirichlet([0.05] * size).tolist()
        total = sum(map(Fraction, given))
        for one, number in zip(distribution(given), given, strict=True):
            assert abs(one - Fraction(number) / total) <= Fraction(1, 2**100) * one
        assert sum(distribution(given)) == 1
    assert distribution([0.1, 0.2, 0.7]) == [Fraction(one, 10) for one in (1, 2, 7)]
    assert distribution([0.0, 0.0]) == [1, 0]  # of a row to which no play comes


def test_a_margin_holds_what_sums_of_probabilities_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    """A strategy's 60 actions may miss the sum 1 by 100 roundings; no margin counted that."""
    width = 60
    root = "chance", [(Fraction(1, 2), (0, 0, [("end", Fraction(1))] * width))] * 2
    tree = laid_out(root)
    policy = np.full(tree.shape, (1.0 + 100 * 2.0**-53) / width)
    monkeypatch.setattr(enclosures, "MOST_NODES", 0)
    enclosures.exact_numbers_of.cache_clear()
    plan = plan_of(sequence_form(tree, 0), Strategy.unchecked(policy))
    payoffs = Payoffs(tree, 0, plan_of(sequence_form(tree, 1), Strategy.unchecked(policy)))
    lower, upper = payoffs.payoff_bounds(plan)
    assert lower <= 1 <= upper
    enclosures.exact_numbers_of.cache_clear()


def test_thirds_of_a_program_are_thirds() -> None:
    """A value of 0 is proved at every scale: rounding has no digits that could agree."""
    near = [1 / 3 + 1e-12, 1 / 3 - 2e-12, 1 / 3 + 1e-12]
    mixed = Strategy.unchecked_mixture(
        np.array([[[0.25, 0.75]], [[1.0, 0.0]], [[0.3, 0.7]]]), np.array(near)
    )
    short = round_to_short_fractions(mixed)
    assert short.chances.tolist() == [1 / 3] * 3
    assert short.policies.tolist() == mixed.policies.tolist()
    apart = Strategy.unchecked(np.array([[1 / 3 + 1e-9, 2 / 3 - 1e-9], [0.123456789, 0.876543211]]))
    assert np.array_equal(round_to_short_fractions(apart).policy, apart.policy)
    for unit in (1e-299, 1e-12, 1.0, 1e15, 3e200):
        cycle = [[0, -1, 2], [1, 0, -3], [-2, 3, 0]]  # equal payoffs, by no equal chances
        root = 0, 1, [(1, 1, [("end", one * Fraction(repr(unit))) for one in row]) for row in cycle]
        solved = solve_by_columns(laid_out(root), 10.0)
        told = solved.to_json()
        assert (told["lower"], told["upper"], solved.is_proved) == (0.0, 0.0, True), unit
