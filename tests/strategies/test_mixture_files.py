"""Mixtures: what is valid, what a file may hold, and what is refused."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hogeq.model.game import compile_game
from hogeq.rules import rules_from
from hogeq.strategies.arrays import MOST_PARTS, StrategyError
from hogeq.strategies.conversion import policy_of, strategy_of_shape
from hogeq.strategies.files import read_strategy
from hogeq.strategies.strategy import Mixture
from tests.strategies.strategy_files import DICE, GOAL, MATRIX, file, refused, saved

POLICY = np.full((GOAL, GOAL, DICE + 1), 1.0 / (DICE + 1))
TWO = np.stack([MATRIX, MATRIX.T])


def test_parts_are_copied_and_of_one_kind() -> None:
    mixture = strategy_of_shape(None, Mixture([0.25, 0.75], [MATRIX, POLICY]))
    assert mixture.array.dtype == np.float64
    assert mixture.array[0].argmax(axis=2).tolist() == MATRIX.tolist()
    assert not np.shares_memory(mixture.array, POLICY)
    assert strategy_of_shape(None, Mixture([1.0], [MATRIX.tolist()])).array.dtype == np.int8
    drawn = strategy_of_shape((GOAL, GOAL, DICE + 1), Mixture([0.0, 1.0], TWO))
    assert [weight for weight, _ in drawn.drawn()] == [1.0]
    assert np.asarray(drawn).dtype == drawn.array.dtype == np.int8
    assert np.asarray(drawn, np.float32).dtype == np.float32


@pytest.mark.parametrize(
    ("weights", "parts", "says"),
    [
        ([0.5, 0.4], TWO, "weights sum to 0.9; allowed: 1 within"),
        ([1.5, -0.5], TWO, "weight of part 1 is 1.5; allowed: 0 to 1"),
        ([np.nan, 1.0], TWO, "weight of part 1 is nan"),
        ([1.0], TWO, "1 weights and 2 parts"),
        ([], [], "0 weights and 0 parts"),
        ([[1.0]], [MATRIX], r"of shape \(1, 1\); allowed: numbers, \(n,\)"),
        (["a", "b"], TWO, "weights are <U1"),
        ([[1.0], [0.5, 0.5]], TWO, "weights"),
        ([0.5, 0.5], [MATRIX, MATRIX[:3]], r"part 2: cell \(row 3, column 0\) is missing"),
        ([0.5, 0.5], [MATRIX, np.full((4, 4), 200)], "part 2: cell .* is 200"),
        ([0.5, 0.5], [POLICY, POLICY / 2], r"part 2: .* sum to 0\.[45]"),
        ([0.5, 0.5], [POLICY, POLICY[:, :, :3]], "part 2: has shape"),
        ([0.5, 0.5], [POLICY[:, :, :12] * 13 / 12, MATRIX], "part 2: cell .* is 12"),
        ([1.0], [np.ones(4)], r"part 1: has shape \(4,\); allowed: 4 rows"),
        ([1.0], [np.zeros((0, 0))], "part 1: has no cells; allowed"),
        ([0.5, 0.5], [MATRIX, [[1, 2], [3]]], "part 2: rows differ in length; allowed"),
        ([1.0], None, "^mixture: got None; allowed: a list of parts"),
        ([1.0], 5, "^mixture: got 5; allowed: a list of parts"),
        (
            np.array([0.1, 0.2, 0.7], np.float32),
            [MATRIX] * 3,
            "float32 is too coarse: give it as float64",
        ),
        ([1.0 / 1001] * 1001, [MATRIX] * 1001, f"1 to {MOST_PARTS}"),
    ],
)
def test_what_is_no_mixture(weights: Any, parts: Any, says: str) -> None:
    with pytest.raises(StrategyError, match=says):
        strategy_of_shape(None, Mixture(weights, parts))


def test_a_mixture_is_no_table() -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": GOAL, "max_dice": DICE}))
    with pytest.raises(StrategyError, match="is a mixture of 2 strategies"):
        policy_of(game, Mixture([0.5, 0.5], TWO))


@pytest.mark.parametrize("parts", [TWO, np.stack([POLICY, POLICY])])
def test_written_and_read_it_is_the_same(tmp_path: Path, parts: Any) -> None:
    path = tmp_path / "drawn.npz"
    mixture = strategy_of_shape(None, Mixture([1 / 3, 2 / 3], parts))
    mixture.write(path)
    again = read_strategy(path, GOAL, DICE)
    assert again.kind == "mixture"
    assert again.weights.tobytes() == mixture.weights.tobytes()
    assert again.array.tobytes() == mixture.array.tobytes()
    with pytest.raises(StrategyError, match=r"^mine: is a mixture of 2 strategies, .* --part 1"):
        again.unmixed("mine")


def test_what_cannot_be_written(tmp_path: Path) -> None:
    mixture = Mixture([0.5, 0.5], TWO)
    with pytest.raises(StrategyError, match=r"written to .npz, not .npy"):
        strategy_of_shape(None, mixture).write(tmp_path / "drawn.npy")
    assert not list(tmp_path.iterdir())


FILES: list[tuple[dict[str, Any], str]] = [
    ({"weights": [1.0]}, r"holds \['weights'\]; allowed: `matrix` or `policy`, or for a"),
    ({"matrices": TWO}, r"holds \['matrices'\]; allowed"),
    ({"weights": [1.0], "matrix": MATRIX}, r"holds \['weights', 'matrix'\]; allowed"),
    (
        {"weights": [1.0], "matrices": [MATRIX], "policies": [POLICY]},
        r"holds \['weights', 'matrices', 'policies'\]; allowed",
    ),
    ({"weights": [[1.0]], "matrices": [MATRIX]}, r"weights are float64 of shape \(1, 1\)"),
    ({"weights": ["a"], "matrices": [MATRIX]}, "weights: holds values of type"),
    ({"weights": [1.0], "matrices": MATRIX}, r"has 1 weights and 4 parts; allowed: as many"),
    ({"weights": [1.0], "matrices": [MATRIX[:, :3]]}, "part 1: cell .row 0, column 3. is missing"),
    ({"weights": [1.0], "matrices": np.zeros((1, 4, 4, 0))}, "part 1: has shape"),
    ({"weights": [], "matrices": np.zeros((0, 4, 4))}, "0 weights and 0 parts"),
]


@pytest.mark.parametrize(("arrays", "says"), FILES)
def test_files_that_hold_none(tmp_path: Path, arrays: dict[str, Any], says: str) -> None:
    refused(file(tmp_path, "drawn.npz", saved(np.savez, **arrays)), says)


def test_small_files_do_not_become_large_arrays(tmp_path: Path) -> None:
    # 32 million halves are 64 MB in the file's type, and would be 256 MB of policies.
    header = (
        b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f2', 'fortran_order': False, "
        b"'shape': (1000, 4, 4, 2000), }"
    )
    path = tmp_path / "drawn.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("policies.npy", header.ljust(128) + b"\0" * 2**26)
        archive.writestr("weights.npy", saved(np.save, np.full(1000, 1e-3)))
    refused(path, r"has shape \(1000, 4, 4, 2000\)")
