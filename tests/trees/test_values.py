"""Payoffs of strategies against each other: every digit that is printed is that of fractions."""

import pickle
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.search.results import Units
from hogeq.search.values import Value
from hogeq.strategies.strategy import Mixture, Strategy
from hogeq.support.deadline import Deadline
from hogeq.trees import exact_numbers, flat, full_information
from hogeq.trees.absent_results import gaps_of
from hogeq.trees.flat import FlatTree
from hogeq.trees.gambit import from_efg
from hogeq.trees.positions import of_rules
from hogeq.trees.rules import from_rules
from hogeq.trees.strategies import tree_strategy
from hogeq.trees.values import value
from tests.cli.calls import ask, ok
from tests.own_rules import Choice, Moves, States
from tests.slow import fast_and_slow
from tests.trees.games_in_fractions import Node, dominated, drawn, infosets, laid_out, worth

Chances = dict[int, list[Fraction]]
Pair = tuple[Chances, Chances]


def widened(root: Node, ends: int, huge: int) -> Node:
    """Put a game beside a lottery of so many pairs of ends over which nobody decides."""
    odds = Fraction(1, 3 * ends)
    sides = [("end", Fraction(huge * sign, 7)) for sign in (1, -1)] * ends
    return "chance", [*((odds, side) for side in sides), (Fraction(1, 3), root)]


