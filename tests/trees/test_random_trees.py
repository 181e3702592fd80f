"""Passes over random trees of imperfect recall, against the twin's list of plays."""

from typing import Any

import numpy as np
import pytest

from hogeq.model.protocol import Role
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats
from hogeq.trees.building import Node, flatten
from hogeq.trees.engine import TreeEngine
from hogeq.trees.flat import CHANCE, TERMINAL
from tests.slow import mostly_slow
from tests.twin.trees import Tree, random_tree

WEIGHTS = np.array([0.5, 0.2, 0.3])
BATCH = 20


def look(node: Any) -> Node:
    if not isinstance(node, tuple):
        return Node(TERMINAL, payoffs=(node, -node))
    if node[0] == "chance":
        return Node(CHANCE, moves=[(place, *move) for place, move in enumerate(node[1])])
    player, row, children = node
    return Node(player, row, moves=[(place, 1.0, child) for place, child in enumerate(children)])


def drawn(seed: int) -> tuple[Any, Tree, TreeEngine]:
    """Draw a tree with a row or more, its twin's rows being those of the engine."""
    random = np.random.default_rng(seed)
    players: dict[int, int] = {}
    while not players:
        root, players, legal = random_tree(random)
    engine = TreeEngine(flatten("random", root, look, lambda moves: [*map(str, moves)]))
    number = {name: row for row, name in enumerate(engine.tree.names)}

    def renamed(node: Any) -> Any:
        if not isinstance(node, tuple):
            return node
        if node[0] == "chance":
            return "chance", [(chance, renamed(child)) for chance, child in node[1]]
        return node[0], number[node[1]], [renamed(child) for child in node[2]]

    rows = {number[row]: row for row in players}
    by_row = (
        {row: table[name] for row, name in sorted(rows.items())} for table in (players, legal)
    )
    twin = Tree(renamed(root), *by_row)
    assert engine.tree.largest_payoff == twin.most
    return random, twin, engine


def policies(random: Any, engine: TreeEngine, number: int) -> Floats:
    """Draw policies, some of whose rows are pure; illegal actions have their share."""
    rows = random.dirichlet(np.ones(engine.num_actions), (number, engine.shape[0]))
    pure = one_hot(random.integers(engine.num_actions, size=rows.shape[:2]), engine.num_actions)
    return np.where(random.random((*rows.shape[:2], 1)) < 0.3, pure, rows)


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)


def by_row(engine: TreeEngine, found: Any) -> Floats:
    return np.array([found[row] for row in range(engine.shape[0])])


@pytest.mark.parametrize("batch", mostly_slow(range(10), 0, 1, 2))
def test_passes_are_those_of_the_list_of_plays(batch: int) -> None:
    for seed in range(BATCH * batch, BATCH * (batch + 1)):
        random, twin, engine = drawn(seed)
        mine, theirs, believed = policies(random, engine, 3)
        both, work = np.stack([mine, theirs]), engine.workspace(2)
        same(work.win_rate(both)[1:], (twin.wins(mine, theirs), 1.0 - twin.wins(theirs, mine)))
        known = work.win_rate(both, Role.FULL_MEMORY)
        same(known[1:], [twin.remembering(seat, theirs) for seat in (0, 1)])
        same(work.cell_reach(both), by_row(engine, twin.reach(mine, theirs)))
        ones = [[1.0] * twin.legal[row] for row in range(engine.shape[0])]
        any_action = work.cell_reach(np.stack([np.ones(engine.shape), theirs]))
        same(any_action, by_row(engine, twin.reach(ones, theirs)))
        values(twin, engine, believed, mine, theirs)
        moved(twin, engine, believed, mine, theirs)


def values(twin: Tree, engine: TreeEngine, believed: Floats, mine: Floats, theirs: Floats) -> None:
    """Compare values; illegal actions have the mean if they are played, else the least.

    In self-play a player has both seats.
    """
    work, alone = engine.workspace(2), engine.workspace(1)
    both = alone.forward(believed[None])
    same(both.rows, 2.0 * by_row(engine, twin.reach(believed, believed)))
    self_play = alone.backward(both, mine[None], Role.COUNTERFACTUAL)
    same(self_play.first, twin.wins(mine, mine))
    reach = work.forward(np.stack([believed, theirs]))
    met = work.backward(reach, np.stack([mine, theirs]), Role.COUNTERFACTUAL)
    assert met.win_rate == pytest.approx(work.win_rate(np.stack([mine, theirs])).win_rate)
    for row, legal in twin.legal.items():
        expected = twin.values(row, believed, mine, theirs)
        illegal = 0.0 if mine[row, legal:].sum() > 1e-12 else min(expected)
        same(met.values[row, :legal], expected)
        same(met.values[row, legal:], illegal)
        twice = 2.0 * np.array(twin.values(row, believed, mine, mine))
        same(self_play.values[row, :legal], twice)


