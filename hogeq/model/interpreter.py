"""Passes over any game by the interpreting kernels, and the turns that these read."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels import interpreter, recurrence, recurring
from hogeq.kernels.interpreter import AGAIN, OTHER, STEP, WIN, TurnLists
from hogeq.model.tables import free_turns, landings, lanes_of, ways_of
from hogeq.rules import Rules
from hogeq.rules.memory import Memory, all_memories
from hogeq.rules.outcomes import TurnTable
from hogeq.support.aliases import Floats

if TYPE_CHECKING:
    from hogeq.model.components import Recurrence


@lru_cache(maxsize=2)
def turn_lists(rules: Rules) -> TurnLists:
    """List every way in which a turn can end."""
    turns, goal, land, free = TurnTable(rules), rules.goal, landings(rules), free_turns(rules)
    own, opponent = (axis.ravel() for axis in np.indices((goal, goal)))
    situation, way, ways = ways_of(rules)
    first, chances, later, end = [0], list[float](), list[float](), list[int]()
    ends: dict[tuple[Any, ...], int] = {}
    no_dice = free.points.ravel(), free.gift.ravel(), free.record.ravel()
    columns = []
    for one in ways:
        branches = turns.branches(one.dice, one.sides) if one.dice else [None]
        for branch in branches:
            # No dice score by the cell; what else ends with the same scores and record is one end.
            points, gift, recorded = branch[:3] if branch else no_dice
            points = points + one.bonus
            key = (points, gift, recorded, one.forced) if branch else (-1, one.bonus, one.forced)
            if key not in ends:
                ends[key] = len(ends)
                kind, mine, yours = (table[own + points, opponent + gift] for table in land)
                kind = np.where(kind == OTHER, AGAIN * one.forced, kind)
                there = np.where(kind == AGAIN, mine * goal + yours, yours * goal + mine)
                there = np.where(kind >= WIN, 0, there)
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
    return TurnLists(
        # Cells near each other follow the same cells, so they are looked up while still in cache.
        order=np.lexsort((low, high, low // 2, high // 2)).astype(np.int64),
        scores=np.stack([low, high], axis=1),
        situation=situation.ravel().astype(np.int64),
        place=(way * width + lane[:, None]).transpose(0, 2, 1).astype(np.uint32, order="C"),
        usable=usable,
        dice=np.array([one.dice for one in ways], np.int64),
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
        self, rules: Rules, recurrence: "Recurrence | None", players: int, matches: int = 1
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
        """Fill `reach`; see :class:`hogeq.model.workspace.Passes`."""
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

        See :class:`hogeq.model.workspace.Passes`.
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
