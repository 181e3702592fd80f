"""The recurrence of the game, and its transpose: the only place that knows how a turn runs.

*Values* go backward. A turn leaves an afterstate: points, a record of the turn, perhaps a gift to
the opponent. A roll is worth the sum of what its afterstates are worth, by their probabilities. If
``S(0, x)`` is the value of an afterstate of score x, then

    S(n, x) = 1/6 (S(n - 1, x + 2) + ... + S(n - 1, x + 6))

is that of n dice that show no 1, from every score x at once (:func:`add_dice`). The other outcomes
are few, and the afterstates of few dice have other records: a list of *targets* corrects the sums,
and is the whole value where a roll is no sum (:func:`value_rolls`). A policy then mixes the rolls
(:func:`mix`). Most memories play a roll as usual, but its *members* gain a bonus, and so play it
from another base.

*Reach* goes forward, through the same numbers in the opposite order: :func:`depart`,
:func:`spread_rolls`, :func:`remove_dice`, :func:`land_sums`. A rule that changes what a roll does
is a change to the targets. A rule that changes which rolls a memory has changes the members.

Nothing here says where numbers lie. A layout does, with a class like :class:`Base`, and whether the
numbers of a vector are memories of one cell or cells of one memory.
"""

from collections.abc import Iterator
from typing import Protocol

from hogeq.kernels import LEAST_WEIGHT, TIE
from hogeq.kernels.arrays import ASCEND, SOFTMAX, Dice
from hogeq.kernels.staged import Code, Vector
from hogeq.kernels.vectors import exponential, total


class Base(Protocol):
    """Where the numbers lie of a base: of a score before a roll, in one pass.

    A layout writes such a class. `away` counts bases in the direction from which sums come: up for
    values, down for reach.
    """

    parts: int

    def afterstate(self, record: int, points: int, gift: int = 0) -> Vector:
        """Read an afterstate: 0 past the goal."""

    def add_to_afterstate(self, record: int, points: int, gift: int, flow: Vector) -> None:
        """Add reach to an afterstate."""

    def sum_of(self, dice: int, away: int) -> Vector:
        """Read the sum of so many dice, of a base so far away."""

    def put_sum(self, dice: int, away: int, value: Vector) -> None:
        """Write it."""

    def at_edge(self, dice: int, away: int, value: Vector) -> Vector:
        """Replace the part past the goal in a sum of so many dice."""

    def won(self, roll: int) -> Vector | None:
        """Read the probability that a roll wins at once; None if sums have it."""

    def no_dice(self) -> Vector | None:
        """Read the afterstate of rolling no dice; None if this base always rolls some."""


# --- values -----------------------------------------------------------------------------------


def add_dice(code: Code, dice: Dice, base: Base) -> None:
    """Sum all numbers of dice at a base and the one below it, from afterstates on."""
    begin = {x: base.afterstate(dice.record, x) for x in range(1, dice.sides + 1)}
    _sum_dice(code, dice, base, range(1, dice.depth + 1), begin, {})


def value_rolls(code: Code, dice: Dice, base: Base, num_actions: int) -> list[Vector]:
    """Win probability of every roll from a base.

    That of rolls which are no sum and have no target is None.
    """
    worth: list[Vector | None] = []
    for roll in range(num_actions):
        terms = [base.won(roll), base.sum_of(roll, 0) if dice.is_sum[roll] else None]
        if roll == 0:
            terms.append(base.no_dice())
        present = [term for term in terms if term is not None]
        worth.append(code.tree(present) if present else None)
    for target in dice.targets:
        value = base.afterstate(target.record, target.points, target.gift)
        for roll, chance in target.ways:
            term = value * chance
            worth[roll] = term if worth[roll] is None else term + worth[roll]
    return worth


def mix(code: Code, weights, usual, with_bonus, members, memories: int) -> list[Vector]:
    """Value of each memory to the player not to move: 1 less the mover's win probability.

    ``usual(roll)`` and ``with_bonus(roll)`` read a roll as most play it and as its members do,
    ``members[roll]``, of so many memories.
    """
    common = code.like(weights[0], 1.0)
    extra: list[list[Vector]] = [[] for _ in range(memories)]
    for roll, weight in enumerate(weights):
        here = usual(roll)
        common = common - here * weight
        if members[roll]:
            loss = (here - with_bonus(roll)) * weight
            for memory in members[roll]:
                extra[memory].append(loss)
    return [code.tree([common, *terms]) for terms in extra]


def weigh(everyone, of_members, usual, with_bonus) -> list[Vector]:
    """Weigh values of all rolls by the reach of everyone, and of each roll's members or None."""
    weighted = []
    for roll, some in enumerate(of_members):
        here = usual(roll)
        value = everyone * here
        if some is not None:
            value = some * (with_bonus(roll) - here) + value
        weighted.append(value)
    return weighted


# --- reach ------------------------------------------------------------------------------------


