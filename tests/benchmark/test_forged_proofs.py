"""Forged proofs of the benchmark, and random ones: none proves a bound below the truth."""

from contextlib import nullcontext, suppress
from itertools import product
from pathlib import Path
from typing import Any

import check_benchmark as checker
import numpy as np
import pytest
from check_instances import FORM, Instance
from check_trees import player_tree
from strict_files import RefusedError

from hogeq.trees.building import Node, flatten
from hogeq.trees.decision_problems import Interview, RandomTree, Trials
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree
from hogeq.trees.graphs import of_tree
from hogeq.trees.rules import from_rules
from tests.benchmark.forgeries import GAME, HOG, TREE, Arrays, Results, best_of_all, claims, leaf
from tests.slow import mostly_slow, one_in


def infinite_prices(good: Results, kind: Any) -> Results:
    """Leaves whose bound is -inf + inf: any strategy is optimal."""
    forged = good.copy()
    instance = Instance(forged.instances[TREE])
    pasts = player_tree(instance)
    root = pasts.before == 0
    prices = np.zeros((len(pasts.row), pasts.actions))
    prices[root] = np.inf
    place = np.flatnonzero(prices).astype(np.int32)
    last = np.array([np.flatnonzero(row)[-1] for row in instance.legal])
    questions = [*enumerate(last.tolist()), *[(-1, -1)] * (instance.rows + 1)]
    first = [0, *(len(place) * np.arange(instance.rows + 1))]
    proof = (questions, first, np.tile(place, instance.rows), [np.inf] * first[-1])
    kinds = (np.int32, np.int32, np.int32, kind)
    for key, array, of in zip(list(leaf())[:-1], proof, kinds, strict=True):
        forged.proofs[f"{TREE}.{key}"] = np.array(array, of)
    forged.strategies[TREE] = last.astype(np.int16)
    return forged


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_leaf_that_is_not_a_number_is_no_bound(good: Results, folder: Path, kind: Any) -> None:
    assert claims(folder, infinite_prices(good, kind), TREE) is None


def test_probability_of_actions_that_do_not_exist_is_refused(good: Results, folder: Path) -> None:
    for player, share in product((0, 1), (1.0, 0.5, 1e-12)):
        forged = good.copy()
        policies = forged.strategies[f"{GAME}.{player}.policies"].copy()
        policies[0, 0] = (0.5, 0.5 - share / 2, share / 2)  # row 0 has two actions
        forged.strategies[f"{GAME}.{player}.policies"] = policies
        assert claims(folder, forged, GAME) is None


def test_weights_of_other_policies_are_refused(good: Results, folder: Path) -> None:
    for player, count in product((0, 1), (2, 3)):
        forged = good.copy()
        forged.strategies[f"{GAME}.{player}.weights"] = np.full(count, 1.0 / count)
        assert claims(folder, forged, GAME) is None


@pytest.mark.parametrize("miss", [-9e-10, 9e-10, -1e-12, 1e-12])
def test_probabilities_that_miss_one_move_no_digit_the_wrong_way(
    good: Results, folder: Path, miss: float
) -> None:
    # Of both, since a lower bound above the upper one is refused for that.
    for what, players in product(("weights", "policies"), ((0,), (1,), (0, 1))):
        forged = good.copy()
        for player in players:
            key = f"{GAME}.{player}.{what}"
            forged.strategies[key] = forged.strategies[key] * (1.0 + miss)
        said = claims(folder, forged, GAME)
        assert said is None or said["lower"] <= 1.0 <= said["upper"], (what, players)


@pytest.mark.slow
def test_chance_that_misses_one_moves_no_value_above_the_best(good: Results, folder: Path) -> None:
    best, _ = best_of_all(Instance(good.instances[TREE]))
    for miss in (-9e-10, 9e-10):
        forged = good.copy()
        forged.instances[TREE]["chance"] = forged.instances[TREE]["chance"] * (1.0 + miss)
        said = claims(folder, forged, TREE)
        assert said is not None
        assert said["value"] <= best <= said["bound"]


def asked(*questions: tuple[int, int], leaves: int) -> Arrays:
    return {**leaf(leaves), "questions": np.array(questions, np.int32).reshape(-1, 2)}


END = (-1, -1)

