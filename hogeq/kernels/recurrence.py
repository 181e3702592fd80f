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

    parts: int  # registers of each Vector

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
    """Compute S(n, x) for n = 1 to `dice.depth`, at the base's score x and at x - 1.

    Reads afterstates of the base, and sums of the bases above it; writes the sums of the two.
    """
    terms = {points: base.afterstate(dice.record, points) for points in range(1, dice.sides + 1)}
    _sum_dice(code, dice, base, range(1, dice.depth + 1), terms, {})


def value_rolls(code: Code, dice: Dice, base: Base, num_actions: int) -> list[Vector]:
    """Win probability of each of K rolls from a base; None if it is no sum and has no target."""
    win_probabilities: list[Vector | None] = []
    for roll in range(num_actions):
        terms = [base.win_at_once(roll), base.sum_of(roll, 0) if dice.is_sum[roll] else None]
        if roll == 0:
            terms.append(base.no_dice())
        present = [term for term in terms if term is not None]
        win_probabilities.append(code.pairwise_sum(present) if present else None)
    for target in dice.targets:
        value = base.afterstate(target.record, target.points, target.gift)
        for roll, chance in target.ways:
            before = win_probabilities[roll]
            term = value * chance
            win_probabilities[roll] = term if before is None else term + before
    return win_probabilities


def loss_probabilities(code, policy, usual, with_bonus, members, memories) -> list[Vector]:
    """Probability that the mover loses, 1 - sum over rolls of policy * win probability, by memory.

    `policy` has a Vector for each roll. ``usual(roll)`` and ``with_bonus(roll)`` read a roll's win
    probabilities, a Vector, as most memories play it and as its members do: ``members[roll]``, some
    of 0 to `memories` - 1. Returns a Vector for each memory.
    """
    without_bonus = code.broadcast_like(policy[0], 1.0)
    corrections: list[list[Vector]] = [[] for _ in range(memories)]
    for roll, probability in enumerate(policy):
        win_probability = usual(roll)
        without_bonus = without_bonus - win_probability * probability
        if members[roll]:
            correction = (win_probability - with_bonus(roll)) * probability
            for memory in members[roll]:
                corrections[memory].append(correction)
    return [code.pairwise_sum([without_bonus, *terms]) for terms in corrections]


def reach_weighted_values(total_reach, reach_of_members, usual, with_bonus) -> list[Vector]:
    """Counterfactual value of each roll: win probability times reach, summed over memories.

    `total_reach` is that of all memories, a Vector; ``reach_of_members[roll]`` that of the roll's
    members, or None. ``usual(roll)`` and ``with_bonus(roll)`` are as of :func:`loss_probabilities`.
    """
    weighted = []
    for roll, member_reach in enumerate(reach_of_members):
        win_probability = usual(roll)
        value = total_reach * win_probability
        if member_reach is not None:
            value = member_reach * (with_bonus(roll) - win_probability) + value
        weighted.append(value)
    return weighted


# --- reach ------------------------------------------------------------------------------------


def reach_of_rolls(
    policy, total_reach, reach_of_members
) -> tuple[list[Vector], list[Vector | None]]:
    """Probability to get to a cell and make each roll there: without the bonus, and with it.

    `policy` has a Vector for each roll. `total_reach` is of all memories of the cell, and
    ``reach_of_members[roll]`` of those that gain a bonus on a roll, or None: they leave the others
    the difference, or 0 where that is mere rounding. The second list has None for such rolls.
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
    """Add the reach of rolls, ``flows[roll]``, times the targets' weights to their afterstates."""
    for target in dice.targets:
        flow = code.pairwise_sum(flows[roll] * chance for roll, chance in target.ways)
        base.add_to_afterstate(target.record, target.points, target.gift, flow)


def carry_reach_of_dice_sums(code: Code, dice: Dice, base: Base, flows: list[Vector]) -> None:
    """Carry reach of sums to those of one die less, at a base and the one above it.

    The transpose of :func:`value_dice_sums`; the reach of rolls, ``flows[roll]``, is added.
    """
    added = {roll: flow for roll, flow in enumerate(flows) if dice.is_sum[roll]}
    _sum_dice(code, dice, base, range(dice.depth, 0, -1), None, added)


def add_reach_to_dice_sums(dice: Dice, base: Base, flows: list[Vector]) -> None:
    """Add the reach of rolls, ``flows[roll]``, to sums that the base below has written."""
    for roll in range(1, dice.depth + 1):
        if dice.is_sum[roll]:
            base.put_sum(roll, 0, base.sum_of(roll, 0) + flows[roll])


