"""Ends that are called proved: against all pure strategies, in fractions, by plain recursion."""

import itertools
import math
import tracemalloc
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.search import units
from hogeq.search.results import Units
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import Strategy
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees import beliefs, columns, enclosures, responses
from hogeq.trees.beliefs import remembering
from hogeq.trees.best_response import Answer, best_response
from hogeq.trees.building import Node as TreeNode
from hogeq.trees.building import flatten
from hogeq.trees.columns import by_columns
from hogeq.trees.enclosures import Payoffs, plan_of, shortened
from hogeq.trees.enumeration import enumerated
from hogeq.trees.exact_numbers import distribution, meant
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree
from hogeq.trees.gambit import from_efg
from hogeq.trees.integer_program import by_program
from hogeq.trees.positions import of_rules
from hogeq.trees.responses import enclosed_response
from hogeq.trees.rules import GameRules, from_rules
from hogeq.trees.saved import load_tree_file, save_tree
from hogeq.trees.sequence_payoffs import stakes
from hogeq.trees.sequences import sequence_form

Node = tuple[Any, ...]  # ("end", payoff), ("chance", [(chance, node)]), (seat, infoset, [node])
Games = Callable[[np.random.Generator], Node]


def drawn(draw: np.random.Generator, depth: int, moved: tuple[int, int] = (0, 0)) -> Node:
    """Draw a game; a seat knows how often it has moved and one bit, so that it forgets."""
    who = int(draw.choice([-1, 0, 0, 1, 1])) if depth else -2
    if who == -2 or draw.random() < 0.1:
        return "end", Fraction(int(draw.integers(-3, 4)), int(draw.choice([1, 1, 3, 10])))
    if who == -1:
        weights = draw.integers(0, 4, 3)
        weights[0] += not weights.any()
        after = [drawn(draw, depth - 1, moved) for _ in weights]
        return "chance", [
            (Fraction(int(weight), int(weights.sum())), one)
            for weight, one in zip(weights, after, strict=True)
        ]
    known = 2 * moved[who] + int(draw.integers(2)) if moved[who] == 0 else 2
    more = (moved[0] + (who == 0), moved[1] + (who == 1))
    if moved[who] > 1:  # an information set is met once
        return "end", Fraction(int(draw.integers(-3, 4)))
    return who, known, [drawn(draw, depth - 1, more) for _ in range(2)]


def changed(node: Node, number: list[int], payoff: Fraction) -> Node:
    """Give the end that is met after so many others another payoff."""
    if node[0] == "end":
        number[0] -= 1
        return ("end", payoff) if number[0] == -1 else node
    if node[0] == "chance":
        return "chance", [(chance, changed(one, number, payoff)) for chance, one in node[1]]
    return *node[:2], [changed(one, number, payoff) for one in node[2]]


def dominated(draw: np.random.Generator) -> Node:
    """Draw a game that one payoff dominates: by chance, after an action, where nobody comes."""
    game, kind = drawn(draw, 4), int(draw.integers(4))
    huge = Fraction(int(10 ** draw.integers(5, 13))) * int(draw.choice([-1, 1]))
    if kind == 0:  # a lottery beside the game
        odds = Fraction(1, int(draw.choice([3, 4, 7, 10])))
        return "chance", [(odds, ("end", huge)), (odds, ("end", -huge)), (1 - 2 * odds, game)]
    if kind == 1:  # an action that nobody takes
        seat = int(draw.integers(2))
        return seat, 9, [game, ("end", abs(huge) * (2 * seat - 1))]
    if kind == 2:  # a branch that chance never takes
        return "chance", [(Fraction(0), ("end", huge)), (Fraction(1), game)]
    return changed(game, [int(draw.integers(6))], huge)


def laid_out(root: Node) -> FlatTree:
    def look(node: Node) -> TreeNode:
        if node[0] == "end":
            return TreeNode(TERMINAL, payoffs=(node[1], -node[1]))
        if node[0] == "chance":
            return TreeNode(CHANCE, moves=[(at, *one) for at, one in enumerate(node[1])])
        return TreeNode(node[0], node[1], moves=[(at, 1.0, one) for at, one in enumerate(node[2])])

    return flatten("drawn", root, look, lambda moves: [*map(str, moves)])