UNCOVERED = {
    "no leaf": asked(leaves=0),
    "a leaf is missing": asked((0, 0), END, leaves=1),
    "a leaf too many": asked((0, 0), END, END, END, leaves=3),
    "leaves, then a question": asked(END, (0, 0), END, leaves=2),
    "two trees": asked(END, END, leaves=2),
    "asked again below yes": asked((0, 0), (0, 0), END, END, END, leaves=3),
    "asked again below no": asked((0, 0), END, (0, 0), END, END, leaves=3),
    "the other action below yes": asked((0, 0), (0, 1), END, END, END, leaves=3),
    "the last action below no": asked((0, 0), END, (0, 1), END, END, leaves=3),
    "an action that does not exist": asked((0, 2), END, END, leaves=2),
    "a row that does not exist": asked((99, 0), END, END, leaves=2),
    "a half leaf": asked((0, -1), END, END, leaves=2),
    "fewer leaves than it says": asked((0, 0), END, END, leaves=3),
    "more leaves than it says": asked((0, 0), END, END, leaves=1),
}


@pytest.mark.parametrize("what", UNCOVERED)
def test_questions_that_do_not_cover_all_strategies_are_refused(
    good: Results, folder: Path, what: str
) -> None:
    for name in (TREE, f"{GAME}.0"):
        forged = good.copy()
        forged.proofs |= {f"{name}.{key}": array for key, array in UNCOVERED[what].items()}
        if name == TREE or what != "an action that does not exist":  # row 0 is of the other seat
            assert claims(folder, forged, name.split(".")[0]) is None


def priced(place: list[int], price: list[float]) -> Arrays:
    given = {"place": np.array(place, np.int32), "price": np.array(price, np.float32)}
    return {**leaf(), **given, "first": np.array([0, len(place)], np.int32)}


def test_prices_that_stand_nowhere_or_twice_are_refused(good: Results, folder: Path) -> None:
    far = 2**31 - 1
    first = np.array([0, far, -far - 1, 1], np.int32)  # differences of these overflow to 1
    for name, proof in (
        (TREE, priced([0, 0], [0.5, 0.25])),
        (TREE, priced([1, 0], [0.5, 0.25])),
        (TREE, priced([10**6], [0.5])),
        (TREE, priced([0], [-0.5])),
        (TREE, {**priced([0], [0.5]), "first": np.array([1, 1], np.int32)}),
        (TREE, {**priced([0], [0.5]), "first": np.array([0, 0], np.int32)}),
        (TREE, {**asked((0, 0), END, END, leaves=3), **priced([0], [0.5]), "first": first}),
        (HOG, priced([0], [0.5])),
        (HOG, {"target": np.ones(1)}),
        (TREE, {**leaf(), "target": np.ones(2)}),  # more than leaves
        (TREE, {**leaf(), "target": np.full(1, np.nan)}),
        (TREE, {**priced([0], [0.5]), "target": np.ones(1)}),  # a floor beside prices
    ):
        forged = good.copy()
        forged.proofs |= {f"{name}.{key}": array for key, array in proof.items()}
        assert claims(folder, forged, name) is None


def dealt(seed: int) -> FlatTree:
    """Two moves after a deal of four, of which rows see a part: some fall apart, some do not."""
    draw = np.random.default_rng(seed)
    rows, payoffs = draw.integers(2, size=(4, 2)), draw.random((4, 2, 2))

    def look(moves: tuple[int, ...]) -> Node:
        if not moves:
            return Node(CHANCE, moves=[(move, 0.25, (move,)) for move in range(4)])
        if len(moves) == 3:
            payoff = float(payoffs[moves])
            return Node(TERMINAL, payoffs=(payoff, -payoff))
        row = f"{len(moves)} {rows[moves[0], len(moves) - 1]} {moves[1:] if seed % 2 else ''}"
        return Node(0, row, moves=[(move, 1.0, (*moves, move)) for move in (0, 1)])

    return flatten(f"dealt-{seed}", (), look, lambda moves: [str(move) for move in moves])


SMALL = [
    *(dealt(seed) for seed in range(20)),
    *(from_rules(RandomTree(2, 2, 2, seed)) for seed in range(12)),
    *(from_rules(RandomTree(3, 2, 1, seed)) for seed in range(4)),
    *(from_rules(Trials(2, 3, 2, seed)) for seed in range(4)),
    *(from_rules(Interview(2, 2, 2, seed)) for seed in range(4)),
]


