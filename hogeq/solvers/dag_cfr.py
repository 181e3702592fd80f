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
from hogeq.strategies.conversion import joined
from hogeq.strategies.strategy import Strategy
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

    For games other than Hog. An iteration takes the steps of
    :class:`hogeq.solvers.regret.RegretMinimiser` with the decisions of both DAGs for rows:

    1. Strategies at decisions make a flow of probability through each DAG, and sequence weights.
    2. The payoffs of all sequences against them become values of decisions, from last to first.
    3. Regrets at decisions grow, and the average flow with them.

    Cost: one product with the sparse payoffs of sequences and two passes over the DAG, per player.
    The policy plays the rows of the average mixture independently.

    Attributes
    ----------
    variant : {"pcfr_plus", "dcfr", "cfr_plus", "linear", "cfr"}
        The regret minimiser at each decision, as in its paper.
    """

    variant: Literal["pcfr_plus", "dcfr", "cfr_plus", "linear", "cfr"] = "pcfr_plus"

    @property
    def _minimiser(self) -> RegretMinimiser:
        """Solver of the variant's name, which runs on the engine of the DAGs."""
        return SOLVERS[self.variant]()  # type: ignore[return-value]

    def init(self, game: Engine) -> RegretState:
        """State without regrets at the decisions of both DAGs, which are built first."""
        return self._minimiser.init(_dag_engine_of(game))

    def step(self, game: Engine, state: RegretState) -> RegretState:
        """State after one more iteration at all decisions."""
        return self._minimiser.iterate_by_loops(_dag_engine_of(game), state, 1)[0]

    def average(self, game: Engine, state: RegretState) -> Floats:
        """Policy (R, K): each row plays its marginal of the average mixture of its player."""
        from hogeq.trees.restricted import policy_of_plan

        mixtures = self._average_mixtures(game, state)
        first, second = (policy_of_plan(mixture.dag.form, mixture.plan) for mixture in mixtures)
        seat = mixtures[0].dag.form.tree.seat
        return np.where(seat[:, None] == 0, first, second)

    def mixture(self, game: Engine, state: RegretState) -> Strategy:
        """Average mixture of both players, as strategies to be drawn from."""
        mixtures = self._average_mixtures(game, state)
        first, second = (mixture.strategies()[0] for mixture in mixtures)
        return joined(_dag_engine_of(game).tree.seat, first, second)

    def stats(self, game: Engine, state: RegretState) -> dict[str, float]:
        """Average regret, summed over the decisions of both DAGs."""
        return self._minimiser.stats(_dag_engine_of(game), state)

    def _average_mixtures(self, game: Engine, state: RegretState) -> "list[Mixed]":
        engine = _dag_engine_of(game)
        return engine.mixed(self._minimiser.average(engine, state))


def _dag_engine_of(game: Engine) -> "DagEngine":
    """Engine of the game's belief DAGs, whose rows are their decisions; not for Hog."""
    from hogeq.solvers.dags import dag_engine  # here: SciPy takes a second
    from hogeq.trees.engine import TreeEngine

    if not isinstance(game, TreeEngine):
        raise HogeqError("dag_cfr: allowed: games other than Hog")
    return dag_engine(game.tree)