def cancelling(draw: np.random.Generator, least: int) -> Node:
    """Draw a game of so many nodes at least in which payoffs of up to 10**12 cancel."""
    root = dominated(draw)
    return widened(root, least // 2, 10 ** int(draw.integers(6, 13))) if least else root


def rows_of(root: Node, draw: np.random.Generator) -> Pair:
    """Draw rows of both seats: thirds, tenths and dyadic fractions, which doubles stand for."""
    found: list[Chances] = []
    for seat in (0, 1):
        below = [int(draw.choice([3, 10, 2**30])) for _ in infosets(root, seat)]
        first = [Fraction(int(draw.integers(0, most + 1)), most) for most in below]
        known = sorted(infosets(root, seat))
        found.append({one: [p, 1 - p] for one, p in zip(known, first, strict=True)})
    return found[0], found[1]


def policy_of(tree: FlatTree, rows: Pair) -> Strategy:
    policy = np.zeros(tree.shape)
    for row, (seat, name) in enumerate(zip(tree.seat.tolist(), tree.names, strict=True)):
        policy[row, :2] = [float(one) for one in rows[seat][int(name)]]
    return Strategy.unchecked(policy)


def assert_true(tree: FlatTree, found: Value, known: Sequence[Fraction], *, is_one: bool) -> None:
    written = found.written(tree.units)
    numbers = found.to_json(tree.units)
    for figure, number, text, key, (lower, upper) in zip(
        known, found, written, ("payoff", "first", "second"), found.ends, strict=True
    ):
        assert lower <= figure <= upper
        assert number == pytest.approx(float(figure), rel=1e-11, abs=1e-11 + upper - lower)
        if is_one:
            assert text == tree.units.exact(float(figure))
            assert numbers[key] == pytest.approx(float(figure), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("games", "least"), fast_and_slow([(100, 0), (4, 2_500)], [(300, 0), (40, 2_500)])
)
def test_payoffs_that_cancel_leave_the_digits_of_fractions(games: int, least: int) -> None:
    draw = np.random.default_rng(least)
    large = 0
    for _ in range(games):
        root = cancelling(draw, least)
        tree, one, two = laid_out(root), rows_of(root, draw), rows_of(root, draw)
        first, second = worth(root, (one[0], two[1])), -worth(root, (two[0], one[1]))
        found = value(tree, policy_of(tree, one), policy_of(tree, two))
        assert_true(tree, found, ((first + second) / 2, first, second), is_one=True)
        large += tree.num_nodes > 2_000
    assert large == (games if least else 0)


@pytest.mark.parametrize("games", fast_and_slow([4], [10]))
def test_a_mixture_of_large_payoffs_is_worth_its_mean(games: int) -> None:
    draw = np.random.default_rng(5)
    for _ in range(games):
        root = cancelling(draw, 2_100)
        tree = laid_out(root)
        if not tree.num_rows:
            continue
        parts = [rows_of(root, draw) for _ in range(3)]
        other, weights = rows_of(root, draw), [Fraction(1, 10), Fraction(1, 5), Fraction(7, 10)]
        mixture = Mixture(
            [float(one) for one in weights], [policy_of(tree, one).policy for one in parts]
        )
        found = value(tree, tree_strategy(tree, mixture), policy_of(tree, other))
        pairs = [*zip(weights, parts, strict=True)]
        first = sum((w * worth(root, (one[0], other[1])) for w, one in pairs), Fraction())
        second = sum((-w * worth(root, (other[0], one[1])) for w, one in pairs), Fraction())
        assert_true(tree, found, ((first + second) / 2, first, second), is_one=True)


@pytest.mark.parametrize("games", fast_and_slow([15], [60]))
@pytest.mark.parametrize("most", [0, 1, 100])
def test_where_fractions_are_too_many_both_ends_hold(
    most: int, games: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_numbers, "MOST_EXACT", most)
    draw, apart = np.random.default_rng(most), 0
    for _ in range(games):
        root = cancelling(draw, 600)
        tree, rows = laid_out(root), rows_of(root, draw)
        first = worth(root, rows)
        found = value(tree, policy_of(tree, rows), policy_of(tree, rows))
        assert_true(tree, found, (Fraction(), first, -first), is_one=False)
        apart += any(" to " in text for text in found.written(tree.units))
    assert apart > games / 12


@pytest.mark.parametrize("many", [0, 10_000])
def test_payoffs_of_usual_games_hold_without_a_fraction(
    many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However they are added up."""
    monkeypatch.setattr(exact_numbers, "MOST_EXACT", 0)
    monkeypatch.setattr(flat, "MANY", many)
    draw = np.random.default_rng(3)
    for _ in range(100):
        root = drawn(draw, 5)
        tree, one, two = laid_out(root), rows_of(root, draw), rows_of(root, draw)
        first, second = worth(root, (one[0], two[1])), -worth(root, (two[0], one[1]))
        found = value(tree, policy_of(tree, one), policy_of(tree, two))
        assert_true(tree, found, ((first + second) / 2, first, second), is_one=True)


def test_long_chains_of_chance_have_few_digits(tmp_path: Path) -> None:
    """Fractions of a play have digits for each of its moves, whose sums cost their square."""
    odds = range(10**7 + 1, 10**7 + 8_000, 2)  # 4,000 denominators, which share little
    steps = [
        f'c "" {odd} "" {{ "stop" 1/{odd} "go" {odd - 1}/{odd} }} 0\n'
        f't "" {odd} "" {{ {odd % 5}, -{odd % 5} }}'
        for odd in odds
    ]
    last = 'p "" 1 1 "" { "l" "r" } 0\nt "" 2 "" { 6, -6 }\nt "" 3 "" { 8, -8 }'
    text = "\n".join(['EFG 2 R "" { "A" "B" }', *steps, last])
    (tmp_path / "chain.efg").write_text(text, "utf-8")
    tree = from_efg(tmp_path / "chain.efg")
    goes_on, stopped = 1.0, 0.0
    for odd in odds:
        stopped += goes_on * (odd % 5) / odd
        goes_on *= 1 - 1 / odd
    uniform = tree_strategy(tree, "uniform")
    begun = process_time()
    found = value(tree, uniform, uniform)
    solved = hogeq.Game(tree).equilibrium(seconds=1)
    assert process_time() - begun < 8.0  # 20 s with digits for all of them
    assert found.first == pytest.approx(stopped + 7 * goes_on, abs=1e-10)
    assert solved.is_proved
    assert solved.lower == pytest.approx(stopped + 8 * goes_on, abs=1e-8)


LOTTERY = """EFG 2 R "lottery" {{ "A" "B" }}
c "" 1 "" {{ {odds} }} 0
{ends}
p "" 1 1 "" {{ "a" "b" }} 0
t "" 1 "" {{ 0.374, -0.374 }}
t "" 2 "" {{ 0, 0 }}
"""


def lottery(pairs: int, huge: str = "1e12") -> str:
    """Write a lottery of pairs of ends beside a decision that comes with one half."""
    odds = " ".join(f'"{one}" 1/{4 * pairs}' for one in range(2 * pairs)) + ' "on" 1/2'
    ends = [f't "" {3 + one} "" {{ {sign}{huge}, {other}{huge} }}'
            for one, (sign, other) in enumerate([("", "-"), ("-", "")] * pairs)]  # fmt: skip
    return LOTTERY.format(odds=odds, ends="\n".join(ends))


@pytest.mark.parametrize("pairs", [3, 1_500])
def test_compare_prints_what_a_decision_is_worth_beside_a_lottery(
    pairs: int, in_folder: Path
) -> None:
    (in_folder / "lottery.efg").write_text(lottery(pairs))
    game = hogeq.Game("lottery.efg")
    game.strategy([[1.0, 0.0]]).write("best.npz")
    told = ask("compare", "best.npz", "uniform", "--game", "lottery.efg")
    assert [told[key] for key in ("payoff", "first", "second")] == [0.04675, 0.187, -0.0935]
    assert "ends" not in told
    text = ok("compare", "best.npz", "uniform", "--game", "lottery.efg")
    assert "0.187000000" in text
    assert " to " not in text.splitlines()[2]


def test_compare_gives_both_ends_where_no_double_stands_for_a_number(in_folder: Path) -> None:
    numbers = "1234567890123456789012"
    (in_folder / "long.efg").write_text(lottery(3, numbers))
    assert from_efg(in_folder / "long.efg").is_rounded
    told = ask("compare", "uniform", "uniform", "--game", "long.efg")
    for key, known in (("payoff", 0), ("first", Fraction(187, 2000)), ("second", -0.0935)):
        lower, upper = told["ends"][key]
        assert lower < known < upper
        assert lower <= told[key] <= upper
    assert " to " in ok("compare", "uniform", "uniform", "--game", "long.efg")


def test_a_file_that_is_written_says_that_its_numbers_are_rounded(in_folder: Path) -> None:
    (in_folder / "long.efg").write_text(lottery(3, "1234567890123456789012"))
    hogeq.Game("long.efg").write("again.efg")
    assert from_efg(in_folder / "again.efg").is_rounded
    lower, upper = hogeq.Game("again.efg").value("uniform").ends[1]
    assert lower < Fraction(187, 2000) < upper
    (in_folder / "short.efg").write_text(lottery(3))
    hogeq.Game("short.efg").write("again.efg")
    assert not from_efg(in_folder / "again.efg").is_rounded


def test_gains_of_many_rows_look_at_chance_once(
    in_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 300  # information sets, each after an outcome of one node of chance
    odds = " ".join(f'"{one}" 1/{count}' for one in range(count))
    lines = [f'EFG 2 R "many" {{ "a" "b" }} c "" 1 "" {{ {odds} }} 0']
    for one in range(count):
        lines.append(f'p "" 1 {one + 1} "" {{ "left" "right" }} 0')
        paid = [(one * 7919 + side) % 97 for side in (0, 1)]
        outcomes = enumerate(paid, 2 * one + 1)
        lines += [f't "" {outcome} "" {{ {win}, {-win} }}' for outcome, win in outcomes]
    (in_folder / "many.efg").write_text("\n".join(lines))
    game = hogeq.Game("many.efg")
    converted = 0
    distribution = exact_numbers.distribution

    def counted(numbers: Sequence[float]) -> list[Fraction]:
        nonlocal converted
        converted += len(numbers)
        return distribution(numbers)

    monkeypatch.setattr(exact_numbers, "distribution", counted)
    found = game.diff("uniform", [0] * count)
    assert converted < 20 * count
    names = [*map(str, game.tree.names)]
    for change, (lower, upper) in zip(found.changes, found.gain_ends, strict=True):
        one = int(change.infoset.strip("()")) - 1
        left, right = ((one * 7919 + side) % 97 for side in (0, 1))
        assert change.infoset in names
        assert lower <= Fraction(left - right, 4 * count) <= upper
        assert upper - lower < 1e-15


def test_a_value_is_three_numbers() -> None:
    """And what it finds its ends by is no part of it elsewhere."""
    mean, first, second = found = hogeq.Game("kuhn(players=2,ranks=3)").value("uniform")
    assert (mean, first, second) == (found.mean, found.first, found.second)
    assert found == (mean, first, second)
    assert "ends" not in repr(found)
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    assert (again, again.ends) == (found, found.ends)
    units = Units.of_payoffs(0.0, 1.0, 1.0)
    assert Value(0.5, 0.25, 0.75).written(units) == ["0.500000000", "0.250000000", "0.750000000"]


@pytest.mark.parametrize("pairs", [3, 1_500])
def test_a_lottery_of_any_size_leaves_the_digits_of_a_response(pairs: int, in_folder: Path) -> None:
    (in_folder / "lottery.efg").write_text(lottery(pairs))
    game = hogeq.Game("lottery.efg")
    found = game.attack("uniform").to_json()
    assert (found["attack"], found["bound"], found["proved"]) == (0.04675, 0.04675, True)
    solved = game.equilibrium(10.0).to_json()
    assert (solved["lower"], solved["upper"], solved["proved"]) == (0.187, 0.187, True)
    policies = game.in_policies(10.0).to_json()
    assert policies["lower"] == pytest.approx(0.187, abs=1e-6)
    assert policies["upper"] == pytest.approx(0.187, abs=1e-6)


# --- gaps -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("pairs", [3, 1_500])
def test_a_kkt_gap_has_no_digit_of_a_lottery(pairs: int, tmp_path: Path) -> None:
    file = tmp_path / "lottery.efg"
    file.write_text(lottery(pairs))
    tree = from_efg(file)
    found = gaps_of(tree, tree_strategy(tree, "uniform"), 0, Deadline(5.0))
    assert found.cdt[0] <= Fraction(187, 2000) <= found.cdt[1]
    assert found.cdt[1] - found.cdt[0] < 1e-9
    assert found.kkt == 0.0935


@pytest.mark.parametrize(
    ("games", "least"), fast_and_slow([(30, 0), (3, 2_100)], [(150, 0), (15, 2_100)])
)
def test_kkt_gaps_are_between_ends_that_fractions_are_between(games: int, least: int) -> None:
    draw = np.random.default_rng(least + 1)
    for _ in range(games):
        root = cancelling(draw, least)
        tree, rows = laid_out(root), rows_of(root, draw)
        seat = int(draw.integers(2))
        now, best = worth(root, rows), Fraction()
        for known in rows[seat]:
            for action in (0, 1):
                moved = [*rows]
                pure = [Fraction(int(one == action)) for one in (0, 1)]
                moved[seat] = {**rows[seat], known: pure}
                gain = (worth(root, (moved[0], moved[1])) - now) * (1 - 2 * seat)
                best = max(best, gain)
        deadline = Deadline(5.0)
        found = gaps_of(tree, policy_of(tree, rows), seat, deadline)
        assert found.cdt[0] <= best <= found.cdt[1]
        apart = found.cdt[1] - found.cdt[0]
        assert found.kkt == pytest.approx(float(best), rel=1e-9, abs=max(1e-12, 10 * apart))


# --- by positions ---------------------------------------------------------------------------------


class Spin(Moves):
    """Some rounds in which chance, a player and chance move; payoffs of up to 10**12 cancel."""

    movers = (hogeq.CHANCE, 0, 1, hogeq.CHANCE)
    choices = range(2)

    def __init__(self, chances: Sequence[Fraction | float], paid: Sequence[float]) -> None:
        self.odds, self.paid = chances, paid

    def chances(self, state: Any) -> list[tuple[int, Any]]:  # noqa: ARG002 - the same twice
        return [*enumerate(self.odds)]

    def knows(self, state: Any, player: int) -> Any:  # noqa: ARG002 - the same for both
        return state[1:]

    def payoffs(self, state: Any) -> tuple[float, float]:
        own = self.paid[state[3]] + state[1] * state[2] * 0.1
        return own, -own


@pytest.mark.parametrize(
    ("chances", "paid"),
    [
        ([0.1, 0.9], [9e12, -1e12]),
        ([0.1, 0.2, 0.7], [7e12, 0.0, -1e12]),
        ([1 / 3, 2 / 3], [2e12, -1e12]),
        ([Fraction(1, 7), Fraction(6, 7)], [6e12, -1e12]),
        ([0.123456789012345, 0.376543210987655, 0.5], [1e12, 0.3, -1e12 / 4]),
        ([0.1234567890123451, 0.3333333333333331, 0.5432098776543218], [1e12, -2e12, 1e12]),
    ],
)
def test_a_tree_and_its_positions_read_numbers_alike(
    chances: Sequence[Fraction | float], paid: Sequence[float]
) -> None:
    """By positions 0.1 was the double next to it, in a tree 1/10."""
    rules = Spin(chances, paid)
    held, tree = of_rules(rules), from_rules(rules)
    draw = np.random.default_rng(0)
    for policy in [tree.uniform(), *draw.dirichlet([1.0, 1.0], (5, tree.num_rows))]:
        made = tree_strategy(tree, policy)
        one, two = full_information.value(held, made, made), value(tree, made, made)
        for (least, most), (lower, upper) in zip(one.ends, two.ends, strict=True):
            assert max(least, lower) <= min(most, upper)
            assert most - least < 1e-9 * max(1.0, abs(most))
        assert one.written(tree.units) == two.written(tree.units)


def test_nothing_is_exact_by_positions_of_chances_that_no_double_stands_for() -> None:
    odd = Fraction(12345678901, 98765432109)
    rules = Spin([odd, 1 - odd], [1e12, -1e12])
    held, tree = of_rules(rules), from_rules(rules)
    both = [tree_strategy(held, "uniform")] * 2, [tree_strategy(tree, "uniform")] * 2
    known = (2 * odd - 1) * 10**12 + Fraction(1, 40)
    for found in (full_information.value(held, *both[0]), value(tree, *both[1])):
        assert found.ends[1][0] < known < found.ends[1][1]


class Again(States):
    """Play goes on with probability 0.9, and pays large amounts that cancel."""

    def __init__(self) -> None:
        moves: dict[int, tuple[int, dict[object, int]]] = {
            0: (0, {"on": 1}),
            1: (hogeq.CHANCE, {0: 0, 2: 2, 3: 3}),
        }
        paid = {2: (9e6, -9e6), 3: (-1e6, 1e6)}
        super().__init__(moves, paid, {1: [(0, 0.9), (2, 0.01), (3, 0.09)]})


def test_positions_that_recur_have_ends_of_what_numbers_stand_for() -> None:
    held = of_rules(Again())
    uniform = tree_strategy(held, "uniform")
    found = full_information.value(held, uniform, uniform)
    for lower, upper in found.ends:
        assert lower <= 0.0 <= upper
        assert upper - lower < 1e-2
    assert " to " in found.written(held.units)[0]
    assert found.to_json(held.units)["ends"]["payoff"] == [*found.ends[0]]


def test_json_gives_both_ends_where_they_agree_in_no_digit_after_the_point() -> None:
    units = Units.of_payoffs(0.0, 1e14, 1e14)
    ends = Fraction(342620194989959, 10), Fraction(342620194989961, 10)
    found = Value.between(ends, ends).to_json(units)
    for key in ("payoff", "first", "second"):
        lower, upper = found["ends"][key]
        assert lower < upper
        assert lower <= found[key] <= upper


@pytest.mark.parametrize("held", [from_rules, of_rules])
def test_sums_of_payoffs_are_those_of_the_numbers_that_were_meant(held: Any) -> None:
    """The payoffs sum to 0.3, which -5.0 + 5.3 is not in doubles."""
    game = hogeq.Game(held(Choice(2, (-5.0, 5.3), (-4.0, 4.3))))
    found = game.attack("uniform")  # -4, and in the other seat 4.8: 0.4 on average
    assert Fraction(found.value) <= Fraction(2, 5) <= Fraction(found.bound)
    for (lower, upper), known in zip(game.value("uniform").ends, (0.15, -4.5, 4.8), strict=True):
        assert Fraction(lower) <= Fraction(str(known)) <= Fraction(upper)


@pytest.mark.parametrize("held", [from_rules, of_rules])
def test_fractions_and_doubles_are_added_up(held: Any) -> None:
    rules = Choice(2, (Fraction(1, 3), 0.5), (0.5, Fraction(1, 3)))
    assert hogeq.Game(held(rules)).value("uniform").mean == pytest.approx(5 / 12)
