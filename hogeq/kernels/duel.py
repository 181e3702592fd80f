"""Win rate of two matrices, where turns only swap the players' records.

A matrix makes one roll at a cell, so the mover's own record matters only through how that roll
plays: as usual, or the other way for the few records that are its *members*.  What lands on a cell
is then worth, for each record that the turn left, one number and what the members gain on it: 2 W
numbers instead of W squared.
"""

import numpy as np

from hogeq.kernels.dice import core, kernel, part, zero_stays
from hogeq.kernels.lanes import item
from hogeq.kernels.tables import Tables

MOST_MEMBERS = 2


def can_duel(tables: Tables) -> bool:
    """Whether a game is of the kind that :func:`duel` plays."""
    return bool(
        tables.only_swaps
        and not tables.has_cycles
        and len(tables.plane_dice) == 1
        and not len(tables.fixed_win)
        and not tables.gift.any()
        and not tables.zero_gift.any()
        and not tables.default_far.any()
        and np.diff(tables.alternative_start, axis=1).max() <= 1
        and np.diff(tables.member_start).max(initial=0) <= MOST_MEMBERS
    )


@part
def _value_roll(tables, player, roll, own, opponent, usual, gain, member, out, at):
    """Win probability of a roll from a base, by the opponent's record, into ``out[at:]``."""
    goal, _, records, _, _, _ = tables.sizes
    dice = tables.plane_dice[0]
    total = tables.terminal_win[dice, own, opponent, roll]
    for record in range(records + 1):
        out[at + record] = 0.0
    if own < goal:
        base = (player * goal + opponent) * goal + own
        if roll == 0:
            if zero_stays(tables, own, opponent):
                row = base + tables.zero_points[opponent]
                place = row * records + tables.zero_record[opponent]
                total += item(usual, place)
                for x in range(MOST_MEMBERS):
                    out[at + item(member, row * MOST_MEMBERS + x)] += item(gain, place)
        else:
            for i in range(tables.outcome_start[dice, roll], tables.outcome_stop[dice, roll, own]):
                row = base + item(tables.outcome_points, i)
                place = row * records + item(tables.outcome_record, i)
                prob = item(tables.outcome_prob, i)
                total += prob * item(usual, place)
                share = prob * item(gain, place)
                for x in range(MOST_MEMBERS):
                    out[at + item(member, row * MOST_MEMBERS + x)] += share
    for record in range(records):
        out[at + record] += total


@core
def _duel(tables, matrices, usual, gain, member, rolls, roots):
    goal, _, records, _, ring, _ = tables.sizes
    order = tables.cell_order
    for turn in range(len(order) - 1, -1, -1):
        cell = order[turn]
        own, opponent = divmod(cell, goal)
        situation = tables.situation[own, opponent]
        for player in range(2):
            roll = matrices[player, own, opponent]
            _value_roll(tables, player, roll, own, opponent, usual, gain, member, rolls, 0)
            alternative = tables.alternative_start[situation, roll]
            other = 0
            first = last = 0
            if tables.alternative_start[situation, roll + 1] > alternative:
                other = records + 1
                far = own + (ring - 1 if tables.alternative_far[alternative] else 0)
                _value_roll(tables, player, roll, far, opponent, usual, gain, member, rolls, other)
                first = tables.member_start[alternative]
                last = tables.member_start[alternative + 1]
            for arrival in range(tables.arrival_start[cell], tables.arrival_start[cell + 1]):
                row = (1 - player) * goal * goal + tables.arrival_row[arrival]
                for record in range(records):
                    worth = rolls[record]
                    usual[row * records + record] = 1.0 - worth
                    gain[row * records + record] = worth - rolls[other + record]
                for x in range(MOST_MEMBERS):
                    lane = records
                    if first + x < last:
                        lane = tables.member_memory[first + x]
                    member[row * MOST_MEMBERS + x] = lane
            if cell == 0:
                start, record = divmod(tables.start, len(tables.lane))
                roots[player] = rolls[record]
                for x in range(first, last):
                    if tables.member_memory[x] == start:
                        roots[player] = rolls[other + record]


@kernel
def duel(tables, matrices, usual, gain, member):
    """Win probability of two matrices against each other, exactly.

    Parameters
    ----------
    tables : Tables
        Of a game for which :func:`can_duel` holds.
    matrices : int64 (2, G, G)
    usual, gain : float64 (2 * G * G * W,)
        Scratch: worth of an afterstate (u, t) by its record, and what members gain on it.
    member : int64 (2 * G * G * 2,)
        Scratch: records of the next mover that play the next roll the other way; W for none.

    Returns
    -------
    tuple of float, float
        Win probability of each player when moving first.
    """
    rolls = np.zeros(2 * (tables.sizes[2] + 1))
    roots = np.zeros(2)
    _duel(tables, matrices, usual, gain, member, rolls, roots)
    return roots[0], roots[1]