def random_proof(pasts: Any, draw: np.random.Generator) -> Any:
    """Questions at random, each about what is open, and prices of all sizes."""
    questions, leaves, open_ = list[tuple[int, int]](), list[Any](), [pasts.legal]
    while open_:
        allowed = open_.pop()
        rows = np.flatnonzero(allowed.sum(axis=1) > 1)
        if not len(rows) or draw.random() < 0.4:
            questions.append((-1, -1))
            size = 10.0 ** draw.uniform(-3, draw.choice([0, 3, 8, 17, 30]))
            prices = size * draw.exponential(1.0, (len(pasts.row), pasts.actions))
            prices *= draw.random(prices.shape) < draw.choice([0.2, 1.0])
            leaves.append(prices.astype(np.float32).ravel())
            continue
        row = int(draw.choice(rows))
        action = int(draw.choice(np.flatnonzero(allowed[row])))
        questions.append((row, action))
        no, yes = allowed.copy(), allowed.copy()
        no[row, action] = False
        yes[row] = np.arange(pasts.actions) == action
        open_ += [no, yes]
    places = [np.flatnonzero(one) for one in leaves]
    return checker.Proof(
        np.array(questions, np.int32),
        np.cumsum([0, *map(len, places)]).astype(np.int32),
        np.concatenate(places).astype(np.int32),
        np.concatenate([one[at] for one, at in zip(leaves, places, strict=True)]),
        np.zeros(0),
    )


@pytest.mark.parametrize("tree", one_in(4, zip(SMALL)), ids=lambda tree: tree.name)
def test_no_random_proof_is_below_the_best_of_all_strategies(tree: FlatTree) -> None:
    instance = Instance(of_tree(tree).arrays())
    best, _ = best_of_all(instance)
    pasts, draw = player_tree(instance), np.random.default_rng(11)
    for _ in range(40):
        proof = random_proof(pasts, draw)
        assert proof.bound(pasts, pasts.legal) >= best
        # Searched below each leaf: refused, or true.
        target = best + draw.choice([-0.1, 0.0, 1e-9, 0.1, 1.0], len(proof.first) - 1)
        with suppress(RefusedError):
            assert proof._replace(target=target).bound(pasts, pasts.legal) >= best


@pytest.mark.parametrize("tree", one_in(4, zip(SMALL)), ids=lambda tree: tree.name)
def test_a_search_meets_the_best_of_all_and_proves_no_less(tree: FlatTree) -> None:
    instance = Instance(of_tree(tree).arrays())
    best, pure = best_of_all(instance)
    pasts, draw = player_tree(instance), np.random.default_rng(12)
    for _ in range(10):
        allowed = pasts.legal & (draw.random(pasts.legal.shape) < 0.7)
        allowed[np.arange(len(pure)), pure] = True
        for actions in (pasts.legal, allowed):
            assert best <= pasts.searched(actions, best + 1e-8) <= best + 2e-8
            for floor in (best - 1e-8, best - draw.exponential(), -1e9, -1e300):
                assert best <= pasts.searched(actions, floor) <= best + 1e-9
        allowed = pasts.legal & (draw.random(pasts.legal.shape) < 0.6)
        allowed |= pasts.legal & ~allowed.any(axis=1, keepdims=True)
        best_of_these, _ = best_of_all(instance, allowed)
        for floor in best_of_these + draw.normal(size=5):
            found = pasts.searched(allowed, floor)
            assert best_of_these <= found <= max(best_of_these, floor) + 1e-9
    with pytest.raises(RefusedError, match="too many parts"):
        pasts.searched(pasts.legal, best + 1e-8, 0)
    chosen = np.array(pure)[:, None] == np.arange(pasts.actions)  # all questions answered
    assert best <= pasts.bound(chosen) <= best + 1e-9


@pytest.mark.slow
def test_a_search_is_refused_before_it_is_too_deep_for_the_stack() -> None:
    """A chain of rows that stop or go on: one part inside the other."""
    for rows, is_deep in ((900, False), (9000, True)):
        onwards = np.append(np.arange(1, rows), -2)
        numbers = {
            "level": np.arange(rows + 1),
            "row": np.arange(rows),
            "player": np.zeros(rows),
            "situation": np.zeros(rows),
            "fixed": [[1.0, 0.0]],
            "way": [[[0, 1]]],
            "lane": [0],
            "following": [[0]],
            "first": [0, 1, 2],
            "chance": [1.0, 1.0],
            "end": [0, 1],
            "place": 2 * np.arange(rows),
            "label": np.zeros(2 * rows),
            "payoff": [0.5, 1.0],
            "start": [[0, 0]],
            "start_chance": [1.0],
            "next": np.stack([np.full(rows, -1), onwards], axis=1).ravel(),
        }
        kinds = {name: form.split()[0] for name, form in FORM.items()}
        pasts = player_tree(
            Instance({name: np.asarray(numbers[name], kinds[name]) for name in kinds})
        )
        with pytest.raises(RefusedError, match="too deep") if is_deep else nullcontext():
            assert pasts.searched(pasts.legal, -1e9) == pytest.approx(1.0)
        assert pasts.searched(pasts.legal, 1.0) == pytest.approx(1.0)


