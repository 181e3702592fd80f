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

from hogeq.kernels.staged import BOOL, DOUBLE, INT32, INT64, POINTER, Code, Data, Index, Vector

# 2 ** 52 + 2 ** 51: adding it leaves a whole number in the lowest bits.
_SHIFT = 6755399441055744.0
_BIAS = 1023  # of a double's exponent
_MANTISSA = 52  # bits of a double below its exponent
_SMALLEST = -708.0  # of which the exponential is no denormal number
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # fdlibm's
_TERMS = 13  # of the exponential's series, up to half of log 2


def _shuffled(code, first, second, places):
    """Make LLVM's vector of the entries at some places of the concatenation of two others."""
    mask = ir.Constant(ir.VectorType(INT32, len(places)), list(places))
    return code.builder.shuffle_vector(first, second, mask)


def _sum_of_parts(vector):
    """Add the registers of a Vector to one: LLVM's vector."""
    code = vector.code
    return code.pairwise_sum(Vector(code, [part]) for part in vector.parts).parts[0]


def entry_sum(vector):
    """Sum the entries of a Vector: a double."""
    return entry_sums([vector])[0]


def entry_sums(vectors):
    """Sum the entries of each of some Vectors: a list of doubles.

    As many vectors as a register has entries, W, share the work. A step adds the neighbours in two
    vectors, and so leaves one vector of them, whose first half belongs to the first. After log2 W
    steps one vector is left; its entries are the sums, in order.
    """
    code = vectors[0].code
    rows = [_sum_of_parts(vector) for vector in vectors]
    width = rows[0].type.count
    even, odd = range(0, 2 * width, 2), range(1, 2 * width, 2)
    totals = []
    for first in range(0, len(rows), width):
        group = rows[first : first + width]
        count = len(group)
        for _ in range(width.bit_length() - 1):
            if len(group) % 2:
                group = [*group, group[-1]]
            group = [
                code.builder.fadd(_shuffled(code, *pair, even), _shuffled(code, *pair, odd))
                for pair in zip(group[::2], group[1::2], strict=True)
            ]
        totals += [Vector(code, group).number(place) for place in range(count)]
    return totals


def largest_entry(vector):
    """Return the largest entry of a Vector of one register, by halves: a double."""
    code = vector.code
    (part,) = vector.parts
    width = part.type.count
    while width > 1:
        width //= 2
        lower = _shuffled(code, part, part, range(width))
        upper = _shuffled(code, part, part, range(width, 2 * width))
        (part,) = Vector(code, [lower]).maximum(Vector(code, [upper])).parts
    return Vector(code, [part]).number(0)


def transposed(rows):
    """Transpose a square matrix: `rows` are n Vectors of n entries, and so is the result.

    Each block of as many rows as a register has entries is transposed, and changes places.
    """
    code, width, parts = rows[0].code, rows[0].parts[0].type.count, len(rows[0].parts)
    columns = [[None] * parts for _ in rows]
    for top in range(parts):
        for left in range(parts):
            block = [rows[top * width + row].parts[left] for row in range(width)]
            for column, part in enumerate(_transposed_block(code, block)):
                columns[left * width + column][top] = part
    return [Vector(code, column) for column in columns]


def _transposed_block(code, block):
    """Transpose a block, W of LLVM's vectors with W entries each.

    For squares of side 2, 4, 8 and so on: their upper right and lower left quarters change places.
    """
    width = len(block)
    step = 1
    while step < width:
        # Entries of a row and of the one `step` below it, which has the places from `width` on.
        to_upper = [x if not x & step else width + x - step for x in range(width)]
        to_lower = [x + step if not x & step else width + x for x in range(width)]
        for row in range(width):
            if not row & step:
                upper, lower = block[row], block[row + step]
                block[row] = _shuffled(code, upper, lower, to_upper)
                block[row + step] = _shuffled(code, upper, lower, to_lower)
        step *= 2
    return block


def one_hot(code, place, number, parts):
    """Make a Vector, `parts` registers long, of zeros but for a double at one place."""
    vector = code.vector(0.0, parts)
    part, lane = divmod(place, code.width)
    number = code.cast(number, code.kind.element)
    vector.parts[part] = code.builder.insert_element(
        vector.parts[part], number, ir.Constant(INT32, lane)
    )
    return vector


