"""Rows of a policy, as compiled loops set them."""

from typing import Any

import numpy as np
import pytest

from hogeq.kernels.row_roles import soften, take_best

# As Python, so that nothing is compiled.
set_best: Any = getattr(take_best, "py_func", take_best)
soften_row: Any = getattr(soften, "py_func", soften)


@pytest.mark.parametrize(
    ("row", "values", "best"),
    [
        ([0.0, 0.0, 1.0], [0.5, 0.25, 0.5], 2),  # as good as the first, so it stays
        ([0.0, 0.0, 1.0], [0.5, 0.25, 0.5 - 1e-15], 2),  # but for rounding
        ([0.0, 1.0, 0.0], [0.5, 0.25, 0.5], 0),  # worse
        ([0.5, 0.0, 0.5], [0.25, 0.5, 0.5], 1),  # sure of none: the fewest dice
    ],
)
def test_a_best_roll_stays_and_else_the_fewest_dice_are_taken(
    row: list[float], values: list[float], best: int
) -> None:
    found = np.array(row)
    assert set_best(found, np.array(values), 1.0) == (row[best] != 1.0)
    np.testing.assert_array_equal(found, np.eye(3)[best])


def test_a_row_moves_towards_the_softmax_of_values_given_arrival() -> None:
    """Values are weighed by reach, here 1/4: given arrival 2 and 1; the temperature is 2."""
    row = np.array([0.25, 0.75])
    soften_row(row, np.array([0.5, 0.25]), 0.25, 2.0, 0.5)
    first = np.exp(1.0) / (np.exp(1.0) + np.exp(0.5))
    np.testing.assert_allclose(row, [(0.25 + first) / 2.0, (1.75 - first) / 2.0])
