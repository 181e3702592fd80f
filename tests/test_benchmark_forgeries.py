"""Forged results of the benchmark: the checker refuses them, or what it accepts is true.

The forger knows the checker: hashes are right, and known.json says what the checker computes.
"""

import hashlib
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from hogeq.benchmark.catalogue import hog_game
from hogeq.graph.hog import of_hog
from hogeq.trees.building import Node, flatten
from hogeq.trees.decision_problems import Interview, RandomTree, Trials
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree
from hogeq.trees.graphs import of_tree
from hogeq.trees.rules import from_rules

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))
import check_benchmark as checker
import strict_files
from check_benchmark import player_tree
from proofs import LinearProgram, branch_and_bound
from strict_files import RefusedError

Arrays = dict[str, Any]

TREE, HOG, GAME = "tiny", "hog", "coins"


def coins() -> FlatTree:
    """Payoff 2 for equal coins of two players, else 0; the third action of player 1 pays 2."""

    def look(moves: tuple[int, ...]) -> Node:
        if len(moves) == 2:
            return Node(TERMINAL, payoff=2.0 * (moves[1] in {2, moves[0]}))
        options = range(2 + len(moves))
        moved = [(move, 1.0, (*moves, move)) for move in options]
        return Node(len(moves), f"player {len(moves)}", moves=moved)

    return flatten(GAME, (), look, lambda moves: [str(move) for move in moves])


def leaf(count: int = 1) -> Arrays:
    """Make a proof without questions and prices."""
    return {
        "questions": np.full((count, 2), -1, np.int32),
        "first": np.zeros(count + 1, np.int32),
        "place": np.zeros(0, np.int32),
        "price": np.zeros(0, np.float32),
        "target": np.zeros(0),
    }


def best_of_all(instance: Any, allowed: Any = None) -> tuple[float, Any]:
    """Largest value of all pure strategies of some actions, and one that has it."""
    every = product(*map(np.flatnonzero, instance.legal if allowed is None else allowed))
    return max(((instance.value(np.array(one)), one) for one in every), key=lambda pair: pair[0])


class Results:
    """What a folder of instances and a folder of results hold; a forger changes it."""

    def __init__(self) -> None:
        tree, coin = from_rules(RandomTree(2, 2, 2, 1)), coins()
        game = hog_game("fa13", 5, 2).engine
        uniform = np.full((5, 5, game.num_actions), 1.0 / game.num_actions)
        self.instances = {
            TREE: of_tree(tree).arrays(),
            HOG: of_hog(game.rules).against(uniform).arrays(),
            GAME: of_tree(coin).arrays(),
        }
        instance = checker.Instance(self.instances[TREE])
        _, pure = best_of_all(instance)
        pasts = player_tree(instance)
        relax, pure = LinearProgram(pasts, 10.0), np.array(pure)
        _, _, proof = branch_and_bound(relax, pasts.legal, instance.value, pure, 60.0)
        half = np.array([[[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]])
        self.strategies: Arrays = {
            TREE: pure.astype(np.int16),
            HOG: np.full(25, 1, np.int16),
            **{f"{GAME}.{player}.weights": np.ones(1) for player in (0, 1)},
            **{f"{GAME}.{player}.policies": half for player in (0, 1)},
        }
        self.proofs = {f"{TREE}.{key}": array for key, array in proof._asdict().items()}
        for name in (HOG, f"{GAME}.0", f"{GAME}.1"):
            self.proofs |= {f"{name}.{key}": array for key, array in leaf().items()}
        self.known: dict[str, Any] = {"format": checker.FORMAT}

    def copy(self) -> "Results":
        """One to change."""
        other = object.__new__(Results)
        other.instances = {name: dict(arrays) for name, arrays in self.instances.items()}
        other.strategies, other.proofs = dict(self.strategies), dict(self.proofs)
        other.known = json.loads(json.dumps(self.known))
        return other

    def write(self, folder: Path) -> None:
        """Write all, and hashes that are right."""
        for name, arrays in self.instances.items():
            np.savez(folder / f"{name}.npz", **arrays)
        for what, arrays in (("strategies", self.strategies), ("proofs", self.proofs)):
            np.savez(folder / "results" / f"{what}.npz", **arrays)
        self.write_known(folder)

    def write_known(self, folder: Path) -> None:
        """Write known.json, with the hashes of the archives as they are."""
        for what in ("strategies", "proofs"):
            data = (folder / "results" / f"{what}.npz").read_bytes()
            self.known[what] = hashlib.sha256(data).hexdigest()
        (folder / "results" / "known.json").write_text(json.dumps(self.known))

    def claim_what_is_computed(self, folder: Path, *names: str) -> None:
        """Let known.json say what the checker computes, if it computes anything."""
        made = {name: checker.Instance(self.instances[name]) for name in names or self.instances}
        self.write(folder)
        reader = checker.Known(folder / "results")
        for name, instance in made.items():
            self.known["instances"][name] = reader.facts(name, instance)
        self.write_known(folder)


def accepts(folder: Path, *only: str) -> bool:
    return checker.main(str(folder), str(folder / "results"), *only) == 0


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Results of three small instances, of which all is true."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "results").mkdir()
    results = Results()
    results.known["instances"] = {}
    results.claim_what_is_computed(folder)
    assert accepts(folder)
    return results


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "results").mkdir()
    return tmp_path


