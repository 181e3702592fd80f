"""One cell's arithmetic with a game's terms written out, for kernels that are given a plan.

A lane is held as vectors of the machine, :data:`hogeq.kernels.plan.PIECE` numbers each, in Python
lists while code is generated.  What is computed is what :mod:`hogeq.kernels.dice` and
:mod:`hogeq.kernels.memory` compute, up to the order of additions.  No bounds are checked, so these
are for cells from which no term and no bonus reaches the goal.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hogeq.kernels.lanes import ROUNDING, contracted, data_of, load_at, splat_of, store_at, total_of, zero_of
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

    def windows(self, column: Any, spot: Any, *, ahead: bool) -> list[Any]:
        """Positions of the bases 2 to `sides` steps ahead or behind, around the ring of sums."""
        ring = self.constants.ring
        found = []
        for step in range(2, self.constants.sides + 1):
            there = self.at(spot, step if ahead else -step)
            around = self.at(there, -ring if ahead else ring)
            bound = _int(ring if ahead else 0)
            inside = self.builder.icmp_signed("<" if ahead else ">=", there, bound)
            there = self.builder.select(inside, there, around)
            row = self.builder.mul(there, _int(self.constants.rolls * self.constants.lanes))
            found.append(self.builder.add(column, row))
        return found

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
    return _Emitter(builder, plan.constants, context.get_value_type(array.dtype))


@intrinsic
def value_all_rolls(typing, plan, values, base, buffer, place, sums, column, spot, wins):
    """Win probability of every roll but none from a base, by lane, into the buffer: by sums."""
    integer = types.int64
    signature = types.void(plan, values, integer, buffer, integer, sums, integer, integer, wins)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, values, base, buffer, place, sums, column, spot, wins = arguments
        values, buffer, sums = (
            data_of(context, builder, kinds[x], array)
            for x, array in ((1, values), (3, buffer), (5, sums))
        )
        plan = kinds[0].constants
        emit = _emitter(context, builder, kinds[0], kinds[1])
        around = emit.windows(column, spot, ahead=True)
        here = builder.add(column, builder.mul(spot, _int(plan.rolls * plan.lanes)))
        share = emit.constant(1.0 / plan.sides)
        worth = []
        for roll in range(1, plan.rolls):
            win = [emit.splat(emit.element(kinds[8], wins, context, roll))] * emit.pieces
            if roll <= plan.depth:
                level = (roll - 1) * plan.lanes
                terms = [emit.load(sums, emit.at(row, level)) for row in around]
                total = emit.scale(share, emit.total(terms))
                emit.store(total, sums, emit.at(here, roll * plan.lanes))
                if plan.is_sum[roll]:
                    win = emit.add(win, total)
            worth.append(win)
        for term in plan.terms:
            value = emit.load(values, emit.at(base, term.offset))
            for roll, prob in term.rolls:
                product = emit.scale(emit.constant(prob), value)
                worth[roll - 1] = emit.add(product, worth[roll - 1])
        for roll, value in enumerate(worth, 1):
            emit.store(value, buffer, emit.at(place, roll * plan.lanes))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def mix_and_publish(typing, plan, row, buffer, near, far, values, bases, first, last):
    """Mix the rolls of a cell and write what each memory is worth to the afterstates before it.

    ``bases[first:last]`` are the positions of these with record 0.
    """
    integer = types.int64
    signature = types.void(
        plan, row, buffer, integer, integer, values, bases, integer, integer
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, row, buffer, near, far, values, bases, first, last = arguments
        buffer, values, bases = (
            data_of(context, builder, kinds[x], array)
            for x, array in ((2, buffer), (5, values), (6, bases))
        )
        plan = kinds[0].constants
        emit = _emitter(context, builder, kinds[0], kinds[5])
        places = near, far
        # What the other player, who has just moved, wins: 1 less all that the mover does.
        common = [emit.constant(1.0)] * emit.pieces
        extra = [[] for _ in range(plan.active)]
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
        turned = emit.transposed(rows)

        def write(index, _):
            base = builder.load(builder.gep(bases, [index]))
            for record in range(plan.records):
                emit.store(turned[record], values, emit.at(base, record * plan.record_stride))
            return []

        emit.loop(first, last, [], write)
        return context.get_dummy_value()

    return signature, generate


def _collected(
    emit: _Emitter, reach: Any, bases: Any, first: Any, last: Any, begun: Any
) -> tuple[list[Pieces], Pieces]:
    """Reach of every active memory, by lane, from the afterstates that land on a cell; the sum.

    `begun` is added to the memory before the first turn.
    """
    plan, builder = emit.constants, emit.builder

    def gather(index, running):
        base = builder.load(builder.gep(bases, [index]))
        found = []
        for record in range(plan.records):
            row = running[record * emit.pieces : (record + 1) * emit.pieces]
            landed = emit.load(reach, emit.at(base, record * plan.record_stride))
            found.extend(emit.add(row, landed))
        return found

    flat = emit.loop(first, last, emit.zero * plan.records, gather)
    rows = [flat[x * emit.pieces : (x + 1) * emit.pieces] for x in range(plan.records)]
    rows += [emit.zero] * (plan.lanes - plan.records)
    masses = emit.transposed(rows)[: plan.active]
    memory, lane = divmod(plan.start, plan.lanes)
    one = [1.0 if x == lane % PIECE else 0.0 for x in range(PIECE)]
    piece = masses[memory][lane // PIECE]
    start = contracted(builder.fmul, emit.splat(begun), ir.Constant(emit.kind, one))
    masses[memory][lane // PIECE] = contracted(builder.fadd, piece, start)
    return masses, emit.total(list(masses))


def _members(emit: _Emitter, masses: list[Pieces], other: Any) -> Pieces:
    return emit.total([masses[member] for member in other.members])


@intrinsic
def collect_and_average(
    typing, plan, reach, bases, first, last, begun, buffer, near, far, averages
):
    """Counterfactual value of every roll, its values weighted by reach; returns the cell's reach.

    ``bases[first:last]`` are the positions, with record 0, of what lands on the cell, and `begun`
    is what starts there.
    """
    integer = types.int64
    signature = types.float64(
        plan,
        reach,
        bases,
        integer,
        integer,
        types.float64,
        buffer,
        integer,
        integer,
        averages,
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, reach, bases, first, last, begun, buffer, near, far, averages = arguments
        reach, bases, buffer, averages = (
            data_of(context, builder, kinds[x], array)
            for x, array in ((1, reach), (2, bases), (6, buffer), (9, averages))
        )
        plan = kinds[0].constants
        emit = _emitter(context, builder, kinds[0], kinds[1])
        places = near, far
        masses, everyone = _collected(emit, reach, bases, first, last, begun)
        for roll, (is_far, offset) in enumerate(plan.usual):
            usual = emit.load(buffer, emit.at(places[is_far], offset))
            total = emit.multiply(everyone, usual)
            for other in plan.others:
                if other.roll == roll:
                    there = emit.load(buffer, emit.at(places[other.far], other.offset))
                    gain = emit.subtract(there, usual)
                    total = emit.add(emit.multiply(_members(emit, masses, other), gain), total)
            builder.store(emit.number(total), builder.gep(averages, [_int(roll)]))
        return emit.number(everyone)

    return signature, generate


@intrinsic
def collect_and_depart(typing, plan, reach, bases, first, last, begun, row, buffer, near, far):
    """Add a cell's reach to that of its rolls; returns it.  Arguments as before."""
    integer = types.int64
    signature = types.float64(
        plan,
        reach,
        bases,
        integer,
        integer,
        types.float64,
        row,
        buffer,
        integer,
        integer,
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, reach, bases, first, last, begun, row, buffer, near, far = arguments
        reach, bases, buffer = (
            data_of(context, builder, kinds[x], array)
            for x, array in ((1, reach), (2, bases), (7, buffer))
        )
        plan = kinds[0].constants
        emit = _emitter(context, builder, kinds[0], kinds[1])
        places = near, far

        def give(weight, lane, is_far, offset):
            at = emit.at(places[is_far], offset)
            given = emit.add(emit.scale(weight, lane), emit.load(buffer, at))
            emit.store(given, buffer, at)

        masses, everyone = _collected(emit, reach, bases, first, last, begun)
        least = emit.rounding(everyone)
        for roll, (is_far, offset) in enumerate(plan.usual):
            weight = emit.splat(emit.element(kinds[6], row, context, roll))
            usual = everyone
            for other in plan.others:
                if other.roll == roll:
                    members = _members(emit, masses, other)
                    usual = emit.subtract(usual, members)
                    give(weight, members, other.far, other.offset)
            if usual is not everyone:
                usual = emit.above(usual, least)
            give(weight, usual, is_far, offset)
        return emit.number(everyone)

    return signature, generate


@intrinsic
def spread_all_rolls(typing, plan, reach, base, buffer, place, sums, column, spot):
    """Carry the reach of every roll but none from a base one die further; clear the buffer."""
    integer = types.int64
    signature = types.void(plan, reach, integer, buffer, integer, sums, integer, integer)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, reach, base, buffer, place, sums, column, spot = arguments
        reach, buffer, sums = (
            data_of(context, builder, kinds[x], array)
            for x, array in ((1, reach), (3, buffer), (5, sums))
        )
        plan = kinds[0].constants
        emit = _emitter(context, builder, kinds[0], kinds[1])
        around = emit.windows(column, spot, ahead=False)
        here = builder.add(column, builder.mul(spot, _int(plan.rolls * plan.lanes)))
        share = emit.constant(1.0 / plan.sides)
        flows = [
            emit.load(buffer, emit.at(place, roll * plan.lanes)) for roll in range(1, plan.rolls)
        ]
        for roll in range(1, plan.depth + 1):
            terms = []
            if roll < plan.depth:
                level = (roll + 1) * plan.lanes
                terms = [emit.load(sums, emit.at(row, level)) for row in around]
                terms = [emit.scale(share, emit.total(terms))]
            if plan.is_sum[roll]:
                terms.append(flows[roll - 1])
            total = emit.total(terms) if terms else emit.zero
            emit.store(total, sums, emit.at(here, roll * plan.lanes))
        for term in plan.terms:
            at = emit.at(base, term.offset)
            total = emit.load(reach, at)
            for roll, prob in term.rolls:
                total = emit.add(emit.scale(emit.constant(prob), flows[roll - 1]), total)
            emit.store(total, reach, at)
        for roll in range(plan.rolls):
            emit.store(emit.zero, buffer, emit.at(place, roll * plan.lanes))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def land_all_sums(typing, plan, reach, at, sums, column, spot):
    """Complete the reach of the afterstate, at a position, to which sums lead."""
    integer = types.int64
    signature = types.void(plan, reach, integer, sums, integer, integer)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, reach, at, sums, column, spot = arguments
        reach, sums = (
            data_of(context, builder, kinds[x], array) for x, array in ((1, reach), (3, sums))
        )
        plan = kinds[0].constants
        emit = _emitter(context, builder, kinds[0], kinds[1])
        around = emit.windows(column, spot, ahead=False)
        terms = [emit.load(sums, emit.at(row, plan.lanes)) for row in around]
        landed = emit.scale(emit.constant(1.0 / plan.sides), emit.total(terms))
        total = emit.add(landed, emit.load(reach, at))
        emit.store(emit.above(total, emit.rounding(landed)), reach, at)
        return context.get_dummy_value()

    return signature, generate
