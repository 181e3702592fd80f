"""One cell's arithmetic in several matches at once, beside that of :mod:`hogeq.kernels.unrolled`.

The numbers of a *pack* of 2, 4 or 8 matches lie side by side: those of all matches for one lane,
then for the next. So a vector holds few lanes, of which none is padding, and to exchange rows with
lanes takes few shuffles or none. What a cell computes is written for one vector, and kernels go
through all of a lane's: `vector` is its index, and `column` where it begins in its column.
"""

from typing import Any

from numba import types
from numba.extending import intrinsic

from hogeq.kernels.emitter import Emitter, Pieces, constant_int
from hogeq.kernels.lanes import data_of
from hogeq.kernels.unrolled import base_of, departed, mixed, spread

_integer = types.int64


def _vectors(emit: Emitter) -> int:
    return emit.constants.lanes // emit.piece


def _turned(emit: Emitter, rows: list[Pieces]) -> list[Pieces]:
    """Exchange the lanes of one vector of all rows with the rows of all vectors of those lanes.

    Row by row of what is returned: all vectors of the first lane, then of the next.
    """
    held = emit.piece // emit.constants.pairs
    blocks = [emit.exchanged(rows[x : x + held]) for x in range(0, len(rows), held)]
    return [block[x] for x in range(held) for block in blocks]


def _record_at(emit: Emitter, landing: Any, at: Any, vector: Any, lane: int) -> Any:
    """Read where the record lies that is a lane of a vector, for a row of landings."""
    held = emit.piece // emit.constants.pairs
    first = emit.builder.mul(vector, constant_int(held))
    return emit.entry(landing, emit.builder.add(at, first), lane)


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
    vector,
    starts,
):
    """Mix the rolls of a cell as :func:`hogeq.kernels.unrolled.mix_and_publish` does.

    `policies` has what each match plays, roll by roll. What the memory before the first turn loses
    goes to `starts`, by lane and match.
    """
    signature = types.void(
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
        _integer,
        starts,
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        here = base_of(context, builder, signature, arguments)
        *_, row, player, _, _, first, last, vector, _ = arguments
        columns, policies, landing, landed, starts = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (1, 5, 8, 9, 13)
        )
        emit, plan = here.emit, here.emit.constants
        rows = mixed(here, policies, row)
        rows += [rows[-1]] * (plan.slots - plan.active)
        place = builder.mul(vector, constant_int(emit.piece))
        emit.store(rows[plan.start // plan.lanes], starts, place)
        turned = _turned(emit, rows)
        count = _vectors(emit)

        def write(index, _):
            there, at = emit.landed_at(landed, index)
            data = builder.gep(columns, [builder.add(player, there)])
            for lane in range(len(turned) // count):
                record = _record_at(emit, landing, at, vector, lane)
                for x in range(count):
                    emit.store(turned[lane * count + x], data, emit.at(record, x * emit.piece))
            return []

        emit.loop(first, last, [], write)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def complete_sums(typing, plan, columns, player, landing, landed, first, last):
    """Complete the reach of the afterstates to which sums lead, before a cell collects it.

    `columns` begin at the position `player`, where one vector of the first lies.
    """
    signature = types.void(plan, columns, _integer, landing, landed, _integer, _integer)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, _, player, _, _, first, last = arguments
        columns, landing, landed = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (1, 3, 4)
        )
        emit = Emitter(builder, kinds[0].constants, context.get_value_type(kinds[1].dtype))
        plan = emit.constants
        if not plan.depth:
            return context.get_dummy_value()

        def complete(index, _):
            there, at = emit.landed_at(landed, index)
            data = builder.gep(columns, [builder.add(player, there)])
            rows = [
                emit.load(data, emit.entry(landing, at, plan.slots + x))
                for x in range(plan.sides - 1)
            ]
            landed_here = emit.scale(emit.constant(1.0 / plan.sides), emit.total(rows))
            there = emit.entry(landing, at, plan.many)
            # What corrections took away beforehand can leave nothing but rounding.
            total = emit.add(landed_here, emit.load(data, there))
            emit.store(emit.above(total, emit.rounding(landed_here)), data, there)
            return []

        emit.loop(first, last, [], complete)
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
    vector,
    begun,
    begins,
    masses,
    turn,
    arrived,
):
    """Carry the reach of a cell on as :func:`hogeq.kernels.unrolled.pass_reach_on` does.

    ``begun[begins:]`` is what starts there, by lane and match. What weights values is kept in
    ``masses[turn]``, unless `turn` is negative, and what reaches the cell in `arrived`.
    """
    signature = types.void(
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
        _integer,
        begun,
        _integer,
        masses,
        _integer,
        arrived,
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        here = base_of(context, builder, signature, arguments)
        none, _, row, player, _, _, first, last, vector, _, begins, _, turn, _ = arguments[5:]
        columns, policies, landing, landed, begun, masses, arrived = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (1, 6, 9, 10, 14, 16, 18)
        )
        emit, plan = here.emit, here.emit.constants
        place = builder.mul(vector, constant_int(emit.piece))
        told = builder.gep(columns, [player])
        held = _collected(emit, told, landing, landed, first, last, vector)
        memory = plan.start // plan.lanes
        held[memory] = emit.add(held[memory], emit.load(begun, builder.add(begins, place)))
        everyone = emit.total(list(held))
        emit.store(everyone, arrived, place)
        with builder.if_then(builder.icmp_signed(">=", turn, constant_int(0))):
            members = [emit.total([held[x] for x in other.members]) for other in plan.alternatives]
            at = builder.mul(turn, constant_int(plan.dense(emit.piece)))
            emit.store_dense([everyone, *members], masses, builder.add(at, place))
        weights = [emit.weight(policies, row, roll) for roll in range(plan.num_actions)]
        spread(here, departed(here, everyone, held, weights), none)
        return context.get_dummy_value()

    return signature, generate


def _collected(
    emit: Emitter, told: Any, landing: Any, landed: Any, first: Any, last: Any, vector: Any
) -> list[Pieces]:
    """Reach of every active memory at a cell, for the lanes of a vector."""
    plan, builder = emit.constants, emit.builder
    count, held = _vectors(emit), emit.piece // plan.pairs

    def gather(index: Any, running: Pieces) -> Pieces:
        there, at = emit.landed_at(landed, index)
        data = builder.gep(told, [there])
        found = []
        for lane in range(held):
            record = _record_at(emit, landing, at, vector, lane)
            for x in range(count):
                more = emit.load(data, emit.at(record, x * emit.piece))
                found.extend(emit.add(running[len(found) : len(found) + 1], more))
        return found

    flat = emit.loop(first, last, emit.zero * (held * count), gather)
    rows: list[Pieces] = []
    for x in range(count):
        rows += emit.exchanged([[flat[lane * count + x]] for lane in range(held)])
    return rows[: plan.active]
