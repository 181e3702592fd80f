"""Questions about positions of a game of Hog, and about strategies. Private: users hold a `Hog`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from hogeq.baselines.opponents import opponents, strongest
from hogeq.baselines.registry import solves
from hogeq.evaluation import counterfactual, tablebase, values
from hogeq.evaluation.counterfactual import RegretWeight
from hogeq.evaluation.tablebase import Analysis, Tablebase
from hogeq.evaluation.values import ComponentsAt
from hogeq.games.game import Game
from hogeq.games.given import StrategySpec
from hogeq.model.expecting import expect
from hogeq.model.game import HogEngine
from hogeq.rules.memory import Axis, Memory, axes, memory_fields, memory_line, memory_of
from hogeq.search import population
from hogeq.search.population import Gains
from hogeq.search.results import Budget
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats

if TYPE_CHECKING:
    from hogeq.analysis.difference import Difference
    from hogeq.analysis.explanation import Assessment
    from hogeq.analysis.field import Answer
    from hogeq.analysis.review import Review
    from hogeq.analysis.tournament import WinRates
    from hogeq.analysis.transcript import Transcript
    from hogeq.analysis.turns import Session
    from hogeq.evaluation.counterfactual import Spread

NOTHING = Memory()  # before the first turn


class HogAnalysis(Game):
    """What a `Hog` knows about pairs of scores, optimal play, and strategies against opponents."""

    _engine: HogEngine  # with a goal for each player, too

    @property
    def engine(self) -> HogEngine:
        """The rules compiled, as solvers and purifiers take them.

        ValueError with a goal for each player: what lets one strategy play both is refused.
        Elsewhere the first goal is that of strategy `a`, of a responder, or of the player to move.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.engine.shape
        (10, 10, 3)
        """
        self._engine.rules.require_one_goal()
        return self._engine

    @property
    def second(self) -> HogAnalysis:
        """The game as the second player has it: with the goals exchanged, if there are two.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": [8, 10], "max_dice": 2})
        >>> game.second.rules.goal
        (10, 8)
        """
        raise NotImplementedError

    @property
    def memories(self) -> tuple[Memory, ...]:
        """Every value of the hidden memory of the player to move, H of them.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> len(game.memories), game.memories[0]
        (36, Memory(turn=0, extra=0, own=0, opponent=0, state=0))
        """
        return self._engine.memories

    @property
    def can_be_endless(self) -> bool:
        """Whether two players can leave the scores as they are for ever; that is then a draw.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.can_be_endless
        False
        """
        return self._engine.can_be_endless

    @property
    def positions_recur(self) -> bool:
        """Whether a position can come again, so that reach counts visits.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.positions_recur
        False
        """
        return self._engine.positions_recur

    def prepare(self, *parts: str, strategies: Iterable[str | None] = ()) -> None:
        """Announce what will be computed, so that all cores compile the code for it.

        Parameters
        ----------
        parts : str
            Of :data:`hogeq.model.compiling.PARTS`; "matches" is the one by which matrices meet.
        strategies : iterable of str
            Names of strategies that will be made.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.prepare("matches", strategies=["always_roll:2"])
        """
        expect(self._engine, *["values"] * any(map(solves, strategies)), *parts)

    def compiled(self) -> dict[str, bool]:
        """Whether the code of each part of what can be computed is compiled, and kept.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> sorted(game.compiled())
        ['certificates', 'full memory', 'hidden states', 'policies', 'search']
        """
        from hogeq.model.compiling import missing, parts_of

        return {part: not any(missing(self._engine, part)) for part in parts_of(self._engine)}

    # --- the hidden memory ------------------------------------------------------------------------

    @property
    def memory_axes(self) -> tuple[Axis, Axis]:
        """Two parts of the memory of the player to move, as the axes of a picture.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> [axis.name for axis in game.memory_axes]
        ['own last points', "opponent's last points"]
        """
        return axes(self._engine.rules)

    def memory(self, given: Mapping[str, object], *, at_start: bool = False) -> Memory | None:
        """Make the memory of the player to move of its parts by name; None if none is given.

        The others are as before the first turn. A refusal names the options of ``hogeq analyze``.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.memory({"own_last": 3})
        Memory(turn=0, extra=0, own=3, opponent=0, state=0)
        """
        return memory_of(self._engine.rules, given, at_start=at_start)

    def memory_fields(self, memory: Memory = NOTHING) -> dict[str, int | str]:
        """Parts of a memory that the rules look at, by name.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.memory_fields()
        {'own_last': 0, 'opponent_last': 0}
        """
        return memory_fields(self._engine.rules, memory)

    def memory_line(self, memory: Memory = NOTHING) -> str:
        """Write a memory in one line, with the names of its parts.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.memory_line()
        "own last points: 0, opponent's last points: 0"
        """
        return memory_line(self._engine.rules, memory)

    def by_memory_axes(self, shares: ArrayLike) -> Floats:
        """Sum a distribution (..., H) over the memory to a table by `memory_axes`.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> belief = game.belief(4, 3, "always_roll:1")
        >>> game.by_memory_axes(belief).shape
        (6, 6)
        """
        return values.fold(self._engine.rules, shares)

    # --- play -------------------------------------------------------------------------------------

    def tablebase(self) -> Tablebase:
        """Optimal play from every position, both players seeing and remembering everything.

        Its `value` is the win probability of the player who moves first.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> round(game.tablebase().value, 4)
        0.6313
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

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> found = game.analyze(8, 7)
        >>> [(roll.dice, round(roll.win_probability, 4)) for roll in found.rolls]
        [(0, 1.0), (2, 0.9167), (1, 0.8519)]
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

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.action_values("always_roll:1")[0, 0].round(4).tolist()
        [0.0, 0.3153, 0.3794]
        """
        return counterfactual.action_values(self._engine, *self._both(a, b), weight)

    def values(self, a: StrategySpec, b: StrategySpec | None = None) -> Floats:
        """Win probability of the player to move in every hidden state, (G, G, H).

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.values("always_roll:1").shape
        (10, 10, 36)
        """
        return values.values(self._engine, *self._both(a, b))

    def mean_values(self, a: StrategySpec, b: StrategySpec | None = None) -> Floats:
        """Win probability of the player to move, averaged over the belief, (G, G).

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> round(float(game.mean_values("always_roll:1")[0, 0]), 4)
        0.6306
        """
        return values.mean_values(self._engine, *self._both(a, b))

    def reach(self, a: StrategySpec, b: StrategySpec | None = None) -> Floats:
        """Reach probability of every hidden state, the player of `a` to move, (G, G, H).

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.reach("always_roll:1").shape
        (10, 10, 36)
        """
        return values.reach(self._engine, *self._both(a, b))

    def belief(
        self, score: int, opponent: int, a: StrategySpec, b: StrategySpec | None = None
    ) -> Floats | None:
        """Distribution of the hidden memory at a position, (H,); None if play never gets there.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> belief = game.belief(4, 3, "always_roll:1")
        >>> game.memories[belief.argmax()], round(float(belief.max()), 4)
        (Memory(turn=0, extra=0, own=4, opponent=3, state=0), 0.6868)
        """
        return values.belief(self._engine, *self._both(a, b), score, opponent)

    def components_at(
        self, score: int, opponent: int, a: StrategySpec, b: StrategySpec | None = None
    ) -> ComponentsAt | None:
        """Posterior distribution of the draws of mixtures, given that a position is reached.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> one, two = (game.strategy(f"always_roll:{dice}") for dice in (1, 2))
        >>> found = game.components_at(4, 3, hogeq.Mixture([0.5, 0.5], [one, two]))
        >>> found.own.round(4).tolist()
        [0.3733, 0.6267]
        """
        one, two = self._both(a, b)
        return values.components_at(self._engine, one, score, opponent, two)

    def gains(self, counter: StrategySpec, strategy: StrategySpec) -> Gains:
        """Exact gain of every cell of a counter-strategy over the rolls of a strategy.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> gains = game.gains("always_roll:2", "always_roll:1")
        >>> round(float(gains.gains[0, 0]), 4)
        0.0363
        """
        usual = self.second.strategy(strategy)
        return population.gains(self._engine, self.strategy(counter), usual)

    def reasons(self) -> list[tuple[str, int, int, int, int, bool, str]]:
        """Positions where optimal play looks strange, and the rule that is the reason.

        Each has the rule's name, own and opponent's score, the number of the memory and of the best
        roll, whether the rule helps that roll rather than harms another, and a text.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> len(game.reasons()) > 0
        True
        """
        from hogeq.analysis.book import book

        return book(self._engine)

    @cached_property
    def turn_data(self) -> dict[str, Any]:
        """All turns of the game as plain values: what a program in another language plays by.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> sorted(game.turn_data)[:4]
        ['columns', 'extra', 'following', 'free']
        """
        from hogeq.games.turns import turn_data

        return turn_data(self._engine)

    def _both(self, a: StrategySpec, b: StrategySpec | None) -> tuple[Strategy, Strategy | None]:
        return self.strategy(a), None if b is None else self.second.strategy(b)

    # --- opponents --------------------------------------------------------------------------------

    @property
    def strongest(self) -> str:
        """Name of the strongest strategy that the package has for this game.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.strongest
        'ignore_memory'
        """
        return strongest(self._engine)

    def baselines(self, names: Iterable[str] | None = None) -> dict[str, Strategy]:
        """Make the strategies of some names, leaving out those that have no meaning in this game.

        By default those that are worth to be played against: every number of dice, the course's
        samples, the strongest and what others have published, each table once.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> list(game.baselines())[:3]
        ['always_roll:0', 'always_roll:1', 'always_roll:2']
        """
        tables = opponents(self._engine, names)
        return {name: self._named(table) for name, table in tables.items()}

    def spread(self, strategy: StrategySpec) -> Spread:
        """Split the entropy of each roll between the draw before the game and the roll itself.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.spread("always_roll:1").total.shape
        (10, 10)
        """
        from hogeq.evaluation.counterfactual import spread

        return spread(self.strategy(strategy))

    def play(
        self,
        against: StrategySpec | None = None,
        first: Literal["you", "engine", "coin"] = "coin",
        seed: int = 0,
        start: tuple[int, int] = (0, 0),
    ) -> Session:
        """Begin a game against a strategy, a matrix or a policy; by default optimal play.

        Coin, dice and draws follow from `seed`; `start` is as for `win_rate`.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> session = game.play("always_roll:1", first="you", seed=1)
        >>> session.situation.scores
        (0, 0)
        """
        from hogeq.analysis.turns import Engine, Session

        table = None if against is None else self.second.strategy(against)
        return Session(self._engine, Engine(self._engine, table), first, seed, start)

    def diff(
        self,
        first: StrategySpec,
        second: StrategySpec,
        against: StrategySpec | list[StrategySpec] | None = None,
    ) -> Difference:
        """Value every cell in which two matrices differ.

        Parameters
        ----------
        first, second : strategy
        against : strategy or list of strategies, optional
            Opponents, of which the mean counts; by default the strongest that the package has.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.diff("always_roll:1", "always_roll:2", against="always_roll:1")
        Difference(100 changes, 0.5000 becomes 0.7591; match 0.7591)
        """
        from hogeq.analysis import difference

        one, two = self.strategy(first), self.strategy(second)
        return difference.diff(self.engine, one, two, self._rivals(against))

    def answer_field(
        self,
        rivals: Sequence[StrategySpec],
        objective: Literal["mean", "beaten"] = "mean",
        budget: Budget | None = None,
    ) -> Answer:
        """Search for the matrix with the best mean win rate, or that beats most of some rivals.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> answer = game.answer_field(["always_roll:1"], budget=hogeq.Budget(starts=2, kicks=0))
        >>> round(answer.mean, 4)
        0.8559
        """
        from hogeq.analysis import field

        tables = [self.strategy(rival) for rival in rivals]
        return field.answer_field(self.engine, tables, objective, budget)

    def improvements(
        self,
        matrix: StrategySpec,
        against: Sequence[StrategySpec],
        cells: int | None = None,
        seconds: float | None = None,
    ) -> Iterator[Answer]:
        """Change a matrix step by step, as `improve` does: each that comes wins more.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> steps = game.improvements("always_roll:1", ["always_roll:2"], cells=2)
        >>> len(list(steps))
        3
        """
        from hogeq.analysis import field

        rivals = self._rivals(list(against))
        return field.improvements(self.engine, self.strategy(matrix), rivals, cells, seconds)

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

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> better = game.improve("always_roll:1", "always_roll:2", cells=1)
        >>> round(game.win_rate(better, "always_roll:2").win_rate, 4)
        0.38
        """
        *_, best = self.improvements(matrix, self._rivals(against), cells, seconds)
        return self.strategy(best.strategy)

    def explain(self, strategy: StrategySpec, against: StrategySpec | None = None) -> Assessment:
        """Say why a strategy loses: its loss in groups, and simple changes that win more.

        Parameters
        ----------
        strategy : strategy
            A matrix or a policy.
        against : strategy, optional
            By default the strongest opponent of the package.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> assessment = game.explain("always_roll:1", "always_roll:2")
        >>> round(assessment.win_rate, 4), round(assessment.best_response, 4)
        (0.2409, 0.5206)
        """
        from hogeq.analysis.explanation import assess

        (rival,) = self._rivals(against)
        return assess(self._engine, self.strategy(strategy), rival)

    def round_robin(
        self,
        strategies: Sequence[StrategySpec],
        start: tuple[int, int] = (0, 0),
        goals: Sequence[int] | None = None,
        *,
        known: Floats | None = None,
        progress: Callable[[], object] = int,
    ) -> WinRates:
        """Win rate of each of some strategies against each other, (n, n), row against column.

        The table has ``names``, and a notebook shows it with ranks. `start` is as for `win_rate`;
        `goals`, at most that of the rules, are of each strategy. Pairs with a `known` win rate,
        (n, n) and not NaN, are not played; `progress` is called after each other pair.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> rates = game.round_robin(["always_roll:1", "always_roll:2"])
        >>> rates.round(4).tolist()
        [[0.5, 0.2409], [0.7591, 0.5]]
        """
        from hogeq.analysis.tournament import WinRates, round_robin

        tables = [self.strategy(strategy) for strategy in strategies]
        rates = round_robin(self.engine, tables, progress, known, start, goals).view(WinRates)
        rates.names = tuple(
            table.name or f"strategy {number}" for number, table in enumerate(tables, 1)
        )
        return rates

    def review(self, transcript: Transcript | str | os.PathLike[str]) -> Review:
        """Loss of each roll of a played game, or of its file, and how much was luck.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "fa22", "goal": 9, "max_dice": 2})
        >>> played = hogeq.Transcript.of([[1, 5], [5, 6]], game.rules, ("Ann", "Bob"))
        >>> round(game.review(played).tallies[1].loss, 3)
        0.694
        """
        from hogeq.analysis.review import review
        from hogeq.analysis.transcript import read_transcript

        if isinstance(transcript, str | os.PathLike):
            transcript = read_transcript(transcript, self._engine.rules)
        return review(self._engine, transcript)

    def _rivals(self, given: StrategySpec | list[StrategySpec] | None) -> list[Strategy]:
        """Make one opponent or a list of them; by default the strongest that the package has."""
        given = self.strongest if given is None else given
        specs = given if isinstance(given, list) else [given]
        second = self.second  # whose goal an opponent has
        return [second.strategy(spec) for spec in specs]
