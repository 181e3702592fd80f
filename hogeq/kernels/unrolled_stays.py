"""Turns that stay, with a game's terms written out: what :mod:`hogeq.kernels.planned_stays` adds.

Arguments are those of :mod:`hogeq.kernels.unrolled`. A *core* is what :data:`WORTH`, :data:`CHANCE`
and :data:`LEAVE` say of a cell and a player, a number for every active memory, one after the other.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hogeq.kernels.emitter import Emitter, Pieces, emitter_of
from hogeq.kernels.lanes import data_of
from hogeq.kernels.plan import FAR, NEAR, Constants
from hogeq.kernels.unrolled import base_of
from hogeq.kernels.unrolled_reach import arrived

_integer = types.int64

# Rows of a core: what the memory wins if staying wins nothing and the other player's memory is that
# of a turn that stayed, the probability that it stays, and that it does not. Forward the first is
# what comes to stay there with the bonus, by lane.
WORTH, CHANCE, LEAVE, ROWS = 0, 1, 2, 3


def _numbers(emit: Emitter, values: Sequence[float]) -> Pieces:
    """Return a lane of constants."""
    parts = [list(values[x : x + emit.piece]) for x in range(0, len(values), emit.piece)]
    return [ir.Constant(emit.kind, part) for part in parts]


def _is_far(plan: Constants, roll: int) -> list[bool]:
    """Whether a roll gains the bonus, by active memory, and so cannot stay."""
    found = [bool(plan.usual[roll][0])] * plan.lanes
    for other in plan.alternatives:
        if other.roll == roll:
            for member in other.members:
                found[member] = bool(other.far)
    return found


@intrinsic
def stay_chances(typing, plan, policies, row, cores, at):
    """Write how likely a cell's turn is to stay, and to leave, to the core ``cores[at:]``."""
    signature = types.void(plan, policies, _integer, cores, _integer)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, _, row, _, at = arguments
        policies, cores = (data_of(context, builder, kinds[x], arguments[x]) for x in (1, 3))
        emit = emitter_of(context, builder, kinds[0], kinds[3])
        plan = emit.constants
        stays, leaves = [], []
        for roll in range(plan.num_actions):
            weight = emit.weight(policies, row, roll)
            far = _is_far(plan, roll)
            chances = [0.0 if x else plan.stays[roll] for x in far]
            others = [1.0 if x else plan.leaves[roll] for x in far]
            if any(chances):
                stays.append(emit.scale(weight, _numbers(emit, chances)))
            leaves.append(emit.scale(weight, _numbers(emit, others)))
        emit.store(emit.total(stays), cores, emit.at(at, CHANCE * plan.lanes))
        emit.store(emit.total(leaves), cores, emit.at(at, LEAVE * plan.lanes))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def stay_worths(
    typing, plan, columns, column, source, base, policies, row, alone, first, cores, at
):
    """Write what a cell's memories win after a turn that stayed to the core ``cores[at:]``.

    ``alone[first:]`` is what rolls without the bonus win if staying wins nothing.
    """
    signature = types.void(
        plan,
        columns,
        _integer,
        source,
        _integer,
        policies,
        _integer,
        alone,
        _integer,
        cores,
        _integer,
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        here = base_of(context, builder, signature, arguments)
        _, row, _, first, _, at = arguments[5:]
        policies, alone, cores = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (5, 7, 9)
        )
        emit, plan = here.emit, here.emit.constants
        boosted = here.entry(FAR)

        def worth(far: int, offset: int) -> Any:
            if far:
                return emit.splat(emit.entry(here.data, boosted, offset + plan.idle))
            return emit.splat(emit.entry(alone, first, offset // plan.lanes))

        terms = []
        for roll, usual in enumerate(plan.usual):
            weight, most = emit.weight(policies, row, roll), worth(*usual)
            terms.append(emit.scale(weight, [most] * emit.pieces))
            for other in plan.alternatives:
                if other.roll == roll:
                    gain = builder.fsub(worth(other.far, other.offset), most)
                    members = [float(x in other.members) for x in range(plan.lanes)]
                    terms.append(emit.scale(builder.fmul(weight, gain), _numbers(emit, members)))
        emit.store(emit.total(terms), cores, emit.at(at, WORTH * plan.lanes))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def add_stays(typing, plan, columns, column, source, base, won, at):
    """Add to a base's rolls what it wins more to stay, by lane, ``won[at:]``."""
    signature = types.void(plan, columns, _integer, source, _integer, won, _integer)

    def generate(context, builder, signature, arguments):
        here = base_of(context, builder, signature, arguments)
        won = data_of(context, builder, signature.args[5], arguments[5])
        emit, plan = here.emit, here.emit.constants
        near, more = here.entry(NEAR), emit.load(won, arguments[6])
        for roll, chance in enumerate(plan.stays):
            if chance:
                there = emit.at(near, roll * plan.lanes)
                gained = emit.scale(emit.constant(chance), more)
                here.store(emit.add(gained, here.load(there)), there)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def first_stays(
    typing,
    plan,
    columns,
    column,
    source,
    base,
    player,
    landing,
    landed,
    first,
    last,
    begun,
    cores,
    at,
    flows,
    to,
):
    """Reach of what stays at a cell at first, before any that stayed comes back.

    Writes to ``flows[to:]``, by record, what rolls there without the bonus, and to the first row of
    the core ``cores[at:]``, by lane, what has gained it. Of the core it reads the second.
    """
    signature = types.void(
        plan,
        columns,
        _integer,
        source,
        _integer,
        _integer,
        landing,
        landed,
        _integer,
        _integer,
        types.float64,
        cores,
        _integer,
        flows,
        _integer,
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        here = base_of(context, builder, signature, arguments)
        player, _, _, first, last, begun, _, at, _, to = arguments[5:]
        columns, landing, landed, cores, flows = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (1, 6, 7, 11, 13)
        )
        emit, plan = here.emit, here.emit.constants
        told = builder.gep(columns, [player])
        others = sorted({*plan.kept} - {plan.idle})
        nothing = [emit.zero] * plan.records
        rows = arrived(emit, told, landing, landed, (first, last), others, nothing)
        memory, lane = divmod(plan.start, plan.lanes)
        rows[lane] = emit.add(rows[lane], emit.only(memory, begun))
        chances = emit.load(cores, emit.at(at, CHANCE * plan.lanes))
        emit.store_sums([emit.multiply(chances, row) for row in rows], builder.gep(flows, [to]))
        near = here.entry(NEAR)
        gained = [emit.zero]
        for roll, chance in enumerate(plan.stays):
            offset = roll * plan.lanes
            if chance and any(_is_far(plan, roll)):
                waiting = here.load(emit.at(near, offset))
                gained.append(emit.scale(emit.constant(chance), waiting))
        emit.store(emit.total(gained), cores, at)
        return context.get_dummy_value()

    return signature, generate
