"""Counterfactual regret minimisation over belief DAGs, whose theorem holds whatever is forgotten.

B. H. Zhang, G. Farina and T. Sandholm, "Team belief DAG", ICML 2023. A decision of a DAG
(:mod:`hogeq.trees.beliefs`) is a row with perfect recall: the player comes to it in one way. Regret
at decisions bounds regret over all mixtures, and the average flow converges to a TMECor.
"""

from typing import TYPE_CHECKING, Literal

import numpy as np

from hogeq.model.protocol import Engine
from hogeq.solvers.base import SOLVERS, Solver, solver
from hogeq.solvers.regret import RegretMinimiser, RegretState
from hogeq.strategies.strategy import Strategy, joined
from hogeq.support.aliases import Floats
from hogeq.support.messages import HogeqError
from hogeq.support.parameters import parameters

if TYPE_CHECKING:
    from hogeq.solvers.dags import DagEngine
    from hogeq.trees.restricted import Mixed


@solver("dag_cfr")
@parameters
class DagCFR(Solver[RegretState]):
    """CFR over belief DAGs: its mixture converges whatever players forget, for teams to a TMECor.

    For games other than Hog. The policy plays the rows of that mixture independently.

    Attributes
    ----------
    variant : {"pcfr_plus", "dcfr", "cfr_plus", "linear", "cfr"}
        The regret minimiser at each decision, as in its paper.
    """

    variant: Literal["pcfr_plus", "dcfr", "cfr_plus", "linear", "cfr"] = "pcfr_plus"

    @property
    def _inner(self) -> RegretMinimiser:
        return SOLVERS[self.variant]()  # type: ignore[return-value]

    def init(self, game: Engine) -> RegretState:
        return self._inner.init(_engine_of(game))

    def step(self, game: Engine, state: RegretState) -> RegretState:
        return self._inner.step(_engine_of(game), state)

    def average(self, game: Engine, state: RegretState) -> Floats:
        from hogeq.trees.restricted import played

        both = self._average(game, state)
        first, second = (played(one.dag.form, one.plan) for one in both)
        return np.where(both[0].dag.form.tree.seat[:, None] == 0, first, second)

    def mixture(self, game: Engine, state: RegretState) -> Strategy:
        first, second = (one.strategies()[0] for one in self._average(game, state))
        return joined(_engine_of(game).tree.seat, first, second)

    def stats(self, game: Engine, state: RegretState) -> dict[str, float]:
        return self._inner.stats(_engine_of(game), state)

    def _average(self, game: Engine, state: RegretState) -> "list[Mixed]":
        engine = _engine_of(game)
        return engine.mixed(self._inner.average(engine, state))


def _engine_of(game: Engine) -> "DagEngine":
    from hogeq.solvers.dags import dag_engine  # here: SciPy takes a second

    tree = getattr(game, "tree", None)
    if tree is None:
        raise HogeqError("dag_cfr: allowed: games other than Hog")
    return dag_engine(tree)
