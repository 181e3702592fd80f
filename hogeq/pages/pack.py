"""Numbers for the page: deflated, and in base64, since HTML is text.

A browser gives back exactly the numbers that were packed: probabilities are rounded to the digits
shown and kept as whole numbers of that unit, everything else in full.
"""

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def text(content: str) -> str:
    """Pack a text."""
    return _deflated(content.encode())


def fractions(values: ArrayLike, digits: int) -> dict[str, Any]:
    """Pack numbers rounded to some decimals.

    The bytes of the whole numbers lie in planes, all lowest ones first: what differs little is side
    by side and is deflated to less than half of what it would be otherwise.
    """
    units = np.rint(np.asarray(values, np.float64).ravel() * 10.0**digits)
    known = units[~np.isnan(units)]
    most = int(known.max(initial=0.0))
    if known.size and known.min() < 0.0:
        raise ValueError(f"fractions: {known.min()} units; allowed: numbers from 0")
    planes = ((most + 1).bit_length() + 7) // 8  # one number more than there are is NaN
    whole = np.where(np.isnan(units), 256.0**planes - 1.0, units).astype(np.uint64)
    shifts = np.arange(planes, dtype=np.uint64)[:, None] * np.uint64(8)
    planed = ((whole >> shifts) & np.uint64(255)).astype(np.uint8)
    return {"per": 10**digits, "planes": planes, "data": _deflated(planed.tobytes())}


def floats(values: ArrayLike) -> dict[str, Any]:
    """Pack numbers in full: float64, lowest byte first."""
    return {"data": _deflated(np.asarray(values, "<f8").tobytes())}


def _deflated(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")
