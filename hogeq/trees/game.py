"""A game other than Hog, as users hold it."""

import os
from typing import Any

from hogeq.support.aliases import Floats
from hogeq.trees.engine import TreeEngine
from hogeq.trees.equilibrium import Equilibrium, equilibrium
from hogeq.trees.exact import Interval, respond
from hogeq.trees.flat import FlatTree, mean_payoff
from hogeq.trees.policies import tree_strategy
from hogeq.trees.recall import Audit, Recall


class TreeGame:
    """A finite two-player zero-sum game; payoffs are its own, averaged over both seats.

    A strategy covers the information sets of both seats: ``"uniform"``; float64 (R, K) with rows as
    in `tree`, those of player 0 first; a policy of OpenSpiel; or a file of
    :meth:`strategy`. Made by :meth:`hogeq.Game.from_openspiel` and
    :meth:`hogeq.Game.from_efg`.

    Attributes
    ----------
    tree : FlatTree
        The game as arrays of nodes.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game.from_openspiel("kuhn_poker")
    >>> game
    TreeGame(kuhn_poker(): 58 nodes, 12 infosets)
    >>> round(game.attack("uniform").attack, 6)  # NashConv of the uniform policy is twice that
    0.458333
    >>> round(game.equilibrium().lower, 6)  # Kuhn 1950: -1/18
    -0.055556
    """

    def __init__(self, tree: FlatTree) -> None:
        self.tree = tree

    def __repr__(self) -> str:
        """Name the game and say its size."""
        return repr(self.tree).replace("FlatTree", "TreeGame", 1)

    @property
    def engine(self) -> TreeEngine:
        """What solvers and searches take; :func:`TreeEngine.legal` folds their strategies.

        Raises
        ------
        ValueError
            If the information sets of a player have no order.
        """
        return TreeEngine(self.tree)

    def strategy(self, given: Any) -> Floats:
        """Check a strategy of this game.

        Parameters
        ----------
        given : str, path, array_like, mapping or policy of OpenSpiel
            ``"uniform"``; a run's folder; a file: ``.npz`` with an array ``policy``, a policy of
            OpenSpiel as JSON, or a profile of Gambit (:mod:`hogeq.strategies.profiles`);
            probabilities (R, K); or a tabular policy of OpenSpiel, or what its ``to_dict`` gives.

        Returns
        -------
        float64 (R, K)

        Raises
        ------
        ValueError
            If it is none of these, or not one of this game.
        """
        return tree_strategy(self.tree, given)

    def payoff(self, a: Any, b: Any) -> float:
        """Compute the payoff to strategy `a` against `b`, averaged over both seats."""
        return mean_payoff(self.tree, self.strategy(a), self.strategy(b))

    def attack(self, strategy: Any, seconds: float = 60.0) -> Interval:
        """Find the best response to a strategy by an integer program, within so many seconds.

        Returns
        -------
        Interval
            ``attack``, the payoff of the response found; ``bound``, which no response exceeds;
            ``is_proved`` if they meet; ``full_memory``; and the response, ``strategy``.

        Raises
        ------
        ValueError
            If a player can meet an information set twice in a play.
        """
        return respond(self.tree, self.strategy(strategy), seconds)

    def bound(self, strategy: Any) -> float:
        """Payoff of a responder who forgets nothing of the own past: no response has more."""
        return respond(self.tree, self.strategy(strategy), 0.0).full_memory

    def equilibrium(self, seconds: float = 60.0) -> Equilibrium:
        """Solve the game in mixtures; ``lower`` and ``upper`` bound its value to player 0."""
        return equilibrium(self.tree, seconds)

    def audit(self) -> tuple[Audit, Audit]:
        """Say which recall each player has, with two histories where it fails."""
        return Recall(self.tree, 0).audit(), Recall(self.tree, 1).audit()


def load_tree(game: str, forget: str | None = None) -> FlatTree:
    """Build the tree of a game that is named as OpenSpiel does, or by its .efg file."""
    try:
        from hogeq.trees.openspiel import reading
    except ImportError as error:
        raise ValueError(str(error)) from error
    read = reading.from_efg if game.endswith(".efg") else reading.from_openspiel
    return read(game, forget=forget)


def from_openspiel(game: Any, **options: Any) -> TreeGame:
    """Build a game of OpenSpiel; see :func:`hogeq.trees.openspiel.reading.from_openspiel`."""
    from hogeq.trees.openspiel import reading

    return TreeGame(reading.from_openspiel(game, **options))


def from_efg(path: str | os.PathLike[str], **options: Any) -> TreeGame:
    """Read a game in Gambit's extensive form."""
    from hogeq.trees.openspiel import reading

    return TreeGame(reading.from_efg(path, **options))