def reach_landing_from_sums(code: Code, dice: Dice, base: Base) -> Vector:
    """Reach that sums bring to the afterstate of a base's score: by a last die of 2 or more."""
    summed = code.pairwise_sum(base.sum_of(1, points) for points in range(2, dice.sides + 1))
    return summed * (1.0 / dice.sides)


# --- both ways --------------------------------------------------------------------------------


def _sum_dice(code: Code, dice: Dice, base: Base, counts, first_terms, added) -> None:
    """Compute S(n, x), for every n of `counts` from the n before it, at a base and its neighbour.

    The first n has the terms `first_terms`, by points of the next die, or is 0 if they are None.
    ``added[n]``, if there, is added to the sum at the base itself.
    Two bases share all terms but one of each. New sums replace some that the next number of dice
    still reads, and so are written after that.
    """
    share = 1.0 / dice.sides
    previous = None
    unwritten: list[tuple[int, int, Vector]] = []
    for count in counts:
        terms = first_terms
        if previous is not None:
            terms = {points: base.sum_of(previous, points) for points in range(1, dice.sides + 1)}
        at_base = at_neighbour = code.vector(0.0, base.parts)
        if terms is not None:
            shared = code.pairwise_sum(terms[points] for points in range(2, dice.sides))
            at_base = base.replace_past_goal(count, 0, (shared + terms[dice.sides]) * share)
            at_neighbour = base.replace_past_goal(count, -1, (shared + terms[1]) * share)
        for written in unwritten:
            base.put_sum(*written)
        if count in added:
            at_base = at_base + added[count]
        unwritten = [(count, 0, at_base), (count, -1, at_neighbour)]
        previous = count
    for written in unwritten:
        base.put_sum(*written)


# --- roles that set rows ----------------------------------------------------------------------


def best_response_row(code: Code, values, row, tie) -> tuple[list[Vector], Vector]:
    """Put all probability on the best roll, the fewest dice on ties.

    `values` and `row`, the probabilities before, have a Vector for each roll. Values within `tie`
    of the best are as good as it. A row that is sure of such a roll stays. Returns the new
    probabilities by roll, and a Vector that is 1 where a row changes, else 0.
    """
    least_good = _largest(values) - tie
    # The value of a roll that the row is sure of, -1 of others.
    sure = [old.where_at_least(1.0, value, -1.0) for old, value in zip(row, values, strict=True)]
    changed = _largest(sure).where_at_least(least_good, 0.0, 1.0)
    unassigned = changed  # probability that no roll has yet
    best = []
    for old, value in zip(row, values, strict=True):
        chosen = value.where_at_least(least_good, unassigned, 0.0)
        unassigned = unassigned - chosen
        best.append(changed.where_at_least(1.0, chosen, old))
    return best, changed


def softmax_step(code: Code, values, row, weight, damping) -> list[Vector]:
    """Move a row part of the way, `damping`, to the softmax of ``values / weight``.

    They have a Vector for each roll; `weight` is reach times temperature.
    """
    best = _largest(values)
    scale = 1.0 / weight.maximum(LEAST_WEIGHT)
    powers = [exponential((value - best) * scale) for value in values]
    share = 1.0 / code.pairwise_sum(powers)
    return [(power * share - old) * damping + old for power, old in zip(powers, row, strict=True)]


def emit_row_update(code: Code, args, values, row, reach, put) -> None:
    """Emit code that changes rows as the role has it: ASCEND or SOFTMAX, else nothing.

    `values`, counterfactual ones, and `row`, the probabilities before, have a Vector for each roll;
    `reach` is of the rows: those that are not reached stay. ``put(roll, probability)`` writes the
    new rows. ``args.changes[0]`` rises by the number of rows that ASCEND changes.
    """
    nothing, role, changes = code.broadcast_like(reach, 0.0), args.role, args.changes

    def put_where_reached(new_row: list[Vector]) -> None:
        for roll, probability in enumerate(new_row):
            put(roll, nothing.where_at_least(reach, row[roll], probability))

    with code.when(role.equals(ASCEND)):
        best, changed = best_response_row(code, values, row, reach * TIE)
        is_new = nothing.where_at_least(reach, 0.0, changed)
        changes.put_number(0, code.builder.fadd(changes.number(0), entry_sum(is_new)))
        put_where_reached(best)
    with code.when(role.equals(SOFTMAX)):
        temperature = code.broadcast_like(reach, args.temperature)
        damping = code.broadcast_like(reach, args.damping)
        put_where_reached(softmax_step(code, values, row, reach * temperature, damping))


def _largest(values) -> Vector:
    """Largest value of any roll, place by place."""
    best = values[0]
    for value in values[1:]:
        best = value.maximum(best)
    return best
