"""What bounds on rounding are made of."""

from typing import Final

UNIT_ROUNDOFF: Final = 2.0**-53  # u: the largest relative error of one operation on doubles
