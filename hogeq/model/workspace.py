"""Passes of :mod:`hogeq.model.protocol` over a game of Hog, by the loops of a layout."""

from collections.abc import Callable
from functools import cached_property
from typing import Final, Protocol

import numpy as np

from hogeq.model.checked_passes import CheckedPasses
from hogeq.model.graph_layout import GraphLayout
from hogeq.model.protocol import Reach, Role, Valued, WinRate
from hogeq.support.aliases import Floats

IN_LAYOUTS: Final = frozenset({Role.EVALUATE, Role.COUNTERFACTUAL, Role.ASCEND, Role.SOFTMAX})
"""Roles that every layout has; others are interpreted."""


class Layout(Protocol):
    """Passes over one game of Hog whose numbers lie in an order that suits it; arrays they fill.

    They are of one player: in self-play, with policies of shape (1, G, G, K), or against n
    opponents, with policies of shape (1 + n, G, G, K), the player's first.
    """

    action_values: Floats
    """(G, G, K), counterfactual values against the mixture, of the last pass backward."""
    each_reach: Floats
    """(n, G, G), reach of the player's cells against each opponent, of the last pass forward."""

    def forward(self, policies: Floats, *, memories: bool = True) -> Floats:
        """Fill `each_reach`, and return it.

        The reach of hidden states is stored for a pass backward, unless `memories` is False.
        """

    def backward(
        self, role: int, policies: Floats, reach: Reach, temperature: float, damping: float
    ) -> tuple[Floats, int]:
        """Pass over all cells, for the player, against all opponents; the reach is the mixture's.

        Returns the win probability of each player when moving first, (n, Q), and how many rows
        ASCEND changed.
        """


class Workspace(CheckedPasses):
    """Passes over one game, and the arrays that they fill, which are allocated once.

    The shape is that of policies, (Q, G, G, K). Most games have a fast layout. Roles that it lacks
    are interpreted.
    """

    def __init__(
        self,
        shape: tuple[int, int, int, int],
        layout: Layout,
        graph_layout: Callable[[], GraphLayout],
        *,
        recurs: bool,
    ) -> None:
        """Take the passes of a layout, which have the arrays, for policies of a shape.

        `graph_layout` makes the passes for roles that the layout lacks, on first use. `recurs` says
        whether positions can recur in a play.
        """
        super().__init__(shape, recurs=recurs)
        self._layout = layout
        self._make_graph_layout = graph_layout

    @cached_property
    def _graph_layout(self) -> GraphLayout:
        """The layout for every role, a graph of the game; the same one if it is that already."""
        layout = self._layout
        return layout if isinstance(layout, GraphLayout) else self._make_graph_layout()

    def forward(self, policies: Floats, weights: Floats | None = None) -> Reach:
        """Compute the reach of player 0's cells under policies (Q, G, G, K).

        It is the mean over the opponents, drawn by `weights`, (n,): all alike if None.
        """
        return self._forward(policies, weights, memories=True)

    def cell_reach(self, policies: Floats) -> Floats:
        """Reach probability of every cell, player 0 to move: float64 (G, G), a fresh array."""
        return self._forward(policies, None, memories=False).rows.copy()

    def _forward(self, policies: Floats, weights: Floats | None, *, memories: bool) -> Reach:
        """Compute the reach of player 0's cells, as :meth:`forward` does.

        With `memories` the reach of hidden states is stored, which a pass backward reads.
        """
        self._require_rows(policies)
        each_reach = self._layout.forward(self._plain(policies), memories=memories)
        shares = self._shares(weights)
        # Of one opponent the array itself, no copy.
        mean_reach = each_reach[0] if len(each_reach) == 1 else np.tensordot(shares, each_reach, 1)
        reach = Reach(mean_reach, shares)
        self._latest = reach if memories else None
        return reach

    def backward(
        self,
        reach: Reach,
        policies: Floats,
        role: Role,
        *,
        temperature: float = 1.0,
        damping: float = 1.0,
    ) -> Valued:
        """Compute values under `policies` (Q, G, G, K), player 0 acting by its role.

        ASCEND and SOFTMAX change the cells of player 0, ``policies[0]``, in place. `reach` is that
        of the last pass forward. Returns the win probabilities of player 0 and of the opponents
        when moving first, how many cells ASCEND changed, and counterfactual values, (G, G, K).
        """
        self._require_latest(reach)
        plain_policies = self._plain(policies)
        starts, changes = self._layout.backward(role, plain_policies, reach, temperature, damping)
        if plain_policies is not policies and role in (Role.ASCEND, Role.SOFTMAX):
            policies[0] = plain_policies[0]
        player_moves_first = float(reach.weights @ starts[:, 0])
        opponent_moves_first = float(reach.weights @ starts[:, -1])
        return Valued(player_moves_first, opponent_moves_first, changes, self._layout.action_values)

    def win_rate(
        self, policies: Floats, role: Role = Role.EVALUATE, weights: Floats | None = None
    ) -> WinRate:
        """Exact win rate of player 0 under policies (Q, G, G, K), its role EVALUATE or FULL_MEMORY.

        It is the mean over the opponents, drawn by `weights`, (n,): all alike if None.
        """
        shares = self._shares(weights)
        passes = self._layout if role in IN_LAYOUTS else self._graph_layout
        unread_reach = Reach(self._layout.each_reach[0], shares)  # neither role reads it
        # Temperature and damping are for roles that change the policy.
        starts, _ = passes.backward(
            role, self._plain(policies), unread_reach, temperature=1.0, damping=1.0
        )
        player_moves_first = float(shares @ starts[:, 0])
        opponent_moves_first = float(shares @ starts[:, -1])
        return WinRate.from_starts(player_moves_first, opponent_moves_first)

    @property
    def error(self) -> float:
        """Bound on what iteration of positions that recur may have missed in the last pass."""
        return self._layout.passes.error if isinstance(self._layout, GraphLayout) else 0.0