def claims(folder: Path, forged: Results, name: str) -> dict[str, Any] | None:
    """Give what is claimed of an instance and accepted, as the checker computes it, if any is."""
    with suppress(Exception):
        forged.claim_what_is_computed(folder, name)
        if accepts(folder, name):
            return cast("dict[str, Any]", forged.known["instances"][name])
    return None


def test_what_is_true_of_the_small_instances(good: Results) -> None:
    tree, game = good.known["instances"][TREE], good.known["instances"][GAME]
    best, _ = best_of_all(checker.Instance(good.instances[TREE]))
    assert tree["value"] <= best <= tree["bound"] < tree["value"] + 1e-6
    assert game["lower"] <= 1.0 <= game["upper"] < game["lower"] + 1e-9


# --- numbers and types ----------------------------------------------------------------------------


def changed_types(array: Any) -> Iterator[tuple[str, Any]]:
    for kind in ("complex128", "bool", "U8", "float16", "uint64", "object"):
        yield kind, array.astype(kind)
    yield "another width", array.astype("i8" if array.dtype.kind == "i" else "g")
    yield "no number of them", array[:0]
    yield "one axis more", array[None]
    if array.dtype.kind == "i":
        yield "as floats", array.astype(np.float64)


def changed_numbers(array: Any) -> Iterator[tuple[str, Any]]:
    numbers: tuple[float, ...] = (np.nan, np.inf, -np.inf, -0.25)
    if array.dtype.kind == "i":
        numbers = (np.iinfo(array.dtype).min, np.iinfo(array.dtype).max)
    for number, place in product(numbers, (0, -1)):
        changed = array.copy()
        if changed.size:
            changed.flat[place] = number
            yield f"{number} at {place}", changed


def changes(array: Any) -> Iterator[tuple[str, Any]]:
    yield from changed_types(array)
    yield from changed_numbers(array)


def test_every_number_that_is_none_and_every_other_type_is_refused(
    good: Results, folder: Path
) -> None:
    tried = 0
    for part in ("strategies", "proofs"):
        for key, array in getattr(good, part).items():
            for what, changed in changes(array):
                if not array.size and not changed.size and what == "no number of them":
                    continue
                forged = good.copy()
                getattr(forged, part)[key] = changed
                assert claims(folder, forged, key.split(".")[0]) is None, f"{key}: {what}"
                tried += 1
    assert tried > 200


def test_every_number_of_an_instance_that_is_none_is_refused(good: Results, folder: Path) -> None:
    tried = 0
    for name, arrays in good.instances.items():
        for key, array in arrays.items():
            for what, changed in changes(array):
                if key == "payoff" and "-0.25" in what:
                    continue  # another instance, as good
                forged = good.copy()
                forged.instances[name][key] = changed
                assert claims(folder, forged, name) is None, f"{name} {key}: {what}"
                tried += 1
    assert tried > 500


def first_own(arrays: Arrays) -> int:
    return int(np.flatnonzero(arrays["player"] == 0)[0])


def place_of(arrays: Arrays, position: int) -> int:
    return int(arrays["place"][position])


