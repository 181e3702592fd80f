"""Questions about the positions of a game of Hog. Private: users hold a `Hog`."""

from hogeq.evaluation import counterfactual, tablebase, values
from hogeq.evaluation.counterfactual import RegretWeight
from hogeq.evaluation.tablebase import Analysis, Tablebase
from hogeq.evaluation.values import ComponentsAt
from hogeq.games.compiled import CompiledGame
from hogeq.games.given import StrategySpec
from hogeq.model.game import HogEngine
from hogeq.rules.memory import Memory
from hogeq.search import population
from hogeq.search.population import Gains
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats


class ByScores(CompiledGame):
    """What a `Hog` knows about pairs of scores: values, reach, beliefs, optimal play."""

    _engine: HogEngine  # with a goal for each player, too

    @property
    def second(self) -> "ByScores":
        """The game as the second player has it: with the goals exchanged, if there are two."""
        raise NotImplementedError

    @property
    def memories(self) -> tuple[Memory, ...]:
        """Every value of the hidden memory of the player to move, H of them."""
        return self._engine.memories

    def tablebase(self) -> Tablebase:
        """Optimal play from every position, both players seeing and remembering everything.

        Its `value` is the win probability of the player who moves first.
        """
        return tablebase.solve(self._engine)

    def analyze(
        self,
        score: int,
        opponent: int,
        strategy: StrategySpec | None = None,
        memory: Memory | None = None,
        past: StrategySpec | None = None,
    ) -> Analysis:
        """Exact win probability of every roll at a position.

        Parameters
        ----------
        score, opponent : int
            Scores of the player to move and of the other, below the goal.
        strategy : strategy, optional
            Strategy of both from the next turn on; by default optimal play with full memory.
        memory : Memory, optional
            The hidden memory; by default the average over the belief, and that of the start where
            neither `strategy` nor `past` is given.
        past : strategy, optional
            Strategy of both so far, which determines the belief; by default `strategy`.
        """
        plays, played = (None if one is None else self.strategy(one) for one in (strategy, past))
        return tablebase.analyze(self._engine, score, opponent, plays, memory, played)

    def action_values(
        self, a: StrategySpec, b: StrategySpec | None = None, weight: RegretWeight = "reach"
    ) -> Floats:
        """Counterfactual value of every number of dice at every pair of scores, (G, G, K).

        Parameters
        ----------
        a, b : strategy
            Of the player whose actions are valued, and of the other; by default the same.
        weight : {"reach", "counterfactual", "belief"}
            How hidden states are weighted: by reach, which is the gradient of the win rate; without
            the player's own actions, as CFR is defined; or given that the information set is
            reached.
        """
        return counterfactual.action_values(self._engine, *self._both(a, b), weight)

    def values(self, a: StrategySpec, b: StrategySpec | None = None) -> Floats:
        """Win probability of the player to move in every hidden state, (G, G, H)."""
        return values.values(self._engine, *self._both(a, b))

    def mean_values(self, a: StrategySpec, b: StrategySpec | None = None) -> Floats:
        """Win probability of the player to move, averaged over the belief, (G, G)."""
        return values.mean_values(self._engine, *self._both(a, b))

    def reach(self, a: StrategySpec, b: StrategySpec | None = None) -> Floats:
        """Reach probability of every hidden state, the player of `a` to move, (G, G, H)."""
        return values.reach(self._engine, *self._both(a, b))

    def belief(
        self, score: int, opponent: int, a: StrategySpec, b: StrategySpec | None = None
    ) -> Floats | None:
        """Distribution of the hidden memory at a position, (H,); None if play never gets there."""
        return values.belief(self._engine, *self._both(a, b), score, opponent)

    def components_at(
        self, score: int, opponent: int, a: StrategySpec, b: StrategySpec | None = None
    ) -> ComponentsAt | None:
        """Posterior distribution of the draws of mixtures, given that a position is reached."""
        one, two = self._both(a, b)
        return values.components_at(self._engine, one, score, opponent, two)

    def gains(self, counter: StrategySpec, strategy: StrategySpec) -> Gains:
        """Exact gain of every cell of a counter-strategy over the rolls of a strategy."""
        usual = self.second.strategy(strategy)
        return population.gains(self._engine, self.strategy(counter), usual)

    def _both(self, a: StrategySpec, b: StrategySpec | None) -> tuple[Strategy, Strategy | None]:
        return self.strategy(a), None if b is None else self.second.strategy(b)
