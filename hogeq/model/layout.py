"""The flat form of a game: its shapes and arrays, how memory lies in lanes, and how rolls play.

Sizes: G goal, T = G + largest bonus, K actions (0 to the most dice), W records (what is remembered
of one turn), J active memories (the part that decides how a roll plays), L lanes (the part that is
only carried, padded), H memories, D kinds of turn (the dice, and what no dice score), P planes (a
kind of turn together with whether the roll forces an extra turn), M modes (a plane together with a
bonus), S situations (kinds of cells that differ in how rolls play).

A *cell* is ``own score * G + opponent's score`` of the player to move. An *afterstate* is what a
roll leaves behind before landing rules: the mover's score ``t`` with points and bonus, the
opponent's ``u``, the record ``w`` of the turn and the lane.
"""

from collections import Counter
from itertools import groupby, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.rules import Rules
from hogeq.rules.memory import Memory, memory_sizes, records_left, states
from hogeq.rules.outcomes import TurnTable
from hogeq.support.aliases import Floats, Ints


class Dimensions(NamedTuple):
    """How large a game is."""

    goal: int
    """G"""
    num_actions: int
    """K"""
    records: int
    """W"""
    active_memories: int
    """J"""
    ring: int
    """Largest bonus + 1."""


class Tables(NamedTuple):
    """One compiled game."""

    lane: tuple[int, ...]  # L zeros
    dimensions: Dimensions
    start: int  # memory slot ``j * L + lane`` before the first turn
    memory_slot: Ints  # (H,) slot of every memory that can be; the others are padding

    terminal_win: Floats  # (D, T, G, K) probability that the roll wins at once, from (t, o)
    outcome_prob: Floats  # (n,) probability of an outcome, grouped by kind and roll
    outcome_points: Ints  # (n,)
    outcome_record: Ints  # (n,)
    outcome_start: Ints  # (D, K) first outcome; points ascend
    outcome_stop: Ints  # (D, K, G) one past the last outcome below the goal, from t
    gives: bool  # a turn can give points to the opponent

    # The same by sums: what one die more adds, and by afterstate the terms that correct it.
    sides: Ints  # (D,)
    sum_depth: Ints  # (D,) most dice whose sum is used; 0 if outcomes are always summed directly
    is_sum: NDArray[np.uint8]  # (D, K) 1 if a roll is a sum and its corrections, 0 if these alone
    sum_record: int  # record of the afterstates of sums
    target_points: Ints  # (m,) afterstates that terms leave, grouped by kind of turn
    target_gift: Ints  # (m,)
    target_record: Ints  # (m,)
    target_start: Ints  # (D + 1,) range of the afterstates of a kind of turn
    way_start: Ints  # (m + 1,) range of the rolls that can leave an afterstate
    way_prob: Floats  # (n,) probability, or what corrects it
    way_roll: Ints  # (n,)

    zero_points: Ints  # (D, G, G) points for rolling no dice, from (t, o)
    zero_gift: Ints  # (D, G, G) points that this gives to the opponent
    zero_record: Ints  # (D, G, G) record that this leaves

    plane_dice: Ints  # (P,) kind of turn
    plane_again: Ints  # (P,) 1 if the roll forces an extra turn
    mode_plane: Ints  # (M,)
    mode_bonus: Ints  # (M,) points added after the roll
    situation: NDArray[np.uint8]  # (G, G)
    default_mode: Ints  # (S, K) how a roll plays for most memories
    exception_start: Ints  # (S, J + 1) range of the exceptions of an active memory
    exception_roll: Ints  # (x,)
    exception_mode: Ints  # (x,) mode instead of the default
    exception_low: Ints  # (x,) first lane
    exception_high: Ints  # (x,) one past the last lane

    arrival_start: Ints  # (G * G + 1,) range of the afterstates that land on a cell
    arrival_end: Ints  # (y,) 1 if the roll forced an extra turn
    arrival_row: Ints  # (y,) afterstate u * G + t
    arrival_again: NDArray[np.uint8]  # (y,) 1 if the same player moves again
    next_memory: NDArray[np.uint64]  # (2, W, L) slot of whoever moves next: [again, record, lane]
    swaps_records: bool  # passing the turn only exchanges the players' records
    wins: NDArray[np.uint8]  # (t, u) 1 if a turn that leaves these scores has won


LANE_STEP = 8  # lanes are padded to whole vectors, so that few widths are ever compiled

STRIP = 8  # higher scores of a strip of cells, whose columns are to fit in a core's cache


class Layout:
    """How memory is split into an active part and a lane, and where afterstates lie.

    The active part (extra turn, own record) decides how rolls play and is forgotten or replaced;
    the lane (state, turn number, opponent's record) is only carried to the next mover, or changed
    on the way by what is recorded of the turn.

    Attributes
    ----------
    kept : int
        Values of either player's own record.
    records : int
        W: what a turn can leave, a player's record and what changes the state.
    active, lanes, width : int
        J, lanes in use, and L with their padding.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.goal = rules.goal
        self.turns, self.extras, self.kept = memory_sizes(rules)
        self.states = states(rules)
        self.records = records_left(rules)
        self.active = self.extras * self.kept
        self.lanes = self.states * self.turns * self.kept
        self.width = 1 if self.lanes == 1 else -(-self.lanes // LANE_STEP) * LANE_STEP

    def slot(self, memory: Memory) -> int:
        """Where a memory is kept: active part times the width, plus the lane."""
        active = memory.extra * self.kept + memory.own
        lane = (memory.state * self.turns + memory.turn) * self.kept + memory.opponent
        return active * self.width + lane

    def memory(self, active: int, lane: int) -> Memory:
        """Memory of an active part and a lane."""
        extra, own = divmod(active, self.kept)
        carried, opponent = divmod(lane, self.kept)
        state, turn = divmod(carried, self.turns)
        return Memory(turn, extra, own, opponent, state)


def memory_table(layout: Layout, turns: TurnTable) -> NDArray[np.uint64]:
    """Slot of the next mover's memory by (moves again, record, lane); padding maps to itself."""
    table = np.tile(np.arange(layout.width, dtype=np.uint64), (2, layout.records, 1))
    for again, recorded, lane in product((0, 1), range(layout.records), range(layout.lanes)):
        # The active part does not matter: what is kept of it is the record, given here.
        before = layout.memory(0, lane)
        table[again, recorded, lane] = layout.slot(turns.next_memory(before, recorded, bool(again)))
    return table


