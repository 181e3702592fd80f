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
STAY, IMPROVE, LEAVE = range(3)  # aims of `recurring_values.choose`

MAXIMISE, MINIMISE, PLAY = range(3)  # how a player acts: by the best or worst action, or a policy

TINY = 2.0**-1074  # absolute error of a product that is too small to have a relative one
# A mean of n numbers by n chances, divided by the chances' sum, is off by fewer than
# 2 n + MEAN_ROUNDINGS units of the mean size: n + 1 of the inner product (Higham, "Accuracy and
# Stability of Numerical Algorithms", 2nd ed., (3.5)) of chances that are rounded themselves, n of
# their sum (4.4), 2 of the subtraction of this error and the division. The other 5 are more than
# products of these errors, and than what the sum of the sizes lacks.
MEAN_ROUNDINGS = 8

# Indices of `RecurringBlocks.progress`. Where the iteration of a large block stands: its phase, its
# rounds, the most of them, the largest change of a value, and the largest rise of a bound on turns.
# In phase 0 and round 0 it has not begun.
PROGRESS = 11
PHASE, ROUNDS, ROUND_LIMIT, CHANGE, RISE = range(5)
# Where setting the rows of a block stands: the number of the next position, then flags, 0 or 1.
NEXT_MEMBER = 5
HAS_SEVERAL = 6  # a row can act in several states
IS_ADAPTING = 7  # rows are still set by the role
IS_ON_TRIAL = 8  # the last change of a row is to be checked, once the block is valued anew
HAS_CHANGED = 9  # a row has changed in this round over the rows
IS_STALE = 10  # the values of the block are out of date


class PassGraph(NamedTuple):
    """A graph in the order of a pass; lists lie one after another, from where each starts."""

    position_order: NDArray[np.int32]  # (C,) positions, block by block
    block_start: NDArray[np.int64]  # (B + 1,) into `position_order`, by block
    block_recurs: NDArray[np.uint8]  # (B,) 1 for blocks in which play can come to a position again
    mirror_position: NDArray[np.int32]  # (C,) that with the players exchanged; (0,) if none is
    player: NDArray[np.int8]  # (C,) who moves: 0, 1 or NATURE
    row: NDArray[np.int32]  # (C,) row of a policy, or of `nature_policy` where nature moves
    nature_policy: NDArray[np.float64]  # (F, K) probabilities of nature's moves
    situation: NDArray[np.int32]  # (C,) kind of position, which says what actions do
    action_slot: NDArray[np.uint32]  # (S, K, H) slot of the way; of no action that of the first
    is_legal: NDArray[np.uint8]  # (S, K) 1 for actions that exist
    situation_ways: NDArray[np.int32]  # ways that a situation has, one situation after another
    situation_start: NDArray[np.int64]  # (S + 1,) into `situation_ways`, by situation
    num_ends: NDArray[np.int64]  # (S,) number of ends that a turn can have
    way_action: NDArray[np.int32]  # (W,) action that plays by a way
    way_lanes: NDArray[np.int64]  # (W, 2) range of the lanes in which a way can be
    end_lanes: NDArray[np.int64]  # (E, 2) range of the lanes in which an end can be
    next_memory: NDArray[np.uint32]  # (labels, J) the memory after an end, by its label and lane
    outcome_start: NDArray[np.int64]  # (W + 1,) into the outcomes, by way
    outcome_chance: NDArray[np.float64]  # probability of each outcome
    outcome_end: NDArray[np.int64]  # the end of each outcome, among those of the turn
    end_start: NDArray[np.int64]  # (C,) into `next_position` and `end_label`, by position
    next_position: NDArray[np.int32]  # the position after each end; -1 - t for payoff t
    end_label: NDArray[np.uint16]  # row of `next_memory` for each end

    def block_positions(self, block: int) -> NDArray[np.int32]:
        """Positions of a block, (n,)."""
        return self.position_order[self.block_start[block] : self.block_start[block + 1]]


class Scratch(NamedTuple):
    """Arrays that passes work in."""

    way_values: NDArray[np.float64]  # (n, U * J) values of ways by slot, by opponent
    end_values: NDArray[np.float64]  # (E * J,) values after the ends of a turn, by lane
    way_reach: NDArray[np.float64]  # (U * J,) reach of ways by slot, zeros before and after
    end_reach: NDArray[np.float64]  # (E * J,) reach of ends by lane, zeros before and after
    all_actions: NDArray[np.float64]  # (K,) ones, in place of probabilities: every way counts
    iteration_error: NDArray[np.float64]  # (1,) bound on what iteration may have missed of a value


