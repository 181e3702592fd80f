"""Arrays and constants that kernels are given: nothing of it is compiled, or needs a compiler.

Sizes are those of :mod:`hogeq.kernels.graph_turns`; :mod:`hogeq.kernels.recurrence` uses targets.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

EVALUATE = 0  # keep to the policy
COUNTERFACTUAL = 1  # keep to the policy, and report counterfactual values
ASCEND = 2  # move to the roll with the largest counterfactual value
SOFTMAX = 3  # move part of the way to the softmax of the counterfactual values
FULL_MEMORY = 4  # maximise in every hidden state on its own: a player with full memory

STEP = (0,) * 16  # numbers of a vector
NATURE = 2

MOST_DENSE = 256  # states of a small block
NO_CHOICE = -1  # of a state whose row says how it acts
STAY, IMPROVE, LEAVE = range(3)  # aims of a choice

# Numbers of `Loop.course`: where iteration stands, and where settling the rows of a block does.
COURSE = 11
PHASE, ROUNDS, LIMIT, CHANGE, RISE, MEMBER, SEVERAL, ADAPTS, CHECKS, MOVED, STALE = range(COURSE)


class Lists(NamedTuple):
    """A graph in the order of a pass."""

    order: NDArray[np.int32]  # (C,) positions, block by block
    start: NDArray[np.int64]  # (B + 1,) where blocks begin: positions of one row, or that recur
    recurs: NDArray[np.uint8]  # (B,)
    mirror: NDArray[np.int32]  # (C,) the position with the players exchanged; (0,) if none is
    player: NDArray[np.int8]  # (C,)
    row: NDArray[np.int32]  # (C,)
    fixed: NDArray[np.float64]  # (F, K)
    situation: NDArray[np.int32]  # (C,)
    place: NDArray[np.uint32]  # (S, K, H) way of the situation * J + lane; of no action the first's
    legal: NDArray[np.uint8]  # (S, K)
    ways: NDArray[np.int32]  # ways that a situation has, one situation after another
    ways_start: NDArray[np.int64]  # (S + 1,)
    ends: NDArray[np.int64]  # (S,) number of ends that a turn can have
    action: NDArray[np.int32]  # (W,) of a way
    lanes: NDArray[np.int64]  # (W, 2) range of the lanes in which a way can be
    end_lanes: NDArray[np.int64]  # (E, 2) range of the lanes in which an end can be
    following: NDArray[np.uint32]  # (labels, J)
    first: NDArray[np.int64]  # (W + 1,)
    chance: NDArray[np.float64]
    end: NDArray[np.int64]
    base: NDArray[np.int64]  # (C,) where the ends of a position begin
    next: NDArray[np.int32]
    label: NDArray[np.uint16]


class Scratch(NamedTuple):
    """Arrays that passes work in."""

    rolled: NDArray[np.float64]  # (n, U * J) values of a situation's ways, by opponent
    ends: NDArray[np.float64]  # (E * J,)
    masses: NDArray[np.float64]  # (U * J,), zeros before and after
    flows: NDArray[np.float64]  # (E * J,), zeros before and after
    error: NDArray[np.float64]  # (1,) what iteration may have missed


class Loop(NamedTuple):
    """What blocks need, and scratch: of m states of the largest small one."""

    block: NDArray[np.int64]  # (C,) block of a position that recurs, -1 elsewhere
    member: NDArray[np.int64]  # (C,) its number in the block
    leads: NDArray[np.uint8]  # (C,) 1 for the first position of a row in a block
    endless: float
    size: float  # of the largest payoff
    matrix: NDArray[np.float64]  # (m, m) chances to come from one state to another
    gain: NDArray[np.float64]  # (m,) payoff by leaving; then values
    leave: NDArray[np.float64]  # (m,) probability to leave
    pivot: NDArray[np.float64]  # (m,)
    before: NDArray[np.float64]  # (K,) a row
    turns: NDArray[np.float64]  # (C, H) bound on the turns in a block, or masses; zeros elsewhere
    course: NDArray[np.float64]  # (COURSE,) where the work on a block stands
    fresh: NDArray[np.float64]  # (H,)
    nothing: NDArray[np.float64]  # (T,) zeros
    no_choice: NDArray[np.signedinteger[Any]]  # (C, H) NO_CHOICE


class Target(NamedTuple):
    """An afterstate to which rolls lead."""

    points: int
    gift: int
    record: int
    ways: tuple[tuple[int, float], ...]
    """Every roll that leads there, and the weight of it, which may be below 0."""


class Dice(NamedTuple):
    """One kind of dice, of which a cell throws one."""

    sides: int
    depth: int  # most dice that are summed one die at a time; 0 if none are
    is_sum: tuple[bool, ...]
    """By roll: whether the sum counts for it, or is only a step to the next."""
    record: int  # record of the afterstates to which sums lead
    targets: tuple[Target, ...]
