"""A strategy knows its seats: one profile of a result is taken, and half a profile is refused."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.evaluation.counterfactual import RegretWeight
from hogeq.strategies.arrays import StrategyError
from hogeq.support.short_fractions import short_fraction
from tests.cli.calls import ask, ok, refused
from tests.strategies.strategy_files import saved

KUHN = "kuhn(players=2,ranks=3)"
LEDUC = "leduc(players=2,bets=1,ranks=2,suits=2)"
COIN = """EFG 2 R "coin" { "a" "b" }
p "" 1 1 "" { "h" "t" } 0
t "" 1 "" { 1 -1 }
t "" 2 "" { -1 1 }
"""
FIRST = re.escape(
    "plays in the first seat alone, and the rows of the second are missing; allowed: a strategy of "
    "both seats: the .profile of an equilibrium, or game.joined(FIRST, SECOND)"
)


@pytest.mark.parametrize(
    ("game", "options", "method"),
    [
        (KUHN, {}, "auto"),
        (LEDUC, {"forget": "own_actions"}, "columns"),
        (LEDUC, {"forget": "own_actions"}, "dag"),
        ("3K3", {"teams": "01/2"}, "columns"),
        ("3K3", {"teams": "0/12"}, "dag"),
    ],
)
def test_nothing_wins_from_an_equilibrium(game: str, options: Any, method: str) -> None:
    made = hogeq.Game(game, **options)
    solved = made.equilibrium(method=method)
    gap = made.exploitability(solved)
    assert 0.0 <= gap.lower <= gap.upper < 1e-9
    assert gap.rows()[0][1] == "0.000000000 to 0.000000000"
    value = made.value(solved)
    assert value.first == pytest.approx(solved.lower, abs=1e-9)
    assert value.mean == pytest.approx(made.units.even, abs=1e-12)
    assert made.attack(solved.profile).value == pytest.approx(made.units.even, abs=1e-9)
    assert [one.seat for one in solved.strategies] == [0, 1]
    assert solved.profile.seat is None
    again = made.joined(*solved.strategies)
    np.testing.assert_array_equal(again.array, solved.profile.array)
    np.testing.assert_array_equal(again.weights, solved.profile.weights)


def test_a_strategy_of_one_seat_is_not_exploitable_by_its_missing_rows() -> None:
    """Its rows of the other seat are uniform, against which Kuhn's poker has 0.2778 to win."""
    game = hogeq.Game(KUHN)
    first, second = game.equilibrium().strategies
    assert repr(first) == "Strategy(policy; 12 x 2; first seat alone)"
    filled = first.array.copy()  # an array is taken at its word
    assert game.exploitability(filled).lower == pytest.approx(0.2778, abs=1e-4)
    calls: dict[str, Callable[[], object]] = {
        "exploitability": lambda: game.exploitability(first),
        "attack": lambda: game.attack(first),
        "bound": lambda: game.bound(first),
        "value": lambda: game.value(first, "uniform"),
        "value, second": lambda: game.value("uniform", first),
        "both": lambda: game.value(first, second),
        "purify": lambda: game.purify(first),
        "gaps": lambda: game.gaps(first),
        "diff": lambda: game.diff(first, "uniform"),
        "diff, second": lambda: game.diff("uniform", first),
        "diff, against": lambda: game.diff("uniform", game.equilibrium(), against=first),
        "action_values": lambda: game.action_values(first),
        "action_values, second": lambda: game.action_values("uniform", first),
        "engine": lambda: hogeq.action_values(game.engine, first),
        "part": lambda: game.strategy(hogeq.Mixture([0.5, 0.5], ["uniform", first])),
    }
    for name, call in calls.items():
        with pytest.raises(StrategyError, match=FIRST):
            pytest.fail(f"{name}: {call()}")
    with pytest.raises(StrategyError, match="the second seat alone, and the rows of the first are"):
        game.exploitability(second)
    for pair in ((second, "uniform"), ("uniform", first), (second, first)):
        with pytest.raises(StrategyError, match=r"plays in the \w+ seat alone; allowed: one of"):
            game.joined(*pair)


def test_a_mixture_of_one_seat_plays_in_that_seat() -> None:
    game = hogeq.Game(KUHN)
    first, second = game.equilibrium().strategies
    other = replace(game.strategy("uniform"), seat=0)
    drawn = game.strategy(hogeq.Mixture([0.5, 0.5], [first, other]))
    assert drawn.seat == 0
    rates = [game.value(game.joined(one, second)).first for one in (first, other, drawn)]
    assert rates[2] == pytest.approx((rates[0] + rates[1]) / 2.0)
    with pytest.raises(StrategyError, match=f"strategy, part 1: {FIRST}"):
        game.strategy(hogeq.Mixture([0.5, 0.5], [first, second]))


