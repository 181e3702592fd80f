"""Objectives of a strategy against a field, as scores of its win rates."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hogeq.contest.tournament import WIN
from hogeq.support.aliases import Floats
from hogeq.support.messages import shown

Objective = Literal["mean", "beaten"]

OBJECTIVES = ("mean", "beaten")

WIN_EDGES = (
    0.03,
    0.01,
    0.003,
    0.001,
)  # widths of the smooth step at a win, in win rate, used in turn


def count_beaten(rates: Floats) -> int:
    """Count the win rates that win a match."""
    return int((rates > WIN).sum())


def _smooth_step(rates: Floats, width: float) -> Floats:
    """Rise from 0 to 1 at a win, as the logistic function does."""
    return 0.5 + 0.5 * np.tanh((rates - WIN) / (2.0 * width))


class MeanWins:
    """The mean win rate."""

    def score(self, rates: Floats) -> float:
        """Score of win rates (n,) against the rivals; the greater, the better."""
        return float(rates.mean())

    def weights(self, rates: Floats) -> Floats:
        """Gradient of the score in the win rates, (n,)."""
        return np.full(len(rates), 1.0 / len(rates))


class SmoothWins:
    """The share of rivals beaten, with a smooth step of a given width instead of the sharp one."""

    def __init__(self, width: float) -> None:
        self.width = width

    def score(self, rates: Floats) -> float:
        """Score of win rates (n,) against the rivals; the greater, the better."""
        return float(self._wins(rates).mean())

    def weights(self, rates: Floats) -> Floats:
        """Gradient of the score in the win rates, (n,)."""
        wins = self._wins(rates)
        return wins * (1.0 - wins) / (self.width * len(rates))

    def _wins(self, rates: Floats) -> Floats:
        return _smooth_step(rates, self.width)


class Shortfall:
    """Minus the win rate missing to a win against some rivals, smoothed over a given width."""

    def __init__(self, target: NDArray[np.bool_], width: float) -> None:
        self.target, self.width = target, width

    def score(self, rates: Floats) -> float:
        """Score of win rates (n,) against the rivals; the greater, the better."""
        short = np.logaddexp(0.0, (WIN - rates[self.target]) / self.width)
        return -self.width * float(short.sum())

    def weights(self, rates: Floats) -> Floats:
        """Gradient of the score in the win rates, (n,)."""
        return np.where(self.target, 1.0 - _smooth_step(rates, self.width), 0.0)


Score = MeanWins | SmoothWins | Shortfall


def check_objective(objective: str) -> None:
    """Raise a ValueError unless this is an objective."""
    if objective not in OBJECTIVES:
        raise ValueError(f"objective: {shown(objective)}; allowed: {', '.join(OBJECTIVES)}")