def depart(weights, everyone, of_members) -> tuple[list[Vector], list[Vector | None]]:
    """Carry reach to the rolls, as most play them, and as the members of each do, or None."""
    usual: list[Vector] = []
    with_bonus: list[Vector | None] = []
    for weight, some in zip(weights, of_members, strict=True):
        rest = everyone if some is None else (everyone - some).above_rounding(everyone)
        usual.append(rest * weight)
        with_bonus.append(None if some is None else some * weight)
    return usual, with_bonus


def spread_rolls(code: Code, dice: Dice, base: Base, flows: list[Vector]) -> None:
    """Carry reach from rolls to the targets."""
    for target in dice.targets:
        flow = code.tree(flows[roll] * chance for roll, chance in target.ways)
        base.add_to_afterstate(target.record, target.points, target.gift, flow)


def remove_dice(code: Code, dice: Dice, base: Base, flows: list[Vector]) -> None:
    """Carry reach from sums at a base and the one above it to those of one die less.

    Add the flows of the base to its own sums.
    """
    added = {roll: flow for roll, flow in enumerate(flows) if dice.is_sum[roll]}
    _sum_dice(code, dice, base, range(dice.depth, 0, -1), None, added)


def add_to_sums(dice: Dice, base: Base, flows: list[Vector]) -> None:
    """Add the flows of a base to its sums, which are there already: the second of two bases."""
    for roll in range(1, dice.depth + 1):
        if dice.is_sum[roll]:
            base.put_sum(roll, 0, base.sum_of(roll, 0) + flows[roll])


def land_sums(code: Code, dice: Dice, base: Base) -> Vector:
    """Reach that sums bring to the afterstate of a base's score."""
    summed = code.tree(base.sum_of(1, x) for x in range(2, dice.sides + 1))
    return summed * (1.0 / dice.sides)


# --- both ways --------------------------------------------------------------------------------


def _sum_dice(code: Code, dice: Dice, base: Base, counts, begin, added) -> None:
    """Sum numbers of dice at a base and its neighbour, each from those before it in `counts`.

    Two bases at once: all terms but one of each are shared. New sums replace some that the next
    number of dice still reads, and so are written after that.
    """
    share = 1.0 / dice.sides
    last, waiting = None, []
    for count in counts:
        terms = begin
        if last is not None:
            terms = {x: base.sum_of(last, x) for x in range(1, dice.sides + 1)}
        here = beside = code.vector(0.0, base.parts)
        if terms is not None:
            shared = code.tree(terms[x] for x in range(2, dice.sides))
            here = base.at_edge(count, 0, (shared + terms[dice.sides]) * share)
            beside = base.at_edge(count, -1, (shared + terms[1]) * share)
        for sums in waiting:
            base.put_sum(*sums)
        if count in added:
            here = here + added[count]
        waiting = [(count, 0, here), (count, -1, beside)]
        last = count
    for sums in waiting:
        base.put_sum(*sums)


# --- roles that set rows ----------------------------------------------------------------------


def best_row(code: Code, values, row, tie) -> tuple[list[Vector], Vector]:
    """Put all probability on the best roll, the fewest dice on ties; also 1 where a row changes.

    Values within `tie` of the best are as good as it. A row that is sure of such a roll stays.
    """
    enough = _largest(values) - tie
    played = [x.where_at_least(1.0, y, -1.0) for x, y in zip(row, values, strict=True)]
    changed = _largest(played).where_at_least(enough, 0.0, 1.0)
    left = changed
    best = []
    for old, value in zip(row, values, strict=True):
        chosen = value.where_at_least(enough, left, 0.0)
        left = left - chosen
        best.append(changed.where_at_least(1.0, chosen, old))
    return best, changed


def softened_row(code: Code, values, row, weight, damping) -> list[Vector]:
    """Move a row part of the way to the softmax of its values by `weight`, reach x temperature."""
    best, scale = _largest(values), 1.0 / weight.larger(LEAST_WEIGHT)
    powers = [exponential((value - best) * scale) for value in values]
    share = 1.0 / code.tree(powers)
    return [(power * share - old) * damping + old for power, old in zip(powers, row, strict=True)]


def set_rows(code: Code, args, values, row, reach) -> Iterator[tuple[int, Vector]]:
    """Change rows that are reached as the role has it: write the same for each roll and chance."""
    nothing, role, changes = code.like(reach, 0.0), args.role, args.changes
    with code.when(role.equals(ASCEND)):
        new, changed = best_row(code, values, row, reach * TIE)
        is_new = nothing.where_at_least(reach, 0.0, changed)
        changes.put_number(0, code.builder.fadd(changes.number(0), total(is_new)))
        for roll, chance in enumerate(new):
            yield roll, nothing.where_at_least(reach, row[roll], chance)
    with code.when(role.equals(SOFTMAX)):
        weight, damping = (code.like(reach, x) for x in (args.temperature, args.damping))
        new = softened_row(code, values, row, reach * weight, damping)
        for roll, chance in enumerate(new):
            yield roll, nothing.where_at_least(reach, row[roll], chance)


def _largest(values) -> Vector:
    best = values[0]
    for value in values[1:]:
        best = value.larger(best)
    return best
