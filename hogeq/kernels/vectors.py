"""Vectors in kernels that numba compiles: some neighbouring doubles, held as one value.

Loops over a few neighbours, written in Python, come out of the compiler with a check for overlap
around every few multiplications. So they are given to it whole: loaded, computed with by ``+``,
``-`` and ``*``, and stored. Products and sums may be fused. Nothing checks bounds. Where nothing
else tells their number, an argument `lane` does, a tuple of so many zeros.

First, for all kernels: vectors whose numbers meet or come from places apart.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

from hogeq.kernels.staged import (
    BIT,
    DOUBLE,
    HALF,
    POINTER,
    WORD,
    Code,
    Data,
    Index,
    Vector,
    bytes_of,
)

# 2 ** 52 + 2 ** 51: adding it leaves a whole number in the lowest bits.
_SHIFT = 6755399441055744.0
_BIAS = 1023
_MANTISSA = 52
_SMALLEST = -708.0  # of which the exponential is no denormal number
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # fdlibm's
_TERMS = 13  # of the exponential's series, up to half of log 2


def _chosen(code, first, second, places):
    mask = ir.Constant(ir.VectorType(HALF, len(places)), list(places))
    return code.builder.shuffle_vector(first, second, mask)


def _one_part(vector):
    """Sum the parts of a vector."""
    return vector.code.tree(Vector(vector.code, [part]) for part in vector.parts).parts[0]


def total(vector):
    """Sum the numbers of a vector: a double."""
    return sums([vector])[0]


def sums(vectors):
    """Sum the numbers of each of some vectors: doubles.

    Pairs of vectors share the work: a step sums neighbours of two vectors into one.
    """
    code = vectors[0].code
    rows = [_one_part(vector) for vector in vectors]
    width = rows[0].type.count
    even, odd = range(0, 2 * width, 2), range(1, 2 * width, 2)
    found = []
    for first in range(0, len(rows), width):
        group = rows[first : first + width]
        count = len(group)
        for _ in range(width.bit_length() - 1):
            group += group[-1:] * (len(group) % 2)
            group = [
                code.builder.fadd(_chosen(code, x, y, even), _chosen(code, x, y, odd))
                for x, y in zip(group[::2], group[1::2], strict=True)
            ]
        found += [Vector(code, group).number(x) for x in range(count)]
    return found


def largest_of(vector):
    """Return the largest number of a vector whose length is a power of two: a double."""
    code, (part,) = vector.code, vector.parts
    width = part.type.count
    while width > 1:
        width //= 2
        low, high = (_chosen(code, part, part, range(x, x + width)) for x in (0, width))
        (part,) = Vector(code, [low]).larger(Vector(code, [high])).parts
    return Vector(code, [part]).number(0)


def transposed(rows):
    """Turn a square of vectors: the n-th of the new ones has the n-th numbers of the old."""
    code, width, parts = rows[0].code, rows[0].parts[0].type.count, len(rows[0].parts)
    out = [[None] * parts for _ in rows]
    for top in range(parts):
        for left in range(parts):
            block = [rows[top * width + x].parts[left] for x in range(width)]
            for x, part in enumerate(_transposed_block(code, block)):
                out[left * width + x][top] = part
    return [Vector(code, parts) for parts in out]


def _transposed_block(code, block):
    """Turn a square of parts, by exchanges of ever larger squares of it."""
    width, step = len(block), 1
    while step < width:
        low = [x if not x & step else width + x - step for x in range(width)]
        high = [x + step if not x & step else width + x for x in range(width)]
        for row in range(width):
            if not row & step:
                pair = block[row], block[row + step]
                block[row] = _chosen(code, *pair, low)
                block[row + step] = _chosen(code, *pair, high)
        step *= 2
    return block


def only(code, place, number, parts):
    """Make a vector of zeros but for one number, a double."""
    vector = code.vector(0.0, parts)
    part, lane = divmod(place, code.width)
    number = code.cast(number, code.kind.element)
    vector.parts[part] = code.builder.insert_element(
        vector.parts[part], number, ir.Constant(HALF, lane)
    )
    return vector


def exponential(vector):
    """Return the exponential of a vector of doubles, none above 0; 0 below -708.

    By the Taylor series around the nearest multiple of log 2, to the last digit or two.
    """
    code = vector.code
    shifted = vector * _LOG2_E + _SHIFT
    twos = shifted - _SHIFT
    rest = twos * -_LN2_HIGH + vector
    rest = twos * -_LN2_LOW + rest
    factorial = [1.0]
    for term in range(1, _TERMS + 1):
        factorial.append(factorial[-1] * term)
    series = code.like(vector, 1.0 / factorial[-1])
    for term in range(_TERMS - 1, -1, -1):
        series = series * rest + 1.0 / factorial[term]
    powers = Vector(code, [_power_of_two(code, part) for part in shifted.parts])
    return vector.where_at_least(_SMALLEST, series * powers, 0.0)


def _power_of_two(code, shifted):
    """Make a power of two of the whole number in the lowest bits of a number."""
    builder, count = code.builder, shifted.type.count
    whole = ir.VectorType(WORD, count)
    bits = builder.add(builder.bitcast(shifted, whole), ir.Constant(whole, [_BIAS] * count))
    bits = builder.shl(bits, ir.Constant(whole, [_MANTISSA] * count))
    return builder.bitcast(bits, ir.VectorType(DOUBLE, count))


def gathered(data, places, mask=None):
    """Read numbers at places; 0, unread, where a mask is 0."""
    code, count, element = data.code, places.type.count, data.element
    vector = ir.VectorType(element, count)
    nothing = ir.Constant(vector, [0.0] * count)
    pointers = _pointers(data, places)
    kind = ir.FunctionType(vector, [pointers.type, HALF, _everywhere(count).type, vector])
    name = f"llvm.masked.gather.v{count}f{bytes_of(element) * 8}.v{count}p0"
    gather = cgutils.get_or_insert_function(code.builder.module, kind, name)
    size, mask = ir.Constant(HALF, bytes_of(element)), mask or _everywhere(count)
    return Vector(code, [code.builder.call(gather, [pointers, size, mask, nothing])])


def scatter(data, places, vector, mask):
    """Write numbers to places, but where a mask is 0."""
    code, count, element = data.code, places.type.count, data.element
    (part,) = vector.parts
    pointers = _pointers(data, places)
    kind = ir.FunctionType(ir.VoidType(), [part.type, pointers.type, HALF, mask.type])
    name = f"llvm.masked.scatter.v{count}f{bytes_of(element) * 8}.v{count}p0"
    write = cgutils.get_or_insert_function(code.builder.module, kind, name)
    code.builder.call(write, [part, pointers, ir.Constant(HALF, bytes_of(element)), mask])


def add_to_each(data, places, vector):
    """Add numbers at places, one after the other: several may be the same."""
    builder, (part,) = data.code.builder, vector.parts
    for x in range(part.type.count):
        lane = ir.Constant(HALF, x)
        pointer = data.pointer_to(builder.extract_element(places, lane))
        there = builder.load(pointer, typ=data.element)
        builder.store(builder.fadd(there, builder.extract_element(part, lane)), pointer)


def _everywhere(count):
    return ir.Constant(ir.VectorType(BIT, count), [1] * count)


def _pointers(data, places):
    builder, count = data.code.builder, places.type.count
    start = data.code.spread(builder.ptrtoint(data.pointer, WORD), count)
    size = ir.Constant(places.type, [bytes_of(data.element)] * count)
    addresses = builder.add(start, builder.mul(places, size))
    return builder.inttoptr(addresses, ir.VectorType(POINTER, count))


class VectorType(types.Type):
    """Type of so many doubles held as one value."""

    def __init__(self, size: int) -> None:
        self.size = size
        super().__init__(name=f"Vector({size})")


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: VectorType) -> None:
        super().__init__(manager, kind, ir.VectorType(DOUBLE, kind.size))


def operand(code: Code, context: Any, kind: types.Type, value: Any) -> Any:
    """Make an operand of :mod:`hogeq.kernels.staged` of a value of numba's; doubles stay."""
    if isinstance(kind, types.Array):
        pointer = context.make_array(kind)(context, code.builder, value).data
        # llvmlite still knows a type of numba's pointers, and no cast takes it off: this does.
        untyped = code.builder.select(ir.Constant(BIT, 0), ir.Constant(POINTER, None), pointer)
        return Data(code, untyped, context.get_data_type(kind.dtype))
    if isinstance(kind, VectorType):
        return Vector(code, [value])
    return value if isinstance(kind, types.Float) else Index(code, value)


