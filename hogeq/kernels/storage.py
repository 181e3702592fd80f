"""Memory for the arrays that kernels fill."""

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hogeq.kernels.staged import LINE


def zeros(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Zeros that begin a cache line: a vector that straddles two takes twice as long."""
    kind = np.dtype(dtype)
    size = math.prod(shape)
    spare = np.zeros(size + LINE // kind.itemsize, kind)
    first = -spare.ctypes.data % LINE // kind.itemsize
    return spare[first : first + size].reshape(shape)
