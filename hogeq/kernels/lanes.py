"""Vectors over a lane: the part of the memory that a turn only carries.

A lane is a run of L neighbouring doubles or singles whose length the compiler knows. Loops over
it, written in Python, come out of the compiler with a check for overlap around every few
multiplications, so a lane is given to it whole, as one value (``<L x double>`` in LLVM) that is
loaded, computed with by ``+``, ``-`` and ``*``, and stored; the machine's own vector width is the
compiler's business. Products and sums may be fused. Nothing checks bounds.

Where nothing else tells the length, an argument ``lane``, a tuple of L zeros, does.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

_CONTRACT = ("contract",)  # lets a multiplication and an addition become one fused instruction
UNROLL = 4
BLOCK = 8  # rows and columns that are transposed at a time
WIDEST_TURNED = 32  # lanes; beyond it code for a transposition would be longer than it is worth
CACHE_LINE = 64  # bytes
ROUNDING = {"double": 1e-14, "float": 1e-5}  # share of a sum that may be nothing but rounding
_DOUBLE = ir.DoubleType()
_INDEX = ir.IntType(32)


class Vector(types.Type):
    """Type of a lane held as one value."""

    def __init__(self, dtype: Any, size: int) -> None:
        self.dtype = dtype
        self.size = size
        super().__init__(name=f"Vector({dtype}, {size})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        element = _DOUBLE if kind.dtype == types.float64 else ir.FloatType()
        super().__init__(manager, kind, ir.VectorType(element, kind.size))


def _as(builder: ir.IRBuilder, scalar: Any, kind: Any) -> Any:
    """Scalar rounded or widened to the kind of a vector's elements."""
    if scalar.type == kind:
        return scalar
    narrow = isinstance(kind, ir.FloatType)
    return (builder.fptrunc if narrow else builder.fpext)(scalar, kind)


def data_of(context: Any, builder: ir.IRBuilder, kind: Any, array: Any) -> Any:
    """Pointer to an array's first number."""
    return context.make_array(kind)(context, builder, array).data


def _pointer(builder: ir.IRBuilder, data: Any, position: Any, size: int) -> Any:
    vector = ir.VectorType(data.type.pointee, size)
    return builder.bitcast(builder.gep(data, [position]), vector.as_pointer())


def load_at(builder: ir.IRBuilder, data: Any, position: Any, size: int) -> Any:
    """Read neighbouring numbers as a vector."""
    value = builder.load(_pointer(builder, data, position, size))
    value.align = 1 if isinstance(data.type.pointee, ir.IntType) else 4
    return value


def store_at(builder: ir.IRBuilder, value: Any, data: Any, position: Any) -> None:
    """Write a vector to neighbouring numbers."""
    size = value.type.count
    builder.store(value, _pointer(builder, data, position, size)).align = 4


