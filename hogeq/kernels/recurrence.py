"""The recurrence of the game, and its transpose: the only place that knows how a turn runs.

*Values* go backward. A turn leaves an afterstate: points, a record of the turn, perhaps a gift to
the opponent. A roll is worth the sum of what its afterstates are worth, by their probabilities. If
``S(0, x)`` is the value of an afterstate of score x, then

    S(n, x) = 1/6 (S(n - 1, x + 2) + ... + S(n - 1, x + 6))

is that of n dice that show no 1, from every score x at once (:func:`value_dice_sums`). The other
outcomes are few, and the afterstates of few dice have other records: a list of *targets* corrects
the sums, and is the whole value where a roll is no sum (:func:`value_rolls`). A policy then mixes
the rolls (:func:`loss_probabilities`). Most memories play a roll as usual, but its *members* gain a
bonus, and so play it from another base: from a higher score.

*Reach* goes forward, through the same numbers in the opposite order: :func:`reach_of_rolls`,
:func:`carry_reach_to_targets`, :func:`carry_reach_of_dice_sums`, :func:`reach_landing_from_sums`. A
rule that changes what a roll does is a change to the targets. A rule that changes which rolls a
memory has changes the members.

Nothing here says where numbers lie. A layout does, with a class like :class:`Base`, and whether the
numbers of a vector are memories of one cell or cells of one memory. The functions write the code of
a kernel, with operands of :mod:`hogeq.kernels.staged`. K is the number of rolls.
"""

from typing import Protocol

from hogeq.kernels import LEAST_WEIGHT, TIE
from hogeq.kernels.arrays import ASCEND, SOFTMAX, Dice
from hogeq.kernels.staged import Code, Vector
from hogeq.kernels.vectors import entry_sum, exponential


class Base(Protocol):
    """Reads and writes the numbers of a base: of a score before a roll, in one pass.

    A layout writes such a class. Numbers are win probabilities, or reach. `away` counts bases in
    the direction from which sums come: up for values, down for reach.
    """

    num_registers: int  # of the processor, that a Vector fills

    def afterstate(self, record: int, points: int, gift: int = 0) -> Vector:
        """Read an afterstate: 0 past the goal."""

    def add_to_afterstate(self, record: int, points: int, gift: int, flow: Vector) -> None:
        """Add reach to an afterstate."""

    def sum_of(self, dice: int, away: int) -> Vector:
        """Read S(dice, x) of the base so far away."""

    def put_sum(self, dice: int, away: int, value: Vector) -> None:
        """Write it."""

    def replace_past_goal(self, dice: int, away: int, value: Vector) -> Vector:
        """Replace the part past the goal in a sum of so many dice."""

    def win_at_once(self, roll: int) -> Vector | None:
        """Read the probability that a roll wins at once; None if sums have it."""

    def no_dice(self) -> Vector | None:
        """Read the afterstate of rolling no dice; None if this base always rolls some."""


# --- values -----------------------------------------------------------------------------------


def value_dice_sums(code: Code, dice: Dice, base: Base) -> None:
    """Emit the sums S(n, x) for n = 1 to `dice.most_summed`, at the base's score x and at x - 1.

    S(n, x) is the part of the win probability of n dice at score x by outcomes that show no 1.
    Reads afterstates of the base, and sums of the bases above it; writes the sums of the two.
    """
    faces = range(1, dice.sides + 1)
    first_terms = {points: base.afterstate(dice.sum_record, points) for points in faces}
    numbers_of_dice = range(1, dice.most_summed + 1)
    _sum_dice(code, dice, base, numbers_of_dice, first_terms, {})


def value_rolls(code: Code, dice: Dice, base: Base, num_actions: int) -> list[Vector]:
    """Emit the win probability of each of K rolls from a base; None of rolls that are not played.

    A base reads and writes the numbers of one score before a roll. A roll's value is the
    probability to win at once, the sum of its dice if `dice.is_sum`, and its targets: afterstates
    times their weights. A roll of none of these is not played.
    """
    win_probabilities: list[Vector | None] = []
    for roll in range(num_actions):
        terms = [base.win_at_once(roll), base.sum_of(roll, 0) if dice.is_sum[roll] else None]
        if roll == 0:
            terms.append(base.no_dice())
        present = [term for term in terms if term is not None]
        win_probabilities.append(code.pairwise_sum(present) if present else None)
    for target in dice.targets:
        afterstate_value = base.afterstate(target.record, target.points, target.gift)
        for roll, weight in target.roll_weights:
            partial_sum = win_probabilities[roll]
            term = afterstate_value * weight
            win_probabilities[roll] = term if partial_sum is None else term + partial_sum
    return win_probabilities


