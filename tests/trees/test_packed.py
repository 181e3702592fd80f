"""Packed arrays against plain lists."""

import numpy as np

from hogeq.trees import packed


def test_lists_of_a_packed_array() -> None:
    sizes = np.array([2, 0, 3])
    assert packed.first_entries(sizes).tolist() == [0, 2, 2]
    assert packed.offsets(sizes).tolist() == [0, 2, 2, 5]
    assert packed.ranges(np.array([7, 9, 1]), sizes).tolist() == [7, 8, 1, 2, 3]
    values = np.array([1.0, 3.0, 3.0, 0.0, 2.0])
    assert packed.first_of_most(values, np.array([0, 3])).tolist() == [1, 4]
