"""One cell's arithmetic with a game's terms written out, for kernels that are given a plan.

What is computed is what :mod:`hogeq.kernels.sums` and :mod:`hogeq.kernels.handover` compute, up to
the order of additions. No bounds are checked: what reaches the goal is read from a spare lane that
holds nothing, and written to one nobody reads.

Where an argument is called `column`, it is the position of the column's first number in `columns`,
and `source` and `base` are the table and the position of the base's row in it
(:class:`hogeq.kernels.plan.Places`).
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hogeq.kernels.emitter import Emitter, Pieces, constant_int, emitter_of
from hogeq.kernels.lanes import data_of
from hogeq.kernels.plan import CHUNK, FAR, NEAR, ROWS, STEP

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

    def sums(self, away: int) -> Any:
        """Position of the sums of a base, from `ring - 1` below to `sides` above."""
        plan = self.emit.constants
        return self.entry(ROWS + (away + CHUNK - 1) % plan.ring)

    def level(self, sums: Any, roll: int) -> Any:
        """Position of a roll among a base's sums."""
        return self.emit.at(sums, (roll - 1) * self.emit.constants.lanes)

    def load(self, position: Any) -> Pieces:
        """Read a lane."""
        return self.emit.load(self.data, position)

    def store(self, lane: Pieces, position: Any) -> None:
        """Write a lane."""
        self.emit.store(lane, self.data, position)


def _is_step(base: Base, test: str, step: int) -> Any:
    """Compare a base's place in its chunk."""
    return base.emit.builder.icmp_signed(test, base.entry(STEP), constant_int(step))


@intrinsic
def sum_rolls(typing, plan, columns, column, source, base):
    """Sum all rolls of the bases of a chunk, from its last: each from those of one die less."""
    signature = types.void(plan, columns, _integer, source, _integer)

    def generate(context, builder, signature, arguments):
        here = base_of(context, builder, signature, arguments)
        emit, plan = here.emit, here.emit.constants
        if not plan.depth:
            return context.get_dummy_value()
        share = emit.constant(1.0 / plan.sides)
        rows = [here.sums(x) for x in range(1 - CHUNK, plan.sides + 1)]
        known = [here.load(here.entry(plan.many_row + x)) for x in range(plan.sides)]
        made: list[Pieces] = []
        for roll in range(1, plan.depth + 1):
            if roll > 1:
                further = [here.load(here.level(row, roll - 1)) for row in rows[CHUNK:]]
                known = made[-2:] + further
            made = [emit.scale(share, total) for total in emit.windows(known, plan.sides - 1)]
            # The first bases of a chunk make the sums of one die when they are visited.
            for row, lane in zip(rows[CHUNK - len(made) : CHUNK], made, strict=True):
                here.store(lane, here.level(row, roll))
        return context.get_dummy_value()

    return signature, generate


def base_of(context: Any, builder: Any, signature: Any, arguments: Any) -> Base:
    """Return the base of a function whose first arguments are a plan and a base."""
    kinds = signature.args
    _, columns, column, source, base = arguments[:5]
    columns = data_of(context, builder, kinds[1], columns)
    source = data_of(context, builder, kinds[3], source)
    return Base(emitter_of(context, builder, kinds[0], kinds[1]), columns, column, source, base)


