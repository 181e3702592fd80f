"""One cell's values with a game's terms written out, for kernels that are given a plan.

What is computed is what :mod:`hogeq.kernels.sums` and :mod:`hogeq.kernels.handover` compute, up to
the order of additions. No bounds are checked: what reaches the goal is read from a spare lane that
holds nothing, and written to one nobody reads.

Where an argument is called `column`, it is the position of the column's first number in `columns`,
and `source` and `base` are the table and the position of the base's row in it
(:class:`hogeq.kernels.plan.Places`).
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hogeq.kernels.emitter import Emitter, Pieces, constant_int, emitter_of
from hogeq.kernels.lanes import data_of
from hogeq.kernels.plan import CHUNK, FAR, NEAR, STEP

_integer = types.int64


class Base:
    """What is where for a base, while code is generated."""

    def __init__(self, emit: Emitter, columns: Any, column: Any, source: Any, base: Any) -> None:
        self.emit = emit
        self.data = emit.builder.gep(columns, [column])
        self._source = source
        self._base = base

    def entry(self, place: int) -> Any:
        """Read the base's row."""
        return self.emit.entry(self._source, self._base, place)

    def sums(self, kind: int, away: int) -> Any:
        """Position of the sums of a base by a kind of dice, `ring - 1` below to `sides` above."""
        plan = self.emit.constants
        return self.entry(plan.sums_row(kind) + (away + CHUNK - 1) % plan.dice[kind].ring)

    def rolls(self, place: int, thrown: Any) -> Any:
        """Position of the rolls of a base, near or far, with the dice that are thrown."""
        position = self.entry(place)
        one_kind = len(self.emit.constants.dice) == 1
        return position if one_kind else self.emit.builder.add(position, thrown)

    def level(self, sums: Any, roll: int) -> Any:
        """Position of a roll among a base's sums."""
        return self.emit.at(sums, (roll - 1) * self.emit.constants.lanes)

    def load(self, position: Any) -> Pieces:
        """Read a lane."""
        return self.emit.load(self.data, position)

    def store(self, lane: Pieces, position: Any) -> None:
        """Write a lane."""
        self.emit.store(lane, self.data, position)


def is_step(base: Base, test: str, step: int) -> Any:
    """Compare a base's place in its chunk."""
    return base.emit.builder.icmp_signed(test, base.entry(STEP), constant_int(step))


def if_needed(emit: Emitter, needed: Any, kind: int) -> AbstractContextManager[Any]:
    """Write what follows for bases that throw a kind of dice: with one kind all do."""
    if len(emit.constants.dice) == 1:
        return nullcontext()
    bit = emit.builder.and_(needed, constant_int(1 << kind))
    condition = emit.builder.icmp_signed("!=", bit, constant_int(0))
    return emit.builder.if_then(condition)  # type: ignore[no-any-return]


@intrinsic
def sum_rolls(typing, plan, columns, column, source, base):
    """Sum all rolls of the bases of a chunk, from its last: each from those of one die less."""
    signature = types.void(plan, columns, _integer, source, _integer)

    def generate(context, builder, signature, arguments):
        here = base_of(context, builder, signature, arguments)
        for kind, dice in enumerate(here.emit.constants.dice):
            if dice.depth:
                _sum_rolls(here, kind)
        return context.get_dummy_value()

    return signature, generate


def _sum_rolls(here: Base, kind: int) -> None:
    emit, plan = here.emit, here.emit.constants
    dice = plan.dice[kind]
    share = emit.constant(1.0 / dice.sides)
    rows = [here.sums(kind, x) for x in range(1 - CHUNK, dice.sides + 1)]
    known = [here.load(here.entry(plan.many_row + x)) for x in range(dice.sides)]
    made: list[Pieces] = []
    for roll in range(1, dice.depth + 1):
        if roll > 1:
            further = [here.load(here.level(row, roll - 1)) for row in rows[CHUNK:]]
            known = made[-2:] + further
        made = [emit.scale(share, total) for total in emit.windows(known, dice.sides - 1)]
        # The first bases of a chunk make the sums of one die when they are visited.
        for row, lane in zip(rows[CHUNK - len(made) : CHUNK], made, strict=True):
            here.store(lane, here.level(row, roll))


