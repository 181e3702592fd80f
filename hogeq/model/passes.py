"""Which kernels pass over a game: one function chooses among three layouts."""

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import DTypeLike

from hogeq.model.cell_passes import CellPasses
from hogeq.model.interpreter import Interpreter
from hogeq.model.memory_passes import MemoryPasses
from hogeq.support.aliases import Floats

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine


class Passes(Protocol):
    """Passes of one player, in self-play or against n opponents.

    Policies are (1, G, G, K) in self-play, else (1 + n, G, G, K), the player's first.
    """

    weights: Floats
    """(n,), of the opponents in the mixture against which rows are set."""

    def forward(self, policies: Floats, infoset_reach: Floats, *, memories: bool = True) -> None:
        """Fill the reach of the player's cells against each opponent, (n, G, G).

        Keep what weights values, unless that of `memories` is not needed.
        """

    def backward(
        self,
        role: int,
        policies: Floats,
        action_values: Floats,
        infoset_reach: Floats,
        temperature: float,
        damping: float,
    ) -> tuple[Floats, int]:
        """Pass over all cells; any role but FULL_MEMORY, for the player, against all opponents.

        Counterfactual values, (G, G, K), and reach, (G, G), are those against the mixture.
        Returns the win probability of each player when moving first, (n, Q), and how many rows
        ASCEND changed.
        """


def passes_for(
    game: "HogEngine", players: int, dtype: DTypeLike = np.float64, matches: int = 1
) -> Passes:
    """Choose the layout of a game's numbers, and make arrays for passes over it.

    Compiling takes seconds, and pays in large games only. There, if much is remembered, a vector
    holds the memories of a cell; else it holds cells of one diagonal. Everything else is
    interpreted: small games, and rules of which no edition is made.
    """
    if game.has_large_memory:
        return MemoryPasses(game.tables, players, dtype, matches)
    if game.has_cell_vectors:
        return CellPasses(game.tables, players, dtype, matches)
    return Interpreter(game.rules, game.recurrence, players, matches)
