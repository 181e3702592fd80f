"""Memory for the arrays that kernels fill."""

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

ALIGNMENT = 64  # bytes, a cache line: a vector that straddles two takes twice as long


def zeros(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Zeros that begin a cache line."""
    kind = np.dtype(dtype)
    size = math.prod(shape)
    spare = np.zeros(size + ALIGNMENT // kind.itemsize, kind)
    first = -spare.ctypes.data % ALIGNMENT // kind.itemsize
    return spare[first : first + size].reshape(shape)
