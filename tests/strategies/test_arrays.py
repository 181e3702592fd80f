import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hogeq.strategies.arrays import (
    StrategyError,
    as_policy,
    check_matrix,
    check_policy,
    check_strategy,
    is_policy,
    one_hot,
)

CONVERSIONS: list[Callable[[list[list[Any]]], Any]] = [
    lambda rows: rows,
    lambda rows: tuple(map(tuple, rows)),
    lambda rows: np.array(rows, np.float64),
    lambda rows: [np.array(row) for row in rows],
    lambda rows: np.array(rows, object),
]


def table(goal: int = 4, dice: int = 2) -> list[list[Any]]:
    return [[(row + column) % (dice + 1) for column in range(goal)] for row in range(goal)]


@pytest.mark.parametrize("convert", CONVERSIONS)
def test_a_good_matrix_is_copied_as_int8(convert: Callable[[Any], Any]) -> None:
    matrix = check_matrix(convert(table()), 4, 2)
    assert matrix.dtype == np.int8
    assert matrix.tolist() == table()


def test_a_checked_array_shares_no_memory() -> None:
    matrix = np.zeros((4, 4), np.int8)
    policy = as_policy(matrix, 3)
    assert not np.shares_memory(check_matrix(matrix, 4, 2), matrix)
    assert not np.shares_memory(check_policy(policy, 4, 2), policy)
    assert not np.shares_memory(as_policy(policy, 3), policy)


@pytest.mark.parametrize("convert", CONVERSIONS)
@pytest.mark.parametrize(
    ("value", "says"), [(3, "3"), (-1, "-1"), (1.5, "1.5"), (np.nan, "nan"), (np.inf, "inf")]
)
def test_the_first_bad_cell_of_a_matrix_is_named(
    convert: Callable[[Any], Any], value: float, says: str
) -> None:
    rows = table()
    rows[3][0] = -7
    rows[2][3] = value
    message = rf"^mine: cell \(row 2, column 3\) is {re.escape(says)}(\.0)?; .* from 0 to 2$"
    with pytest.raises(StrategyError, match=message):
        check_matrix(convert(rows), 4, 2, "mine")


@pytest.mark.parametrize("value", [True, "1", None, [1], 1 + 0j])
def test_what_is_no_number_is_refused(value: object) -> None:
    rows = table()
    rows[0][1] = value
    with pytest.raises(StrategyError, match=r"cell \(row 0, column 1\) is "):
        check_matrix(rows, 4, 2)


def test_truth_values_are_no_dice() -> None:
    with pytest.raises(StrategyError, match=r"cell \(row 0, column 0\) is False"):
        check_matrix(np.zeros((4, 4), bool), 4, 2)


@pytest.mark.parametrize("convert", [np.array, np.ndarray.tolist])
@pytest.mark.parametrize(
    ("shape", "cell"),
    [
        ((3, 4), r"\(row 3, column 0\) is missing"),
        ((4, 3), r"\(row 0, column 3\) is missing"),
        ((5, 4), r"\(row 4, column 0\) is one too many"),
        ((4, 5), r"\(row 0, column 4\) is one too many"),
        ((0, 4), r"\(row 0, column 0\) is missing"),
    ],
)
def test_a_table_of_the_wrong_size_is_refused(
    convert: Callable[[Any], Any], shape: tuple[int, int], cell: str
) -> None:
    with pytest.raises(StrategyError, match=cell):
        check_matrix(convert(np.zeros(shape, int)), 4, 2)


def test_an_array_without_rows_has_no_first_cell() -> None:
    for columns in (0, 3, 4, 5):
        with pytest.raises(StrategyError, match=r"cell \(row 0, column 0\) is missing"):
            check_matrix(np.zeros((0, columns), int), 4, 2)


def test_a_ragged_table_is_refused_where_it_first_goes_wrong() -> None:
    rows = table()
    rows[1].pop()
    rows[2].append(0)
    with pytest.raises(StrategyError, match=r"cell \(row 1, column 3\) is missing"):
        check_matrix(rows, 4, 2)


@pytest.mark.parametrize("thing", [5, None, "0000", np.zeros(4), np.zeros((4, 4, 3)), {}, [1, 2]])
def test_what_is_no_table_is_refused_in_one_line(thing: object) -> None:
    with pytest.raises(StrategyError) as caught:
        check_matrix(thing, 4, 2)
    assert "\n" not in str(caught.value)


