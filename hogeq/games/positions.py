"""Games by their positions: no tree, or a large one. Private: users hold a `Game`."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property

import numpy as np

from hogeq.evaluation.counterfactual import RegretWeight, graph_action_values
from hogeq.evaluation.enclosures import Interval
from hogeq.games.game import has
from hogeq.games.given import Forget, StrategySpec
from hogeq.games.rows import RowGame
from hogeq.graph.graph import Graph
from hogeq.model.graph_engine import GraphEngine
from hogeq.model.graph_passes import GraphPasses
from hogeq.model.priced import Problem
from hogeq.model.protocol import Role
from hogeq.search.results import PROVED, Budget, Equilibrium, Response
from hogeq.search.values import Value
from hogeq.solvers.solving import Candidate, by_solvers
from hogeq.strategies.conversion import policies_of
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.support.messages import HogeqError, refusal
from hogeq.support.parameters import NotNegative, check
from hogeq.support.teams import Teams
from hogeq.trees import full_information
from hogeq.trees.full_information import PositionAnalysis
from hogeq.trees.positions import Positions
from hogeq.trees.strategies import restrict_to_seat


class PositionGame(RowGame):
    """A game of one's own whose tree is large or has no end, held by its positions.

    A responder that sees everything bounds all others; where nothing is hidden, it is exact.

    Attributes
    ----------
    positions : Positions
        Its graph, the state of every position, in the order of the graph, and every row's name.
    engine : GraphEngine
        The graph's passes.

    Examples
    --------
    >>> import hogeq
    >>> class Race(hogeq.GameRules):
    ...     "Who first has two points; a step forward fails half of the time."
    ...
    ...     def initial(self):
    ...         return 0, 0, 0
    ...
    ...     def to_move(self, state):
    ...         return hogeq.END if 2 in state[:2] else hogeq.CHANCE if state[2] > 1 else state[2]
    ...
    ...     def actions(self, state):
    ...         return ["step"]
    ...
    ...     def chances(self, state):
    ...         return [("on", 0.5), ("stay", 0.5)]
    ...
    ...     def next(self, state, move):
    ...         first, second, who = state
    ...         if move == "step":
    ...             return first, second, who + 2
    ...         here = (first + (who == 2), second + (who == 3)) if move == "on" else state[:2]
    ...         return *here, 3 - who
    ...
    ...     def knows(self, state, player):
    ...         return state
    ...
    ...     def payoffs(self, state):
    ...         return (1, -1) if state[0] == 2 else (-1, 1)
    >>> game = hogeq.Game(Race())
    >>> game
    Game(Race: 16 positions, 8 infosets)
    >>> round(float(game.reach("uniform")[game.positions.numbers[1, 0, 1]]), 6)  # visits: it recurs
    0.888889
    >>> hasattr(game, "audit")  # recall is of histories, which need a tree
    False
    """

    positions: Positions

    def __init__(
        self, given: object, *, forget: Forget = None, teams: Teams = None, trust: bool = False
    ) -> None:
        """Hold the positions of a game."""
        self.positions = self._find(given, forget, teams, trust)

    @property
    def rows(self) -> Positions:
        """The positions: names of information sets and actions, a hash of the game."""
        return self.positions

    @cached_property
    def engine(self) -> GraphEngine:
        """The graph's passes, as solvers and purifiers take them."""
        return GraphEngine(self.graph)

    def _lacks(self, name: str) -> str:
        """Say why the game lacks what games with a tree have."""
        from hogeq.games.tree import TreeGame

        if not has(TreeGame, name):
            return super()._lacks(name)
        return (
            f"{self.name}: is held by its {self.graph.positions:,} positions, since its tree is "
            f"large or has no end, and has no {name}; allowed: what needs no tree"
        )

    @property
    def graph(self) -> Graph:
        """The game as arrays, both players live: what any algorithm can stand on."""
        return self.positions.graph

    def value(self, a: StrategySpec, b: StrategySpec | None = None) -> Value:
        """Payoff to strategy `a` against `b`, by default itself: the middle of proved bounds."""
        return full_information.value(self.positions, *self._both(a, b))

    def values(self, a: StrategySpec, b: StrategySpec | None = None) -> Floats:
        """Payoff to player 0 from every position on, (C,): `a` plays first, by default itself."""
        passes, policies = self._passes(a, b)
        passes.backward(Role.EVALUATE, policies, np.ones(1))
        return passes.values[0, :, 0]

    def reach(self, a: StrategySpec, b: StrategySpec | None = None) -> Floats:
        """Probability of coming to every position, (C,): `a` plays first, by default itself.

        Where positions recur, the expected number of visits.
        """
        passes, policies = self._passes(a, b)
        passes.forward(policies)
        return passes.reach[0, :, 0]

    def _passes(self, a: StrategySpec, b: StrategySpec | None) -> tuple[GraphPasses, Floats]:
        return GraphPasses(self.graph), policies_of(self.positions, *self._both(a, b))

    def action_values(
        self, a: StrategySpec, b: StrategySpec | None = None, weight: RegretWeight = "reach"
    ) -> Floats:
        """Counterfactual payoff of every action to the player who moves, (R, K).

        It is NaN where the information set has no such action.

        Parameters
        ----------
        a, b : strategy
            Of the player whose actions are valued, and of the other; by default the same.
        weight : {"reach", "counterfactual", "belief"}
            How positions are weighted: by reach; without the player's own actions, as CFR is
            defined, unless rows can be reached more than once; or given that the information set
            is reached.
        """
        policies = policies_of(self.positions, *self._both(a, b))
        return graph_action_values(self.graph, policies, weight)

    def attack(self, strategy: StrategySpec, budget: Budget | None = None) -> Response:
        """Find the best response to a strategy, and a bound that no response exceeds.

        Where nothing is hidden, both are exact. Elsewhere the response is searched for
        (:mod:`hogeq.search`), and the bound is what a responder gets that sees everything.

        Raises
        ------
        ValueError
            If the budget has ``exact_seconds``: an integer program needs a tree.
        """
        target = self.strategy(strategy).whole()
        response = full_information.respond_in_positions(
            self.positions, self.engine, target, Budget.of(budget)
        )
        return self._named(response)

    def bound(self, strategy: StrategySpec) -> float:
        """Upper bound on the value of any response, by full information."""
        return full_information.bound(self.positions, self.strategy(strategy).whole())

    def _problems(self, strategy: StrategySpec) -> list[Problem]:
        """Pose the problems of a responder who sees everything, also which policy was drawn.

        There is one for each policy of a mixture and each seat, weighted by its probability.
        """
        target = self.strategy(strategy).whole()
        components = zip(target.policies, target.chances.tolist(), strict=True)
        return [
            Problem(graph=self.graph, seat=seat, policy=policy, chance=probability / 2.0)
            for policy, probability in components
            for seat in (0, 1)
        ]

    def equilibrium(self, seconds: float = 60.0, method: str = "auto") -> Equilibrium:
        """Solve the game; what both sides secure against opponents who see everything is proved.

        Where nothing is hidden, optimal play is pure, and proves the value. Elsewhere self-play and
        the solver ``mixture_bundle`` look for strategies in half of the time, unless bounds take a
        quarter; the one of which both sides secure most is given.

        Raises
        ------
        ValueError
            If `method` is not ``auto``.
        """
        check(NotNegative, seconds=seconds)
        if method != "auto":
            raise HogeqError(refusal("method", method, "auto for games held by their positions"))
        deadline = Deadline(seconds)
        positions = self.positions
        if positions.is_open:
            strategy, iterations = full_information.optimal(positions, deadline.share(0.5))
            candidates = [Candidate(strategy, "tablebase", iterations)]
        else:
            time_for_bounds = deadline.share(0.25)
            uniform = self.strategy("uniform")
            candidates = [Candidate(uniform, "uniform")]
            if positions.graph.recurring.any():
                # Time a pass over recurring positions, which may be slow; other passes are short.
                full_information.secured(positions, uniform, time_for_bounds)
            if not full_information.are_passes_slow(positions, time_for_bounds):
                candidates = by_solvers(self.engine, deadline.share(0.6))
        best, (lower, upper) = self._most_secured(candidates, deadline)
        profile, found_by, iterations = best
        first, second = (restrict_to_seat(positions, profile, seat) for seat in (0, 1))
        units = positions.units
        solved = Equilibrium(
            lower=lower,
            upper=upper,
            strategies=(first, second),
            is_proved=upper - lower <= PROVED * units.per_rate and units.are_one(lower, upper),
            method=found_by,
            effort={"iterations": iterations, "components": [len(profile.chances)] * 2},
            seconds=deadline.spent,
            units=units,
            seats=positions.seat,
        )
        return self._named(solved)

    def _most_secured(
        self, candidates: list[Candidate], deadline: Deadline
    ) -> tuple[Candidate, Interval]:
        """Choose the candidate that leaves the least gap between what both sides secure.

        Also returns the interval. Bounds of each have an equal share of the time.
        """
        intervals = []
        for number, candidate in enumerate(candidates):
            limit = deadline.share(1.0 / (len(candidates) - number))
            intervals.append(full_information.secured(self.positions, candidate.strategy, limit))
        best = int(np.argmin([upper - lower for lower, upper in intervals]))
        return candidates[best], intervals[best]

    def analyze(self, state: Hashable) -> PositionAnalysis:
        """Value every action of the player to move at a state, who sees everything."""
        return full_information.analyze(self.positions, self._full_information, state)
