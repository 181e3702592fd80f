"""The benchmark of imperfect recall: its instances, its checker, its methods and its results."""

import sys
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from hogeq.benchmark.catalogue import Entry, catalogue, hog_game
from hogeq.benchmark.form import Instance, from_hog, from_tree
from hogeq.benchmark.generators import detection, random_tree, simulation
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine
from hogeq.search.bounds import full_memory_bound
from hogeq.trees.flat import FlatTree, payoff
from tests.cli.calls import ask, refused

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))
import check_benchmark as checker
from research.decision import problem_of
from research.methods import METHODS, projected

SMALL_HOG = (("su20", 9, 3), ("sp20", 8, 2), ("su21", 9, 2), ("fa18", 9, 3), ("fa13", 8, 2))
TREES = (simulation(3, 3, 2, 5), detection(3, 2, 3, 5), random_tree(3, 3, 2, 5))


def read(instance: Instance) -> Any:
    return checker.Instance(dict(instance._asdict()))


def all_legal(rows: int, actions: int) -> Any:
    return np.ones((rows, actions), bool)


@pytest.mark.parametrize(("edition", "goal", "dice"), SMALL_HOG)
def test_the_form_has_the_win_rates_and_bounds_of_hog(edition: str, goal: int, dice: int) -> None:
    game = hog_game(edition, goal, dice)
    random = np.random.default_rng(1)
    policy = random.dirichlet(np.ones(game.num_actions), (goal, goal))
    instance = read(from_hog(game, policy))
    for _ in range(3):
        matrix = random.integers(game.num_actions, size=(goal, goal))
        won = instance.value(matrix.ravel())
        assert won == pytest.approx(_rate(game, matrix, policy), abs=1e-12)
    bound = instance.bound(all_legal(instance.rows, game.num_actions))
    assert bound == pytest.approx(full_memory_bound(game, policy), abs=1e-12)


def _rate(game: HogEngine, matrix: Any, policy: Any) -> float:
    table = np.eye(game.num_actions)[matrix]
    return win_rate(game, table, policy).win_rate


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
def test_the_form_has_the_payoffs_of_a_tree(tree: FlatTree) -> None:
    instance = read(from_tree(tree, 0, tree.uniform()))
    random = np.random.default_rng(2)
    for _ in range(3):
        choices = random.integers(tree.num_legal)
        strategy = np.eye(tree.num_actions)[choices]
        assert instance.value(choices) == pytest.approx(payoff(tree, strategy, strategy), abs=1e-12)


def test_the_form_has_both_seats_of_a_game() -> None:
    from hogeq.trees.game import load_tree

    tree = load_tree("liars_dice_ir(dice_sides=2)")
    random = np.random.default_rng(3)
    choices = random.integers(tree.num_legal)
    joint = np.eye(tree.num_actions)[choices]
    both = payoff(tree, joint, joint)
    assert read(from_tree(tree)).value(choices) == pytest.approx(both, abs=1e-12)
    for seat in (0, 1):
        instance = read(from_tree(tree, seat, joint))
        won = instance.value(choices[tree.seat == seat])
        assert won == pytest.approx((1 - 2 * seat) * both, abs=1e-12)


def test_the_command_lists_and_writes_what_the_form_says(tmp_path: Path) -> None:
    listed = ask("bench-games", "list")["instances"]
    assert len(listed) >= 60
    assert [one["name"] for one in listed] == [*catalogue()]
    names = ("random-3x4x4", "fa13-10x3-always")
    written = ask("bench-games", "write", str(tmp_path), *(f"--only={name}" for name in names))
    for row in written["instances"]:
        with np.load(tmp_path / f"{row['name']}.npz") as arrays:
            instance = checker.Instance(dict(arrays))
        assert instance.digest() == row["digest"] == catalogue()[row["name"]].make().digest
        assert (instance.states, instance.rows) == (row["states"], row["rows"])
    assert "allowed: bench-games write DIR" in refused("bench-games", "write")
    assert "--only: got ['nothing']" in refused("bench-games", "list", "--only", "nothing")


# --- methods --------------------------------------------------------------------------------------

TINY = (random_tree(2, 2, 2, 1), simulation(2, 3, 2, 1), detection(3, 2, 2, 1))


def entry(tree: FlatTree) -> Entry:
    return Entry(tree.name, "tiny", "", lambda: from_tree(tree))


HOG_8 = Entry("su20-8x2", "hog", "", lambda: entry(TINY[0]).make(), ("su20", 8, 2, "always_roll:1"))


@pytest.mark.parametrize("made", [*map(entry, TINY), HOG_8], ids=lambda made: made.name)
def test_the_gradient_is_that_of_the_value(made: Entry) -> None:
    problem = problem_of(made)
    random = np.random.default_rng(4)
    actions = problem.shape[-1]
    policy = random.dirichlet(np.ones(actions), problem.shape[:-1])
    value, gradient = problem.gradient(policy)
    gradient = gradient.copy()
    for _ in range(12):
        row = tuple(random.integers(problem.shape[:-1]))
        other = policy.copy()
        other[row] = random.dirichlet(np.ones(actions))
        # The value is linear in each row.
        change = (gradient[row] * (other[row] - policy[row])).sum()
        assert problem.gradient(other)[0] - value == pytest.approx(change, abs=1e-12)


@pytest.mark.parametrize("tree", TINY, ids=lambda tree: tree.name)
def test_a_policy_has_the_payoff_of_the_tree(tree: FlatTree) -> None:
    problem = problem_of(entry(tree))
    policy = np.random.default_rng(5).dirichlet(np.ones(tree.num_actions), tree.num_rows)
    for row, legal in enumerate(tree.num_legal):  # what is illegal counts for the last legal one
        policy[row, legal - 1] += policy[row, legal:].sum()
        policy[row, legal:] = 0.0
    assert problem.payoff(problem.gradient(policy)[0]) == pytest.approx(
        payoff(tree, policy, policy)
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tree", TINY, ids=lambda tree: tree.name)
def test_methods_find_what_all_strategies_together_do(tree: FlatTree, method: str) -> None:
    every = product(*(range(legal) for legal in tree.num_legal))
    instance = read(from_tree(tree))
    best = max(instance.value(np.array(choices)) for choices in every)
    problem = problem_of(entry(tree))
    steps = islice(METHODS[method](problem), 20 if method == "attack" else 700)
    found = max(value for value, _ in steps)
    assert problem.payoff(found) == pytest.approx(best, abs=1e-6)


def test_projection_is_the_nearest_distribution() -> None:
    rows = np.random.default_rng(6).normal(0.3, 1.0, (50, 4))
    for row, near in zip(rows, projected(rows), strict=True):
        shift = brentq(lambda s, row=row: np.maximum(row - s, 0.0).sum() - 1.0, -3.0, 5.0)
        np.testing.assert_allclose(near, np.maximum(row - shift, 0.0), atol=1e-9)
