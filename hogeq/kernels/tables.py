"""The flat form of a game: the arrays from which layouts make theirs, and their shapes.

Sizes: G goal, T = G + largest bonus, K actions (0 to the most dice), W records (what is remembered
of one turn), J active memories (the part that decides how a roll plays), L lanes (the part that is
only carried, padded), H memories, D kinds of turn (the dice, and what no dice score), P planes (a
kind of turn together with whether the roll forces an extra turn), M modes (a plane together with a
bonus), S situations (kinds of cells that differ in how rolls play).

A *cell* is ``own score * G + opponent's score`` of the player to move. An *afterstate* is what a
roll leaves behind before landing rules: the mover's score ``t`` with points and bonus, the
opponent's ``u``, the record ``w`` of the turn and the lane.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


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
    """One compiled game; made by :func:`hogeq.model.game.compile_game`."""

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