def orders(seed: int, parts: int = 1) -> FlatTree:
    """Three rows of two actions, met in an order that chance draws, with payoffs at random.

    Or so many parts that have nothing in common, of which chance draws one.
    """
    draw, deals = np.random.default_rng(seed), 4 * parts
    order, payoffs = [draw.permutation(3) for _ in range(deals)], draw.random((deals, 2, 2, 2))

    def look(moves: tuple[int, ...]) -> Node:
        if not moves:
            return Node(CHANCE, moves=[(move, 1.0 / deals, (move,)) for move in range(deals)])
        if len(moves) == 4:
            payoff = float(payoffs[moves])
            return Node(TERMINAL, payoffs=(payoff, -payoff))
        row = f"part {moves[0] % parts} row {order[moves[0]][len(moves) - 1]}"
        return Node(0, row, moves=[(move, 1.0, (*moves, move)) for move in (0, 1)])

    return flatten(f"orders-{seed}", (), look, lambda moves: [str(move) for move in moves])


@pytest.mark.parametrize("seed", range(20))
def test_a_search_of_rows_that_are_met_in_several_orders_is_true(seed: int) -> None:
    instance = Instance(of_tree(orders(seed)).arrays())
    best, pure = best_of_all(instance)
    pasts, draw = player_tree(instance), np.random.default_rng(seed)
    assert best <= pasts.searched(pasts.legal, best + 1e-8) <= best + 2e-8
    assert best <= pasts.searched(pasts.legal, best - 0.05) <= best + 1e-9
    for target in best + draw.exponential(0.1, 20):
        allowed = pasts.legal & (draw.random(pasts.legal.shape) < 0.7)
        allowed[np.arange(3), pure] = True
        assert best <= pasts.searched(allowed, target)


@pytest.mark.parametrize("seed", range(6))
def test_a_search_of_parts_is_exact_above_its_floor(seed: int) -> None:
    instance = Instance(of_tree(orders(seed, 2)).arrays())
    best, _ = best_of_all(instance)
    pasts = player_tree(instance)
    for less in (1e-8, 0.01, 0.1, 1.0):
        assert best <= pasts.searched(pasts.legal, best - less) <= best + 1e-9


@pytest.mark.parametrize("size", [1e8, 1e12, 1e16, 1e17, 1e20, 1e30])
def test_prices_that_swallow_all_payoffs_do_not_lower_a_bound(size: float) -> None:
    for tree in SMALL:
        instance = Instance(of_tree(tree).arrays())
        pasts = player_tree(instance)
        prices = np.zeros((len(pasts.row), pasts.actions))
        prices[pasts.before == 0] = size  # paid at the first move for certain, and paid back
        place = np.flatnonzero(prices).tolist()
        proof = checker.Proof(**priced(place, [size] * len(place)))
        assert proof.bound(pasts, pasts.legal) >= best_of_all(instance)[0]


@pytest.mark.parametrize("miss", [-9e-10, 9e-10])
@pytest.mark.parametrize("what", mostly_slow(["chance", "fixed", "start_chance"], "chance"))
def test_chances_that_miss_one_move_no_bound_below_the_truth(what: str, miss: float) -> None:
    """By whatever is computed: full memory, the own past, a search; nor a value above it."""
    for tree in (
        dealt(0),
        from_rules(RandomTree(2, 2, 2, 0)),
        from_rules(Trials(2, 3, 2, 0)),
        from_rules(Interview(2, 2, 2, 0)),
    ):
        arrays = of_tree(tree).arrays()
        true, made = (Instance({**arrays, what: arrays[what] * (1.0 + one)}) for one in (0.0, miss))
        best, pure = best_of_all(true)
        pasts, legal = player_tree(made), true.legal
        assert made.value(np.array(pure)) - made.error <= best
        assert made.bound(legal) >= true.bound(legal) - 2.0 * true.error
        assert pasts.bound(legal) >= player_tree(true).bound(legal) - 1e-12
        for floor in (best - 1.0, best - 1e-9, -1e300):
            assert pasts.searched(legal, floor) >= best
