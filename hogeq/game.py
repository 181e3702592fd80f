"""The game as users hold it: it makes strategies, values them, attacks them and solves itself.

Purifiers, contests and game trees are imported where they are used: SciPy takes a second.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from sys import float_info
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hogeq.baselines import solved
from hogeq.baselines.registry import find_strategy
from hogeq.evaluation import counterfactual, tablebase, values
from hogeq.evaluation.counterfactual import RegretWeight
from hogeq.evaluation.values import ComponentsAt
from hogeq.graph.graph import Graph
from hogeq.graph.hog import of_hog
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.protocol import WinRate
from hogeq.rules import Rules
from hogeq.rules.edition import names_of
from hogeq.rules.memory import Memory
from hogeq.rules.reading import TREES, edition_name
from hogeq.search import bounds, population
from hogeq.search.population import Gains
from hogeq.search.results import (
    WIN_RATES,
    Budget,
    Equilibrium,
    InPolicies,
    Interval,
    Response,
    Units,
    Value,
)
from hogeq.strategies.profiles import hog_profile, is_profile
from hogeq.strategies.strategy import Strategy, StrategyLike, strategy_of
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.support.files import write_whole
from hogeq.support.messages import BadInputError, refusal

if TYPE_CHECKING:
    from hogeq.contest.assessment import Assessment
    from hogeq.contest.field import Difference
    from hogeq.contest.tournament import WinRates
    from hogeq.contest.transcript import Review, Transcript
    from hogeq.solvers.existence import Existence
    from hogeq.solvers.solving import Solution
    from hogeq.solvers.symmetric import SymmetricGame
    from hogeq.trees.absent import Gaps
    from hogeq.trees.engine import TreeEngine
    from hogeq.trees.flat import FlatTree
    from hogeq.trees.full_information import FullInformation
    from hogeq.trees.positions import Positions
    from hogeq.trees.recall import Audit

MOST_STATES: Final = 4_000_000  # states times actions, whether play comes to them or not

StrategySpec = StrategyLike | str | Path | Mapping[str, Any]
"""A strategy, or its function, array, name, file, run's folder or states of OpenSpiel; or a result.

