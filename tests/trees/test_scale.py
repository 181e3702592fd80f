"""Games of any size of payoffs, of any depth, and without decisions; solvers that fail."""

import itertools
import math
import time
from collections.abc import Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import pytest
from scipy.optimize import linprog

import hogeq
from hogeq.benchmark.generators import random_tree
from hogeq.support.aliases import Floats
from hogeq.trees import enclosures, integer_program, restricted
from hogeq.trees.best_response import Answer, best_response
from hogeq.trees.building import Node, flatten
from hogeq.trees.columns import Side, by_columns
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree, payoff
from hogeq.trees.integer_program import FINE
from hogeq.trees.recall import Recall
from hogeq.trees.responses import enclosed_response
from hogeq.trees.sequences import sequence_form
from tests import toys
from tests.toys import Chance, Choice, first_wins, following, tree_of

SCALES: Final = (1e-299, 1e-12, 1e-9, 1.0, 1e8, 1e16, 1e18, 1e299)

# --- a second way: all pure strategies, node by node ----------------------------------------------


SLOW: Final = 20  # seed of a game of five moves that takes five rounds


def random_game(seed: int, depth: int = 4, *, seats: tuple[int, ...] = (0, 1)) -> toys.Node:
    """Draw a game of forgetful players, in which chance does not play all that it could."""
    draw = np.random.default_rng(seed)

    def node(depth: int, moved: tuple[int, ...]) -> toys.Node:
        who = int(draw.choice([-1, *seats, *seats])) if depth else -2
        if who == -2 or (depth < 3 and draw.random() < 0.15):
            return float(draw.integers(-3, 4))
        if who == -1:
            chances = draw.dirichlet(np.ones(3)) * (draw.random(3) > 0.3)
            chances = np.array([1.0, 0.0, 0.0]) if not chances.any() else chances / chances.sum()
            return Chance(tuple((float(one), node(depth - 1, moved)) for one in chances))
        # A seat knows how often it has moved, and one bit of anything else: it never meets a set
        # twice, and forgets.
        known = 10 * who + 2 * moved[who] + int(draw.integers(2))
        after = tuple(many + (seat == who) for seat, many in enumerate(moved))
        return Choice(who, known, tuple(node(depth - 1, after) for _ in range(2)))

    return node(depth, (0, 0))


def infosets(root: toys.Node, seat: int) -> list[int]:
    own = root.infoset if isinstance(root, Choice) and root.seat == seat else None
    below = {known for child in following(root) for known in infosets(child, seat)}
    return sorted(below | ({own} if own is not None else set()))


def pure(root: toys.Node, seat: int) -> Iterator[dict[int, list[float]]]:
    known = infosets(root, seat)
    for actions in itertools.product(([1.0, 0.0], [0.0, 1.0]), repeat=len(known)):
        yield dict(zip(known, actions, strict=True))


def payoffs(root: toys.Node) -> Floats:
    """Payoff of every pure strategy of the first seat against every one of the second."""
    second = list(pure(root, 1))
    return np.array([[first_wins(root, (one, two)) for two in second] for one in pure(root, 0)])


def value(matrix: Floats) -> float:
    rows, columns = matrix.shape
    answer = linprog(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.hstack([-matrix.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0.0, None)] * rows + [(None, None)],
    )
    return -float(answer.fun)


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
    assert sum(len(sequence_form(tree, 0).shared) > 0 for tree in trees) >= 4
    assert sum(bool((tree.chance == 0.0).any()) for tree in trees) >= 4


# --- scale ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SMALL)
def test_values_are_those_of_enumeration_at_every_scale(seed: int) -> None:
    root = random_game(seed)
    known, answer = value(payoffs(root)), uniform_response(root)
    for unit in SCALES:
        tree = tree_of(root, unit)
        solved = by_columns(tree, 20.0)
        # Chances are not round, nor are mixtures that come to 0: no digits of a rounding agree.
        is_rounding = abs(known) < 1e-9 and solved.upper - solved.lower < 1e-15 * unit
        assert solved.is_proved or is_rounding, unit
        assert solved.lower / unit == pytest.approx(known, abs=1e-8), unit
        assert solved.upper / unit == pytest.approx(known, abs=1e-8), unit
        response = enclosed_response(tree, tree.uniform(), 20.0)
        assert response.is_proved, unit
        assert response.value / unit == pytest.approx(answer, abs=1e-9), unit
        assert response.bound / unit == pytest.approx(answer, abs=4e-9), unit


