"""LLVM instructions on lanes, for the arithmetic of :mod:`hogeq.kernels.unrolled`.

A lane is held as vectors of the machine, :data:`hogeq.kernels.plan.PIECE` numbers each, in Python
lists while code is generated. No bounds are checked.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from hogeq.kernels.lanes import (
    CACHE_LINE,
    ROUNDING,
    contracted,
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


def constant_int(value: int) -> Any:
    """Return an integer constant of 64 bits."""
    return ir.Constant(_INDEX, value)


class Emitter:
    """Writes instructions on lanes, in pieces."""

    def __init__(self, builder: ir.IRBuilder, constants: Constants, element: Any) -> None:
        self.builder = builder
        self.constants = constants
        self.kind = ir.VectorType(element, PIECE)
        self.pieces = constants.lanes // PIECE

    @property
    def zero(self) -> Pieces:
        """A lane of zeros."""
        return [zero_of(self.kind)] * self.pieces

    def at(self, position: Any, offset: int) -> Any:
        """Add a constant to a position."""
        return self.builder.add(position, constant_int(offset)) if offset else position

    def load(self, data: Any, position: Any) -> Pieces:
        """Read a lane from an array."""
        return [
            load_at(self.builder, data, self.at(position, piece * PIECE), PIECE)
            for piece in range(self.pieces)
        ]

    def store(self, lane: Pieces, data: Any, position: Any) -> None:
        """Write a lane to an array."""
        for piece, vector in enumerate(lane):
            store_at(self.builder, vector, data, self.at(position, piece * PIECE))

    def splat(self, scalar: Any) -> Any:
        """Return a vector that repeats a number."""
        return splat_of(self.builder, scalar, self.kind)

    def constant(self, value: float) -> Any:
        """Return a vector that repeats a constant."""
        return ir.Constant(self.kind, [value] * PIECE)

    def add(self, left: Pieces, right: Pieces) -> Pieces:
        """Add two lanes."""
        return [contracted(self.builder.fadd, *pair) for pair in zip(left, right, strict=True)]

    def subtract(self, left: Pieces, right: Pieces) -> Pieces:
        """Subtract the right lane from the left one."""
        return [contracted(self.builder.fsub, *pair) for pair in zip(left, right, strict=True)]

    def scale(self, factor: Any, lane: Pieces) -> Pieces:
        """Multiply every vector of a lane by a vector."""
        return [contracted(self.builder.fmul, factor, vector) for vector in lane]

    def multiply(self, left: Pieces, right: Pieces) -> Pieces:
        """Multiply two lanes, number by number."""
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
        """Return one number of a lane, double."""
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
            place = self.builder.gep(made.data, [constant_int(index)])
        else:
            step = self.builder.extract_value(made.strides, 0)
            bytes_ = self.builder.bitcast(made.data, ir.IntType(8).as_pointer())
            place = self.builder.gep(bytes_, [self.builder.mul(step, constant_int(index))])
            place = self.builder.bitcast(place, made.data.type)
        return self.builder.load(place)

    def around(self, index: Any, size: int) -> Any:
        """Return an index modulo a size."""
        return self.builder.urem(index, constant_int(size))

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
        row = self.builder.add(self.builder.mul(line, constant_int(ring)), self.around(own, ring))
        return self.builder.mul(
            row, constant_int(self.constants.num_actions * self.constants.lanes)
        )

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
        following = builder.add(index, constant_int(1))
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


def emitter_of(context: Any, builder: ir.IRBuilder, plan: Any, array: Any) -> Emitter:
    """Return what writes into a function that is being compiled for a plan and an array."""
    # Lanes that find no register wait on the stack, a cache line each if that begins one.
    attributes = builder.function.attributes
    attributes.alignstack = CACHE_LINE
    attributes.add("nounwind")  # which it is anyway: llvmlite writes none unless there is a name
    return Emitter(builder, plan.constants, context.get_value_type(array.dtype))