class RecurringBlocks(NamedTuple):
    """What blocks that recur need, and scratch: of m states of the largest small one."""

    block_of_position: NDArray[np.int64]  # (C,) block of a position that recurs, -1 elsewhere
    index_in_block: NDArray[np.int64]  # (C,) number of the position in its block
    is_first_of_row: NDArray[np.uint8]  # (C,) 1 for the first position of a row in a block
    endless_payoff: float  # of a play that never ends
    largest_payoff: float  # in size
    transition: NDArray[np.float64]  # (m, m) probabilities to come from one state to another
    state_values: NDArray[np.float64]  # (m,) expected payoff by leaving; after elimination, values
    leave_probability: NDArray[np.float64]  # (m,) of leaving the block by this turn
    pivot: NDArray[np.float64]  # (m,) probability to go on from each state as it is eliminated
    visits: NDArray[np.float64]  # (m,) expected visits
    row_before: NDArray[np.float64]  # (K,) a row before its change
    turns: NDArray[np.float64]  # (C, H) bound on the turns in a block; zeros before and after
    waiting_reach: NDArray[np.float64]  # (C, H) reach to be sent on; the same array as `turns`
    progress: NDArray[np.float64]  # (PROGRESS,) where the work on a block stands
    new_values: NDArray[np.float64]  # (H,) of a position
    sent_reach: NDArray[np.float64]  # (H,) of a position
    zero_payoffs: NDArray[np.float64]  # (T,) zeros
    no_choice: NDArray[np.signedinteger[Any]]  # (C, H) NO_CHOICE


class Play(NamedTuple):
    """The policies by which players act in one match."""

    me: int  # the player whose pass it is
    policies: NDArray[np.float64]  # (1 + n, R, K): its own and those of n opponents, or one for all
    opponent: int  # number of the opponent


class PassRule(NamedTuple):
    """How players act in a pass backward."""

    me: int  # the player whose pass it is
    role: int  # of that player: EVALUATE to FULL_MEMORY
    other_responds: bool  # whether the other player takes its best action in every state, too
    temperature: float  # of SOFTMAX
    damping: float  # share of the way to the softmax
    skips_mirrors: bool  # whether of two mirrored positions one is valued
    payoff_sum: float  # what payoffs of both players sum to


class Matches(NamedTuple):
    """A player against n opponents side by side; payoffs and values are to the player."""

    policies: NDArray[np.float64]  # (1 + n, R, K): its own and the opponents', or one for all
    weights: NDArray[np.float64]  # (n,) probabilities of the opponents
    payoff: NDArray[np.float64]  # (T,)
    reach: NDArray[np.float64]  # (n, C, H) of every state
    values: NDArray[np.float64]  # (n, C, H) of every state


class RowSums(NamedTuple):
    """Sums over the states of every row, and opponents by their weights."""

    action_values: NDArray[np.float64]  # (R, K) counterfactual; -inf where there is no action
    reach: NDArray[np.float64]  # (R,)


class LevelGraph(NamedTuple):
    """A graph, level by level, as the kernel of lower bounds takes it; sizes as of `Graph`."""

    level_start: Any  # (L + 1,) first position of each level
    level_recurs: Any  # (L,) 1 for levels in which play can come to a position again
    player: Any  # (C,) who moves: 0, 1 or NATURE
    row: Any  # (C,) row of the player's policy, or of nature's
    situation: Any  # (C,) kind of position, which says what actions do
    action_way: Any  # (S, H, K) way of each action; -1 is no action
    num_actions: Any  # (S,) actions up to the last that a situation has: K may be far larger
    lane: Any  # (H,) lane of a memory
    next_memory: Any  # (labels, lanes) the memory after an end, by its label and lane
    outcome_start: Any  # (W + 1,) into the outcomes, by way
    outcome_chance: Any  # probability of each outcome
    outcome_end: Any  # the end of each outcome, among those of the turn
    end_start: Any  # (C,) into `next_position` and `end_label`, by position
    next_position: Any  # the position after each end; -1 - t for payoff t
    end_label: Any  # what memory learns by each end
    payoff: Any  # (T,) to the player whom a bound is for


class Conduct(NamedTuple):
    """How players 0 and 1 and nature act."""

    acts: Any  # int64 (3,) MAXIMISE, MINIMISE or PLAY, by player
    policies: Any  # three arrays float64 (R, K), by player, that who has PLAY plays


class BoundRule(NamedTuple):
    """By which rules lower bounds of a level are found."""

    least_payoff: float
    endless_payoff: float  # of a play without end
    most_rounds: int  # of a level
    least_rise: float  # rounds of a level end when no bound rises by more
    falls: bool  # whether levels that recur are bounded by numbers that fall as well


class StateBounds(NamedTuple):
    """Lower bounds on the values of all states, and scratch of their computation."""

    lower: Any  # float64 (C, H)
    chosen: Any  # int32 (C, H) the action that raised the bound; -1 for none
    start: Any  # float64 (C, H) what bounds fall from, and then the bounds before they fell
    chosen_before: Any  # int32 (C, H) scratch: the actions before bounds fell
    is_safe: Any  # uint8 (C, H) scratch
    best: Any  # int64 (1,) scratch: the action by which a state is valued


class Target(NamedTuple):
    """An afterstate to which rolls lead."""

    points: int  # for the mover
    gift: int  # points for the opponent
    record: int  # what is remembered of the turn
    roll_weights: tuple[tuple[int, float], ...]
    """Every roll that leads there, and the weight of it, which may be below 0."""


class Dice(NamedTuple):
    """One kind of dice, of which a cell throws one."""

    sides: int
    most_summed: int  # most dice that are summed one die at a time; 0 if none are
    is_sum: tuple[bool, ...]
    """By roll: whether the sum counts for it, or is only a step to the next."""
    sum_record: int  # record of the afterstates to which sums lead
    targets: tuple[Target, ...]
