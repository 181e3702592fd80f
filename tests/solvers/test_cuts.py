"""The pool of counters of bundle methods: who leaves it, and with what new ones start."""

from typing import Any

import numpy as np

from hogeq.solvers.cuts import BundleState, Cut


def pool_of(used: list[int]) -> BundleState:
    size = len(used)
    arrays: dict[str, Any] = dict.fromkeys(BundleState._fields, np.zeros(0))
    return BundleState(**arrays)._replace(
        pool=np.arange(size, dtype=np.int8)[:, None, None],
        gradients=np.zeros((size, 1, 1, 2), np.float32),
        constants=np.zeros((size, 1)),
        reach=np.zeros((size, 1, 1), np.float32),
        weights=np.full(size, 1.0 / size),
        used=np.array(used),
    )


def cut_of(value: float) -> Cut:
    gradients, reach = np.full((1, 1, 2), value, np.float32), np.full((1, 1), value, np.float32)
    return Cut(gradients, np.full(1, value), reach)


def test_a_counter_whose_model_failed_is_in_use_and_is_not_dropped() -> None:
    new = np.full((1, 1), 9, np.int8)
    after = pool_of([1, 5, 3]).renewed(np.array([0]), [new], [cut_of(0.2), cut_of(0.7)], 8, 3)
    assert after.pool.ravel().tolist() == [0, 1, 9]
    assert after.used.tolist() == [8, 5, 8]
    np.testing.assert_allclose(after.constants.ravel(), [0.2, 0.0, 0.7])
    np.testing.assert_allclose(after.gradients[:, 0, 0, 0], [0.2, 0.0, 0.7])
    np.testing.assert_allclose(after.reach.ravel(), [0.2, 0.0, 0.7])


def test_a_counter_in_the_place_of_another_starts_without_weight() -> None:
    new = np.full((1, 1), 9, np.int8)
    none = np.array([], np.int64)
    after = pool_of([1, 5, 3]).renewed(none, [new], [cut_of(0.7)], 8, 3)
    assert after.pool.ravel().tolist() == [9, 1, 2]
    np.testing.assert_allclose(after.weights, [0.0, 1 / 3, 1 / 3])
    more = pool_of([1, 5, 3]).renewed(none, [new], [cut_of(0.7)], 8, 4)
    assert more.pool.ravel().tolist() == [0, 1, 2, 9]
    np.testing.assert_allclose(more.weights, [1 / 3, 1 / 3, 1 / 3, 0.0])
