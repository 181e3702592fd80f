"""Players that tests of evaluation share."""

import numpy as np
from numpy.typing import NDArray

from hogeq.strategies.arrays import one_hot

Floats = NDArray[np.float64]
EXACT = 1e-12  # largest difference between two exact results


def random_policy(random: np.random.Generator, shape: tuple[int, int, int], kind: str) -> Floats:
    """Make a policy that is mixed everywhere, mixed with many rolls left out, or pure."""
    policy = random.dirichlet(np.ones(shape[2]), shape[:2])
    if kind == "sparse":
        policy *= random.random(shape) < 0.5
        policy[policy.sum(axis=2) == 0.0, 0] = 1.0
        policy /= policy.sum(axis=2, keepdims=True)
    if kind == "pure":
        policy = one_hot(policy.argmax(axis=2), shape[2])
    return policy
