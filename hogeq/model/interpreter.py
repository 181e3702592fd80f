"""Passes over any game by the interpreting kernels, and the turns that these read."""

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels import interpreter, recurrence, recurring
from hogeq.kernels.interpreter import AGAIN, LOSS, OTHER, STEP, WIN, TurnLists
from hogeq.kernels.recurring import Links
from hogeq.model.tables import free_turns, landings, lanes_of, ways_of
from hogeq.rules import Rules
from hogeq.rules.memory import Memory, all_memories
from hogeq.rules.turn import TurnTable
from hogeq.support.aliases import Floats

if TYPE_CHECKING:
    from hogeq.model.components import Recurrence


@lru_cache(maxsize=2)
def turn_lists(rules: Rules) -> TurnLists:
    """List every way in which a turn can end."""
    goals, seats = rules.goals, 2 if isinstance(rules.goal, tuple) else 1
    rules = replace(rules, goal=rules.size)
    turns, size, land, free = TurnTable(rules), rules.size, landings(rules), free_turns(rules)
    seat, own, opponent = (axis.ravel() for axis in np.indices((seats, size, size)))
    goal, other_goal = np.array(goals)[seat], np.array(goals[::-1])[seat]
    situation, way, ways = ways_of(rules)
    first, chances, later, end = [0], list[float](), list[float](), list[int]()
    ends: dict[tuple[Any, ...], int] = {}
    no_dice = [np.tile(column.ravel(), seats) for column in free]
    columns = []
    for one in ways:
        branches = turns.branches(rules.choices[one.action], one.sides) if one.action else [None]
        for branch in branches:
            # No dice score by the cell; what else ends with the same scores and record is one end.
            points, gift, recorded = branch[:3] if branch else no_dice
            points = points + one.bonus
            key = (points, gift, recorded, one.forced) if branch else (-1, one.bonus, one.forced)
            if key not in ends:
                ends[key] = len(ends)
                kind, mine, yours = (table[own + points, opponent + gift] for table in land)
                past, other_past = mine - goal, yours - other_goal
                over = np.maximum(past, other_past) >= 0
                kind = np.where(kind == OTHER, AGAIN * one.forced, kind)
                kind = np.where(over, np.where(past >= other_past, WIN, LOSS), kind)
                stays = kind == AGAIN
                there = np.where(stays, mine * size + yours, yours * size + mine)
                there += np.where(stays, seat, seats - 1 - seat) * size**2
                there = np.where(over, 0, there)
                columns.append((np.broadcast_to(recorded, kind.shape), kind, there))
            end.append(ends[key])
            chances.append(float(branch.probability) if branch else 1.0)
        later.append(float(1 - branches[0].probability) if branches[0] else 0.0)
        first.append(len(end))
    record, kind, there = (
        np.stack(column, axis=1).astype(dtype)
        for column, dtype in zip(
            zip(*columns, strict=True), (np.uint16, np.uint8, np.uint32), strict=True
        )
    )
    lane, following = lanes_of(rules)
    usable = np.zeros((len(way), len(ways)), np.uint8)
    usable[np.arange(len(way))[:, None, None], way] = 1
    lanes = following.shape[2]
    width = -(-lanes // len(STEP)) * len(STEP)
    can = np.zeros((len(ways), width), bool)  # way, lane
    can[way, lane[:, None]] = True
    ranges = np.stack([can.argmax(axis=1), width - can[:, ::-1].argmax(axis=1)], axis=1)
    way_of = np.repeat(np.arange(len(ways)), np.diff(first))
    end_lanes = np.repeat([[width, 0]], len(ends), axis=0)
    np.minimum.at(end_lanes[:, 0], end, ranges[way_of, 0])
    np.maximum.at(end_lanes[:, 1], end, ranges[way_of, 1])
    # Lanes are taken a vector at a time, which must not reach beyond a way's own.
    ranges[:, 0] -= np.maximum(
        0, ranges[:, 0] + -(-(ranges[:, 1] - ranges[:, 0]) // len(STEP)) * len(STEP) - width
    )
    padded = np.zeros((*following.shape[:2], width), np.uint32)
    padded[:, :, :lanes] = following
    low, high = np.minimum(own, opponent), np.maximum(own, opponent)
    order = np.lexsort((low, high, low // 2, high // 2)).astype(np.int64)
    return TurnLists(
        # Cells near each other follow the same cells, so they are looked up while still in cache.
        order=order[((own < goal) & (opponent < other_goal))[order]],
        scores=np.stack([low, high], axis=1),
        situation=np.tile(situation.ravel(), seats).astype(np.int64),
        place=(way * width + lane[:, None]).transpose(0, 2, 1).astype(np.uint32, order="C"),
        usable=usable,
        dice=np.array([one.action for one in ways], np.int64),
        lanes=ranges,
        following=padded,
        first=np.array(first, np.int64),
        chance=np.array(chances),
        later=np.array(later),
        end=np.array(end, np.int64),
        end_lanes=end_lanes,
        record=record,
        kind=kind,
        cell=there,
    )


TIE = interpreter.TIE


class Interpreter:
    """Values and reach of every hidden state of a game, in double precision.

    By who moves, `values` (n, 2, C, H) are win probabilities of player 0 against each opponent, and
    `reach` is likewise; in self-play it is (1, 1, C, H). `weights` (n,) are of the opponents, when
    the rows of player 0 are set.

    Where each player has a goal of its own, player 0 moves in the first half of the cells and
    player 1 in the second; in self-play one strategy moves in both. Outside there are G * G cells.
    """

    def __init__(
        self, rules: Rules, recurrence: "Recurrence | None", players: int, matches: int = 1
    ) -> None:
        self.turns = turns = turn_lists(rules)
        self.players, self.recurrence = players, recurrence
        (_, rolls, memories), lanes = turns.place.shape, turns.following.shape[2]
        self.start = all_memories(rules).index(Memory())
        self.weights = np.full(matches, 1.0 / matches)
        self.values = np.zeros((matches, 2, len(turns.situation), memories))
        self.reach = np.zeros((matches, players, len(turns.situation), memories))
        self._second = rules.size**2 if isinstance(rules.goal, tuple) else 0
        self._rolled = np.zeros((matches, len(turns.dice) * lanes))
        self._masses = np.zeros(len(turns.dice) * lanes)
        self._ends, self._flows = np.zeros((2, len(turns.end_lanes) * lanes))
        self._wanted, self._skipped = np.zeros((2, len(turns.dice)), np.uint8)
        if recurrence is not None:
            loops = recurrence.loops
            members = int(np.diff(loops.start).max())
            self._left = np.zeros((members, 2, len(self._masses)))
            states = 2 * members * memories
            self._links = Links(
                states=np.zeros(states, np.int64),
                rolls=np.zeros(states, np.int64),
                gain=np.zeros((states, rolls)),
                stay=np.zeros((states, rolls)),
                to=np.zeros((states, rolls), np.int64),
                numbers=np.zeros((2, states)),
            )

    def forward(self, policies: Floats, infoset_reach: Floats, *, memories: bool = True) -> None:
        """Fill `reach`; see :class:`hogeq.model.workspace.Passes`."""
        del memories  # they are there in any case
        played = self._by_cell(policies)
        movers = 2 if self._second else self.players
        self.reach.fill(0.0)
        for mover in range(movers):
            cell = self._second * mover
            self.reach[:, mover % self.players, cell, self.start] = 1.0 / movers
        for match, (reach, reached) in enumerate(zip(self.reach, infoset_reach, strict=True)):
            cells = self._all_cells(reached)
            arrays = (
                played if len(played) <= 2 else played[[0, match + 1]],
                reach,
                cells,
                self._masses,
                self._skipped,
                self._flows,
            )
            if self.recurrence is None:
                interpreter.forward(self.turns, *arrays)
            else:
                loops = self.recurrence.loops
                recurring.forward(self.turns, loops, *arrays, self._left, self._links)
            self._store(reached, cells)

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

        See :class:`hogeq.model.workspace.Passes`.
        """
        if choice is None:
            choice = np.zeros((*infoset_reach.shape, self.values.shape[3]), np.int8)
        filled = action_values, infoset_reach, choice
        *arrays, chosen = [self._all_cells(array) for array in filled]
        settings = chosen, temperature, damping, self._ends
        played = self._by_cell(policies)
        if self._second and role == recurrence.EVALUATE and len(played) == 2:
            # Each moves in half of the cells: one strategy does as both do, in half the time.
            played = np.hstack([played[:1, : self._second], played[1:, self._second :]])
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
                self._left,
                self._links,
                np.zeros(played.shape[2]),
            )
            if role == recurrence.FULL_MEMORY:
                self._leave_on_ties(self.recurrence, chosen)
        for array, cells in zip((policies[0], *filled), (played[0], *arrays, chosen), strict=True):
            self._store(array, cells)
        first = self.values[:, 0, 0, self.start]
        other = self.values[:, 1, self._second, self.start]
        starts = [first] if self.players == 1 else [first, 1.0 - other]
        return np.stack(starts, axis=1), int(changes)

    def _by_cell(self, policies: Floats) -> Floats:
        rows = policies.reshape(len(policies), -1, policies.shape[-1])
        return np.tile(rows, (1, 2, 1)) if self._second else rows

    def _all_cells(self, array: NDArray[Any]) -> NDArray[Any]:
        """Lay (G, G, ...) out by cell: a view, or where cells are twice as many a copy."""
        rows = array.reshape(-1, *array.shape[2:])
        return np.concatenate([rows, rows]) if self._second else rows

    def _store(self, array: NDArray[Any], cells: NDArray[Any]) -> None:
        """Write back what such a copy has in the cells of player 0."""
        if self._second:
            array[:] = cells[: self._second].reshape(array.shape)

    def _leave_on_ties(self, recurrence: "Recurrence", choice: NDArray[np.int8]) -> None:
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
        cell += self._second * player
        moving, waiting = self.values[0, player], self.values[0, 1 - player]
        rolled = self._masses.copy()
        interpreter.roll_values(
            self.turns, cell, moving, waiting, 1.0 - player, self._wanted, self._ends, rolled
        )
        found = rolled[self.turns.place[self.turns.situation[cell]].T]
        return found if player == 0 else 1.0 - found

    def cell_reach(self, player: int) -> Floats:
        """Reach of every cell with a player to move, after a pass forward: float64 (G * G,)."""
        cells = self.reach[0, player].sum(axis=1)
        return cells[self._second :] if player else cells[: self._second or None]

    def publish(self, cell: int, player: int, values: Floats) -> float:
        """Set what a cell's memories, (H,), are worth to a player who moves there.

        Returns the value of the memory that a game starts with.
        """
        cell += self._second * player
        self.values[0, player, cell] = values if player == 0 else 1.0 - values
        if self.players == 1:
            self.values[0, 1, cell] = 1.0 - values
        return float(values[self.start])
