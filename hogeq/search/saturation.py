"""Whether a search has saturated: what its last half found, and what is left.

What a search has found rises by about as much with every doubling of its effort while there is much
to find, and by less and less as it runs out. So what twice the effort would find is estimated from
what the last doublings did find. Where two starts of one search have come to different win rates,
luck is worth that much, and twice the effort is more luck: a share of their difference is left at
least (:data:`LUCK`).
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

ENOUGH: Final = 3e-4
"""Win rate; a search is saturated when twice its effort would find less."""

ROUNDS: Final = 12
"""Rounds of kicks from which on anything can be said."""

LUCK: Final = 0.4
"""What the best of four gains on the best of two, as a share of how far two are apart.

Of numbers drawn from a normal distribution the means are 1.03 and 0.56 deviations above the
centre, and two are 1.13 apart: 0.41 (Royston 1982, "Expected normal order statistics").
"""


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


def saturation(curve: Sequence[tuple[int, float]], apart: float = 0.0) -> Saturation:
    """Judge a search by its curve."""
    effort, best = curve[-1]

    def at(share: float) -> float:
        return max((rate for spent, rate in curve if spent <= share * effort), default=curve[0][1])

    last, before = best - at(0.5), at(0.5) - at(0.25)
    left = max(last, 0.5 * (last + before), LUCK * apart)
    return Saturation(last, left if len(curve) > ROUNDS else None)