def test_a_message_repeats_no_more_than_a_little_of_a_bad_value() -> None:
    with pytest.raises(StrategyError) as caught:
        check_matrix([["x\n" * 10_000]], 4, 2)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_a_good_policy_is_kept_to_the_last_bit() -> None:
    policy = np.random.default_rng(0).dirichlet(np.ones(3), (4, 4))
    assert np.array_equal(check_policy(policy, 4, 2), policy)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ([0.5, 0.5, 0.1], r"\(row 1, column 2\) has probabilities that sum to 1\.1"),
        ([0.5, 0.5, -0.1], r"\(row 1, column 2\) rolls 2 dice with probability -0\.1"),
        ([2, -1, 0], r"\(row 1, column 2\) rolls 0 dice with probability 2"),
        ([np.nan, 0.5, 0.5], r"\(row 1, column 2\) rolls 0 dice with probability nan"),
        ([0.5, 0.5 - 2e-9, 0], r"\(row 1, column 2\) has probabilities that sum to 0\.99"),
    ],
)
def test_the_first_bad_cell_of_a_policy_is_named(row: list[float], says: str) -> None:
    policy = as_policy(np.zeros((4, 4), np.int8), 3)
    policy[1, 2] = row
    policy[3, 3] = row
    with pytest.raises(StrategyError, match=says):
        check_policy(policy, 4, 2)


@pytest.mark.parametrize(
    "thing", [np.zeros((4, 4)), np.zeros((4, 4, 4)), [[1], [1, 2]], np.full((4, 4, 3), "1"), None]
)
def test_what_is_no_policy_is_refused(thing: object) -> None:
    with pytest.raises(StrategyError):
        check_policy(thing, 4, 2)


def test_a_matrix_as_a_policy_rolls_what_the_matrix_says() -> None:
    matrix = check_matrix(table(), 4, 2)
    policy = check_policy(as_policy(matrix, 5), 4, 4)
    assert policy.shape == (4, 4, 5)
    assert np.array_equal(policy.argmax(axis=2), matrix)
    assert is_policy(policy)
    assert not is_policy(matrix)


def test_whole_numbers_of_any_type_are_a_matrix() -> None:
    matrix = np.array([[0.0, 2.0], [1.0, 0.0]])
    assert np.array_equal(as_policy(matrix, 3), one_hot(matrix.astype(np.int8), 3))


def test_one_hot_is_a_policy_of_any_shape() -> None:
    assert one_hot(2, 4).tolist() == [0.0, 0.0, 1.0, 0.0]
    found = one_hot([[0, 1], [2, 0]], 3)
    assert found.dtype == np.float64
    assert found.shape == (2, 2, 3)
    assert found.argmax(axis=2).tolist() == [[0, 1], [2, 0]]
    assert (found.sum(axis=2) == 1.0).all()


def test_a_strategy_is_checked_as_what_it_is() -> None:
    matrix = np.array(table())
    policy = as_policy(check_matrix(table(), 4, 2), 3)
    for strategy in (matrix, policy):
        found = check_strategy(strategy, 4, 2)
        assert np.array_equal(found, policy)
        assert not np.shares_memory(found, strategy)
    with pytest.raises(StrategyError, match=r"cell \(row 0, column 0\)"):
        check_strategy(np.full((4, 4), 3), 4, 2)
    with pytest.raises(StrategyError, match="sum to 0"):
        check_strategy(np.zeros((4, 4, 3)), 4, 2)


@pytest.mark.parametrize("shape", [(0, 0), (0, 0, 3), (0, 4)])
def test_a_table_without_cells_is_no_strategy(shape: tuple[int, ...]) -> None:
    check = check_policy if len(shape) == 3 else check_matrix
    with pytest.raises(StrategyError, match=r"^mine: has no cells; allowed: .* G at least 1$"):
        check(np.zeros(shape), 0, 2, "mine")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_probabilities_of_few_digits_are_told_what_to_do(dtype: type[np.floating[Any]]) -> None:
    rows = np.full((4, 4, 3), 0.3333, dtype)
    with pytest.raises(StrategyError, match="allowed: 1 within 1e-09") as caught:
        check_policy(rows, 4, 2)
    hint = f"; {rows.dtype} is too coarse: give it as float64, divided by its sums"
    assert str(caught.value).endswith(hint) == (dtype is not np.float64)
