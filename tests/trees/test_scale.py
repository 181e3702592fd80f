"""Games of any size of payoffs, of any depth, and without decisions."""

import math
import time
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import pytest

import hogeq
from hogeq.trees import enclosures, restricted
from hogeq.trees.best_response import Answer
from hogeq.trees.building import Node, flatten
from hogeq.trees.columns import Side, solve_by_columns
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree, payoff
from hogeq.trees.recall import Recall
from hogeq.trees.responses import respond_in_both_seats
from hogeq.trees.sequences import sequence_form
from tests import toys
from tests.slow import mostly_slow
from tests.toys import Chance, Choice, first_wins, tree_of
from tests.trees.random_games import infosets, payoffs, pure, random_game, value

SCALES: Final = (1e-299, 1e-12, 1e-9, 1.0, 1e8, 1e16, 1e18, 1e299)


# --- a second way: all pure strategies, node by node ----------------------------------------------


def uniform_response(root: toys.Node) -> float:
    """Best payoff against uniform play, from either seat."""
    random = [{known: [0.5, 0.5] for known in infosets(root, seat)} for seat in (0, 1)]
    first = max(first_wins(root, (one, random[1])) for one in pure(root, 0))
    second = min(first_wins(root, (random[0], one)) for one in pure(root, 1))
    return float(first - second) / 2.0


SMALL: Final = [
    seed
    for seed in range(40)
    if all(2 <= len(infosets(random_game(seed), seat)) <= 5 for seat in (0, 1))
]


def test_the_games_drawn_forget_and_have_chances_of_0() -> None:
    trees = [tree_of(random_game(seed)) for seed in SMALL]
    assert len(trees) >= 8
    assert sum(len(sequence_form(tree, 0).shared_rows) > 0 for tree in trees) >= 4
    assert sum(bool((tree.chance == 0.0).any()) for tree in trees) >= 4


# --- scale ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", mostly_slow(SMALL, *SMALL[:8]))
def test_values_are_those_of_enumeration_at_every_scale(seed: int) -> None:
    root = random_game(seed)
    known, answer = value(payoffs(root)), uniform_response(root)
    for unit in SCALES:
        tree = tree_of(root, unit)
        solved = solve_by_columns(tree, 20.0)
        # Chances are not round, nor are mixtures that come to 0: no digits of a rounding agree.
        is_rounding = abs(known) < 1e-9 and solved.upper - solved.lower < 1e-15 * unit
        assert solved.is_proved or is_rounding, unit
        assert solved.lower / unit == pytest.approx(known, abs=1e-8), unit
        assert solved.upper / unit == pytest.approx(known, abs=1e-8), unit
        response = respond_in_both_seats(tree, tree.uniform(), 20.0)
        assert response.is_proved, unit
        assert response.value / unit == pytest.approx(answer, abs=1e-9), unit
        assert response.bound / unit == pytest.approx(answer, abs=4e-9), unit


