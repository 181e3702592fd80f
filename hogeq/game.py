"""A game as users hold it: strategies are made for it, and it answers what they are worth.

Purifiers, contests and game trees are imported where they are used: SciPy takes a second.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hogeq.baselines.registry import find_strategy
from hogeq.evaluation import tablebase, values
from hogeq.evaluation.tablebase import Analysis, Tablebase
from hogeq.evaluation.values import ComponentsAt, RegretWeight
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.workspace import WinRate
from hogeq.rules import Rules, rules_from
from hogeq.rules.memory import Memory
from hogeq.rules.reading import find_rules
from hogeq.search import attack, bounds, population
from hogeq.search.attack import SearchBudget, SearchResult
from hogeq.search.bounds import Interval
from hogeq.search.population import Gains
from hogeq.strategies.profiles import hog_profile, is_profile
from hogeq.strategies.strategy import Strategy, StrategyLike, strategy_of
from hogeq.support.aliases import Floats
from hogeq.support.messages import refusal

if TYPE_CHECKING:
    from hogeq.contest.field import Difference
    from hogeq.contest.tournament import WinRates
    from hogeq.contest.transcript import Review, Transcript
    from hogeq.trees.game import TreeGame

StrategySpec = StrategyLike | str | Path | Mapping[str, Any]
"""A strategy, or its function, array, name, file, run's folder or states of OpenSpiel."""


