"""Passes over any game by the interpreting kernels: for what is not worth compiling for."""

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels import interpreter, recurrence, recurring
from hogeq.model.components import Recurrence
from hogeq.model.turn_lists import turn_lists
from hogeq.rules import Rules
from hogeq.rules.memory import Memory, all_memories
from hogeq.support.aliases import Floats

TIE = interpreter.TIE


class Interpreter:
    """Values and reach of every hidden state of a game, in double precision.

    Parameters
    ----------
    rules : Rules
    recurrence : Recurrence or None
        How its positions recur.
    players : int
        1 for self-play, or 2.
    matches : int
        Opponents of player 0, n; 1 where positions recur.

    Attributes
    ----------
    weights : float64 (n,)
        Of the opponents, when the rows of player 0 are set.
    values : float64 (n, 2, C, H)
        Win probability of player 0 against each opponent, by who moves.
    reach : float64 (n, 2, C, H)
        Reach probability of every hidden state, by who moves; (1, 1, C, H) in self-play.
    """

    def __init__(
        self, rules: Rules, recurrence: Recurrence | None, players: int, matches: int = 1
    ) -> None:
        self.turns = turns = turn_lists(rules)
        self.players, self.recurrence = players, recurrence
        (_, rolls, memories), lanes = turns.place.shape, turns.following.shape[2]
        self.start = all_memories(rules).index(Memory())
        self.weights = np.full(matches, 1.0 / matches)
        self.values = np.zeros((matches, 2, len(turns.order), memories))
        self.reach = np.zeros((matches, players, len(turns.order), memories))
        self._rolled = np.zeros((matches, len(turns.dice) * lanes))
        self._masses = np.zeros(len(turns.dice) * lanes)
        self._ends, self._flows = np.zeros((2, len(turns.end_lanes) * lanes))
        self._wanted, self._skipped = np.zeros((2, len(turns.dice)), np.uint8)
        if recurrence is not None:
            loops = recurrence.loops
            members = int(np.diff(loops.start).max())
            states = max(1, 2 * int(np.diff(loops.entered).max()))
            core = max(1, 2 * int(loops.core.max()))
            self._scratch = (
                np.zeros((members, 2, len(self._masses))),
                np.zeros((states, rolls)),
                np.zeros((states, rolls)),
                np.zeros(states),
                np.zeros((core, core)),
                np.zeros(core),
            )

    def forward(self, policies: Floats, infoset_reach: Floats, *, memories: bool = True) -> None:
        """Fill `reach`; see :class:`hogeq.model.passes.Passes`."""
        del memories  # they are there in any case
        played = self._by_cell(policies)
        for match, (reach, cells) in enumerate(zip(self.reach, infoset_reach, strict=True)):
            arrays = (
                played if len(played) <= 2 else played[[0, match + 1]],
                reach,
                cells.reshape(-1),
                self.start,
                self._masses,
                self._skipped,
                self._flows,
            )
            if self.recurrence is None:
                interpreter.forward(self.turns, *arrays)
            else:
                loops, unused = self.recurrence.loops, np.zeros_like(self._scratch[-1])
                recurring.forward(self.turns, loops, *arrays, *self._scratch, unused)

    def backward(
        self,
        role: int,
        policies: Floats,
        action_values: Floats,
        infoset_reach: Floats,
        temperature: float,
        damping: float,
        choice: NDArray[np.int8] | None = None,
    ) -> tuple[Floats, int]:
        """Fill `values`, and `choice` (G, G, H) if the role is FULL_MEMORY, which is one more here.

        See :class:`hogeq.model.passes.Passes`.
        """
        _, _, cells, memories = self.values.shape
        chosen = np.zeros((cells, memories), np.int8) if choice is None else choice
        arrays = action_values.reshape(cells, -1), infoset_reach.reshape(-1)
        settings = chosen.reshape(cells, memories), temperature, damping, self._ends
        played = self._by_cell(policies)
        if self.recurrence is None:
            reach, values, rolled = self.reach, self.values, self._rolled
            changes = interpreter.backward(
                self.turns,
                role,
                played,
                self.weights,
                reach,
                values,
                *arrays,
                *settings,
                rolled,
                self._wanted,
            )
        else:
            reach, values, rolled = self.reach[0], self.values[0], self._rolled[0]
            changes = recurring.backward(
                self.turns,
                self.recurrence.loops,
                role,
                played,
                reach,
                values,
                *arrays,
                *settings,
                rolled,
                self._wanted,
                *self._scratch,
                np.zeros(played.shape[2]),
            )
            if role == recurrence.FULL_MEMORY:
                self._leave_on_ties(self.recurrence, settings[0])
        first, other = self.values[:, :, 0, self.start].T
        starts = [first] if self.players == 1 else [first, 1.0 - other]
        return np.stack(starts, axis=1), int(changes)

    def _by_cell(self, policies: Floats) -> Floats:
        return policies.reshape(len(policies), -1, policies.shape[-1])

    def _leave_on_ties(self, recurrence: Recurrence, choice: NDArray[np.int8]) -> None:
        """Where staying for certain is worth no more than another roll, choose the other.

        To stay is worth as much as what follows, be it one's own leaving a turn later.
        """
        for cell, roll, *_ in recurrence.certain.tolist():
            (worth,) = self.hidden_values(cell)  # certain only where nothing is remembered
            others = worth >= worth.max() - TIE
            others[roll] = False
            if choice[cell, 0] == roll and others.any():
                choice[cell, 0] = others.argmax()

    def hidden_values(self, cell: int, player: int = 0) -> Floats:
        """Win probability of a player's rolls at a cell, by memory: float64 (H, K)."""
        moving, waiting = self.values[0, player], self.values[0, 1 - player]
        rolled = self._masses.copy()
        interpreter.roll_values(
            self.turns, cell, moving, waiting, 1.0 - player, self._wanted, self._ends, rolled
        )
        found = rolled[self.turns.place[self.turns.situation[cell]].T]
        return found if player == 0 else 1.0 - found

    def publish(self, cell: int, player: int, values: Floats) -> float:
        """Set what a cell's memories, (H,), are worth to a player who moves there.

        Returns the value of the memory that a game starts with.
        """
        self.values[0, player, cell] = values if player == 0 else 1.0 - values
        if self.players == 1:
            self.values[0, 1, cell] = 1.0 - values
        return float(values[self.start])
