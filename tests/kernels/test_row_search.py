"""The search for a pure response, row by row, against the list of all pure strategies."""

import itertools
from typing import Any

import numpy as np

from hogeq.kernels.row_search import Progress, search_rows
from hogeq.support.aliases import Floats
from tests.trees.test_random_trees import drawn


def searched(form: Any, payoffs: Floats, target: float) -> tuple[int, Floats, float]:
    """Search for a response above a target: rows set at the end, the response, and the bound."""
    treeplex, worth = form.treeplex, form.perfect_recall_values(payoffs)[0]
    count, actions = len(treeplex.policy_row), form.tree.num_actions
    chosen, bound = np.full(count, -1), np.full(1, -np.inf)
    progress = Progress(
        np.zeros(len(treeplex.row_of_refined), np.int64),
        np.zeros((count + 1, count), np.int64),
        np.zeros((count + 1, count, actions)),
        np.zeros(count + 1),
    )
    end = search_rows(treeplex, progress, payoffs, worth, chosen, bound, target, -1, 10**6)
    response = form.tree.uniform()
    for row, action in zip(treeplex.policy_row, chosen, strict=True):
        # A row that no play meets has any action; the first is always legal.
        response[row] = np.eye(actions)[max(action, 0)]
    return end, response, float(bound[0])


def test_a_search_finds_a_response_above_its_target_or_bounds_all() -> None:
    """Whatever the target is; rows have one to three actions, and forget."""
    tried, many = 0, 0
    for seed in range(60):
        random, _, engine = drawn(seed)
        for original in engine.forms:
            form = original.inflated
            tree, rows = form.tree, np.unique(form.row_of_refined)
            if form.rank_of_row is None or len(rows) < 2 or tree.num_legal[rows].prod() > 1000:
                continue
            other = random.dirichlet(np.ones(engine.num_actions), engine.shape[0])
            payoffs = original.payoffs_against(engine.legal(other))
            pure, every = tree.uniform(), []
            for actions in itertools.product(*map(range, tree.num_legal[rows])):
                pure[rows] = np.eye(tree.num_actions)[list(actions)]
                every.append(float(form.realisation(pure) @ payoffs))
            best, least = max(every), min(every)
            tried, many = tried + 1, many + (len(form.shared_rows) > 0)
            for target in (least - 1.0, (best + least) / 2.0, best - 1e-9):
                end, response, _ = searched(form, payoffs, target)
                if best > target:
                    assert end == len(rows)
                    assert form.realisation(response) @ payoffs > target
            for target in (best + 1e-9, best + random.exponential(0.1), best + 1.0, np.inf):
                end, _, bound = searched(form, payoffs, target)
                assert end == -1
                assert best - 1e-12 <= bound <= target
    assert tried >= 20
    assert many >= 10