Of an `Equilibrium` it is the `profile`, of other results the `strategy`.
"""


class Game:
    """A game: Hog by some rules, any finite zero-sum game of two players or teams, or one player's.

    Wherever a method takes a strategy, a name will do. Figures are win rates in Hog, where 1/2 is
    even; elsewhere payoffs, where 0 is.

    Parameters
    ----------
    given : str, path, mapping, Rules, GameRules or game of OpenSpiel
        An edition's name, fields of `Rules` by name, a YAML file of these; a run's folder, of
        whatever game; a ``.efg`` file of Gambit, a ``.npz`` file of `write`; rules of one's own, or
        their name; or a game of OpenSpiel, or its name with parameters:
        ``"liars_dice_ir(dice_sides=4)"``. ``"openspiel:NAME"`` is none of ours.
    forget : str or callable, optional
        For games other than Hog, what players forget: ``own_actions``, ``order`` or ``last:K``; or
        a function of a player and an information state, str, that gives the key of the
        information set.
    teams : str or list of lists of int, optional
        Players of two teams, ``"01/2"`` or ``[[0, 1], [2]]``, of a game of any number of players.
        A team agrees on a mixture before the game and does not talk in it: it is one player who
        forgets.
    trust : bool
        Whether the code of ``.py`` files may be run, in processes of its own.

    Attributes
    ----------
    rules : Rules
        Of Hog.
    tree : FlatTree or None
        Of other games: all their nodes.
    positions : Positions or None
        Of a game of one's own whose tree is too large or endless: its graph, states and rows.
    engine
        The game compiled: what solvers and purifiers take.

    Raises
    ------
    ValueError
        If there is no such game, or it has too many positions, or payoffs have no constant sum.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> three = game.strategy("always_roll:3")
    >>> round(game.win_rate(three, "always_roll:2").win_rate, 4)
    0.5808
    >>> round(game.attack(three).value, 4)
    0.6974
    >>> hogeq.Game("kuhn_poker")
    Game(kuhn_poker(): 58 nodes, 12 infosets)
    """

    def __init__(
        self,
        given: Any,
        *,
        forget: Any = None,
        teams: Any = None,
        trust: bool = False,
    ) -> None:
        """Find the game and compile it; the same rules are compiled once."""
        from hogeq.trees.loading import find_game

        found = find_game(given, forget, trust, teams)
        self.trust = trust
        self.positions: Positions | None = None
        self._tree: FlatTree | None = None
        if isinstance(found, Rules):
            self._hog: HogEngine | None = compile_game(found, own_goals=True)
            called = edition_name(given) if isinstance(given, str) else ""
            self._called = called if called in names_of(found) else found.name
        else:
            from hogeq.trees import flat

            self._hog = None
            if isinstance(found, flat.FlatTree):
                self._tree = found
            else:
                self.positions = found

    @property
    def is_hog(self) -> bool:
        """Whether this is a game of Hog."""
        return self._hog is not None

    @property
    def tree(self) -> "FlatTree | None":
        """All nodes of a game other than Hog; None of Hog.

        ValueError if there are too many, or they have no end, so that the game is held by its
        positions.
        """
        if self.positions is not None:
            raise BadInputError(
                f"{self.name}: is held by its {self.positions.graph.positions:,} positions, since "
                "its tree is too large or has no end; allowed: what needs no tree"
            )
        return self._tree

    @property
    def engine(self) -> "HogEngine | TreeEngine":
        """The game as solvers and purifiers take it: the compiled rules, or the tree's passes."""
        return self.hog if self.tree is None else self._tree_engine

    @cached_property
    def graph(self) -> Graph:
        """The game as arrays, both players live: what any algorithm can stand on."""
        if self.positions is not None:
            return self.positions.graph
        if self.tree is None:
            return of_hog(self.rules)
        from hogeq.trees.graphs import of_tree

        return of_tree(self.tree)

    @property
    def hog(self) -> HogEngine:
        """The compiled rules of a game of Hog.

        ValueError for other games, and with a goal for each player: what lets one strategy play
        both is refused. Elsewhere the first goal is that of strategy `a`, of a responder, or of
        the player to move.
        """
        self.rules.require_one_goal()
        return self._compiled

    @cached_property
    def _tree_engine(self) -> "TreeEngine":
        from hogeq.trees.engine import TreeEngine

        return TreeEngine(self._flat)

    @property
    def _flat(self) -> "FlatTree":
        if self.tree is None:
            raise ValueError(f"{self.name}: is not asked this; allowed: games other than Hog")
        return self.tree

    @property
    def _compiled(self) -> HogEngine:
        if self._hog is None:
            raise ValueError(f"{self.name}: is not asked this; allowed: games of Hog")
        return self._hog

    @property
    def units(self) -> Units:
        """Units of this game: how figures are written, and the value of an even game."""
        held = self.positions or self.tree
        return WIN_RATES if held is None else held.units

    @property
    def name(self) -> str:
        """Name of the rules or of the tree."""
        held = self.positions or self.tree
        return self.rules.name if held is None else held.name

    @property
    def rules(self) -> Rules:
        """The rules of a game of Hog."""
        return self._compiled.rules

    @property
    def second(self) -> "Game":
        """The game as the second player has it: with the goals exchanged, if there are two."""
        if not self.is_hog:
            return self
        rules = self.rules.for_second()
        return self if rules is self.rules else Game(rules, trust=self.trust)

    def __repr__(self) -> str:
        """Name the game, and say the size of a tree."""
        held = self.positions or self.tree
        if held is None:
            return f"Game({self._called})"
        return re.sub("^[A-Za-z]+", "Game", repr(held))

    def strategy(
        self, given: StrategySpec, *, trust: bool = False, time_limit: float = 60.0
    ) -> Strategy:
        """Make a strategy of this game, checked.

        Parameters
        ----------
        given : str, path, function, array_like, Mixture, Strategy or result
            A name such as ``"always_roll:6"`` or, of other games, ``"uniform"``; a file; a run's
            folder; a matrix, an action for every row; a policy, probabilities; a mixture of such;
            a tabular policy of OpenSpiel, or what its ``to_dict`` gives; what `equilibrium`,
            `solve` or `attack` returned. Of Hog also a function of the own score and the
            opponent's. Rows are (G, G) in Hog, elsewhere those of `tree`.
        trust : bool
            As for the game: of this strategy alone.
        time_limit : float
            Seconds that such code is given.

        Raises
        ------
        StrategyError
            If there is no such name or file, or its first bad cell.
        """
        held = self.positions or self.tree
        if held is not None:
            from hogeq.trees.strategies import tree_strategy

            return tree_strategy(held, given)
        if isinstance(given, str | os.PathLike):
            trust = trust or self.trust
            given = find_strategy(str(given), self._compiled, trust, time_limit=time_limit)
        elif isinstance(given, Mapping) or is_profile(given):
            given = hog_profile(given, self.rules)
        return strategy_of(self._compiled, given)

    def playable(self, solved: StrategyLike, name: str = "strategy") -> Strategy:
        """Make a strategy of the result of a solver or purifier.

        In a tree they may choose actions that a row has not; these mean the others, at random.
        """
        if self.tree is None:
            return strategy_of(self.hog, solved, name)
        from hogeq.trees.strategies import playable

        return playable(self.tree, self._tree_engine.legal, solved, name)

    def value(self, a: StrategySpec, b: StrategySpec | None = None) -> Value:
        """Exact payoff to strategy `a` against `b`, by default itself: in Hog its win rate.

        Of an equilibrium, ``game.value(solved).first`` is the value of the game to the first side.

        Raises
        ------
        StrategyError
            If a strategy is refused.
        ValueError
            If a game between the two may never end.
        """
        b = a if b is None else b
        if self.is_hog:
            return Value(*self.win_rate(a, b))
        if self.positions is not None:
            from hogeq.trees import full_information

            return full_information.value(self.positions, self.strategy(a), self.strategy(b))
        from hogeq.trees.strategies import value

        return value(self._flat, self.strategy(a), self.strategy(b))

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
            If a game between the two may never end, or this is no game of Hog.
        """
        if not self.is_hog:
            allowed = "games of Hog; game.value gives payoffs here"
            raise ValueError(f"{self.name}: has no win rates; allowed: {allowed}")
        return values.win_rate(
            self._compiled, self.strategy(a), self.second.strategy(b), start=start
        )

    def attack(self, strategy: StrategySpec, budget: Budget | None = None) -> Response:
        """Find the best response to a strategy, and a bound that no response exceeds.

        Where the responder forgets, the response is searched for (:mod:`hogeq.search`), and an
        integer program goes on for ``budget.exact_seconds``: in Hog only where they are given.
        Against a champion the search begins with the strongest counter known, too.

        Parameters
        ----------
        strategy : strategy
        budget : Budget, optional

        Raises
        ------
        ValueError
            If a game of Hog has too many histories for an integer program.
        """
        target, budget = self.second.strategy(strategy).whole(), budget or Budget()
        if self.positions is not None:
            from hogeq.trees import full_information

            return full_information.respond(self.positions, target)
        if self.tree is not None:
            from hogeq.trees.answers import respond

            return respond(self.tree, target, budget)
        if not budget.exact_seconds:
            known = solved.counters(self._compiled, target)
            return bounds.respond(self._compiled, target, budget, known)
        from hogeq.trees.answers import respond_by_program

        return respond_by_program(self._compiled, target, budget)

    def bound(self, strategy: StrategySpec, resolution: int | None = None) -> float:
        """Upper bound on the value of any response: by full memory, or elsewhere by perfect recall.

        Parameters
        ----------
        strategy : strategy
        resolution : int, optional
            Of a mixture in Hog: that of the grid of beliefs about the draw. At 1 the responder
            knows the draw, the crudest bound; by default one that takes seconds.
        """
        target = self.second.strategy(strategy).whole()
        if resolution is not None and target.kind != "mixture":
            allowed = f"for mixtures, not for a {target.kind}"
            raise ValueError(refusal("resolution", resolution, allowed))
        if self.positions is not None:
            from hogeq.trees import full_information

            return full_information.bound(self.positions, target)
        if self.tree is not None:
            from hogeq.trees.responses import full_memory

            return full_memory(self.tree, target)
        return bounds.upper_bound(self._compiled, target, resolution)

    def exploitability(self, strategy: StrategySpec, budget: Budget | None = None) -> Interval:
        """Interval that contains the exploitability of a strategy: half of its NashConv.

        It is what a best response gets beyond an even game: 0 for an equilibrium.
        """
        if self.is_hog:
            self.rules.require_one_goal()  # with two no game is even
        response = self.attack(strategy, budget)
        lower, upper = (end - response.units.even for end in (response.value, response.bound))
        tree = self._tree
        if tree is not None and lower <= float_info.epsilon * tree.num_nodes * tree.largest_payoff:
            lower = min(lower, 0.0)  # it may be rounding alone, and nothing is below 0
        return Interval(lower, upper, response)

    def equilibrium(self, seconds: float = 60.0, method: str = "auto") -> Equilibrium:
        """Solve the game in mixtures, which are mixed strategies; best responses prove both ends.

        If a side is a team, this is its TMECor. The result names the method:

        ``dag``
            One linear program over the belief DAGs of both sides; ``lp`` if no side forgets.
        ``columns``
            Column generation, or double oracle: the parts of the DAGs that best responses come to
            grow. The responses are found by an integer program.
        ``cfr``
            Discounted CFR over the DAGs, which ends with the time.
        ``auto``
            ``columns`` for a fifth of the time, then ``dag``; of large DAGs ``columns`` with
            responses by these, begun with what CFR plays, or ``cfr``. The best ends are kept.

        A game of Hog is alike for both players, and worth 1/2. Without hidden memory optimal play
        by the scores is an equilibrium. Elsewhere half of the time is a double oracle's, which an
        exact best response ends; a matrix that is an equilibrium alone is given as one. If it does
        not end, small games are solved as trees; in others the solver ``mixture_bundle`` looks for
        a mixture, and both ends are what that secures.

        Raises
        ------
        ValueError
            If a belief DAG is too large for the method, or it takes no game in which an information
            set can be met twice in a play.
        """
        from hogeq.solvers import dags
        from hogeq.trees.answers import hog_tree, solve_hog

        Budget(seconds=seconds)  # refuses what is no time
        if self.positions is not None:
            from hogeq.trees import full_information

            return full_information.equilibrium(self.positions, Deadline(seconds))
        if self.tree is not None:
            return dags.equilibrium(self.tree, seconds, method)
        if method != "auto":
            raise ValueError(refusal("method", method, "auto for games of Hog"))
        self.engine  # noqa: B018 - refuses two goals
        from hogeq.solvers.solving import equilibrium

        tree = hog_tree(self.rules) if self.hog.has_memory else None  # building takes no time
        deadline = Deadline(seconds)
        if self.hog.has_memory and self._is_small:
            from hogeq.solvers.symmetric import in_mixtures

            found = in_mixtures(self._small()[0], self.hog, deadline.share(0.5))
            if found is not None:
                return found
        if tree is None:
            return equilibrium(self.hog, deadline)
        return solve_hog(self.hog, tree, deadline)

    def existence(
        self, seconds: float = 60.0, clock: Callable[[], float] = perf_counter
    ) -> "Existence":
        """Decide whether a game of Hog has an equilibrium in policies, with proof.

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
            For other games, for two goals, for rules under which the total score need not rise, and
            for games that are too large.
        """
        from hogeq.solvers.existence import decide, known

        Budget(seconds=seconds)  # refuses what is no time
        if not self.hog.has_memory and not self.hog.positions_recur:
            matrix = tablebase.solve(self.hog).matrix
            return known(np.eye(self.engine.num_actions)[matrix.ravel()])
        return decide(*self._small(), seconds, clock)

    @property
    def _is_small(self) -> bool:
        """Whether a game of Hog can be laid out as a graph of states."""
        from hogeq.rules.turn import total_rises

        engine = self.hog
        states = 2 * self.rules.size**2 * engine.memory_size * engine.num_actions
        return states <= MOST_STATES and total_rises(self.rules)

    def _small(self) -> "tuple[SymmetricGame, int]":
        """Give the graph of a small game of Hog, and a common denominator of its chances."""
        from hogeq.rules.turn import denominator
        from hogeq.search.branching import ResponseGraph
        from hogeq.solvers.symmetric import SymmetricGame

        engine, rules = self.hog, self.rules
        if not self._is_small:
            allowed = (
                f"games of at most {MOST_STATES:,} states times actions: lower goal or max_dice"
            )
            raise ValueError(refusal("rules", rules.name, allowed))
        uniform = np.full(engine.shape, 1.0 / engine.num_actions)
        return SymmetricGame(ResponseGraph.of(self.graph.against(uniform))), denominator(rules)

    def audit(self) -> "tuple[Audit, Audit]":
        """Recall of each player, with two histories where it fails.

        A team is one player; its audit has those of its members. Of Hog a small game by the same
        rules is walked; the coin makes both players alike.
        """
        from hogeq.trees.recall import audit_of

        if self.tree is None:
            from hogeq.trees.audit import SmallAudit

            return (SmallAudit.of(self.rules).audit,) * 2
        return audit_of(self.tree, 0), audit_of(self.tree, 1)

    def diff(
        self,
        first: StrategySpec,
        second: StrategySpec,
        against: StrategySpec | list[StrategySpec] | None = None,
    ) -> "Difference":
        """Value every cell in which two matrices differ; of other games, every information set.

        Parameters
        ----------
        first, second : strategy
        against : strategy or list of strategies, optional
            Opponents, of which the mean counts; by default the strongest that the package has, in
            other games than Hog `first` itself.
        """
        from hogeq.contest import field

        one, two = self.strategy(first).whole(), self.strategy(second).whole()
        if self.tree is not None:
            rivals = [one] if against is None else self._rivals(against)
            return field.diff_rows(self._tree_engine, one, two, rivals)
        return field.diff(self.hog, one, two, self._rivals(against))

    def solve(self, solver: str, iterations: int, **parameters: Any) -> "Solution":
        """Solve by a solver's name and parameters, as a run does.

        Raises
        ------
        ValueError
            If there is no such solver or parameter, or it cannot solve this game.
        """
        from hogeq.solvers.solving import solve

        found = solve(self.engine, solver, iterations, **parameters)
        mixture = None if found.mixture is None else self.playable(found.mixture)
        return replace(found, policy=self.playable(found.policy), mixture=mixture)

    def purify(self, strategy: StrategySpec, method: str = "argmax", **parameters: Any) -> Strategy:
        """Make a matrix of a policy by a purifier's name and parameters."""
        from hogeq.purification import purify

        target = self.strategy(strategy).whole()
        return self.playable(purify(self.engine, target, method, **parameters))

    def action_values(
        self, a: StrategySpec, b: StrategySpec | None = None, weight: RegretWeight = "reach"
    ) -> Floats:
        """Counterfactual value of every action at every information set, (G, G, K).

        In games other than Hog it is a payoff to the player who moves, (R, K); NaN where the
        information set has no such action.

        Parameters
        ----------
        a, b : strategy
            Of the player whose actions are valued, and of the other; by default the same.
        weight : {"reach", "counterfactual", "belief"}
            How hidden states are weighted: by reach, which is the gradient of the win rate; without
            the player's own actions, as CFR is defined; or given that the information set is
            reached.
        """
        one, two = self._both(a, b)
        if self.tree is None:
            return counterfactual.action_values(self._compiled, one, two, weight)
        from hogeq.trees.strategies import action_values

        return action_values(self.tree, one, one if two is None else two, weight)

    # --- games other than Hog ---------------------------------------------------------------------

    def in_policies(self, seconds: float = 60.0, method: str = "auto") -> InPolicies:
        """Value of each side in policies, enclosed: of teams the TME, whose members draw apart.

        A policy is measured by the best response of an opponent who knows it, and who, if a team or
        forgetful, may draw together. Half of the time at most solves the game in mixtures by a
        method of `equilibrium`, the rest is for branch and bound (:mod:`hogeq.trees.maxmin`). Both
        ends hold whenever the time ends.

        Raises
        ------
        ValueError
            If nobody decides, or a game of Hog has too many histories.
        """
        from hogeq.trees import maxmin
        from hogeq.trees.answers import hog_in_policies

        Budget(seconds=seconds)  # refuses what is no time
        deadline = Deadline(seconds)
        if self.tree is None:
            self.engine  # noqa: B018 - refuses two goals
            return hog_in_policies(self.hog, deadline)
        solved = self.equilibrium(seconds / 2.0, method)
        return maxmin.in_policies(self.tree, solved, deadline)

    def gaps(self, strategy: StrategySpec, seconds: float = 10.0) -> "tuple[Gaps, Gaps]":
        """How far a policy is from ex ante optimal, an EDT and a CDT equilibrium, by player.

        Of games other than Hog, with absent-mindedness or without. Each player answers the other's
        rows of the policy.
        """
        from hogeq.trees.absent import Decision

        tree, policy = self._flat, self.strategy(strategy).whole().policy
        deadline = Deadline(seconds)
        sides = [Decision.of(tree, policy, player, around=True) for player in (0, 1)]
        first, second = (
            side.gaps(policy, deadline.share(1.0 / (2 - player)))
            for player, side in enumerate(sides)
        )
        return first, second

    def joined(self, first: StrategySpec, second: StrategySpec) -> Strategy:
        """One strategy for both seats, of one of the first player and one of the second.

        Of games other than Hog: their rows are of one seat each. `Equilibrium.profile` is this of
        its two strategies.
        """
        from hogeq.strategies.strategy import joined
        from hogeq.trees.strategies import seated

        tree, two = self._flat, (self.strategy(first), self.strategy(second))
        one, other = (seated(tree, strategy, seat) for seat, strategy in enumerate(two))
        return joined(tree.seat, one, other)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the tree of a game other than Hog to a file that `Game` reads.

        Parameters
        ----------
        path : path
            ``.npz`` saves the tree, to be read at the speed of the disk; ``.efg`` is for Gambit.
        """
        from hogeq.trees.saved import save_tree
        from hogeq.trees.tree import flat_efg

        tree, suffix = self._flat, Path(path).suffix.lower()
        if suffix not in TREES[:2]:
            allowed = f"names ending in {' or '.join(TREES[:2])}"
            raise ValueError(refusal("path", str(path), allowed))
        if suffix == ".npz":
            save_tree(tree, path)
        else:
            write_whole(path, flat_efg(tree))

    # --- games of Hog -----------------------------------------------------------------------------

    @property
    def memories(self) -> tuple[Memory, ...]:
        """Every value of the hidden memory of the player to move, H of them."""
        return self._compiled.memories

    def tablebase(self) -> Any:
        """Optimal play from every position, both players seeing and remembering everything.

        A `Tablebase` in Hog, elsewhere a `FullInformation`: its `value` is the payoff to who moves
        first, and its `error` is proved.
        """
        if self.is_hog:
            return tablebase.solve(self._compiled)
        return self._full_information

    @cached_property
    def _full_information(self) -> "FullInformation":
        from hogeq.trees import full_information

        return full_information.solve(self.graph, self.units)

    def analyze(
        self,
        score: Any,
        opponent: int | None = None,
        strategy: StrategySpec | None = None,
        memory: Memory | None = None,
        past: StrategySpec | None = None,
    ) -> Any:
        """Exact win probability of every roll at a position, an `Analysis`.

        Of a game that is held by its positions, ``game.analyze(state)`` values every action of the
        player to move, who sees everything: a `PositionAnalysis`.

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
        if self.positions is not None:
            from hogeq.trees import full_information

            return full_information.analyze(self.positions, self._full_information, score)
        if opponent is None:
            raise BadInputError("opponent: missing; allowed: the score of the other player")
        plays, played = (None if one is None else self.strategy(one) for one in (strategy, past))
        return tablebase.analyze(self._compiled, score, opponent, plays, memory, played)

    def values(self, a: StrategySpec, b: StrategySpec | None = None) -> Floats:
        """Win probability of the player to move in every hidden state, (G, G, H)."""
        return values.values(self._compiled, *self._both(a, b))

    def mean_values(self, a: StrategySpec, b: StrategySpec | None = None) -> Floats:
        """Win probability of the player to move, averaged over the belief, (G, G)."""
        return values.mean_values(self._compiled, *self._both(a, b))

    def reach(self, a: StrategySpec, b: StrategySpec | None = None) -> Floats:
        """Reach probability of every hidden state, the player of `a` to move, (G, G, H)."""
        return values.reach(self._compiled, *self._both(a, b))

    def belief(
        self, score: int, opponent: int, a: StrategySpec, b: StrategySpec | None = None
    ) -> Floats | None:
        """Distribution of the hidden memory at a position, (H,); None if play never gets there."""
        return values.belief(self._compiled, *self._both(a, b), score, opponent)

    def components_at(
        self, score: int, opponent: int, a: StrategySpec, b: StrategySpec | None = None
    ) -> ComponentsAt | None:
        """Posterior distribution of the draws of mixtures, given that a position is reached."""
        one, two = self._both(a, b)
        return values.components_at(self._compiled, one, score, opponent, two)

    def gains(self, counter: StrategySpec, strategy: StrategySpec) -> Gains:
        """Exact gain of every cell of a counter-strategy over the rolls of a strategy."""
        usual = self.second.strategy(strategy)
        return population.gains(self._compiled, self.strategy(counter), usual)

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
        *_, best = field.improvements(self.hog, table, rivals, cells, seconds)
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
        from hogeq.contest.assessment import assess

        (rival,) = self._rivals(against)
        return assess(self.hog, self.strategy(strategy), rival)

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
        rates = round_robin(self.hog, tables, start=start, goals=goals).view(WinRates)
        rates.names = tuple(
            one.name or f"strategy {number}" for number, one in enumerate(tables, 1)
        )
        return rates

    def review(self, transcript: "Transcript | str | os.PathLike[str]") -> "Review":
        """Loss of each roll of a played game, or of its file, and how much was luck."""
        from hogeq.contest.transcript import read_transcript, review

        if isinstance(transcript, str | os.PathLike):
            transcript = read_transcript(transcript, self.rules)
        return review(self._compiled, transcript)

    def _rivals(self, given: StrategySpec | list[StrategySpec] | None) -> list[Strategy]:
        if given is None:
            from hogeq.contest.assessment import usual_reference

            given = usual_reference(self.hog)
        return [self.strategy(one) for one in (given if isinstance(given, list) else [given])]

    def _both(self, a: StrategySpec, b: StrategySpec | None) -> tuple[Strategy, Strategy | None]:
        return self.strategy(a), None if b is None else self.second.strategy(b)
