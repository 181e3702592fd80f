"""Rows of probabilities, by hand and against one row at a time."""

import math

import numpy as np
import pytest

from hogeq.strategies.rows import given_arrival, match_regrets, normalised, row_sums, softmax
from hogeq.support.aliases import Floats


@pytest.fixture
def table() -> Floats:
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


def test_rows_of_tiny_sums_are_probabilities_too() -> None:
    rows = normalised(np.full((4, 7), 3e-323))
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=0, atol=1e-15)


def test_row_sums_are_those_of_numpy(table: Floats) -> None:
    np.testing.assert_allclose(row_sums(table), table.sum(axis=-1), rtol=0, atol=1e-15)


def test_positive_regrets_are_matched_above_a_floor(table: Floats) -> None:
    table[1, 4] = [-1.0, 0.0, -2.0]
    for epsilon in (0.0, 0.01, 1 / 3):
        matched = match_regrets(table, epsilon)
        for place in np.ndindex(2, 5):
            positive = [max(0.0, regret) for regret in table[place]]
            total = sum(positive)
            shares = [one / total for one in positive] if total else [1 / 3] * 3
            expected = [epsilon + (1 - 3 * epsilon) * share for share in shares]
            np.testing.assert_allclose(matched[place], expected, rtol=0, atol=1e-15)


def test_the_softmax_is_that_of_each_row_however_large_its_scores(table: Floats) -> None:
    for shift, scale in ((0.0, 1.0), (5000.0, 1.0), (-5000.0, 50.0)):
        scores = scale * table + shift
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