class Game:
    """Hog by some rules. Wherever a method takes a strategy, a name will do.

    Parameters
    ----------
    rules : str, path, mapping or Rules
        An edition's name, fields of `Rules` by name, a YAML file of these, or a run's folder.
    trust : bool
        Whether the code of ``.py`` files may be run, in processes of its own.

    Attributes
    ----------
    rules : Rules
    engine : HogEngine
        The rules compiled: what solvers and purifiers take.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> three = game.strategy("always_roll:3")
    >>> round(game.win_rate(three, "always_roll:2").win_rate, 4)
    0.5808
    >>> round(game.attack(three).win_rate, 4)
    0.6974
    """

    def __init__(
        self, rules: str | os.PathLike[str] | Mapping[str, Any] | Rules, *, trust: bool = False
    ) -> None:
        """Read the rules and compile them; the same rules are compiled once."""
        if isinstance(rules, str | os.PathLike):
            rules = find_rules(os.fspath(rules), trust)
        elif not isinstance(rules, Rules):
            rules = rules_from(rules)
        self._engine: HogEngine = compile_game(rules, own_goals=True)
        self.trust = trust

    @staticmethod
    def from_openspiel(game: Any, **options: Any) -> "TreeGame":
        """Take a game other than Hog: any finite two-player zero-sum game of OpenSpiel.

        Parameters
        ----------
        game : str or pyspiel.Game
            A game, or its name with parameters: ``"liars_dice_ir(dice_sides=4)"``.
        forget : str or callable, optional
            ``own_actions``, ``order`` or ``last:K``; or a function of a player and an information
            state, str, that gives the key of the information set.
        most_nodes : int, optional
            Larger trees are refused.

        Raises
        ------
        ValueError
            If there is no such game, or it is no finite two-player zero-sum game.
        """
        from hogeq.trees.game import TreeGame
        from hogeq.trees.openspiel import from_openspiel

        return TreeGame(from_openspiel(game, **options))

    @staticmethod
    def from_efg(path: str | os.PathLike[str], **options: Any) -> "TreeGame":
        """Take a game from a file in Gambit's extensive form; options as in `from_openspiel`.

        Raises
        ------
        ValueError
            If the file cannot be read, or its game is no two-player zero-sum game.
        """
        from hogeq.trees.gambit import from_efg
        from hogeq.trees.game import TreeGame

        return TreeGame(from_efg(path, **options))

    @property
    def engine(self) -> HogEngine:
        """The rules compiled: what solvers and purifiers take; ValueError if there are two goals.

        With a goal for each player, what lets one strategy play both is refused. Elsewhere the
        first goal is that of strategy `a`, of a responder, or of the player to move.
        """
        self.rules.require_one_goal()
        return self._engine

    @property
    def rules(self) -> Rules:
        """The rules of this game."""
        return self._engine.rules

    @property
    def second(self) -> "Game":
        """The game as the second player has it: with the goals exchanged, if there are two."""
        rules = self.rules.for_second()
        return self if rules is self.rules else Game(rules, trust=self.trust)

    @property
    def memories(self) -> tuple[Memory, ...]:
        """Every value of the hidden memory of the player to move, H of them."""
        return self._engine.memories

    def __repr__(self) -> str:
        """Name the rules."""
        return f"Game({self.rules.name})"

    def strategy(
        self, given: StrategySpec, *, trust: bool = False, time_limit: float = 60.0
    ) -> Strategy:
        """Make a strategy of this game, checked.

        Parameters
        ----------
        given : str, path, function, array_like, Mixture or Strategy
            A name such as ``"always_roll:6"``, a file, a run's folder, a function of the own score
            and the opponent's, a matrix (G, G), a policy (G, G, K), or a mixture of such; or a
            tabular policy of OpenSpiel for ``python_hog``, or what its ``to_dict`` gives.
        trust : bool
            As for the game: of this strategy alone.
        time_limit : float
            Seconds that such code is given.

        Raises
        ------
        StrategyError
            If there is no such name or file, or its first bad cell.
        """
        if isinstance(given, str | os.PathLike):
            trust = trust or self.trust
            given = find_strategy(str(given), self._engine, trust, time_limit=time_limit)
        elif isinstance(given, Mapping) or is_profile(given):
            given = hog_profile(given, self.rules)
        return strategy_of(self._engine, given)

    def win_rate(
        self, a: StrategySpec, b: StrategySpec, start: tuple[int, int] = (0, 0)
    ) -> WinRate:
        """Exact win rate of strategy `a` against `b`, also when `a` moves first and second.

        Parameters
        ----------
        a, b : strategy
        start : tuple of int
            Scores that games begin with: of the player who moves first, and of the other.

        Raises
        ------
        StrategyError
            If a strategy is refused.
        ValueError
            If a game between the two may never end.
        """
        return values.win_rate(self._engine, self.strategy(a), self.second.strategy(b), start=start)

    def attack(
        self,
        strategy: StrategySpec,
        budget: SearchBudget | None = None,
    ) -> SearchResult:
        """Search for the matrix that wins most against a strategy; how, is in `hogeq.search`.

        Parameters
        ----------
        strategy : strategy
        budget : SearchBudget, optional

        Returns
        -------
        SearchResult
            With ``matrix``, its exact ``win_rate``, and ``bound``, which no response exceeds.
        """
        target = self.second.strategy(strategy)
        found = attack.attack(self._engine, target, budget)
        return replace(found, bound=max(found.win_rate, bounds.upper_bound(self._engine, target)))

    def bound(self, strategy: StrategySpec, resolution: int | None = None) -> float:
        """Upper bound on the win rate of any response: of one with full memory.

        Parameters
        ----------
        strategy : strategy
        resolution : int, optional
            Of a mixture: that of the grid of beliefs about the draw. At 1 the responder knows the
            draw, the crudest bound; by default one that takes seconds.
        """
        target = self.second.strategy(strategy)
        if resolution is not None and target.kind != "mixture":
            allowed = f"for mixtures, not for a {target.kind}"
            raise ValueError(refusal("resolution", resolution, allowed))
        return bounds.upper_bound(self._engine, target, resolution)

    def exploitability(
        self, strategy: StrategySpec, budget: SearchBudget | None = None
    ) -> Interval:
        """Interval that contains the exploitability of a strategy.

        It is the win rate of a best response less 1/2, half of NashConv: 0 for an equilibrium.
        """
        return bounds.exploitability(self.engine, self.strategy(strategy), budget)

    def best_response_interval(
        self, strategy: StrategySpec, budget: SearchBudget | None = None
    ) -> Interval:
        """Interval that contains the win rate of a best response: exploitability plus 1/2."""
        return bounds.best_response_interval(self.engine, self.strategy(strategy), budget)

    def gains(self, counter: StrategySpec, strategy: StrategySpec) -> Gains:
        """Exact gain of every cell of a counter-strategy over the rolls of a strategy."""
        usual = self.second.strategy(strategy)
        return population.gains(self._engine, self.strategy(counter), usual)

    def diff(
        self,
        first: StrategySpec,
        second: StrategySpec,
        against: StrategySpec | list[StrategySpec] | None = None,
    ) -> "Difference":
        """Value every cell in which two matrices differ.

        Parameters
        ----------
        first, second : strategy
        against : strategy or list of strategies, optional
            Opponents, of which the mean counts; by default the strongest that the package has.
        """
        from hogeq.contest import field

        one, two = self.strategy(first), self.strategy(second)
        return field.diff(self.engine, one, two, self._rivals(against))

    def improve(
        self,
        matrix: StrategySpec,
        against: StrategySpec | list[StrategySpec] | None = None,
        cells: int | None = None,
        seconds: float | None = None,
    ) -> Strategy:
        """Change a matrix so that it wins more.

        Parameters
        ----------
        matrix : strategy
        against : strategy or list of strategies, optional
            As for `diff`.
        cells : int, optional
            Most cells to change, one at a time; by default, until no change of one cell gains.
        seconds : float, optional
            When to stop.
        """
        from hogeq.contest import field

        table, rivals = self.strategy(matrix), self._rivals(against)
        *_, best = field.improvements(self.engine, table, rivals, cells, seconds)
        return self.strategy(best.strategy)

    def tablebase(self) -> Tablebase:
        """Optimal play from every position, both players remembering everything."""
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
        """Distribution of what was drawn of mixtures, given that a position is reached."""
        one, two = self._both(a, b)
        return values.components_at(self._engine, one, score, opponent, two)

    def action_values(
        self, a: StrategySpec, b: StrategySpec | None = None, weight: RegretWeight = "reach"
    ) -> Floats:
        """Counterfactual value of every action at every information set, (G, G, K).

        Parameters
        ----------
        a, b : strategy
            Of the player whose actions are valued, and of the other; by default the same.
        weight : {"reach", "counterfactual", "belief"}
            How hidden states are weighted: by reach, which is the gradient of the win rate; without
            the player's own actions, as CFR is defined; or given that the information set is
            reached.
        """
        return values.action_values(self._engine, *self._both(a, b), weight)

    def purify(self, strategy: StrategySpec, method: str = "argmax", **parameters: Any) -> Strategy:
        """Make a matrix of a policy by a purifier's name and parameters."""
        from hogeq.purification import purify

        matrix = purify(self.engine, self.strategy(strategy), method, **parameters)
        return strategy_of(self.engine, matrix)

    def round_robin(
        self,
        strategies: Sequence[StrategySpec],
        start: tuple[int, int] = (0, 0),
        goals: Sequence[int] | None = None,
    ) -> "WinRates":
        """Win rate of each of some strategies against each other, (n, n), row against column.

        The table has ``names``, and a notebook shows it with ranks. `start` is as for `win_rate`;
        `goals`, at most that of the rules, are of each strategy.
        """
        from hogeq.contest.tournament import WinRates, round_robin

        tables = [self.strategy(one) for one in strategies]
        rates = round_robin(self.engine, tables, start=start, goals=goals).view(WinRates)
        rates.names = tuple(
            one.name or f"strategy {number}" for number, one in enumerate(tables, 1)
        )
        return rates

    def review(self, transcript: "Transcript | str | os.PathLike[str]") -> "Review":
        """Loss of each roll of a played game, or of its file, and how much was luck."""
        from hogeq.contest.transcript import read_transcript, review

        if isinstance(transcript, str | os.PathLike):
            transcript = read_transcript(transcript, self.rules)
        return review(self._engine, transcript)

    def _rivals(self, given: StrategySpec | list[StrategySpec] | None) -> list[Strategy]:
        if given is None:
            from hogeq.contest.assessment import usual_reference

            given = usual_reference(self.engine)
        return [self.strategy(one) for one in (given if isinstance(given, list) else [given])]

    def _both(self, a: StrategySpec, b: StrategySpec | None) -> tuple[Strategy, Strategy | None]:
        return self.strategy(a), None if b is None else self.second.strategy(b)
