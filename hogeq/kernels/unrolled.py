"""One cell's arithmetic with a game's terms written out, for kernels that are given a plan.

What is computed is what :mod:`hogeq.kernels.sums` and :mod:`hogeq.kernels.handover` compute, up to
the order of additions. No bounds are checked: what reaches the goal is read from a spare block that
holds nothing, and written to one nobody reads.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hogeq.kernels.emitter import Emitter, Pieces, constant_int, emitter_of
from hogeq.kernels.lanes import data_of

_integer = types.int64


def _summed(
    emit: Emitter,
    values: Any,
    afterstate: Callable[[int, int], Any],
    sums: Any,
    line: Any,
    own: Any,
) -> dict[int, Pieces]:
    """Sum all rolls at a base, each from those of one die less further on."""
    plan = emit.constants
    if not plan.depth:
        return {}
    here = emit.sums_of(line, own)
    ahead = emit.windows(line, own, ahead=True)
    # The only afterstate of a sum that no base further on has asked for.
    emit.store(emit.load(values, afterstate(2, plan.many)), sums, ahead[0])
    share = emit.constant(1.0 / plan.sides)
    totals = {}
    for roll in range(1, plan.depth + 1):
        level = (roll - 1) * plan.lanes
        terms = [emit.load(sums, emit.at(row, level)) for row in ahead]
        totals[roll] = emit.scale(share, emit.total(terms))
        emit.store(totals[roll], sums, emit.at(here, roll * plan.lanes))
    return totals


@intrinsic
def value_rolls(typing, plan, values, at, home, none, wins, buffer, sums, line, own):
    """Win probability of every roll from a base, by lane, into the buffer: by sums.

    ``at[home]`` is where the block of no points lies, `none` the afterstate of no dice.
    """
    signature = types.void(
        plan, values, at, _integer, _integer, wins, buffer, sums, _integer, _integer
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, values, at, home, none, wins, buffer, sums, line, own = arguments
        values, at, buffer, sums = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (1, 2, 6, 7)
        )
        emit = emitter_of(context, builder, kinds[0], kinds[1])
        plan = emit.constants
        afterstate = emit.blocks(at, home)
        near, _ = emit.rolls_of(line, own)
        totals = _summed(emit, values, afterstate, sums, line, own)
        worth = []
        for roll in range(plan.num_actions):
            win = [emit.splat(emit.element(kinds[5], wins, context, roll))] * emit.pieces
            worth.append(emit.add(win, totals[roll]) if plan.is_sum[roll] else win)
        worth[0] = emit.add(worth[0], emit.load(values, none))
        for target in plan.targets:
            value = emit.load(values, afterstate(target.points, target.record))
            for roll, prob in target.rolls:
                product = emit.scale(emit.constant(prob), value)
                worth[roll] = emit.add(product, worth[roll])
        for roll, value in enumerate(worth):
            emit.store(value, buffer, emit.at(near, roll * plan.lanes))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def mix_and_publish(typing, plan, row, buffer, line, own, values, landed, first, last):
    """Mix the rolls of a cell, and write what each memory is worth to whoever moved before.

    ``landed[first:last]`` are the blocks that land on the cell. Returns the value of the memory
    before the first turn.
    """
    signature = types.float64(
        plan, row, buffer, _integer, _integer, values, landed, _integer, _integer
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, row, buffer, line, own, values, landed, first, last = arguments
        buffer, values, landed = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (2, 5, 6)
        )
        emit = emitter_of(context, builder, kinds[0], kinds[5])
        plan = emit.constants
        places = emit.rolls_of(line, own)
        # What the other player, who has just moved, wins: 1 less all that the mover does.
        common = [emit.constant(1.0)] * emit.pieces
        extra: list[list[Pieces]] = [[] for _ in range(plan.active)]
        for roll, (is_far, offset) in enumerate(plan.usual):
            weight = emit.splat(emit.element(kinds[1], row, context, roll))
            usual = emit.load(buffer, emit.at(places[is_far], offset))
            common = emit.subtract(common, emit.scale(weight, usual))
            for other in plan.alternatives:
                if other.roll == roll:
                    there = emit.load(buffer, emit.at(places[other.far], other.offset))
                    loss = emit.scale(weight, emit.subtract(usual, there))
                    for member in other.members:
                        extra[member].append(loss)
        rows = [emit.total([common, *terms]) for terms in extra]
        rows += [common] * (plan.lanes - plan.active)
        memory, lane = divmod(plan.start, plan.lanes)
        start = emit.number_at(rows[memory], lane)
        turned = emit.transposed(rows)

        def write(index, _):
            block = builder.load(builder.gep(landed, [index]))
            for record in range(plan.records):
                emit.store(turned[record], values, emit.at(block, record * plan.lanes))
            return []

        emit.loop(first, last, [], write)
        return builder.fsub(ir.Constant(start.type, 1.0), start)

    return signature, generate


@intrinsic
def average_rolls(typing, plan, masses, turn, buffer, line, own, averages):
    """Counterfactual value of every roll: its values weighted by the reach of each memory."""
    signature = types.void(plan, masses, _integer, buffer, _integer, _integer, averages)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, masses, turn, buffer, line, own, averages = arguments
        masses, buffer, averages = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (1, 3, 6)
        )
        emit = emitter_of(context, builder, kinds[0], kinds[1])
        plan = emit.constants
        places = emit.rolls_of(line, own)
        at = builder.mul(turn, constant_int(plan.dense))
        everyone, *members = emit.load_dense(masses, at, 1 + len(plan.alternatives))
        for roll, (is_far, offset) in enumerate(plan.usual):
            usual = emit.load(buffer, emit.at(places[is_far], offset))
            total = emit.multiply(everyone, usual)
            for other, some in zip(plan.alternatives, members, strict=True):
                if other.roll == roll:
                    there = emit.load(buffer, emit.at(places[other.far], other.offset))
                    total = emit.add(emit.multiply(some, emit.subtract(there, usual)), total)
            builder.store(emit.number(total), builder.gep(averages, [constant_int(roll)]))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def pass_reach_on(
    typing,
    plan,
    told,
    landed,
    first,
    last,
    begun,
    row,
    masses,
    turn,
    reach,
    at,
    home,
    none,
    buffer,
    sums,
    line,
    own,
):
    """Carry the reach of a cell to its rolls, and of a base's rolls one die further.

    ``landed[first:last]`` are the blocks of `told` that land on the cell, `begun` is what starts
    there, `row` how it is played. What weights values is kept in `masses` (n, D), unless `turn` is
    negative; the sum of all reach is returned. `at`, `home`, `none` as of :func:`value_rolls`.
    """
    signature = types.float64(
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
        at,
        _integer,
        _integer,
        buffer,
        sums,
        _integer,
        _integer,
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, _, _, first, last, begun, row, _, turn, _, _, home, none, _, _, line, own = arguments
        told, landed, masses, reach, at, buffer, sums = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (1, 2, 7, 9, 10, 13, 14)
        )
        emit = emitter_of(context, builder, kinds[0], kinds[1])
        plan = emit.constants
        held = _collected(emit, told, landed, first, last, begun)
        everyone = emit.total(list(held))
        with builder.if_then(builder.icmp_signed(">=", turn, constant_int(0))):
            members = [emit.total([held[x] for x in other.members]) for other in plan.alternatives]
            emit.store_dense(
                [everyone, *members], masses, builder.mul(turn, constant_int(plan.dense))
            )
        weights = [
            emit.splat(emit.element(kinds[6], row, context, roll))
            for roll in range(plan.num_actions)
        ]
        flows = _departed(emit, everyone, held, weights, buffer, line, own)
        _spread(emit, flows, reach, emit.blocks(at, home), none, sums, line, own)
        return emit.number(everyone)

    return signature, generate


def _collected(
    emit: Emitter, told: Any, landed: Any, first: Any, last: Any, begun: Any
) -> list[Pieces]:
    """Reach of every active memory at a cell, by lane."""
    plan, builder = emit.constants, emit.builder

    def gather(index: Any, running: Pieces) -> Pieces:
        block = builder.load(builder.gep(landed, [index]))
        found = []
        for record in range(plan.records):
            known = running[record * emit.pieces : (record + 1) * emit.pieces]
            more = emit.load(told, emit.at(block, record * plan.lanes))
            found.extend(emit.add(known, more))
        return found

    flat = emit.loop(first, last, emit.zero * plan.records, gather)
    rows = [flat[x * emit.pieces : (x + 1) * emit.pieces] for x in range(plan.records)]
    rows += [emit.zero] * (plan.lanes - plan.records)
    held = emit.transposed(rows)[: plan.active]
    memory, lane = divmod(plan.start, plan.lanes)
    held[memory] = emit.add(held[memory], emit.only(lane, begun))
    return held


def _departed(
    emit: Emitter,
    everyone: Pieces,
    held: list[Pieces],
    weights: Pieces,
    buffer: Any,
    line: Any,
    own: Any,
) -> list[Pieces]:
    """Reach of every roll from a base: of those made there, and of those that gained the bonus.

    What gains the bonus waits in the buffer until its base is visited; nothing else is kept there.
    """
    plan = emit.constants
    near, far = emit.rolls_of(line, own)
    least = emit.rounding(everyone)
    here: dict[int, list[Pieces]] = {}
    later: dict[int, list[Pieces]] = {}
    for roll, (is_far, offset) in enumerate(plan.usual):
        usual = everyone
        for other in plan.alternatives:
            if other.roll == roll:
                some = emit.total([held[x] for x in other.members])
                usual = emit.subtract(usual, some)
                given = emit.scale(weights[roll], some)
                (later if other.far else here).setdefault(other.offset, []).append(given)
        if usual is not everyone:
            usual = emit.above(usual, least)
        given = emit.scale(weights[roll], usual)
        (later if is_far else here).setdefault(offset, []).append(given)
    flows = []
    for roll in range(plan.num_actions):
        offset = roll * plan.lanes
        parts = here.get(offset, [])
        if offset in later:
            parts = [emit.load(buffer, emit.at(near, offset)), *parts]
        flows.append(emit.total(parts) if parts else emit.zero)
    for offset, parts in later.items():
        emit.store(emit.total(parts), buffer, emit.at(far, offset))
    return flows


def _spread(
    emit: Emitter,
    flows: list[Pieces],
    reach: Any,
    afterstate: Callable[[int, int], Any],
    none: Any,
    sums: Any,
    line: Any,
    own: Any,
) -> None:
    """Carry the reach of every roll from a base to its afterstates, or one die further."""
    plan = emit.constants
    here = emit.sums_of(line, own)
    behind = emit.windows(line, own, ahead=False)
    share = emit.constant(1.0 / plan.sides)
    for roll in range(1, plan.depth + 1):
        terms = []
        if roll < plan.depth:
            level = (roll + 1) * plan.lanes
            terms = [emit.load(sums, emit.at(row, level)) for row in behind]
            terms = [emit.scale(share, emit.total(terms))]
        if plan.is_sum[roll]:
            terms.append(flows[roll])
        total = emit.total(terms) if terms else emit.zero
        emit.store(total, sums, emit.at(here, roll * plan.lanes))
    for target in plan.targets:
        there = afterstate(target.points, target.record)
        parts = [emit.scale(emit.constant(prob), flows[roll]) for roll, prob in target.rolls]
        if target.record not in plan.sole:
            parts.append(emit.load(reach, there))
        total = parts[-1]
        for part in parts[:-1]:
            total = emit.add(part, total)
        emit.store(total, reach, there)
    emit.store(emit.add(emit.load(reach, none), flows[0]), reach, none)


@intrinsic
def land_sums(typing, plan, reach, block, sums, line, own):
    """Complete the reach of the afterstate, in a block, to which sums lead."""
    signature = types.void(plan, reach, _integer, sums, _integer, _integer)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, reach, block, sums, line, own = arguments
        reach, sums = (data_of(context, builder, kinds[x], arguments[x]) for x in (1, 3))
        emit = emitter_of(context, builder, kinds[0], kinds[1])
        plan = emit.constants
        if plan.depth:
            at = emit.at(block, plan.many * plan.lanes)
            rows = emit.windows(line, own, ahead=False)
            terms = [emit.load(sums, emit.at(row, plan.lanes)) for row in rows]
            landed = emit.scale(emit.constant(1.0 / plan.sides), emit.total(terms))
            total = emit.add(landed, emit.load(reach, at))
            # What corrections took away beforehand can leave nothing but rounding.
            emit.store(emit.above(total, emit.rounding(landed)), reach, at)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def clear_block(typing, plan, reach, block, whole):
    """Set a block to 0; unless as a `whole`, only what is added to and not written once."""
    signature = types.void(plan, reach, _integer, types.boolean)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        emit = emitter_of(context, builder, kinds[0], kinds[1])
        plan = emit.constants
        reach = data_of(context, builder, kinds[1], arguments[1])

        def clear(records):
            for record in records:
                emit.store(emit.zero, reach, emit.at(arguments[2], record * plan.lanes))

        clear(x for x in range(plan.records) if x not in plan.sole)
        with builder.if_then(arguments[3]):
            clear(plan.sole)
        return context.get_dummy_value()

    return signature, generate
