"""Vectors in kernels that numba compiles: some neighbouring doubles, held as one value.

Loops over a few neighbours, written in Python, come out of the compiler with a check for overlap
around every few multiplications. So they are given to it whole: loaded, computed with by ``+``,
``-`` and ``*``, and stored. Products and sums may be fused. Nothing checks bounds. Where nothing
else tells their number, an argument `lane` does, a tuple of so many zeros.

First, for all kernels: sums over a vector, transposes, and vectors of numbers apart in memory.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

from hogeq.kernels.staged import BOOL, DOUBLE, INT32, INT64, POINTER, Code, Data, Index, Vector

# 2 ** 52 + 2 ** 51: a double of this size has no bits for fractions, so that adding it rounds a
# number to a whole one, which then stands in the lowest bits of the sum.
_SHIFT = 6755399441055744.0
_BIAS = 1023  # of a double's exponent
_MANTISSA = 52  # bits of a double below its exponent
_SMALLEST = -708.0  # down to it the exponential is a normal double, not a denormal one
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # fdlibm's
_TERMS = 13  # of the exponential's series, up to half of log 2


def _shuffled(code, first, second, indices):
    """Make LLVM's vector of the entries at some indices of the concatenation of two others."""
    mask = ir.Constant(ir.VectorType(INT32, len(indices)), list(indices))
    return code.builder.shuffle_vector(first, second, mask)


def _sum_of_registers(vector):
    """Add the registers of a Vector to one: LLVM's vector."""
    code = vector.code
    terms = (Vector(code, [register]) for register in vector.registers)
    return code.pairwise_sum(terms).registers[0]


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
    rows = [_sum_of_registers(vector) for vector in vectors]
    width = rows[0].type.count
    even = range(0, 2 * width, 2)  # entries of two vectors, one after the other
    odd = range(1, 2 * width, 2)
    num_steps = width.bit_length() - 1  # log2 of the width
    totals = []
    for first in range(0, len(rows), width):
        group = rows[first : first + width]
        count = len(group)
        for _ in range(num_steps):
            if len(group) % 2:
                group = [*group, group[-1]]  # fills up a pair; its sums are left out
            sums = []
            for left, right in zip(group[::2], group[1::2], strict=True):
                even_entries = _shuffled(code, left, right, even)
                odd_entries = _shuffled(code, left, right, odd)
                sums.append(code.builder.fadd(even_entries, odd_entries))
            group = sums
        totals += [Vector(code, group).number(index) for index in range(count)]
    return totals


def largest_entry(vector):
    """Return the largest entry of a Vector of one register, a double, by comparing halves."""
    code = vector.code
    (register,) = vector.registers
    width = register.type.count
    while width > 1:
        width //= 2
        lower = _shuffled(code, register, register, range(width))
        upper = _shuffled(code, register, register, range(width, 2 * width))
        (register,) = Vector(code, [lower]).maximum(Vector(code, [upper])).registers
    return Vector(code, [register]).number(0)


def transposed(rows):
    """Transpose a square matrix: `rows` are n Vectors of n entries, and so is the result.

    Each block of as many rows as a register has entries is transposed, and changes places.
    """
    code = rows[0].code
    width = rows[0].registers[0].type.count
    num_blocks = len(rows[0].registers)  # in a row, and in a column
    columns = [[None] * num_blocks for _ in rows]
    for top in range(num_blocks):
        for left in range(num_blocks):
            block = [rows[top * width + row].registers[left] for row in range(width)]
            for column, register in enumerate(_transposed_block(code, block)):
                columns[left * width + column][top] = register
    return [Vector(code, column) for column in columns]


def _transposed_block(code, block):
    """Transpose a block, W of LLVM's vectors with W entries each, W a power of two; in place.

    For squares of side 2, 4, 8 and so on: their upper right and lower left quarters change places.
    """
    width = len(block)
    step = 1  # half the side of the squares
    while step < width:
        # Indices into a row and the one `step` below it, which has those from `width` on.
        upper_indices = [x if not x & step else width + x - step for x in range(width)]
        lower_indices = [x + step if not x & step else width + x for x in range(width)]
        for row in range(width):
            is_in_upper_half = not row & step
            if is_in_upper_half:
                upper, lower = block[row], block[row + step]
                block[row] = _shuffled(code, upper, lower, upper_indices)
                block[row + step] = _shuffled(code, upper, lower, lower_indices)
        step *= 2
    return block


def one_hot(code, index, number, num_registers):
    """Make a Vector, so many registers long, of zeros but for `number`, a double, at an index."""
    vector = code.vector(0.0, num_registers)
    register, lane = divmod(index, code.width)
    vector.registers[register] = code.builder.insert_element(
        vector.registers[register],
        code.cast(number, code.kind.element),
        ir.Constant(INT32, lane),
    )
    return vector


def exponential(vector):
    """Return the exponential of a Vector of doubles, none above 0; 0 below -708.

    1. n is the whole number next to x / log 2, so that exp(x) = 2**n * exp(x - n log 2). To round
       to it, `_SHIFT` is added, 3 * 2**51: doubles of that size have no digits after the point.
    2. The second factor is by its Taylor series, to the last digit or two.
    3. The first is a double with exponent n.
    """
    code = vector.code
    shifted = vector * _LOG2_E + _SHIFT  # n, in the lowest bits of a large double
    rounded = shifted - _SHIFT  # n, as a double
    # log 2 in two steps, with more digits than a double has.
    remainder = rounded * -_LN2_HIGH + vector
    remainder = rounded * -_LN2_LOW + remainder
    factorial = [1.0]
    for term in range(1, _TERMS + 1):
        factorial.append(factorial[-1] * term)
    series = code.broadcast_like(vector, 1.0 / factorial[-1])
    for term in range(_TERMS - 1, -1, -1):  # Horner's scheme
        series = series * remainder + 1.0 / factorial[term]
    powers = Vector(code, [_power_of_two(code, register) for register in shifted.registers])
    return vector.where_at_least(_SMALLEST, series * powers, 0.0)