def test_thirds_stay_thirds_in_a_strategy_for_both_seats() -> None:
    """One less a third is no double, and not the one that stands for two thirds."""
    game = hogeq.Game(KUHN)
    raises, folds = np.eye(2)[[1] * 12], np.eye(2)[[0] * 12]
    thirds = hogeq.Mixture([1 / 3, 2 / 3], [raises, folds])
    sixths = hogeq.Mixture([1 / 6, 5 / 6], [raises, folds])
    assert game.joined(thirds, "uniform").chances.tolist() == [1 / 3, 2 / 3]
    assert game.joined("uniform", thirds).chances.tolist() == [1 / 3, 2 / 3]
    assert game.joined(thirds, sixths).chances.tolist() == [1 / 6, 1 / 6, 2 / 3]
    # A third of the payoff of raises, and two thirds of that of folds.
    rates = [game.value(one, "uniform").first for one in (raises, folds)]
    exact = (short_fraction(rates[0]) + 2 * short_fraction(rates[1])) / 3
    lower, upper = map(Fraction, game.value(game.joined(thirds, "uniform")).ends[1])
    assert lower <= exact <= upper


def test_whatever_a_result_found_is_taken_as_its_strategy() -> None:
    game = hogeq.Game(KUHN)
    solution, response = game.solve("cfr_plus", 100), game.attack("uniform")
    mixed = game.solve("dag_cfr", 20)
    apart, solved = game.in_policies(seconds=0.5), game.equilibrium()
    for result, strategy in (
        (solution, solution.policy),
        (mixed, mixed.mixture),
        (response, response.strategy),
        (apart, apart.profile),
        (solved, game.joined(*solved.strategies)),
    ):
        assert strategy is not None
        assert game.exploitability(result)[:2] == game.exploitability(strategy)[:2]
        assert game.value(result, "uniform") == game.value(strategy, "uniform")
    assert game.value(apart).first == pytest.approx(-1 / 18, abs=0.02)
    assert game.value(response, "uniform").mean == pytest.approx(response.value, abs=1e-12)
    drawn = game.strategy(hogeq.Mixture([0.5, 0.5], [solved, "uniform"]))
    each = game.value(solved, "uniform").first, game.value("uniform").first
    assert game.value(drawn, "uniform").first == pytest.approx(sum(each) / 2.0)


def test_an_equilibrium_of_hog_is_taken_too() -> None:
    game = hogeq.Game({"edition": "su20", "goal": 5, "max_dice": 2})
    solved = game.equilibrium()
    assert solved.seats is None
    assert game.exploitability(solved).lower == pytest.approx(0.0, abs=1e-9)
    rate = game.win_rate(solved, "always_roll:1")
    assert rate == game.win_rate(solved.strategies[0], "always_roll:1")
    alike = game.win_rate(solved, solved)
    assert game.value(solved) == tuple(alike)


def test_who_has_all_rows_plays_in_both_seats(tmp_path: Path) -> None:
    path = tmp_path / "coin.efg"
    path.write_text(COIN)
    game = hogeq.Game(path)
    solved = game.equilibrium()
    assert [one.seat for one in solved.strategies] == [None, 1]
    assert game.exploitability(solved)[:2] == pytest.approx((0.0, 0.0), abs=1e-12)
    assert game.value(solved).first == pytest.approx(1.0)
    assert game.exploitability(solved.strategies[0]).upper == pytest.approx(0.0, abs=1e-12)


# --- files ----------------------------------------------------------------------------------------


def test_a_file_keeps_the_seat(tmp_path: Path) -> None:
    game = hogeq.Game(LEDUC, forget="own_actions")
    solved = game.equilibrium()
    for seat, one in enumerate(solved.strategies):
        path = tmp_path / f"{seat}.npz"
        one.write(path)
        again = game.strategy(path)
        assert (again.seat, again.kind) == (seat, one.kind)
        np.testing.assert_array_equal(again.array, one.array)
    first, second = tmp_path / "0.npz", tmp_path / "1.npz"
    with pytest.raises(StrategyError, match=f"^{re.escape(str(first))}: {FIRST}$"):
        game.exploitability(first)
    assert game.exploitability(game.joined(first, second)).upper < 1e-9
    with pytest.raises(StrategyError, match=r"can be written to \.npz, not \.npy"):
        solved.strategies[0].write(tmp_path / "one.npy")


@pytest.mark.parametrize("kind", ["policy", "matrix", "mixture"])
def test_a_file_without_a_seat_plays_in_both(kind: str, tmp_path: Path) -> None:
    game = hogeq.Game(KUHN)
    uniform, pure = game.strategy("uniform").policy, np.zeros(12, np.int8)
    every: dict[str, dict[str, Any]] = {
        "policy": {"policy": uniform},
        "matrix": {"matrix": pure},
        "mixture": {"weights": np.ones(2) / 2, "policies": np.array([uniform, uniform])},
    }
    arrays = every[kind]
    (tmp_path / "old.npz").write_bytes(saved(np.savez, **arrays))
    found = game.strategy(tmp_path / "old.npz")
    assert (found.kind, found.seat) == (kind, None)
    (tmp_path / "new.npz").write_bytes(saved(np.savez, seat=1, **arrays))
    assert game.strategy(tmp_path / "new.npz").seat == 1
    for wrong in (2, -1, 0.5, np.nan, [0], [0, 1]):
        (tmp_path / "bad.npz").write_bytes(saved(np.savez, seat=wrong, **arrays))
        with pytest.raises(StrategyError, match=r"bad\.npz: seat is .*; allowed: 0 or 1$"):
            game.strategy(tmp_path / "bad.npz")