@pytest.mark.parametrize("unit", SCALES)
def test_proved_is_relative_to_the_largest_payoff(
    unit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against equal coins, 1 and -1 are guessed half of the time: lower -1, upper 1."""
    pennies = Choice(0, 0, (Choice(1, 1, (1.0, -1.0)), Choice(1, 1, (-1.0, 1.0))))
    solved = solve_by_columns(tree_of(pennies, unit), 10.0)
    assert solved.is_proved
    assert abs(solved.lower) <= 1e-9 * unit
    assert abs(solved.upper) <= 1e-9 * unit
    # Without a solution there are uniform strategies alone, here as good; so bias the game.
    monkeypatch.setattr(restricted, "linprog", lambda *_, **__: SimpleNamespace(status=4, x=None))
    biased = Choice(0, 0, (Choice(1, 1, (1.0, 0.0)), Choice(1, 1, (0.0, 0.5))))
    unsolved = solve_by_columns(tree_of(biased, unit), 10.0)
    assert not unsolved.is_proved
    assert unsolved.lower == pytest.approx(0.25 * unit)  # 1/2 and 1/2 give 1/2 or 1/4
    assert unsolved.upper == pytest.approx(0.5 * unit)


def test_a_game_of_which_nothing_is_at_stake_is_solved() -> None:
    tree = tree_of(Choice(0, 0, (Choice(1, 1, (0.0, 0.0)), 0.0)))
    solved, response = (
        solve_by_columns(tree, 10.0),
        respond_in_both_seats(tree, tree.uniform(), 10.0),
    )
    assert (solved.lower, solved.upper) == (0.0, 0.0)
    assert (response.value, response.bound, response.full_memory) == (0.0, 0.0, 0.0)
    assert solved.is_proved
    assert response.is_proved


def test_payoffs_far_apart_are_right_by_the_largest() -> None:
    root = Choice(0, 0, (Choice(1, 1, (1e300, -1e300)), Choice(1, 1, (-1e300, 1e300)), 1e-300))
    solved = solve_by_columns(tree_of(root), 10.0)
    # No program in float64 sees 1e-600 of the stakes; if one end falls short, both are given.
    assert -1e291 <= solved.lower <= 1e-300 <= solved.upper <= 1e291
    assert not solved.is_proved or solved.lower == solved.upper == 1e-300


@pytest.mark.parametrize("unit", [1e-299, 1e-9, 1.0, 1e9])
@pytest.mark.parametrize("deep", [False, True])
def test_payoffs_that_chance_never_gives_are_no_scale(unit: float, deep: bool) -> None:
    """Nobody can win or lose the 1e300 that chance alone could bring about."""
    never: toys.Node = Choice(0, 2, (1e300, -1e300)) if deep else 1e300
    game = Choice(0, 0, (Choice(1, 1, (3 * unit, -unit)), Choice(1, 1, (-2 * unit, 5 * unit))))
    tree = tree_of(Chance(((0.0, Chance(((1.0, never),))), (1.0, game))))
    solved, response = (
        solve_by_columns(tree, 10.0),
        respond_in_both_seats(tree, tree.uniform(), 10.0),
    )
    assert solved.is_proved
    assert solved.lower / unit == pytest.approx(13 / 11)
    assert solved.upper / unit == pytest.approx(13 / 11)
    # Of 1 and 3/2 the first player takes the more, and of 1/2 and 2 the second allows the less.
    assert response.value / unit == pytest.approx((1.5 - 0.5) / 2)
    assert response.bound / unit == pytest.approx((1.5 - 0.5) / 2)


@pytest.mark.parametrize("unit", [1e-99, 1e-9, 1.0, 1e9])
@pytest.mark.parametrize("chance", [1e-9, 1e-12, 1e-30, 1e-140])
def test_payoffs_that_are_huge_and_rare_count_by_their_chance(unit: float, chance: float) -> None:
    """Most of the time the game of 13/11 is played; else 1 / chance is paid, which adds 1."""
    game = Choice(0, 0, (Choice(1, 1, (3.0, -1.0)), Choice(1, 1, (-2.0, 5.0))))
    tree = tree_of(Chance(((chance, 1 / chance), (1.0 - chance, game))), unit)
    solved, response = (
        solve_by_columns(tree, 10.0),
        respond_in_both_seats(tree, tree.uniform(), 10.0),
    )
    # Nobody changes the 1.
    assert tree.largest_payoff * tree.largest_expected_share == pytest.approx(5 * unit)
    assert solved.is_proved
    assert solved.lower / unit == pytest.approx(1 + 13 / 11, abs=2e-8)
    assert solved.upper / unit == pytest.approx(1 + 13 / 11, abs=2e-8)
    assert response.value / unit == pytest.approx((1.5 - 0.5) / 2, abs=2e-8)
    assert response.bound / unit == pytest.approx((1.5 - 0.5) / 2, abs=2e-8)
    assert tree.units.exact(unit) == (f"{unit:.9f}" if 1 <= unit < 1e8 else f"{unit:.9e}")


@pytest.mark.parametrize("seed", SMALL)
def test_games_beside_a_huge_and_rare_payoff_are_those_of_enumeration(seed: int) -> None:
    root = random_game(seed)
    tree = tree_of(Chance(((1e-20, 1e20), (1.0, root))))
    solved, response = (
        solve_by_columns(tree, 20.0),
        respond_in_both_seats(tree, tree.uniform(), 20.0),
    )
    known, answer = 1.0 + value(payoffs(root)), uniform_response(root)
    assert solved.is_proved
    assert (solved.lower, solved.upper) == pytest.approx((known, known), abs=1e-8)
    assert response.is_proved
    assert (response.value, response.bound) == pytest.approx((answer, answer), abs=1e-8)


@pytest.mark.parametrize("chance", [1e-151, 1e-300])
def test_payoffs_too_rare_for_their_size_are_refused_where_floats_would_lose_them(
    chance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tree_of(Chance(((chance, 1e300), (1.0, Choice(0, 0, (0.0, 1e149))))))
    worth = 1e300 * chance + 1e149
    solved = solve_by_columns(tree, 10.0)
    assert solved.is_proved
    assert (solved.lower, solved.upper) == pytest.approx((worth, worth), rel=1e-15)
    monkeypatch.setattr(enclosures, "MOST_NODES", 0)
    tree = tree_of(Chance(((chance, 1e300), (1.0, Choice(0, 0, (0.0, 1e149))))))
    for solve in (
        solve_by_columns,
        lambda *given: respond_in_both_seats(given[0], tree.uniform(), given[1]),
    ):
        with pytest.raises(ValueError, match=r"toy: players can expect 1e-\d+ of the largest"):
            solve(tree, 10.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rows_that_nearly_sum_to_1_are_scaled(sign: float) -> None:
    """What a row may miss by rounding would add up along a play."""
    root: toys.Node = 1.0
    for number in range(300):
        root = Choice(0, number, (root, 0.0))
    tree = tree_of(root)
    game, rows = hogeq.Game(tree), np.zeros(tree.shape)
    rows[:, 0] = 1.0 + sign * 9e-10
    assert game.value(rows, "uniform").mean == pytest.approx(0.5, abs=1e-12)
    assert game.attack(rows).value == pytest.approx(0.0, abs=1e-12)
    exactly = tree.uniform()
    assert np.array_equal(game.strategy(exactly).policy, exactly)


@pytest.mark.parametrize("seed", range(20))
def test_lower_is_never_above_upper(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search whose bounds are false proves nothing; mixtures may prove the value all the same."""
    tree = tree_of(random_game(seed), 1 / 3)
    solved = solve_by_columns(tree, 10.0)
    assert solved.lower <= solved.upper
    found = Side.respond

    def worse(*given: Any) -> Answer:
        return found(*given)._replace(bound=-2.0)

    monkeypatch.setattr(Side, "respond", worse)
    crossed = solve_by_columns(tree, 10.0)
    assert crossed.lower <= crossed.upper
    if crossed.is_proved:
        assert crossed.lower <= solved.upper
        assert solved.lower <= crossed.upper


@pytest.mark.parametrize(
    ("worst", "says"),
    [
        (math.inf, "toy: after player 0: 1: payoff inf; allowed: numbers from -1e+300 to 1e+300"),
        (math.nan, "toy: after player 0: 1: payoff nan; allowed: numbers from -1e+300 to 1e+300"),
        (-1.1e300, "toy: after player 0: 1: payoff -1.1e+300; allowed: numbers"),
        (5e-324, "toy: the largest payoff is 4.94066e-324; allowed: .* 1e-300 or more, or all 0"),
    ],
)
def test_payoffs_out_of_range_are_refused(worst: float, says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("+", r"\+")):
        tree_of(Choice(0, 0, (0.0, worst)))


# --- chance ---------------------------------------------------------------------------------------


def lottery(*chances: float) -> Chance:
    return Chance(tuple((one, float(place)) for place, one in enumerate(chances)))


@pytest.mark.parametrize(
    ("chances", "says"),
    [
        (
            (0.5, 0.49999),
            "toy: after player 0: 1: probabilities of chance sum to 0.99999; allowed: 1 within",
        ),
        ((0.5, 0.4999999), "probabilities of chance sum to 0.9999999"),
        ((0.5, 0.500001), "probabilities of chance sum to 1.000001"),
        (
            (1.5, -0.5),
            "toy: after player 0: 1: an action of chance is of probability 1.5; allowed: 0 to 1",
        ),
        (
            (-0.5, 0.5, 1.0),
            "toy: after player 0: 1: an action of chance is of probability -0.5; allowed: 0 to 1",
        ),
        (
            (math.nan, 1.0),
            "toy: after player 0: 1: an action of chance is of probability nan; allowed: 0 to 1",
        ),
        (
            (math.inf, 0.0),
            "toy: after player 0: 1: an action of chance is of probability inf; allowed: 0 to 1",
        ),
        ((), "toy: after player 0: 1: probabilities of chance sum to 0; allowed: 1 within"),
    ],
)
def test_chances_that_are_none_are_refused(chances: tuple[float, ...], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        tree_of(Choice(0, 0, (0.0, lottery(*chances))))


def test_chances_that_nearly_sum_to_1_are_scaled() -> None:
    third = 0.33333333333
    tree = tree_of(lottery(third, third, third))
    assert tree.chance[1:].tolist() == [1 / 3] * 3
    exactly = (0.1, 0.2, 0.3, 0.15, 0.25)
    assert tree_of(lottery(*exactly)).chance[1:].tolist() == [*exactly]
    sixths = [float(Fraction(1, 6))] * 6
    assert tree_of(lottery(*sixths)).chance[1:].tolist() == sixths


def test_a_player_without_actions_is_refused() -> None:
    with pytest.raises(ValueError, match="toy: at the start: information state 07: has no action"):
        tree_of(Choice(0, 7, ()))


def room(chance: float, stakes: float = 1.0) -> toys.Node:
    """Enter one of two rooms, forgotten; in the second, chance may lead to what follows or not."""
    guess = Choice(0, 1, (stakes, -stakes))
    return Choice(0, 0, (Choice(0, 1, (1.0, -1.0)), Chance(((chance, guess), (1.0 - chance, 0.0)))))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("chance", "holds"), [(0.0, False), (1e-300, True), (0.5, True)])
def test_no_play_of_chance_0_has_a_part_in_plays(chance: float, holds: bool) -> None:
    """A factor above 0 makes no chance that comes of one that does not."""
    findings = Recall(tree_of(room(chance)), 0).audit().findings
    assert findings["well-formed"].holds is holds
    assert findings["skew well-formed"].holds is holds
    assert findings["chance-relaxed skew well-formed"].holds is True
    assert solve_by_columns(tree_of(room(chance)), 10.0).lower == pytest.approx(1.0)


@pytest.mark.parametrize("unit", SCALES)
@pytest.mark.parametrize(("stakes", "holds"), [(3.0, True), (0.0, False)])
def test_audits_do_not_depend_on_the_scale(unit: float, stakes: float, holds: bool) -> None:
    findings = Recall(tree_of(room(0.5, stakes), unit), 0).audit().findings
    assert findings["well-formed"].holds is holds
    assert findings["skew well-formed"].holds is True


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("last", "holds"), [(0.5, True), (0.25, False)])
def test_chances_too_small_for_doubles_are_compared(last: float, holds: bool) -> None:
    """Two rooms behind 1,400 tosses each: 2 ** -1400 is 0 as a double."""

    def behind(seen: int, first: float) -> toys.Node:
        coin = Chance(((first, 1.0), (1.0 - first, -1.0)))
        node: toys.Node = Choice(0, 1, (coin, 2.0))
        for _ in range(1400):
            node = Chance(((0.5, node), (0.5, 0.0)))
        return Choice(0, 2 + seen, (node,))

    root = Chance(((0.5, behind(0, 0.5)), (0.5, behind(1, last))))
    assert Recall(tree_of(root), 0).audit().findings["skew well-formed"].holds is holds