def exponential(vector):
    """Return the exponential of a Vector of doubles, none above 0; 0 below -708.

    exp(x) = 2 ** n * exp(x - n log 2), where n is the whole number next to x / log 2; the second
    factor is by the Taylor series, to the last digit or two.
    """
    code = vector.code
    shifted = vector * _LOG2_E + _SHIFT
    whole = shifted - _SHIFT
    # log 2 in two steps, with more digits than a double has.
    rest = whole * -_LN2_HIGH + vector
    rest = whole * -_LN2_LOW + rest
    factorial = [1.0]
    for term in range(1, _TERMS + 1):
        factorial.append(factorial[-1] * term)
    series = code.broadcast_like(vector, 1.0 / factorial[-1])
    for term in range(_TERMS - 1, -1, -1):
        series = series * rest + 1.0 / factorial[term]
    powers = Vector(code, [_power_of_two(code, part) for part in shifted.parts])
    return vector.where_at_least(_SMALLEST, series * powers, 0.0)


def _power_of_two(code, shifted):
    """Return 2 ** n for doubles n + `_SHIFT`, LLVM's vector: n becomes a double's exponent."""
    builder, count = code.builder, shifted.type.count
    integers = ir.VectorType(INT64, count)
    bias = ir.Constant(integers, [_BIAS] * count)
    exponent = builder.add(builder.bitcast(shifted, integers), bias)
    bits = builder.shl(exponent, ir.Constant(integers, [_MANTISSA] * count))
    return builder.bitcast(bits, ir.VectorType(DOUBLE, count))


def gather(data, places, mask=None):
    """Read the numbers of an array at `places`: a Vector of one register.

    `places` are LLVM's vector of 64-bit integers, counted from the array's pointer; `mask` is one
    of single bits. Where it is 0, nothing is read and the number is 0.
    """
    code, count = data.code, places.type.count
    vector = ir.VectorType(data.element, count)
    zeros = ir.Constant(vector, [0.0] * count)
    pointers = _pointer_vector(data, places)
    kind = ir.FunctionType(vector, [pointers.type, INT32, _all_true(count).type, vector])
    name = _intrinsic_name("gather", data, count)
    masked_gather = cgutils.get_or_insert_function(code.builder.module, kind, name)
    alignment = ir.Constant(INT32, data.bytes)
    mask = mask or _all_true(count)
    return Vector(code, [code.builder.call(masked_gather, [pointers, alignment, mask, zeros])])


def scatter(data, places, vector, mask):
    """Write a Vector of one register to an array, as :func:`gather` reads: where `mask` is 1."""
    code, count = data.code, places.type.count
    (register,) = vector.parts
    pointers = _pointer_vector(data, places)
    kind = ir.FunctionType(ir.VoidType(), [register.type, pointers.type, INT32, mask.type])
    name = _intrinsic_name("scatter", data, count)
    masked_scatter = cgutils.get_or_insert_function(code.builder.module, kind, name)
    alignment = ir.Constant(INT32, data.bytes)
    code.builder.call(masked_scatter, [register, pointers, alignment, mask])


def _intrinsic_name(action, data, count):
    """Name LLVM's gather or scatter of `count` numbers: their type and that of pointers follow."""
    return f"llvm.masked.{action}.v{count}f{data.bytes * 8}.v{count}p0"


def scatter_add(data, places, vector):
    """Add each number of a Vector to an array at its place, in turn: places may be the same."""
    builder = data.code.builder
    (register,) = vector.parts
    for number in range(register.type.count):
        lane = ir.Constant(INT32, number)
        pointer = data.pointer_to(builder.extract_element(places, lane))
        before = builder.load(pointer, typ=data.element)
        builder.store(builder.fadd(before, builder.extract_element(register, lane)), pointer)


def _all_true(count):
    """Make a mask of ones: LLVM's vector of `count` single bits."""
    return ir.Constant(ir.VectorType(BOOL, count), [1] * count)


def _pointer_vector(data, places):
    """Make LLVM's vector of the addresses of an array's elements at `places`."""
    builder, count = data.code.builder, places.type.count
    start = data.code.broadcast(builder.ptrtoint(data.pointer, INT64), count)
    size = ir.Constant(places.type, [data.bytes] * count)
    addresses = builder.add(start, builder.mul(places, size))
    return builder.inttoptr(addresses, ir.VectorType(POINTER, count))


