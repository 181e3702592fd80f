"""One cell's arithmetic in several matches at once, beside that of :mod:`hogeq.kernels.unrolled`.

The numbers of a *pack* of 2, 4 or 8 matches lie side by side: those of all matches for one lane,
then for the next. So a vector holds few lanes, of which none is padding, and to exchange rows with
lanes takes few shuffles or none. What a cell computes is written for one vector, and kernels go
through all of a lane's: `vector` is its index, and `column` where it begins in its column.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from hogeq.kernels.emitter import Emitter, Pieces, constant_int
from hogeq.kernels.lanes import data_of, load_at, part_of, repeated, store_at
from hogeq.kernels.plan import piece_of
from hogeq.kernels.unrolled import base_of, mixed
from hogeq.kernels.unrolled_reach import carry_on, completed

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
        _integer,
        starts,
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        here = base_of(context, builder, signature, arguments)
        thrown, _, row, player, mine, _, _, first, staying, last, vector, _ = arguments[5:]
        columns, policies, landing, landed, starts = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (1, 6, 10, 11, 16)
        )
        emit, plan = here.emit, here.emit.constants
        rows = mixed(here, thrown, policies, row)
        place = builder.mul(vector, constant_int(emit.piece))
        emit.store(rows[plan.start // plan.lanes], starts, place)
        if plan.keeps:
            told = builder.gep(columns, [mine])
            _keep_values(emit, rows, told, landing, landed, (staying, last), place)
        turned = _turned(emit, rows + [rows[-1]] * (plan.slots - plan.active))
        count = _vectors(emit)

        def write(index, _):
            there, at = emit.landed_at(landed, index)
            data = builder.gep(columns, [builder.add(player, there)])
            for lane in range(len(turned) // count):
                record = _record_at(emit, landing, at, vector, lane)
                for x in range(count):
                    emit.store(turned[lane * count + x], data, emit.at(record, x * emit.piece))
            return []

        emit.loop(first, staying, [], write)
        return context.get_dummy_value()

    return signature, generate


def _keep_values(
    emit: Emitter,
    rows: list[Pieces],
    told: Any,
    landing: Any,
    landed: Any,
    bounds: tuple[Any, Any],
    place: Any,
) -> None:
    """Write what the memories of a vector's lanes are worth to whoever moves again."""

    def write(index: Any, _: Pieces) -> Pieces:
        there, at = emit.landed_at(landed, index)
        data = emit.builder.gep(told, [there])
        for record in emit.constants.kept:
            kept = emit.subtract([emit.constant(1.0)], rows[record])
            emit.store(kept, data, emit.builder.add(emit.entry(landing, at, record), place))
        return []

    emit.loop(*bounds, [], write)


@intrinsic
def kept_in(typing, plan, masses, near):
    """Return the array where a pack finds what weights values: `near` if matches keep it apart."""
    kept = near if plan.constants.apart else masses

    def generate(context, builder, signature, arguments):
        found = arguments[2 if signature.args[0].constants.apart else 1]
        return impl_ret_borrowed(context, builder, signature.return_type, found)

    return kept(plan, masses, near), generate


@intrinsic
def bring_together(typing, plan, masses, first, stride, shares, place, near):
    """Write what weights a cell's values side by side, where the matches of a pack keep it apart.

    What the first match has begins at ``masses[first]``, the next one's `stride` numbers later;
    ``shares[place:]`` is how much each match counts. Returns where the pack's weights begin.
    """
    signature = _integer(plan, masses, _integer, _integer, shares, _integer, near)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, _, first, stride, _, place, _ = arguments
        masses, shares, near = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (1, 4, 6)
        )
        emit = Emitter(builder, kinds[0].constants, context.get_value_type(kinds[1].dtype))
        plan = emit.constants
        if not plan.apart:
            return first
        bits = 32 if isinstance(emit.kind.element, ir.FloatType) else 64
        piece, matches = piece_of(plan.apart, bits), plan.pairs
        begin = [builder.add(first, builder.mul(stride, constant_int(x))) for x in range(matches)]
        counted = repeated(builder, load_at(builder, shares, place, matches), piece)
        flat = plan.dense_places(piece)
        for at in range(0, len(flat), piece):
            of_matches = [load_at(builder, masses, emit.at(x, at), piece) for x in begin]
            for x, turned in enumerate(emit.traded(of_matches, 1)):
                weighted = builder.fmul(counted, turned)
                for y in range(at + x, min(at + piece, len(flat)), matches):
                    row, lane = flat[y]
                    numbers = part_of(builder, weighted, y - at - x, matches)
                    target = (row * plan.slots + lane) * matches
                    store_at(builder, numbers, near, constant_int(target))
        return constant_int(0)

    return signature, generate


