"""`Hog`: the game of dice, by some rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from hogeq.baselines import solved
from hogeq.baselines.registry import find_strategy
from hogeq.evaluation import tablebase, values
from hogeq.games.analysis import HogAnalysis
from hogeq.games.given import StrategySpec
from hogeq.graph.graph import Graph
from hogeq.graph.hog import of_hog
from hogeq.model.game import compile_game
from hogeq.model.protocol import WinRate
from hogeq.rules import Rules
from hogeq.rules.edition import names_of
from hogeq.rules.reading import GameName
from hogeq.rules.turn import denominator, total_rises
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
from hogeq.strategies.conversion import StrategyLike, strategy_of
from hogeq.strategies.infosets import ScoreRows
from hogeq.strategies.profiles import hog_profile, is_profile, rows_of
from hogeq.strategies.strategy import Strategy
from hogeq.support.deadline import Deadline
from hogeq.support.files import write_whole
from hogeq.support.messages import HogeqError, refusal
from hogeq.support.parameters import NotNegative, check

if TYPE_CHECKING:
    from hogeq.model.priced import Problem
    from hogeq.search.attack import SearchResult
    from hogeq.search.certificate_files import Certificate
    from hogeq.solvers.existence import Existence
    from hogeq.solvers.symmetric import SymmetricGame
    from hogeq.trees.audit import SmallAudit
    from hogeq.trees.recall_results import Audit
    from hogeq.trees.tree import Sizes


MOST_STATES: Final = 4_000_000  # states times actions, whether play comes to them or not


class Hog(HogAnalysis):
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
        rules: Rules = self._find(given, forget, teams, trust)
        self._engine = compile_game(rules, own_goals=True)
        # An edition may have several names: the game is called by the one that the user chose.
        called = GameName(given).text if isinstance(given, str) else ""
        self._called = called if called in names_of(rules) else rules.name

    def __repr__(self) -> str:
        """Name the rules."""
        return f"Game({self._called})"

    @property
    def name(self) -> str:
        """Name of the rules.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.name
        'su20 with goal=10, max_dice=2'
        """
        return self.rules.name

    @cached_property
    def _rows(self) -> ScoreRows:
        return rows_of(self.rules)

    @property
    def rules(self) -> Rules:
        """The rules.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.rules.goal, game.rules.max_dice
        (10, 2)
        """
        return self._engine.rules

    @property
    def units(self) -> Units:
        """Units of this game: how figures are written, and the value of an even game.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.units.figure, game.units.even
        ('win rate', 0.5)
        """
        return WIN_RATES

    @cached_property
    def graph(self) -> Graph:
        """The game as arrays, both players live: what any algorithm can stand on.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.graph.positions
        200
        """
        return of_hog(self.rules)

    @property
    def second(self) -> Hog:
        """The game as the second player has it: with the goals exchanged, if there are two.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": [8, 10], "max_dice": 2})
        >>> game.second.rules.goal
        (10, 8)
        """
        rules = self.rules.for_second()
        return self if rules is self.rules else Hog(rules, trust=self.trust)

    def strategy(
        self, given: StrategySpec, *, trust: bool = False, time_limit: float = 60.0
    ) -> Strategy:
        """Make a strategy of this game, checked.

        Parameters
        ----------
        given : str, path, function, array_like, Mixture, Strategy or result
            A name of ``hogeq.BASELINES``, such as ``"always_roll:6"``; a file; a run's folder; a
            matrix (G, G), the dice for every pair of scores; a policy (G, G, K), probabilities; a
            mixture of such; a function of the own score and the opponent's; what ``to_dict`` gives,
            ours or that of OpenSpiel's tabular policy; what `equilibrium`, `solve` or `attack`
            returned.
        trust : bool
            As for the game: of this strategy alone.
        time_limit : float
            Seconds that such code is given.

        Raises
        ------
        StrategyError
            If there is no such name or file, or its first bad cell.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> game.strategy("always_roll:2")
        Strategy(always_roll:2; matrix; 10 x 10 x 3)
        >>> game.strategy(lambda score, opponent: 2 if score < 5 else 1).array[4:6, 0].tolist()
        [2, 1]
        """
        if isinstance(given, str | os.PathLike):
            trust = trust or self.trust
            given = find_strategy(str(given), self._engine, trust, time_limit=time_limit)
        elif isinstance(given, Mapping) or is_profile(given):
            given = hog_profile(given, self.rules)
        return self._named(strategy_of(self._engine, given))

    def playable(self, solved: StrategyLike, name: str = "strategy") -> Strategy:
        """Make a strategy of the result of a solver or purifier.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> import numpy as np
        >>> game.playable(np.ones((10, 10), dtype=int), "ones")
        Strategy(matrix; 10 x 10 x 3)
        """
        return self._named(strategy_of(self.engine, solved, name))

    def value(self, a: StrategySpec, b: StrategySpec | None = None) -> Value:
        """Exact win rate of strategy `a` against `b`, by default itself.

        Raises
        ------
        StrategyError
            If a strategy is refused.
        ValueError
            If a game between the two may never end.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> round(game.value("always_roll:2", "always_roll:1").mean, 4)
        0.7591
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

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> rate = game.win_rate("always_roll:2", "always_roll:1")
        >>> round(rate.win_rate, 4), round(rate.first, 4)
        (0.7591, 0.7946)
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
            ``hogeq.Budget(seconds=3)`` limits the time.

        Raises
        ------
        ValueError
            If the game has too many histories for an integer program.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> response = game.attack("always_roll:1", hogeq.Budget(starts=2, kicks=0))
        >>> round(response.win_rate, 4), response.matrix.shape
        (0.8559, (10, 10))
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
    ) -> SearchResult:
        """Search for a best response alone, without a bound, within most of the time left.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> round(game.search("always_roll:1", hogeq.Budget(starts=2, kicks=0)).win_rate, 4)
        0.8559
        """
        from hogeq.search.attack import attack

        share = None if deadline is None else deadline.share(bounds.SEARCH_TIME_SHARE)
        return attack(self._engine, self.second.strategy(strategy), budget, deadline=share)

    def bound(self, strategy: StrategySpec, resolution: int | None = None) -> float:
        """Upper bound on the win rate of any response, by full memory, but for rounding.

        The `ends` of an `attack`, and certificates, include rounding.

        Parameters
        ----------
        strategy : strategy
        resolution : int, optional
            Of a mixture: that of the grid of beliefs about the draw. At 1 the responder knows the
            draw, the crudest bound; by default one that takes seconds.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> round(game.bound("always_roll:1"), 4)
        0.8567
        """
        target = self.second.strategy(strategy)
        if resolution is not None and target.kind != "mixture":
            allowed = f"for mixtures, not for a {target.kind}"
            raise HogeqError(refusal("resolution", resolution, allowed))
        return bounds.upper_bound(self._engine, target, resolution)

    def _problems(self, strategy: StrategySpec) -> list[Problem]:
        """Pose the problems of a responder to a strategy, who remembers everything."""
        from hogeq.search.certificate import hog_problems

        return hog_problems(self.rules, self.strategy(strategy))

    def _about(self, name: str, forget: str | None, teams: str | None) -> Rules:  # noqa: ARG002
        from hogeq.search.certificate_files import require_size

        require_size(self.rules)
        return self.rules

    def check(self, certificate: Certificate) -> Certificate:
        """Prove a certificate of this game again; nothing else that it says is believed.

        Its rules may have another name. `CertificateError` if they are others.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> certificate = game.certify("always_roll:1", seconds=1.0)
        >>> game.check(certificate).bound == certificate.bound
        True
        """
        from hogeq.search.certificate import check_certificate
        from hogeq.search.certificate_files import CertificateError

        if not isinstance(certificate.game, Rules):
            raise CertificateError(refusal("game", self.name, "games other than Hog"))
        if replace(certificate.game, name=self.rules.name) != self.rules:
            allowed = f"one of {self.name}, by the same rules"
            raise CertificateError(refusal("certificate", certificate.title, allowed))
        return check_certificate(certificate)

    def exploitability(self, strategy: StrategySpec, budget: Budget | None = None) -> Interval:
        """Interval that contains the exploitability of a strategy, rounding included.

        It is what a best response wins beyond 1/2: 0 for an equilibrium.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> interval = game.exploitability("always_roll:1", hogeq.Budget(starts=2, kicks=0))
        >>> round(interval.lower, 4), round(interval.upper, 4)
        (0.3559, 0.3567)
        """
        self.rules.require_one_goal()  # with two no game is even
        interval = super().exploitability(strategy, budget)
        # It is never negative, since a strategy is a response to itself.
        return interval._replace(lower=max(interval.lower, 0.0))

    def equilibrium(self, seconds: float = 60.0, method: str = "auto") -> Equilibrium:
        """Solve the game in mixtures, which are mixed strategies; best responses prove both ends.

        The game is alike for both players, and worth 1/2. Without hidden memory optimal play by the
        scores is an equilibrium. Elsewhere half of the time is a double oracle's, which an exact
        best response ends; a matrix that is an equilibrium alone is given as one. If it does not
        end, small games are solved as trees; in others the solver ``mixture_bundle`` looks for a
        mixture, and both ends are what that secures, or a policy of self-play that secures more.
        Compiling code, once on a machine, does not count as time; ``hogeq.warmup`` does it ahead.

        Raises
        ------
        ValueError
            If there is a goal for each player, or `method` is not ``auto``.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 5, "max_dice": 2})
        >>> solved = game.equilibrium(seconds=10)
        >>> solved
        Equilibrium(0.500000 to 0.500000, proved; double oracle)
        >>> round(game.value(solved).mean, 4)
        0.5
        """
        check(NotNegative, seconds=seconds)
        if method != "auto":
            raise HogeqError(refusal("method", method, "auto for games of Hog"))
        return self._named(self._solved(seconds))

    def _solved(self, seconds: float) -> Equilibrium:
        """Solve the game in mixtures, as `equilibrium` does, without names of rows.

        1. Without hidden memory, optimal play by the scores is an equilibrium.
        2. A small game: a double oracle, in half of the time.
        3. If that does not end: the tree of the game, if it is small enough, else the best single
           strategy that solvers find.
        """
        from hogeq.solvers import solving
        from hogeq.solvers.symmetric import in_mixtures
        from hogeq.trees.answers import hog_tree, solve_hog_by_tree

        engine = self.engine
        if not engine.has_memory:
            return solving.by_one_strategy(engine, Deadline(seconds))
        tree = hog_tree(engine.rules)  # building takes no time
        deadline = Deadline(seconds)
        # Every proof folds a mixture into the graph, which takes time for each of its outcomes.
        if self._is_small and deadline.share(0.5).allows(_num_outcomes(self.graph)):
            solved = in_mixtures(self._symmetric(), engine, deadline.share(0.5))
            if solved is not None:
                is_proved = bounds.is_half(engine, solved.strategies[0], solved.upper)
                return replace(solved, is_proved=is_proved)
        if tree is None:  # it would be too large
            return solving.by_one_strategy(engine, deadline)
        return solve_hog_by_tree(engine, tree, deadline)

    @property
    def _is_small(self) -> bool:
        """Whether the game can be laid out as a graph of states."""
        states = 2 * self.rules.size**2 * self._engine.memory_size * self._engine.num_actions
        return states <= MOST_STATES and total_rises(self.rules)

    def _symmetric(self) -> SymmetricGame:
        """Lay a small game out against the policy that rolls at random."""
        from hogeq.search.branching import ResponseGraph
        from hogeq.solvers.symmetric import SymmetricGame

        uniform = np.full(self.engine.shape, 1.0 / self.engine.num_actions)
        return SymmetricGame(ResponseGraph.of(self.graph.against(uniform)))

    def in_policies(self, seconds: float = 60.0, method: str = "auto") -> InPolicies:  # noqa: ARG002
        """Win rate that a policy secures, enclosed; at most 1/2, which mixtures secure.

        A policy is measured by the best response of an opponent who knows it, and who may draw a
        mixture. Half of the time at most solves the game in mixtures, the rest is for branch and
        bound (:mod:`hogeq.trees.maxmin`). Both ends hold whenever the time ends.

        Raises
        ------
        ValueError
            If the game has too many histories, or a goal for each player.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 4, "max_dice": 1})
        >>> found = game.in_policies(seconds=2.0)
        >>> round(found.lower, 4), round(found.upper, 4)
        (0.5, 0.5)
        """
        from hogeq.trees.answers import hog_in_policies

        check(NotNegative, seconds=seconds)
        return self._named(hog_in_policies(self.engine, Deadline(seconds)))

    def existence(
        self, seconds: float = 60.0, clock: Callable[[], float] | None = None
    ) -> Existence:
        """Decide whether the game has an equilibrium in policies, with proof.

        The result encloses the least exploitability of a policy: 0 if one exists.
        ``docs/existence.md`` says how, and what is proved.

        Parameters
        ----------
        seconds : float
        clock : callable
            Tells the seconds; ``time.process_time`` counts those of the processor. By default those
            that pass, in which compiling code, once on a machine, does not count.

        Raises
        ------
        ValueError
            For two goals, for rules under which the total score need not rise, and for games that
            are too large.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 6, "max_dice": 2})
        >>> game.existence(seconds=5.0).exists
        True
        """
        from hogeq.solvers.existence import decide, pure_existence

        check(NotNegative, seconds=seconds)
        engine = self.engine
        if not engine.has_memory and not engine.positions_recur:
            matrix = tablebase.solve(engine).matrix  # optimal play, which needs no memory
            return pure_existence(np.eye(engine.num_actions)[matrix.ravel()])
        allowed = ""
        if not total_rises(self.rules):
            allowed = "in which every turn raises the sum of the scores: positions can recur here"
        elif not self._is_small:
            allowed = f"of at most {MOST_STATES:,} states times actions: lower goal or max_dice"
        if allowed:
            raise HogeqError(refusal("rules", self.rules.name, f"games {allowed}"))
        return decide(self._symmetric(), denominator(self.rules), seconds, clock)

    def audit(self) -> tuple[Audit, Audit]:
        """Recall of each player, with two histories where it fails.

        A small game by the same rules is walked; the coin makes both players alike.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 5, "max_dice": 2})
        >>> first, second = game.audit()
        >>> first.findings["perfect recall"].holds
        False
        """
        return (self.small_audit().audit,) * 2

    def small_audit(self, goal: int | None = None, max_dice: int = 2) -> SmallAudit:
        """Audit of recall by a game of the same rules of at most this goal and these dice.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
        >>> small = game.small_audit(goal=4, max_dice=1)
        >>> small.audit.findings["perfect recall"].holds
        False
        """
        from hogeq.trees.audit import SmallAudit

        return SmallAudit.of(self.rules, goal, max_dice)

    def tree_sizes(self) -> Sizes:
        """Sizes of the tree of the game; they end where it is too large to be written.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 4, "max_dice": 1})
        >>> game.tree_sizes()
        Sizes(nodes=563, choices=70, chances=71, ends=422, infosets=(13, 13), depth=15, exact=True)
        """
        from hogeq.trees.tree import tree_sizes

        return tree_sizes(self.rules)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the tree of the game in Gambit's extensive form.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game({"edition": "su20", "goal": 4, "max_dice": 1})
        >>> game.write("hog.efg")
        >>> hogeq.Game("hog.efg")
        Game(hog.efg: 563 nodes, 26 infosets)
        """
        from hogeq.trees.tree import hog_efg

        write_whole(path, hog_efg(self.rules))


def _num_outcomes(graph: Graph) -> int:
    """Count the outcomes of all actions in all states, whether play comes to them or not."""
    outcomes_of_way = np.append(np.diff(graph.first), 0)  # the last entry is for way -1, none
    outcomes_of_situation = outcomes_of_way[graph.way].sum(axis=(1, 2))
    return int(outcomes_of_situation[graph.situation].sum())
