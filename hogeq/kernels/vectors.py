"""Vectors in kernels that numba compiles: some neighbouring doubles, held as one value.

Loops over a few neighbours, written in Python, come out of the compiler with a check for overlap
around every few multiplications. So they are given to it whole: loaded, computed with by ``+``,
``-`` and ``*``, and stored. Products and sums may be fused. Nothing checks bounds. Where nothing
else tells their number, an argument `lane` does, a tuple of so many zeros.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

from hogeq.kernels.shuffles import largest_of
from hogeq.kernels.staged import DOUBLE, Code, Data, Index, Vector


class VectorType(types.Type):
    """Type of so many doubles held as one value."""

    def __init__(self, size: int) -> None:
        self.size = size
        super().__init__(name=f"Vector({size})")


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: VectorType) -> None:
        super().__init__(manager, kind, ir.VectorType(DOUBLE, kind.size))


def _operands(context: Any, builder: ir.IRBuilder, kinds: Any, values: Any, size: int) -> list[Any]:
    """Make operands of :mod:`hogeq.kernels.staged` of values of numba's: numbers become Vectors."""
    code, operands = Code(builder, DOUBLE, size), []
    for kind, value in zip(kinds, values, strict=True):
        if isinstance(kind, types.Array):
            operands.append(Data(code, context.make_array(kind)(context, builder, value).data))
        elif isinstance(kind, VectorType):
            operands.append(Vector(code, [value]))
        elif isinstance(kind, types.Float):
            operands.append(code.vector(value))
        else:
            operands.append(Index(code, value))
    return operands


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


@intrinsic
def larger(typing, left, right):
    """Return the larger of two vectors, number by number."""

    def generate(context, builder, signature, arguments):
        one, other = _operands(context, builder, signature.args, arguments, left.size)
        return one.larger(other).parts[0]

    return left(left, right), generate


@intrinsic
def largest(typing, vector):
    """Return the largest number of a vector whose length is a power of two."""

    def generate(context, builder, signature, arguments):
        return largest_of(*_operands(context, builder, signature.args, arguments, vector.size))

    return types.float64(vector), generate


@intrinsic
def item(typing, array, at):
    """Return ``array[at]`` for `at` from 0."""

    def generate(context, builder, signature, arguments):
        data, place = _operands(context, builder, signature.args, arguments, 1)
        return data.number(place)

    return types.float64(array, types.int64), generate


@intrinsic
def store_one(typing, array, at, value):
    """Set ``array[at]`` for `at` from 0."""

    def generate(context, builder, signature, arguments):
        data, place, number = _operands(context, builder, signature.args, arguments, 1)
        data.put(place, number)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.float64), generate


@intrinsic
def load(typing, array, at, lane):
    """Return ``array[at:][:L]``."""

    def generate(context, builder, signature, arguments):
        kinds, values = signature.args[:2], arguments[:2]
        data, place = _operands(context, builder, kinds, values, len(lane))
        return data.vector(place).parts[0]

    return VectorType(len(lane))(array, types.int64, lane), generate


@intrinsic
def splat(typing, value, lane):
    """Return a vector of one number."""

    def generate(context, builder, signature, arguments):
        kinds, values = signature.args[:1], arguments[:1]
        return _operands(context, builder, kinds, values, len(lane))[0].parts[0]

    return VectorType(len(lane))(types.float64, lane), generate


@intrinsic
def store(typing, array, at, vector):
    """Set ``array[at:][:L]`` to a vector."""

    def generate(context, builder, signature, arguments):
        data, place, row = _operands(context, builder, signature.args, arguments, vector.size)
        data.put(place, row)
        return context.get_dummy_value()

    return types.void(array, types.int64, vector), generate
