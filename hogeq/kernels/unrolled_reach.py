"""One cell's reach with a game's terms written out, beside its values.

Symbols are those of :mod:`hogeq.kernels.unrolled`.
"""

from collections.abc import Sequence
from typing import Any

from numba import types
from numba.extending import intrinsic

from hogeq.kernels.emitter import Emitter, Pieces, constant_int
from hogeq.kernels.lanes import data_of
from hogeq.kernels.plan import CHUNK, FAR, NEAR
from hogeq.kernels.unrolled import Base, base_of, if_needed, is_step

_integer = types.int64


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
    begun,
    masses,
    turn,
):
    """Carry the reach of a cell to its rolls, and of a base's rolls one die further.

    ``landed[first:staying]`` are the column and the row of `landing` of what lands on the cell, in
    `columns` from the position `player`, and ``landed[staying:last]``, from `mine`, of what lands
    there with an extra turn; `begun` is what starts there, and it is played as `policies` has it
    from `row` on, with the dice that are `thrown`; `needed` has those that are thrown from the
    base, and `none` is the afterstate of no dice. What weights values is kept in `masses` (n, D),
    unless `turn` is negative; the sum of all reach is returned.
    """
    signature = types.float64(
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
        types.float64,
        masses,
        _integer,
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        here = base_of(context, builder, signature, arguments)
        none, thrown, needed, _, row, player, mine, _, _, *bounds, begun, _, turn = arguments[5:]
        columns, policies, landing, landed, masses = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (1, 8, 12, 13, 18)
        )
        emit, plan = here.emit, here.emit.constants
        told = [builder.gep(columns, [where]) for where in (player, mine)]
        held = _collected(emit, told, landing, landed, bounds, begun)
        everyone = emit.total(list(held))
        with builder.if_then(builder.icmp_signed(">=", turn, constant_int(0))):
            members = [emit.total([held[x] for x in other.members]) for other in plan.alternatives]
            at = builder.mul(turn, constant_int(plan.dense(emit.piece)))
            emit.store_dense([everyone, *members], masses, at)
        weights = [emit.weight(policies, row, roll) for roll in range(plan.num_actions)]
        carry_on(here, everyone, held, weights, thrown, needed, none)
        return emit.number(everyone)

    return signature, generate


def _collected(
    emit: Emitter, told: list[Any], landing: Any, landed: Any, bounds: list[Any], begun: Any
) -> list[Pieces]:
    """Reach of every active memory at a cell, by lane."""
    plan = emit.constants
    first, staying, last = bounds
    nothing = [emit.zero] * plan.records
    rows = arrived(emit, told[0], landing, landed, (first, staying), plan.kept, nothing)
    rows += [emit.zero] * (plan.lanes - plan.records)
    held = emit.transposed(rows)[: plan.active]
    if plan.keeps:
        held = arrived(emit, told[1], landing, landed, (staying, last), plan.kept, held)
    memory, lane = divmod(plan.start, plan.lanes)
    held[memory] = emit.add(held[memory], emit.only(lane, begun))
    return held


def arrived(
    emit: Emitter,
    told: Any,
    landing: Any,
    landed: Any,
    bounds: tuple[Any, Any],
    records: Sequence[int],
    known: list[Pieces],
) -> list[Pieces]:
    """Add the reach of what lands on a cell, by record, of some records, to what is known."""
    plan, builder = emit.constants, emit.builder

    def gather(index: Any, running: Pieces) -> Pieces:
        there, at = emit.landed_at(landed, index)
        data = builder.gep(told, [there])
        found = []
        for record in range(plan.records):
            lane = running[record * emit.pieces : (record + 1) * emit.pieces]
            if record in records:
                more = emit.load(data, emit.entry(landing, at, record))
                if record == plan.many:
                    more = completed(emit, more, data, landing, at, plan.records)
                lane = emit.add(lane, more)
            found.extend(lane)
        return found

    flat = emit.loop(*bounds, [vector for lane in known for vector in lane], gather)
    return [flat[x * emit.pieces : (x + 1) * emit.pieces] for x in range(plan.records)]


def completed(emit: Emitter, known: Pieces, data: Any, landing: Any, at: Any, place: int) -> Pieces:
    """Reach of an afterstate to which sums lead: places of these in a row of landings are given."""
    parts = []
    for dice in emit.constants.dice:
        if dice.depth:
            rows = [
                emit.load(data, emit.entry(landing, at, place + x)) for x in range(dice.arriving)
            ]
            parts.append(emit.scale(emit.constant(1.0 / dice.sides), emit.total(rows)))
            place += dice.arriving
    if not parts:
        return known
    landed_here = emit.total(parts)
    # What corrections took away beforehand can leave nothing but rounding.
    return emit.above(emit.add(landed_here, known), emit.rounding(landed_here))


