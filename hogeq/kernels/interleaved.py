"""One cell's arithmetic for several pairs of strategies side by side, a game's terms written out.

The same as :mod:`hogeq.kernels.unrolled`, of as many pairs as a vector holds. So a lane of the
memory needs no vector of its own, is not padded, and is a turn of a loop; to hand the memory over
is to write elsewhere, and transposes nothing. Where things lie is found once for all pairs.

Arrays are of vectors of `width` numbers. A *block* holds the afterstates of equal scores, by record
and lane; a *row* of rolls or sums is by lane and roll.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hogeq.kernels.interleaving import INDEX, Writer
from hogeq.kernels.lanes import data_of, store_at

AHEAD = 2  # lanes

_integer = types.int64


def _arrays(context: Any, builder: Any, signature: Any, arguments: Any, places: Any) -> Any:
    return (data_of(context, builder, signature.args[x], arguments[x]) for x in places)


@intrinsic
def value_lanes(typing, plan, values, slots, own, none, wins, rolls, here, sums, level, ahead):
    """Win probability of every roll from a base, into its row of rolls.

    `values` is the column; ``slots[own:]`` has the places of blocks, `none` is the afterstate of
    no dice, `here` the place of the row, `level` that of the row of sums, ``ahead[0:]`` those of
    the bases 2 to `sides` further on.
    """
    signature = types.void(
        plan, values, slots, _integer, _integer, wins, rolls, _integer, sums, _integer, ahead
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, _, _, own, none, wins, _, here, _, level, _ = arguments
        values, slots, rolls, sums, ahead = _arrays(
            context, builder, signature, arguments, (1, 2, 6, 8, 10)
        )
        emit = Writer(context, builder, kinds[0], kinds[1])
        plan = emit.plan
        found = emit.blocks(slots, own, {target.points for target in plan.targets} | {2})
        further = [emit.entry(ahead, ir.Constant(INDEX, x)) for x in range(plan.sides - 1)]
        won_at = context.make_array(kinds[5])(context, builder, wins).data
        won = [emit.entry(won_at, ir.Constant(INDEX, x)) for x in range(plan.num_actions)]
        share = emit.constant(1.0 / plan.sides)

        def visit(lane, _):
            across = emit.times(lane, plan.num_actions)
            along = emit.times(lane, 1)

            def afterstate(points, record):
                block = builder.add(found[points], along)
                spot = emit.at(block, record * plan.active)
                emit.expect(values, emit.at(spot, AHEAD))
                return emit.load(values, spot)

            worth = [emit.splat(number) for number in won]
            if plan.depth:
                rows = [builder.add(row, across) for row in further]
                made = builder.add(level, across)
                emit.store(afterstate(2, plan.many), sums, rows[0])
                for roll in range(1, plan.depth + 1):
                    terms = [emit.load(sums, emit.at(row, roll - 1)) for row in rows]
                    total = emit.multiply(share, emit.total(terms))
                    emit.store(total, sums, emit.at(made, roll))
                    if plan.is_sum[roll]:
                        worth[roll] = emit.add(worth[roll], total)
            worth[0] = emit.add(worth[0], emit.load(values, builder.add(none, along)))
            for target in plan.targets:
                value = afterstate(target.points, target.record)
                for roll, prob in target.rolls:
                    worth[roll] = emit.add(emit.multiply(emit.constant(prob), value), worth[roll])
            row = builder.add(here, across)
            for roll, value in enumerate(worth):
                emit.store(value, rolls, emit.at(row, roll))
            return []

        emit.lanes(visit)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def average_lanes(typing, plan, masses, at, rolls, near, far, averages):
    """Counterfactual value of every roll: by what reach weights, from `at` on."""
    signature = types.void(plan, masses, _integer, rolls, _integer, _integer, averages)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, _, at, _, near, far, _ = arguments
        masses, rolls, averages = _arrays(context, builder, signature, arguments, (1, 3, 6))
        emit = Writer(context, builder, kinds[0], kinds[1])
        plan = emit.plan
        count = 1 + len(plan.alternatives)

        def visit(lane, totals):
            across = emit.times(lane, plan.num_actions)
            bases = [builder.add(base, across) for base in (near, far)]
            here = builder.add(at, emit.times(lane, count))
            everyone = emit.load(masses, here)
            found = []
            for roll, total in enumerate(totals):
                usual = emit.load(rolls, emit.at(bases[plan.far[roll]], roll))
                sum_ = emit.add(emit.multiply(everyone, usual), total)
                for x, (other, is_far, _) in enumerate(plan.alternatives):
                    if other == roll:
                        some = emit.load(masses, emit.at(here, 1 + x))
                        there = emit.load(rolls, emit.at(bases[is_far], roll))
                        gain = emit.subtract(there, usual)
                        sum_ = emit.add(emit.multiply(some, gain), sum_)
                found.append(sum_)
            return found

        for roll, total in enumerate(emit.lanes(visit, [emit.zero] * plan.num_actions)):
            if total.type.element != averages.type.pointee:
                wide = ir.VectorType(averages.type.pointee, plan.width)
                total = builder.fpext(total, wide)
            store_at(builder, total, averages, ir.Constant(INDEX, roll * plan.width))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def mix_lanes(typing, plan, row, rolls, near, far, told, landed, first, last, starts):
    """Mix the rolls of a cell, and write what each memory is worth to whoever moved before.

    ``landed[first:last]`` are the blocks of `told` that land on the cell. What the memory before
    the first turn wins is written to `starts`, by lane.
    """
    signature = types.void(
        plan, row, rolls, _integer, _integer, told, landed, _integer, _integer, starts
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, row, _, near, far, _, _, first, last, _ = arguments
        rolls, told, landed, starts = _arrays(context, builder, signature, arguments, (2, 5, 6, 9))
        emit = Writer(context, builder, kinds[0], kinds[2])
        plan = emit.plan
        chances = emit.chances(kinds[1], row)

        def visit(lane, _):
            across = emit.times(lane, plan.num_actions)
            bases = [builder.add(base, across) for base in (near, far)]
            common = emit.constant(1.0)
            extra = [[] for _ in range(plan.active)]
            for roll, chance in enumerate(chances):
                usual = emit.load(rolls, emit.at(bases[plan.far[roll]], roll))
                common = emit.subtract(common, emit.multiply(chance, usual))
                for other, is_far, members in plan.alternatives:
                    if other == roll:
                        there = emit.load(rolls, emit.at(bases[is_far], roll))
                        loss = emit.multiply(chance, emit.subtract(usual, there))
                        for member in members:
                            extra[member].append(loss)
            made = [emit.total([common, *terms]) for terms in extra]
            start = emit.subtract(emit.constant(1.0), made[plan.start_memory])
            emit.store(start, starts, emit.times(lane, 1))
            place = emit.times(lane, plan.active)

            def write(index, _):
                block = builder.add(emit.entry(landed, index), place)
                for memory, vector in enumerate(made):
                    emit.store(vector, told, emit.at(block, memory))
                return []

            is_left = builder.icmp_signed("<", lane, ir.Constant(INDEX, plan.records))
            with builder.if_then(is_left):
                emit.each(first, last, [], write)
            return []

        emit.lanes(visit)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def reach_lanes(
    typing,
    plan,
    told,
    landed,
    first,
    last,
    begun,
    row,
    masses,
    at,
    reach,
    slots,
    own,
    none,
    rolls,
    near,
    far,
    sums,
    level,
    behind,
    arrived,
):
    """Carry the reach of a cell to its rolls, and of a base's rolls one die further.

    As :func:`hogeq.kernels.unrolled.pass_reach_on`. What weights values is kept in `masses` from
    `at` on, unless that is negative; ``behind[0:]`` are rows of sums, of the bases 2 to `sides`
    steps back. The sum of all reach is written to `arrived`.
    """
    signature = types.void(
        plan,
        told,
        landed,
        _integer,
        _integer,
        types.float64,
        row,
        masses,
        _integer,
        reach,
        slots,
        _integer,
        _integer,
        rolls,
        _integer,
        _integer,
        sums,
        _integer,
        behind,
        arrived,
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        first, last, begun, row = arguments[3:7]
        at, own, none, near, far, level = (arguments[x] for x in (8, 11, 12, 14, 15, 17))
        told, landed, masses, reach, slots, rolls, sums, behind, arrived = _arrays(
            context, builder, signature, arguments, (1, 2, 7, 9, 10, 13, 16, 18, 19)
        )
        emit = Writer(context, builder, kinds[0], kinds[1])
        plan = emit.plan
        chances = emit.chances(kinds[6], row)
        found = emit.blocks(slots, own, {target.points for target in plan.targets})
        back = [emit.entry(behind, ir.Constant(INDEX, x)) for x in range(plan.sides - 1)]
        starts = emit.splat(begun)
        is_kept = builder.icmp_signed(">=", at, ir.Constant(INDEX, 0))
        share = emit.constant(1.0 / plan.sides)

        def visit(lane, carried):
            across = emit.times(lane, plan.num_actions)
            along = emit.times(lane, 1)
            here, there = (builder.add(base, across) for base in (near, far))
            row_of_lane = emit.times(lane, plan.active)

            def gather(index, held):
                block = builder.add(emit.entry(landed, index), row_of_lane)
                return [emit.add(x, emit.load(told, emit.at(block, y))) for y, x in enumerate(held)]

            is_left = builder.icmp_signed("<", lane, ir.Constant(INDEX, plan.records))
            most = builder.select(is_left, last, first)
            held = emit.each(first, most, [emit.zero] * plan.active, gather)
            is_start = builder.icmp_signed("==", lane, ir.Constant(INDEX, plan.start_lane))
            more = builder.select(is_start, starts, emit.zero)
            held[plan.start_memory] = emit.add(held[plan.start_memory], more)
            everyone = emit.total(list(held))
            groups = [emit.total([held[x] for x in members]) for _, _, members in plan.alternatives]
            with builder.if_then(is_kept):
                kept = builder.add(at, emit.times(lane, 1 + len(groups)))
                for x, vector in enumerate([everyone, *groups]):
                    emit.store(vector, masses, emit.at(kept, x))
            flows = _departed(emit, everyone, groups, chances, rolls, here, there)
            rows = [builder.add(base, across) for base in back]
            made = builder.add(level, across)
            for roll in range(1, plan.depth + 1):
                terms = []
                if roll < plan.depth:
                    terms = [emit.load(sums, emit.at(x, roll + 1)) for x in rows]
                    terms = [emit.multiply(share, emit.total(terms))]
                if plan.is_sum[roll]:
                    terms.append(flows[roll])
                total = emit.total(terms) if terms else emit.zero
                emit.store(total, sums, emit.at(made, roll))
            for target in plan.targets:
                block = builder.add(found[target.points], along)
                spot = emit.at(block, target.record * plan.active)
                parts = [
                    emit.multiply(emit.constant(prob), flows[roll]) for roll, prob in target.rolls
                ]
                if target.record not in plan.sole:
                    parts.append(emit.load(reach, spot))
                total = parts[-1]
                for part in parts[:-1]:
                    total = emit.add(part, total)
                emit.store(total, reach, spot)
            spot = builder.add(none, along)
            emit.store(emit.add(emit.load(reach, spot), flows[0]), reach, spot)
            return [emit.add(carried[0], everyone)]

        (total,) = emit.lanes(visit, [emit.zero])
        if total.type.element != arrived.type.pointee:
            total = builder.fpext(total, ir.VectorType(arrived.type.pointee, plan.width))
        store_at(builder, total, arrived, ir.Constant(INDEX, 0))
        return context.get_dummy_value()

    return signature, generate


def _departed(
    emit: Writer,
    everyone: Any,
    groups: list[Any],
    chances: list[Any],
    rolls: Any,
    here: Any,
    there: Any,
) -> list[Any]:
    """Reach of every roll from a base; what gains the bonus waits in the row of its base."""
    plan = emit.plan
    now: dict[int, list[Any]] = {}
    later: dict[int, list[Any]] = {}
    for roll, chance in enumerate(chances):
        usual = everyone
        for some, (other, is_far, _) in zip(groups, plan.alternatives, strict=True):
            if other == roll:
                usual = emit.subtract(usual, some)
                given = emit.multiply(chance, some)
                (later if is_far else now).setdefault(roll, []).append(given)
        if usual is not everyone:
            usual = emit.above(usual, everyone)
        given = emit.multiply(chance, usual)
        (later if plan.far[roll] else now).setdefault(roll, []).append(given)
    flows = []
    for roll in range(plan.num_actions):
        parts = now.get(roll, [])
        if roll in later:
            parts = [emit.load(rolls, emit.at(here, roll)), *parts]
        flows.append(emit.total(parts) if parts else emit.zero)
    for roll, parts in later.items():
        emit.store(emit.total(parts), rolls, emit.at(there, roll))
    return flows


@intrinsic
def land_lanes(typing, plan, reach, block, sums, behind):
    """Complete the reach of the afterstate, in a block, to which sums lead."""
    signature = types.void(plan, reach, _integer, sums, behind)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        block = arguments[2]
        reach, sums, behind = _arrays(context, builder, signature, arguments, (1, 3, 4))
        emit = Writer(context, builder, kinds[0], kinds[1])
        plan = emit.plan
        if not plan.depth:
            return context.get_dummy_value()
        back = [emit.entry(behind, ir.Constant(INDEX, x)) for x in range(plan.sides - 1)]
        share = emit.constant(1.0 / plan.sides)

        def visit(lane, _):
            across = emit.times(lane, plan.num_actions)
            terms = [emit.load(sums, emit.at(builder.add(row, across), 1)) for row in back]
            landed = emit.multiply(share, emit.total(terms))
            spot = emit.at(builder.add(block, emit.times(lane, 1)), plan.many * plan.active)
            total = emit.add(landed, emit.load(reach, spot))
            # What corrections took away beforehand can leave nothing but rounding.
            emit.store(emit.above(total, landed), reach, spot)
            return []

        emit.lanes(visit)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def clear_lanes(typing, plan, reach, block, whole):
    """Set a block to 0; unless as a `whole`, only what is added to and not written once."""
    signature = types.void(plan, reach, _integer, types.boolean)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, _, block, whole = arguments
        (reach,) = _arrays(context, builder, signature, arguments, (1,))
        emit = Writer(context, builder, kinds[0], kinds[1])
        plan = emit.plan

        def clear(records):
            def visit(lane, _):
                along = builder.add(block, emit.times(lane, 1))
                for record in records:
                    emit.store(emit.zero, reach, emit.at(along, record * plan.active))
                return []

            emit.lanes(visit)

        clear([x for x in range(plan.records) if x not in plan.sole])
        with builder.if_then(whole):
            clear(plan.sole)
        return context.get_dummy_value()

    return signature, generate
