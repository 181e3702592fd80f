"""The flat form of a game: every array a kernel reads, its shape and its units.

Sizes: G goal, T = G + largest bonus, K actions (0 to the most dice), E = 2 if a roll can force an
extra turn and 1 otherwise, W records (what is remembered of one turn), J active memories (the part
that decides how a roll plays), L lanes (the part that is only carried, padded), H memories, D kinds
of turn (the dice, and what no dice score), P planes (a kind of turn together with whether the roll
forces an extra turn), M modes (a plane together with a bonus), S situations (kinds of cells that
differ in how rolls play).

A *cell* is ``own score * G + opponent's score`` of the player to move. An *afterstate* is what a
roll leaves behind before landing rules: the mover's score ``t`` with points and bonus, the
opponent's ``u``, the record ``w`` of the turn and the lane. Values and reach live on afterstates,
in flat arrays at ``origin + e * ends + u * columns + t * scores + w * records + lane`` with the
strides of :class:`Strides`. Where points are remembered, what can be scored from one base lies
next to each other (``records = lanes - scores``); elsewhere, what differs in ``t`` alone.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


# How record and lane make the next mover's memory.
KEPT, SWAPPED, SCATTERED = 0, 1, 2


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
    """Own scores of which a column of cells keeps the values of rolls: largest bonus + 1."""
    turn_kinds: int
    """D"""


class Strides(NamedTuple):
    """Where an afterstate lies."""

    origin: int
    ends: int
    columns: int
    scores: int
    records: int


class Tables(NamedTuple):
    """One compiled game; made by :func:`hogeq.model.game.compile_game`, read by every kernel."""

    lane: tuple[int, ...]  # L zeros: its length is a constant of the compiled kernel
    dimensions: Dimensions
    strides: Strides
    cell_order: Ints  # (G * G,) cells, forward: none feeds one before it
    run_start: Ints  # (r + 1,) range of a run of the order: neighbours that do not feed each other
    start: int  # memory slot ``j * L + lane`` before the first turn
    memory_slot: Ints  # (H,) slot of every memory that can be; the others are padding

    terminal_win: Floats  # (D, T, G, K) probability that the roll wins at once, from (t, o)
    outcome_prob: Floats  # (n,) probability of an outcome, grouped by kind and roll
    outcome_offset: Ints  # (n,) distance of its afterstate from that of zero points
    outcome_points: Ints  # (n,) the same as points ...
    outcome_record: Ints  # (n,) ... and record
    outcome_start: Ints  # (D, K) first outcome; points ascend
    outcome_stop: Ints  # (D, K, T) one past the last outcome below the goal, from t
    record_reach: Ints  # (W,) most points, and at least 1, of a turn that leaves a record
    gives: bool  # a turn can give points to the opponent
    gift: Ints  # (D, K) points given to the opponent by the first outcome (0: none)
    target_offset: Ints  # (m,) the same outcomes by afterstate: its distance, grouped by kind
    target_points: Ints  # (m,) ascending within a kind of turn
    target_gift: Ints  # (m,)
    target_start: Ints  # (D + 1,) range of the afterstates of a kind of turn
    source_start: Ints  # (m + 1,) range of the rolls that can leave an afterstate
    source_prob: Floats  # (n,) probability of its outcome
    source_offset: Ints  # (n,) roll * L

    # The same by sums: what one die more adds, and the terms that correct it.
    sides: Ints  # (D,)
    sum_ring: int  # bases of a column whose sums are kept
    sum_depth: Ints  # (D,) most dice whose sum is used; 0 if outcomes are always summed directly
    is_sum: NDArray[np.uint8]  # (D, K) 1 if a roll is a sum and its corrections, 0 if these alone
    many_offset: int  # distance of the afterstate with the record of large sums
    direct_terms: int  # terms of all outcomes of a base, on average over planes
    sum_terms: int  # terms of all its sums
    corrections: int  # terms of all its corrections
    term_prob: Floats  # (c,) correction, grouped by kind and roll
    term_offset: Ints  # (c,) as outcome_offset
    term_start: Ints  # (D, K) first term; points ascend
    term_stop: Ints  # (D, K, T) one past the last term below the goal, from t
    correction_offset: Ints  # (d,) the same terms by afterstate, as target_offset
    correction_points: Ints  # (d,)
    correction_gift: Ints  # (d,)
    correction_start: Ints  # (D + 1,)
    correction_first: Ints  # (d + 1,) as source_start
    correction_prob: Floats  # (c,)
    correction_source: Ints  # (c,) as source_offset

    zero_points: Ints  # (D, G, G) points for rolling no dice, from (t, o)
    zero_gift: Ints  # (D, G, G) points that this gives to the opponent
    zero_record: Ints  # (D, G, G) record that this leaves
    # Of few rows, which stay in the processor's cache: 1 where the mover's score does not matter.
    zero_offset: Ints  # (D, 1 or G, G) as outcome_offset
    zero_stop: Ints  # (D, 1 or G, G) own score from which on it takes a score to the goal

    plane_dice: Ints  # (P,) kind of turn
    plane_again: Ints  # (P,) 1 if the roll forces an extra turn
    plane_needed: NDArray[np.uint8]  # (G, G, P) 1 if a roll from base (t, o) can be on the plane
    mode_plane: Ints  # (M,)
    mode_bonus: Ints  # (M,) points added after the roll
    situation: NDArray[np.uint8]  # (G, G)
    default_mode: Ints  # (S, K) how a roll plays for most memories
    exception_start: Ints  # (S, J + 1) range of the exceptions of an active memory
    exception_roll: Ints  # (x,)
    exception_mode: Ints  # (x,) mode instead of the default
    exception_low: Ints  # (x,) first lane
    exception_high: Ints  # (x,) one past the last lane

    # The exceptions once more, as alternatives, grouped by situation and roll, and their members.
    default_far: Ints  # (S, K) 1 if most memories play the roll with a bonus
    default_offset: Ints  # (S, K) where the buffer holds it, from its base
    alternative_start: Ints  # (S, K + 1) range of the alternatives of a roll
    alternative_far: Ints  # (a,)
    alternative_offset: Ints  # (a,)
    member_start: Ints  # (a + 1,) range of the members of an alternative
    member_memory: Ints  # (x,)
    member_mask: Ints  # (x,) position among the masks, -1 for all lanes
    member_lanes: NDArray[np.uint8]  # (a * L,) 1 at the lanes equal to a member's active memory
    exception_gain: Ints  # (x,) alternative of an exception, counted from its situation's first
    exception_mask: Ints  # (x,)
    lane_masks: NDArray[np.uint8]  # (..., L) flat, 1 for the lanes concerned

    arrival_start: Ints  # (G * G + 1,) range of the afterstates that land on a cell
    arrival_base: Ints  # (y,) position of the afterstate with record 0
    arrival_row: Ints  # (y,) the same as u * G + t, both players' extra turns alike
    arrival_again: NDArray[np.uint8]  # (y,) 1 if the same player moves again
    next_memory: NDArray[np.uint64]  # (2, W, L) slot of whoever moves next: [again, record, lane]
    handover: Ints  # (2,) by again: KEPT, SWAPPED or SCATTERED, how next_memory runs
    only_swaps: bool  # all turns hand over SWAPPED, and no mask is ever used
    fixed_win: Ints  # (z,) positions of afterstates inside the board that win at once
    wins: NDArray[
        np.uint8
    ]  # (t, u) 1 if a turn that leaves these scores has won, as far as any can