# Of each condition of the theorem one instance that breaks it alone: what is said of it, which
# instance and array, and what number is changed to what.
BROKEN: dict[str, tuple[str, str, Callable[[Arrays], tuple[Any, Any]]]] = {
    "next: an earlier position": (HOG, "next", lambda _: (0, 0)),
    "place: beyond all ends": (HOG, "place", lambda of: (-1, len(of["next"]) - 1)),
    "fixed: an action that is none": (TREE, "fixed", lambda _: (0, [0.0, 1.0])),
    "way: actions hang on memory": (
        HOG,
        "way",
        lambda of: ((of["situation"][first_own(of)], 0, 1), -1),
    ),
    "way: actions hang on the position": (
        TREE,
        "situation",
        lambda of: (np.flatnonzero(of["player"] == 0)[-1], of["situation"][0]),
    ),
    "way: no action": (TREE, "way", lambda of: (of["situation"][first_own(of)], -1)),
    "row: of nobody": (
        TREE,
        "row",
        lambda of: (of["player"] == 0, of["row"][of["player"] == 0] + 1),
    ),
    "row: twice, with memory": (HOG, "row", lambda of: (of["player"] == 0, 0)),
    "row: a number out of range": (HOG, "row", lambda of: (1, len(of["fixed"]))),
    "start: a number out of range": (HOG, "start", lambda of: ((0, 1), len(of["lane"]))),
    "level: does not rise": (HOG, "level", lambda _: (1, 10**6)),
    "first: does not rise": (HOG, "first", lambda of: (1, len(of["chance"]) + 1)),
    "next: a position with two ways": (
        TREE,
        "next",
        lambda of: (0, of["next"][place_of(of, 0) + 1]),
    ),
    "chance: no probabilities": (HOG, "chance", lambda _: (0, 0.5 + 1e-6)),
    "chance: a negative": (HOG, "chance", lambda _: (0, -0.5)),
    "numbers: too many, or too large": (TREE, "payoff", lambda _: (0, 1.5e308)),
}


@pytest.mark.parametrize("what", BROKEN)
def test_every_condition_of_the_theorem_is_demanded(good: Results, what: str) -> None:
    name, key, change = BROKEN[what]
    arrays = dict(good.instances[name])
    player_tree(checker.Instance(good.instances[TREE]))
    place, number = change(arrays)
    arrays[key] = arrays[key].copy()
    arrays[key][place] = number
    with pytest.raises(RefusedError, match=what):
        player_tree(checker.Instance(arrays))


def test_what_is_no_instance_of_the_form_is_refused(good: Results) -> None:
    hog, coin = good.instances[HOG], checker.Instance(good.instances[GAME])
    nothing = {"start": np.zeros((0, 2), np.int32), "start_chance": np.zeros(0)}
    for what, arrays in (
        ("not those of the form", {**hog, "more": np.zeros(1)}),
        ("is empty", {**hog, **nothing}),
    ):
        with pytest.raises(RefusedError, match=what):
            checker.Instance(arrays)
    with pytest.raises(RefusedError, match="has memory"):
        player_tree(checker.Instance(hog))
    with pytest.raises(RefusedError, match="action that does not exist"):
        coin.value(np.array([2, 0]))
    with pytest.raises(RefusedError, match="one action for each row"):
        coin.value(np.array([0, 0, 0]))
    searched = checker.Proof(**{**leaf(), "target": np.ones(1)})
    with pytest.raises(RefusedError, match="of no search"):
        searched.bound(checker.Instance(hog), checker.Instance(hog).legal)


@pytest.mark.parametrize("key", ["row", "next", "label", "start_chance"])
def test_arrays_of_other_lengths_are_refused(good: Results, key: str) -> None:
    arrays = dict(good.instances[HOG])
    arrays[key] = np.concatenate([arrays[key], arrays[key][-1:]])
    with pytest.raises(RefusedError, match="numbers"):
        checker.Instance(arrays)


def test_payoffs_that_are_far_from_0_are_those_of_the_game() -> None:
    def look(moves: tuple[int, ...]) -> Node:
        if len(moves) == 1:
            return Node(TERMINAL, payoffs=[(7.0, 6.0), (8.0, 5.0)][moves[0]])
        return Node(0, "row", moves=[(move, 1.0, (move,)) for move in (0, 1)])

    tree = flatten("far", (), look, lambda moves: [str(move) for move in moves])
    assert tree.shift
    assert tree.centre
    alone = of_tree(tree).against(tree.uniform())  # the other player has no rows
    assert best_of_all(checker.Instance(alone.arrays()))[0] == 8.0


# --- proofs that prove nothing --------------------------------------------------------------------


def infinite_prices(good: Results, kind: Any) -> Results:
    """Leaves whose bound is -inf + inf: any strategy is optimal."""
    forged = good.copy()
    instance = checker.Instance(forged.instances[TREE])
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


