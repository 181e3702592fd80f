"""LLVM instructions on lanes, for the arithmetic of :mod:`hogeq.kernels.unrolled`.

A lane is held as vectors of the machine, in Python
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
    repeated,
    splat_of,
    store_at,
    total_of,
    widened,
    zero_of,
)
from hogeq.kernels.plan import Constants, piece_of

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
        self.piece = piece_of(constants.lanes, 32 if isinstance(element, ir.FloatType) else 64)
        self.kind = ir.VectorType(element, self.piece)
        self.pieces = 1 if constants.by_vector else constants.lanes // self.piece

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
            load_at(self.builder, data, self.at(position, piece * self.piece), self.piece)
            for piece in range(self.pieces)
        ]

    def store(self, lane: Pieces, data: Any, position: Any) -> None:
        """Write a lane to an array."""
        for piece, vector in enumerate(lane):
            store_at(self.builder, vector, data, self.at(position, piece * self.piece))

    def weight(self, policies: Any, row: Any, roll: int) -> Any:
        """Read how often a roll is made, by match: row and roll are of one or of all matches."""
        pairs = self.constants.pairs
        if pairs == 1:
            return self.splat(self.entry(policies, row, roll))
        place = self.builder.mul(self.at(row, roll), constant_int(pairs))
        numbers = load_at(self.builder, policies, place, pairs)
        return repeated(self.builder, numbers, self.piece)

    def splat(self, scalar: Any) -> Any:
        """Return a vector that repeats a number."""
        return splat_of(self.builder, scalar, self.kind)

    def constant(self, value: float) -> Any:
        """Return a vector that repeats a constant."""
        return ir.Constant(self.kind, [value] * self.piece)

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
        index = ir.Constant(ir.IntType(32), x % self.piece)
        number = self.builder.extract_element(lane[x // self.piece], index)
        return widened(self.builder, number)

    def only(self, x: int, scalar: Any) -> Pieces:
        """Return a lane of zeros but for one number."""
        found = self.zero
        one = ir.Constant(
            self.kind, [1.0 if y == x % self.piece else 0.0 for y in range(self.piece)]
        )
        found[x // self.piece] = self.builder.fmul(self.splat(scalar), one)
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

    def chosen(self, condition: Any, one: Pieces, other: Pieces) -> Pieces:
        """Return the one lane if a condition holds, else the other."""
        return [self.builder.select(condition, *pair) for pair in zip(one, other, strict=True)]

    def store_sums(self, lanes: list[Pieces], data: Any) -> None:
        """Write the sum of every lane's numbers, in double precision.

        A vector of pairwise sums holds those of two lanes, and so on: less work than one by one.
        """
        rows = [self.total([[vector] for vector in lane])[0] for lane in lanes]
        indices = ir.VectorType(ir.IntType(32), self.piece)
        for first in range(0, len(rows), self.piece):
            group = rows[first : first + self.piece]
            count = len(group)
            for _ in range(self.piece.bit_length() - 1):
                if len(group) % 2:
                    group = [*group, zero_of(self.kind)]
                halves = [
                    [
                        self.builder.shuffle_vector(*pair, ir.Constant(indices, places))
                        for places in (
                            list(range(0, 2 * self.piece, 2)),
                            list(range(1, 2 * self.piece, 2)),
                        )
                    ]
                    for pair in zip(group[::2], group[1::2], strict=True)
                ]
                group = [self.builder.fadd(*both) for both in halves]
            for x in range(count):
                number = self.number_at([group[0]], x)
                self.builder.store(number, self.builder.gep(data, [constant_int(first + x)]))

    def transposed(self, rows: list[Pieces]) -> list[Pieces]:
        """Turn as many rows as there are lanes into columns."""
        turned: list[Pieces] = [[None] * self.pieces for _ in rows]
        for top in range(self.pieces):
            for left in range(self.pieces):
                block = [rows[top * self.piece + x][left] for x in range(self.piece)]
                block = self.traded(block, 1)
                for x in range(self.piece):
                    turned[left * self.piece + x][top] = block[x]
        return turned

    def exchanged(self, rows: list[Pieces]) -> list[Pieces]:
        """Exchange rows with lanes, of which a vector holds as many, each of all matches."""
        turned = self.traded([vector for (vector,) in rows], self.piece // len(rows))
        return [[row] for row in turned]

    def traded(self, rows: list[Any], run: int) -> list[Any]:
        """Exchange vectors with runs of so many numbers, of which as many at a time as vectors.

        Halves, quarters, single runs trade places across the diagonal.
        """
        rows, size = list(rows), rows[0].type.count
        indices = ir.VectorType(ir.IntType(32), size)
        step = 1
        while step < len(rows):
            far = step * run
            for row in range(len(rows)):
                if row & step:
                    continue
                pair = rows[row], rows[row + step]
                low = [x if not x & far else size + x - far for x in range(size)]
                high = [x + far if not x & far else size + x for x in range(size)]
                for at, mask in ((row, low), (row + step, high)):
                    rows[at] = self.builder.shuffle_vector(*pair, ir.Constant(indices, mask))
            step *= 2
        return rows

    def store_dense(self, rows: list[Pieces], data: Any, position: Any) -> None:
        """Write the lanes in use of several rows, without the padding."""
        if self.constants.by_vector:
            for x, row in enumerate(rows):
                self.store(row, data, self.at(position, x * self.constants.lanes))
            return
        for x, vector in enumerate(self._dense(rows)):
            store_at(self.builder, vector, data, self.at(position, x * self.piece))

    def load_dense(self, data: Any, position: Any, count: int) -> list[Pieces]:
        """Read rows that were written without the padding, which is 0."""
        if self.constants.by_vector:
            return [
                self.load(data, self.at(position, x * self.constants.lanes)) for x in range(count)
            ]
        whole, rest = divmod(self.constants.records, self.piece)
        flat = [
            load_at(self.builder, data, self.at(position, x * self.piece), self.piece)
            for x in range(self.constants.dense(self.piece) // self.piece)
        ]
        rows = []
        for x in range(count):
            row = flat[x * whole : (x + 1) * whole]
            if rest:
                places = [divmod(x * rest + y, self.piece) for y in range(rest)]
                row.append(self._picked([(flat[count * whole + v], at) for v, at in places]))
            rows.append(row)
        return rows

    def _dense(self, rows: list[Pieces]) -> Pieces:
        whole, rest = divmod(self.constants.records, self.piece)
        flat = [row[x] for row in rows for x in range(whole)]
        places = [(row[whole], y) for row in rows for y in range(rest)]
        return flat + [
            self._picked(places[x : x + self.piece]) for x in range(0, len(places), self.piece)
        ]

    def _picked(self, places: list[tuple[Any, int]]) -> Any:
        """Vector of numbers from others, then zeros."""
        indices = ir.VectorType(ir.IntType(32), self.piece)
        found = zero_of(self.kind)
        for vector in dict.fromkeys(vector for vector, _ in places):
            mask = list(range(self.piece))
            for x, (source, at) in enumerate(places):
                if source is vector:
                    mask[x] = self.piece + at
            found = self.builder.shuffle_vector(found, vector, ir.Constant(indices, mask))
        return found

    def entry(self, table: Any, row: Any, place: int) -> Any:
        """Read a number of a row of a table."""
        return self.builder.load(self.builder.gep(table, [self.at(row, place)]))

    def landed_at(self, landed: Any, index: Any) -> tuple[Any, Any]:
        """Read where an arrival's column begins, and its row of landings."""
        place = self.builder.mul(index, constant_int(2))
        return self.entry(landed, place, 0), self.entry(landed, place, 1)

    def windows(self, rows: list[Pieces], length: int) -> list[Pieces]:
        """Sum so many neighbouring rows, from the first, the second, and so on to the last.

        What all of them share is added once, and what lies on either side of it step by step.
        """
        last = len(rows) - length
        if last >= length:
            return [self.total(rows[x : x + length]) for x in range(last + 1)]
        parts: list[list[Pieces]] = [[self.total(rows[last:length])] for _ in range(last + 1)]
        below: Pieces | None = None
        above: Pieces | None = None
        for x in range(1, last + 1):
            row = rows[last - x]
            below = row if below is None else self.add(row, below)
            parts[last - x].append(below)
            row = rows[length + x - 1]
            above = row if above is None else self.add(above, row)
            parts[x].append(above)
        return [self.total(part) for part in parts]

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
