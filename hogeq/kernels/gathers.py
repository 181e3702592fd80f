"""Vectors whose numbers come from places apart, and choices among vectors.

Beside :mod:`hogeq.kernels.lanes`, for vectors that run over cells.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin

from hogeq.kernels.lanes import Vector, contracted, data_of, load_at, splat_of, zero_of

_WORD = ir.IntType(64)
_BIT = ir.IntType(1)
_INDEX = ir.IntType(32)
# 2 ** 52 + 2 ** 51: adding it leaves a whole number in the lowest bits.
_SHIFT = 6755399441055744.0
_BIAS = 1023
_MANTISSA = 52
_SMALLEST = -708.0  # of which the exponential is no denormal number
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # fdlibm's
_TERMS = 13  # of the exponential's series, up to half of log 2


def _whole(builder: ir.IRBuilder, scalar: Any, size: int) -> Any:
    """Make a vector of one whole number."""
    kind = ir.VectorType(scalar.type, size)
    blank = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(blank, scalar, ir.Constant(_INDEX, 0))
    return builder.shuffle_vector(
        first, blank, ir.Constant(ir.VectorType(_INDEX, size), [0] * size)
    )


def _ramp(size: int) -> Any:
    return ir.Constant(ir.VectorType(_WORD, size), list(range(size)))


def _bits(data: Any) -> int:
    """Give the size of the numbers at a pointer."""
    return 64 if isinstance(data.type.pointee, ir.DoubleType) else 32


def _pointers(builder: ir.IRBuilder, data: Any, places: Any) -> Any:
    """Make pointers of places, a vector of whole numbers."""
    size = places.type.count
    start = _whole(builder, builder.ptrtoint(data, _WORD), size)
    shift = (_bits(data) // 8).bit_length() - 1
    bytes_on = builder.shl(places, ir.Constant(places.type, [shift] * size))
    return builder.inttoptr(builder.add(start, bytes_on), ir.VectorType(data.type, size))


def _fetch(builder: ir.IRBuilder, data: Any, places: Any, mask: Any = None) -> Any:
    """Read the numbers at places, a vector of whole numbers; 0 where a mask is."""
    size = places.type.count
    vector = ir.VectorType(data.type.pointee, size)
    bits = _bits(data)
    pointers = _pointers(builder, data, places)
    if mask is None:
        mask = ir.Constant(ir.VectorType(_BIT, size), [1] * size)
    kind = ir.FunctionType(vector, [pointers.type, _INDEX, mask.type, vector])
    name = f"llvm.masked.gather.v{size}f{bits}.v{size}p0"
    gather = cgutils.get_or_insert_function(builder.module, kind, name)
    width = ir.Constant(_INDEX, bits // 8)
    return builder.call(gather, [pointers, width, mask, zero_of(vector)])


@intrinsic
def put(typing, values, page, places, at, vector):
    """Write a vector of doubles to the places in ``places[at:][:V]``, counted from `page`."""
    signature = types.void(values, types.int64, places, types.int64, vector)

    def generate(context, builder, signature, arguments):
        values, page, places, at, vector = arguments
        size = vector.type.count
        data = data_of(context, builder, signature.args[0], values)
        places = data_of(context, builder, signature.args[2], places)
        found = builder.sext(load_at(builder, places, at, size), _ramp(size).type)
        pointers = _pointers(builder, data, builder.add(_whole(builder, page, size), found))
        mask = ir.Constant(ir.VectorType(_BIT, size), [1] * size)
        kind = ir.FunctionType(ir.VoidType(), [vector.type, pointers.type, _INDEX, mask.type])
        name = f"llvm.masked.scatter.v{size}f64.v{size}p0"
        scatter = cgutils.get_or_insert_function(builder.module, kind, name)
        builder.call(scatter, [vector, pointers, ir.Constant(_INDEX, 8), mask])
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def landed(typing, values, places, at, other, again, lane):
    """Return the values at twice the places in ``places[at:][:V]``, odd ones where again.

    The pages of the others begin at `other`, those of odd ones at `again`.
    """
    vector = Vector(values.dtype, len(lane))

    def generate(context, builder, signature, arguments):
        values, places, at, other, again, _ = arguments
        values = data_of(context, builder, signature.args[0], values)
        places = data_of(context, builder, signature.args[1], places)
        found = builder.sext(load_at(builder, places, at, vector.size), _ramp(vector.size).type)
        ones = ir.Constant(found.type, [1] * vector.size)
        odd = builder.trunc(found, ir.VectorType(_BIT, vector.size))
        pages = (_whole(builder, page, vector.size) for page in (again, other))
        page = builder.select(odd, *pages)
        return _fetch(builder, values, builder.add(page, builder.ashr(found, ones)))

    return vector(values, places, types.int64, types.int64, types.int64, lane), generate


@intrinsic
def picked(typing, values, page, places, at, lane):
    """Return the values at the places in ``places[at:][:V]``, counted from `page`."""
    vector = Vector(values.dtype, len(lane))

    def generate(context, builder, signature, arguments):
        values, page, places, at, _ = arguments
        values = data_of(context, builder, signature.args[0], values)
        places = data_of(context, builder, signature.args[2], places)
        found = builder.sext(load_at(builder, places, at, vector.size), _ramp(vector.size).type)
        return _fetch(builder, values, builder.add(_whole(builder, page, vector.size), found))

    return vector(values, types.int64, places, types.int64, lane), generate


@intrinsic
def strided(typing, values, at, step, low, high, lane):
    """Return ``values[at], values[at + step], ...``; 0 before the `low`-th and from the `high`-th.

    Those are not read.
    """
    vector = Vector(values.dtype, len(lane))

    def generate(context, builder, signature, arguments):
        values, *numbers, _ = arguments
        values = data_of(context, builder, signature.args[0], values)
        at, step, low, high = (_whole(builder, number, vector.size) for number in numbers)
        ramp = _ramp(vector.size)
        inside = builder.and_(
            builder.icmp_signed(">=", ramp, low), builder.icmp_signed("<", ramp, high)
        )
        places = builder.add(at, builder.mul(ramp, step))
        return _fetch(builder, values, places, inside)

    return vector(values, *[types.int64] * 4, lane), generate


def _few(builder: ir.IRBuilder, values: Any, at: Any, count: Any, size: int) -> tuple[Any, Any]:
    """Pointer to a vector that begins at a place, and a mask of its first numbers."""
    vector = ir.VectorType(values.type.pointee, size)
    pointer = builder.bitcast(builder.gep(values, [at]), vector.as_pointer())
    return pointer, builder.icmp_signed("<", _ramp(size), _whole(builder, count, size))


@intrinsic
def load_few(typing, values, at, count, otherwise, lane):
    """Return the first `count` of ``values[at:][:V]``, the only ones read, and `otherwise`."""
    vector = Vector(values.dtype, len(lane))

    def generate(context, builder, signature, arguments):
        values, at, count, otherwise, _ = arguments
        values = data_of(context, builder, signature.args[0], values)
        pointer, mask = _few(builder, values, at, count, vector.size)
        blank = splat_of(builder, otherwise, pointer.type.pointee)
        kind = ir.FunctionType(blank.type, [pointer.type, _INDEX, mask.type, blank.type])
        name = f"llvm.masked.load.v{vector.size}f64.p0"
        read = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(read, [pointer, ir.Constant(_INDEX, 8), mask, blank])

    return vector(values, types.int64, types.int64, types.float64, lane), generate


@intrinsic
def store_few(typing, values, at, count, vector):
    """Set the first `count` of ``values[at:][:V]`` to those of a vector; write no others."""

    def generate(context, builder, signature, arguments):
        values, at, count, vector = arguments
        values = data_of(context, builder, signature.args[0], values)
        pointer, mask = _few(builder, values, at, count, vector.type.count)
        kind = ir.FunctionType(ir.VoidType(), [vector.type, pointer.type, _INDEX, mask.type])
        name = f"llvm.masked.store.v{vector.type.count}f64.p0"
        write = cgutils.get_or_insert_function(builder.module, kind, name)
        builder.call(write, [vector, pointer, ir.Constant(_INDEX, 8), mask])
        return context.get_dummy_value()

    return types.void(values, types.int64, types.int64, vector), generate


@intrinsic
def largest_of(typing, vector):
    """Return the largest number of a vector."""

    def generate(context, builder, signature, arguments):
        (vector,) = arguments
        count = vector.type.count
        while count % 2 == 0:
            count //= 2
            kind = ir.VectorType(_INDEX, count)
            masks = [ir.Constant(kind, list(range(low, low + count))) for low in (0, count)]
            low, high = (builder.shuffle_vector(vector, vector, mask) for mask in masks)
            vector = builder.select(builder.fcmp_ordered(">", low, high), low, high)
        numbers = [builder.extract_element(vector, ir.Constant(_INDEX, x)) for x in range(count)]
        best = numbers[0]
        for number in numbers[1:]:
            best = builder.select(builder.fcmp_ordered(">", number, best), number, best)
        return best

    return types.float64(vector), generate


@intrinsic
def first_at_least(typing, vector, least):
    """Return the place of the first number of a vector that is at least so large; V if none is."""

    def generate(context, builder, signature, arguments):
        vector, least = arguments
        size = vector.type.count
        found = builder.fcmp_ordered(">=", vector, splat_of(builder, least, vector.type))
        bits = builder.zext(builder.bitcast(found, ir.IntType(size)), _WORD)
        bits = builder.or_(bits, ir.Constant(_WORD, 1 << size))
        return builder.cttz(bits, ir.Constant(_BIT, 1))

    return types.int64(vector, types.float64), generate


@intrinsic
def windows(typing, values, at, steps, lane):
    """Return the sums of ``values[at + step:][:V]``, over all steps but the first and the last.

    Steps are a tuple of two or more. What both sums share is added once.
    """
    vector = Vector(values.dtype, len(lane))

    def generate(context, builder, signature, arguments):
        values, at, steps, _ = arguments
        values = data_of(context, builder, signature.args[0], values)
        first, *rows, last = [
            load_at(builder, values, builder.add(at, step), vector.size)
            for step in cgutils.unpack_tuple(builder, steps)
        ]
        # By pairs, which wait for each other less long.
        while len(rows) > 1:
            pairs = list(zip(rows[::2], rows[1::2], strict=False))
            odd = rows[len(rows) - 1 :] if len(rows) % 2 else []
            rows = [contracted(builder.fadd, *pair) for pair in pairs] + odd
        both = [contracted(builder.fadd, rows[0], one) if rows else one for one in (last, first)]
        return context.make_tuple(builder, signature.return_type, both)

    return types.UniTuple(vector, 2)(values, types.int64, steps, lane), generate


@intrinsic
def like(typing, array, vector):
    """Return a vector rounded or widened to the kind of an array's elements."""
    kind = Vector(array.dtype, vector.size)

    def generate(context, builder, signature, arguments):
        value, wanted = arguments[1], context.get_value_type(kind)
        if value.type == wanted:
            return value
        narrow = isinstance(wanted.element, ir.FloatType)
        return (builder.fptrunc if narrow else builder.fpext)(value, wanted)

    return kind(array, vector), generate


