"""Boxes of policies: where they are cut."""

import numpy as np
import pytest

from hogeq.solvers.boxes import edge_of_most_variance


@pytest.mark.parametrize(
    ("corners", "weights", "edge"),
    [
        ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [0.2, 0.3, 0.5], (1, 2)),
        # Two corners of most weight are equal, or nearly so.
        ([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [0.5, 0.4, 0.1], (0, 2)),
        ([[0.51, 0.49, 0.0], [0.49, 0.51, 0.0], [0.0, 0.0, 1.0]], [0.4, 0.5, 0.1], (1, 2)),
    ],
)
def test_a_cut_shortens_the_edge_of_most_variance(
    corners: list[list[float]], weights: list[float], edge: tuple[int, int]
) -> None:
    assert edge_of_most_variance(np.array(corners), np.array(weights)) == edge