@intrinsic
def complete_sums(typing, plan, columns, player, mine, landing, landed, first, staying, last):
    """Complete the reach of the afterstates to which sums lead, before a cell collects it.

    `columns` begin at the position `player`, where one vector of the first lies, and at `mine` for
    what lands with an extra turn.
    """
    signature = types.void(
        plan, columns, _integer, _integer, landing, landed, _integer, _integer, _integer
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, _, player, mine, _, _, first, staying, last = arguments
        columns, landing, landed = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (1, 4, 5)
        )
        emit = Emitter(builder, kinds[0].constants, context.get_value_type(kinds[1].dtype))
        plan = emit.constants

        def complete(player, first, last):
            def one(index, _):
                there, at = emit.landed_at(landed, index)
                data = builder.gep(columns, [builder.add(player, there)])
                there = emit.entry(landing, at, plan.many)
                known = emit.load(data, there)
                emit.store(completed(emit, known, data, landing, at, plan.slots), data, there)
                return []

            emit.loop(first, last, [], one)

        if any(dice.depth for dice in plan.dice):
            complete(player, first, staying)
            if plan.keeps:
                complete(mine, staying, last)
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
    thrown,
    needed,
    policies,
    row,
    player,
    mine,
    landing,
    landed,
    first,
    staying,
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
        none, thrown, needed, _, row, player, mine, _, _, *others = arguments[5:]
        *bounds, vector, _, begins, _, turn, _ = others
        columns, policies, landing, landed, begun, masses, arrived = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (1, 8, 12, 13, 18, 20, 22)
        )
        emit, plan = here.emit, here.emit.constants
        place = builder.mul(vector, constant_int(emit.piece))
        told = [builder.gep(columns, [where]) for where in (player, mine)]
        held = _collected(emit, told, landing, landed, bounds, vector)
        memory = plan.start // plan.lanes
        held[memory] = emit.add(held[memory], emit.load(begun, builder.add(begins, place)))
        everyone = emit.total(list(held))
        emit.store(everyone, arrived, place)
        with builder.if_then(builder.icmp_signed(">=", turn, constant_int(0))):
            members = [emit.total([held[x] for x in other.members]) for other in plan.alternatives]
            at = builder.mul(turn, constant_int(plan.dense(emit.piece)))
            emit.store_dense([everyone, *members], masses, builder.add(at, place))
        weights = [emit.weight(policies, row, roll) for roll in range(plan.num_actions)]
        carry_on(here, everyone, held, weights, thrown, needed, none)
        return context.get_dummy_value()

    return signature, generate


def _collected(
    emit: Emitter, told: list[Any], landing: Any, landed: Any, bounds: list[Any], vector: Any
) -> list[Pieces]:
    """Reach of every active memory at a cell, for the lanes of a vector."""
    plan, builder = emit.constants, emit.builder
    count, held = _vectors(emit), emit.piece // plan.pairs
    first, staying, last = bounds

    def gather(index: Any, running: Pieces) -> Pieces:
        there, at = emit.landed_at(landed, index)
        data = builder.gep(told[0], [there])
        found = []
        for lane in range(held):
            record = _record_at(emit, landing, at, vector, lane)
            for x in range(count):
                more = emit.load(data, emit.at(record, x * emit.piece))
                found.extend(emit.add(running[len(found) : len(found) + 1], more))
        return found

    flat = emit.loop(first, staying, emit.zero * (held * count), gather)
    rows: list[Pieces] = []
    for x in range(count):
        rows += emit.exchanged([[flat[lane * count + x]] for lane in range(held)])
    rows = rows[: plan.active]
    if not plan.keeps:
        return rows
    place = builder.mul(vector, constant_int(emit.piece))

    def keep(index: Any, running: Pieces) -> Pieces:
        there, at = emit.landed_at(landed, index)
        data = builder.gep(told[1], [there])
        found = list(running)
        for record in plan.kept:
            more = emit.load(data, builder.add(emit.entry(landing, at, record), place))
            found[record : record + 1] = emit.add(running[record : record + 1], more)
        return found

    return [[row] for row in emit.loop(staying, last, [row for (row,) in rows], keep)]
