"""What a strategy usually rolls."""

import numpy as np

from hogeq.strategies.arrays import one_hot
from hogeq.strategies.usual import positions_by_roll, usual_rolls


def test_rolls_are_counted_for_matrices_and_policies() -> None:
    matrix = np.array([[0, 2], [2, 1]])
    policy = 0.9 * one_hot(matrix, 4) + 0.025
    assert usual_rolls(matrix) is matrix
    np.testing.assert_array_equal(usual_rolls(policy), matrix)
    assert positions_by_roll(policy, 4) == positions_by_roll(matrix, 4) == [1, 1, 2, 0]
