"""Sums over a window of neighbouring numbers, at two places at once.

A roll's outcomes are neighbours, and what it is worth with a bonus is the same sum a few places
further on. Both are taken in one walk over the union of the two windows, with weights that are 0
where an outcome is missing.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hogeq.kernels.lanes import (
    Vector,
    contracted,
    data_of,
    load_at,
    splat_of,
    store_at,
    total_of,
    zero_of,
)

STEP = 8  # numbers of a window that are taken at once; windows are padded to whole steps
PAIR = 2  # rows that are added to sums of their own, since each addition waits for the last


def _loop(builder: ir.IRBuilder, count: Any, step: int, kinds: list[Any], body: Any) -> list[Any]:
    """Run ``body(index, sums)`` for every step-th index below a count above 0; return the sums."""
    before = builder.block
    inside = builder.append_basic_block("window")
    after = builder.append_basic_block("windowed")
    builder.branch(inside)
    builder.position_at_end(inside)
    index = builder.phi(count.type)
    sums = [builder.phi(kind) for kind in kinds]
    added = body(index, sums)
    following = builder.add(index, ir.Constant(count.type, step))
    index.add_incoming(ir.Constant(count.type, 0), before)
    index.add_incoming(following, inside)
    for phi, new in zip(sums, added, strict=True):
        phi.add_incoming(zero_of(phi.type), before)
        phi.add_incoming(new, inside)
    builder.cbranch(builder.icmp_signed("<", following, count), inside, after)
    builder.position_at_end(after)
    return added


@intrinsic
def weigh_windows(typing, usual, lost, at, weights, near, far, count, near_lost, far_lost):
    """Sum a window with each of two weightings; weigh another, number by number.

    Parameters
    ----------
    usual, lost : float64
        Arrays whose windows begin at `at`.
    at : int
    weights : float64
        With one weighting from `near` on, another from `far`, both padded by zeros.
    near, far : int
    count : int
        Numbers, more than 0.
    near_lost, far_lost : float64
        Filled with the products of `lost` and either weighting.

    Returns
    -------
    tuple of float, float
        Sums of the products of `usual` and either weighting.
    """
    pair = types.UniTuple(types.float64, 2)
    signature = pair(
        usual,
        lost,
        types.int64,
        weights,
        types.int64,
        types.int64,
        types.int64,
        near_lost,
        far_lost,
    )

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, _, at, _, near, far, count, _, _ = arguments
        usual, lost, weights, near_lost, far_lost = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (0, 1, 3, 7, 8)
        )

        def step(index, sums):
            here = builder.add(at, index)
            worth, loss = load_at(builder, usual, here, STEP), load_at(builder, lost, here, STEP)
            added = []
            for first, products, total in zip(
                (near, far), (near_lost, far_lost), sums, strict=True
            ):
                weight = load_at(builder, weights, builder.add(first, index), STEP)
                added.append(
                    contracted(builder.fadd, contracted(builder.fmul, weight, worth), total)
                )
                store_at(builder, builder.fmul(weight, loss), products, index)
            return added

        kind = ir.VectorType(ir.DoubleType(), STEP)
        totals = _loop(builder, count, STEP, [kind, kind], step)
        totals = [total_of(builder, total) for total in totals]
        return context.make_tuple(builder, signature.return_type, totals)

    return signature, generate


def _joined(builder: ir.IRBuilder, parts: list[Any]) -> Any:
    """Put vectors of one length next to each other."""
    found = parts[0]
    for part in parts[1:]:
        size, more = found.type.count, part.type.count
        indices = ir.VectorType(ir.IntType(32), size)
        padded = ir.Constant(indices, [x % more for x in range(size)])
        longer = builder.shuffle_vector(part, part, padded)
        both = ir.Constant(ir.VectorType(ir.IntType(32), size + more), list(range(size + more)))
        found = builder.shuffle_vector(found, longer, both)
    return found


@intrinsic
def sum_rows(typing, rows, places, at, count, near, far, lane):
    """Sum rows of a table, those at ``places[at:][:count]``, with each of two weightings.

    Parameters
    ----------
    rows : float64
    places : integers
        Where the rows begin; one more than `count` may be read.
    at, count : int
        A count above 0.
    near, far : float64
        Weights of the rows; 0 from `count` to the next even number.
    lane : tuple
        L zeros.

    Returns
    -------
    tuple of Vector, Vector
    """
    vector = Vector(rows.dtype, len(lane))
    piece = STEP if vector.size % STEP == 0 else vector.size
    pair = types.UniTuple(vector, 2)
    signature = pair(rows, places, types.int64, types.int64, near, far, lane)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        _, _, at, count, _, _, _ = arguments
        rows, places, near, far = (
            data_of(context, builder, kinds[x], arguments[x]) for x in (0, 1, 4, 5)
        )
        # In pieces: from one turn to the next a vector of 24 would be held as 24 numbers.
        kind = ir.VectorType(ir.DoubleType(), piece)
        firsts = range(0, vector.size, piece)
        pieces = len(firsts)

        def step(index, sums):
            added = []
            running = iter(sums)
            for x in range(PAIR):
                which = builder.add(index, ir.Constant(index.type, x))
                place = builder.load(builder.gep(places, [builder.add(at, which)]))
                row = builder.zext(place, at.type)
                parts = [
                    load_at(builder, rows, builder.add(row, ir.Constant(at.type, first)), piece)
                    for first in firsts
                ]
                for weights in (near, far):
                    weight = splat_of(builder, builder.load(builder.gep(weights, [which])), kind)
                    for part in parts:
                        product = contracted(builder.fmul, weight, part)
                        added.append(contracted(builder.fadd, product, next(running)))
            return added

        totals = _loop(builder, count, PAIR, [kind] * 2 * PAIR * pieces, step)
        odd = totals[2 * pieces :]
        sums = [builder.fadd(*both) for both in zip(totals[: 2 * pieces], odd, strict=True)]
        both = [_joined(builder, sums[:pieces]), _joined(builder, sums[pieces:])]
        return context.make_tuple(builder, signature.return_type, both)

    return signature, generate


@intrinsic
def store_in_turn(typing, array, at, left, right):
    """Write two vectors, their numbers by turns, from ``array[at:]`` on."""

    def generate(context, builder, signature, arguments):
        _, at, left, right = arguments
        data = data_of(context, builder, signature.args[0], arguments[0])
        size = left.type.count
        indices = ir.VectorType(ir.IntType(32), STEP)
        for first in range(0, 2 * size, STEP):
            mask = [x // 2 + size * (x % 2) for x in range(first, first + STEP)]
            some = builder.shuffle_vector(left, right, ir.Constant(indices, mask))
            store_at(builder, some, data, builder.add(at, ir.Constant(at.type, first)))
        return context.get_dummy_value()

    return types.void(array, types.int64, left, right), generate
