"""One cell's arithmetic with a game's terms written out, for kernels that are given a plan.

A lane is held as vectors of the machine, :data:`hogeq.kernels.plan.PIECE` numbers each, in Python
lists while code is generated.  What is computed is what :mod:`hogeq.kernels.dice` and
:mod:`hogeq.kernels.memory` compute, up to the order of additions.  No bounds are checked: what
reaches the goal is read from a spare block that holds nothing, and written to one nobody reads.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hogeq.kernels.lanes import (
    CACHE_LINE,
    ROUNDING,
    contracted,
    data_of,
    load_at,
    splat_of,
    store_at,
    total_of,
    widened,
    zero_of,
)
from hogeq.kernels.plan import PIECE, Constants

Pieces = list[Any]

_INDEX = ir.IntType(64)


def _int(value: int) -> Any:
    return ir.Constant(_INDEX, value)


class _Emitter:
    """Writes instructions on lanes, in pieces."""

    def __init__(self, builder: ir.IRBuilder, constants: Constants, element: Any) -> None:
        self.builder = builder
        self.constants = constants
        self.kind = ir.VectorType(element, PIECE)
        self.pieces = constants.lanes // PIECE

    @property
    def zero(self) -> Pieces:
        return [zero_of(self.kind)] * self.pieces

    def at(self, position: Any, offset: int) -> Any:
        return self.builder.add(position, _int(offset)) if offset else position

    def load(self, data: Any, position: Any) -> Pieces:
        return [
            load_at(self.builder, data, self.at(position, piece * PIECE), PIECE)
            for piece in range(self.pieces)
        ]

    def store(self, lane: Pieces, data: Any, position: Any) -> None:
        for piece, vector in enumerate(lane):
            store_at(self.builder, vector, data, self.at(position, piece * PIECE))

    def splat(self, scalar: Any) -> Any:
        return splat_of(self.builder, scalar, self.kind)

    def constant(self, value: float) -> Any:
        return ir.Constant(self.kind, [value] * PIECE)

    def add(self, left: Pieces, right: Pieces) -> Pieces:
        return [contracted(self.builder.fadd, *pair) for pair in zip(left, right, strict=True)]

    def subtract(self, left: Pieces, right: Pieces) -> Pieces:
        return [contracted(self.builder.fsub, *pair) for pair in zip(left, right, strict=True)]

    def scale(self, factor: Any, lane: Pieces) -> Pieces:
        return [contracted(self.builder.fmul, factor, vector) for vector in lane]

    def multiply(self, left: Pieces, right: Pieces) -> Pieces:
        return [contracted(self.builder.fmul, *pair) for pair in zip(left, right, strict=True)]

    def rounding(self, lane: Pieces) -> Pieces:
        """As much of a lane as may be nothing but rounding."""
        return self.scale(self.constant(ROUNDING[str(self.kind.element)]), lane)

    def above(self, lane: Pieces, least: Pieces) -> Pieces:
        """Set to exactly 0 what is not above the least."""
        found = []
        for vector, bound in zip(lane, least, strict=True):
            above = self.builder.fcmp_ordered(">", vector, bound)
            found.append(self.builder.select(above, vector, zero_of(self.kind)))
        return found

    def number_at(self, lane: Pieces, x: int) -> Any:
        index = ir.Constant(ir.IntType(32), x % PIECE)
        number = self.builder.extract_element(lane[x // PIECE], index)
        return widened(self.builder, number)

    def only(self, x: int, scalar: Any) -> Pieces:
        """Return a lane of zeros but for one number."""
        found = self.zero
        one = ir.Constant(self.kind, [1.0 if y == x % PIECE else 0.0 for y in range(PIECE)])
        found[x // PIECE] = self.builder.fmul(self.splat(scalar), one)
        return found

    def total(self, lanes: list[Pieces]) -> Pieces:
        """Sum, in pairs, so that few additions wait for each other."""
        while len(lanes) > 1:
            pairs = [self.add(*lanes[x : x + 2]) for x in range(0, len(lanes) - 1, 2)]
            lanes = pairs + lanes[len(lanes) // 2 * 2 :]
        return lanes[0]

    def number(self, lane: Pieces) -> Any:
        """Sum of a lane's numbers, double."""
        vector = lane[0]
        for other in lane[1:]:
            vector = self.builder.fadd(vector, other)
        return total_of(self.builder, vector)

    def transposed(self, rows: list[Pieces]) -> list[Pieces]:
        """Turn as many rows as there are lanes into columns."""
        turned: list[Pieces] = [[None] * self.pieces for _ in rows]
        for top in range(self.pieces):
            for left in range(self.pieces):
                block = self._turned([rows[top * PIECE + x][left] for x in range(PIECE)])
                for x in range(PIECE):
                    turned[left * PIECE + x][top] = block[x]
        return turned

    def _turned(self, rows: list[Any]) -> list[Any]:
        """Halves, quarters, single numbers trade places across the diagonal."""
        indices = ir.VectorType(ir.IntType(32), PIECE)
        step = 1
        while step < PIECE:
            for row in range(PIECE):
                if row & step:
                    continue
                pair = rows[row], rows[row + step]
                low = [x if not x & step else PIECE + x - step for x in range(PIECE)]
                high = [x + step if not x & step else PIECE + x for x in range(PIECE)]
                for at, mask in ((row, low), (row + step, high)):
                    rows[at] = self.builder.shuffle_vector(*pair, ir.Constant(indices, mask))
            step *= 2
        return rows

    def store_dense(self, rows: list[Pieces], data: Any, position: Any) -> None:
        """Write the lanes in use of several rows, without the padding."""
        for x, vector in enumerate(self._dense(rows)):
            store_at(self.builder, vector, data, self.at(position, x * PIECE))

    def load_dense(self, data: Any, position: Any, count: int) -> list[Pieces]:
        """Read rows that were written without the padding, which is 0."""
        whole, rest = divmod(self.constants.records, PIECE)
        flat = [
            load_at(self.builder, data, self.at(position, x * PIECE), PIECE)
            for x in range(self.constants.dense // PIECE)
        ]
        rows = []
        for x in range(count):
            row = flat[x * whole : (x + 1) * whole]
            if rest:
                places = [divmod(x * rest + y, PIECE) for y in range(rest)]
                row.append(self._picked([(flat[count * whole + v], at) for v, at in places]))
            rows.append(row)
        return rows

    def _dense(self, rows: list[Pieces]) -> Pieces:
        whole, rest = divmod(self.constants.records, PIECE)
        flat = [row[x] for row in rows for x in range(whole)]
        places = [(row[whole], y) for row in rows for y in range(rest)]
        return flat + [self._picked(places[x : x + PIECE]) for x in range(0, len(places), PIECE)]

    def _picked(self, places: list[tuple[Any, int]]) -> Any:
        """Vector of numbers from others, then zeros."""
        indices = ir.VectorType(ir.IntType(32), PIECE)
        found = zero_of(self.kind)
        for vector in dict.fromkeys(vector for vector, _ in places):
            mask = list(range(PIECE))
            for x, (source, at) in enumerate(places):
                if source is vector:
                    mask[x] = PIECE + at
            found = self.builder.shuffle_vector(found, vector, ir.Constant(indices, mask))
        return found

    def element(self, kind: Any, array: Any, context: Any, index: int) -> Any:
        """Read a number of a small one-dimensional array."""
        made = context.make_array(kind)(context, self.builder, array)
        if kind.layout == "C":
            place = self.builder.gep(made.data, [_int(index)])
        else:
            step = self.builder.extract_value(made.strides, 0)
            bytes_ = self.builder.bitcast(made.data, ir.IntType(8).as_pointer())
            place = self.builder.gep(bytes_, [self.builder.mul(step, _int(index))])
            place = self.builder.bitcast(place, made.data.type)
        return self.builder.load(place)

    def around(self, index: Any, size: int) -> Any:
        return self.builder.urem(index, _int(size))

    def windows(self, line: Any, own: Any, *, ahead: bool) -> list[Any]:
        """Positions of the sums of the bases 2 to `sides` steps ahead or behind."""
        ring = self.constants.ring
        steps = range(2, self.constants.sides + 1)
        return [self.sums_of(line, self.at(own, x if ahead else ring - x)) for x in steps]

    def sums_of(self, line: Any, own: Any) -> Any:
        """Position of a base's sums; `line` is player * G + opponent's score."""
        return self._in_ring(line, own, self.constants.ring)

    def rolls_of(self, line: Any, own: Any) -> tuple[Any, Any]:
        """Positions of the rolls of a base and of the one the bonus leads to."""
        bases = self.constants.bases
        far = self.at(own, bases - 1)
        return self._in_ring(line, own, bases), self._in_ring(line, far, bases)

    def _in_ring(self, line: Any, own: Any, ring: int) -> Any:
        row = self.builder.add(self.builder.mul(line, _int(ring)), self.around(own, ring))
        return self.builder.mul(row, _int(self.constants.rolls * self.constants.lanes))

    def blocks(self, at: Any, home: Any) -> Callable[[int, int], Any]:
        """Return what finds the afterstate of points and a record, from a base's place in `at`."""
        found: dict[int, Any] = {}

        def afterstate(points: int, record: int) -> Any:
            if points not in found:
                place = self.builder.gep(at, [self.at(home, points)])
                found[points] = self.builder.load(place)
            return self.at(found[points], record * self.constants.lanes)

        return afterstate

    def loop(self, first: Any, last: Any, carried: Pieces, body: Callable[..., Pieces]) -> Pieces:
        """Run ``body(index, carried)`` for index in first..last; return what it carried."""
        builder = self.builder
        before = builder.block
        inside = builder.append_basic_block("loop")
        after = builder.append_basic_block("looped")
        builder.cbranch(builder.icmp_signed("<", first, last), inside, after)
        builder.position_at_end(inside)
        index = builder.phi(_INDEX)
        running = [builder.phi(self.kind) for _ in carried]
        made = body(index, running)
        following = builder.add(index, _int(1))
        end = builder.block
        index.add_incoming(first, before)
        index.add_incoming(following, end)
        builder.cbranch(builder.icmp_signed("<", following, last), inside, after)
        builder.position_at_end(after)
        found = []
        for phi, old, new in zip(running, carried, made, strict=True):
            phi.add_incoming(old, before)
            phi.add_incoming(new, end)
            result = builder.phi(self.kind)
            result.add_incoming(old, before)
            result.add_incoming(new, end)
            found.append(result)
        return found


def _emitter(context: Any, builder: ir.IRBuilder, plan: Any, array: Any) -> _Emitter:
    # Lanes that find no register wait on the stack, a cache line each if that begins one.
    attributes = builder.function.attributes
    attributes.alignstack = CACHE_LINE
    attributes.add("nounwind")  # which it is anyway: llvmlite writes none unless there is a name
    return _Emitter(builder, plan.constants, context.get_value_type(array.dtype))


_integer = types.int64


def _summed(
    emit: _Emitter,
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
        emit = _emitter(context, builder, kinds[0], kinds[1])
        plan = emit.constants
        afterstate = emit.blocks(at, home)
        near, _ = emit.rolls_of(line, own)
        totals = _summed(emit, values, afterstate, sums, line, own)
        worth = []
        for roll in range(plan.rolls):
            win = [emit.splat(emit.element(kinds[5], wins, context, roll))] * emit.pieces
            worth.append(emit.add(win, totals[roll]) if plan.is_sum[roll] else win)
        worth[0] = emit.add(worth[0], emit.load(values, none))
        for term in plan.terms:
            value = emit.load(values, afterstate(term.points, term.record))
            for roll, prob in term.rolls:
                product = emit.scale(emit.constant(prob), value)
                worth[roll] = emit.add(product, worth[roll])
        for roll, value in enumerate(worth):
            emit.store(value, buffer, emit.at(near, roll * plan.lanes))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def mix_and_publish(typing, plan, row, buffer, line, own, values, landed, first, last):
    """Mix the rolls of a cell, and write what each memory is worth to whoever moved before.

    ``landed[first:last]`` are the blocks that land on the cell.  Returns the value of the memory
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
        emit = _emitter(context, builder, kinds[0], kinds[5])
        plan = emit.constants
        places = emit.rolls_of(line, own)
        # What the other player, who has just moved, wins: 1 less all that the mover does.
        common = [emit.constant(1.0)] * emit.pieces
        extra: list[list[Pieces]] = [[] for _ in range(plan.active)]
        for roll, (is_far, offset) in enumerate(plan.usual):
            weight = emit.splat(emit.element(kinds[1], row, context, roll))
            usual = emit.load(buffer, emit.at(places[is_far], offset))
            common = emit.subtract(common, emit.scale(weight, usual))
            for other in plan.others:
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
        emit = _emitter(context, builder, kinds[0], kinds[1])
        plan = emit.constants
        places = emit.rolls_of(line, own)
        at = builder.mul(turn, _int(plan.dense))
        everyone, *members = emit.load_dense(masses, at, 1 + len(plan.others))
        for roll, (is_far, offset) in enumerate(plan.usual):
            usual = emit.load(buffer, emit.at(places[is_far], offset))
            total = emit.multiply(everyone, usual)
            for other, some in zip(plan.others, members, strict=True):
                if other.roll == roll:
                    there = emit.load(buffer, emit.at(places[other.far], other.offset))
                    total = emit.add(emit.multiply(some, emit.subtract(there, usual)), total)
            builder.store(emit.number(total), builder.gep(averages, [_int(roll)]))
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
    there, `row` how it is played.  What weights values is kept in `masses` (n, D), unless `turn` is
    negative; the sum of all reach is returned.  `at`, `home`, `none` as of :func:`value_rolls`.
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
        emit = _emitter(context, builder, kinds[0], kinds[1])
        plan = emit.constants
        held = _collected(emit, told, landed, first, last, begun)
        everyone = emit.total(list(held))
        with builder.if_then(builder.icmp_signed(">=", turn, _int(0))):
            members = [emit.total([held[x] for x in other.members]) for other in plan.others]
            emit.store_dense([everyone, *members], masses, builder.mul(turn, _int(plan.dense)))
        weights = [
            emit.splat(emit.element(kinds[6], row, context, roll)) for roll in range(plan.rolls)
        ]
        flows = _departed(emit, everyone, held, weights, buffer, line, own)
        _spread(emit, flows, reach, emit.blocks(at, home), none, sums, line, own)
        return emit.number(everyone)

    return signature, generate


def _collected(
    emit: _Emitter, told: Any, landed: Any, first: Any, last: Any, begun: Any
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
    emit: _Emitter,
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
        for other in plan.others:
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
    for roll in range(plan.rolls):
        offset = roll * plan.lanes
        parts = here.get(offset, [])
        if offset in later:
            parts = [emit.load(buffer, emit.at(near, offset)), *parts]
        flows.append(emit.total(parts) if parts else emit.zero)
    for offset, parts in later.items():
        emit.store(emit.total(parts), buffer, emit.at(far, offset))
    return flows


def _spread(
    emit: _Emitter,
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
    for term in plan.terms:
        there = afterstate(term.points, term.record)
        parts = [emit.scale(emit.constant(prob), flows[roll]) for roll, prob in term.rolls]
        if term.record not in plan.sole:
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
        emit = _emitter(context, builder, kinds[0], kinds[1])
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
        emit = _emitter(context, builder, kinds[0], kinds[1])
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