def _operands(context: Any, builder: ir.IRBuilder, kinds: Any, values: Any, size: int) -> list[Any]:
    """Make operands of values of numba's: numbers become Vectors."""
    code = Code(builder, DOUBLE, size)
    every = zip(kinds, values, strict=True)
    return [
        code.vector(value) if isinstance(kind, types.Float) else operand(code, context, kind, value)
        for kind, value in every
    ]


class _Arithmetic(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:  # noqa: ARG002
        left, right = args
        if isinstance(right, VectorType) and left in {right, types.float64}:
            return right(left, right)
        return None


def _lower(name: str, write: Any) -> None:
    """Make numba's operator on vectors that of staged vectors."""
    key = getattr(operator, name)
    infer_global(key)(type(f"_{name}", (_Arithmetic,), {}))

    def generate(context, builder, signature, arguments):
        size = signature.return_type.size
        return write(*_operands(context, builder, signature.args, arguments, size)).parts[0]

    for left in (VectorType, types.float64):
        lower_builtin(key, left, VectorType)(generate)


for _name in ("add", "sub", "mul"):
    _lower(_name, getattr(operator, _name))
for _name in ("iadd", "isub"):
    _lower(_name, getattr(operator, _name[1:]))


def _written(result: Any, arguments: tuple[Any, ...], size: int, write: Any) -> Any:
    """Type and code of an intrinsic that staged operands write."""

    def generate(context, builder, signature, values):
        found = write(*_operands(context, builder, signature.args, values, size))
        return context.get_dummy_value() if found is None else getattr(found, "parts", [found])[0]

    return result(*arguments), generate


@intrinsic
def larger(typing, left, right):
    """Return the larger of two vectors, number by number."""
    return _written(left, (left, right), left.size, Vector.larger)


@intrinsic
def largest(typing, vector):
    """Return the largest number of a vector whose length is a power of two."""
    return _written(types.float64, (vector,), vector.size, largest_of)


@intrinsic
def load(typing, array, at, lane):
    """Return ``array[at:][:L]``."""
    kind = VectorType(len(lane))
    return _written(kind, (array, types.int64, lane), len(lane), lambda row, x, _: row.vector(x))


@intrinsic
def splat(typing, value, lane):
    """Return a vector of one number."""
    kind = VectorType(len(lane))
    return _written(kind, (types.float64, lane), len(lane), lambda number, _: number)


@intrinsic
def store(typing, array, at, vector):
    """Set ``array[at:][:L]`` to a vector."""
    return _written(types.void, (array, types.int64, vector), vector.size, Data.put)
