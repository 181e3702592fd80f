"""Types of arrays; the shape is documented where an array is declared.

Sizes have the same letters everywhere: G goal, K actions (0 to the most dice), H hidden memories.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

Matrix: TypeAlias = NDArray[np.signedinteger[Any]]
"""(G, G), dice rolled by own and opponent's score: of the type that `matrix_type` says."""

Policy: TypeAlias = NDArray[np.float64]
"""(G, G, K), probability of every number of dice by own and opponent's score."""


def matrix_type(num_actions: int) -> type[np.int8 | np.int32]:
    """Type of a matrix: int8 where that holds every action, as in Hog, else int32."""
    return np.int8 if num_actions <= 1 + np.iinfo(np.int8).max else np.int32