def base_of(context: Any, builder: Any, signature: Any, arguments: Any) -> Base:
    """Return the base of a function whose first arguments are a plan and a base."""
    kinds = signature.args
    _, columns, column, source, base = arguments[:5]
    columns = data_of(context, builder, kinds[1], columns)
    source = data_of(context, builder, kinds[3], source)
    return Base(emitter_of(context, builder, kinds[0], kinds[1]), columns, column, source, base)


@intrinsic
def value_rolls(typing, plan, columns, column, source, base, none, needed, wins, turn):
    """Win probability of every roll from a base, by lane; `none` is the afterstate of no dice.

    ``wins[turn]`` is what wins at once, and `needed` has the kinds of dice that are thrown.
    """
    signature = types.void(
        plan, columns, _integer, source, _integer, _integer, _integer, wins, _integer
    )

    def generate(context, builder, signature, arguments):
        here = base_of(context, builder, signature, arguments)
        *_, none, needed, wins, turn = arguments
        wins = data_of(context, builder, signature.args[7], wins)
        plan = here.emit.constants
        won = builder.mul(turn, constant_int(len(plan.dice) * plan.num_actions))
        for kind, dice in enumerate(plan.dice):
            sums = here.sums(kind, 0) if dice.depth else None
            if dice.depth:
                with builder.if_then(is_step(here, "<", CHUNK - 2)):
                    known = [here.load(here.entry(plan.many_row + x)) for x in range(1, dice.sides)]
                    share = here.emit.constant(1.0 / dice.sides)
                    total = here.emit.scale(share, here.emit.total(known))
                    here.store(total, here.level(sums, 1))
            with if_needed(here.emit, needed, kind):
                _value_rolls(here, kind, sums, none, wins, won)
        return context.get_dummy_value()

    return signature, generate


def _value_rolls(here: Base, kind: int, sums: Any, none: Any, wins: Any, won: Any) -> None:
    """Value rolls of a kind of dice; ``wins[won:]`` is what wins at once, kind by kind."""
    emit, plan = here.emit, here.emit.constants
    dice, worth = plan.dice[kind], []
    for roll in range(plan.num_actions):
        win = emit.entry(wins, won, kind * plan.num_actions + roll)
        lane = [emit.splat(win)] * emit.pieces
        if dice.is_sum[roll]:
            lane = emit.add(lane, here.load(here.level(sums, roll)))
        worth.append(lane)
    worth[0] = emit.add(worth[0], here.load(none))
    for place, target in enumerate(dice.targets):
        value = here.load(here.entry(plan.target_row(kind) + place))
        for roll, prob in target.rolls:
            product = emit.scale(emit.constant(prob), value)
            worth[roll] = emit.add(product, worth[roll])
    near = emit.at(here.entry(NEAR), kind * plan.num_actions * plan.lanes)
    for roll, lane in enumerate(worth):
        here.store(lane, emit.at(near, roll * plan.lanes))


@intrinsic
def end_here(typing, plan, columns, column, landing, at, worth):
    """Set the afterstates of a row of landings to what they are worth, the game being over."""
    signature = types.void(plan, columns, _integer, landing, _integer, types.float64)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, _, column, _, at, worth = arguments
        columns, landing = (data_of(context, builder, kinds[x], arguments[x]) for x in (1, 3))
        emit = emitter_of(context, builder, kinds[0], kinds[1])
        data, lane = builder.gep(columns, [column]), [emit.splat(worth)] * emit.pieces
        for record in emit.constants.kept if emit.constants.ends else ():
            emit.store(lane, data, emit.entry(landing, at, record))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def mix_and_publish(
    typing,
    plan,
    columns,
    column,
    source,
    base,
    thrown,
    policies,
    row,
    player,
    mine,
    landing,
    landed,
    first,
    staying,
    last,
):
    """Mix the rolls of a cell, and write what each memory is worth to whoever moved before.

    They are those of the dice that are `thrown`, mixed as `policies` has it from `row` on.
    ``landed[first:staying]`` are the column and the row of `landing` of what lands on the cell, in
    `columns` from the position `player`, and ``landed[staying:last]``, from `mine`, of what lands
    there with an extra turn. Returns the value of the memory before the first turn.
    """
    signature = types.float64(
        plan,
        columns,
        _integer,
        source,
        _integer,
        _integer,
        policies,
        _integer,
        _integer,
        _integer,
        landing,
        landed,
        _integer,
        _integer,
        _integer,
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        here = base_of(context, builder, signature, arguments)
        thrown, _, row, player, mine, _, _, first, staying, last = arguments[5:]
        columns, policies, landing, landed = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (1, 6, 10, 11)
        )
        emit, plan = here.emit, here.emit.constants
        rows = mixed(here, thrown, policies, row)
        memory, lane = divmod(plan.start, plan.lanes)
        start = emit.number_at(rows[memory], lane)

        def publish(player, lanes, first, last):
            def write(index, _):
                there, at = emit.landed_at(landed, index)
                data = builder.gep(columns, [builder.add(player, there)])
                for record in plan.kept:
                    emit.store(lanes[record], data, emit.entry(landing, at, record))
                return []

            emit.loop(first, last, [], write)

        if plan.keeps:
            kept = [emit.subtract([emit.constant(1.0)] * emit.pieces, lane) for lane in rows]
            publish(mine, kept, staying, last)
        turned = emit.transposed(rows + [rows[-1]] * (plan.lanes - plan.active))
        publish(player, turned, first, staying)
        return builder.fsub(ir.Constant(start.type, 1.0), start)

    return signature, generate