def infosets(node: Node, seat: int) -> set[int]:
    after = [one for _, one in node[1]] if node[0] == "chance" else node[2] if node[2:] else []
    own = {node[1]} if node[0] == seat else set()
    return own.union(*(infosets(one, seat) for one in after))


def worth(
    node: Node, rows: tuple[dict[int, list[Fraction]], dict[int, list[Fraction]]]
) -> Fraction:
    if node[0] == "end":
        return Fraction(node[1])
    if node[0] == "chance":
        return sum((chance * worth(one, rows) for chance, one in node[1] if chance), Fraction())
    pairs = zip(rows[node[0]][node[1]], node[2], strict=True)
    return sum((share * worth(one, rows) for share, one in pairs if share), Fraction())


def pure(node: Node, seat: int) -> list[dict[int, list[Fraction]]]:
    known = sorted(infosets(node, seat))
    acts = [Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]
    return [
        dict(zip(known, rows, strict=True)) for rows in itertools.product(acts, repeat=len(known))
    ]


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
    response = enclosed_response(tree, tree.uniform(), 5.0)
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


def test_what_one_payoff_dominates_is_proved_to_the_digits_that_are_written() -> None:
    responses, values = check_many(range(60), dominated)
    assert responses > 0.9
    assert values > 0.6


@pytest.mark.slow
def test_a_thousand_games_that_one_payoff_dominates() -> None:
    responses, values = check_many(range(1000, 2200), dominated)
    assert responses > 0.9
    assert values > 0.6


def test_without_fractions_ends_hold_by_their_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enclosures, "MOST_NODES", 0)
    enclosures.numbers_of.cache_clear()
    check_many(range(40), dominated)
    proved = check_many(range(40), lambda draw: drawn(draw, 4))
    assert min(proved) > 0.8
    enclosures.numbers_of.cache_clear()