@intrinsic
def first_of(typing, count, one, other):
    """Return a vector whose first `count` numbers are one's, the rest the other's."""

    def generate(context, builder, signature, arguments):
        count, one, other = arguments
        size = one.type.count
        low = builder.icmp_signed("<", _ramp(size), _whole(builder, count, size))
        return builder.select(low, one, other)

    return one(types.int64, one, other), generate


@intrinsic
def larger(typing, one, other):
    """Return the larger of two, number by number."""

    def generate(context, builder, signature, arguments):
        one, other = arguments
        return builder.select(builder.fcmp_ordered(">", one, other), one, other)

    return one(one, other), generate


@intrinsic
def where_at_least(typing, one, other, then, otherwise):
    """Return, number by number, `then` where ``one >= other``, and `otherwise` where not."""

    def generate(context, builder, signature, arguments):
        one, other, then, otherwise = arguments
        return builder.select(builder.fcmp_ordered(">=", one, other), then, otherwise)

    return then(one, other, then, otherwise), generate


@infer_global(operator.truediv)
class _Division(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:  # noqa: ARG002
        left, right = args
        return left(left, right) if isinstance(left, Vector) and left == right else None


@lower_builtin(operator.truediv, Vector, Vector)
def _divide(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
    return builder.fdiv(*arguments)


@intrinsic
def exponential(typing, vector):
    """Return the exponential of a vector of doubles, none above 0; 0 of what is below -708.

    By the Taylor series around the nearest multiple of log 2, to the last digit or two.
    """

    def generate(context, builder, signature, arguments):
        (power,) = arguments
        kind = power.type

        def constant(number: float) -> Any:
            return ir.Constant(kind, [number] * kind.count)

        def fused(one: Any, other: Any, plus: Any) -> Any:
            return contracted(builder.fadd, contracted(builder.fmul, one, other), plus)

        shifted = fused(power, constant(_LOG2_E), constant(_SHIFT))
        twos = builder.fsub(shifted, constant(_SHIFT))
        rest = fused(twos, constant(-_LN2_HIGH), power)
        rest = fused(twos, constant(-_LN2_LOW), rest)
        factorial = [1.0]
        for term in range(1, _TERMS + 1):
            factorial.append(factorial[-1] * term)
        total = constant(1.0 / factorial[-1])
        for term in range(_TERMS - 1, -1, -1):
            total = fused(total, rest, constant(1.0 / factorial[term]))
        whole = ir.VectorType(_WORD, kind.count)
        bits = builder.bitcast(shifted, whole)
        bits = builder.shl(
            builder.add(bits, ir.Constant(whole, [_BIAS] * kind.count)),
            ir.Constant(whole, [_MANTISSA] * kind.count),
        )
        found = builder.fmul(total, builder.bitcast(bits, kind))
        return builder.select(
            builder.fcmp_ordered(">=", power, constant(_SMALLEST)), found, zero_of(kind)
        )

    return vector(vector), generate