def mixed(here: Base, thrown: Any, policies: Any, row: Any) -> list[Pieces]:
    """Value of every active memory to the other player, who has just moved, by lane."""
    emit, plan = here.emit, here.emit.constants
    places = here.rolls(NEAR, thrown), here.rolls(FAR, thrown)
    # 1 less all that the mover wins.
    common = [emit.constant(1.0)] * emit.pieces
    extra: list[list[Pieces]] = [[] for _ in range(plan.active)]
    for roll, (is_far, offset) in enumerate(plan.usual):
        weight = emit.weight(policies, row, roll)
        usual = here.load(emit.at(places[is_far], offset))
        common = emit.subtract(common, emit.scale(weight, usual))
        for other in plan.alternatives:
            if other.roll == roll:
                there = here.load(emit.at(places[other.far], other.offset))
                loss = emit.scale(weight, emit.subtract(usual, there))
                for member in other.members:
                    extra[member].append(loss)
    return [emit.total([common, *terms]) for terms in extra]


@intrinsic
def weigh_rolls(typing, plan, columns, column, source, base, thrown, masses, at, totals, is_first):
    """Add the values of all rolls, weighted by the reach of each memory, to totals by lane.

    Dice that are `thrown` count, and ``masses[at:]`` are the weights. What `is_first` begins the
    totals.
    """
    signature = types.void(
        plan, columns, _integer, source, _integer, _integer, masses, _integer, totals, types.boolean
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        here = base_of(context, builder, signature, arguments)
        *_, thrown, masses, at, totals, is_first = arguments
        masses, totals = (data_of(context, builder, kinds[x], arguments[x]) for x in (6, 8))
        emit, plan = here.emit, here.emit.constants
        places = here.rolls(NEAR, thrown), here.rolls(FAR, thrown)
        everyone, *members = emit.load_dense(masses, at, 1 + len(plan.alternatives))
        for roll, (is_far, offset) in enumerate(plan.usual):
            usual = here.load(emit.at(places[is_far], offset))
            there = constant_int(roll * plan.lanes)
            begun = emit.chosen(is_first, emit.zero, emit.load(totals, there))
            total = emit.add(emit.multiply(everyone, usual), begun)
            for other, some in zip(plan.alternatives, members, strict=True):
                if other.roll == roll:
                    far = here.load(emit.at(places[other.far], other.offset))
                    total = emit.add(emit.multiply(some, emit.subtract(far, usual)), total)
            emit.store(total, totals, there)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def average_rolls(typing, plan, totals, averages):
    """Counterfactual value of every roll: the sum of its total by lane."""
    signature = types.void(plan, totals, averages)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        totals, averages = (data_of(context, builder, kinds[x], arguments[x]) for x in (1, 2))
        emit = emitter_of(context, builder, kinds[0], kinds[1])
        lanes = emit.constants.lanes
        rolls = range(emit.constants.num_actions)
        emit.store_sums([emit.load(totals, constant_int(x * lanes)) for x in rolls], averages)
        return context.get_dummy_value()

    return signature, generate