def _power_of_two(code, shifted):
    """Return 2 ** n for doubles n + `_SHIFT`, LLVM's vector, by building the bits of a double.

    `_SHIFT` is so large, 3 * 2**51, that the whole number n stands in the lowest bits of the sum. A
    double's exponent is stored as n + 1023, the `_BIAS`, above the 52 bits of its mantissa,
    `_MANTISSA`: shifted there, with a mantissa of 0, it is 2 ** n. Bits above n are shifted out.
    """
    builder, count = code.builder, shifted.type.count
    integers = ir.VectorType(INT64, count)
    bias = ir.Constant(integers, [_BIAS] * count)
    exponent = builder.add(builder.bitcast(shifted, integers), bias)
    bits = builder.shl(exponent, ir.Constant(integers, [_MANTISSA] * count))
    return builder.bitcast(bits, ir.VectorType(DOUBLE, count))


def gather(data, positions, mask=None):
    """Read the numbers of an array at some positions: a Vector of one register.

    `positions` are LLVM's vector of 64-bit integers, counted from the array's pointer; `mask` is
    one of single bits. Where it is 0, nothing is read and the number is 0.
    """
    code, count = data.code, positions.type.count
    vector_type = ir.VectorType(data.element, count)
    zeros = ir.Constant(vector_type, [0.0] * count)
    pointers = _pointer_vector(data, positions)
    all_true = ir.Constant(ir.VectorType(BOOL, count), [1] * count)  # a mask of single bits
    kind = ir.FunctionType(vector_type, [pointers.type, INT32, all_true.type, vector_type])
    name = _intrinsic_name("gather", data, count)
    masked_gather = cgutils.get_or_insert_function(code.builder.module, kind, name)
    alignment = ir.Constant(INT32, data.bytes)
    mask = mask or all_true
    return Vector(code, [code.builder.call(masked_gather, [pointers, alignment, mask, zeros])])


def scatter(data, positions, vector, mask):
    """Write a Vector of one register to an array at some positions, where `mask` is 1.

    `positions` and `mask` are LLVM's vectors, as :func:`gather` has them.
    """
    code, count = data.code, positions.type.count
    (register,) = vector.registers
    pointers = _pointer_vector(data, positions)
    kind = ir.FunctionType(ir.VoidType(), [register.type, pointers.type, INT32, mask.type])
    name = _intrinsic_name("scatter", data, count)
    masked_scatter = cgutils.get_or_insert_function(code.builder.module, kind, name)
    alignment = ir.Constant(INT32, data.bytes)
    code.builder.call(masked_scatter, [register, pointers, alignment, mask])


def _intrinsic_name(action, data, count):
    """Name LLVM's gather or scatter of `count` numbers: their type and that of pointers follow."""
    return f"llvm.masked.{action}.v{count}f{data.bytes * 8}.v{count}p0"


def scatter_add(data, positions, vector):
    """Add each number of a Vector to an array at its position, in turn: some may be the same."""
    builder = data.code.builder
    (register,) = vector.registers
    for index in range(register.type.count):
        lane = ir.Constant(INT32, index)
        pointer = data.pointer_to(builder.extract_element(positions, lane))
        before = builder.load(pointer, typ=data.element)
        builder.store(builder.fadd(before, builder.extract_element(register, lane)), pointer)


def _pointer_vector(data, positions):
    """Make LLVM's vector of the addresses of an array's elements at some positions."""
    builder, count = data.code.builder, positions.type.count
    start = data.code.broadcast(builder.ptrtoint(data.pointer, INT64), count)
    size = ir.Constant(positions.type, [data.bytes] * count)
    addresses = builder.add(start, builder.mul(positions, size))
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
    """Make an operand of LLVM's `value`, of numba's type `kind`.

    Data of an array, a Vector of a vector, an Index of a whole number; a double stays as it is.
    """
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
    """Teach numba an operator on vectors: `name` is that of its function in module `operator`.

    `emit` gets two Vectors, writes the operation, and returns the resulting Vector.
    """
    key = getattr(operator, name)
    infer_global(key)(type(f"_{name}", (_Arithmetic,), {}))

    def generate(context, builder, signature, arguments):
        """Emit the operation where numba compiles it: LLVM's value of the resulting vector."""
        size = signature.return_type.size
        operands = _operands(context, builder, signature.args, arguments, size)
        return emit(*operands).registers[0]

    for left in (VectorType, types.float64):
        lower_builtin(key, left, VectorType)(generate)


for _name in ("add", "sub", "mul"):
    _lower(_name, getattr(operator, _name))
for _name in ("iadd", "isub"):
    _lower(_name, getattr(operator, _name.removeprefix("i")))


def _emitted(result: Any, arguments: tuple[Any, ...], size: int, emit: Any) -> Any:
    """Make what numba asks of an intrinsic: its signature, and a function that writes its code.

    `result` and `arguments` are numba's types. `emit` gets the operands, made as by
    :func:`_operands`, and returns a Vector, a double, or None for no result.
    """

    def generate(context, builder, signature, values):
        """Emit the code where numba compiles a call: LLVM's value of the result."""
        result_operand = emit(*_operands(context, builder, signature.args, values, size))
        if result_operand is None:
            return context.get_dummy_value()
        if isinstance(result_operand, Vector):
            return result_operand.registers[0]
        return result_operand

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
