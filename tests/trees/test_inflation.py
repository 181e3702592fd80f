"""Rows split where own actions exclude each other: mixtures and responses lose nothing by it."""

import itertools
from typing import Any, Final

import numpy as np
import pytest

import hogeq
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.trees import integer_program
from hogeq.trees.beliefs import build_belief_dag
from hogeq.trees.best_response import CONVERGED_GAP, best_response
from hogeq.trees.columns import solve_by_columns
from hogeq.trees.flat import FlatTree
from hogeq.trees.recall import Recall
from hogeq.trees.restricted import Mixed
from hogeq.trees.sequences import SequenceForm, sequence_form
from tests import toys
from tests.cli.calls import ask
from tests.slow import mostly_slow
from tests.toys import Chance, Choice, first_wins, tree_of
from tests.trees.random_games import infosets, value

LEDUC: Final = -0.085606424  # OpenSpiel, docs/algorithms; the value of Leduc poker

# --- a second way: all pure strategies, node by node ----------------------------------------------


def game(seed: int, depth: int = 5) -> toys.Node:
    """Draw a game whose seats count their moves, forget own actions and some of what they saw."""
    draw = np.random.default_rng(seed)
    forgets = 0.0 if seed % 3 else 0.8

    def node(depth: int, known: tuple[tuple[int, ...], ...]) -> toys.Node:
        who = int(draw.choice([-1, 0, 1] if depth < 5 else [-1])) if depth else -2
        if who == -2 or (depth < 4 and draw.random() < 0.1):
            return float(draw.integers(-3, 4))
        if who == -1:
            seen = int(draw.integers(4))  # by neither, the first, both, the second
            told = [
                tuple((*one, coin) if seat + 1 in (seen, seen - 1) else one for seat, one in each)
                for coin, each in enumerate([[*enumerate(known)]] * 2)
            ]
            return Chance(tuple((0.5, node(depth - 1, one)) for one in told))
        number = int("".join(map(str, (1 + who, *known[who]))))
        kept = [one if draw.random() >= forgets else (2,) * one.count(2) for one in known]
        after = tuple((*kept[seat], 2) if seat == who else known[seat] for seat in (0, 1))
        return Choice(who, number, tuple(node(depth - 1, after) for _ in range(2)))

    return node(depth, ((), ()))


def pure(root: toys.Node, seat: int) -> Floats:
    """Pure strategies, one a row, by the place of an information set."""
    return np.array([*itertools.product((0, 1), repeat=len(infosets(root, seat)))])


def payoffs_against(strategy: Strategy, form: SequenceForm) -> Floats:
    """Share of the stakes that every sequence of a responder ends in, on average."""
    parts = zip(strategy.chances, strategy.policies, strict=True)
    worth = np.sum([weight * form.payoffs_against(one) for weight, one in parts], axis=0)
    return np.asarray(worth / form.tree.largest_expected_share)


def payoffs(root: toys.Node) -> Floats:
    """Payoff of every pure strategy of the first seat against every one of the second."""
    tables = []
    for seat, axis in ((0, 1), (1, 0)):
        chosen = np.expand_dims(pure(root, seat).T, 1 + axis)
        known = infosets(root, seat)
        tables.append({one: (row == 0, row == 1) for one, row in zip(known, chosen, strict=True)})
    won = first_wins(root, (tables[0], tables[1]))
    return np.broadcast_to(won, [len(pure(root, seat)) for seat in (0, 1)]).astype(np.float64)


def parts(root: toys.Node, seat: int) -> list[set[frozenset[int]]]:
    """Histories of every information set, parted by what some pure strategy reaches together."""
    known = infosets(root, seat)
    nodes: list[int] = []  # information set of each history, as they come

    def walk(node: toys.Node, may: Any) -> None:
        if isinstance(node, Choice) and node.seat == seat:
            nodes.append(node.infoset)
            reached.append(may)
            acts = pure(root, seat)[:, known.index(node.infoset)]
            for action, child in enumerate(node.children):
                walk(child, may & (acts == action))
        else:
            for child in toys.following(node):
                walk(child, may)

    reached: list[Any] = []
    walk(root, np.ones(len(pure(root, seat)), bool))
    found = []
    for one in known:
        own = [node for node, infoset in enumerate(nodes) if infoset == one]
        left = [frozenset({node}) for node in own]
        for first, second in itertools.combinations(own, 2):
            if (reached[first] & reached[second]).any():
                joined = frozenset().union(*(p for p in left if {first, second} & p))
                left = [p for p in left if not p & joined] + [joined]
        found.append({frozenset(own.index(node) for node in part) for part in left})
    return found


