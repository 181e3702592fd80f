"""Numbers of a vector that lie apart in an array, at places: a vector of LLVM's whole numbers."""

from llvmlite import ir
from numba.core import cgutils

from hogeq.kernels.staged import BIT, DOUBLE, HALF, WORD, Vector


def gathered(data, places, mask=None):
    """Read numbers at places; 0, unread, where a mask is 0."""
    code, count, element = data.code, places.type.count, data.pointer.type.pointee
    vector = ir.VectorType(element, count)
    nothing = ir.Constant(vector, [0.0] * count)
    pointers = _pointers(data, places)
    kind = ir.FunctionType(vector, [pointers.type, HALF, _everywhere(count).type, vector])
    name = f"llvm.masked.gather.v{count}f{_bytes(element) * 8}.v{count}p0"
    gather = cgutils.get_or_insert_function(code.builder.module, kind, name)
    size, mask = ir.Constant(HALF, _bytes(element)), mask or _everywhere(count)
    return Vector(code, [code.builder.call(gather, [pointers, size, mask, nothing])])


def scatter(data, places, vector, mask):
    """Write numbers to places, but where a mask is 0."""
    code, count, element = data.code, places.type.count, data.pointer.type.pointee
    (part,) = vector.parts
    pointers = _pointers(data, places)
    kind = ir.FunctionType(ir.VoidType(), [part.type, pointers.type, HALF, mask.type])
    name = f"llvm.masked.scatter.v{count}f{_bytes(element) * 8}.v{count}p0"
    write = cgutils.get_or_insert_function(code.builder.module, kind, name)
    code.builder.call(write, [part, pointers, ir.Constant(HALF, _bytes(element)), mask])


def add_to_each(data, places, vector):
    """Add numbers at places, one after the other: several may be the same."""
    builder, (part,) = data.code.builder, vector.parts
    for x in range(part.type.count):
        lane = ir.Constant(HALF, x)
        pointer = builder.gep(data.pointer, [builder.extract_element(places, lane)])
        sum_there = builder.fadd(builder.load(pointer), builder.extract_element(part, lane))
        builder.store(sum_there, pointer)


def _bytes(element):
    return 8 if element == DOUBLE else 4


def _everywhere(count):
    return ir.Constant(ir.VectorType(BIT, count), [1] * count)


def _pointers(data, places):
    builder, count = data.code.builder, places.type.count
    start = data.code.spread(builder.ptrtoint(data.pointer, WORD), count)
    size = ir.Constant(places.type, [_bytes(data.pointer.type.pointee)] * count)
    addresses = builder.add(start, builder.mul(places, size))
    return builder.inttoptr(addresses, ir.VectorType(data.pointer.type, count))