def carry_on(
    here: Base,
    everyone: Pieces,
    held: list[Pieces],
    weights: Pieces,
    thrown: Any,
    needed: Any,
    none: Any,
) -> None:
    """Carry the reach of a cell's memories to the afterstates of its base, and to sums."""
    emit, plan = here.emit, here.emit.constants
    flows = _departed(here, everyone, held, weights, thrown)
    for kind in range(len(plan.dice)):
        if len(plan.dice) > 1:
            flows = _taken(here, kind)
        _begin_sums(here, kind, flows)
        with if_needed(emit, needed, kind):
            _spread(here, kind, flows, none)


def _departed(
    here: Base, everyone: Pieces, held: list[Pieces], weights: Pieces, thrown: Any
) -> list[Pieces]:
    """Reach of every roll from a base: of those made there, and of those that gained the bonus.

    What gains the bonus waits in the column until its base is visited; nothing else is kept there.
    With several kinds of dice all is left there, and taken by kind.
    """
    emit, plan = here.emit, here.emit.constants
    near, far = here.rolls(NEAR, thrown), here.rolls(FAR, thrown)
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
    if len(plan.dice) > 1:
        for roll, flow in enumerate(flows):
            here.store(flow, emit.at(near, roll * plan.lanes))
    for offset, parts in later.items():
        here.store(emit.total(parts), emit.at(far, offset))
    return flows


def _taken(here: Base, kind: int) -> list[Pieces]:
    """Reach of a base's rolls with a kind of dice, of which nothing is left."""
    emit, plan = here.emit, here.emit.constants
    near = emit.at(here.entry(NEAR), kind * plan.num_actions * plan.lanes)
    flows = []
    for roll in range(plan.num_actions):
        there = emit.at(near, roll * plan.lanes)
        flows.append(here.load(there))
        here.store(emit.zero, there)
    return flows


def _begin_sums(here: Base, kind: int, flows: list[Pieces]) -> None:
    """Keep the reach of rolls that are sums, until those of a chunk are carried on."""
    emit, plan = here.emit, here.emit.constants
    dice = plan.dice[kind]
    if not dice.depth:
        return
    sums = here.sums(kind, 0)
    for roll in range(1, dice.depth + 1):
        if dice.is_sum[roll] or roll == dice.depth:
            here.store(flows[roll], here.level(sums, roll))
    if dice.depth > 1:
        # What lands before the chunk is complete.
        with emit.builder.if_then(is_step(here, "<", CHUNK - 2)):
            below = [here.sums(kind, -x) for x in range(2, dice.sides + 1)]
            known = [here.load(here.level(row, 2)) for row in below]
            total = emit.scale(emit.constant(1.0 / dice.sides), emit.total(known))
            if dice.is_sum[1]:
                total = emit.add(total, flows[1])
            here.store(total, here.level(sums, 1))


def _spread(here: Base, kind: int, flows: list[Pieces], none: Any) -> None:
    """Carry the reach of a base's rolls to the afterstates of terms, and of no dice."""
    emit, plan = here.emit, here.emit.constants
    for place, target in enumerate(plan.dice[kind].targets):
        there = here.entry(plan.target_row(kind) + place)
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
        for kind, dice in enumerate(here.emit.constants.dice):
            if dice.depth:
                _carry_sums(here, kind)
        return context.get_dummy_value()

    return signature, generate


def _carry_sums(here: Base, kind: int) -> None:
    emit = here.emit
    dice = emit.constants.dice[kind]
    share = emit.constant(1.0 / dice.sides)
    rows = [here.sums(kind, 1 - CHUNK + x) for x in range(-dice.sides, CHUNK)]
    own = rows[dice.sides :]
    made = [here.load(here.level(row, dice.depth)) for row in own[:2]]
    for roll in range(dice.depth - 1, 0, -1):
        known = [here.load(here.level(row, roll + 1)) for row in rows[: dice.sides]] + made[:2]
        chosen = own if roll > 1 else own[CHUNK - 2 :]
        if roll == 1:
            known = known[CHUNK - 2 :]
        made = []
        for row, window in zip(chosen, emit.windows(known, dice.sides - 1), strict=True):
            total = emit.scale(share, window)
            if dice.is_sum[roll]:
                total = emit.add(total, here.load(here.level(row, roll)))
            here.store(total, here.level(row, roll))
            made.append(total)


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
