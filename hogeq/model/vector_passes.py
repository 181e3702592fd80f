"""Passes of one player by two programs, kernels of vector code, and the arrays that they fill."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.program import Program
from hogeq.model.protocol import Reach
from hogeq.support.aliases import Floats


class VectorPasses:
    """Passes of one player (self-play), or of one player against n opponents.

    A layout adds the operands of its kernels, by name, to those of all: to `_operands` of both
    kernels, to `_reach_operands` and to `_value_operands`.
    """

    def __init__(
        self,
        programs: tuple[Program, Program],
        shape: tuple[int, int, int],
        players: int,
        matches: int,
        reach: NDArray[Any],
    ) -> None:
        """Allocate the arrays of results.

        `programs` are the kernels of reach and of values, `shape` is that of a policy, (G, G, K);
        `players` is 1 in self-play and else 2, `matches` the number of opponents. `reach`, (n,
        size), is that of hidden states, as the layout has it.
        """
        self._reach_program, self._value_program = programs
        goal, _, _ = shape
        self._reach = reach
        self._starts = np.zeros((matches, players))  # win probability when moving first
        self._changes = np.zeros(1)  # rows that ASCEND changed
        self.action_values = np.zeros(shape)
        self.each_reach = np.zeros((matches, goal, goal))
        self._operands: dict[str, Any] = {"goal": goal, "players": players}
        self._reach_operands: dict[str, Any] = {"start_probability": 1.0 / players}
        self._value_operands: dict[str, Any] = {
            "matches": matches,
            "reach": reach,
            "starts": self._starts,
            "action_values": self.action_values,
            "changes": self._changes,
        }

    def _of_match(self, policies: Floats, match: int) -> dict[str, Any]:
        """Operands of a pass forward that say which policies meet in a match."""
        raise NotImplementedError

    def forward(self, policies: Floats, *, memories: bool = True) -> Floats:
        """Compute the reach of the player's cells against each opponent: `each_reach`, (n, G, G).

        `policies` are (1 + n, G, G, K), the player's first, or one alone in self-play. The reach of
        hidden states is stored for a pass backward, unless `memories` is False.
        """
        for match, cell_reach in enumerate(self.each_reach):
            self._reach_program(
                **self._operands,
                **self._reach_operands,
                **self._of_match(policies, match),
                keeps_memories=int(memories),
                reach=self._reach[match],
                infoset_reach=cell_reach,
            )
        return self.each_reach

    def backward(
        self,
        role: int,
        policies: Floats,
        reach: Reach,
        temperature: float,
        damping: float,
        **other_operands: int,
    ) -> tuple[Floats, int]:
        """Compute values of all cells against all opponents, the player acting by its role.

        COUNTERFACTUAL fills `action_values`, (G, G, K); ASCEND and SOFTMAX change the first of the
        `policies`. `reach` is that of the mixture of opponents. Returns the win probability of each
        player when moving first, (n, players), and how many rows ASCEND changed.
        """
        self._value_program(
            **self._operands,
            **(self._value_operands | other_operands),
            role=int(role),
            policies=policies.reshape(-1),
            weights=reach.weights,
            infoset_reach=reach.rows,
            temperature=float(temperature),
            damping=float(damping),
        )
        return self._starts, int(self._changes[0])
