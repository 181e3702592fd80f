import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hogeq.model.rows import softmax
from hogeq.strategies.arrays import (
    StrategyError,
    check_matrix,
    check_policy,
    check_table,
    given_arrival,
    match_regrets,
    normalised,
    one_hot,
)
from hogeq.support.aliases import Floats
from tests.refusals import refuses

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
    policy = one_hot(matrix, 3)
    assert not np.shares_memory(check_matrix(matrix, 4, 2), matrix)
    assert not np.shares_memory(check_policy(policy, (4, 4, 3)), policy)


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
    refuses(lambda: check_matrix(convert(rows), 4, 2, "mine"), message, StrategyError)


@pytest.mark.parametrize("value", [True, "1", None, [1], 1 + 0j])
def test_what_is_no_number_is_refused(value: object) -> None:
    rows = table()
    rows[0][1] = value
    refuses(lambda: check_matrix(rows, 4, 2), r"cell \(row 0, column 1\) is ", StrategyError)


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
    refuses(lambda: check_matrix(convert(np.zeros(shape, int)), 4, 2), cell, StrategyError)


@pytest.mark.parametrize("thing", [5, None, "0000", np.zeros(4), np.zeros((4, 4, 3)), {}, [1, 2]])
def test_what_is_no_table_is_refused_in_one_line(thing: object) -> None:
    with pytest.raises(StrategyError) as caught:
        check_matrix(thing, 4, 2)
    assert "\n" not in str(caught.value)


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
    policy = one_hot(np.zeros((4, 4), np.int8), 3)
    policy[1, 2] = row
    policy[3, 3] = row
    refuses(lambda: check_policy(policy, (4, 4, 3), has_scores=True), says, StrategyError)


@pytest.mark.parametrize(
    "thing", [np.zeros((4, 4)), np.zeros((4, 4, 4)), [[1], [1, 2]], np.full((4, 4, 3), "1"), None]
)
def test_what_is_no_policy_is_refused(thing: object) -> None:
    with pytest.raises(StrategyError):
        check_policy(thing, (4, 4, 3))


@pytest.mark.parametrize("shape", [(0, 0), (0, 0, 3), (0, 4)])
def test_a_table_without_cells_is_no_strategy(shape: tuple[int, ...]) -> None:
    with pytest.raises(StrategyError, match=r"^mine: has no cells; allowed: .* G at least 1$"):
        check_table(np.zeros(shape), (0, 0, 3), "mine")


def test_actions_of_another_game_are_checked() -> None:
    assert check_table([0, 2, 1], (3, 3)).tolist() == [0, 2, 1]
    for wrong in ([0, 3, 1], [0, 4, 1], [0, -1, 1]):
        with pytest.raises(StrategyError, match=r"has actions out of range; allowed: .* 0 to 2"):
            check_table(wrong, (3, 3))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_probabilities_of_few_digits_are_told_what_to_do(dtype: type[np.floating[Any]]) -> None:
    rows = np.full((4, 4, 3), 0.3333, dtype)
    with pytest.raises(StrategyError, match="allowed: 1 within 1e-09") as caught:
        check_policy(rows, (4, 4, 3))
    hint = f"; {rows.dtype} is too coarse: give it as float64, divided by its sums"
    assert str(caught.value).endswith(hint) == (dtype is not np.float64)


# --- rows of probabilities ------------------------------------------------------------------------


@pytest.fixture
def rows() -> Floats:
    """Three axes of different lengths, none of them 1."""
    return np.random.default_rng(0).normal(size=(2, 5, 3))


def test_rows_without_a_positive_sum_are_uniform_or_those_given() -> None:
    total = np.array([[[1.0, 3.0, 0.0], [0.0, 0.0, 0.0]], [[0.0, 0.0, 1e-310], [2.0, 2.0, 4.0]]])
    expected = np.array([[[0.25, 0.75, 0], [1 / 3] * 3], [[0, 0, 1], [0.25, 0.25, 0.5]]])
    np.testing.assert_allclose(normalised(total), expected, rtol=0, atol=1e-15)
    other = np.tile([0.0, 0.25, 0.75], (2, 2, 1))
    expected[0, 1] = other[0, 1]
    np.testing.assert_allclose(normalised(total, other), expected, rtol=0, atol=1e-15)
    assert total[0, 1].tolist() == [0.0, 0.0, 0.0]


def test_positive_regrets_are_matched_above_a_floor(rows: Floats) -> None:
    rows[1, 4] = [-1.0, 0.0, -2.0]
    for epsilon in (0.0, 0.01, 1 / 3):
        matched = match_regrets(rows, epsilon)
        for place in np.ndindex(2, 5):
            positive = [max(0.0, regret) for regret in rows[place]]
            total = sum(positive)
            shares = [one / total for one in positive] if total else [1 / 3] * 3
            expected = [epsilon + (1 - 3 * epsilon) * share for share in shares]
            np.testing.assert_allclose(matched[place], expected, rtol=0, atol=1e-15)


def test_the_softmax_is_that_of_each_row_however_large_its_scores(rows: Floats) -> None:
    for shift, scale in ((0.0, 1.0), (5000.0, 1.0), (-5000.0, 50.0)):
        scores = scale * rows + shift
        found = softmax(scores)
        for place in np.ndindex(2, 5):
            powers = [math.exp(score - max(scores[place])) for score in scores[place]]
            expected = [power / sum(powers) for power in powers]
            np.testing.assert_allclose(found[place], expected, rtol=0, atol=1e-15)


def test_values_are_given_arrival_and_zero_where_play_never_comes() -> None:
    values = np.array([[[0.1, 0.2], [0.0, 0.0]], [[0.5, 1e-9], [1e-12, 0.0]]])
    infoset_reach = np.array([[0.5, 0.0], [1.0, 1e-12]])
    found = given_arrival(values, infoset_reach)
    expected = [[[0.2, 0.4], [0.0, 0.0]], [[0.5, 1e-9], [1.0, 0.0]]]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
