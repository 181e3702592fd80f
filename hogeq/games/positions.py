"""Games held by their positions: no tree, or too large a one. Private: users hold a `Game`."""

from collections.abc import Hashable
from functools import cached_property

from hogeq.games.game import Game, has
from hogeq.games.given import Forget, StrategySpec
from hogeq.graph.graph import Graph
from hogeq.search.results import Budget, Equilibrium, Response, Units, Value
from hogeq.strategies.strategy import Strategy, joined
from hogeq.support.deadline import Deadline
from hogeq.support.messages import BadInputError, HogeqError, refusal
from hogeq.trees import full_information
from hogeq.trees.full_information import FullInformation, PositionAnalysis
from hogeq.trees.positions import Positions
from hogeq.trees.strategies import seated, tree_strategy
from hogeq.trees.teams import Teams


class PositionGame(Game):
    """A game of one's own whose tree is too large or has no end, held by its positions.

    Who hides nothing from the players is solved, attacked and bounded exactly.

    Attributes
    ----------
    positions : Positions
        Its graph, the state of every position and the name of every row.

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
    >>> hasattr(game, "solve")  # solvers need a tree
    False
    """

    positions: Positions

    def __init__(
        self, given: object, *, forget: Forget = None, teams: Teams = None, trust: bool = False
    ) -> None:
        """Hold the positions of a game."""
        found = self._find(given, forget, teams, trust)
        if not isinstance(found, Positions):
            raise BadInputError(refusal("game", found.name, "games held by their positions"))
        self.positions = found

    @property
    def _held(self) -> Positions:
        return self.positions

    def _lacks(self, name: str) -> str:
        """Say why the game lacks what games with a tree have."""
        from hogeq.games.tree import TreeGame

        if not has(TreeGame, name):
            return super()._lacks(name)
        return (
            f"{self.name}: is held by its {self.graph.positions:,} positions, since its tree is "
            f"too large or has no end, and has no {name}; allowed: what needs no tree"
        )

    @property
    def _rows(self) -> Positions:
        return self.positions

    @property
    def units(self) -> Units:
        """Units of this game: its payoffs, and the value of an even game."""
        return self.positions.units

    @property
    def graph(self) -> Graph:
        """The game as arrays, both players live: what any algorithm can stand on."""
        return self.positions.graph

    def strategy(self, given: StrategySpec) -> Strategy:
        """Make a strategy of this game, checked: its rows are those of `positions`.

        Parameters
        ----------
        given : str, path, array_like, Mixture, Strategy or result
            ``"uniform"``; a file; actions (R,); probabilities (R, K); a mixture of such; what
            `equilibrium` or `attack` returned.

        Raises
        ------
        StrategyError
            If there is no such name or file, or its first bad cell.
        """
        return self._named(tree_strategy(self.positions, given))

    def value(self, a: StrategySpec, b: StrategySpec | None = None) -> Value:
        """Payoff to strategy `a` against `b`, by default itself: the middle of proved bounds."""
        one, two = self.strategy(a), self.strategy(a if b is None else b)
        return full_information.value(self.positions, one, two)

    def attack(self, strategy: StrategySpec, budget: Budget | None = None) -> Response:  # noqa: ARG002
        """Find the best response to a strategy: exact, so that there is no effort to choose.

        Raises
        ------
        ValueError
            If the game hides something from the players, or of a mixture.
        """
        target = self.strategy(strategy).whole()
        return self._named(full_information.respond(self.positions, target))

    def bound(self, strategy: StrategySpec) -> float:
        """Upper bound on the value of any response, by full information."""
        return full_information.bound(self.positions, self.strategy(strategy).whole())

    def equilibrium(self, seconds: float = 60.0, method: str = "auto") -> Equilibrium:
        """Solve the game by optimal play, which is pure; both ends are proved.

        Raises
        ------
        ValueError
            If the game hides something from the players.
        """
        Budget(seconds=seconds)  # refuses what is no time
        if method != "auto":
            raise HogeqError(refusal("method", method, "auto for games held by their positions"))
        return self._named(full_information.equilibrium(self.positions, Deadline(seconds)))

    def tablebase(self) -> FullInformation:
        """Optimal play from every position, both players seeing everything.

        Its `value` is the payoff to who moves first, and its `error` is proved.
        """
        return self._full_information

    @cached_property
    def _full_information(self) -> FullInformation:
        return full_information.solve(self.graph, self.units)

    def analyze(self, state: Hashable) -> PositionAnalysis:
        """Value every action of the player to move at a state, who sees everything."""
        return full_information.analyze(self.positions, self._full_information, state)

    def joined(self, first: StrategySpec, second: StrategySpec) -> Strategy:
        """One strategy for both seats, of one of the first player and one of the second.

        `Equilibrium.profile` is this of its two strategies.
        """
        held, two = self.positions, (self.strategy(first), self.strategy(second))
        one, other = (seated(held, strategy, seat) for seat, strategy in enumerate(two))
        return joined(held.seat, one, other)
