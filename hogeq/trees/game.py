"""A game other than Hog, as users hold it, and its strategies: arrays, files, other programs'."""

import os
from pathlib import Path
from typing import Any, Final

import numpy as np

from hogeq.strategies.files import is_folder, read_array
from hogeq.strategies.profiles import Infoset, profile_rows, profile_text
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import printable, shown
from hogeq.trees.engine import TreeEngine
from hogeq.trees.exact import Equilibrium, Interval, equilibrium, respond
from hogeq.trees.flat import FlatTree, mean_payoff
from hogeq.trees.gambit import from_efg
from hogeq.trees.recall import Audit, Recall

POLICY: Final = "policy.npz"  # the policy in the folder of a run
FORMS: Final = "uniform, a run, a file .npz, a policy of OpenSpiel as JSON or a profile of Gambit"


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
        if isinstance(given, str | os.PathLike):
            return self.tree.uniform() if given == "uniform" else _read(self.tree, Path(given))
        if isinstance(given, np.ndarray | list | tuple):
            return self.tree.check_strategy(given)
        return _of_profile(self.tree, given, "strategy")

    def written(self, payoff: float) -> str:
        """Write a payoff with nine decimals, or with ten digits where payoffs are tiny or huge."""
        plain = 1e-3 <= self.tree.largest_payoff * self.tree.expected < 1e9
        return f"{payoff:.9f}" if plain else f"{payoff:.9e}"

    def payoff(self, a: Any, b: Any) -> float:
        """Compute the payoff to strategy `a` against `b`, averaged over both seats."""
        return mean_payoff(self.tree, self.strategy(a), self.strategy(b))

    def attack(self, strategy: Any, seconds: float = 60.0) -> Interval:
        """Find the best response to a strategy by an integer program, within so many seconds.

        Returns
        -------
        Interval
            ``attack``, the payoff of the response found; ``bound``, which no response exceeds;
            ``is_proved`` if they meet within 1e-9 of the most that players can expect;
            ``full_memory``; and the response, ``strategy``.

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
        """Solve the game in mixtures; ``lower`` and ``upper`` bound its value to player 0.

        ``is_proved`` if they meet within 1e-9 of the most that players can expect.
        """
        return equilibrium(self.tree, seconds)

    def audit(self) -> tuple[Audit, Audit]:
        """Say which recall each player has, with two histories where it fails."""
        return Recall(self.tree, 0).audit(), Recall(self.tree, 1).audit()


def load_tree(game: str, forget: str | None = None) -> FlatTree:
    """Build the tree of a game that is named as OpenSpiel does, or by its .efg file."""
    if game.endswith(".efg"):
        return from_efg(game, forget=forget)
    tree: FlatTree = openspiel_package().from_openspiel(game, forget=forget)
    return tree


def openspiel_package() -> Any:
    """Import what needs OpenSpiel; `ValueError` where that is not installed."""
    try:
        from hogeq.trees import openspiel
    except ImportError as error:
        raise ValueError(str(error)) from error
    return openspiel


def _read(tree: FlatTree, path: Path) -> Floats:
    path = path / POLICY if is_folder(path) else path
    name = printable(path)
    if not os.access(path, os.F_OK):
        raise ValueError(f"strategy: got {shown(str(path))}; allowed: {FORMS}")
    if path.suffix == ".npz":
        policy = read_array(path, "policy", (tree.num_rows, tree.num_actions))
        return tree.check_strategy(policy, name)
    text = profile_text(path)
    if text is None:
        raise ValueError(f"{name}: is no strategy of a tree; allowed: {FORMS}")
    return _of_profile(tree, text, name)


def _of_profile(tree: FlatTree, given: Any, where: str) -> Floats:
    rows = order_of_rows(tree)
    counts, states = tree.num_legal, tree.names if tree.states is None else tree.states
    infosets = []
    for row in rows:
        moves = tree.moves[row, : counts[row]].tolist()
        # OpenSpiel 2.0.2 gives the actions of a file's node their numbers in rising order.
        moves = moves if tree.states is None else sorted(moves)
        infosets.append(Infoset((str(states[row]),), moves))
    strategy = np.zeros(tree.moves.shape)
    for row, chances in zip(rows, profile_rows(given, infosets, where), strict=True):
        strategy[row, : counts[row]] = chances
    return tree.check_strategy(strategy, where)


def order_of_rows(tree: FlatTree) -> Ints:
    """Rows by seat, in the order in which a walk through the tree first meets them."""
    sizes = np.ones(tree.num_nodes, int)  # of the tree below each node
    for level in reversed(tree.levels[1:]):
        np.add.at(sizes, tree.parent[level], sizes[level])
    place = np.zeros(tree.num_nodes, int)
    for level, starts, _ in tree.families:
        before = np.cumsum(sizes[level]) - sizes[level]
        older = before - np.repeat(before[starts], np.diff(starts, append=len(before)))
        place[level] = place[tree.parent[level]] + 1 + older
    first = np.full(tree.num_rows, tree.num_nodes)
    moves = tree.row >= 0
    np.minimum.at(first, tree.row[moves], place[moves])
    return np.lexsort((first, tree.seat))
