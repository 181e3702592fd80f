"""`Game`, which every game is; it finds the class of the game that it is given."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from hogeq.evaluation.counterfactual import RegretWeight, kkt_gap
from hogeq.games.given import Forget, HogName, StrategySpec
from hogeq.graph.graph import Graph
from hogeq.model.protocol import Engine
from hogeq.rules import Rules
from hogeq.search.results import (
    Budget,
    Equilibrium,
    InPolicies,
    Interval,
    Response,
    Units,
)
from hogeq.search.values import Value
from hogeq.strategies.conversion import StrategyLike
from hogeq.strategies.infosets import NamedRows
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError, nearest, refusal
from hogeq.support.parameters import NotNegative, check
from hogeq.support.teams import Teams

if TYPE_CHECKING:
    from hogeq.analysis.difference import Difference
    from hogeq.evaluation.tablebase import Tablebase
    from hogeq.games.hog import Hog
    from hogeq.model.priced import Problem
    from hogeq.search.certificate_files import Certificate, OtherGame
    from hogeq.solvers.solving import Solution
    from hogeq.trees.flat import FlatTree
    from hogeq.trees.full_information import FullInformation
    from hogeq.trees.positions import Positions

Result = TypeVar("Result")

INSTEAD = {"win_rate": "; game.value gives payoffs here"}
"""What to ask in place of an attribute that games of another kind have."""


class OtherGameError(AttributeError, HogeqError):
    """Refusal of an attribute that games of another kind have."""


class Game:
    """A game: Hog by some rules, any finite zero-sum game of two players or teams, or one player's.

    ``Game(...)`` finds out what it is given and is of its kind: a `Hog`, or another subclass. All
    have what is listed here. The classes of kinds add what has a meaning in their games alone, and
    an object has no method that it would refuse. Of Hog see ``help(hogeq.Hog)``, of games that have
    a tree, as Kuhn's and Leduc poker, ``help(hogeq.TreeGame)``.

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

    Raises
    ------
    ValueError
        If there is no such game, or it has too many positions, or payoffs have no constant sum.

    Examples
    --------
    >>> import hogeq
    >>> hogeq.Game("kuhn_poker")
    Game(kuhn_poker(): 58 nodes, 12 infosets)
    >>> round(hogeq.Game("kuhn_poker").attack("uniform").value, 4)
    0.4583
    >>> type(hogeq.Game("fa25")).__name__
    'Hog'
    """

    trust: bool
    _found: Rules | FlatTree | Positions

    @overload
    def __new__(
        cls,
        given: HogName | Mapping[str, object] | Rules,
        *,
        forget: None = None,
        teams: None = None,
        trust: bool = False,
    ) -> Hog: ...

    @overload
    def __new__(
        cls, given: object, *, forget: Forget = None, teams: Teams = None, trust: bool = False
    ) -> Game: ...

    def __new__(
        cls,
        given: object = None,
        *,
        forget: Forget = None,
        teams: Teams = None,
        trust: bool = False,
    ) -> Self:
        """Load the game that `given` stands for, and create an object of its kind's class."""
        if cls is not Game:
            if cls._rows is Game._rows:  # `_rows` is abstract: a kind of game defines it
                allowed = "subclasses of hogeq.Hog, say; Game itself chooses the kind"
                raise TypeError(f"{cls.__name__}: is no kind of game; allowed: {allowed}")
            return super().__new__(cls)
        from hogeq.trees.loading import find_game

        loaded = find_game(given, forget, trust, teams)
        game: Any = object.__new__(_kind_of(loaded))
        game._found = loaded  # noqa: SLF001 - for its __init__, which is called next
        return game

    def _find(self, given: object, forget: Forget, teams: Teams, trust: bool) -> Any:
        """Take what `Game` loaded when it chose the class, else load it; refuse another kind."""
        from hogeq.trees.loading import find_game

        self.trust = trust
        loaded = self.__dict__.pop("_found", None)
        if loaded is None:
            loaded = find_game(given, forget, trust, teams)
        if not isinstance(self, _kind_of(loaded)):
            (allowed,) = (plural for plural, kind in _kinds().items() if isinstance(self, kind))
            raise HogeqError(refusal("game", loaded.name, allowed))
        return loaded

    def __getattr__(self, name: str) -> Any:
        """Raise for a missing attribute; `OtherGameError` if games of another kind have it.

        Python calls this when it does not find an attribute.
        """
        if name.startswith("_") or hasattr(type(self), name):
            return object.__getattribute__(self, name)  # raises its own error
        refusal_line = self._lacks(name)
        if refusal_line:
            raise OtherGameError(refusal_line, name=name, obj=self)
        kind = type(self).__name__
        near = nearest(name, dir(self))
        raise AttributeError(f"{kind!r} object has no attribute {name!r}{near}")

    def _lacks(self, name: str) -> str:
        """Write a refusal that says which games have an attribute; empty if none has."""
        kinds_that_have = [plural for plural, kind in _kinds().items() if has(kind, name)]
        allowed = f"{' and '.join(kinds_that_have)}{INSTEAD.get(name, '')}"
        return f"{self.name}: has no {name}; allowed: {allowed}" if kinds_that_have else ""

    @property
    def _rows(self) -> NamedRows:
        """What the rows of its strategies are called."""
        raise NotImplementedError

    def _named(self, result: Result) -> Result:
        """Attach the names of rows to a strategy, or to every strategy inside a result.

        Returns a copy; anything else is returned as it is.
        """
        named: Any = result
        if isinstance(named, Strategy) and named.rows != self._rows:
            named = replace(named, rows=self._rows)
        elif type(named) is tuple:
            named = tuple(map(self._named, named))
        elif isinstance(named, Response | Equilibrium | InPolicies):
            values = {field.name: getattr(named, field.name) for field in fields(named)}
            named = replace(named, **{name: self._named(value) for name, value in values.items()})
        typed: Result = named
        return typed

    @property
    def name(self) -> str:
        """Name of the rules or of the tree.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> game.name
        'kuhn'
        """
        raise NotImplementedError

    @property
    def units(self) -> Units:
        """Units of this game: how figures are written, and the value of an even game.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> game.units.figure, game.units.even
        ('payoff', 0.0)
        """
        raise NotImplementedError

    @property
    def infosets(self) -> list[Hashable]:
        """Information sets of both players, as ``strategy[infoset]`` asks for them.

        They are names; in Hog the pairs of the own score and the opponent's. Where both players
        have a name it is that of the player and the name.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> game.infosets[:4]
        ['0 ', '0 cb', '1 ', '1 cb']
        >>> game.strategy("uniform")["0 cb"]
        {'fold': 0.5, 'call': 0.5}
        >>> hogeq.Game({"edition": "su20", "goal": 2, "max_dice": 1}).infosets
        [(0, 0), (0, 1), (1, 0), (1, 1)]
        """
        return [row.key for row in self._rows.listed()]

    @property
    def graph(self) -> Graph:
        """The game as arrays, both players live: what any algorithm can stand on.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> game.graph.positions
        28
        """
        raise NotImplementedError

    @property
    def engine(self) -> Engine:
        """The game's passes, as solvers and purifiers take them.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> game.engine.shape
        (12, 2)
        """
        raise NotImplementedError

    def strategy(self, given: StrategySpec) -> Strategy:
        """Make a strategy of this game, checked.

        Parameters
        ----------
        given : str, path, array_like, Mixture, Strategy or result
            A name: in Hog one of ``hogeq.BASELINES``, in other games ``"uniform"``; a file; a run's
            folder; a matrix, an action for every row; a policy, probabilities; a mixture of such; a
            tabular policy of OpenSpiel, or what its ``to_dict`` gives; what `equilibrium`, `solve`
            or `attack` returned.

        Raises
        ------
        StrategyError
            If there is no such name or file, or its first bad cell.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> game.strategy("uniform")
        Strategy(uniform; policy; 12 x 2)
        >>> game.strategy(game.equilibrium()).kind
        'policy'
        """
        raise NotImplementedError

    def value(self, a: StrategySpec, b: StrategySpec | None = None) -> Value:
        """Exact payoff to strategy `a` against `b`, by default itself: in Hog its win rate.

        Of an equilibrium, ``game.value(solved).first`` is the value of the game to the first side.

        Raises
        ------
        StrategyError
            If a strategy is refused.
        ValueError
            If a game between the two may never end.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> round(game.value("uniform").first, 4)
        0.125
        >>> round(game.value("uniform", game.equilibrium()).first, 4)
        -0.1667
        """
        raise NotImplementedError

    def attack(self, strategy: StrategySpec, budget: Budget | None = None) -> Response:
        """Find the best response to a strategy, and a bound that no response exceeds.

        Where the responder forgets, the response is searched for (:mod:`hogeq.search`), and an
        integer program goes on for ``budget.exact_seconds``. ``hogeq.Budget(seconds=3)`` limits
        the time of both.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> response = game.attack("uniform", hogeq.Budget(seconds=3))
        >>> round(response.value, 4), response.is_proved
        (0.4583, True)
        >>> response.strategy["1 b"]  # with the queen, against a bet
        {'fold': 0.0, 'call': 1.0}
        """
        raise NotImplementedError

    def bound(self, strategy: StrategySpec) -> float:
        """Upper bound on the value of any response.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> round(game.bound("uniform"), 4)
        0.4583
        """
        raise NotImplementedError

    def exploitability(self, strategy: StrategySpec, budget: Budget | None = None) -> Interval:
        """Interval that contains the exploitability of a strategy: half of its NashConv.

        It is what a best response gets beyond an even game: 0 for an equilibrium.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> interval = game.exploitability("uniform")
        >>> round(interval.lower, 4), round(interval.upper, 4)
        (0.4583, 0.4583)
        """
        response = self.attack(strategy, budget)
        return Interval(*response.units.beyond(*response.ends), response)

    def equilibrium(self, seconds: float = 60.0, method: str = "auto") -> Equilibrium:
        """Solve the game in mixtures, which are mixed strategies; best responses prove both ends.

        Raises
        ------
        ValueError
            If the game is not for the method.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> solved = game.equilibrium(seconds=5)
        >>> round(solved.lower, 6), round(solved.upper, 6), solved.is_proved
        (-0.055556, -0.055556, True)
        >>> first, second = solved.strategies
        >>> second["2 b"]  # with the king, against a bet
        {'fold': 0.0, 'call': 1.0}
        """
        raise NotImplementedError

    def solve(self, solver: str, iterations: int = 100, **parameters: object) -> Solution:
        """Solve by a solver's name and parameters, as a run does.

        The result has the strategy, and measures its exploitability and the curve of that if it is
        asked for them.

        Parameters
        ----------
        solver : str
            A name of ``hogeq.SOLVERS``; ``print(hogeq.SOLVERS)`` lists them.
        iterations : int
            Iterations; a hundred are seconds in small games and minutes in Hog to 100.
        **parameters
            Those of the solver: ``help(hogeq.SOLVERS["cfr_plus"])`` explains them.

        Raises
        ------
        ValueError
            If there is no such solver or parameter, or it cannot solve this game.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> solution = game.solve("cfr_plus", iterations=100)
        >>> solution.exploitability.upper < 0.01
        True
        >>> solution.strategy.kind
        'policy'
        """
        from hogeq.solvers import solving

        solution = solving.solve(self.engine, solver, iterations, **parameters)
        snapshots = [
            snapshot._replace(strategy=self.playable(snapshot.strategy))
            for snapshot in solution.snapshots
        ]
        last_strategy = snapshots[-1].strategy  # the mixture if there is one, else the policy
        is_policy = solution.mixture is None
        return replace(
            solution,
            policy=last_strategy if is_policy else self.playable(solution.policy),
            mixture=None if is_policy else last_strategy,
            snapshots=tuple(snapshots),
            measure=self.exploitability,
            units=self.units,
        )

    def purify(
        self,
        strategy: StrategySpec,
        method: str = "argmax",
        seconds: float | None = None,
        **parameters: object,
    ) -> Strategy:
        """Make a matrix of a policy by a purifier's name and parameters.

        After so many `seconds` it is the best matrix so far; a purifier of your own has to look at
        the time itself.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> solution = game.solve("cfr_plus", iterations=20)
        >>> game.purify(solution.strategy)
        Strategy(matrix; 12 x 2)
        """
        from hogeq.purification import purify

        target = self.strategy(strategy).whole()
        if seconds is None:
            deadline = FOREVER
        else:
            check(NotNegative, seconds=seconds)
            deadline = Deadline(seconds)
        return self.playable(purify(self.engine, target, method, deadline, **parameters))

    def playable(self, solved: StrategyLike, name: str = "strategy") -> Strategy:
        """Make a strategy of the result of a solver or purifier.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> import numpy as np
        >>> game.playable(np.full(game.engine.shape, 0.5), "coins")
        Strategy(policy; 12 x 2)
        """
        raise NotImplementedError

    def diff(
        self,
        first: StrategySpec,
        second: StrategySpec,
        against: StrategySpec | list[StrategySpec] | None = None,
    ) -> Difference:
        """Value every information set in which two strategies differ.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> matrix = game.purify("uniform")
        >>> change = game.diff(matrix, "uniform").changes[0]
        >>> change.infoset, change.after, round(change.gain, 4)
        ('0 ', [('check', 0.5), ('bet', 0.5)], 0.1667)
        """
        raise NotImplementedError

    def kkt_gap(self, strategy: StrategySpec) -> float:
        """Measure how far a policy is from a stationary point of self-play, in the game's units.

        It is 0 where a best response to itself is; that is necessary for an equilibrium among
        policies, and under imperfect recall not sufficient.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> round(game.kkt_gap("uniform"), 4)
        0.5625
        >>> game.kkt_gap(game.equilibrium()) < 1e-9
        True
        """
        gap = kkt_gap(self.engine, self.strategy(strategy).policy)
        return gap * self.engine.payoff_per_win_rate

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

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> game.action_values("uniform")[0].round(4).tolist()
        [-0.4167, -0.1667]
        """
        raise NotImplementedError

    @staticmethod
    def require(name: str) -> None:
        """Refuse a text that names no game other than Hog; nothing is built.

        Examples
        --------
        >>> import hogeq
        >>> hogeq.Game.require("kuhn")
        """
        from hogeq.trees.loading import require_game

        require_game(name)

    @staticmethod
    def require_strategy(name: str, *, hog: bool) -> None:
        """Refuse a text that names neither a strategy, of Hog or of other games, nor a file.

        Examples
        --------
        >>> import hogeq
        >>> hogeq.Game.require_strategy("always_roll:6", hog=True)
        """
        if hog:
            from hogeq.baselines.registry import require_known

            return require_known(name)
        from hogeq.trees.strategies import require_named

        return require_named(name)

    def certify(
        self,
        strategy: StrategySpec,
        seconds: float,
        name: str = "",
        forget: str | None = None,
        teams: str | None = None,
    ) -> Certificate:
        """Search for `seconds` for an upper bound on all responses to a strategy, with its proof.

        The certificate says how games other than Hog are loaded: by `name`, by default the game's
        own, with what players `forget`, and `teams`.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> certificate = game.certify("uniform", seconds=1.0)
        >>> round(certificate.bound, 4)
        0.4583
        """
        from hogeq.search import certificate

        game_description = self._about(name or self.name, forget, teams)
        target = self.strategy(strategy).whole()
        proofs = certificate.certify(self._problems(target), seconds, shown=self.units.exact)
        return certificate.certificate_of(game_description, target, proofs)

    def check(self, certificate: Certificate) -> Certificate:
        """Prove a certificate of this game again; nothing else that it says is believed.

        Raises
        ------
        CertificateError
            If it is about another game, or its steps are none.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> certificate = game.certify("uniform", seconds=1.0)
        >>> game.check(certificate).bound == certificate.bound
        True
        """
        raise NotImplementedError

    def _about(self, name: str, forget: str | None, teams: str | None) -> Rules | OtherGame:
        """Give what a certificate says of the game; a game that can have none is refused."""
        raise NotImplementedError

    def _problems(self, strategy: StrategySpec) -> Sequence[Problem]:
        """Pose the problems of a responder to a strategy, as certificates take them.

        There is one for each seat, and for each part of a mixture if it is told the draw.
        """
        raise NotImplementedError

    def tablebase(self) -> Tablebase | FullInformation:
        """Optimal play from every position, both players seeing and remembering everything.

        Its `value` is the payoff to (in Hog: win probability of) the player who moves first.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> round(game.tablebase().value, 4)
        0.0
        """
        raise NotImplementedError


def has(kind: type[Game], name: str) -> bool:
    """Whether games of a kind have an attribute."""
    return hasattr(kind, name) or name in kind.__annotations__


def _kind_of(loaded: Rules | FlatTree | Positions) -> type[Game]:
    """Class of a game; those of the other kinds are not imported."""
    if isinstance(loaded, Rules):
        from hogeq.games.hog import Hog

        return Hog
    from hogeq.trees.flat import FlatTree

    if isinstance(loaded, FlatTree):
        from hogeq.games.tree import TreeGame

        return TreeGame
    from hogeq.games.positions import PositionGame

    return PositionGame


def _kinds() -> dict[str, type[Game]]:
    """Classes of all kinds, as a refusal names their games."""
    from hogeq.games.hog import Hog
    from hogeq.games.positions import PositionGame
    from hogeq.games.tree import TreeGame

    return {
        "games of Hog": Hog,
        "games that have a tree": TreeGame,
        "games held by their positions": PositionGame,
    }
