"""The two passes over any game, turn by turn: values backward, reach forward.

They are for games that are not worth compiling for. Where positions recur, what cells of equal
total score do to each other is solved in :mod:`hogeq.kernels.recurring`.

Sizes are those of :mod:`hogeq.kernels.turns`; besides them, P is the number of players: 1 is
self-play.
"""

import math

from hogeq.kernels.cache import kernel, part
from hogeq.kernels.recurrence import ASCEND, EVALUATE, FULL_MEMORY, SOFTMAX
from hogeq.kernels.turns import mix, roll_out, send, value_ends, value_ways, want

LEAST_WEIGHT = 1e-38  # of reach times temperature: its inverse is finite in single precision too
TIE = 1e-12  # rolls whose win probabilities differ by less are equal


@part
def maximise(turns, cell, rolled, values, choice):
    """Value of a cell's memories, each taking its own best roll, the fewest dice on ties."""
    situation = turns.situation[cell]
    for memory in range(values.shape[1]):
        best = -1.0
        for roll in range(turns.place.shape[1]):
            best = max(best, rolled[turns.place[situation, roll, memory]])
        values[cell, memory] = best
        roll = 0
        while rolled[turns.place[situation, roll, memory]] < best - TIE:
            roll += 1
        choice[cell, memory] = roll


@part
def clear(averages):
    """Set the counterfactual values of a cell to 0."""
    for roll in range(len(averages)):
        averages[roll] = 0.0


@part
def average(turns, cell, weight, reach, rolled, averages):
    """Add the counterfactual values of all rolls at a cell; returns its reach."""
    situation = turns.situation[cell]
    here = 0.0
    for memory in range(reach.shape[1]):
        mass = weight * reach[cell, memory]
        if mass > 0.0:
            here += mass
            for roll in range(len(averages)):
                averages[roll] += mass * rolled[turns.place[situation, roll, memory]]
    return here


@part
def take_best(row, averages, here):
    """Put all probability on the best roll; keep the present one on a tie. 1 if it changed."""
    best = -1.0
    for roll in range(len(row)):
        best = max(best, averages[roll])
    chosen = -1
    for roll in range(len(row)):
        if averages[roll] >= best - TIE * here and (chosen < 0 or row[roll] == 1.0):
            chosen = roll
    changed = 1 if row[chosen] != 1.0 else 0
    for roll in range(len(row)):
        row[roll] = 1.0 if roll == chosen else 0.0
    return changed


@part
def soften(row, averages, here, temperature, damping):
    """Move a row part of the way to the softmax of its values, given arrival at the cell."""
    best = -1.0
    for roll in range(len(row)):
        best = max(best, averages[roll])
    weight = max(here * temperature, LEAST_WEIGHT)
    total = 0.0
    for roll in range(len(row)):
        averages[roll] = math.exp((averages[roll] - best) / weight)
        total += averages[roll]
    for roll in range(len(row)):
        row[roll] += damping * (averages[roll] / total - row[roll])


@part
def set_row(role, row, averages, here, temperature, damping):
    """Change a row as a role does; 1 if ASCEND chose another roll."""
    if here > 0.0 and role == ASCEND:
        return take_best(row, averages, here)
    if here > 0.0 and role == SOFTMAX:
        soften(row, averages, here, temperature, damping)
    return 0


