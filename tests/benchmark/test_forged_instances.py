"""Forged instances of the benchmark: the checker refuses them, or what it accepts is true.

The forger knows the checker: hashes are right, and known.json says what the checker computes.
"""

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import check_benchmark as checker
import numpy as np
import pytest
from check_instances import Instance
from check_trees import player_tree
from strict_files import RefusedError

from hogeq.trees.building import Node, flatten
from hogeq.trees.flat import TERMINAL
from hogeq.trees.graphs import of_tree
from tests.benchmark.forgeries import GAME, HOG, TREE, Arrays, Results, best_of_all, claims, leaf


def test_what_is_true_of_the_small_instances(good: Results) -> None:
    tree, game = good.known["instances"][TREE], good.known["instances"][GAME]
    best, _ = best_of_all(Instance(good.instances[TREE]))
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


@pytest.mark.slow
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
    player_tree(Instance(good.instances[TREE]))
    place, number = change(arrays)
    arrays[key] = arrays[key].copy()
    arrays[key][place] = number
    with pytest.raises(RefusedError, match=what):
        player_tree(Instance(arrays))


def test_what_is_no_instance_of_the_form_is_refused(good: Results) -> None:
    hog, coin = good.instances[HOG], Instance(good.instances[GAME])
    nothing = {"start": np.zeros((0, 2), np.int32), "start_chance": np.zeros(0)}
    for what, arrays in (
        ("not those of the form", {**hog, "more": np.zeros(1)}),
        ("is empty", {**hog, **nothing}),
    ):
        with pytest.raises(RefusedError, match=what):
            Instance(arrays)
    with pytest.raises(RefusedError, match="has memory"):
        player_tree(Instance(hog))
    with pytest.raises(RefusedError, match="action that does not exist"):
        coin.value(np.array([2, 0]))
    with pytest.raises(RefusedError, match="one action for each row"):
        coin.value(np.array([0, 0, 0]))
    searched = checker.Proof(**{**leaf(), "target": np.ones(1)})
    with pytest.raises(RefusedError, match="of no search"):
        searched.bound(Instance(hog), Instance(hog).legal)


@pytest.mark.parametrize("key", ["row", "next", "label", "start_chance"])
def test_arrays_of_other_lengths_are_refused(good: Results, key: str) -> None:
    arrays = dict(good.instances[HOG])
    arrays[key] = np.concatenate([arrays[key], arrays[key][-1:]])
    with pytest.raises(RefusedError, match="numbers"):
        Instance(arrays)


def test_payoffs_that_are_far_from_0_are_those_of_the_game() -> None:
    def look(moves: tuple[int, ...]) -> Node:
        if len(moves) == 1:
            return Node(TERMINAL, payoffs=[(7.0, 6.0), (8.0, 5.0)][moves[0]])
        return Node(0, "row", moves=[(move, 1.0, (move,)) for move in (0, 1)])

    tree = flatten("far", (), look, lambda moves: [str(move) for move in moves])
    assert tree.shift
    assert tree.centre
    alone = of_tree(tree).against(tree.uniform())  # the other player has no rows
    assert best_of_all(Instance(alone.arrays()))[0] == 8.0
