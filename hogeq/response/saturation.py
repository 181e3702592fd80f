"""Whether a search has saturated: what its last half found, and what is left.

What a search has found rises by about as much with every doubling of its effort while there is much
to find, and by less and less as it runs out. So what twice the effort would find is estimated from
what the last doublings did find.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

ENOUGH: Final = 3e-4
"""Win rate; a search is saturated when twice its effort would find less."""

ROUNDS: Final = 12
"""Rounds of kicks from which on anything can be said."""


class Saturation(NamedTuple):
    """How much the last half of a search found, and an estimate of what is left."""

    last_half: float
    """Win rate gained in the last half of the effort."""
    left: float | None
    """Estimated win rate that twice the effort would gain; None if nothing can be said."""

    @property
    def saturated(self) -> bool:
        """Whether twice the effort would gain less than `ENOUGH`, by the estimate."""
        return self.left is not None and self.left < ENOUGH

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {**self._asdict(), "saturated": self.saturated}


def saturation(curve: Sequence[tuple[int, float]]) -> Saturation:
    """Judge a search by its curve.

    Parameters
    ----------
    curve : sequence of (int, float)
        Effort spent and best win rate so far: after the starts, and after every round of kicks.

    Returns
    -------
    Saturation
        Nothing is said of what is left after fewer than `ROUNDS` rounds: starts alone end close
        together whatever is left.
    """
    effort, best = curve[-1]

    def at(share: float) -> float:
        return max((rate for spent, rate in curve if spent <= share * effort), default=curve[0][1])

    last, before = best - at(0.5), at(0.5) - at(0.25)
    left = max(last, 0.5 * (last + before))
    return Saturation(last, left if len(curve) > ROUNDS else None)
