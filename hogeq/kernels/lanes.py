"""Vector operations over a lane: the part of the memory that a turn only carries.

A lane is a run of L neighbouring doubles or singles whose length the compiler knows.  Loops over
it, written in Python, come out of the compiler with a check for overlap around every few
multiplications, so these few operations are given to it as vectors (``<L x double>`` in LLVM); the
machine's own vector width is the compiler's business.  None of them checks bounds.

Each takes ``lane``, a tuple of L zeros, for its length alone.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.extending import intrinsic

_CONTRACT = ("contract",)  # lets a multiplication and an addition become one fused instruction
UNROLL = 4
CACHE_LINE = 64  # bytes
ROUNDING = {"double": 1e-14, "float": 1e-5}  # share of a sum that may be nothing but rounding
_DOUBLE = ir.DoubleType()
_INDEX = ir.IntType(32)


def _element(pointer: Any) -> Any:
    return pointer.type.pointee


def _as(builder: ir.IRBuilder, scalar: Any, kind: Any) -> Any:
    """Scalar rounded or widened to the kind of a vector's elements."""
    if scalar.type == kind:
        return scalar
    narrow = isinstance(kind, ir.FloatType)
    return (builder.fptrunc if narrow else builder.fpext)(scalar, kind)


def _data(context: BaseContext, builder: ir.IRBuilder, kind: Any, array: Any) -> Any:
    return context.make_array(kind)(context, builder, array).data


def _pointer(builder: ir.IRBuilder, data: Any, position: Any, size: int) -> Any:
    vector = ir.VectorType(_element(data), size)
    return builder.bitcast(builder.gep(data, [position]), vector.as_pointer())


def _load(builder: ir.IRBuilder, data: Any, position: Any, size: int) -> Any:
    value = builder.load(_pointer(builder, data, position, size))
    value.align = 4
    return value


def _store(builder: ir.IRBuilder, value: Any, data: Any, position: Any, size: int) -> None:
    builder.store(value, _pointer(builder, data, position, size)).align = 4


