"""Arrays and constants that kernels read and write: no code is compiled, or needs a compiler.

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

STEP = (0,) * 16  # zeros that say, by their number, how long a vector of lanes is
NATURE = 2  # the player number of chance

MOST_DENSE = 256  # most states of a small block, which is solved by elimination
NO_CHOICE = -1  # in place of an action, for a state that acts by its row
STAY, IMPROVE, LEAVE = range(3)  # aims of `graph_loops.choose`

# Indices of `Loop.course`. Where the iteration of a large block stands: its phase, its rounds, the
# most of them, the largest change of a value, and the largest rise of a bound on turns.
COURSE = 11
PHASE, ROUNDS, LIMIT, CHANGE, RISE, MEMBER, SEVERAL, ADAPTS, CHECKS, MOVED, STALE = range(COURSE)
# From `MEMBER` on, where setting the rows of a block stands: the next position, then flags, 0 or 1:
# whether rows have several states, rows are still set by the role, the last change is to be
# checked, a row has changed, and the values of the block are out of date.


class Lists(NamedTuple):
    """A graph in the order of a pass."""

    order: NDArray[np.int32]  # (C,) positions, block by block
    start: NDArray[np.int64]  # (B + 1,) where blocks begin: positions of one row, or that recur
    recurs: NDArray[np.uint8]  # (B,) 1 for blocks in which play can come to a position again
    mirror: NDArray[np.int32]  # (C,) the position with the players exchanged; (0,) if none is
    player: NDArray[np.int8]  # (C,) who moves: 0, 1 or NATURE
    row: NDArray[np.int32]  # (C,) row of a policy, or of `fixed` where nature moves
    fixed: NDArray[np.float64]  # (F, K) probabilities of nature's moves
    situation: NDArray[np.int32]  # (C,) kind of position, which says what actions do
    slot: NDArray[np.uint32]  # (S, K, H) way of the situation * J + lane; of no action the first's
    legal: NDArray[np.uint8]  # (S, K) 1 for actions that exist
    ways: NDArray[np.int32]  # ways that a situation has, one situation after another
    ways_start: NDArray[np.int64]  # (S + 1,)
    ends: NDArray[np.int64]  # (S,) number of ends that a turn can have
    action: NDArray[np.int32]  # (W,) action that plays by a way
    lanes: NDArray[np.int64]  # (W, 2) range of the lanes in which a way can be
    end_lanes: NDArray[np.int64]  # (E, 2) range of the lanes in which an end can be
    following: NDArray[np.uint32]  # (labels, J) the next memory, by label of an end and lane
    first: NDArray[np.int64]  # (W + 1,) where the outcomes of each way begin
    chance: NDArray[np.float64]  # probability of each outcome
    end: NDArray[np.int64]  # the end of each outcome, among those of the turn
    base: NDArray[np.int64]  # (C,) where the ends of a position begin in `next` and `label`
    next: NDArray[np.int32]  # the position after each end; -1 - t for payoff t
    label: NDArray[np.uint16]  # row of `following` for each end


class Scratch(NamedTuple):
    """Arrays that passes work in."""

    rolled: NDArray[np.float64]  # (n, U * J) values of a situation's ways by lane, by opponent
    ends: NDArray[np.float64]  # (E * J,) values after the ends of a turn, by lane
    masses: NDArray[np.float64]  # (U * J,) reach of ways by lane, zeros before and after
    flows: NDArray[np.float64]  # (E * J,) reach of ends by lane, zeros before and after
    error: NDArray[np.float64]  # (1,) bound on what iteration may have missed of a value


class Loop(NamedTuple):
    """What blocks need, and scratch: of m states of the largest small one."""

    block: NDArray[np.int64]  # (C,) block of a position that recurs, -1 elsewhere
    member: NDArray[np.int64]  # (C,) its number in the block
    leads: NDArray[np.uint8]  # (C,) 1 for the first position of a row in a block
    endless: float  # payoff of a play that never ends
    size: float  # of the largest payoff
    matrix: NDArray[np.float64]  # (m, m) probabilities to come from one state to another
    gain: NDArray[np.float64]  # (m,) expected payoff by leaving; then values, or expected visits
    leave: NDArray[np.float64]  # (m,) probability to leave
    pivot: NDArray[np.float64]  # (m,) probability to go on from each state as it is eliminated
    before: NDArray[np.float64]  # (K,) a row before its change
    turns: NDArray[np.float64]  # (C, H) bound on the turns in a block, or masses; zeros elsewhere
    course: NDArray[np.float64]  # (COURSE,) where the work on a block stands
    fresh: NDArray[np.float64]  # (H,) new values of a position, or masses that it sends
    nothing: NDArray[np.float64]  # (T,) zeros
    no_choice: NDArray[np.signedinteger[Any]]  # (C, H) NO_CHOICE


class Target(NamedTuple):
    """An afterstate to which rolls lead."""

    points: int  # for the mover
    gift: int  # points for the opponent
    record: int  # what is remembered of the turn
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
