"""What a cell does with the hidden memory: who arrives with which, and what each roll then is.

A cell's arrays by memory have a row of L lanes for every active memory; at least L rows, so that
they can be transposed. A roll that plays otherwise for some memories than for most is an
*alternative*: it lies elsewhere in the buffer, and its *members* are those memories.
"""

import numpy as np

from hogeq.kernels.lanes import (
    above_rounding,
    item,
    lane_sum,
    load,
    masked,
    splat,
    store,
    transpose,
)
from hogeq.kernels.sums import part

KEPT, SWAPPED, SCATTERED = 0, 1, 2  # how record and lane make the next mover's memory


def to_turn(size, dtype):
    """Make scratch for transpositions, (L * L,); None for one lane, where nothing is swapped."""
    return np.zeros(size * size, dtype) if size > 1 else None


@part
def usual_at(tables, places, situation, roll):
    """Position in the buffer of a roll as most memories play it."""
    far = tables.default_far[situation, roll]
    return places[far] + tables.default_offset[situation, roll]


@part
def _other_at(tables, places, alternative):
    far = item(tables.alternative_far, alternative)
    return item(places, far) + item(tables.alternative_offset, alternative)


@part
def _members(tables, masses, alternative):
    """Reach probability, by lane, of the memories that play a roll the other way."""
    size = len(tables.lane)
    first = item(tables.member_start, alternative)
    last = item(tables.member_start, alternative + 1)
    total = splat(masses, 0.0, tables.lane)
    for member in range(first, last):
        row = load(masses, item(tables.member_memory, member) * size, tables.lane)
        mask = item(tables.member_mask, member)
        if mask >= 0:
            row = masked(row, tables.lane_masks, mask)
        total += row
    return total


@part
def collect(tables, reach, player, cell, masses, turned, common):
    """Reach probability of every memory slot of a player at a cell.

    Fills `masses` and their sums by lane, `common` (L,); returns the sum of all.
    """
    records, active = tables.dimensions.records, tables.dimensions.active_memories
    size = len(tables.lane)
    stride = tables.strides.records
    zero = splat(masses, 0.0, tables.lane)
    first, last = tables.arrival_start[cell], tables.arrival_start[cell + 1]
    swaps = tables.handover[0] == SWAPPED
    if turned is not None and swaps:
        for record in range(size):
            total = zero
            for arrival in range(first, last if record < records else first):
                if tables.arrival_again[arrival] == 0:
                    source = reach[len(reach) - 1 - player]
                    at = item(tables.arrival_base, arrival) + record * stride
                    total += load(source, at, tables.lane)
            store(turned, record * size, total)
        transpose(turned, masses, tables.lane)
    else:
        for memory in range(active):
            store(masses, memory * size, zero)
    for arrival in range(first, last):
        again = tables.arrival_again[arrival]
        handover = tables.handover[again]
        if handover == SWAPPED and swaps:
            continue
        source = reach[player if again else len(reach) - 1 - player]
        for record in range(records):
            at = tables.arrival_base[arrival] + record * stride
            if handover == KEPT:
                to = record * size
                total = load(masses, to, tables.lane) + load(source, at, tables.lane)
                store(masses, to, total)
            else:
                for lane in range(size):
                    masses[tables.next_memory[again, record, lane]] += source[at + lane]
    if cell == 0:
        masses[tables.start] += 1.0 / len(reach)
    total = zero
    for memory in range(active):
        total += load(masses, memory * size, tables.lane)
    store(common, 0, total)
    return lane_sum(total)


@part
def depart(tables, row, masses, common, buffer, places, own, situation):
    """Add a cell's reach to that of its rolls; ``common`` is the sum of ``masses`` by lane."""
    dimensions = tables.dimensions
    goal, num_actions, ring = dimensions.goal, dimensions.num_actions, dimensions.ring
    far_inside = own + ring - 1 < goal
    everyone = load(common, 0, tables.lane)
    for roll in range(num_actions):
        weight = row[roll]
        if weight > 0.0:
            usual = everyone
            first = tables.alternative_start[situation, roll]
            last = tables.alternative_start[situation, roll + 1]
            for alternative in range(first, last):
                members = _members(tables, masses, alternative)
                usual -= members
                if far_inside or tables.alternative_far[alternative] == 0:
                    at = _other_at(tables, places, alternative)
                    store(buffer, at, weight * members + load(buffer, at, tables.lane))
            if last > first:
                usual = above_rounding(usual, everyone)
            if far_inside or tables.default_far[situation, roll] == 0:
                at = usual_at(tables, places, situation, roll)
                store(buffer, at, weight * usual + load(buffer, at, tables.lane))


@part
def average_rolls(tables, masses, buffer, places, situation, common, counterfactual_values):
    """Counterfactual value of every roll: its values weighted by the reach of each memory slot."""
    num_actions = tables.dimensions.num_actions
    everyone = load(common, 0, tables.lane)
    for roll in range(num_actions):
        usual = load(buffer, usual_at(tables, places, situation, roll), tables.lane)
        total = everyone * usual
        first = tables.alternative_start[situation, roll]
        for alternative in range(first, tables.alternative_start[situation, roll + 1]):
            other = load(buffer, _other_at(tables, places, alternative), tables.lane)
            total += _members(tables, masses, alternative) * (other - usual)
        counterfactual_values[roll] = lane_sum(total)