def splat_of(builder: ir.IRBuilder, scalar: Any, vector: ir.VectorType) -> Any:
    """Make a vector of one number."""
    blank = ir.Constant(vector, ir.Undefined)
    scalar = _as(builder, scalar, vector.element)
    first = builder.insert_element(blank, scalar, ir.Constant(_INDEX, 0))
    zeros = ir.Constant(ir.VectorType(_INDEX, vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, blank, zeros)


def repeated(builder: ir.IRBuilder, vector: Any, size: int) -> Any:
    """Repeat a vector to so many numbers."""
    places = [x % vector.type.count for x in range(size)]
    return builder.shuffle_vector(vector, vector, ir.Constant(_of_indices(size), places))


def part_of(builder: ir.IRBuilder, vector: Any, first: int, size: int) -> Any:
    """Take so many neighbouring numbers of a vector."""
    if size == vector.type.count:
        return vector
    places = ir.Constant(_of_indices(size), list(range(first, first + size)))
    return builder.shuffle_vector(vector, vector, places)


def _of_indices(size: int) -> ir.VectorType:
    return ir.VectorType(_INDEX, size)


def zero_of(vector: ir.VectorType) -> Any:
    """Return a vector of zeros."""
    return ir.Constant(vector, [0.0] * vector.count)


def contracted(operation: Any, left: Any, right: Any) -> Any:
    """Write an operation that may be fused with the next."""
    return operation(left, right, flags=_CONTRACT)


# --- arithmetic -----------------------------------------------------------------------------------


@infer_global(operator.add)
@infer_global(operator.iadd)
@infer_global(operator.sub)
@infer_global(operator.isub)
@infer_global(operator.mul)
class _Arithmetic(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:  # noqa: ARG002
        left, right = args
        if isinstance(right, Vector) and left in {right, types.float64}:
            return right(left, right)
        return None


@lower_builtin(operator.add, Vector, Vector)
@lower_builtin(operator.iadd, Vector, Vector)
def _add(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
    return builder.fadd(*arguments, flags=_CONTRACT)


@lower_builtin(operator.sub, Vector, Vector)
@lower_builtin(operator.isub, Vector, Vector)
def _subtract(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
    return builder.fsub(*arguments, flags=_CONTRACT)


@lower_builtin(operator.mul, Vector, Vector)
def _multiply(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
    return builder.fmul(*arguments, flags=_CONTRACT)


@lower_builtin(operator.add, types.float64, Vector)
def _shift(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
    scalar, vector = arguments
    return builder.fadd(splat_of(builder, scalar, vector.type), vector, flags=_CONTRACT)


@lower_builtin(operator.sub, types.float64, Vector)
def _shift_down(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
    scalar, vector = arguments
    return builder.fsub(splat_of(builder, scalar, vector.type), vector, flags=_CONTRACT)


@lower_builtin(operator.mul, types.float64, Vector)
def _scale(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
    scalar, vector = arguments
    return builder.fmul(splat_of(builder, scalar, vector.type), vector, flags=_CONTRACT)


def widened(builder: ir.IRBuilder, scalar: Any) -> Any:
    """Return a number in double precision."""
    return _as(builder, scalar, _DOUBLE)


def total_of(builder: ir.IRBuilder, vector: Any) -> Any:
    """Sum of a vector: halves are added pairwise, in an order that no machine changes."""
    width = vector.type.count
    while width % 2 == 0:
        width //= 2
        indices = ir.VectorType(_INDEX, width)
        masks = [ir.Constant(indices, list(range(low, low + width))) for low in (0, width)]
        vector = builder.fadd(*(builder.shuffle_vector(vector, vector, mask) for mask in masks))
    total = builder.extract_element(vector, ir.Constant(_INDEX, 0))
    for x in range(1, width):
        total = builder.fadd(total, builder.extract_element(vector, ir.Constant(_INDEX, x)))
    return _as(builder, total, _DOUBLE)


@intrinsic
def lane_sum(typing, vector):
    """Return the sum of a vector."""

    def generate(context, builder, signature, arguments):
        return total_of(builder, arguments[0])

    return types.float64(vector), generate


def _larger_of(builder: ir.IRBuilder, left: Any, right: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", left, right), left, right)


@intrinsic
def larger(typing, left, right):
    """Return the larger of two vectors, number by number."""

    def generate(context, builder, signature, arguments):
        return _larger_of(builder, *arguments)

    return left(left, right), generate


@intrinsic
def largest(typing, vector):
    """Return the largest number of a vector whose length is a power of two."""

    def generate(context, builder, signature, arguments):
        (vector,) = arguments
        width = vector.type.count
        while width > 1:
            width //= 2
            indices = ir.VectorType(_INDEX, width)
            masks = [ir.Constant(indices, list(range(low, low + width))) for low in (0, width)]
            halves = [builder.shuffle_vector(vector, vector, mask) for mask in masks]
            vector = _larger_of(builder, *halves)
        return _as(builder, builder.extract_element(vector, ir.Constant(_INDEX, 0)), _DOUBLE)

    return types.float64(vector), generate


@intrinsic
def dot(typing, left, right):
    """Return the sum of the products of two vectors."""

    def generate(context, builder, signature, arguments):
        return total_of(builder, builder.fmul(*arguments))

    return types.float64(left, right), generate


@intrinsic
def above_rounding(typing, vector, total):
    """Return a vector with what is less than 1e-14 of ``total`` set to exactly 0."""

    def generate(context, builder, signature, arguments):
        vector, total = arguments
        share = ir.Constant(_DOUBLE, ROUNDING[str(vector.type.element)])
        least = builder.fmul(splat_of(builder, share, vector.type), total)
        above = builder.fcmp_ordered(">", vector, least)
        return builder.select(above, vector, zero_of(vector.type))

    return vector(vector, total), generate


# --- memory ---------------------------------------------------------------------------------------


@intrinsic
def item(typing, array, at):
    """Return ``array[at]`` for `at` from 0."""

    def generate(context, builder, signature, arguments):
        data = data_of(context, builder, signature.args[0], arguments[0])
        return builder.load(builder.gep(data, [arguments[1]]))

    return array.dtype(array, types.int64), generate


@intrinsic
def store_one(typing, array, at, value):
    """Set ``array[at]`` for `at` from 0."""

    def generate(context, builder, signature, arguments):
        data = data_of(context, builder, signature.args[0], arguments[0])
        builder.store(arguments[2], builder.gep(data, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), generate


@intrinsic
def load(typing, array, at, lane):
    """Return ``array[at:][:L]``."""
    vector = Vector(array.dtype, len(lane))

    def generate(context, builder, signature, arguments):
        data = data_of(context, builder, signature.args[0], arguments[0])
        return load_at(builder, data, arguments[1], vector.size)

    return vector(array, types.int64, lane), generate


@intrinsic
def masked(typing, vector, masks, at):
    """Return a vector with 0 wherever ``masks[at:][:L]``, of bytes, is 0."""

    def generate(context, builder, signature, arguments):
        vector, masks, at = arguments
        masks = data_of(context, builder, signature.args[1], masks)
        mask = load_at(builder, masks, at, vector.type.count)
        keep = builder.icmp_unsigned("!=", mask, ir.Constant(mask.type, None))
        return builder.select(keep, vector, zero_of(vector.type))

    return vector(vector, masks, types.int64), generate


@intrinsic
def splat(typing, array, value, lane):
    """Return a vector of one value, of the kind of an array's elements."""
    vector = Vector(array.dtype, len(lane))

    def generate(context, builder, signature, arguments):
        kind = context.get_value_type(vector)
        return splat_of(builder, arguments[1], kind)

    return vector(array, types.float64, lane), generate


@intrinsic
def store(typing, array, at, vector):
    """Set ``array[at:][:L]`` to a vector."""

    def generate(context, builder, signature, arguments):
        data = data_of(context, builder, signature.args[0], arguments[0])
        store_at(builder, arguments[2], data, arguments[1])
        return context.get_dummy_value()

    return types.void(array, types.int64, vector), generate


@intrinsic
def gather(typing, start_from, values, position, weights, offsets, start, stop):
    """Return the sum of ``weights[i] * values[position + offsets[i] :][:L]`` for i in start..stop.

    It is added to the vector ``start_from``.
    """
    size = start_from.size
    signature = start_from(
        start_from, values, types.int64, weights, offsets, types.int64, types.int64
    )

    def generate(context, builder, signature, arguments):
        total, values, position, weights, offsets, start, stop = arguments
        kinds = signature.args
        values = data_of(context, builder, kinds[1], values)
        weights = data_of(context, builder, kinds[3], weights)
        offsets = data_of(context, builder, kinds[4], offsets)

        def term(index, total):
            weight = splat_of(builder, builder.load(builder.gep(weights, [index])), total.type)
            here = builder.add(position, builder.load(builder.gep(offsets, [index])))
            product = builder.fmul(weight, load_at(builder, values, here, size), flags=_CONTRACT)
            return builder.fadd(product, total, flags=_CONTRACT)

        def loop(first, last, step, totals):
            """Sum every step-th term from first while it and its neighbours stay below last."""
            before = builder.block
            body = builder.append_basic_block("gather")
            after = builder.append_basic_block("gathered")
            builder.cbranch(builder.icmp_signed("<", first, last), body, after)
            builder.position_at_end(body)
            index = builder.phi(first.type)
            running = [builder.phi(total.type) for total in totals]
            added = [
                term(builder.add(index, ir.Constant(index.type, lead)), total)
                for lead, total in enumerate(running)
            ]
            following = builder.add(index, ir.Constant(index.type, step))
            index.add_incoming(first, before)
            index.add_incoming(following, body)
            for phi, old, new in zip(running, totals, added, strict=True):
                phi.add_incoming(old, before)
                phi.add_incoming(new, body)
            builder.cbranch(builder.icmp_signed("<", following, last), body, after)
            builder.position_at_end(after)
            ends = []
            for old, new in zip([first, *totals], [following, *added], strict=True):
                end = builder.phi(old.type)
                end.add_incoming(old, before)
                end.add_incoming(new, body)
                ends.append(end)
            return ends[0], ends[1:]

        # Four running totals, since each addition waits for the one before it.
        totals = [total, *[zero_of(total.type)] * (UNROLL - 1)]
        whole = builder.sub(stop, ir.Constant(stop.type, UNROLL - 1))
        index, totals = loop(start, whole, UNROLL, totals)
        _, rest = loop(index, stop, 1, totals[:1])
        result = rest[0]
        for total in totals[1:]:
            result = builder.fadd(result, total)
        return result

    return signature, generate


@intrinsic
def transpose(typing, source, target, lane):
    """Write the transpose of the L rows of L numbers in `source` to `target`."""
    size = len(lane)

    def generate(context, builder, signature, arguments):
        source = data_of(context, builder, signature.args[0], arguments[0])
        target = data_of(context, builder, signature.args[1], arguments[1])
        if size % BLOCK != 0 or size > WIDEST_TURNED:
            with cgutils.for_range(builder, ir.Constant(ir.IntType(64), size * size)) as loop:
                width = ir.Constant(loop.index.type, size)
                row, column = builder.udiv(loop.index, width), builder.urem(loop.index, width)
                turned = builder.add(builder.mul(column, width), row)
                builder.store(
                    builder.load(builder.gep(source, [loop.index])), builder.gep(target, [turned])
                )
            return context.get_dummy_value()

        def place(row, column):
            return ir.Constant(ir.IntType(64), row * size + column)

        indices = ir.VectorType(_INDEX, BLOCK)
        for top in range(0, size, BLOCK):
            for left in range(0, size, BLOCK):
                rows = [
                    load_at(builder, source, place(top + row, left), BLOCK) for row in range(BLOCK)
                ]
                # Halves, quarters, single numbers trade places across the diagonal.
                for step in (1, 2, 4):
                    for row in range(BLOCK):
                        if row & step:
                            continue
                        pair = rows[row], rows[row + step]
                        low = [x if not x & step else BLOCK + x - step for x in range(BLOCK)]
                        high = [x + step if not x & step else BLOCK + x for x in range(BLOCK)]
                        for at, mask in ((row, low), (row + step, high)):
                            rows[at] = builder.shuffle_vector(*pair, ir.Constant(indices, mask))
                for row in range(BLOCK):
                    store_at(builder, rows[row], target, place(left + row, top))
        return context.get_dummy_value()

    return types.void(source, target, lane), generate


@intrinsic
def prefetch(typing, values, at, lane):
    """Ask for the cache lines of ``values[at:][:L]`` ahead of their use."""
    return _asked(values, lane, _FIRST_LEVEL)


@intrinsic
def prefetch_nearby(typing, values, at, lane):
    """Ask for them to be in the second-level cache only, where the first is full."""
    return _asked(values, lane, _SECOND_LEVEL)


_FIRST_LEVEL, _SECOND_LEVEL = 3, 2


def _asked(values: Any, lane: Any, level: int) -> Any:
    size = len(lane)
    signature = types.void(values, types.int64, lane)

    def generate(context, builder, signature, arguments):
        values, at, _ = arguments
        values = data_of(context, builder, signature.args[0], values)
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, _INDEX, _INDEX, _INDEX])
        hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        step = CACHE_LINE // (signature.args[0].dtype.bitwidth // 8)
        for first in range(0, size, step):
            place = builder.gep(values, [builder.add(at, ir.Constant(at.type, first))])
            flags = [ir.Constant(_INDEX, flag) for flag in (0, level, 1)]  # to read, keep, data
            builder.call(hint, [builder.bitcast(place, byte), *flags])
        return context.get_dummy_value()

    return signature, generate
