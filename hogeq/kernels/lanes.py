"""Vector operations over a lane: the part of the memory that a turn only carries.

A lane is a run of L neighbouring doubles whose length the compiler knows.  Loops over it, written
in Python, come out of the compiler with a check for overlap around every few multiplications, so
these few operations are given to it as vectors (``<L x double>`` in LLVM); the machine's own vector
width is the compiler's business.  None of them checks bounds.

Each takes ``lane``, a tuple of L zeros, for its length alone.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.extending import intrinsic

_CONTRACT = ("contract",)  # lets a multiplication and an addition become one fused instruction
_DOUBLE = ir.DoubleType()
_INDEX = ir.IntType(32)


def _data(context: BaseContext, builder: ir.IRBuilder, kind: Any, array: Any) -> Any:
    return context.make_array(kind)(context, builder, array).data


def _pointer(builder: ir.IRBuilder, data: Any, position: Any, size: int) -> Any:
    vector = ir.VectorType(_DOUBLE, size)
    return builder.bitcast(builder.gep(data, [position]), vector.as_pointer())


def _load(builder: ir.IRBuilder, data: Any, position: Any, size: int) -> Any:
    value = builder.load(_pointer(builder, data, position, size))
    value.align = 8
    return value


def _store(builder: ir.IRBuilder, value: Any, data: Any, position: Any, size: int) -> None:
    builder.store(value, _pointer(builder, data, position, size)).align = 8


def _splat(builder: ir.IRBuilder, scalar: Any, size: int) -> Any:
    vector = ir.VectorType(_DOUBLE, size)
    blank = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(blank, scalar, ir.Constant(_INDEX, 0))
    zeros = ir.Constant(ir.VectorType(_INDEX, size), [0] * size)
    return builder.shuffle_vector(first, blank, zeros)


def _add_product(builder: ir.IRBuilder, left: Any, right: Any, total: Any) -> Any:
    product = builder.fmul(left, right, flags=_CONTRACT)
    return builder.fadd(product, total, flags=_CONTRACT)


@intrinsic
def gather_sum(typing, out, at, values, position, weights, offsets, start, stop, lane):
    """Add ``sum(weights[i] * values[position + offsets[i] :][:L])`` for i in start..stop to out."""
    size = len(lane)
    signature = types.void(
        out, types.int64, values, types.int64, weights, offsets, types.int64, types.int64, lane
    )

    def generate(context, builder, signature, arguments):
        out, at, values, position, weights, offsets, start, stop, _ = arguments
        kinds = signature.args
        out = _data(context, builder, kinds[0], out)
        values = _data(context, builder, kinds[2], values)
        weights = _data(context, builder, kinds[4], weights)
        offsets = _data(context, builder, kinds[5], offsets)
        total = _load(builder, out, at, size)

        before = builder.block
        loop = builder.append_basic_block("gather")
        after = builder.append_basic_block("gathered")
        builder.cbranch(builder.icmp_signed("<", start, stop), loop, after)

        builder.position_at_end(loop)
        index = builder.phi(start.type)
        running = builder.phi(total.type)
        weight = _splat(builder, builder.load(builder.gep(weights, [index])), size)
        here = builder.add(position, builder.load(builder.gep(offsets, [index])))
        added = _add_product(builder, weight, _load(builder, values, here, size), running)
        following = builder.add(index, ir.Constant(start.type, 1))
        for phi, first, later in ((index, start, following), (running, total, added)):
            phi.add_incoming(first, before)
            phi.add_incoming(later, loop)
        builder.cbranch(builder.icmp_signed("<", following, stop), loop, after)

        builder.position_at_end(after)
        result = builder.phi(total.type)
        result.add_incoming(total, before)
        result.add_incoming(added, loop)
        _store(builder, result, out, at, size)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def scatter_add(typing, values, position, weights, offsets, start, stop, source, at, lane):
    """Add ``weights[i] * source[at:][:L]`` to ``values[position + offsets[i] :]``, i in start..stop.

    The exact adjoint of :func:`gather_sum`.
    """
    size = len(lane)
    signature = types.void(
        values, types.int64, weights, offsets, types.int64, types.int64, source, types.int64, lane
    )

    def generate(context, builder, signature, arguments):
        values, position, weights, offsets, start, stop, source, at, _ = arguments
        kinds = signature.args
        values = _data(context, builder, kinds[0], values)
        weights = _data(context, builder, kinds[2], weights)
        offsets = _data(context, builder, kinds[3], offsets)
        spread = _load(builder, _data(context, builder, kinds[6], source), at, size)

        before = builder.block
        loop = builder.append_basic_block("scatter")
        after = builder.append_basic_block("scattered")
        builder.cbranch(builder.icmp_signed("<", start, stop), loop, after)

        builder.position_at_end(loop)
        index = builder.phi(start.type)
        weight = _splat(builder, builder.load(builder.gep(weights, [index])), size)
        here = builder.add(position, builder.load(builder.gep(offsets, [index])))
        total = _add_product(builder, weight, spread, _load(builder, values, here, size))
        _store(builder, total, values, here, size)
        following = builder.add(index, ir.Constant(start.type, 1))
        index.add_incoming(start, before)
        index.add_incoming(following, loop)
        builder.cbranch(builder.icmp_signed("<", following, stop), loop, after)

        builder.position_at_end(after)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def add_scaled(typing, out, at, weight, values, position, lane):
    """Add ``weight * values[position:][:L]`` to ``out[at:][:L]``."""
    size = len(lane)
    signature = types.void(out, types.int64, types.float64, values, types.int64, lane)

    def generate(context, builder, signature, arguments):
        out, at, weight, values, position, _ = arguments
        out = _data(context, builder, signature.args[0], out)
        values = _data(context, builder, signature.args[3], values)
        total = _add_product(
            builder,
            _splat(builder, weight, size),
            _load(builder, values, position, size),
            _load(builder, out, at, size),
        )
        _store(builder, total, out, at, size)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def fill(typing, out, at, value, lane):
    """Set ``out[at:][:L]`` to ``value``."""
    size = len(lane)
    signature = types.void(out, types.int64, types.float64, lane)

    def generate(context, builder, signature, arguments):
        out, at, value, _ = arguments
        out = _data(context, builder, signature.args[0], out)
        _store(builder, _splat(builder, value, size), out, at, size)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def dot(typing, left, at, right, position, lane):
    """Return ``sum(left[at:][:L] * right[position:][:L])``."""
    size = len(lane)
    signature = types.float64(left, types.int64, right, types.int64, lane)

    def generate(context, builder, signature, arguments):
        left, at, right, position, _ = arguments
        left = _load(builder, _data(context, builder, signature.args[0], left), at, size)
        right = _load(builder, _data(context, builder, signature.args[2], right), position, size)
        product = builder.fmul(left, right)
        width = size
        while width % 2 == 0:  # halves are added pairwise, in an order fixed for every machine
            width //= 2
            halves = [
                builder.shuffle_vector(
                    product,
                    product,
                    ir.Constant(ir.VectorType(_INDEX, width), list(range(low, low + width))),
                )
                for low in (0, width)
            ]
            product = builder.fadd(*halves)
        parts = [builder.extract_element(product, ir.Constant(_INDEX, x)) for x in range(width)]
        total = parts[0]
        for part in parts[1:]:
            total = builder.fadd(total, part)
        return total

    return signature, generate
