"""Operands that stand for numbers of a kernel, so that Python can write the kernel.

A kernel is written by a Python function that runs once. It computes with these operands as it would
with numbers, and each operation writes one instruction for LLVM. Loops and branches of Python are
decided while the kernel is written: a loop over ten rolls is written out ten times.
:meth:`Code.loop` and :meth:`Code.when` are loops and branches of the kernel itself.

An :class:`Index` is a whole number, a :class:`Vector` a row of floating point numbers, a
:class:`Data` an array from some position on. Conditions and single doubles are LLVM's own values.
"Emit" means: append instructions to the kernel. Nothing checks bounds. Products and sums may be
fused.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partialmethod
from typing import Any

from llvmlite import ir
from numba.core import cgutils

INT64, INT32, BOOL = ir.IntType(64), ir.IntType(32), ir.IntType(1)  # types of LLVM's values
DOUBLE, SINGLE = ir.DoubleType(), ir.FloatType()
POINTER = ir.PointerType()
LINE = 64  # bytes of a line of the processor's cache
_FUSED = ("contract",)  # lets a multiplication and an addition become one instruction


class Index:
    """A whole number of the kernel: `value` is LLVM's, of 64 bits."""

    def __init__(self, code: "Code", value: Any) -> None:
        self.code, self.value = code, value

    def _combined(self, operation: str, other: Any) -> "Index":
        """Emit an instruction, by the name of its method of llvmlite, on this and another."""
        emit = getattr(self.code.builder, operation)
        return Index(self.code, emit(self.value, self.code.index(other).value))

    def _compared(self, sign: str, other: Any) -> Any:
        """Emit a signed comparison: LLVM's value of one bit."""
        return self.code.builder.icmp_signed(sign, self.value, self.code.index(other).value)

    __add__ = __radd__ = partialmethod(_combined, "add")
    __sub__ = partialmethod(_combined, "sub")
    __mul__ = __rmul__ = partialmethod(_combined, "mul")
    __floordiv__ = partialmethod(_combined, "udiv")
    __mod__ = partialmethod(_combined, "urem")
    __and__ = partialmethod(_combined, "and_")
    __rshift__ = partialmethod(_combined, "ashr")
    __lt__ = partialmethod(_compared, "<")
    __ge__ = partialmethod(_compared, ">=")
    equals = partialmethod(_compared, "==")
    differs = partialmethod(_compared, "!=")

    def __rsub__(self, other):
        return self.code.index(other) - self

    def at_least(self, least):
        """Return the larger of this number and `least`."""
        return self.code.select(self >= least, self, self.code.index(least))

    def at_most(self, most):
        """Return the smaller of this number and `most`."""
        return self.code.select(self < most, self, self.code.index(most))


class Vector:
    """A row of floating point numbers of the kernel.

    `parts` are LLVM's vectors, all of one type, one register of the processor each: the row is
    their concatenation. Methods work number by number.
    """

    def __init__(self, code: "Code", parts: Iterable[Any]) -> None:
        self.code, self.parts = code, list(parts)

    def _combined(self, operation: str, other: Any) -> "Vector":
        """Emit an instruction, by the name of its method of llvmlite, on this and another."""
        emit = getattr(self.code.builder, operation)
        pairs = zip(self.parts, self.code.broadcast_like(self, other).parts, strict=True)
        return Vector(self.code, [emit(mine, theirs, flags=_FUSED) for mine, theirs in pairs])

    __add__ = __radd__ = partialmethod(_combined, "fadd")
    __sub__ = partialmethod(_combined, "fsub")
    __mul__ = __rmul__ = partialmethod(_combined, "fmul")
    __truediv__ = partialmethod(_combined, "fdiv")

    def __rsub__(self, other):
        return self.code.broadcast_like(self, other) - self

    def __rtruediv__(self, other):
        return self.code.broadcast_like(self, other) / self

    def where_at_least(self, least, then, otherwise):
        """Return `then` where this is at least `least`, else `otherwise`: Vectors or numbers."""
        code, builder = self.code, self.code.builder
        others = [code.broadcast_like(self, other).parts for other in (least, then, otherwise)]
        chosen = []
        for part, low, yes, no in zip(self.parts, *others, strict=True):
            chosen.append(builder.select(builder.fcmp_ordered(">=", part, low), yes, no))
        return Vector(code, chosen)

    def maximum(self, other):
        """Return the larger of two numbers, place by place."""
        return self.where_at_least(other, self, other)

    def zero_where_rounding(self, whole):
        """Return these numbers, but 0 for those as small as rounding errors of sums `whole`."""
        least = whole * self.code.rounding
        return least.where_at_least(self, 0.0, self)

    def with_first_replaced(self, count, other):
        """Return these numbers, the first `count` (an Index) replaced by those of `other`."""
        builder = self.code.builder
        (part,), (instead,) = self.parts, self.code.broadcast_like(self, other).parts
        width = part.type.count
        count_everywhere = self.code.broadcast(count.value, width)
        is_first = builder.icmp_signed("<", lane_numbers(width), count_everywhere)
        return Vector(self.code, [builder.select(is_first, instead, part)])

    def converted(self, element):
        """Return these numbers in the precision `element`: DOUBLE or SINGLE."""
        builder = self.code.builder
        (part,) = self.parts
        if part.type.element == element:
            return self
        convert = builder.fptrunc if element == SINGLE else builder.fpext
        return Vector(self.code, [convert(part, ir.VectorType(element, part.type.count))])

    def number(self, place):
        """Return the number at a place, known as the kernel is written, as a double."""
        part, lane = divmod(place, self.parts[0].type.count)
        entry = self.code.builder.extract_element(self.parts[part], ir.Constant(INT32, lane))
        return self.code.cast(entry, DOUBLE)


