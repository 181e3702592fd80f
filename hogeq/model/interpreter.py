"""Passes over any game by the interpreting kernels."""

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels import TIE, interpreter, recurrence
from hogeq.kernels.recurring import Links, Loops
from hogeq.model.protocol import Reach
from hogeq.model.recurring import Recurrence
from hogeq.model.turn_lists import scratch_for, turn_lists
from hogeq.rules import Rules
from hogeq.rules.memory import Memory, all_memories
from hogeq.support.aliases import Floats


class Interpreter:
    """Values and reach of every hidden state of a game, in double precision.

    By who moves, `values` (n, 2, C, H) are win probabilities of player 0 against each opponent, and
    `reach` is likewise; in self-play it is (1, 1, C, H).

    Where each player has a goal of its own, player 0 moves in the first half of the cells and
    player 1 in the second; in self-play one strategy moves in both. Outside there are G * G cells.
    """

    def __init__(
        self, rules: Rules, recurrence: Recurrence | None, players: int, matches: int = 1
    ) -> None:
        self.turns = turns = turn_lists(rules)
        self.players, self.recurrence = players, recurrence
        _, rolls, memories = turns.place.shape
        self.start = all_memories(rules).index(Memory())
        cells, self._size = len(turns.situation), rules.size
        self.values = np.zeros((matches, 2, cells, memories))
        self.reach = np.zeros((matches, players, cells, memories))
        self.choice = np.zeros((cells, memories), np.int8)
        self._averages, self._reached = np.zeros((cells, rolls)), np.zeros((matches, cells))
        board = self._size, self._size
        self.action_values = self._averages[: self._size**2].reshape(*board, rolls)
        self.each_reach = self._reached[:, : self._size**2].reshape(matches, *board)
        self._second = rules.size**2 if isinstance(rules.goal, tuple) else 0
        self._scratch = scratch_for(turns, matches)
        self._loops: Loops | None = None
        self._links: Links | None = None
        if recurrence is not None:
            self._loops = recurrence.loops
            members = int(np.diff(self._loops.start).max())
            states = 2 * members * memories
            self._links = Links(
                left=np.zeros((members, 2, len(self._scratch.masses))),
                before=np.zeros(rolls),
                states=np.zeros(states, np.int64),
                rolls=np.zeros(states, np.int64),
                gain=np.zeros((states, rolls)),
                stay=np.zeros((states, rolls)),
                to=np.zeros((states, rolls), np.int64),
                numbers=np.zeros((2, states)),
            )

    def forward(self, policies: Floats, *, memories: bool = True) -> Floats:
        """Fill `reach` too; see :class:`hogeq.model.workspace.Layout`."""
        del memories  # they are there in any case
        played = self._by_cell(policies)
        movers = 2 if self._second else self.players
        self.reach.fill(0.0)
        for mover in range(movers):
            cell = self._second * mover
            self.reach[:, mover % self.players, cell, self.start] = 1.0 / movers
        for match, (reach, reached) in enumerate(zip(self.reach, self._reached, strict=True)):
            both = played if len(played) <= 2 else played[[0, match + 1]]
            interpreter.forward(
                self.turns, self._loops, both, reach, reached, self._scratch, self._links
            )
        return self.each_reach

    def backward(
        self, role: int, policies: Floats, reach: Reach, temperature: float, damping: float
    ) -> tuple[Floats, int]:
        """Fill `values` too, and `choice` (C, H) by FULL_MEMORY, which no other layout has.

        See :class:`hogeq.model.workspace.Layout`.
        """
        filled = self._averages, self._reached[0], self.choice
        played = self._by_cell(policies)
        if self._second and role == recurrence.EVALUATE and len(played) == 2:
            # Each moves in half of the cells: one strategy does as both do, in half the time.
            played = np.hstack([played[:1, : self._second], played[1:, self._second :]])
        how = int(role), float(temperature), float(damping)
        arrays = played, reach.weights, self.reach, self.values, filled
        work = self._scratch, self._links
        changes = interpreter.backward(self.turns, self._loops, how, *arrays, *work)
        if role == recurrence.FULL_MEMORY and self.recurrence is not None:
            self._leave_on_ties(self.recurrence, self.choice)
        if self._second:
            policies[0] = played[0, : self._second].reshape(policies.shape[1:])
        first = self.values[:, 0, 0, self.start]
        other = self.values[:, 1, self._second, self.start]
        starts = [first] if self.players == 1 else [first, 1.0 - other]
        return np.stack(starts, axis=1), int(changes)

    def _by_cell(self, policies: Floats) -> Floats:
        rows = policies.reshape(len(policies), -1, policies.shape[-1])
        return np.tile(rows, (1, 2, 1)) if self._second else rows

    def _leave_on_ties(self, recurrence: Recurrence, choice: NDArray[np.int8]) -> None:
        """Where staying for certain is worth no more than another roll, choose the other.

        To stay is worth as much as what follows, be it one's own leaving a turn later.
        """
        for cell, roll, *_ in recurrence.certain.tolist():
            # Turns stay for certain only where nothing is remembered.
            (worth,) = self.at(*divmod(cell, self._size))
            others = worth >= worth.max() - TIE
            others[roll] = False
            if choice[cell, 0] == roll and others.any():
                choice[cell, 0] = others.argmax()

    def at(self, own: int, opponent: int, player: int = 0) -> Floats:
        """Win probability of a player's rolls at a cell, by memory: float64 (H, K)."""
        cell = own * self._size + opponent + self._second * player
        moving, waiting = self.values[0, player], self.values[0, 1 - player]
        interpreter.roll_values(self.turns, cell, moving, waiting, 1.0 - player, self._scratch)
        found = self._scratch.rolled[0][self.turns.place[self.turns.situation[cell]].T]
        return found if player == 0 else 1.0 - found

    def cell_reach(self, player: int) -> Floats:
        """Reach of every cell with a player to move, after a pass forward: float64 (G * G,)."""
        cells = self.reach[0, player].sum(axis=1)
        return cells[self._second :] if player else cells[: self._second or None]

    def publish(self, own: int, opponent: int, player: int, values: Floats) -> float:
        """Set the values of a cell's memories, (H,), to the player to move there.

        Returns the value of the memory that a game starts with.
        """
        cell = own * self._size + opponent + self._second * player
        self.values[0, player, cell] = values if player == 0 else 1.0 - values
        if self.players == 1:
            self.values[0, 1, cell] = 1.0 - values
        return float(values[self.start])
