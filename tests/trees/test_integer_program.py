"""Integer programs: bounds that hold, whatever fails and however little time there is."""

import itertools
import math
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import pytest
from scipy.optimize import linprog

from hogeq.support.aliases import Floats
from hogeq.trees import integer_program, restricted
from hogeq.trees.best_response import best_response
from hogeq.trees.columns import solve_by_columns
from hogeq.trees.decision_problems import RandomTree
from hogeq.trees.flat import FlatTree
from hogeq.trees.integer_program import PROGRAM_SCALE
from hogeq.trees.rules import from_rules
from hogeq.trees.sequences import sequence_form
from tests import toys
from tests.slow import mostly_slow
from tests.toys import Chance, Choice, first_wins, tree_of
from tests.trees.random_games import infosets, payoffs, pure, random_game, value

SLOW: Final = 20  # seed of a game of five moves that takes five rounds


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


@pytest.mark.parametrize("near", mostly_slow([1e-7, 1e-2], 1e-7))
@pytest.mark.parametrize(
    ("few", "method"),
    [(-1, "integer program"), pytest.param(64, "enumeration", marks=pytest.mark.slow)],
)
def test_bounds_are_above_the_truth(
    near: float, few: int, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HiGHS as it is ends at a gap of 1e-6, and then gives a bound that is none."""
    monkeypatch.setattr("hogeq.trees.best_response.STARTS", 0)
    monkeypatch.setattr("hogeq.trees.best_response.MOST_SHARED_ROWS", few)
    count = 0
    for seed in range(130):
        tree = tree_of(forgetful_player(seed, near))
        form, pure = sequence_form(tree, 0), np.eye(2)
        if not 5 <= tree.num_rows <= 9:
            continue
        worth = form.payoffs_against(tree.uniform())
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


@pytest.mark.slow
def test_enumeration_proves_what_referees_computed() -> None:
    for size, best in (((5, 3, 4), 0.7505188), ((7, 2, 4), 0.6235046), ((6, 2, 8), 0.6999054)):
        tree = from_rules(RandomTree(*size, 0))
        form = sequence_form(tree, 0)
        response = best_response(form, form.payoffs_against(tree.uniform()), 0.0)
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
    worth = form.payoffs_against(tree.uniform())
    return form.perfect_recall_values(worth)[0][0] > best_response(form, worth, 20.0).bound + 1e-3


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
    worth = form.payoffs_against(tree.uniform())

    def fails(costs: Floats, **_: Any) -> SimpleNamespace:
        x = None if answer["x"] is None else np.full(len(costs), answer["x"])
        bound = answer["mip_dual_bound"]
        bound = -PROGRAM_SCALE * best / tree.largest_payoff if bound == "the truth" else bound
        return SimpleNamespace(status=answer["status"], x=x, mip_dual_bound=bound)

    monkeypatch.setattr(integer_program, "milp", fails)
    monkeypatch.setattr("hogeq.trees.best_response.MOST_SHARED_ROWS", -1)
    response = best_response(form, worth, 20.0)
    full = form.perfect_recall_values(worth)[0][0]
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
    assert solve_by_columns(tree_of(root), 10.0).effort["iterations"] > 1
    monkeypatch.setattr(restricted, "linprog", fails)
    solved = solve_by_columns(tree_of(root), 10.0)
    assert not solved.is_proved
    assert solved.lower <= known <= solved.upper


def test_near_ties_are_solved() -> None:
    """HiGHS's simplex gives up the game of three plans and two that this one comes to."""
    e = 1e-8
    plan = Choice(0, 3, (Choice(1, 11, (1 - 2 * e, 1 + e)), Choice(1, 11, (1.0, -1.0))))
    after = Choice(
        1, 12, (Chance(((0.25, -2 * e), (0.75, 0.0), (0.0, 2 * e))), Choice(1, 11, (-2 * e, -1.0)))
    )
    other = Choice(0, 1, (Choice(1, 11, (1 - e, -1 - 2 * e)), Choice(0, 3, (-1 - 2 * e, -2 * e))))
    root = Choice(0, 2, (Choice(0, 1, (plan, after)), other))
    solved = solve_by_columns(tree_of(root), 10.0)
    assert solved.is_proved
    known = value(payoffs(root))
    assert solved.lower == pytest.approx(known, abs=2e-9)


def test_every_program_has_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []

    def timed(*given: Any, **more: Any) -> Any:
        limits.append(more["options"]["time_limit"])
        return linprog(*given, **more)

    monkeypatch.setattr(restricted, "linprog", timed)
    solve_by_columns(tree_of(random_game(SLOW, 5)), 5.0)
    assert len(limits) > 2
    assert limits[0] <= 1.25  # of the players who forget nothing
    assert limits[1:] == sorted(limits[1:], reverse=True)
    assert limits[1] <= 5.0