def test_commands_take_profiles_and_refuse_halves(in_folder: Path) -> None:
    game = ("--game", KUHN)
    ok("equilibrium", *game, "--out", "eq.npz")
    assert "attack  0.000000000  best response, exact" in ok("attack", "eq.npz", *game)
    assert ask("attack", "eq.npz", *game)["attack"] == pytest.approx(0.0, abs=1e-12)
    hogeq.Game(KUHN).equilibrium().strategies[0].write("half.npz")
    for words in (
        ("attack", "half.npz"),
        ("compare", "half.npz", "eq.npz"),
        ("compare", "eq.npz", "half.npz"),
        ("show", "half.npz"),
        ("diff", "half.npz", "eq.npz"),
        ("purify", "half.npz", "--out", "pure.npz"),
    ):
        assert re.search(f"half\\.npz: {FIRST}", refused(*words, *game)), words


# --- values of actions ----------------------------------------------------------------------------


@pytest.mark.parametrize("weight", ["reach", "counterfactual", "belief"])
@pytest.mark.parametrize("options", [{}, {"forget": "own_actions"}])
def test_values_of_actions_are_those_of_all_histories(weight: RegretWeight, options: Any) -> None:
    """By one walk that plays every history out."""
    game, draw = (hogeq.Game(LEDUC, **options), np.random.default_rng(3))
    tree = game.tree
    assert tree is not None
    rows = draw.dirichlet(np.ones(tree.num_actions), (2, tree.num_rows)) * tree.legal
    a, b = rows / rows.sum(axis=2, keepdims=True)
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(tree.parent.tolist()):
        children.setdefault(parent, []).append(node)
    total, visits = np.zeros((2, tree.num_rows, tree.num_actions))

    def walk(node: int, player: int, reached: float) -> float:
        """Payoff to a player, and sums over its rows on the way."""
        below, row, mover = children.get(node, []), int(tree.row[node]), int(tree.player[node])
        if not below:
            sign = 1.0 if player == 0 else -1.0
            return float(sign * (tree.payoff[node] + tree.centre) + tree.shift)
        chances = tree.chance[below] if row < 0 else (a if mover == player else b)[row]
        stays = weight == "counterfactual" and mover == player
        met = [
            walk(one, player, reached * (1.0 if stays else float(chance)))
            for one, chance in zip(below, chances, strict=False)
        ]
        if mover == player:
            total[row, : len(met)] += reached * np.array(met)
            visits[row] += reached
        return float(np.dot(met, chances[: len(met)]))

    for player in (0, 1):
        walk(0, player, 1.0)
    want = total / visits if weight == "belief" else total
    found = game.action_values(a, b, weight)
    np.testing.assert_allclose(found[tree.legal], want[tree.legal], atol=1e-12)
    assert np.isnan(found[~tree.legal]).all()
    # The engine's are win rates less those of their rows, and a fair coin gives the seat.
    seats = 1.0 if weight == "belief" else 2.0
    unit = seats * game.engine.payoff_per_win_rate
    engine = hogeq.action_values(game.engine, a, b, weight) * unit
    gaps = found - found[:, :1], engine - engine[:, :1]
    np.testing.assert_allclose(gaps[0][tree.legal], gaps[1][tree.legal], atol=1e-12)


def test_values_of_actions_are_in_the_game_s_own_payoffs(tmp_path: Path) -> None:
    """Matching pennies for 3 or 1: either penny is worth 2 to both, against a fair one."""
    path = tmp_path / "pennies.efg"
    path.write_text(
        'EFG 2 R "pennies" { "a" "b" }\np "" 1 1 "" { "h" "t" } 0\np "" 2 1 "" { "h" "t" } 0\n'
        't "" 1 "" { 3 1 }\nt "" 2 "" { 1 3 }\np "" 2 1 "" { "h" "t" } 0\n'
        't "" 2 "" { 1 3 }\nt "" 1 "" { 3 1 }\n'
    )
    game = hogeq.Game(path)
    np.testing.assert_allclose(game.action_values("uniform"), 2.0)
    heads = game.strategy([0, 0])
    np.testing.assert_allclose(game.action_values("uniform", heads), [[3, 1], [1, 3]])
    with pytest.raises(ValueError, match="weight: 'cf'; allowed: reach, counterfactual, belief"):
        game.action_values("uniform", weight="cf")  # type: ignore[arg-type]