def loss_probabilities(
    code, policy, read_value, read_value_with_bonus, bonus_members, num_memories
) -> list[Vector]:
    """Emit the probability that the mover loses, a Vector for each of `num_memories` memories.

    It is 1 - sum over rolls of policy * win probability; `policy` has a Vector for each roll. Most
    memories win with ``read_value(roll)``, a Vector. The memories in ``bonus_members[roll]`` gain a
    bonus first and win with ``read_value_with_bonus(roll)``: so the sum without bonus is computed
    once, and corrected for each member by the difference.
    """
    without_bonus = code.broadcast_like(policy[0], 1.0)
    corrections: list[list[Vector]] = [[] for _ in range(num_memories)]
    for roll, probability in enumerate(policy):
        win_probability = read_value(roll)
        without_bonus = without_bonus - win_probability * probability
        if bonus_members[roll]:
            correction = (win_probability - read_value_with_bonus(roll)) * probability
            for memory in bonus_members[roll]:
                corrections[memory].append(correction)
    return [code.pairwise_sum([without_bonus, *terms]) for terms in corrections]


def reach_weighted_values(
    total_reach, reach_of_members, read_value, read_value_with_bonus
) -> list[Vector]:
    """Emit the counterfactual value of each roll: win probability times reach, over all memories.

    `total_reach` is that of all memories, a Vector; ``reach_of_members[roll]`` that of the memories
    that gain a bonus on the roll, or None. ``read_value(roll)`` and ``read_value_with_bonus(roll)``
    read a roll's win probability, a Vector, without the bonus and with it.
    """
    weighted_values = []
    for roll, member_reach in enumerate(reach_of_members):
        win_probability = read_value(roll)
        value = total_reach * win_probability
        if member_reach is not None:
            value = member_reach * (read_value_with_bonus(roll) - win_probability) + value
        weighted_values.append(value)
    return weighted_values


# --- reach ------------------------------------------------------------------------------------


def reach_of_rolls(
    policy, total_reach, reach_of_members
) -> tuple[list[Vector], list[Vector | None]]:
    """Emit the probability to get to a cell and make each roll: without the bonus, and with it.

    `policy` has a Vector for each roll. `total_reach` is of all memories of the cell, and
    ``reach_of_members[roll]`` of those that gain a bonus on a roll, or None. The others have the
    difference, which is 0 where it is only rounding. The second list has None for rolls without
    members.
    """
    without_bonus: list[Vector] = []
    with_bonus: list[Vector | None] = []
    for probability, member_reach in zip(policy, reach_of_members, strict=True):
        others = total_reach
        if member_reach is not None:
            others = (total_reach - member_reach).zero_where_rounding(total_reach)
        without_bonus.append(others * probability)
        with_bonus.append(None if member_reach is None else member_reach * probability)
    return without_bonus, with_bonus


def carry_reach_to_targets(code: Code, dice: Dice, base: Base, flows: list[Vector]) -> None:
    """Emit code that adds the reach of rolls, ``flows[roll]``, by weights to the afterstates."""
    for target in dice.targets:
        flow = code.pairwise_sum(flows[roll] * chance for roll, chance in target.roll_weights)
        base.add_to_afterstate(target.record, target.points, target.gift, flow)


def carry_reach_of_dice_sums(code: Code, dice: Dice, base: Base, flows: list[Vector]) -> None:
    """Emit the step of reach from sums of n dice to those of n - 1, at a base and the one above it.

    The transpose of :func:`value_dice_sums`; adds the reach of rolls, ``flows[roll]``, at the base.
    """
    added = {roll: flow for roll, flow in enumerate(flows) if dice.is_sum[roll]}
    numbers_of_dice = range(dice.most_summed, 0, -1)
    _sum_dice(code, dice, base, numbers_of_dice, None, added)


def add_reach_to_dice_sums(dice: Dice, base: Base, flows: list[Vector]) -> None:
    """Add the reach of rolls, ``flows[roll]``, to sums that the base below has written."""
    for roll in range(1, dice.most_summed + 1):
        if dice.is_sum[roll]:
            base.put_sum(roll, 0, base.sum_of(roll, 0) + flows[roll])


def reach_landing_from_sums(code: Code, dice: Dice, base: Base) -> Vector:
    """Reach that sums bring to the afterstate of a base's score: by a last die of 2 or more."""
    summed = code.pairwise_sum(base.sum_of(1, points) for points in range(2, dice.sides + 1))
    return summed * (1.0 / dice.sides)


# --- both ways --------------------------------------------------------------------------------