# --- emptiness ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("root", "known"), [(0.25, 0.25), (lottery(0.5, 0.5), 0.5), (Chance(((1.0, -2.0),)), -2.0)]
)
def test_a_game_without_decisions_is_worth_what_chance_gives(root: toys.Node, known: float) -> None:
    tree = tree_of(root)
    game = hogeq.Game(tree)
    assert tree.num_rows == 0
    solved, response = game.equilibrium(), game.attack("uniform")
    assert solved.is_proved
    assert (solved.lower, solved.upper) == pytest.approx((known, known))
    assert response.is_proved
    ends = response.value, response.bound, response.full_memory
    assert ends == pytest.approx((0.0, 0.0, 0.0))  # the mean of both seats
    assert response.seats == pytest.approx((known, -known))
    assert game.value("uniform", np.zeros((0, 1))).mean == pytest.approx(0.0)
    assert payoff(tree, tree.uniform(), tree.uniform()) == pytest.approx(known)
    assert game.bound("uniform") == pytest.approx(0.0)
    assert game.strategy({}).shape == (0, 1)
    for one in game.audit():
        assert all(finding.holds for finding in one.findings.values())
    rates = game.engine.workspace(2).win_rate(np.zeros((2, 0, 1)))
    assert rates.win_rate == pytest.approx(0.5)