@intrinsic
def value_rolls(typing, plan, columns, column, source, base, none, wins, turn):
    """Win probability of every roll from a base, by lane; `none` is the afterstate of no dice.

    ``wins[turn]`` is what wins at once.
    """
    signature = types.void(plan, columns, _integer, source, _integer, _integer, wins, _integer)

    def generate(context, builder, signature, arguments):
        here = base_of(context, builder, signature, arguments)
        *_, none, wins, turn = arguments
        wins = data_of(context, builder, signature.args[6], wins)
        emit, plan = here.emit, here.emit.constants
        won = builder.mul(turn, constant_int(plan.num_actions))
        worth = []
        sums = here.sums(0) if plan.depth else None
        if plan.depth:
            with builder.if_then(_is_step(here, "<", CHUNK - 2)):
                known = [here.load(here.entry(plan.many_row + x)) for x in range(1, plan.sides)]
                total = emit.scale(emit.constant(1.0 / plan.sides), emit.total(known))
                here.store(total, here.level(sums, 1))
        for roll in range(plan.num_actions):
            lane = [emit.splat(emit.entry(wins, won, roll))] * emit.pieces
            if plan.is_sum[roll]:
                lane = emit.add(lane, here.load(here.level(sums, roll)))
            worth.append(lane)
        worth[0] = emit.add(worth[0], here.load(none))
        for place, target in enumerate(plan.targets):
            value = here.load(here.entry(plan.target_row + place))
            for roll, prob in target.rolls:
                product = emit.scale(emit.constant(prob), value)
                worth[roll] = emit.add(product, worth[roll])
        near = here.entry(NEAR)
        for roll, lane in enumerate(worth):
            here.store(lane, emit.at(near, roll * plan.lanes))
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
    policies,
    row,
    player,
    landing,
    landed,
    first,
    last,
):
    """Mix the rolls of a cell, and write what each memory is worth to whoever moved before.

    They are mixed as `policies` has it from `row` on.
    ``landed[first:last]`` are the column and the row of `landing` of what lands on the cell, in
    `columns` from the position `player`. Returns the value of the memory before the first turn.
    """
    signature = types.float64(
        plan,
        columns,
        _integer,
        source,
        _integer,
        policies,
        _integer,
        _integer,
        landing,
        landed,
        _integer,
        _integer,
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        here = base_of(context, builder, signature, arguments)
        *_, row, player, _, _, first, last = arguments
        columns, policies, landing, landed = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (1, 5, 8, 9)
        )
        emit, plan = here.emit, here.emit.constants
        rows = mixed(here, policies, row)
        rows += [rows[-1]] * (plan.lanes - plan.active)
        memory, lane = divmod(plan.start, plan.lanes)
        start = emit.number_at(rows[memory], lane)
        turned = emit.transposed(rows)

        def write(index, _):
            there, at = emit.landed_at(landed, index)
            data = builder.gep(columns, [builder.add(player, there)])
            for record in sorted((*plan.sole, *plan.shared)):
                emit.store(turned[record], data, emit.entry(landing, at, record))
            return []

        emit.loop(first, last, [], write)
        return builder.fsub(ir.Constant(start.type, 1.0), start)

    return signature, generate