def test_chance_that_misses_one_moves_no_value_above_the_best(good: Results, folder: Path) -> None:
    best, _ = best_of_all(checker.Instance(good.instances[TREE]))
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
            return Node(TERMINAL, payoff=float(payoffs[moves]))
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


@pytest.mark.parametrize("tree", SMALL, ids=lambda tree: tree.name)
def test_no_random_proof_is_below_the_best_of_all_strategies(tree: FlatTree) -> None:
    instance = checker.Instance(of_tree(tree).arrays())
    best, _ = best_of_all(instance)
    pasts, draw = player_tree(instance), np.random.default_rng(11)
    for _ in range(40):
        proof = random_proof(pasts, draw)
        assert proof.bound(pasts, pasts.legal) >= best
        # Searched below each leaf: refused, or true.
        target = best + draw.choice([-0.1, 0.0, 1e-9, 0.1, 1.0], len(proof.first) - 1)
        with suppress(RefusedError):
            assert proof._replace(target=target).bound(pasts, pasts.legal) >= best


@pytest.mark.parametrize("tree", SMALL, ids=lambda tree: tree.name)
def test_a_search_meets_the_best_of_all_and_proves_no_less(tree: FlatTree) -> None:
    instance = checker.Instance(of_tree(tree).arrays())
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
        kinds = {name: form.split()[0] for name, form in checker.FORM.items()}
        pasts = player_tree(
            checker.Instance({name: np.asarray(numbers[name], kinds[name]) for name in kinds})
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
            return Node(TERMINAL, payoff=float(payoffs[moves]))
        row = f"part {moves[0] % parts} row {order[moves[0]][len(moves) - 1]}"
        return Node(0, row, moves=[(move, 1.0, (*moves, move)) for move in (0, 1)])

    return flatten(f"orders-{seed}", (), look, lambda moves: [str(move) for move in moves])


@pytest.mark.parametrize("seed", range(20))
def test_a_search_of_rows_that_are_met_in_several_orders_is_true(seed: int) -> None:
    instance = checker.Instance(of_tree(orders(seed)).arrays())
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
    instance = checker.Instance(of_tree(orders(seed, 2)).arrays())
    best, _ = best_of_all(instance)
    pasts = player_tree(instance)
    for less in (1e-8, 0.01, 0.1, 1.0):
        assert best <= pasts.searched(pasts.legal, best - less) <= best + 1e-9


@pytest.mark.parametrize("size", [1e8, 1e12, 1e16, 1e17, 1e20, 1e30])
def test_prices_that_swallow_all_payoffs_do_not_lower_a_bound(size: float) -> None:
    for tree in SMALL:
        instance = checker.Instance(of_tree(tree).arrays())
        pasts = player_tree(instance)
        prices = np.zeros((len(pasts.row), pasts.actions))
        prices[pasts.before == 0] = size  # paid at the first move for certain, and paid back
        place = np.flatnonzero(prices).tolist()
        proof = checker.Proof(**priced(place, [size] * len(place)))
        assert proof.bound(pasts, pasts.legal) >= best_of_all(instance)[0]


@pytest.mark.parametrize("miss", [-9e-10, 9e-10])
@pytest.mark.parametrize("what", ["chance", "fixed", "start_chance"])
def test_chances_that_miss_one_move_no_bound_below_the_truth(what: str, miss: float) -> None:
    """By whatever is computed: full memory, the own past, a search; nor a value above it."""
    for tree in (
        dealt(0),
        from_rules(RandomTree(2, 2, 2, 0)),
        from_rules(Trials(2, 3, 2, 0)),
        from_rules(Interview(2, 2, 2, 0)),
    ):
        arrays = of_tree(tree).arrays()
        true, made = (
            checker.Instance({**arrays, what: arrays[what] * (1.0 + one)}) for one in (0.0, miss)
        )
        best, pure = best_of_all(true)
        pasts, legal = player_tree(made), true.legal
        assert made.value(np.array(pure)) - made.error <= best
        assert made.bound(legal) >= true.bound(legal) - 2.0 * true.error
        assert pasts.bound(legal) >= player_tree(true).bound(legal) - 1e-12
        for floor in (best - 1.0, best - 1e-9, -1e300):
            assert pasts.searched(legal, floor) >= best


# --- files ----------------------------------------------------------------------------------------


def test_every_claim_is_compared_by_digit_and_type(good: Results, folder: Path) -> None:
    good.copy().write(folder)
    tried = 0
    for name, facts in good.known["instances"].items():
        for key, fact in facts.items():
            others: list[Any] = [
                None,
                True,
                False,
                "",
                f"{fact} ",
                [fact],
                {},
                -1,
                1e300,
                0.5,
                10**400,
            ]
            if isinstance(fact, float):
                others += [fact - 1e-9, fact + 1e-9, fact - 1e-10, fact + 1e-10, f"{fact:.10f}"]
            if isinstance(fact, int):
                others += [float(fact), fact + 1, fact - 1]
            if isinstance(fact, list):
                others += [[True, True], [1.0, 1.0], fact[:1], [*fact, 1]]
            for other in others:
                forged = good.copy()
                forged.known["instances"][name][key] = other
                forged.write_known(folder)
                assert not accepts(folder), f"{name} {key}: {other}"
                tried += 1
            for raw in ("NaN", "Infinity", "-Infinity", "1e999", "0.5, " + f'"{key}": 0.5'):
                text = json.dumps(good.known)
                said = f'"{key}": {json.dumps(fact)}'
                (folder / "results" / "known.json").write_text(
                    text.replace(said, f'"{key}": {raw}')
                )
                assert not accepts(folder), f"{name} {key}: {raw}"
                tried += 1
    assert tried > 200


def test_a_key_twice_is_refused_though_the_last_is_right(good: Results, folder: Path) -> None:
    good.copy().write(folder)
    path = folder / "results" / "known.json"
    text = path.read_text()
    for said in ('"value": ', '"lower": ', '"instances": ', '"format": ', f'"{TREE}": '):
        path.write_text(text.replace(said, said + "0, " + said))
        assert not accepts(folder), said


def test_what_is_left_out_is_not_accepted(good: Results, folder: Path) -> None:
    forged = good.copy()
    forged.strategies = {k: v for k, v in forged.strategies.items() if k != TREE}
    forged.proofs = {k: v for k, v in forged.proofs.items() if not k.startswith(TREE)}
    del forged.known["instances"][TREE]
    forged.write(folder)
    assert not accepts(folder)
    assert accepts(folder, HOG)
    assert not accepts(folder, TREE)
    good.copy().write(folder)
    assert accepts(folder)
    assert not accepts(folder, "no such name")
    assert not accepts(folder, HOG, "no such name")
    (folder / f"{TREE}.npz").unlink()
    assert not accepts(folder)


@pytest.mark.parametrize("name", ["x: accepted\nsu20", "x\rsu20", "\x1b[2Ksu20", "\u0455u20"])
def test_a_name_does_not_stand_for_another(
    good: Results, folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    forged = good.copy()
    for table in (forged.instances, forged.strategies, forged.proofs, forged.known["instances"]):
        for key in [key for key in table if key.split(".")[0] == TREE]:
            table[name + key.removeprefix(TREE)] = table.pop(key)
    forged.write(folder)
    capsys.readouterr()
    assert accepts(folder)
    said = capsys.readouterr().out
    assert f"{ascii(name)[1:-1]}: accepted\n" in said
    assert len(said.splitlines()) == len(forged.instances) + 1
    assert name not in said


def test_a_game_is_not_a_problem_of_one_player(good: Results, folder: Path) -> None:
    forged = good.copy()
    forged.strategies = {k: v for k, v in forged.strategies.items() if not k.startswith(GAME)}
    forged.strategies[GAME] = np.zeros(2, np.int16)
    forged.proofs |= {f"{GAME}.{key}": array for key, array in leaf().items()}
    assert claims(folder, forged, GAME) is None


def test_a_row_of_both_players_is_refused(good: Results, folder: Path) -> None:
    forged = good.copy()
    row = forged.instances[GAME]["row"].copy()
    row[:] = 0
    forged.instances[GAME]["row"] = row
    half = np.array([[[0.5, 0.5, 0.0]]])
    forged.strategies |= {f"{GAME}.{player}.policies": half for player in (0, 1)}
    assert claims(folder, forged, GAME) is None


def member(name: str, content: bytes, how: int = zipfile.ZIP_STORED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", how) as archive:
        archive.writestr(name, content)
    return data.getvalue()


def twice(good: Results, folder: Path) -> bytes:
    path = folder / "results" / "strategies.npz"
    good.copy().write(folder)
    content = io.BytesIO()
    np.save(content, good.strategies[TREE])
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"{TREE}.npy", content.getvalue())
    return path.read_bytes()


def with_header(header: str) -> bytes:
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(64)


HUGE = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
OBJECT = "{'descr': '|O', 'fortran_order': False, 'shape': (8,), }"
FILES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "no archive": lambda _: b"nothing of the kind",
    "truncated": lambda data: data[: len(data) // 2],
    "without its end": lambda data: data[:-10],
    "a flipped byte": lambda data: data.replace(b"NUMPY", b"NUMPI", 1),
    "no array": lambda _: member(f"{TREE}.npy", b"text"),
    "not even named so": lambda _: member(f"{TREE}.txt", b"text"),
    "terabytes": lambda _: member(f"{TREE}.npy", with_header(HUGE)),
    "objects": lambda _: member(f"{TREE}.npy", with_header(OBJECT)),
    "no header": lambda _: member(f"{TREE}.npy", with_header("{(")),
    "packed too well": lambda _: member(f"{TREE}.npy", bytes(10**6), zipfile.ZIP_BZIP2),
    "a bomb": lambda _: member(f"{TREE}.npy", bytes(2**28 + 1), zipfile.ZIP_DEFLATED),
}


def output(folder: Path, *only: str) -> tuple[int, str]:
    """Status and text of the checker's command."""
    call = [sys.executable, checker.__file__, str(folder), str(folder / "results"), *only]
    done = subprocess.run(  # noqa: S603 - our own file
        call, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("what", FILES)
def test_files_that_are_no_archives_are_refused_in_a_line(
    good: Results, folder: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (folder / "results" / "strategies.npz", folder / f"{TREE}.npz"):
        good.copy().write(folder)
        path.write_bytes(FILES[what](path.read_bytes()))
        good.copy().write_known(folder)
        capsys.readouterr()
        assert not accepts(folder, TREE)
        assert capsys.readouterr().out.count("\n") <= 2  # the last one counts


def test_arrays_of_nobody_and_other_packing_are_refused(good: Results, folder: Path) -> None:
    forged = good.copy()
    forged.strategies["nobody"] = np.zeros(1, np.int16)
    forged.write(folder)
    assert not accepts(folder, TREE)
    good.copy().write(folder)
    path = folder / f"{TREE}.npz"
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    for how, is_fine in ((zipfile.ZIP_DEFLATED, True), (zipfile.ZIP_BZIP2, False)):
        with zipfile.ZipFile(path, "w", how) as archive:
            for name, content in contents.items():
                archive.writestr(name, content)
        assert accepts(folder, TREE) == is_fine


def test_a_true_array_that_unpacks_to_too_much_is_refused(
    good: Results, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good.copy().write(folder)
    np.savez_compressed(folder / f"{TREE}.npz", **good.instances[TREE])
    assert accepts(folder, TREE)
    most = sum(array.nbytes for array in good.instances[TREE].values())
    monkeypatch.setattr(strict_files, "BYTES", most)  # headers are more
    with pytest.raises(RefusedError, match="arrays: over"):
        strict_files.arrays_of((folder / f"{TREE}.npz").read_bytes())


def test_a_claim_more_is_refused(good: Results, folder: Path) -> None:
    forged = good.copy()
    forged.known["instances"][TREE]["optimal"] = True
    forged.write(folder)
    assert not accepts(folder, TREE)


def test_an_array_twice_in_an_archive_is_refused(good: Results, folder: Path) -> None:
    twice(good, folder)
    good.copy().write_known(folder)
    assert not accepts(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 100_000, '{"a": 1' + "0" * 5000, "\xff"])
def test_the_command_says_in_a_line_what_it_cannot_read(
    good: Results, folder: Path, text: str
) -> None:
    good.copy().write(folder)
    (folder / "results" / "known.json").write_text(text, "latin-1")
    status, said = output(folder)
    assert status == 1
    assert said.startswith("refused: ")
    assert said.count("\n") == 1


def test_the_command_accepts_what_is_true(good: Results, folder: Path) -> None:
    good.copy().write(folder)
    assert output(folder)[0] == 0
    status, said = output(folder, "nowhere")
    assert (status, said.count("\n")) == (1, 1)


@pytest.mark.parametrize("value", [0.0, -0.5, 511.7, 1023.9, -1e6, 1e6 / 3, 2.0**40 + 0.1, -1e299])
def test_a_claim_is_never_below_what_it_is_rounded_from(value: float) -> None:
    claim = checker.rounded_up(value)
    assert value < claim <= value + 1.1e-10 + 1e-15 * abs(value)
    found = Fraction(claim) - Fraction(value)
    assert found > Fraction(4, 10**14)  # more than underflow