def _sum_dice(code: Code, dice: Dice, base: Base, counts, first_terms, added) -> None:
    """Emit S(n, x) for every number of dice n in `counts`, at a base and at its neighbour.

    S(n, x) is what n dice that show no 1 are worth from score x, or their reach; a base has the
    numbers of a score. Its terms are the sums for the n before, of the bases that are 2 to
    `dice.sides` points away; it is their sum, divided by the sides. The first n has the terms
    `first_terms`, by points, or is 0 if they are None. ``added[n]``, if there is one, is added to
    the sum at the base itself. ``base.sum_of(n, away)`` reads the sum of the base so far away, and
    ``base.put_sum(n, away, value)`` writes it.
    """
    share = 1.0 / dice.sides
    previous_count = None
    unwritten: list[tuple[int, int, Vector]] = []
    for count in counts:
        terms = first_terms
        if previous_count is not None:
            faces = range(1, dice.sides + 1)
            terms = {points: base.sum_of(previous_count, points) for points in faces}
        at_base = at_neighbour = code.vector(0.0, base.num_registers)
        if terms is not None:
            # The neighbour is one point farther from all of them: the two share all terms but one.
            shared = code.pairwise_sum(terms[points] for points in range(2, dice.sides))
            at_base = base.replace_past_goal(count, 0, (shared + terms[dice.sides]) * share)
            at_neighbour = base.replace_past_goal(count, -1, (shared + terms[1]) * share)
        # Only now, since they take the place of sums that have just been read.
        for written in unwritten:
            base.put_sum(*written)
        if count in added:
            at_base = at_base + added[count]
        unwritten = [(count, 0, at_base), (count, -1, at_neighbour)]
        previous_count = count
    for written in unwritten:
        base.put_sum(*written)


# --- roles that set rows ----------------------------------------------------------------------


def best_response_row(code: Code, values, row, tie) -> tuple[list[Vector], Vector]:
    """Emit rows with all probability on the best roll, the fewest dice on ties.

    `values` and `row`, the probabilities before, have a Vector for each roll, with a number for
    each of several rows. Values within `tie` of the best are as good as it. A row that is sure of
    such a roll stays. Returns the new probabilities by roll, and a Vector that is 1 where a row
    changes, else 0. ``x.where_at_least(bound, a, b)`` is a where x >= bound, else b.
    """
    least_good = _largest(values) - tie
    # The value of a roll that the row is sure of, -1 of others.
    sure = [old.where_at_least(1.0, value, -1.0) for old, value in zip(row, values, strict=True)]
    changed = _largest(sure).where_at_least(least_good, 0.0, 1.0)
    unassigned = changed  # probability that no roll has yet: all goes to the first good one
    best_row = []
    for old, value in zip(row, values, strict=True):
        probability = value.where_at_least(least_good, unassigned, 0.0)
        unassigned = unassigned - probability
        best_row.append(changed.where_at_least(1.0, probability, old))
    return best_row, changed


def softmax_step(code: Code, values, row, weight, damping) -> list[Vector]:
    """Emit rows that are moved a share `damping` of the way to the softmax of ``values / weight``.

    `values`, weighted by reach, and `row`, the probabilities before, have a Vector for each roll;
    `weight` is reach times temperature. Returns the new probabilities, by roll.
    """
    best_value = _largest(values)
    scale = 1.0 / weight.maximum(LEAST_WEIGHT)
    # The best value is subtracted, so that no exponential overflows.
    powers = [exponential((value - best_value) * scale) for value in values]
    share = 1.0 / code.pairwise_sum(powers)
    return [(power * share - old) * damping + old for power, old in zip(powers, row, strict=True)]


def emit_row_update(code: Code, args, values, row, reach, put) -> None:
    """Emit code that changes rows by the role, `args.role`: ASCEND or SOFTMAX, else nothing.

    `values`, counterfactual ones, and `row`, the probabilities before, have a Vector for each roll;
    `reach` is of the rows: those that are not reached stay. ``put(roll, probability)`` writes the
    new rows. ``args.changes[0]`` rises by the number of rows that ASCEND changes.
    """
    zero = code.broadcast_like(reach, 0.0)
    role, changes = args.role, args.changes
    with code.when(role.equals(ASCEND)):
        best_row, changed = best_response_row(code, values, row, reach * TIE)
        changed_where_reached = zero.where_at_least(reach, 0.0, changed)
        num_changed = entry_sum(changed_where_reached)
        changes.put_number(0, code.builder.fadd(changes.number(0), num_changed))
        _put_where_reached(reach, row, best_row, put)
    with code.when(role.equals(SOFTMAX)):
        temperature = code.broadcast_like(reach, args.temperature)
        damping = code.broadcast_like(reach, args.damping)
        softmax_row = softmax_step(code, values, row, reach * temperature, damping)
        _put_where_reached(reach, row, softmax_row, put)


def _put_where_reached(reach, row, new_row, put) -> None:
    """Emit code that writes rows, by ``put(roll, probability)``: the new ones where reached."""
    zero = reach.code.broadcast_like(reach, 0.0)
    for roll, probability in enumerate(new_row):
        # 0 is at least the reach where there is none.
        put(roll, zero.where_at_least(reach, row[roll], probability))


def _largest(values) -> Vector:
    """Emit the largest value of any roll, number by number; `values` has a Vector for each roll."""
    best = values[0]
    for value in values[1:]:
        best = value.maximum(best)
    return best