def _splat(builder: ir.IRBuilder, scalar: Any, size: int, kind: Any) -> Any:
    vector = ir.VectorType(kind, size)
    blank = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(blank, _as(builder, scalar, kind), ir.Constant(_INDEX, 0))
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

        kind = _element(out)

        def term(index, total):
            weight = builder.load(builder.gep(weights, [index]))
            here = builder.add(position, builder.load(builder.gep(offsets, [index])))
            term = _load(builder, values, here, size)
            return _add_product(builder, _splat(builder, weight, size, kind), term, total)

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
        zero = ir.Constant(ir.VectorType(kind, size), [0.0] * size)
        totals = [_load(builder, out, at, size), *[zero] * (UNROLL - 1)]
        whole = builder.sub(stop, ir.Constant(stop.type, UNROLL - 1))
        index, totals = loop(start, whole, UNROLL, totals)
        _, rest = loop(index, stop, 1, totals[:1])
        result = rest[0]
        for total in totals[1:]:
            result = builder.fadd(result, total)
        _store(builder, result, out, at, size)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def scatter_add(typing, values, position, weights, offsets, start, stop, source, at, lane):
    """Add ``weights[i] * source[at:][:L]`` to ``values[position + offsets[i] :]`` for all i.

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
        weight = builder.load(builder.gep(weights, [index]))
        weight = _splat(builder, weight, size, _element(values))
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
            _splat(builder, weight, size, _element(out)),
            _load(builder, values, position, size),
            _load(builder, out, at, size),
        )
        _store(builder, total, out, at, size)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def take_away(typing, out, at, weight, values, position, totals, lane):
    """Take ``weight * values[position:][:L]`` from ``out[at:][:L]``, down to exactly 0.

    What is left of less than 1e-14 of ``weight * totals[:L]`` is rounding, and dropped.
    """
    size = len(lane)
    signature = types.void(out, types.int64, types.float64, values, types.int64, totals, lane)

    def generate(context, builder, signature, arguments):
        out, at, weight, values, position, totals, _ = arguments
        out = _data(context, builder, signature.args[0], out)
        values = _data(context, builder, signature.args[3], values)
        totals = _data(context, builder, signature.args[5], totals)
        kind = _element(out)
        zero = ir.Constant(ir.VectorType(kind, size), [0.0] * size)
        taken = _splat(builder, builder.fneg(weight), size, kind)
        left = _add_product(
            builder, taken, _load(builder, values, position, size), _load(builder, out, at, size)
        )
        least = builder.fmul(weight, ir.Constant(_DOUBLE, ROUNDING[str(kind)]))
        start = ir.Constant(at.type, 0)
        least = builder.fmul(
            _splat(builder, least, size, kind), _load(builder, totals, start, size)
        )
        kept = builder.select(builder.fcmp_ordered(">", left, least), left, zero)
        _store(builder, kept, out, at, size)
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
        _store(builder, _splat(builder, value, size, _element(out)), out, at, size)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def add_difference(typing, out, at, weight, values, plus, minus, lane):
    """Add ``weight * (values[plus:] - values[minus:])[:L]`` to ``out[at:][:L]``."""
    size = len(lane)
    signature = types.void(out, types.int64, types.float64, values, types.int64, types.int64, lane)

    def generate(context, builder, signature, arguments):
        out, at, weight, values, plus, minus, _ = arguments
        out = _data(context, builder, signature.args[0], out)
        values = _data(context, builder, signature.args[3], values)
        difference = builder.fsub(
            _load(builder, values, plus, size), _load(builder, values, minus, size)
        )
        factor = _splat(builder, weight, size, _element(out))
        total = _add_product(builder, factor, difference, _load(builder, out, at, size))
        _store(builder, total, out, at, size)
        return context.get_dummy_value()

    return signature, generate


def _sum(builder: ir.IRBuilder, vector: Any, size: int) -> Any:
    """Sum of a vector: halves are added pairwise, in an order that no machine changes."""
    width = size
    while width % 2 == 0:
        width //= 2
        mask = [list(range(low, low + width)) for low in (0, width)]
        indices = ir.VectorType(_INDEX, width)
        halves = [builder.shuffle_vector(vector, vector, ir.Constant(indices, m)) for m in mask]
        vector = builder.fadd(*halves)
    total = builder.extract_element(vector, ir.Constant(_INDEX, 0))
    for x in range(1, width):
        total = builder.fadd(total, builder.extract_element(vector, ir.Constant(_INDEX, x)))
    return _as(builder, total, _DOUBLE)


@intrinsic
def lane_sum(typing, values, at, lane):
    """Return ``sum(values[at:][:L])``."""
    size = len(lane)
    signature = types.float64(values, types.int64, lane)

    def generate(context, builder, signature, arguments):
        values, at, _ = arguments
        values = _data(context, builder, signature.args[0], values)
        return _sum(builder, _load(builder, values, at, size), size)

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
        return _sum(builder, builder.fmul(left, right), size)

    return signature, generate


@intrinsic
def dot_difference(typing, left, at, right, plus, minus, lane):
    """Return ``sum(left[at:][:L] * (right[plus:] - right[minus:])[:L])``."""
    size = len(lane)
    signature = types.float64(left, types.int64, right, types.int64, types.int64, lane)

    def generate(context, builder, signature, arguments):
        left, at, right, plus, minus, _ = arguments
        left = _load(builder, _data(context, builder, signature.args[0], left), at, size)
        right = _data(context, builder, signature.args[2], right)
        difference = builder.fsub(
            _load(builder, right, plus, size), _load(builder, right, minus, size)
        )
        return _sum(builder, builder.fmul(left, difference), size)

    return signature, generate


@intrinsic
def prefetch(typing, values, at, lane):
    """Ask for the cache lines of ``values[at:][:L]`` ahead of their use."""
    size = len(lane)
    signature = types.void(values, types.int64, lane)

    def generate(context, builder, signature, arguments):
        values, at, _ = arguments
        values = _data(context, builder, signature.args[0], values)
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, _INDEX, _INDEX, _INDEX])
        hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        step = CACHE_LINE // (signature.args[0].dtype.bitwidth // 8)
        for first in range(0, size, step):
            place = builder.gep(values, [builder.add(at, ir.Constant(at.type, first))])
            flags = [ir.Constant(_INDEX, flag) for flag in (0, 3, 1)]  # to read, keep, data
            builder.call(hint, [builder.bitcast(place, byte), *flags])
        return context.get_dummy_value()

    return signature, generate
