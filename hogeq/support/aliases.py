"""Types of arrays; the shape is documented where an array is declared.

Sizes have the same letters everywhere: G goal, K actions (0 to the most dice), H hidden memories.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.int64]

Matrix: TypeAlias = NDArray[np.int8]  # (G, G), dice rolled by own and opponent's score

Policy: TypeAlias = NDArray[np.float64]
"""(G, G, K), probability of every number of dice by own and opponent's score."""
