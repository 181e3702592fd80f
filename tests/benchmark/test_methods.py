"""Methods of the benchmark's experiment: searches, exact ones, their settings."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from benchmark import course
from methods import EXACT, GRIDS, SEARCHES, problem_of
from scipy.optimize import brentq
from steps import projected

from hogeq.benchmark.catalogue import Entry, hog_game
from hogeq.trees.decision_problems import RandomTree
from hogeq.trees.flat import FlatTree, payoff
from hogeq.trees.graphs import of_tree
from hogeq.trees.rules import from_rules
from hogeq.trees.sequences import sequence_form
from tests.benchmark.tiny_problems import TINY, entry, read
from tests.slow import fast_and_slow, mostly_slow

HOG_8 = Entry("su20-8x2", "hog", "", partial(hog_game, "su20", 8, 2), "always_roll:1")


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
        # The value is linear in each row; derivatives are those of the payoff.
        change = (gradient[row] * (other[row] - policy[row])).sum()
        gained = problem.gradient(other)[0] - value
        assert problem.scale * gained == pytest.approx(change, abs=1e-12)


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


def best_of_all(tree: FlatTree) -> float:
    every = product(*(range(legal) for legal in tree.num_legal))
    instance = read(of_tree(tree))
    return max(instance.value(np.array(choices)) for choices in every)


@pytest.mark.parametrize(
    "method", mostly_slow(SEARCHES, "attack", "ascent", "plan annealing", "RM+", "PGD")
)
@pytest.mark.parametrize("tree", fast_and_slow(TINY[:1], TINY[1:]), ids=lambda tree: tree.name)
def test_searches_find_what_all_strategies_together_do(tree: FlatTree, method: str) -> None:
    problem = problem_of(entry(tree))
    setting = GRIDS[method][-1] if method in GRIDS else ()
    ends = [course(problem, method, setting, seed, [50, 800]) for seed in range(6)]
    assert max(payoffs[-1] for payoffs, _ in ends) == pytest.approx(best_of_all(tree), abs=1e-6)
    for (first, last), policy in ends:
        assert first <= last + 1e-9
        rows = problem.rows(policy)
        assert last == pytest.approx(read(of_tree(tree)).value(rows), abs=1e-9)


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("tree", TINY, ids=lambda tree: tree.name)
def test_exact_methods_prove_the_best_of_all_strategies(tree: FlatTree, method: str) -> None:
    form = sequence_form(tree, 0)
    value, bound = EXACT[method](form.inflated, form.payoffs_against(tree.uniform()), 10.0)
    best = best_of_all(tree) / tree.largest_payoff
    assert value == pytest.approx(best, abs=1e-9)
    assert bound >= best - 1e-9
    assert bound <= best + 1e-6 or not len(form.inflated.shared_rows)  # a linear program then


def test_a_limit_of_time_ends_multiple_policy_updating() -> None:
    tree = from_rules(RandomTree(4, 3, 8, 1))
    form = sequence_form(tree, 0)
    answer = EXACT["MPU"](form, form.payoffs_against(tree.uniform()), 0.05)
    assert answer == (-np.inf, np.inf)


def test_the_grids_are_those_of_the_paper() -> None:
    """Emanuel Tewolde and others, arXiv 2602.15252: 4, 4 and 27 settings."""
    counts = {name: len(grid) for name, grid in GRIDS.items()}
    assert counts == {"PGD": 4, "OGD": 4, "AMSGrad": 27, "PGD restarted": 7}


@pytest.mark.parametrize("is_even", [True, False])
def test_projection_is_the_nearest_distribution(is_even: bool) -> None:
    random = np.random.default_rng(6)
    rows = random.normal(0.3, 1.0, (50, 4))
    weights = np.ones((50, 4)) if is_even else random.uniform(0.1, 3.0, (50, 4))
    for row, weight, near in zip(rows, weights, projected(rows, weights), strict=True):

        def moved(shift: float, row: Any = row, weight: Any = weight) -> Any:
            return np.maximum(row - shift / weight, 0.0)

        shift = brentq(lambda shift, moved=moved: moved(shift).sum() - 1.0, -20.0, 20.0)
        np.testing.assert_allclose(near, moved(shift), atol=1e-9)
