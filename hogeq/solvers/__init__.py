"""Solvers: one algorithm a file, all with the same small protocol.

A solver is a frozen dataclass of parameters.  ``init`` makes its state, ``step`` does one
iteration, ``average`` gives the policy it stands for; the state is a named tuple of arrays, so it
can be saved and restored.  Solvers never grade themselves: exploitability is measured outside.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hogeq.model.game import Game
from hogeq.solvers.bundle import ProximalBundle
from hogeq.solvers.cfr_br import CFRBR
from hogeq.solvers.double_oracle import DoubleOracle
from hogeq.solvers.dynamic_programming import DynamicProgramming
from hogeq.solvers.fictitious import FictitiousPlay
from hogeq.solvers.fsicfr import FSICFR
from hogeq.solvers.mirror import MirrorDescent
from hogeq.solvers.openspiel_solver import OpenSpielSolver
from hogeq.solvers.regret import CFR, CFRPlus, DiscountedCFR, LinearCFR, PredictiveCFRPlus


class Solver(Protocol):
    """What every solver does; a state is a named tuple of numpy arrays.

    Arrays that get longer from one iteration to the next are named in a tuple ``GROWS``, if any.
    """

    def init(self, game: Game) -> Any:
        """State before the first iteration."""

    def step(self, game: Game, state: Any) -> Any:
        """State after one more iteration; the arrays of the one given may be reused."""

    def average(self, game: Game, state: Any) -> NDArray[np.float64]:
        """Policy (G, G, K) that the iterations stand for, a fresh array."""

    def stats(self, game: Game, state: Any) -> dict[str, float]:
        """Figures on convergence, by name."""

    def restore(self, arrays: Mapping[str, Any]) -> Any:
        """State from saved arrays, by the names of its fields."""


SOLVERS: dict[str, type[Any]] = {
    "cfr": CFR,
    "cfr_plus": CFRPlus,
    "linear": LinearCFR,
    "dcfr": DiscountedCFR,
    "pcfr_plus": PredictiveCFRPlus,
    "fsicfr": FSICFR,
    "cfr_br": CFRBR,
    "fictitious": FictitiousPlay,
    "double_oracle": DoubleOracle,
    "bundle": ProximalBundle,
    "mirror": MirrorDescent,
    "dynamic": DynamicProgramming,
    "openspiel": OpenSpielSolver,
}