GAMES: Final = [
    root
    for root in map(game, range(750))
    if all(2 <= len(infosets(root, seat)) <= 6 for seat in (0, 1))
]
FORGETS: Final = [root for root in GAMES if len(sequence_form(tree_of(root), 0).shared_rows)]


def has_a_loss(tree: FlatTree, seat: int) -> bool:
    return bool(Recall(tree, seat).audit().findings["A-loss recall"].holds)


@pytest.mark.slow
def test_the_games_drawn_lose_own_actions_and_more() -> None:
    assert len(GAMES) >= 200
    free = [has_a_loss(tree_of(root), 0) for root in FORGETS]
    assert sum(free) >= 50
    assert len(free) - sum(free) >= 20


def depth_first(tree: FlatTree) -> dict[int, int]:
    """Place of every node in the order of a walk."""
    order: dict[int, int] = {}
    waiting = [0]
    while waiting:
        node = waiting.pop()
        order[node] = len(order)
        waiting += np.flatnonzero(tree.parent == node)[::-1].tolist()
    return order


@pytest.mark.slow
def test_parts_are_what_no_pure_strategy_reaches_together() -> None:
    for root in FORGETS:
        tree = tree_of(root)
        form, order = sequence_form(tree, 0), depth_first(tree)
        found = []
        for row in np.flatnonzero(tree.seat == 0).tolist():
            nodes = sorted(np.flatnonzero(tree.row == row).tolist(), key=order.__getitem__)
            inner = form.inflated.row_of_refined[form.refined_of_node[nodes]]
            found.append({frozenset(np.flatnonzero(inner == one).tolist()) for one in inner})
        assert sorted(map(listed, found)) == sorted(map(listed, parts(root, 0)))


def listed(parts: set[frozenset[int]]) -> list[list[int]]:
    return sorted(map(sorted, parts))


@pytest.mark.parametrize("share", mostly_slow(range(8), 0))
def test_values_are_those_of_enumeration_and_mixtures_keep_them(share: int) -> None:
    for root in GAMES[share::8]:
        tree, matrix = tree_of(root), payoffs(root)
        solved = solve_by_columns(tree, 20.0)
        assert solved.is_proved
        assert solved.lower == pytest.approx(value(matrix), abs=1e-8)
        assert solved.upper == pytest.approx(value(matrix), abs=1e-8)
        # In the original game, against every pure strategy.
        first, second = (
            by_pure(root, tree, one, seat) for seat, one in enumerate(solved.strategies)
        )
        assert (first @ matrix).min() >= solved.lower - 1e-8
        assert (matrix @ second).max() <= solved.upper + 1e-8


def by_pure(root: toys.Node, tree: FlatTree, mixture: Strategy, seat: int) -> Floats:
    """Probability of every pure strategy, each component drawing by row."""
    rows = np.flatnonzero(tree.seat == seat).tolist()
    known = [infosets(root, seat).index(int(str(tree.names[row]).split()[-1])) for row in rows]
    chosen = pure(root, seat)
    total = np.zeros(len(chosen))
    for weight, strategy in zip(mixture.chances, mixture.policies, strict=True):
        drawn = [strategy[row, chosen[:, at]] for row, at in zip(rows, known, strict=True)]
        total += weight * np.prod(drawn, axis=0)
    assert total.sum() == pytest.approx(1.0)
    return total


