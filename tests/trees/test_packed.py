"""Packed arrays against plain lists."""

import numpy as np

from hogeq.graph.levels import spans
from hogeq.trees import packed


def test_lists_of_a_packed_array() -> None:
    sizes = np.array([2, 0, 3])
    assert packed.first_entries(sizes).tolist() == [0, 2, 2]
    assert packed.offsets(sizes).tolist() == [0, 2, 2, 5]
    first = np.array([7, 9, 1])
    assert spans(first, first + sizes).tolist() == [7, 8, 1, 2, 3]
    values = np.array([1.0, 3.0, 3.0, 0.0, 2.0])
    assert packed.first_maximum(values, np.array([0, 3])).tolist() == [1, 4]


def test_items_of_one_key_are_linked() -> None:
    item = np.array([3, 1, 1, 4, 0, 5, 2])
    key = np.array([7, 7, 9, 9, 2, 8, 2])
    assert packed.components_by_key(6, item, key).tolist() == [0, 1, 0, 1, 1, 2]
    assert packed.components_by_key(2, item[:0], key[:0]).tolist() == [0, 1]