@pytest.mark.parametrize("seat", [0, 1])
def test_one_player_against_nature_takes_the_best(seat: int) -> None:
    tree = tree_of(Choice(seat, 0, (lottery(0.5, 0.5), 0.75)))
    solved = solve_by_columns(tree, 10.0)
    assert solved.is_proved
    assert solved.lower == pytest.approx([0.75, 0.5][seat])


# --- depth ----------------------------------------------------------------------------------------


def chain(depth: int) -> FlatTree:
    """Players take turns: stop, or go on; chance may stop them too."""

    def look(state: int | str) -> Node:
        if isinstance(state, str) or state == depth:
            payoff = float(len(str(state)) * 7 % 5 - 2)
            return Node(TERMINAL, payoffs=(payoff, -payoff))
        moves = [(0, 0.1, "*" * (state % 9)), (1, 0.9, state + 1)]
        return Node(CHANCE if state % 3 == 2 else state % 2, state, moves=moves)

    return flatten("chain", 0, look, lambda moves: [*map(str, moves)])


def backward(tree: FlatTree) -> float:
    """Value with perfect information, node by node."""
    worth = tree.payoff.tolist()
    below: dict[int, list[tuple[float, float]]] = {}
    for node in range(tree.num_nodes - 1, -1, -1):
        after = below.get(node)
        if after:
            values = [one for _, one in after]
            mean = sum(chance * one for chance, one in after)
            worth[node] = {0: max(values), 1: min(values)}.get(int(tree.player[node]), mean)
        below.setdefault(int(tree.parent[node]), []).append((tree.chance[node], worth[node]))
    return float(worth[0])


