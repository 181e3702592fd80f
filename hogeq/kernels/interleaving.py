"""What kernels for several pairs at once may know of a game, and the instructions they are made of.

What one pair has as a number is here a vector, one number for each pair: see
:mod:`hogeq.kernels.interleaved`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir
from numba.core import cgutils

from hogeq.kernels.lanes import (
    CACHE_LINE,
    ROUNDING,
    contracted,
    load_at,
    splat_of,
    store_at,
    zero_of,
)
from hogeq.kernels.plan import Constants, PlanType

INDEX = ir.IntType(64)


class Interleaving(NamedTuple):
    """What is the same in every cell, at any goal: a type of numba is made of it."""

    width: int
    """Pairs of a vector."""
    num_actions: int
    records: int
    active: int
    """Values of the mover's own record, and of the opponent's, the lanes in use."""
    start_memory: int
    start_lane: int
    sides: int
    bases: int
    depth: int
    many: int
    is_sum: tuple[bool, ...]
    targets: tuple[Any, ...]
    far: tuple[int, ...]
    """By roll, 1 if most memories add the bonus."""
    alternatives: tuple[tuple[int, int, tuple[int, ...]], ...]
    """Roll, far, members."""
    sole: tuple[int, ...]

    @property
    def ring(self) -> int:
        """Bases of a column whose sums are kept."""
        return self.sides + 1

    @property
    def row(self) -> int:
        """Numbers of a row."""
        return self.active * self.num_actions * self.width

    @property
    def block(self) -> int:
        """Numbers of a block."""
        return self.records * self.active * self.width

    @property
    def weights(self) -> int:
        """Numbers that weight the values of a cell: everyone's and members' reach, by lane."""
        return self.active * (1 + len(self.alternatives)) * self.width


class InterleavedPlan:
    """What is handed to a kernel: nothing when it runs, the constants when it is compiled."""

    def __init__(self, constants: Constants, width: int, lanes: int) -> None:
        memory, lane = divmod(constants.start, lanes)
        self.constants = Interleaving(
            width=width,
            num_actions=constants.num_actions,
            records=constants.records,
            active=constants.active,
            start_memory=memory,
            start_lane=lane,
            sides=constants.sides,
            bases=constants.bases,
            depth=constants.depth,
            many=constants.many,
            is_sum=constants.is_sum,
            targets=tuple(constants.targets),
            far=tuple(far for far, _ in constants.usual),
            alternatives=tuple((one.roll, one.far, one.members) for one in constants.alternatives),
            sole=constants.sole,
        )
        self._numba_type_ = PlanType(self.constants)  # type: ignore[arg-type]


class Writer:
    """Writes instructions on vectors of pairs."""

    def __init__(self, context: Any, builder: ir.IRBuilder, plan: Any, array: Any) -> None:
        attributes = builder.function.attributes
        attributes.alignstack = CACHE_LINE
        attributes.add("nounwind")
        self.context = context
        self.builder = builder
        self.plan: Interleaving = plan.constants
        self.kind = ir.VectorType(context.get_value_type(array.dtype), self.plan.width)
        self.zero = zero_of(self.kind)

    def at(self, position: Any, offset: int) -> Any:
        """Add as many vectors to a position."""
        step = offset * self.plan.width
        return self.builder.add(position, ir.Constant(INDEX, step)) if step else position

    def load(self, data: Any, position: Any) -> Any:
        """Read a vector from an array."""
        return load_at(self.builder, data, position, self.plan.width)

    def store(self, vector: Any, data: Any, position: Any) -> None:
        """Write a vector to an array."""
        store_at(self.builder, vector, data, position)

    def expect(self, data: Any, position: Any) -> None:
        """Ask for the cache line of a vector ahead of its use."""
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        hint = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0i8")
        place = self.builder.bitcast(self.builder.gep(data, [position]), byte)
        flags = [ir.Constant(number, flag) for flag in (0, 3, 1)]  # to read, keep, data
        self.builder.call(hint, [place, *flags])

    def entry(self, table: Any, index: Any) -> Any:
        """Read a number of a table."""
        return self.builder.load(self.builder.gep(table, [index]))

    def splat(self, scalar: Any) -> Any:
        """Return a vector that repeats a number."""
        return splat_of(self.builder, scalar, self.kind)

    def constant(self, value: float) -> Any:
        """Return a vector that repeats a constant."""
        return ir.Constant(self.kind, [value] * self.plan.width)

    def add(self, left: Any, right: Any) -> Any:
        """Add two vectors."""
        return contracted(self.builder.fadd, left, right)

    def subtract(self, left: Any, right: Any) -> Any:
        """Subtract the right vector from the left one."""
        return contracted(self.builder.fsub, left, right)

    def multiply(self, left: Any, right: Any) -> Any:
        """Multiply two vectors."""
        return contracted(self.builder.fmul, left, right)

    def total(self, vectors: list[Any]) -> Any:
        """Sum, in pairs, so that few additions wait for each other."""
        while len(vectors) > 1:
            pairs = [self.add(*vectors[x : x + 2]) for x in range(0, len(vectors) - 1, 2)]
            vectors = pairs + vectors[len(vectors) // 2 * 2 :]
        return vectors[0]

    def above(self, vector: Any, whole: Any) -> Any:
        """Set to exactly 0 what may be nothing but rounding of a whole."""
        share = self.constant(ROUNDING[str(self.kind.element)])
        above = self.builder.fcmp_ordered(">", vector, self.multiply(share, whole))
        return self.builder.select(above, vector, self.zero)

    def chances(self, kind: Any, rows: Any) -> list[Any]:
        """Vectors of how often every roll is made."""
        data = self.context.make_array(kind)(self.context, self.builder, rows).data
        found = []
        for roll in range(self.plan.num_actions):
            place = ir.Constant(INDEX, roll * self.plan.width)
            vector = load_at(self.builder, data, place, self.plan.width)
            if vector.type != self.kind:
                vector = self.builder.fptrunc(vector, self.kind)
            found.append(vector)
        return found

    def each(
        self, first: Any, last: Any, carried: list[Any], body: Callable[..., list[Any]]
    ) -> list[Any]:
        """Run ``body(index, carried)`` for index in first..last, at least once if carried."""
        builder = self.builder
        before = builder.block
        inside = builder.append_basic_block("each")
        after = builder.append_basic_block("eached")
        builder.cbranch(builder.icmp_signed("<", first, last), inside, after)
        builder.position_at_end(inside)
        index = builder.phi(INDEX)
        running = [builder.phi(self.kind) for _ in carried]
        made = body(index, running)
        following = builder.add(index, ir.Constant(INDEX, 1))
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

    def lanes(self, body: Callable[..., list[Any]], carried: list[Any] | None = None) -> list[Any]:
        """Run the body for every lane."""
        last = ir.Constant(INDEX, self.plan.active)
        return self.each(ir.Constant(INDEX, 0), last, carried or [], body)

    def times(self, index: Any, vectors: int) -> Any:
        """Position of as many vectors times an index."""
        return self.builder.mul(index, ir.Constant(INDEX, vectors * self.plan.width))

    def blocks(self, slots: Any, own: Any, points: set[int]) -> dict[int, Any]:
        """Positions, from the column's, of the blocks so many points away."""
        return {
            x: self.entry(slots, self.builder.add(own, ir.Constant(INDEX, x)))
            for x in sorted(points)
        }