def moved(twin: Tree, engine: TreeEngine, believed: Floats, mine: Floats, theirs: Floats) -> None:
    """Compare a sweep and a step of annealing."""
    work = engine.workspace(2)
    for role in (Role.ASCEND, Role.SOFTMAX):
        reach, now = work.forward(np.stack([believed, theirs])), np.stack([mine, theirs])
        met = work.backward(reach, now, role, temperature=0.3, damping=0.7)
        if role == Role.ASCEND:
            expected, changes = twin.swept(believed, mine, theirs)
            assert met.changes == changes
        else:
            expected = twin.softened(believed, mine, theirs, 0.3, 0.7)
        same(now[0], expected)
        assert met.first == pytest.approx(twin.wins(now[0], theirs), abs=1e-12)
        assert met.other == pytest.approx(twin.wins(theirs, now[0]), abs=1e-12)


@pytest.mark.parametrize("seed", range(BATCH))
def test_a_mixture_is_met_as_the_mean_of_its_parts(seed: int) -> None:
    random, twin, engine = drawn(seed)
    mine, *others = policies(random, engine, 4)
    work, now = engine.workspace(4), np.stack([mine, *others])
    reach = work.forward(now, WEIGHTS)
    each = [by_row(engine, twin.reach(mine, other)) for other in others]
    same(reach.rows, WEIGHTS @ each)
    met = work.backward(reach, now, Role.COUNTERFACTUAL)
    for row, legal in twin.legal.items():
        parts = [twin.values(row, mine, mine, other) for other in others]
        same(met.values[row, :legal], WEIGHTS @ parts)
    same(met.first, WEIGHTS @ [twin.wins(mine, other) for other in others])
    same(met.other, WEIGHTS @ [twin.wins(other, mine) for other in others])
    known = work.win_rate(now, Role.FULL_MEMORY, WEIGHTS)
    same(known.first, WEIGHTS @ [twin.remembering(0, other) for other in others])


@pytest.mark.slow
def test_sequences_are_one_for_each_action_of_each_past() -> None:
    """Against walks from every node to the root; rows have one to three actions."""
    widths = set[int]()
    for seed in range(60):
        random, _, engine = drawn(seed)
        policy = engine.legal(policies(random, engine, 1))[0]
        acts = random.integers(engine.tree.num_legal)
        for player, form in enumerate(engine.forms):
            tree, every = form.tree, [form.steps(one) for one in range(form.num_sequences)]
            assert len({*map(tuple, every)}) == form.num_sequences
            assert form.num_sequences == 1 + tree.num_legal[form.row_of_refined].sum()
            counts = tree.num_legal[form.row_of_refined].tolist()
            owners = [past for past, count in enumerate(counts) for _ in range(count)]
            assert form.refined_of_sequence.tolist() == [-1, *owners]
            for node in range(tree.num_nodes):
                way, at = [], node
                while at:
                    action, at = int(tree.action[at]), int(tree.parent[at])
                    if tree.player[at] == player:
                        way.append((int(tree.row[at]), action))
                assert every[form.sequence_of_node[node]] == way[::-1]
            plan, pure = form.realisation(policy), form.pure_realisation(acts)
            summed = np.zeros(tree.shape)
            for sequence, steps in enumerate(every):
                assert plan[sequence] == pytest.approx(np.prod([policy[one] for one in steps]))
                assert pure[sequence] == all(acts[row] == action for row, action in steps)
                if steps:
                    summed[steps[-1]] += plan[sequence]
            np.testing.assert_allclose(form.action_weights(plan), summed[tree.legal])
            likeliest = np.where(tree.legal, summed, -1.0).argmax(axis=1)
            assert form.likeliest_actions(plan).tolist() == likeliest.tolist()
            widths |= {*tree.num_legal[form.row_of_refined].tolist()}
    assert len(widths) > 2