def pass_order(goal: int, strip: int = STRIP) -> tuple[Ints, Ints]:
    """Order the cells forward, by own and opponent's score: none leads to one before it.

    Strips of the higher score, and in each by the lower, a cell with its mirror image. A landing
    leaves both scores as high as the afterstate's or higher, or swaps them, and so leads to the
    same pair of cells or further on.
    """
    own, opponent = (axis.ravel() for axis in np.indices((goal, goal)))
    low, high = np.minimum(own, opponent), np.maximum(own, opponent)
    order = np.lexsort([own, high, low, high // strip])
    return own[order], opponent[order]


def swaps_records(layout: Layout, next_memory: NDArray[np.uint64]) -> bool:
    """Whether passing the turn makes nothing of the memory but an exchange of the records."""
    record, lane = np.ogrid[: layout.records, : layout.lanes]
    swapped = lane * layout.width + record
    table = next_memory[0, :, : layout.lanes]
    return layout.active == layout.lanes and np.array_equal(table, swapped)


Mode = tuple[int, int, bool]  # kind of turn, bonus, whether the roll forces an extra turn


class TurnKind(NamedTuple):
    """What rolls from a base score, and no dice from its cell."""

    sides: int
    """Of the dice."""
    extra: int
    """Bonus that no dice earn: where what they score depends on the mover's own score, a bonus on
    them is not the same as a base further on."""


def find_modes(
    layout: Layout, turns: TurnTable, *, own_counts: bool
) -> tuple[list[TurnKind], NDArray[np.uint8], list[Mode], Ints]:
    """Find kinds of turn, the situation of every cell, modes, and the mode of every roll.

    The last by situation, active memory, lane and roll.
    """
    rules, goal = layout.rules, layout.goal
    seen: dict[tuple[int, ...], int] = {}
    situation = np.zeros((goal, goal), np.uint8)
    example: list[tuple[int, int]] = []
    usually = [Memory(extra=extra) for extra in range(layout.extras)]
    for own, opponent in product(range(goal), repeat=2):
        usual = tuple([turns.dice_sides(own, opponent, memory) for memory in usually])
        if usual not in seen:
            seen[usual] = len(seen)
            example.append((own, opponent))
        situation[own, opponent] = seen[usual]
    kinds = [TurnKind(sides, 0) for sides in sorted(set().union(*seen))]
    modes: list[Mode] = []
    chosen = np.zeros((len(seen), layout.active, layout.lanes, rules.max_dice + 1), np.int64)
    for place, (own, opponent) in enumerate(example):
        for active, lane in product(range(layout.active), range(layout.lanes)):
            memory = layout.memory(active, lane)
            sides = turns.dice_sides(own, opponent, memory)
            for roll in range(rules.max_dice + 1):
                extra, forced = turns.memory_effect(memory, roll)
                kind = TurnKind(sides, 0)
                if own_counts and roll == 0 and extra:
                    kind, extra = TurnKind(sides, extra), 0
                    if kind not in kinds:
                        kinds.append(kind)
                mode = (kinds.index(kind), extra, forced)
                if mode not in modes:
                    modes.append(mode)
                chosen[place, active, lane, roll] = modes.index(mode)
    if len({extra for _, extra, _ in modes} - {0}) > 1:
        raise ValueError("rules: bonuses of different sizes cannot be compiled together")
    return kinds, situation, modes, chosen


def find_exceptions(layout: Layout, chosen: Ints) -> tuple[Ints, dict[str, Any]]:
    """Split modes into the most common one of every roll and the exceptions to it."""
    situations, active, _, rolls = chosen.shape
    default = np.zeros((situations, rolls), np.int64)
    start = np.zeros((situations, active + 1), np.int64)
    found: list[tuple[int, int, int, int]] = []
    for place in range(situations):
        for roll in range(rolls):
            default[place, roll] = Counter(chosen[place, :, :, roll].flat).most_common(1)[0][0]
        for memory in range(active):
            start[place, memory] = len(found)
            for roll in range(rolls):
                low = 0
                for mode, run in groupby(chosen[place, memory, :, roll]):
                    high = low + len(list(run))
                    if mode != default[place, roll]:
                        whole = low == 0 and high == layout.lanes
                        found.append((roll, mode, low, layout.width if whole else high))
                    low = high
        start[place, active] = len(found)
    columns = np.array(found, np.int64).reshape(-1, 4).T.copy()
    names = ("exception_roll", "exception_mode", "exception_low", "exception_high")
    return default, {"exception_start": start, **dict(zip(names, columns, strict=True))}