@pytest.mark.parametrize("unit", SCALES)
def test_proved_is_relative_to_the_largest_payoff(
    unit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against equal coins, 1 and -1 are guessed half of the time: lower -1, upper 1."""
    pennies = Choice(0, 0, (Choice(1, 1, (1.0, -1.0)), Choice(1, 1, (-1.0, 1.0))))
    solved = by_columns(tree_of(pennies, unit), 10.0)
    assert solved.is_proved
    assert abs(solved.lower) <= 1e-9 * unit
    assert abs(solved.upper) <= 1e-9 * unit
    # Without a solution there are uniform strategies alone, here as good; so bias the game.
    monkeypatch.setattr(restricted, "linprog", lambda *_, **__: SimpleNamespace(status=4, x=None))
    biased = Choice(0, 0, (Choice(1, 1, (1.0, 0.0)), Choice(1, 1, (0.0, 0.5))))
    unsolved = by_columns(tree_of(biased, unit), 10.0)
    assert not unsolved.is_proved
    assert unsolved.lower == pytest.approx(0.25 * unit)  # 1/2 and 1/2 give 1/2 or 1/4
    assert unsolved.upper == pytest.approx(0.5 * unit)


def test_a_game_of_which_nothing_is_at_stake_is_solved() -> None:
    tree = tree_of(Choice(0, 0, (Choice(1, 1, (0.0, 0.0)), 0.0)))
    solved, response = by_columns(tree, 10.0), enclosed_response(tree, tree.uniform(), 10.0)
    assert (solved.lower, solved.upper) == (0.0, 0.0)
    assert (response.value, response.bound, response.full_memory) == (0.0, 0.0, 0.0)
    assert solved.is_proved
    assert response.is_proved


def test_payoffs_far_apart_are_right_by_the_largest() -> None:
    root = Choice(0, 0, (Choice(1, 1, (1e300, -1e300)), Choice(1, 1, (-1e300, 1e300)), 1e-300))
    solved = by_columns(tree_of(root), 10.0)
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
    solved, response = by_columns(tree, 10.0), enclosed_response(tree, tree.uniform(), 10.0)
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
    solved, response = by_columns(tree, 10.0), enclosed_response(tree, tree.uniform(), 10.0)
    assert tree.largest_payoff * tree.expected == pytest.approx(5 * unit)  # nobody changes the 1
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
    solved, response = by_columns(tree, 20.0), enclosed_response(tree, tree.uniform(), 20.0)
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
    solved = by_columns(tree, 10.0)
    assert solved.is_proved
    assert (solved.lower, solved.upper) == pytest.approx((worth, worth), rel=1e-15)
    monkeypatch.setattr(enclosures, "MOST_NODES", 0)
    tree = tree_of(Chance(((chance, 1e300), (1.0, Choice(0, 0, (0.0, 1e149))))))
    for solve in (by_columns, lambda *given: enclosed_response(given[0], tree.uniform(), given[1])):
        with pytest.raises(ValueError, match=r"toy: players can expect 1e-\d+ of the largest"):
            solve(tree, 10.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rows_that_nearly_sum_to_1_are_scaled(sign: float) -> None:
    """What a row may miss by rounding would add up along a play."""
    root: toys.Node = 1.0
    for number in range(300):
        root = Choice(0, number, (root, 0.0))
    tree = tree_of(root)
    game, rows = hogeq.Game(tree), np.zeros(tree.moves.shape)
    rows[:, 0] = 1.0 + sign * 9e-10
    assert game.value(rows, "uniform").mean == pytest.approx(0.5, abs=1e-12)
    assert game.attack(rows).value == pytest.approx(0.0, abs=1e-12)
    exactly = tree.uniform()
    assert np.array_equal(game.strategy(exactly).policy, exactly)


@pytest.mark.parametrize("seed", range(20))
def test_lower_is_never_above_upper(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search whose bounds are false proves nothing; mixtures may prove the value all the same."""
    tree = tree_of(random_game(seed), 1 / 3)
    solved = by_columns(tree, 10.0)
    assert solved.lower <= solved.upper
    found = Side.best

    def worse(*given: Any) -> Answer:
        return found(*given)._replace(bound=-2.0)

    monkeypatch.setattr(Side, "best", worse)
    crossed = by_columns(tree, 10.0)
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
    assert by_columns(tree_of(room(chance)), 10.0).lower == pytest.approx(1.0)


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
    solved = by_columns(tree, 10.0)
    assert solved.is_proved
    assert solved.lower == pytest.approx([0.75, 0.5][seat])


# --- programs -------------------------------------------------------------------------------------


def forgetful_player(seed: int, near: float) -> toys.Node:
    """One player against chance, with payoffs that nearly tie."""
    root, draw = random_game(seed, 6, seats=(0,)), np.random.default_rng(seed)

    def shaken(node: toys.Node) -> toys.Node:
        if isinstance(node, Choice):
            return Choice(0, node.infoset, tuple(map(shaken, node.children)))
        if isinstance(node, Chance):
            return Chance(tuple((chance, shaken(child)) for chance, child in node.branches))
        return float(np.sign(node)) + near * float(draw.random())

    return shaken(root)


@pytest.mark.parametrize("near", [1e-7, 1e-2])
@pytest.mark.parametrize(("few", "method"), [(-1, "integer program"), (64, "enumeration")])
def test_bounds_are_above_the_truth(
    near: float, few: int, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HiGHS as it is ends at a gap of 1e-6, and then gives a bound that is none."""
    monkeypatch.setattr("hogeq.trees.best_response.STARTS", 0)
    monkeypatch.setattr("hogeq.trees.best_response.FEW", few)
    count = 0
    for seed in range(130):
        tree = tree_of(forgetful_player(seed, near))
        form, pure = sequence_form(tree, 0), np.eye(2)
        if not 5 <= tree.num_rows <= 9:
            continue
        worth = form.payoffs(tree.uniform())
        response = best_response(form, worth, 20.0)
        if response.method != method:
            continue
        every = itertools.product(range(2), repeat=tree.num_rows)
        best = max(float(form.realisation(pure[list(one)]) @ worth) for one in every)
        assert response.bound >= best - 1e-10, seed
        assert response.payoff <= best + 1e-12, seed
        assert response.payoff >= best - 1e-9, seed
        assert response.payoff == pytest.approx(form.realisation(response.strategy) @ worth), seed
        assert response.is_proved, seed
        count += 1
    assert count >= 10


def test_enumeration_proves_what_referees_computed() -> None:
    for size, best in (((5, 3, 4), 0.7505188), ((7, 2, 4), 0.6235046), ((6, 2, 8), 0.6999054)):
        tree = random_tree(*size, 0)
        form = sequence_form(tree, 0)
        response = best_response(form, form.payoffs(tree.uniform()), 0.0)
        assert response.payoff * tree.largest_payoff == pytest.approx(best, abs=5e-8)
        assert response.is_proved
        assert response.method == "enumeration"


def forgetting() -> tuple[FlatTree, float]:
    """Give a game whose best response needs the program, without ascents, and its best payoff."""
    root = next(
        root
        for root in (forgetful_player(seed, 0.0) for seed in range(100))
        if 6 <= len(infosets(root, 0)) <= 10 and _is_hard(tree_of(root))
    )
    return tree_of(root), max(first_wins(root, (one, {})) for one in pure(root, 0))


def _is_hard(tree: FlatTree) -> bool:
    form = sequence_form(tree, 0)
    worth = form.payoffs(tree.uniform())
    return form.remember(worth)[0][0] > best_response(form, worth, 20.0).bound + 1e-3


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 4, "x": None, "mip_dual_bound": None},
        {"status": 4, "x": None, "mip_dual_bound": "the truth"},
        {"status": 2, "x": None, "mip_dual_bound": math.inf},
        {"status": 0, "x": math.nan, "mip_dual_bound": math.nan},
        {"status": 0, "x": 0.0, "mip_dual_bound": 1e9},  # a bound that what was found refutes
        {"status": 1, "x": None, "mip_dual_bound": -math.inf},
    ],
)
def test_a_program_that_fails_leaves_the_bound_of_full_memory(
    answer: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, best = forgetting()
    form = sequence_form(tree, 0)
    worth = form.payoffs(tree.uniform())

    def fails(costs: Floats, **_: Any) -> SimpleNamespace:
        x = None if answer["x"] is None else np.full(len(costs), answer["x"])
        bound = answer["mip_dual_bound"]
        bound = -FINE * best / tree.largest_payoff if bound == "the truth" else bound
        return SimpleNamespace(status=answer["status"], x=x, mip_dual_bound=bound)

    monkeypatch.setattr(integer_program, "milp", fails)
    monkeypatch.setattr("hogeq.trees.best_response.FEW", -1)
    response = best_response(form, worth, 20.0)
    full = form.remember(worth)[0][0]
    assert response.bound == pytest.approx(full)
    assert response.payoff * tree.largest_payoff <= best + 1e-12
    assert not response.is_proved
    legal = np.take_along_axis(tree.legal, response.strategy.argmax(axis=1)[:, None], axis=1)
    assert legal.all()


def test_a_program_that_fails_later_keeps_what_was_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = itertools.count()

    def fails(*given: Any, **more: Any) -> Any:
        answer = linprog(*given, **more)
        if next(calls) >= 2:
            answer.status = 4
        return answer

    root = random_game(SLOW, 5)
    known = value(payoffs(root))
    assert by_columns(tree_of(root), 10.0).effort["iterations"] > 1
    monkeypatch.setattr(restricted, "linprog", fails)
    solved = by_columns(tree_of(root), 10.0)
    assert not solved.is_proved
    assert solved.lower <= known <= solved.upper


def test_near_ties_are_solved() -> None:
    """HiGHS's simplex gives up the game of three plans and two that this one comes to."""
    e = 1e-8
    plan = Choice(
        0,
        3,
        (
            Choice(1, 11, (1 - 2 * e, 1 + e)),
            Choice(1, 11, (1.0, -1.0)),
        ),
    )
    after = Choice(
        1,
        12,
        (Chance(((0.25, -2 * e), (0.75, 0.0), (0.0, 2 * e))), Choice(1, 11, (-2 * e, -1.0))),
    )
    other = Choice(
        0,
        1,
        (Choice(1, 11, (1 - e, -1 - 2 * e)), Choice(0, 3, (-1 - 2 * e, -2 * e))),
    )
    root = Choice(0, 2, (Choice(0, 1, (plan, after)), other))
    solved = by_columns(tree_of(root), 10.0)
    assert solved.is_proved
    known = value(payoffs(root))
    assert solved.lower == pytest.approx(known, abs=2e-9)


def test_every_program_has_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []

    def timed(*given: Any, **more: Any) -> Any:
        limits.append(more["options"]["time_limit"])
        return linprog(*given, **more)

    monkeypatch.setattr(restricted, "linprog", timed)
    by_columns(tree_of(random_game(SLOW, 5)), 5.0)
    assert len(limits) > 2
    assert limits[0] <= 1.25  # of the players who forget nothing
    assert limits[1:] == sorted(limits[1:], reverse=True)
    assert limits[1] <= 5.0


# --- depth ----------------------------------------------------------------------------------------


def chain(depth: int) -> FlatTree:
    """Players take turns: stop, or go on; chance may stop them too."""

    def look(state: int | str) -> Node:
        if isinstance(state, str) or state == depth:
            return Node(TERMINAL, payoff=float(len(str(state)) * 7 % 5 - 2))
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