class VectorType(types.Type):
    """numba's type of a vector of `size` doubles."""

    def __init__(self, size: int) -> None:
        self.size = size
        super().__init__(name=f"Vector({size})")


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: VectorType) -> None:
        super().__init__(manager, kind, ir.VectorType(DOUBLE, kind.size))


def operand(code: Code, context: Any, kind: types.Type, value: Any) -> Any:
    """Make Data, a Vector or an Index of LLVM's `value`, of numba's type `kind`; a double stays."""
    if isinstance(kind, types.Array):
        pointer = context.make_array(kind)(context, code.builder, value).data
        # llvmlite still knows a type of numba's pointers, and no cast takes it off: this does.
        untyped = code.builder.select(ir.Constant(BOOL, 0), ir.Constant(POINTER, None), pointer)
        return Data(code, untyped, context.get_data_type(kind.dtype))
    if isinstance(kind, VectorType):
        return Vector(code, [value])
    return value if isinstance(kind, types.Float) else Index(code, value)


def _operands(context: Any, builder: ir.IRBuilder, kinds: Any, values: Any, size: int) -> list[Any]:
    """Make operands of values by their numba types; doubles become Vectors of `size` numbers."""
    code = Code(builder, DOUBLE, size)
    operands = []
    for kind, value in zip(kinds, values, strict=True):
        if isinstance(kind, types.Float):
            operands.append(code.vector(value))
        else:
            operands.append(operand(code, context, kind, value))
    return operands


class _Arithmetic(AbstractTemplate):
    """Typing of operators: a vector, or a double, with a vector gives such a vector."""

    def generic(self, args: Any, kws: Any) -> Any:  # noqa: ARG002
        left, right = args
        if isinstance(right, VectorType) and left in {right, types.float64}:
            return right(left, right)
        return None


def _lower(name: str, emit: Any) -> None:
    """Tell numba the code of an operator of module `operator`: what `emit` does with Vectors."""
    key = getattr(operator, name)
    infer_global(key)(type(f"_{name}", (_Arithmetic,), {}))

    def generate(context, builder, signature, arguments):
        size = signature.return_type.size
        operands = _operands(context, builder, signature.args, arguments, size)
        return emit(*operands).parts[0]

    for left in (VectorType, types.float64):
        lower_builtin(key, left, VectorType)(generate)


for _name in ("add", "sub", "mul"):
    _lower(_name, getattr(operator, _name))
for _name in ("iadd", "isub"):
    _lower(_name, getattr(operator, _name.removeprefix("i")))


def _emitted(result: Any, arguments: tuple[Any, ...], size: int, emit: Any) -> Any:
    """Give numba an intrinsic: its signature, and code that `emit` writes of :func:`_operands`."""

    def generate(context, builder, signature, values):
        emitted = emit(*_operands(context, builder, signature.args, values, size))
        if emitted is None:
            return context.get_dummy_value()
        return emitted.parts[0] if isinstance(emitted, Vector) else emitted

    return result(*arguments), generate


@intrinsic
def larger(typing, left, right):
    """Return the larger of two vectors, number by number."""
    return _emitted(left, (left, right), left.size, Vector.maximum)


@intrinsic
def largest(typing, vector):
    """Return the largest number of a vector whose length is a power of two."""
    return _emitted(types.float64, (vector,), vector.size, largest_entry)


@intrinsic
def load(typing, array, at, lane):
    """Return ``array[at:][:L]`` as a vector, where L is the length of the tuple `lane`."""
    size = len(lane)
    arguments = array, types.int64, lane
    return _emitted(VectorType(size), arguments, size, lambda data, first, _: data.vector(first))


@intrinsic
def splat(typing, value, lane):
    """Return a vector with one number everywhere, as long as the tuple `lane`."""
    kind = VectorType(len(lane))
    return _emitted(kind, (types.float64, lane), len(lane), lambda vector, _: vector)


@intrinsic
def store(typing, array, at, vector):
    """Set ``array[at:][:L]`` to a vector."""
    return _emitted(types.void, (array, types.int64, vector), vector.size, Data.put)
