"""Games with an engine, which solvers and purifiers take. Private: users hold a `Game`."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hogeq.evaluation.counterfactual import RegretWeight
from hogeq.games.game import Game
from hogeq.games.given import StrategySpec
from hogeq.search.results import InPolicies
from hogeq.strategies.strategy import Strategy, StrategyLike
from hogeq.support.aliases import Floats

if TYPE_CHECKING:
    from hogeq.contest.field import Difference
    from hogeq.model.game import HogEngine
    from hogeq.solvers.solving import Solution
    from hogeq.trees.engine import TreeEngine
    from hogeq.trees.recall import Audit


class CompiledGame(Game):
    """A game that is compiled for solvers: Hog, or one that has a tree."""

    @property
    def engine(self) -> "HogEngine | TreeEngine":
        """The game as solvers and purifiers take it: the compiled rules, or the tree's passes."""
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

        found = solve(self.engine, solver, iterations, **parameters)
        playable = [one._replace(strategy=self.playable(one.strategy)) for one in found.snapshots]
        last = playable[-1].strategy
        return replace(
            found,
            policy=last if found.mixture is None else self.playable(found.policy),
            mixture=None if found.mixture is None else last,
            snapshots=tuple(playable),
            measure=self.exploitability,
        )

    def purify(self, strategy: StrategySpec, method: str = "argmax", **parameters: Any) -> Strategy:
        """Make a matrix of a policy by a purifier's name and parameters."""
        from hogeq.purification import purify

        target = self.strategy(strategy).whole()
        return self.playable(purify(self.engine, target, method, **parameters))

    def audit(self) -> "tuple[Audit, Audit]":
        """Recall of each player, with two histories where it fails."""
        raise NotImplementedError

    def diff(
        self,
        first: StrategySpec,
        second: StrategySpec,
        against: StrategySpec | list[StrategySpec] | None = None,
    ) -> "Difference":
        """Value every information set in which two strategies differ."""
        raise NotImplementedError

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

    def in_policies(self, seconds: float = 60.0, method: str = "auto") -> InPolicies:
        """Value of each side in policies, enclosed: of teams the TME, whose members draw apart.

        A policy is measured by the best response of an opponent who knows it, and who, if a team or
        forgetful, may draw together. Half of the time at most solves the game in mixtures by a
        method of `equilibrium`, the rest is for branch and bound (:mod:`hogeq.trees.maxmin`). Both
        ends hold whenever the time ends.
        """
        raise NotImplementedError
