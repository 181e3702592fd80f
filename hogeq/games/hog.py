"""`Hog`: the game of dice, by some rules."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from hogeq.baselines import solved
from hogeq.baselines.opponents import opponents, strongest
from hogeq.baselines.registry import find_strategy
from hogeq.evaluation import values
from hogeq.games import small
from hogeq.games.given import StrategySpec
from hogeq.games.scores import ByScores
from hogeq.graph.graph import Graph
from hogeq.graph.hog import of_hog
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.protocol import WinRate
from hogeq.rules import Rules
from hogeq.rules.edition import names_of
from hogeq.rules.reading import GameName
from hogeq.search import bounds
from hogeq.search.results import (
    WIN_RATES,
    Budget,
    Equilibrium,
    InPolicies,
    Interval,
    Response,
    Units,
)
from hogeq.search.values import Value
from hogeq.strategies.infosets import ScoreRows
from hogeq.strategies.profiles import hog_profile, is_profile, rows_of
from hogeq.strategies.strategy import Strategy, StrategyLike, strategy_of
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.support.files import write_whole
from hogeq.support.messages import BadInputError, HogeqError, refusal
from hogeq.support.parameters import NotNegative, check

if TYPE_CHECKING:
    from hogeq.analysis.difference import Difference
    from hogeq.analysis.explanation import Assessment
    from hogeq.analysis.field import Answer
    from hogeq.analysis.review import Review
    from hogeq.analysis.tournament import WinRates
    from hogeq.analysis.transcript import Transcript
    from hogeq.analysis.turns import Session
    from hogeq.evaluation.counterfactual import Spread
    from hogeq.model.priced import Problem
    from hogeq.search.attack import SearchResult
    from hogeq.search.certificate_files import Certificate
    from hogeq.solvers.existence import Existence
    from hogeq.trees.audit import SmallAudit
    from hogeq.trees.recall import Audit
    from hogeq.trees.tree import Sizes


class Hog(ByScores):
    """A game of Hog by some rules; ``hogeq.Game("fa25")`` is one, too.

    Wherever a method takes a strategy, a name will do. Figures are win rates, where 1/2 is even.

    Parameters
    ----------
    given : str, path, mapping or Rules
        An edition's name, fields of `Rules` by name, a YAML file of these, or a run's folder.
    trust : bool
        Whether the code of ``.py`` files may be run, in processes of its own.

    Attributes
    ----------
    rules : Rules
    engine : HogEngine
        The rules compiled: what solvers and purifiers take.

    Raises
    ------
    ValueError
        If there are no such rules, or this is another game.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Hog({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> three = game.strategy("always_roll:3")
    >>> round(game.win_rate(three, "always_roll:2").win_rate, 4)
    0.5808
    >>> round(game.attack(three).value, 4)
    0.6974
    """

    if TYPE_CHECKING:
        __getattr__: None  # type: ignore[assignment, misc]  # what is not listed here is an error

    def __init__(
        self, given: object, *, forget: None = None, teams: None = None, trust: bool = False
    ) -> None:
        """Find the rules and compile them; the same ones are compiled once."""
        rules = self._find(given, forget, teams, trust)
        if not isinstance(rules, Rules):
            raise BadInputError(refusal("game", rules.name, "games of Hog"))
        self._engine = compile_game(rules, own_goals=True)
        # An edition may have several names: the game is called by the one that the user chose.
        called = GameName(given).text if isinstance(given, str) else ""
        self._called = called if called in names_of(rules) else rules.name

    def __repr__(self) -> str:
        """Name the rules."""
        return f"Game({self._called})"

    @property
    def _held(self) -> Rules:
        return self.rules

    @cached_property
    def _rows(self) -> ScoreRows:
        return rows_of(self.rules)

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self._engine.rules

    @property
    def units(self) -> Units:
        """Units of this game: how figures are written, and the value of an even game."""
        return WIN_RATES

    @property
    def engine(self) -> HogEngine:
        """The rules compiled, as solvers and purifiers take them.

        ValueError with a goal for each player: what lets one strategy play both is refused.
        Elsewhere the first goal is that of strategy `a`, of a responder, or of the player to move.
        """
        self.rules.require_one_goal()
        return self._engine

    @cached_property
    def graph(self) -> Graph:
        """The game as arrays, both players live: what any algorithm can stand on."""
        return of_hog(self.rules)

    @property
    def second(self) -> "Hog":
        """The game as the second player has it: with the goals exchanged, if there are two."""
        rules = self.rules.for_second()
        return self if rules is self.rules else Hog(rules, trust=self.trust)

    def strategy(
        self, given: StrategySpec, *, trust: bool = False, time_limit: float = 60.0
    ) -> Strategy:
        """Make a strategy of this game, checked.

        Parameters
        ----------
        given : str, path, function, array_like, Mixture, Strategy or result
            A name such as ``"always_roll:6"``; a file; a run's folder; a matrix (G, G), the dice
            for every pair of scores; a policy (G, G, K), probabilities; a mixture of such; a
            function of the own score and the opponent's; what ``to_dict`` gives, ours or that of
            OpenSpiel's tabular policy; what `equilibrium`, `solve` or `attack` returned.
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
        return self._named(strategy_of(self._engine, given))

    @property
    def strongest(self) -> str:
        """Name of the strongest strategy that the package has for this game."""
        return strongest(self._engine)

    def baselines(self, names: Iterable[str] | None = None) -> dict[str, Strategy]:
        """Make the strategies of some names, leaving out those that have no meaning in this game.

        By default those that are worth to be played against: every number of dice, the course's
        samples, the strongest and what others have published, each table once.
        """
        tables = opponents(self._engine, names)
        return {name: self._named(table) for name, table in tables.items()}

    def playable(self, solved: StrategyLike, name: str = "strategy") -> Strategy:
        """Make a strategy of the result of a solver or purifier."""
        return self._named(strategy_of(self.engine, solved, name))

    def value(self, a: StrategySpec, b: StrategySpec | None = None) -> Value:
        """Exact win rate of strategy `a` against `b`, by default itself.

        Raises
        ------
        StrategyError
            If a strategy is refused.
        ValueError
            If a game between the two may never end.
        """
        return Value(*self.win_rate(a, a if b is None else b))

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

    def attack(self, strategy: StrategySpec, budget: Budget | None = None) -> Response:
        """Find the best response to a strategy, and a bound that no response exceeds.

        The response is searched for (:mod:`hogeq.search`), and an integer program goes on for
        ``budget.exact_seconds``, where they are given. Against a champion the search begins with
        the strongest counter known, too.

        Parameters
        ----------
        strategy : strategy
        budget : Budget, optional

        Raises
        ------
        ValueError
            If the game has too many histories for an integer program.
        """
        target = self.second.strategy(strategy)
        budget = Budget.of(budget)
        if not budget.exact_seconds:
            known_counters = solved.counters(self._engine, target)
            return self._named(bounds.respond_in_hog(self._engine, target, budget, known_counters))
        from hogeq.trees.answers import respond_by_program

        return self._named(respond_by_program(self._engine, target, budget))

    def search(
        self,
        strategy: StrategySpec,
        budget: Budget | None = None,
        deadline: Deadline | None = None,
    ) -> "SearchResult":
        """Search for a best response alone, without a bound, within most of the time left."""
        from hogeq.search.attack import attack

        share = None if deadline is None else deadline.share(bounds.SEARCHING)
        return attack(self._engine, self.second.strategy(strategy), budget, deadline=share)

    def bound(self, strategy: StrategySpec, resolution: int | None = None) -> float:
        """Upper bound on the win rate of any response, by full memory.

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
            raise HogeqError(refusal("resolution", resolution, allowed))
        return bounds.upper_bound(self._engine, target, resolution)

    def _problems(self, strategy: StrategySpec) -> "list[Problem]":
        """Pose the problems of a responder to a strategy, who remembers everything."""
        from hogeq.search.certificate import hog_problems

        return hog_problems(self.rules, self.strategy(strategy))

    def _about(self, name: str, forget: str | None, teams: str | None) -> Rules:  # noqa: ARG002
        from hogeq.search.certificate_files import require_size

        require_size(self.rules)
        return self.rules

    def check(self, certificate: "Certificate") -> "Certificate":
        """Prove a certificate again, of the rules that it names; nothing else in it is believed."""
        from hogeq.search.certificate import check_certificate
        from hogeq.search.certificate_files import CertificateError

        if not isinstance(certificate.game, Rules):
            raise CertificateError(refusal("game", self.name, "games other than Hog"))
        return check_certificate(certificate)

    def exploitability(self, strategy: StrategySpec, budget: Budget | None = None) -> Interval:
        """Interval that contains the exploitability of a strategy.

        It is what a best response wins beyond 1/2: 0 for an equilibrium.
        """
        self.rules.require_one_goal()  # with two no game is even
        return super().exploitability(strategy, budget)

    def equilibrium(self, seconds: float = 60.0, method: str = "auto") -> Equilibrium:
        """Solve the game in mixtures, which are mixed strategies; best responses prove both ends.

        The game is alike for both players, and worth 1/2. Without hidden memory optimal play by the
        scores is an equilibrium. Elsewhere half of the time is a double oracle's, which an exact
        best response ends; a matrix that is an equilibrium alone is given as one. If it does not
        end, small games are solved as trees; in others the solver ``mixture_bundle`` looks for a
        mixture, and both ends are what that secures.

        Raises
        ------
        ValueError
            If there is a goal for each player, or `method` is not ``auto``.
        """
        check(NotNegative, seconds=seconds)
        if method != "auto":
            raise HogeqError(refusal("method", method, "auto for games of Hog"))
        return self._named(small.solve_hog(self.engine, lambda: self.graph, seconds))

    def in_policies(self, seconds: float = 60.0, method: str = "auto") -> InPolicies:  # noqa: ARG002
        """Win rate that a policy secures, enclosed; at most 1/2, which mixtures secure.

        A policy is measured by the best response of an opponent who knows it, and who may draw a
        mixture. Half of the time at most solves the game in mixtures, the rest is for branch and
        bound (:mod:`hogeq.trees.maxmin`). Both ends hold whenever the time ends.

        Raises
        ------
        ValueError
            If the game has too many histories, or a goal for each player.
        """
        from hogeq.trees.answers import hog_in_policies

        check(NotNegative, seconds=seconds)
        return self._named(hog_in_policies(self.engine, Deadline(seconds)))

    def existence(
        self, seconds: float = 60.0, clock: Callable[[], float] = perf_counter
    ) -> "Existence":
        """Decide whether the game has an equilibrium in policies, with proof.

        The result encloses the least exploitability of a policy: 0 if one exists.
        ``docs/existence.md`` says how, and what is proved.

        Parameters
        ----------
        seconds : float
        clock : callable
            Tells the seconds; ``time.process_time`` counts those of the processor.

        Raises
        ------
        ValueError
            For two goals, for rules under which the total score need not rise, and for games that
            are too large.
        """
        check(NotNegative, seconds=seconds)
        return small.existence(self.engine, lambda: self.graph, seconds, clock)

    def audit(self) -> "tuple[Audit, Audit]":
        """Recall of each player, with two histories where it fails.

        A small game by the same rules is walked; the coin makes both players alike.
        """
        return (self.small_audit().audit,) * 2

    def small_audit(self, goal: int | None = None, max_dice: int = 2) -> "SmallAudit":
        """Audit of recall by a game of the same rules of at most this goal and these dice."""
        from hogeq.trees.audit import SmallAudit

        return SmallAudit.of(self.rules, goal, max_dice)

    def tree_sizes(self) -> "Sizes":
        """Sizes of the tree of the game; they end where it is too large to be written."""
        from hogeq.trees.tree import tree_sizes

        return tree_sizes(self.rules)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the tree of the game in Gambit's extensive form."""
        from hogeq.trees.tree import hog_efg

        write_whole(path, hog_efg(self.rules))

    def spread(self, strategy: StrategySpec) -> "Spread":
        """Split the entropy of each roll between the draw before the game and the roll itself."""
        from hogeq.evaluation.counterfactual import spread

        return spread(self.strategy(strategy))

    def play(
        self,
        against: StrategySpec | None = None,
        first: Literal["you", "engine", "coin"] = "coin",
        seed: int = 0,
        start: tuple[int, int] = (0, 0),
    ) -> "Session":
        """Begin a game against a strategy, a matrix or a policy; by default optimal play.

        Coin, dice and draws follow from `seed`; `start` is as for `win_rate`.
        """
        from hogeq.analysis.turns import Engine, Session

        table = None if against is None else self.second.strategy(against)
        return Session(self._engine, Engine(self._engine, table), first, seed, start)

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
        from hogeq.analysis import difference

        one, two = self.strategy(first), self.strategy(second)
        return difference.diff(self.engine, one, two, self._rivals(against))

    def answer_field(
        self,
        rivals: Sequence[StrategySpec],
        objective: Literal["mean", "beaten"] = "mean",
        budget: Budget | None = None,
    ) -> "Answer":
        """Search for the matrix with the best mean win rate, or that beats most of some rivals."""
        from hogeq.analysis import field

        tables = [self.strategy(rival) for rival in rivals]
        return field.answer_field(self.engine, tables, objective, budget)

    def improvements(
        self,
        matrix: StrategySpec,
        against: Sequence[StrategySpec],
        cells: int | None = None,
        seconds: float | None = None,
    ) -> "Iterator[Answer]":
        """Change a matrix step by step, as `improve` does: each that comes wins more."""
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
        """
        *_, best = self.improvements(matrix, self._rivals(against), cells, seconds)
        return self.strategy(best.strategy)

    def explain(self, strategy: StrategySpec, against: StrategySpec | None = None) -> "Assessment":
        """Say why a strategy loses: its loss in groups, and simple changes that win more.

        Parameters
        ----------
        strategy : strategy
            A matrix or a policy.
        against : strategy, optional
            By default the strongest opponent of the package.
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
    ) -> "WinRates":
        """Win rate of each of some strategies against each other, (n, n), row against column.

        The table has ``names``, and a notebook shows it with ranks. `start` is as for `win_rate`;
        `goals`, at most that of the rules, are of each strategy. Pairs with a `known` win rate,
        (n, n) and not NaN, are not played; `progress` is called after each other pair.
        """
        from hogeq.analysis.tournament import WinRates, round_robin

        tables = [self.strategy(strategy) for strategy in strategies]
        rates = round_robin(self.engine, tables, progress, known, start, goals).view(WinRates)
        rates.names = tuple(
            table.name or f"strategy {number}" for number, table in enumerate(tables, 1)
        )
        return rates

    def review(self, transcript: "Transcript | str | os.PathLike[str]") -> "Review":
        """Loss of each roll of a played game, or of its file, and how much was luck."""
        from hogeq.analysis.review import review
        from hogeq.analysis.transcript import read_transcript

        if isinstance(transcript, str | os.PathLike):
            transcript = read_transcript(transcript, self.rules)
        return review(self._engine, transcript)

    def reasons(self) -> list[tuple[Any, ...]]:
        """Positions where optimal play looks strange, and the rule that is the reason.

        Each has the rule's name, own and opponent's score, the number of the memory and of the best
        roll, whether the rule helps that roll rather than harms another, and a text.
        """
        from hogeq.analysis.book import book

        return book(self._engine)

    @cached_property
    def turn_data(self) -> dict[str, Any]:
        """All turns of the game as plain values: what a program in another language plays by."""
        from hogeq.games.turns import turn_data

        return turn_data(self._engine)

    def _rivals(self, given: StrategySpec | list[StrategySpec] | None) -> list[Strategy]:
        """Make one opponent or a list of them; by default the strongest that the package has."""
        given = self.strongest if given is None else given
        specs = given if isinstance(given, list) else [given]
        second = self.second  # whose goal an opponent has
        return [second.strategy(spec) for spec in specs]