def mixed(here: Base, policies: Any, row: Any) -> list[Pieces]:
    """Value of every active memory to the other player, who has just moved, by lane."""
    emit, plan = here.emit, here.emit.constants
    places = here.entry(NEAR), here.entry(FAR)
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
def weigh_rolls(typing, plan, columns, column, source, base, masses, at, totals, is_first):
    """Add the values of all rolls, weighted by the reach of each memory, to totals by lane.

    ``masses[at:]`` are what weights them. What `is_first` begins the totals.
    """
    signature = types.void(
        plan, columns, _integer, source, _integer, masses, _integer, totals, types.boolean
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        here = base_of(context, builder, signature, arguments)
        *_, masses, at, totals, is_first = arguments
        masses, totals = (data_of(context, builder, kinds[x], arguments[x]) for x in (5, 7))
        emit, plan = here.emit, here.emit.constants
        places = here.entry(NEAR), here.entry(FAR)
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


@intrinsic
def pass_reach_on(
    typing,
    plan,
    columns,
    column,
    source,
    base,
    none,
    policies,
    row,
    player,
    landing,
    landed,
    first,
    last,
    begun,
    masses,
    turn,
):
    """Carry the reach of a cell to its rolls, and of a base's rolls one die further.

    ``landed[first:last]`` are the column and the row of `landing` of what lands on the cell, in
    `columns` from the position `player`; `begun` is what starts there, and it is played as
    `policies` has it from `row` on; `none` is the afterstate of no dice. What weights values is
    kept in `masses` (n, D), unless `turn` is negative; the sum of all reach is returned.
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
        landing,
        landed,
        _integer,
        _integer,
        types.float64,
        masses,
        _integer,
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        here = base_of(context, builder, signature, arguments)
        none, _, row, player, _, _, first, last, begun, _, turn = arguments[5:]
        columns, policies, landing, landed, masses = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (1, 6, 9, 10, 14)
        )
        emit, plan = here.emit, here.emit.constants
        told = builder.gep(columns, [player])
        held = _collected(emit, told, landing, landed, first, last, begun)
        everyone = emit.total(list(held))
        with builder.if_then(builder.icmp_signed(">=", turn, constant_int(0))):
            members = [emit.total([held[x] for x in other.members]) for other in plan.alternatives]
            at = builder.mul(turn, constant_int(plan.dense(emit.piece)))
            emit.store_dense([everyone, *members], masses, at)
        weights = [emit.weight(policies, row, roll) for roll in range(plan.num_actions)]
        flows = departed(here, everyone, held, weights)
        spread(here, flows, none)
        return emit.number(everyone)

    return signature, generate


def _collected(
    emit: Emitter, told: Any, landing: Any, landed: Any, first: Any, last: Any, begun: Any
) -> list[Pieces]:
    """Reach of every active memory at a cell, by lane."""
    plan = emit.constants
    rows = arrived(emit, told, landing, landed, first, last, (*plan.sole, *plan.shared))
    rows += [emit.zero] * (plan.lanes - plan.records)
    held = emit.transposed(rows)[: plan.active]
    memory, lane = divmod(plan.start, plan.lanes)
    held[memory] = emit.add(held[memory], emit.only(lane, begun))
    return held


def arrived(
    emit: Emitter, told: Any, landing: Any, landed: Any, first: Any, last: Any, records: Any
) -> list[Pieces]:
    """Reach of what lands on a cell, by record, of some records: its lane the next mover's own."""
    plan, builder = emit.constants, emit.builder

    def gather(index: Any, running: Pieces) -> Pieces:
        there, at = emit.landed_at(landed, index)
        data = builder.gep(told, [there])
        found = []
        for record in range(plan.records):
            known = running[record * emit.pieces : (record + 1) * emit.pieces]
            if record in records:
                more = emit.load(data, emit.entry(landing, at, record))
                if record == plan.many and plan.depth:
                    rows = [
                        emit.load(data, emit.entry(landing, at, plan.records + x))
                        for x in range(plan.sides - 1)
                    ]
                    landed_here = emit.scale(emit.constant(1.0 / plan.sides), emit.total(rows))
                    # What corrections took away beforehand can leave nothing but rounding.
                    more = emit.above(emit.add(landed_here, more), emit.rounding(landed_here))
                known = emit.add(known, more)
            found.extend(known)
        return found

    flat = emit.loop(first, last, emit.zero * plan.records, gather)
    return [flat[x * emit.pieces : (x + 1) * emit.pieces] for x in range(plan.records)]


def departed(here: Base, everyone: Pieces, held: list[Pieces], weights: Pieces) -> list[Pieces]:
    """Reach of every roll from a base: of those made there, and of those that gained the bonus.

    What gains the bonus waits in the column until its base is visited; nothing else is kept there.
    """
    emit, plan = here.emit, here.emit.constants
    near, far = here.entry(NEAR), here.entry(FAR)
    least = emit.rounding(everyone)
    made: dict[int, list[Pieces]] = {}
    later: dict[int, list[Pieces]] = {}
    for roll, (is_far, offset) in enumerate(plan.usual):
        usual = everyone
        for other in plan.alternatives:
            if other.roll == roll:
                some = emit.total([held[x] for x in other.members])
                usual = emit.subtract(usual, some)
                given = emit.scale(weights[roll], some)
                (later if other.far else made).setdefault(other.offset, []).append(given)
        if usual is not everyone:
            usual = emit.above(usual, least)
        given = emit.scale(weights[roll], usual)
        (later if is_far else made).setdefault(offset, []).append(given)
    flows = []
    for roll in range(plan.num_actions):
        offset = roll * plan.lanes
        parts = made.get(offset, [])
        if offset in later:
            parts = [here.load(emit.at(near, offset)), *parts]
        flows.append(emit.total(parts) if parts else emit.zero)
    for offset, parts in later.items():
        here.store(emit.total(parts), emit.at(far, offset))
    return flows


def spread(here: Base, flows: list[Pieces], none: Any) -> None:
    """Carry the reach of every roll from a base to its afterstates, or to its sums."""
    emit, plan = here.emit, here.emit.constants
    if plan.depth:
        sums = here.sums(0)
        for roll in range(1, plan.depth + 1):
            if plan.is_sum[roll] or roll == plan.depth:
                here.store(flows[roll], here.level(sums, roll))
        if plan.depth > 1:
            # What lands before the chunk is complete.
            with emit.builder.if_then(_is_step(here, "<", CHUNK - 2)):
                known = [here.load(here.level(here.sums(-x), 2)) for x in range(2, plan.sides + 1)]
                total = emit.scale(emit.constant(1.0 / plan.sides), emit.total(known))
                if plan.is_sum[1]:
                    total = emit.add(total, flows[1])
                here.store(total, here.level(sums, 1))
    for place, target in enumerate(plan.targets):
        there = here.entry(plan.target_row + place)
        parts = [emit.scale(emit.constant(prob), flows[roll]) for roll, prob in target.rolls]
        if target.record not in plan.sole:
            parts.append(here.load(there))
        total = parts[-1]
        for part in parts[:-1]:
            total = emit.add(part, total)
        here.store(total, there)
    here.store(emit.add(here.load(none), flows[0]), none)


@intrinsic
def carry_sums(typing, plan, columns, column, source, base):
    """Carry the reach of all rolls of the bases of a chunk, from its last, one die further."""
    signature = types.void(plan, columns, _integer, source, _integer)

    def generate(context, builder, signature, arguments):
        here = base_of(context, builder, signature, arguments)
        emit, plan = here.emit, here.emit.constants
        if not plan.depth:
            return context.get_dummy_value()
        share = emit.constant(1.0 / plan.sides)
        rows = [here.sums(1 - CHUNK + x) for x in range(-plan.sides, CHUNK)]
        own = rows[plan.sides :]
        made = [here.load(here.level(row, plan.depth)) for row in own[:2]]
        for roll in range(plan.depth - 1, 0, -1):
            known = [here.load(here.level(row, roll + 1)) for row in rows[: plan.sides]] + made[:2]
            chosen = own if roll > 1 else own[CHUNK - 2 :]
            if roll == 1:
                known = known[CHUNK - 2 :]
            made = []
            for row, window in zip(chosen, emit.windows(known, plan.sides - 1), strict=True):
                total = emit.scale(share, window)
                if plan.is_sum[roll]:
                    total = emit.add(total, here.load(here.level(row, roll)))
                here.store(total, here.level(row, roll))
                made.append(total)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def clear_shared(typing, plan, columns, column, source, base):
    """Set the last afterstates to 0 that a base is the first to add to."""
    signature = types.void(plan, columns, _integer, source, _integer)

    def generate(context, builder, signature, arguments):
        here = base_of(context, builder, signature, arguments)
        plan = here.emit.constants
        for place in range(len(plan.shared)):
            here.store(here.emit.zero, here.entry(plan.last_row + place))
        return context.get_dummy_value()

    return signature, generate
