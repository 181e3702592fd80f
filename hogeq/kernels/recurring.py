"""Cells that feed each other, for the passes of :mod:`hogeq.kernels.interpreter`.

Where a turn can leave the total as it was, cells of equal total can feed each other. Those that do
are a *block*, and the passes go from block to block. Only the first outcome of a way to roll, that
of no points, can *stay* in a block.

Where nothing is hidden and the other player then moves, two positions feed each other. If a roll
wins A when it leaves, and stays with probability W, and those of the other player are B and Z, then

    X = A + W Y,  Y = B + Z X,  so  X = (A + W B) / (1 - W Z),

and 1 - W Z is added up from what leaves, so that no digit is lost however long they stay.
Everywhere else no turn stays for certain. Where all leave with probability p at least, each
iteration takes values 1 - p times as near to their fixed point, in all states at once (it contracts
by the largest sum of a row), and so they are iterated until none changes.

Sizes are those of :mod:`hogeq.kernels.turns`; besides them, n is the number of blocks, M that of
the cells of the largest.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hogeq.kernels.cache import part
from hogeq.kernels.recurrence import ASCEND, EVALUATE, FULL_MEMORY, SOFTMAX
from hogeq.kernels.turns import (
    AGAIN,
    WIN,
    average,
    roll_out,
    set_row,
    value_ends,
    value_ways,
    want,
)

ENDLESS = 0.5  # what a game that never ends is worth: it is a draw
SETTLED = 3e-16  # change of win probabilities, or share of visits, that is nothing but rounding

# Called, not written into their callers: what is long stands by itself, and is compiled faster.
routine = njit(error_model="numpy", _nrt=False)


class Loops(NamedTuple):
    """Which cells and hidden states turns that stay lead to."""

    start: NDArray[np.int64]  # (n + 1,) range of the cells of a block
    cells: NDArray[np.int64]  # (C,) in the order in which blocks can be solved backward
    block: NDArray[np.int64]  # (C,) block of a cell, -1 if nothing stays in it
    member: NDArray[np.int64]  # (C,) number of a cell in its block
    entered: NDArray[
        np.uint8
    ]  # (C, H) 1 for hidden states to which turns that stay lead, 2 if at 1
    in_pairs: bool  # whether nothing is hidden and the other player moves at the other of two cells


class Links(NamedTuple):
    """Scratch: the hidden states of a block, S at most, and where rolls that stay lead."""

    left: NDArray[np.float64]  # (M, 2, U * J) values of ways to roll that leave
    before: NDArray[np.float64]  # (K,) a row
    states: NDArray[np.int64]  # (S,) their numbers
    rolls: NDArray[np.int64]  # (S,) how many rolls are told apart there
    gain: NDArray[np.float64]  # (S, K) what a roll wins by leaving
    stay: NDArray[np.float64]  # (S, K) probability that it stays
    to: NDArray[np.int64]  # (S, K) number of the state that follows
    numbers: NDArray[np.float64]  # (2, S)


@part
def stay_of(turns, loops, cell, way):
    """Probability that a way to roll stays in the block of a cell."""
    x = turns.first[way]
    end = turns.end[x]
    home = loops.block[cell]
    if home < 0 or turns.kind[cell, end] >= WIN:
        return 0.0
    return turns.chance[x] if loops.block[turns.cell[cell, end]] == home else 0.0


@part
def after_stay(turns, cell, way, lane):
    """Cell and memory that follow if a way to roll stays, and 1 if the same player moves."""
    end = turns.end[turns.first[way]]
    again = 1 if turns.kind[cell, end] == AGAIN else 0
    return turns.cell[cell, end], turns.following[again, turns.record[cell, end], lane], again


@part
def add_stays(turns, loops, cell, moving, waiting, left, rolled):
    """Value ways to roll, given their win probability when they leave the block."""
    for place in range(len(rolled)):
        rolled[place] = left[place]
    for way in range(len(turns.dice)):
        stay = stay_of(turns, loops, cell, way)
        if stay > 0.0:
            for lane in range(turns.lanes[way, 0], turns.lanes[way, 1]):
                there, memory, again = after_stay(turns, cell, way, lane)
                follow = moving[there, memory] if again else waiting[there, memory]
                rolled[way * turns.following.shape[2] + lane] += stay * follow


# --- two positions that feed each other -----------------------------------------------------------


@routine
def shares(turns, loops, row, cell, roll, left):
    """Win probability by leaving, of a row or, unless it is -1, of one roll.

    Also the probabilities that it stays and that it leaves, to the last digit.
    """
    wins = stays = leaves = 0.0
    for one in range(len(row)) if roll < 0 else range(roll, roll + 1):
        weight = row[one] if roll < 0 else 1.0
        if weight > 0.0:
            place = turns.place[turns.situation[cell], one, 0]
            way = place // turns.following.shape[2]
            stay = stay_of(turns, loops, cell, way)
            wins += weight * left[place]
            stays += weight * stay
            leaves += weight * (turns.later[way] if stay > 0.0 else 1.0)
    return wins, stays, leaves


@routine
def solve_pair(turns, loops, searchers, policies, cells, left, values):
    """Value two cells, or one with itself; as many movers as search choose their rolls.

    Neither can do better than by the same roll each time, so pairs of rolls are compared.
    """
    players, rolls = len(policies), policies.shape[2]
    first, first_end = (0, rolls) if searchers > 0 else (-1, 0)
    second, second_end = (0, rolls) if searchers > 1 else (-1, 0)
    for member in range(len(cells)):
        here, there = cells[member], cells[len(cells) - 1 - member]
        mine, theirs = left[member, 0], left[len(cells) - 1 - member, 1]
        row, other = policies[0, here], policies[players - 1, there]
        best, reply = -1.0, 2.0
        for one in range(first, first_end):
            wins, stays, leaves = shares(turns, loops, row, here, one, mine)
            worst = 2.0
            for its in range(second, second_end):
                loses, _, away = shares(turns, loops, other, there, its, theirs)
                leaving = leaves + stays * away
                won = (wins + stays * loses) / leaving if leaving > 0.0 else ENDLESS
                worst = min(worst, won)
            best = max(best, worst)
        for its in range(second, second_end):
            loses, back, _ = shares(turns, loops, other, there, its, theirs)
            reply = min(reply, loses + back * best)
        values[0, here, 0], values[1, there, 0] = best, reply


@routine
def visit_pair(turns, loops, policies, cells, left, reach):
    """Turn the flow into two cells, or one, into the expected visits to them."""
    players = len(policies)
    for member in range(len(cells) if players > 1 else 1):
        here, there, other = cells[member], cells[len(cells) - 1 - member], players - 1
        _, stays, leaves = shares(turns, loops, policies[0, here], here, -1, left)
        _, back, away = shares(turns, loops, policies[other, there], there, -1, left)
        leaving, into, beside = leaves + stays * away, reach[0, here, 0], reach[other, there, 0]
        leaving = leaving if leaving > 0.0 else 1.0
        reach[0, here, 0] = (into + back * beside) / leaving
        reach[other, there, 0] = (beside + stays * into) / leaving


# --- any others -----------------------------------------------------------------------------------


@routine
def link(turns, loops, movers, searchers, policies, cells, links):
    """Note the win probability of each roll that leaves a block, and the targets of one that stays.

    Rolls of a row that lead to the same state are one, with the sum of their weights.
    That is for entered states, those that are 2 first; each counts `movers` times. Returned are how
    many are 2, and how many they are.
    """
    memories, lanes = loops.entered.shape[1], turns.following.shape[2]
    core = count = 0
    for level in range(2, 0, -1):
        for state in range(len(cells) * memories):
            member, memory = state // memories, state % memories
            cell = cells[member]
            for mover in range(movers if loops.entered[cell, memory] == level else 0):
                number, row = state * movers + mover, policies[-1 if mover else 0, cell]
                rolls = 0
                for roll in range(len(row)):
                    place = turns.place[turns.situation[cell], roll, memory]
                    way, lane, follow = place // lanes, place % lanes, number
                    weight = 1.0 if mover < searchers else row[roll]
                    stay = weight * stay_of(turns, loops, cell, way)
                    if stay > 0.0:
                        there, then, again = after_stay(turns, cell, way, lane)
                        follow = (loops.member[there] * memories + then) * movers
                        follow += mover if again else movers - 1 - mover
                    one = 0 if mover >= searchers else rolls
                    while one < rolls and links.to[count, one] != follow:
                        one += 1
                    if one == rolls:
                        links.gain[count, one] = links.stay[count, one] = 0.0
                        links.to[count, one], rolls = follow, rolls + 1
                    links.stay[count, one] += stay
                    if weight > 0.0:  # what nobody plays is not valued
                        links.gain[count, one] += weight * links.left[member, mover, place]
                links.states[count], links.rolls[count] = number, rolls
                count += 1
        core = count if level == 2 else core
    return core, count


@routine
def solve_block(turns, loops, searchers, policies, cells, values, links):
    """Value the entered states of a block by iteration; as many movers as search choose.

    It begins at 0, from where values can only rise, rounded or not: so it comes to an end.
    """
    memories, wins = values.shape[2], links.numbers[0]
    core, entered = link(turns, loops, 2, searchers, policies, cells, links)
    for x in range(entered):
        wins[links.states[x]] = 0.0
    for count in (core, entered):  # those to which only others lead are valued last
        change = 1.0
        while change > SETTLED:
            change = 0.0
            for x in range(count):
                state = links.states[x]
                sign, best, total = 1.0 - 2.0 * (state % 2), -2.0, 0.0
                for roll in range(links.rolls[x]):
                    value = links.gain[x, roll] + links.stay[x, roll] * wins[links.to[x, roll]]
                    best, total = max(best, sign * value), total + value
                value = sign * best if state % 2 < searchers else total
                change = max(change, abs(value - wins[state]))
                wins[state] = value
    for x in range(entered):
        state = links.states[x]
        values[state % 2, cells[state // 2 // memories], state // 2 % memories] = wins[state]


@routine
def visit_block(turns, loops, policies, cells, masses, reach, links):
    """Turn the flow into the states of a block into the expected visits to them."""
    players, memories, lanes = len(policies), reach.shape[2], turns.following.shape[2]
    core, entered = link(turns, loops, players, 0, policies, cells, links)
    waiting, visits = links.numbers
    for state in range(len(cells) * memories * players):
        waiting[state] = visits[state] = 0.0
    for x in range(len(cells) * players):
        cell, player = cells[x // players], x % players
        roll_out(turns, policies[player, cell], cell, reach[player], masses)
        for way in range(len(turns.dice)):
            stay = stay_of(turns, loops, cell, way)
            for lane in range(turns.lanes[way, 0], turns.lanes[way, 1]):
                staying, masses[way * lanes + lane] = stay * masses[way * lanes + lane], 0.0
                if staying > 0.0:
                    there, memory, again = after_stay(turns, cell, way, lane)
                    state = (loops.member[there] * memories + memory) * players
                    state += player if again else players - 1 - player
                    waiting[state] += staying
                    visits[state] += staying
    grows, count = True, entered
    while grows:
        grows = False
        for x in range(count):
            mass = waiting[links.states[x]]
            waiting[links.states[x]] = 0.0
            for roll in range(links.rolls[x] if mass > 0.0 else 0):
                state, staying = links.to[x, roll], mass * links.stay[x, roll]
                waiting[state] += staying
                visits[state] += staying
                grows = grows or staying > SETTLED * visits[state]
        count = core
    for state in range(len(cells) * memories * players):
        cell, player = cells[state // players // memories], state % players
        reach[player, cell, state // players % memories] += visits[state]


@routine
def settle(turns, loops, how, cells, arrays, scratch, links):
    """Value the entered states of a block, with rows as the role sets them; returns the changes.

    ASCEND and SOFTMAX take its cells one after the other and solve it anew after each. Without
    memory ASCEND is policy iteration, and every change of a row counts. With memory a row can act
    more than once in a game, in hidden states whose shares it changes, and the roll that the slope
    favours can lose: so a change is kept only if it wins, and in one pass a block changes one row
    only, since the reach of its other rows then is out of date.
    """
    role, temperature, damping = how
    policies, reach, values, averages = arrays
    left, before, rolled = links.left, links.before, scratch.rolled[0]
    players, members, memories, changes = len(policies), len(cells), values.shape[2], 0
    for cell in cells:
        for memory in range(memories):
            values[0, cell, memory] = values[1, cell, memory] = 0.0
    for state in range(2 * members):
        member, mover = state // 2, state % 2
        cell, out = cells[member], left[member, mover]
        row = policies[min(mover, players - 1), cell]
        want(turns, cell, row, role != EVALUATE, scratch.wanted)
        value_ends(turns, cell, values[mover], values[1 - mover], 1.0 - mover, scratch.ends)
        value_ways(turns, scratch.wanted, 1, scratch.ends, out)
    # Rows are changed one by one, and checked where that need not win.
    member, checks, moved = 0, False, False
    adapts = role in (ASCEND, SOFTMAX)
    searchers = 0 if role != FULL_MEMORY else 2 if players == 1 else 1
    while True:
        if loops.in_pairs:
            solve_pair(turns, loops, searchers, policies, cells, left, values)
        else:
            solve_block(turns, loops, searchers, policies, cells, values, links)
        if not adapts:
            return changes
        cell = cells[member]
        row, found = policies[0, cell], averages[cell]
        add_stays(turns, loops, cell, values[0], values[1], left[member, 0], rolled)
        found[:] = 0.0
        here = average(turns, cell, 1.0, reach[0], rolled, found)
        if checks:
            gain = 0.0
            for roll in range(len(row)):
                gain += (row[roll] - before[roll]) * found[roll]
            checks, adapts = False, gain <= 0.0
            changes -= adapts
            for roll in range(len(row)):
                row[roll] = before[roll] if adapts else row[roll]
        else:
            for roll in range(len(row)):
                before[roll] = row[roll]
            changed = set_row(role, row, found, here, temperature, damping)
            changes += changed
            moved = moved or changed > 0
            checks = changed > 0 and memories > 1
        if not checks:
            member += 1
        if member == members:
            adapts = adapts and moved and memories == 1
            member, moved = 0, False