@part
def mix(tables, row, buffer, places, situation, gains, slots):
    """Value of every memory slot when rolls are drawn from ``row``.

    `gains` is scratch: what the row's share of an alternative is worth above the usual.
    """
    num_actions, active = tables.dimensions.num_actions, tables.dimensions.active_memories
    size = len(tables.lane)
    none = tables.alternative_start[situation, 0]
    common = splat(slots, 0.0, tables.lane)
    for roll in range(num_actions):
        weight = row[roll]
        first = tables.alternative_start[situation, roll]
        last = tables.alternative_start[situation, roll + 1]
        if weight > 0.0:
            usual = load(buffer, usual_at(tables, places, situation, roll), tables.lane)
            common += weight * usual
            for alternative in range(first, last):
                other = load(buffer, _other_at(tables, places, alternative), tables.lane)
                store(gains, (alternative - none) * size, weight * (other - usual))
        else:
            for alternative in range(first, last):
                zero = splat(slots, 0.0, tables.lane)
                store(gains, (alternative - none) * size, zero)
    for memory in range(active):
        value = common
        first = tables.exception_start[situation, memory]
        for x in range(first, tables.exception_start[situation, memory + 1]):
            gain = load(gains, item(tables.exception_gain, x) * size, tables.lane)
            mask = item(tables.exception_mask, x)
            if mask >= 0:
                gain = masked(gain, tables.lane_masks, mask)
            value += gain
        store(slots, memory * size, value)


@part
def publish(tables, slots, turned, values, player, cell):
    """Write a cell's values by memory slot to the afterstates that land on the cell."""
    records = tables.dimensions.records
    size = len(tables.lane)
    stride = tables.strides.records
    first, last = tables.arrival_start[cell], tables.arrival_start[cell + 1]
    if turned is not None and last > first and tables.handover[0] == SWAPPED:
        transpose(slots, turned, tables.lane)
    for arrival in range(first, last):
        again = tables.arrival_again[arrival]
        handover = tables.handover[again]
        target = values[player if again else len(values) - 1 - player]
        constant, sign = (0.0, 1.0) if again else (1.0, -1.0)
        for record in range(records):
            at = tables.arrival_base[arrival] + record * stride
            if turned is not None and handover == SWAPPED:
                value = load(turned, record * size, tables.lane)
                store(target, at, constant + sign * value)
            elif handover == KEPT:
                value = load(slots, record * size, tables.lane)
                store(target, at, constant + sign * value)
            else:
                for lane in range(size):
                    slot = tables.next_memory[again, record, lane]
                    target[at + lane] = constant + sign * slots[slot]


@part
def modes_of(tables, situation, memory, lane, modes):
    """Fill `modes` (K,) with how each roll plays from one memory slot."""
    for roll in range(len(modes)):
        modes[roll] = tables.default_mode[situation, roll]
    first = tables.exception_start[situation, memory]
    for x in range(first, tables.exception_start[situation, memory + 1]):
        if tables.exception_low[x] <= lane < tables.exception_high[x]:
            modes[tables.exception_roll[x]] = tables.exception_mode[x]


@part
def roll_at(tables, places, mode, roll):
    """Position in the buffer of a roll under a mode; ``places[bonus]`` locates the base."""
    num_actions = tables.dimensions.num_actions
    offset = (tables.mode_plane[mode] * num_actions + roll) * len(tables.lane)
    return places[1 if tables.mode_bonus[mode] > 0 else 0] + offset


@part
def sure_roll(row):
    """Return the roll of a row that makes one for certain, or -1."""
    for roll in range(len(row)):
        if row[roll] > 0.0:
            return roll if row[roll] == 1.0 else -1
    return -1


@part
def publish_one(tables, roll, buffer, places, situation, values, player, cell):
    """Mix and publish at once, where one roll is made for certain and turns only swap memories.

    What an afterstate is worth then hardly depends on the next mover's own record, the lane: it is
    that of the usual roll, or of an alternative for the members of it.
    """
    records = tables.dimensions.records
    stride = tables.strides.records
    first, last = tables.arrival_start[cell], tables.arrival_start[cell + 1]
    target = values[len(values) - 1 - player]
    usual = usual_at(tables, places, situation, roll)
    none = tables.alternative_start[situation, roll]
    some = tables.alternative_start[situation, roll + 1]
    for record in range(records):
        worth = item(buffer, usual + record)
        value = splat(values, 1.0 - worth, tables.lane)
        for alternative in range(none, some):
            gain = item(buffer, _other_at(tables, places, alternative) + record) - worth
            at = alternative * len(tables.lane)
            value -= masked(splat(values, gain, tables.lane), tables.member_lanes, at)
        for arrival in range(first, last):
            store(target, item(tables.arrival_base, arrival) + record * stride, value)