def test_trees_thousands_deep_take_a_second() -> None:
    tree = chain(3000)
    assert tree.num_nodes == 6001
    began = time.process_time()
    game = hogeq.Game(tree)
    solved, response = game.equilibrium(), game.attack("uniform")
    found = game.audit()
    game.value("uniform", response.strategy)
    spent = time.process_time() - began
    assert solved.is_proved
    assert solved.lower == pytest.approx(backward(tree), abs=1e-8)
    assert response.is_proved
    assert response.value == pytest.approx(response.full_memory, abs=1e-8)
    assert all(finding.holds for one in found for finding in one.findings.values())
    assert spent < 12.0  # some 2 s; minutes where each level is a pass over all


@pytest.mark.slow
def test_limits_hold_in_trees_tens_of_thousands_deep() -> None:
    """Looking for rows that are met again was quadratic; nash_conv built its own sequences."""
    game = hogeq.Game(chain(24_000))
    forms = [sequence_form(game.tree, player) for player in (0, 1)]
    began = time.process_time()
    assert not any(form.is_absent_minded for form in forms)
    assert all(form.rank_of_row is not None for form in forms)
    assert time.process_time() - began < 1.5  # some 0.4 s; 3 s before
    game.nash_conv("uniform", hogeq.Budget(seconds=0.2))
    began = time.process_time()
    game.nash_conv("uniform", hogeq.Budget(seconds=0.2))
    assert time.process_time() - began < 1.5  # some 0.4 s; 5 s before
