"""Questions about the positions of a game of Hog. Private: users hold a `Hog`."""

from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from hogeq.baselines.registry import solves
from hogeq.evaluation import counterfactual, tablebase, values
from hogeq.evaluation.counterfactual import RegretWeight
from hogeq.evaluation.tablebase import Analysis, Tablebase
from hogeq.evaluation.values import ComponentsAt
from hogeq.games.compiled import CompiledGame
from hogeq.games.given import StrategySpec
from hogeq.model.expecting import expect
from hogeq.model.game import HogEngine
from hogeq.rules.memory import Axis, Memory, axes, memory_fields, memory_line, memory_of
from hogeq.search import population
from hogeq.search.population import Gains
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats

NOTHING = Memory()  # before the first turn


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

    @property
    def can_be_endless(self) -> bool:
        """Whether two players can leave the scores as they are for ever; that is then a draw."""
        return self._engine.can_be_endless

    @property
    def positions_recur(self) -> bool:
        """Whether a position can come again, so that reach counts visits."""
        return self._engine.positions_recur

    def prepare(self, *parts: str, strategies: Iterable[str | None] = ()) -> None:
        """Announce what will be computed, so that all cores compile the code for it.

        Parameters
        ----------
        parts : str
            Of :data:`hogeq.model.compiling.PARTS`; "matches" is the one by which matrices meet.
        strategies : iterable of str
            Names of strategies that will be made.
        """
        expect(self._engine, *["values"] * any(map(solves, strategies)), *parts)

    def compiled(self) -> dict[str, bool]:
        """Whether the code of each part of what can be computed is compiled, and kept."""
        from hogeq.model.compiling import missing, parts_of

        return {part: not any(missing(self._engine, part)) for part in parts_of(self._engine)}

    # --- the hidden memory ------------------------------------------------------------------------

    @property
    def memory_axes(self) -> tuple[Axis, Axis]:
        """Two parts of the memory of the player to move, as the axes of a picture."""
        return axes(self._engine.rules)

    def memory(self, given: Mapping[str, Any], *, at_start: bool = False) -> Memory | None:
        """Make the memory of the player to move of its parts by name; None if none is given.

        The others are as before the first turn. A refusal names the options of ``hogeq analyze``.
        """
        return memory_of(self._engine.rules, given, at_start=at_start)

    def memory_fields(self, memory: Memory = NOTHING) -> dict[str, Any]:
        """Parts of a memory that the rules look at, by name."""
        return memory_fields(self._engine.rules, memory)

    def memory_line(self, memory: Memory = NOTHING) -> str:
        """Write a memory in one line, with the names of its parts."""
        return memory_line(self._engine.rules, memory)

    def by_memory_axes(self, shares: ArrayLike) -> Floats:
        """Sum a distribution (..., H) over the memory to a table by `memory_axes`."""
        return values.fold(self._engine.rules, shares)

    # --- play -------------------------------------------------------------------------------------

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
        future_play = None if strategy is None else self.strategy(strategy)
        past_play = None if past is None else self.strategy(past)
        return tablebase.analyze(self._engine, score, opponent, future_play, memory, past_play)

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