class Data:
    """An array in memory, from `pointer` on, of numbers of LLVM's type `element`.

    Positions are Indices, or whole numbers known as the kernel is written.
    """

    def __init__(self, code: "Code", pointer: Any, element: Any) -> None:
        self.code, self.pointer, self.element = code, pointer, element
        self.bytes = 8 if element == DOUBLE else 4  # of a floating point number

    def __getitem__(self, where: slice) -> "Data":
        """Return the part ``data[position:]``."""
        return Data(self.code, self.pointer_to(self.code.index(where.start).value), self.element)

    def pointer_to(self, position: Any) -> Any:
        """Emit the address of an element; the position is LLVM's value."""
        return self.code.builder.gep(self.pointer, [position], source_etype=self.element)

    def _register(self, position):
        """Read as many neighbours as one register of the processor holds: LLVM's vector."""
        kind = ir.VectorType(self.element, self.code.width)
        pointer = self.pointer_to(position.value)
        return self.code.builder.load(pointer, align=4, typ=kind)

    def vector(self, position, parts=1):
        """Read a Vector of neighbouring numbers, `parts` registers long."""
        code, width = self.code, self.code.width
        return Vector(
            code, [self._register(code.index(position) + part * width) for part in range(parts)]
        )

    def put(self, position, vector):
        """Write a Vector to neighbouring numbers."""
        code = self.code
        for number, part in enumerate(vector.parts):
            where = code.index(position) + number * part.type.count
            code.builder.store(part, self.pointer_to(where.value), align=4)

    def number(self, position):
        """Read one number: an Index, or a double."""
        builder = self.code.builder
        number = builder.load(self.pointer_to(self.code.index(position).value), typ=self.element)
        if not isinstance(number.type, ir.IntType):
            return self.code.cast(number, DOUBLE)
        is_long = number.type == INT64
        return Index(self.code, number if is_long else builder.sext(number, INT64))

    def put_number(self, position, number):
        """Write one number: an Index, or a double, rounded to the precision of the array."""
        if isinstance(number, Index):
            value = number.value
        else:
            value = self.code.cast(number, self.element)
        self.code.builder.store(value, self.pointer_to(self.code.index(position).value))

    def indices(self, position):
        """Read neighbouring whole numbers of 32 bits: LLVM's vector of 64-bit ones."""
        row = self._register(self.code.index(position))
        return self.code.builder.sext(row, ir.VectorType(INT64, self.code.width))

    def prefetch(self, position, numbers):
        """Load so many numbers into the cache, some time before the kernel reads them."""
        builder = self.code.builder
        kind = ir.FunctionType(ir.VoidType(), [POINTER, INT32, INT32, INT32])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        # LLVM's arguments: 0 to read rather than write; 3 to keep as long as can be; 1 for data.
        hints = [ir.Constant(INT32, hint) for hint in (0, 3, 1)]
        for offset in range(0, numbers, LINE // self.bytes):
            pointer = self.pointer_to((self.code.index(position) + offset).value)
            builder.call(prefetch, [pointer, *hints])


class Variable:
    """A Vector that loops of the kernel change: it lies on the stack, one slot for each part."""

    def __init__(self, code: "Code", vector: Vector) -> None:
        self.code = code
        self._slots = [cgutils.alloca_once(code.builder, part.type) for part in vector.parts]
        self.set(vector)

    def set(self, vector):
        """Write another value."""
        for slot, part in zip(self._slots, vector.parts, strict=True):
            self.code.builder.store(part, slot)

    def get(self):
        """Read the value as a Vector."""
        return Vector(self.code, [self.code.builder.load(slot) for slot in self._slots])


class Code:
    """The kernel that is written, in DOUBLE or SINGLE precision: makes operands and branches."""

    def __init__(self, builder: ir.IRBuilder, element: Any, width: int) -> None:
        self.builder = builder
        self.width = width
        """Numbers of one register of the processor, if nothing else is said."""
        self.kind = ir.VectorType(element, width)
        self.rounding = 1e-5 if isinstance(element, ir.FloatType) else 1e-14
        """Share of a sum that may be nothing but rounding."""

    # --- operands ---

    def index(self, number):
        """Make an Index of a constant; an Index stays as it is."""
        return number if isinstance(number, Index) else Index(self, ir.Constant(INT64, int(number)))

    def vector(self, number, parts=1):
        """Make a Vector with one number everywhere, a constant or a double of the kernel."""
        return self._repeated(number, self.kind, parts)

    def broadcast_like(self, vector, number):
        """Make a Vector with one number everywhere, as long as `vector`; a Vector stays as is."""
        if isinstance(number, Vector):
            return number
        return self._repeated(number, vector.parts[0].type, len(vector.parts))

    def double_vector(self, number):
        """Make a Vector of one single double."""
        return self._repeated(number, ir.VectorType(DOUBLE, 1), 1)

    def _repeated(self, number, kind, parts):
        """Make a Vector of `parts` times LLVM's vector type `kind`, with one number everywhere."""
        if isinstance(number, int | float):
            row = ir.Constant(kind, [float(number)] * kind.count)
        else:
            row = self.broadcast(self.cast(number, kind.element), kind.count)
        return Vector(self, [row] * parts)

    def variable(self, vector):
        """Make a Variable that begins as a Vector."""
        return Variable(self, vector)

    def double(self, number):
        """Make a constant double."""
        return ir.Constant(DOUBLE, number)

    def broadcast(self, scalar, width):
        """Make LLVM's vector of `width` numbers that all are `scalar`."""
        kind = ir.VectorType(scalar.type, width)
        empty = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(empty, scalar, ir.Constant(INT32, 0))
        all_first = ir.Constant(ir.VectorType(INT32, width), [0] * width)
        return self.builder.shuffle_vector(first, first, all_first)

    def cast(self, scalar, element):
        """Convert a floating point number to the precision `element`."""
        if scalar.type == element:
            return scalar
        is_narrow = isinstance(element, ir.FloatType)
        return (self.builder.fptrunc if is_narrow else self.builder.fpext)(scalar, element)

    def pairwise_sum(self, terms):
        """Sum Vectors in pairs, then pairs of pairs, so that few additions wait for each other."""
        terms = list(terms)
        while len(terms) > 1:
            pairs = zip(terms[::2], terms[1::2], strict=False)
            sums = [left + right for left, right in pairs]
            last_alone = terms[2 * len(sums) :]
            terms = sums + last_alone
        return terms[0]

    # --- what the kernel decides when it runs ---

    @contextmanager
    def loop(self, first, last, *, down: bool = False) -> Iterator[Index]:
        """Emit a loop; the body of the `with` statement runs once and emits the loop's body.

        ``with code.loop(first, last) as x`` is ``for x in range(first, last)`` of the kernel, in
        reversed order if `down`. Block `head` leaves for `end` once the counter has reached `last`;
        `body` is what the `with` statement emits, then adds 1 and goes to `head`.
        """
        first, last, builder = self.index(first), self.index(last), self.builder
        counter_slot = cgutils.alloca_once(builder, INT64)
        builder.store(first.value, counter_slot)
        head, body, end = (builder.append_basic_block(name) for name in ("head", "body", "end"))
        builder.branch(head)
        builder.position_at_end(head)
        counter_value = builder.load(counter_slot)
        builder.cbranch(builder.icmp_signed("<", counter_value, last.value), body, end)
        builder.position_at_end(body)
        counter = Index(self, counter_value)
        # The counter rises in any case: its mirror image between the ends falls.
        yield first + last - 1 - counter if down else counter
        builder.store((counter + 1).value, counter_slot)
        builder.branch(head)
        builder.position_at_end(end)

    def when(self, condition):
        """Emit a branch: the `with` statement emits what runs if the condition holds."""
        return self.builder.if_then(condition)

    def all_of(self, *conditions):
        """Emit the condition that all of several hold."""
        all_hold = conditions[0]
        for condition in conditions[1:]:
            all_hold = self.builder.and_(all_hold, condition)
        return all_hold

    def select(self, condition, then, otherwise):
        """Emit a choice between two Indices, two Vectors or two doubles, by one condition."""
        if isinstance(then, Index):
            return Index(self, self.builder.select(condition, then.value, otherwise.value))
        if isinstance(then, Vector):
            pairs = zip(then.parts, otherwise.parts, strict=True)
            return Vector(self, [self.builder.select(condition, yes, no) for yes, no in pairs])
        return self.builder.select(condition, then, otherwise)


def lane_numbers(width: int) -> Any:
    """Make LLVM's vector 0, 1, 2 and so on: each number is its own place."""
    return ir.Constant(ir.VectorType(INT64, width), list(range(width)))
