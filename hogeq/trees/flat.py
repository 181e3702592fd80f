"""Any finite two-player zero-sum game as flat arrays of nodes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import printable, refusal

CHANCE: Final = -1
TERMINAL: Final = -2
ROW_SUM: Final = 1e-9  # by which the sum of a row may differ from 1


@dataclass(frozen=True, eq=False, repr=False)
class FlatTree:
    """A finite two-player zero-sum game: N nodes by depth, children of one node side by side.

    A strategy covers the information sets of both seats, its rows: float64 (R, K), rows of player 0
    first. Where a row has fewer than K actions, the others have probability 0.

    Attributes
    ----------
    name : str
    player : int8 (N,)
        Who moves: 0, 1, `CHANCE` or `TERMINAL`.
    parent : int64 (N,)
        Index of the node before, -1 for the root.
    row : int64 (N,)
        Information set of the player to move, -1 where none moves.
    action : int64 (N,)
        Which action of the parent leads here, from 0; 0 for the root.
    chance : float64 (N,)
        Probability of that action where chance moves, 1 elsewhere.
    payoff : float64 (N,)
        To player 0 at terminal nodes, 0 elsewhere.
    move : int64 (N,)
        The action's number in the game that the tree was made of.
    seat : int8 (R,)
        Whose row it is.
    num_legal : int64 (R,)
    names : sequence of str, length R
        What the player knows there, in the game's words.
    describe : callable
        Writes the moves of a history in the game's words.
    """

    name: str
    player: NDArray[np.int8]
    parent: Ints
    row: Ints
    action: Ints
    chance: Floats
    payoff: Floats
    move: Ints
    seat: NDArray[np.int8]
    num_legal: Ints
    names: Sequence[str]
    describe: Callable[[Sequence[int]], list[str]]

    def __repr__(self) -> str:
        """Name the game and say its size."""
        return f"FlatTree({self.name}: {self.num_nodes:,} nodes, {self.num_rows:,} infosets)"

    @property
    def num_nodes(self) -> int:
        """Number of nodes, N."""
        return len(self.parent)

    @property
    def num_rows(self) -> int:
        """Number of information sets of both players, R."""
        return len(self.seat)

    @cached_property
    def num_actions(self) -> int:
        """Most actions of an information set, K."""
        return int(self.num_legal.max(initial=1))

    @cached_property
    def legal(self) -> NDArray[np.bool_]:
        """Which actions a row has, (R, K)."""
        return np.arange(self.num_actions) < self.num_legal[:, None]

    @cached_property
    def levels(self) -> list[slice]:
        """Nodes of each depth, the root's level first."""
        starts, first = [0, 1], 1
        while first < self.num_nodes:
            # Nodes lie by depth: a level ends where parents are no longer in the one before.
            last = int(np.searchsorted(self.parent, first, side="left"))
            starts.append(last)
            first = last
        return [slice(*pair) for pair in pairwise(starts)]

    @cached_property
    def edge(self) -> Ints:
        """Index of each node's action in a flattened strategy (R * K); -1 where chance moved."""
        row = self.row[np.maximum(self.parent, 0)]
        edge = np.where(row >= 0, row * self.num_actions + self.action, -1)
        edge[0] = -1
        return edge

    @cached_property
    def mover(self) -> NDArray[np.int8]:
        """Who moved to come to each node; `CHANCE` for the root."""
        mover = self.player[np.maximum(self.parent, 0)].copy()
        mover[0] = CHANCE
        return mover

    def uniform(self) -> Floats:
        """Strategy that plays every legal action alike, (R, K)."""
        return self.legal / self.num_legal[:, None]

    def check_strategy(self, given: str | ArrayLike, name: str = "strategy") -> Floats:
        """Refuse what is neither ``"uniform"`` nor probabilities of legal actions, (R, K)."""
        if isinstance(given, str):
            if given != "uniform":
                raise ValueError(refusal(name, given, "uniform, or an array"))
            return self.uniform()
        rows, shape = np.asarray(given, np.float64), (self.num_rows, self.num_actions)
        if rows.shape != shape:
            raise ValueError(f"{name}: is of shape {rows.shape}; allowed: {shape}")
        wrong = ~(np.isfinite(rows) & (rows >= 0.0)) | ((rows > 0.0) & ~self.legal)
        bad = np.flatnonzero(wrong.any(axis=1) | (np.abs(rows.sum(axis=1) - 1.0) > ROW_SUM))
        if len(bad):
            raise ValueError(
                f"{name}: information set {bad[0]} ({printable(self.names[bad[0]])}): allowed:"
                " probabilities of legal actions that sum to 1"
            )
        return rows

    def history(self, node: int) -> list[str]:
        """Write the history of a node, a move each, in the game's words."""
        moves = []
        while node > 0:
            moves.append(int(self.move[node]))
            node = int(self.parent[node])
        return self.describe(moves[::-1])
