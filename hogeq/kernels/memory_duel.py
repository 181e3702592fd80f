"""Win rates of two matrices, where turns only swap the players' records.

A matrix makes one roll at a cell, so the mover's own record matters only through how that roll
plays: as usual, or with a bonus for the few records that are its *members*. An afterstate is then
worth one number for each record that the turn left, and another for what members gain on it: 2 W
numbers instead of W squared. A roll's value, by the record of whoever moves next, is a sum over its
outcomes of the first, and of the second at the lanes of the members.
"""

from typing import NamedTuple

AHEAD = 4  # cells before its visit, a cell's numbers are asked for


class DuelShape(NamedTuple):
    """Constants of kernels."""

    lanes: int
    num_actions: int


def write_duel(
    code,
    shape,
    goal,
    scores,
    visits,
    wins,
    outcome_start,
    outcome_stop,
    chances,
    points,
    records,
    bonus,
    members,
    landed,
    arrival_start,
    matrices,
    worth,
    played,
    starts,
):
    """Win probability of two matrices against each other, exactly.

    `visits` are the cells in the order of a pass forward. ``outcome_start[roll]`` to
    ``outcome_stop[roll, own]`` are the outcomes of a roll that stay below the goal; those of no
    dice, by the opponent's score, come after all others. ``wins[own, opponent, roll]`` wins at
    once. ``bonus[roll]`` is what members gain, and ``members[roll]`` is 1 at their lanes. `landed`
    are the afterstates that land on a cell, ``arrival_start[cell:][:2]`` their range.

    `worth` is scratch: by player, opponent and so many `scores`, what an afterstate is worth by its
    record, then what members gain on it; 0 from the goal on. `played` is scratch likewise: the roll
    that is made next. ``starts[player]`` is filled with what the first cell is worth, and what
    members lose there without their bonus.
    """
    lanes, num_actions = shape.lanes, shape.num_actions
    parts = lanes // code.width
    with code.loop(0, goal * goal, down=True) as turn:
        ahead = (turn - AHEAD).at_least(0)
        later = visits.number(ahead * 2) * goal + visits.number(ahead * 2 + 1)
        wins.ask_for(later * num_actions, 2 * code.width)
        own, opponent = visits.number(turn * 2), visits.number(turn * 2 + 1)
        cell = own * goal + opponent
        with code.loop(0, 2) as player:
            roll = matrices.number(player * goal * goal + cell)
            column = (player * goal + opponent) * scores
            none = outcome_start.number(num_actions) + opponent
            after_none = code.select(own + points.number(none) < goal, none + 1, none)
            rolls_none = roll.equals(0)
            first = code.select(rolls_none, none, outcome_start.number(roll))
            last = code.select(rolls_none, after_none, outcome_stop.number(roll * goal + own))
            totals = []
            for base in (own, own + bonus.number(roll)):
                won = wins.number((base * goal + opponent) * num_actions + roll)
                totals.append((base + column, code.variable(code.vector(won, parts))))
            with code.loop(first, last) as outcome:
                chance, record = chances.number(outcome), records.number(outcome)
                for base, total in totals:
                    score = base + points.number(outcome)
                    place = score * (2 * lanes) + record
                    usual, gain = (
                        code.vector(code.builder.fmul(chance, worth.number(at)), parts)
                        for at in (place, place + lanes)
                    )
                    theirs = members.vector(played.number(score) * lanes, parts)
                    total.set(theirs * gain + (total.get() + usual))
            value, with_bonus = (total.get() for _, total in totals)
            rival = (1 - player) * goal * scores
            with code.loop(arrival_start.number(cell), arrival_start.number(cell + 1)) as arrival:
                there = rival + landed.number(arrival)
                worth.put(there * (2 * lanes), 1.0 - value)
                worth.put(there * (2 * lanes) + lanes, value - with_bonus)
                played.put_number(there, roll)
            with code.when(cell.equals(0)):
                starts.put(player * (2 * lanes), value)
                starts.put(player * (2 * lanes) + lanes, value - with_bonus)