def test_margins_contain_what_fractions_say(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(30):
        tree = laid_out(dominated(np.random.default_rng(seed)))
        uniform = hogeq.Game(tree).strategy("uniform")
        ends, truths = [], []
        for most in (10_000, 0):
            monkeypatch.setattr(enclosures, "MOST_NODES", most)
            enclosures.numbers_of.cache_clear()
            for player in (0, 1):
                one = Payoffs(tree, player, plan_of(sequence_form(tree, 1 - player), uniform))
                own = plan_of(sequence_form(tree, player), uniform)
                dag = remembering(one.form)
                assert (one.exact is not None) is (most > 0)
                if one.exact is not None:
                    truths.append(one.exact)
                elif not one.level:
                    for truth, middle, radius in zip(
                        truths[player], one.middle, one.radius, strict=True
                    ):
                        off = abs(truth - one.unit * Fraction(middle))
                        assert off <= one.unit * Fraction(radius)
                ends.append((one.least_of(own), one.most(dag)))
        for precise, rough in zip(ends[:2], ends[2:], strict=True):
            assert rough[0] <= precise[0] <= precise[1] <= rough[1], seed
    enclosures.numbers_of.cache_clear()


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
                worth = form.payoffs(tree.uniform()) / tree.expected
                unit, dag = stakes(tree), remembering(form)
                moved = one.moved(worth, unit, form.most(worth))
                ends.append((one.least_of(own), one.most(dag), moved))
                kinds.add((plan.exact is None, one.exact is None, own.exact is None))
            precise, rough = ends
            assert rough[0] <= precise[0] <= precise[1] <= min(rough[1:]), seed
            assert precise[1] <= precise[2], seed
    assert len(kinds) > 1


def test_enumeration_bounds_all_responses_whatever_is_rounded() -> None:
    """Sums over sequences in fractions, of every pure strategy; some round below the truth."""
    draw, rounded = np.random.default_rng(0), 0
    for _ in range(400):
        form = sequence_form(laid_out(drawn(draw, 6)), 0).inflate(FOREVER)
        if not len(form.shared) or form.rank is None:
            continue
        payoffs = draw.normal(size=form.size) * 3.0 ** draw.integers(0, 9, form.size)
        start = np.zeros(form.tree.num_rows, np.int64)
        least = float(form.pure(start) @ payoffs)
        _, value, bound = enumerated(form, payoffs, start, least)
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


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


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


def test_what_highs_bounds_is_not_called_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bound may be any number; a belief DAG takes its place, or nothing is proved."""
    honest = by_program

    def lies(form: Any, worth: Any, seconds: float) -> tuple[Any, float]:
        found, _ = honest(form, worth, seconds)
        return found, max(-1e-9, float(form.remember(worth)[0][0]) - 1e-6)

    monkeypatch.setattr("hogeq.trees.best_response.FEW", -1)
    monkeypatch.setattr("hogeq.trees.best_response.STARTS", 0)
    monkeypatch.setattr("hogeq.trees.best_response.by_program", lies)
    for seed in range(30):
        root = drawn(np.random.default_rng(seed), 5)
        if all(len(infosets(root, seat)) <= 3 for seat in (0, 1)):
            check(root)
    monkeypatch.setattr(beliefs, "whole_dag", lambda *_: None)
    methods = set()
    for seed in range(30):
        tree = laid_out(drawn(np.random.default_rng(seed), 5))
        found = enclosed_response(tree, tree.uniform(), 1.0)
        methods.add(found.method)
        assert not (found.is_proved and found.method == "integer program")


@pytest.mark.parametrize(
    ("number", "fraction"),
    [
        (1 / 3, Fraction(1, 3)),
        (0.1, Fraction(1, 10)),
        (3e-12, Fraction(3, 10**12)),
        (1.5e23, Fraction(15 * 10**22)),
        (-2.5e-299, Fraction(-25, 10**300)),
        (3.0000000000000004e-11, Fraction(3.0000000000000004e-11)),
        (10_000_000 / 10_000_003, Fraction(10_000_000, 10_000_003)),
        (math.pi, Fraction(math.pi)),
        (0.0, Fraction()),
    ],
)
def test_numbers_stand_for_short_fractions_and_decimals(number: float, fraction: Fraction) -> None:
    assert meant(number) == fraction
    assert float(meant(number)) == number


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
    enclosures.numbers_of.cache_clear()
    plan = plan_of(sequence_form(tree, 0), Strategy.unchecked(policy))
    payoffs = Payoffs(tree, 0, plan_of(sequence_form(tree, 1), Strategy.unchecked(policy)))
    lower, upper = payoffs.payoff_bounds(plan)
    assert lower <= 1 <= upper
    enclosures.numbers_of.cache_clear()


def test_thirds_of_a_program_are_thirds() -> None:
    """A value of 0 is proved at every scale: rounding has no digits that could agree."""
    near = [1 / 3 + 1e-12, 1 / 3 - 2e-12, 1 / 3 + 1e-12]
    mixed = Strategy.unchecked(
        np.array([[[0.25, 0.75]], [[1.0, 0.0]], [[0.3, 0.7]]]), np.array(near)
    )
    short = shortened(mixed)
    assert short.chances.tolist() == [1 / 3] * 3
    assert short.policies.tolist() == mixed.policies.tolist()
    apart = Strategy.unchecked(np.array([[1 / 3 + 1e-9, 2 / 3 - 1e-9], [0.123456789, 0.876543211]]))
    assert np.array_equal(shortened(apart).policy, apart.policy)
    for unit in (1e-299, 1e-12, 1.0, 1e15, 3e200):
        cycle = [[0, -1, 2], [1, 0, -3], [-2, 3, 0]]  # equal payoffs, by no equal chances
        root = 0, 1, [(1, 1, [("end", one * Fraction(repr(unit))) for one in row]) for row in cycle]
        solved = by_columns(laid_out(root), 10.0)
        told = solved.to_json()
        assert (told["lower"], told["upper"], solved.is_proved) == (0.0, 0.0, True), unit


# --- digits ---------------------------------------------------------------------------------------


def test_ends_are_written_outward_unless_all_between_is_written_alike() -> None:
    units = Units.of_payoffs(0.0, 1.0, 1.0)
    assert units.lower(1 / 3) == "0.333333333"
    assert units.upper(1 / 3) == "0.333333334"
    assert units.lower(-1 / 3) == "-0.333333334"
    assert units.upper(0.25) == units.lower(0.25) == "0.250000000"
    assert units.exact(123456.789) == "123456.7890"
    assert units.exact(1e12) == "1.000000000e+12"
    half = 2.0**-10  # 0.0009765625 lies halfway between two figures of nine decimals
    assert units.exact(math.nextafter(half, 0.0)) == units.exact(math.nextafter(half, 1.0))
    assert not units.are_one(0.3333333331, 0.3333333339)
    assert units.are_one(0.33333333331, 0.33333333339)


def test_proved_figures_have_the_digits_that_both_ends_agree_in() -> None:
    def agreed(lower: float, upper: float) -> float:
        one, two = units.agreed(lower, upper)
        assert one == two
        return one

    assert agreed(0.25, 0.25) == 0.25
    assert agreed(0.4583333333333331, 0.4583333333333336) == 0.45833333333333
    assert agreed(-1e-17, 1e-17) == 0.0
    tiny = 7.142857142857143e-19
    assert agreed(math.nextafter(tiny, 0.0), tiny) == pytest.approx(tiny, rel=1e-14)
    assert agreed(3.3583333299748e-10, 3.3583333299749e-10) == 3.358333329975e-10
    assert agreed(0.99999999996, 1.00000000004) == 1.0
    assert agreed(9.99999999996e-20, 1.00000000004e-19) == 1e-19
    for apart in ((-51215712087053.2, -51215712087053.0), (2461538461538461.5, 2461538461538462.0)):
        assert units.agreed(*apart) == apart  # a zero for what they differ in would be false


# --- width ----------------------------------------------------------------------------------------


def test_an_information_set_with_200_000_actions_takes_little_memory() -> None:
    count = 200_000

    def look(node: int | None) -> TreeNode:
        if node is None:
            return TreeNode(0, "wide", moves=[(one, 1.0, one) for one in range(count)])
        return TreeNode(TERMINAL, payoff=float(node))

    tree = flatten("wide", None, look, lambda moves: [*map(str, moves)])
    game = hogeq.Game(tree)
    tracemalloc.start()
    found, solved = game.attack("uniform"), game.equilibrium(10.0)
    sides = game.audit()
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 2**30
    assert found.is_proved
    assert found.to_json()["seats"] == [count - 1.0, -(count - 1) / 2]
    assert solved.is_proved
    assert solved.to_json()["lower"] == count - 1.0
    assert sides[0].findings["perfect recall"].holds


def test_weights_of_a_mixture_that_miss_1_are_made_to_sum_to_1(in_folder: Path) -> None:
    """Both components take 9 in the first seat, and allow 7 in the second."""
    (in_folder / "n.efg").write_text(
        'EFG 2 R "n" { "A" "B" }\np "" 1 1 "" { "l" "r" } 0\n'
        't "" 1 "" { 9, -9 }\nt "" 2 "" { 7, -7 }\n'
    )
    game = hogeq.Game("n.efg")
    policy = np.array([[0.0, 1.0]])
    for off in (-0.9e-9, 0.9e-9):
        mixture = hogeq.Mixture([0.5 + off, 0.5], [policy, policy])
        own, other = game.value(mixture, mixture), game.value(mixture, "uniform")
        assert own[1:] == pytest.approx((7.0, -7.0), abs=1e-14)
        assert other[1:] == pytest.approx((7.0, -8.0), abs=1e-14)
        found = game.attack(mixture)
        assert found.is_proved
        assert found.to_json()["seats"] == [9.0, -7.0]


def forgets(count: int, *, remembers: bool = False) -> Any:
    """Choose one of many; the other calls 0 or 1; guess that, having forgotten which it was.

    A guess that is right is paid a share of the first choice in the largest.
    """

    def look(state: tuple[int, ...]) -> TreeNode:
        if len(state) == 3:
            won = (state[0] + 1) / count if state[1] == state[2] else 0.0
            return TreeNode(TERMINAL, payoff=won)
        moves = [(one, 1.0, (*state, one)) for one in range(2 if state else count)]
        known = len(state), *state[: remembers and len(state) == 2]
        return TreeNode((0, 1, 0)[len(state)], known, moves=moves)

    return hogeq.Game(flatten("forgets", (), look, lambda moves: [*map(str, moves)]))


def test_a_row_with_as_many_pasts_as_another_has_actions_takes_little_memory() -> None:
    """Values by hand: the first choice is the largest, and a guess is right half the time."""
    count = 6_000
    game = forgets(count)
    tracemalloc.start()
    found, solved, sides = game.attack("uniform"), game.equilibrium(20.0), game.audit()
    policies, last = game.in_policies(20.0), game.solve("cfr_plus", 3).strategy
    lost = game.exploitability(last)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < count**2  # less than a byte for each pair of actions
    assert found.is_proved
    assert found.to_json()["seats"] == pytest.approx([0.5, -(count + 1) / (4 * count)])
    assert solved.is_proved
    assert solved.method == "lp"
    assert solved.lower == pytest.approx(0.5)
    assert policies.is_proved
    assert policies.lower == pytest.approx(0.5)
    assert 0.0 <= lost.lower <= lost.upper < 0.5
    assert sides[0].forgetful == sides[0].free == {(2,)}
    assert sides[0].findings["A-loss recall"].holds
    assert not sides[0].findings["perfect recall"].holds
    assert forgets(20_000).equilibrium(20.0).lower == pytest.approx(0.5)


def test_what_needs_too_large_a_table_is_refused_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows of a table are as wide as the widest; CFR needs one of all decisions."""
    kept, wide = forgets(100, remembers=True), forgets(100)
    monkeypatch.setattr("hogeq.trees.rows.MOST_CELLS", 300)
    for call in (kept.equilibrium, lambda: kept.attack("uniform"), kept.in_policies):
        with pytest.raises(ValueError, match=r"102 information sets, and one has 100 actions; all"):
            call()
    assert kept.audit()[0].findings["perfect recall"].holds
    with pytest.raises(ValueError, match=r"102 decisions of belief DAGs, and one has 100 actions;"):
        wide.equilibrium(10.0, method="cfr")


# --- numbers that no double stands for ------------------------------------------------------------

COIN = """EFG 2 R "coin" {{ "One" "Two" }}
c "" 1 "" {{ "h" {heads} "l" {tails} }} 0
p "" 1 1 "x" {{ "a" "b" }} 0
t "" 1 "" {{ {high}, -{high} }}
t "" 2 "" {{ {low}, -{low} }}
t "" 3 "" {{ {lost}, {won} }}
"""


@pytest.mark.parametrize(
    ("heads", "high", "low", "lost", "value"),
    [
        ("1/2", 10**16 + 1, 10**16, -(10**16), Fraction(1, 2)),
        (
            "12345678901/98765432109",
            86419753208000001,
            86419753208000000,
            -12345678901000000,
            Fraction(12345678901, 98765432109),
        ),
        ("12345678901/98765432109", "86419753208/1000", 1, "-12345678901/1000", Fraction()),
        ("0.1234567890123456789", "1/3", 0, "-2/7", None),
    ],
)
def test_nothing_is_proved_of_other_numbers_than_those_of_the_file(
    tmp_path: Path, heads: str, high: int | str, low: int, lost: int | str, value: Fraction | None
) -> None:
    tails = 1 - Fraction(heads)
    if value is None:
        value = Fraction(heads) * Fraction(high) + tails * Fraction(lost)
    numbers = {"heads": heads, "tails": tails, "high": high, "low": low, "lost": lost}
    file = tmp_path / "coin.efg"
    file.write_text(COIN.format(**numbers, won=-Fraction(str(lost))))
    tree = from_efg(file)
    assert tree.is_rounded
    save_tree(tree, tmp_path / "coin.npz")
    again = load_tree_file(tmp_path / "coin.npz")
    for one in (tree, again):
        found = columns.by_columns(one, 5.0)
        told = found.to_json()
        assert Fraction(found.lower) <= value <= Fraction(found.upper)
        if found.is_proved:
            assert told["lower"] == pytest.approx(float(value), rel=1e-12)
            assert found.units.exact(told["lower"]) == found.units.exact(float(value))
        response = enclosed_response(one, one.uniform(), 5.0)
        best = Fraction(response.seats[0]), Fraction(response.seat_bounds[0])  # type: ignore[index]
        assert best[0] <= value <= best[1]


class Choice(GameRules):
    """Player 0 chooses between two ends."""

    def __init__(self, players: int, *ends: Sequence[Any]) -> None:
        self.players, self.ends = players, ends

    def initial(self) -> int:
        return 0

    def to_move(self, state: int) -> int:
        return hogeq.END if state else 0

    def actions(self, state: int) -> list[int]:
        return [state + 1, state + 2]

    def next(self, state: int, action: int) -> int:
        return state + action

    def payoffs(self, state: int) -> Sequence[Any]:
        return self.ends[state - 1]


@pytest.mark.parametrize(
    ("players", "teams", "first", "value"),
    [
        (1, None, [10**16 + 1], Fraction(10**16 + 1)),
        (1, None, [Decimal(10**16 + 1)], Fraction(10**16 + 1)),
        (3, "01/2", [Decimal(10**16 + 1), Decimal(-(10**16)), -1], Fraction(1)),
        (3, "02/1", [2**53 + 1, -(2**53) - 1, 0], Fraction(2**53 + 1)),
        (3, "01/2", [10**16 + 1, -(10**16), -1], Fraction(1)),
        (3, "01/2", [10**17 + 3, -(10**17), -3], Fraction(3)),
        (3, "01/2", [0.1, 0.2, -0.3], Fraction(3, 10)),
        (
            3,
            "01/2",
            [Fraction(10**17, 3), Fraction(1 - 10**17, 3), Fraction(-1, 3)],
            Fraction(1, 3),
        ),
    ],
)
def test_numbers_of_a_game_in_python_are_those_it_gives(
    players: int, teams: str | None, first: Sequence[Any], value: Fraction
) -> None:
    tree = from_rules(Choice(players, first, [0] * players), teams=teams)
    found = columns.by_columns(tree, 2.0)
    assert Fraction(found.lower) <= value <= Fraction(found.upper)
    assert found.upper - found.lower <= 1e-9 * max(1.0, abs(float(value)))


def test_a_sum_of_payoffs_is_what_fractions_come_to() -> None:
    """It was taken as 0 if it was small beside the payoffs."""
    whole = [10**13, 5 - 10**13]
    tree = from_rules(Choice(2, whole, whole))
    assert 2.0 * tree.shift == 5.0
    assert enclosed_response(tree, tree.uniform(), 2.0).value == 2.5
    with pytest.raises(hogeq.HogeqError, match="payoffs sum to 0, at the first end to 5"):
        from_rules(Choice(2, whole, [1, -1]))
    sloppy = [0.1 * 3, -0.3]
    assert from_rules(Choice(2, [1.0, -1.0], sloppy)).shift == 0.0


def test_floats_are_added_to_fractions_and_decimals_as_what_they_stand_for() -> None:
    rules = Choice(2, [0.1, Fraction(999, 10)], [Decimal("0.7"), 99.3])
    assert from_rules(rules).shift == of_rules(rules).graph.total / 2 == 50.0
    third = Decimal(1) / 3  # of 28 digits
    with pytest.raises(hogeq.HogeqError, match="is not zero-sum: payoffs sum to"):
        from_rules(Choice(2, [0, 1], [third, Fraction(2, 3)]))


@pytest.mark.parametrize("number", ["nan", "snan", "inf", "-inf", "1e999999999", "1e-999999999"])
def test_a_decimal_that_is_no_payoff_is_refused_in_a_line(number: str) -> None:
    rules = Choice(1, [0], [Decimal(number)])
    for build in (from_rules, of_rules):
        with pytest.raises(hogeq.HogeqError, match=r"number: got Decimal.*; allowed: finite ones"):
            build(rules)


def test_positions_refuse_decimals_that_no_double_stands_for() -> None:
    with pytest.raises(hogeq.HogeqError, match="payoffs, and a sum of both players', that a doub"):
        of_rules(Choice(1, [0], [Decimal(10**16 + 1)]))
