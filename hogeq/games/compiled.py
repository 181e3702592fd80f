"""Games with an engine, which solvers and purifiers take. Private: users hold a `Game`."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hogeq.evaluation.counterfactual import RegretWeight, kkt_gap
from hogeq.games.game import Game
from hogeq.games.given import StrategySpec
from hogeq.strategies.strategy import Strategy, StrategyLike
from hogeq.support.aliases import Floats

if TYPE_CHECKING:
    from hogeq.analysis.difference import Difference
    from hogeq.model.game import HogEngine
    from hogeq.model.graph_engine import GraphEngine
    from hogeq.solvers.solving import Solution
    from hogeq.trees.engine import TreeEngine


class CompiledGame(Game):
    """A game that is compiled for solvers: Hog, a tree, or a graph of positions."""

    @property
    def engine(self) -> "HogEngine | TreeEngine | GraphEngine":
        """The game's passes, as solvers and purifiers take them."""
        raise NotImplementedError

    def playable(self, solved: StrategyLike, name: str = "strategy") -> Strategy:
        """Make a strategy of the result of a solver or purifier."""
        raise NotImplementedError

    def solve(self, solver: str, iterations: int, **parameters: Any) -> "Solution":
        """Solve by a solver's name and parameters, as a run does.

        The result has the strategy, and measures its exploitability and the curve of that if it is
        asked for them.

        Raises
        ------
        ValueError
            If there is no such solver or parameter, or it cannot solve this game.
        """
        from hogeq.solvers.solving import solve

        solution = solve(self.engine, solver, iterations, **parameters)
        snapshots = [
            snapshot._replace(strategy=self.playable(snapshot.strategy))
            for snapshot in solution.snapshots
        ]
        last_strategy = snapshots[-1].strategy  # the mixture if there is one, else the policy
        is_policy = solution.mixture is None
        return replace(
            solution,
            policy=last_strategy if is_policy else self.playable(solution.policy),
            mixture=None if is_policy else last_strategy,
            snapshots=tuple(snapshots),
            measure=self.exploitability,
        )

    def purify(self, strategy: StrategySpec, method: str = "argmax", **parameters: Any) -> Strategy:
        """Make a matrix of a policy by a purifier's name and parameters."""
        from hogeq.purification import purify

        target = self.strategy(strategy).whole()
        return self.playable(purify(self.engine, target, method, **parameters))

    def diff(
        self,
        first: StrategySpec,
        second: StrategySpec,
        against: StrategySpec | list[StrategySpec] | None = None,
    ) -> "Difference":
        """Value every information set in which two strategies differ."""
        raise NotImplementedError

    def kkt_gap(self, strategy: StrategySpec) -> float:
        """Measure how far a policy is from a stationary point of self-play, in the game's units.

        It is 0 where a best response to itself is; that is necessary for an equilibrium among
        policies, and under imperfect recall not sufficient.
        """
        gap = kkt_gap(self.engine, self.strategy(strategy).policy)
        return gap * self.engine.payoff_per_win_rate

    def action_values(
        self, a: StrategySpec, b: StrategySpec | None = None, weight: RegretWeight = "reach"
    ) -> Floats:
        """Counterfactual value of every action at every information set.

        Parameters
        ----------
        a, b : strategy
            Of the player whose actions are valued, and of the other; by default the same.
        weight : {"reach", "counterfactual", "belief"}
            How hidden states are weighted: by reach, which is the gradient of the value; without
            the player's own actions, as CFR is defined; or given that the information set is
            reached.
        """
        raise NotImplementedError