@kernel
def backward(
    turns,
    role,
    policies,
    weights,
    reach,
    values,
    averages,
    infoset_reach,
    choice,
    temperature,
    damping,
    ends,
    rolled,
    wanted,
):
    """Backward induction over all cells where no position recurs; returns the changes of ASCEND.

    Parameters
    ----------
    turns : TurnLists
    role : int
        How the rolls of player 0 come about; all others follow their policies.
    policies : float64 (1 + n, C, K)
        Of player 0, whose rows ASCEND and SOFTMAX change, and of its opponents; (1, C, K) is
        self-play.
    weights : float64 (n,)
        Of the opponents, against all of whom a row of player 0 is set at once.
    reach : float64 (n, 2, C, H)
        From :func:`forward`; not read by EVALUATE and FULL_MEMORY.
    values : float64 (n, 2, C, H)
        Filled: win probability of player 0 against each opponent, by who moves.
    averages : float64 (C, K)
        Filled with counterfactual values, by COUNTERFACTUAL; scratch of ASCEND and SOFTMAX.
    infoset_reach : float64 (C,)
        Filled by these three.
    choice : int8 (C, H)
        Filled by FULL_MEMORY.
    temperature, damping : float
        Of SOFTMAX.
    ends : float64 (E * J,)
        Scratch.
    rolled : float64 (n, U * J)
        Scratch.
    wanted : uint8 (U,)
        Scratch.
    """
    changes = 0
    row_values = role not in (EVALUATE, FULL_MEMORY)
    for turn in range(len(turns.order) - 1, -1, -1):
        cell = turns.order[turn]
        row, found, here = policies[0, cell], averages[cell], 0.0
        if row_values:
            clear(found)
        # First player 0 against everybody, then, with its row set, everybody against it.
        for step in range(2 * len(weights)):
            player, pair = step // len(weights), step % len(weights)
            mine, theirs, out = values[pair, 0], values[pair, 1], rolled[pair]
            if player == 1:
                if role == FULL_MEMORY:
                    maximise(turns, cell, out, mine, choice)
                else:
                    if pair == 0:
                        changes += set_row(role, row, found, here, temperature, damping)
                    mix(turns, row, cell, out, mine)
                if len(policies) == 1:
                    for memory in range(mine.shape[1]):
                        theirs[cell, memory] = 1.0 - mine[cell, memory]
                    continue
            moving, waiting = (theirs, mine) if player else (mine, theirs)
            played = policies[1 + pair, cell] if player else row
            want(turns, cell, played, player == 0 and role != EVALUATE, wanted)
            value_ends(turns, cell, moving, waiting, 1.0 - player, ends)
            value_ways(turns, wanted, 1, ends, out)
            if player == 1:
                mix(turns, played, cell, out, theirs)
            elif row_values:
                here += average(turns, cell, weights[pair], reach[pair, 0], out, found)
        if row_values:
            infoset_reach[cell] = here
    return changes


@kernel
def forward(turns, policies, reach, infoset_reach, start, masses, skipped, ends):
    """Reach of every hidden state by who moves, where no position recurs.

    Parameters
    ----------
    turns : TurnLists
    policies : float64 (P, C, K)
        Rows need not sum to 1: a row of ones counts every roll once.
    reach : float64 (P, C, H)
        Filled; a fair coin says which of two players starts.
    infoset_reach : float64 (C,)
        Filled with the sums of player 0's.
    start : int
        Memory before the first turn.
    masses : float64 (U * J,)
        Scratch, 0 before and after.
    skipped : uint8 (U,)
        Zeros.
    ends : float64 (E * J,)
        Scratch, 0 before and after.
    """
    players = len(policies)
    for player in range(players):
        for cell in range(reach.shape[1]):
            for memory in range(reach.shape[2]):
                reach[player, cell, memory] = 0.0
        reach[player, 0, start] = 1.0 / players
    for turn in range(len(turns.order)):
        cell = turns.order[turn]
        for player in range(players):
            here = 0.0
            for memory in range(reach.shape[2]):
                here += reach[player, cell, memory]
            if player == 0:
                infoset_reach[cell] = here
            if here > 0.0:
                roll_out(turns, policies[player, cell], cell, reach[player], masses)
                send(turns, cell, reach[player], reach[players - 1 - player], masses, skipped, ends)


@kernel
def roll_values(turns, cell, moving, waiting, win, wanted, ends, rolled):
    """Value of every way to roll at a cell, (U * J,), given values of the states that follow."""
    for way in range(len(turns.dice)):
        wanted[way] = turns.usable[turns.situation[cell], way]
    value_ends(turns, cell, moving, waiting, win, ends)
    value_ways(turns, wanted, 1, ends, rolled)