@pytest.mark.slow
def test_responses_under_a_loss_recall_take_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("a program")

    monkeypatch.setattr(integer_program, "milp", never)
    count = 0
    for seed, root in enumerate(FORGETS):
        tree = tree_of(root)
        if not has_a_loss(tree, 0):
            continue
        form, draw = sequence_form(tree, 0), np.random.default_rng(seed)
        rival = draw.dirichlet(np.ones(2), tree.num_rows)
        worth = form.payoffs_against(rival)
        answer = best_response(form, worth, 20.0)
        every = np.eye(2)[pure(root, 0)]
        rows = np.zeros((tree.num_rows, 2))
        best = -np.inf
        for one in every:
            rows[tree.seat == 0] = one
            best = max(best, float(form.realisation(rows) @ worth))
        assert answer.bound - answer.payoff <= CONVERGED_GAP
        assert answer.payoff == pytest.approx(best, abs=1e-12)
        assert float(form.realisation(answer.strategy) @ worth) == pytest.approx(best, abs=1e-12)
        assert set(answer.strategy.ravel()) <= {0.0, 1.0}
        count += 1
    assert count >= 50


# --- known games ----------------------------------------------------------------------------------


def test_leduc_poker_loses_nothing_by_forgetting_own_actions() -> None:
    solved = solve_by_columns(hogeq.Game("leduc_poker", forget="own_actions").tree, 20.0)
    assert solved.is_proved
    assert solved.effort["iterations"] == 1
    assert solved.lower == pytest.approx(LEDUC, abs=1e-9)
    assert solved.upper == pytest.approx(LEDUC, abs=1e-9)
    assert len(solved.strategies[0].weights) > 1  # one strategy secures less


@pytest.mark.slow
def test_liars_dice_loses_nothing_where_old_bids_are_forgotten() -> None:
    """Found from the strategies of players who forget nothing; columns alone take minutes."""
    name = "liars_dice_ir(dice_sides=4)"
    solved = solve_by_columns(hogeq.Game(name).tree, 60.0)
    assert solved.is_proved
    assert solved.effort["iterations"] < 10
    assert solved.lower == pytest.approx(1 / 16, abs=1e-9)  # as by the belief DAG
    assert solve_by_columns(hogeq.Game(name).tree, 60.0, "dag").lower == pytest.approx(
        1 / 16, abs=1e-9
    )


@pytest.mark.parametrize(
    ("name", "forget", "free"),
    [
        ("leduc_poker", "own_actions", [(180, 180), (0, 0)]),
        ("leduc_poker", "last:1", [(30, 120), (0, 90)]),
        ("kuhn_poker", None, [(0, 0), (0, 0)]),
    ],
)
def test_the_audit_counts_what_is_free_in_mixtures(
    name: str, forget: str | None, free: list[tuple[int, int]]
) -> None:
    found = ask("audit", "--game", name, *(("--forget", forget) if forget else ()))["players"]
    counts = [one["free_in_mixtures"] for one in found]
    assert [(one["count"], one["of"]) for one in counts] == free


def test_nothing_is_free_for_the_absent_minded() -> None:
    """A policy comes to both ends of the second crossing, whatever a pure strategy does."""
    crossing = Choice(
        0, 1, (0.0, Choice(0, 1, (Choice(0, 2, (1.0, 0.0)), Choice(0, 2, (0.0, 2.0)))))
    )
    found = Recall(tree_of(crossing), 0).audit()
    assert found.forgetful
    assert not found.free


def test_a_plan_is_drawn_in_no_more_parts_than_it_has_actions() -> None:
    tree = hogeq.Game("leduc_poker", forget="own_actions").tree
    form = sequence_form(tree, 0)
    dag = build_belief_dag(form)
    draw = np.random.default_rng(1)
    mixed = Mixed.of(dag, draw.exponential(size=dag.num_choices))
    drawn, _ = mixed.strategies()
    pairs = zip(drawn.chances, drawn.policies, strict=True)
    together = sum(weight * form.realisation(one) for weight, one in pairs)
    np.testing.assert_allclose(together, mixed.plan, atol=1e-12)
    assert len(drawn.weights) <= (mixed.plan > 0.0).sum()


def test_an_inflated_tree_has_the_chances_of_the_game() -> None:
    tree = hogeq.Game("leduc_poker", forget="own_actions").tree
    inflated = sequence_form(tree, 0).inflated.tree
    assert inflated.num_rows > tree.num_rows
    assert len(inflated.action_numbers) == inflated.num_legal.sum()
    np.testing.assert_array_equal(inflated.chance, tree.chance)
    np.testing.assert_array_equal(
        inflated.probabilities(inflated.uniform()), tree.probabilities(tree.uniform())
    )
