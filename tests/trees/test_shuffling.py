"""Shuffled A-loss recall: against all orders of all plays, and against all pure strategies."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest

import hogeq
from hogeq.strategies.strategy import Strategy
from hogeq.trees import columns, enclosures, whole_dags
from hogeq.trees.best_response import CONVERGED_GAP, best_response
from hogeq.trees.recall import Recall
from hogeq.trees.sequences import SequenceForm, sequence_form
from hogeq.trees.shuffling import order_actions, reorder_actions, solving_form
from tests.toys import Chance, Choice, tree_of
from tests.trees.test_inflation import payoffs_against
from tests.trees.test_maxmin import drawn_policies, secured

# --- a second way: each order of each play --------------------------------------------------------


def is_a_loss(plays: Sequence[Sequence[tuple[int, int]]]) -> bool:
    """By definition: two pasts of a row are equal, or differ in an action of a row of both."""
    for one, two in itertools.product(plays, repeat=2):
        for row in {step[0] for step in one} & {step[0] for step in two}:
            first, second = (
                dict(itertools.takewhile(lambda step, row=row: step[0] != row, play))  # type: ignore[misc]
                for play in (one, two)
            )
            differ = any(second.get(met, action) != action for met, action in first.items())
            if not differ and [*first.items()] != [*second.items()]:
                return False
    return True


def some_order_is_a_loss(plays: Sequence[dict[int, int]]) -> bool:
    orders = ([*itertools.permutations(play.items())] for play in plays)
    return any(map(is_a_loss, itertools.product(*orders)))


@pytest.mark.slow
def test_the_decision_is_that_of_all_orders() -> None:
    draw, found = np.random.default_rng(0), []
    for _ in range(1500):
        plays: list[dict[int, int]] = []
        for _ in range(int(draw.integers(2, 6))):
            rows = draw.choice(4, int(draw.integers(1, 4)), replace=False)
            acts = {int(row): int(draw.integers(2)) for row in rows}
            plays += [acts] * (acts not in plays)
        ordered = order_actions(plays, COUNTS)
        found.append(ordered is not None)
        assert found[-1] == some_order_is_a_loss(plays)
        if ordered is not None:
            rows_, before, places = ordered
            made = [sequence_of(rows_, before, int(place)) for place in places]
            assert [dict(one) for one in made] == plays
            assert is_a_loss(made)
    assert 100 < sum(found) < 1400


COUNTS = np.array([2, 5, 3, 2])  # actions of rows, of which plays take the first two


def sequence_of(rows: Any, before: Any, place: int) -> list[tuple[int, int]]:
    taken, starts = [], 1 + np.cumsum(COUNTS[rows]) - COUNTS[rows]
    while place:
        refined = int(np.flatnonzero(starts <= place)[-1])
        taken.append((int(rows[refined]), int(place - starts[refined])))
        place = int(before[refined])
    return taken[::-1]


# --- games ----------------------------------------------------------------------------------------


def crossed(payoffs: Sequence[float]) -> Any:
    """Two rows met in either order, which chance picks: by the order both pasts differ.

    No A-loss recall, since neither past has the other's row; in one order for both it is perfect.
    """
    ends = iter(payoffs)

    def branch(rows: tuple[int, int]) -> Any:
        return Choice(
            0, rows[0], tuple(Choice(0, rows[1], (next(ends), next(ends))) for _ in range(2))
        )

    return Chance(((0.5, branch((0, 1))), (0.5, branch((1, 0)))))


def mixed_orders(seed: int) -> Any:
    """Draw a game in which the first seat meets its rows in any order."""
    draw = np.random.default_rng(seed)

    def node(left: tuple[int, ...], depth: int) -> Any:
        who = draw.choice(["own", "own", "other", "end"]) if depth else "end"
        if who == "end" or not left:
            return float(draw.integers(-3, 4))
        if who == "other":
            number = int(draw.integers(3)) + 10 * depth  # met once: depth falls
            return Choice(1, number, (node(left, depth - 1), node(left, depth - 1)))
        row = int(draw.choice(left))
        rest = tuple(one for one in left if one != row)
        return Choice(0, row, (node(rest, depth - 1), node(rest, depth - 1)))

    rows = range(3)
    return Chance(((0.5, node((*rows,), 4)), (0.5, node((*rows,), 4))))


TRIANGLE: Final = [{0: 0, 1: 0}, {1: 0, 2: 0}, {0: 0, 2: 0}]


def test_rows_met_in_either_order_are_shuffled() -> None:
    tree = tree_of(crossed((3.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 4.0)))
    findings = Recall(tree, 0).audit().findings
    assert findings["A-loss recall"].holds is False
    assert findings["shuffled A-loss recall"].holds is True
    form = solving_form(tree, 0)
    assert form is not sequence_form(tree, 0)
    assert form.row_of_refined.tolist() == [0, 1, 1]
    assert not len(form.inflated.shared_rows)
    solved = hogeq.Game(tree).equilibrium(5.0)
    assert solved.is_proved
    assert solved.method == "lp"
    assert solved.lower == pytest.approx(2.5)  # by hand: 1/2 + 4/2
    audit = hogeq.Game(tree).audit()[0]
    assert audit.free == audit.forgetful
    assert audit.to_json()["shuffled_a_loss_recall"]["holds"] is True


def test_three_rows_met_in_pairs_have_no_order() -> None:
    assert order_actions(TRIANGLE, COUNTS) is None
    assert not some_order_is_a_loss(TRIANGLE)
    assert (
        order_actions([{3: number, **acts} for number, acts in enumerate(TRIANGLE)], COUNTS)
        is not None
    )


def test_a_loss_recall_stays_as_it_is() -> None:
    game = hogeq.Game("leduc_poker", forget="own_actions")
    for player in (0, 1):
        assert solving_form(game.tree, player) is sequence_form(game.tree, player)
        assert reorder_actions(sequence_form(game.tree, player)) is not None


def test_best_responses_after_a_shuffle_are_those_of_all_pure_strategies() -> None:
    """Of every game that has an order: payoffs are equal, policies and responses too."""
    new = 0
    mixed = (tree_of(mixed_orders(seed)) for seed in range(400))
    for seed, tree in enumerate(tree for tree in mixed if {*tree.seat.tolist()} == {0, 1}):
        for player in (0, 1):
            plain = sequence_form(tree, player)
            form = reorder_actions(plain)
            if form is None:
                continue
            new += bool(len(plain.inflated.shared_rows))
            assert isinstance(form, SequenceForm)
            assert not len(form.inflated.shared_rows)
            (policy,) = drawn_policies(tree, seed, 1)
            target = Strategy.unchecked(policy)
            payoffs, usual = (payoffs_against(target, one) for one in (form, plain))
            mine = drawn_policies(tree, seed + 1000, 1)[0]
            worth = [one.realisation(mine) @ pay for one, pay in ((form, payoffs), (plain, usual))]
            assert worth[0] == pytest.approx(worth[1], abs=1e-12)
            answer = best_response(form, payoffs, 0.0)
            assert answer.bound - answer.payoff <= CONVERGED_GAP
            least = secured(tree, policy[None], 1 - player, is_whole=True)[0]
            assert answer.payoff == pytest.approx(-least, abs=1e-12)
    assert new >= 20


def test_the_bound_by_full_memory_does_not_depend_on_the_order_of_a_plan() -> None:
    """It was below the payoff of a best response where a player's rows are shuffled."""
    trees = [tree_of(mixed_orders(seed)) for seed in range(150)]
    shuffled_trees = [
        tree
        for tree in trees
        if {*tree.seat.tolist()} == {0, 1} and solving_form(tree, 0) is not sequence_form(tree, 0)
    ]
    assert len(shuffled_trees) >= 5
    for seed, tree in enumerate(shuffled_trees):
        game = hogeq.Game(tree)
        (policy,) = drawn_policies(tree, seed, 1)
        found = game.attack(policy, hogeq.Budget(seconds=5.0))
        assert game.bound(policy) == found.full_memory >= found.value


@pytest.mark.slow
def test_equilibria_after_a_shuffle_are_those_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    values = []
    for seed in range(400):
        tree = tree_of(mixed_orders(seed))
        if {*tree.seat.tolist()} == {0, 1} and solving_form(tree, 0) is not sequence_form(tree, 0):
            values.append((tree, hogeq.Game(tree).equilibrium(10.0)))
    for module in (columns, enclosures, whole_dags):
        monkeypatch.setattr(module, "solving_form", sequence_form)
    for tree, after in values[:20]:
        before = columns.solve_by_columns(replace(tree), 10.0)
        assert after.is_proved
        assert before.is_proved
        assert after.lower == pytest.approx(before.lower, abs=1e-8)
    assert len(values) >= 20


def test_the_absent_minded_are_refused() -> None:
    twice = Choice(0, 0, (Choice(0, 0, (1.0, 0.0)), 0.0))
    tree = tree_of(twice)
    with pytest.raises(ValueError, match="allowed: games without absent-mindedness"):
        reorder_actions(sequence_form(tree, 0))
    assert solving_form(tree, 0) is sequence_form(tree, 0)
    assert Recall(tree, 0).audit().findings["shuffled A-loss recall"].holds is False
