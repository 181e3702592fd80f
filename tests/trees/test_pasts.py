"""The graph of a player's own pasts, against perfect recall in fractions."""

from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.model.graph_passes import GraphPasses
from hogeq.model.priced import Problem
from hogeq.model.protocol import Role
from hogeq.strategies.strategy import Strategy
from hogeq.trees import pasts
from hogeq.trees.flat import FlatTree
from hogeq.trees.responses import respond_in_both_seats
from hogeq.trees.strategies import tree_strategy
from tests.own_rules import Pennies
from tests.trees.test_random_trees import drawn


def strategy_of(tree: FlatTree, seed: int, components: int) -> Strategy:
    chance = np.random.default_rng(seed)
    rows = chance.dirichlet(np.ones(tree.num_actions), (components, tree.num_rows))
    rows = rows * tree.legal
    rows /= rows.sum(axis=2, keepdims=True)
    if components == 1:
        return tree_strategy(tree, rows[0])
    return tree_strategy(tree, hogeq.Mixture(np.full(components, 1.0 / components), rows))


def value_of(problem: Problem) -> float:
    """Payoff of the player who knows every state."""
    passes = GraphPasses(problem.graph)
    policies = np.zeros((2, max(problem.graph.rows, 1), problem.graph.num_actions))
    starts, _ = passes.backward(Role.FULL_MEMORY, policies, np.ones(1))
    return float(starts[0] @ problem.graph.start_chance) + problem.payoff_offset


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("components", [1, 3])
def test_the_value_is_that_of_perfect_recall_but_for_the_error(seed: int, components: int) -> None:
    tree = drawn(seed)[2].tree
    target = strategy_of(tree, seed, components)
    problems = pasts.pose_problems(tree, target)
    error = sum(one.chance * one.payoff_error for one in problems)
    exact = respond_in_both_seats(tree, target, 0.0).full_memory
    assert 0.0 < error < 1e-9
    assert sum(one.chance * value_of(one) for one in problems) == pytest.approx(exact, abs=error)


def test_pasts_of_kuhn_poker_are_its_rows_and_their_chances() -> None:
    tree = hogeq.Game("kuhn_poker").tree
    first, _ = pasts.pose_problems(tree, tree_strategy(tree, "uniform"))
    graph = first.graph
    assert (graph.positions, graph.rows) == (7, 6)  # nature, then each card twice
    assert graph.chance[:3].tolist() == pytest.approx([1 / 3] * 3)
    names = [str(tree.names[row]) for row in graph.row[1:]]
    assert [name[1:] for name in names] == ["", "", "", "pb", "pb", "pb"]
    assert graph.payoff[-1 - graph.next].min() == -2.0


def test_a_player_without_decisions_has_nature_alone() -> None:
    class Coin(Pennies):
        movers = (hogeq.CHANCE, 0)

        def chances(self, state: Any) -> list[tuple[str, float]]:  # noqa: ARG002 - there is one
            return [("h", 0.25), ("t", 0.75)]

    tree = hogeq.Game(Coin()).tree
    first, second = pasts.pose_problems(tree, tree_strategy(tree, "uniform"))
    assert (first.graph.positions, second.graph.positions) == (2, 1)
    assert (value_of(first), value_of(second)) == (0.5, 0.0)


def test_a_tree_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pasts, "MOST_NODES", 57)
    tree = hogeq.Game("kuhn_poker").tree
    with pytest.raises(ValueError, match="has 58 nodes; allowed for certificates: 57"):
        pasts.pose_problems(tree, tree_strategy(tree, "uniform"))
