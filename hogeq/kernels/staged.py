"""Operands that stand for numbers of a kernel, so that Python can write the kernel.

A kernel is written by a Python function that runs once. It computes with these operands as it would
with numbers, and each operation writes one instruction for LLVM. Loops and branches of Python are
decided while the kernel is written: a loop over ten rolls is written out ten times.
:meth:`Code.loop` and :meth:`Code.when` are loops and branches of the kernel itself.

An :class:`Index` is a whole number, a :class:`Vector` a row of floating point numbers, a
:class:`Data` an array from some position on. Conditions are LLVM's own values. Nothing checks
bounds. Products and sums may be fused.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partialmethod
from typing import Any

from llvmlite import ir
from numba.core import cgutils

WORD, HALF, BIT = ir.IntType(64), ir.IntType(32), ir.IntType(1)
DOUBLE, SINGLE = ir.DoubleType(), ir.FloatType()
POINTER = ir.PointerType()
LINE = 64  # bytes of a line of the processor's cache
_FUSED = ("contract",)  # lets a multiplication and an addition become one instruction


class Index:
    """A whole number of the kernel."""

    def __init__(self, code: "Code", value: Any) -> None:
        self.code, self.value = code, value

    def _combined(self, operation: str, other: Any) -> "Index":
        write = getattr(self.code.builder, operation)
        return Index(self.code, write(self.value, self.code.index(other).value))

    def _compared(self, sign: str, other: Any) -> Any:
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
        """Return the larger of two."""
        return self.code.select(self >= least, self, self.code.index(least))

    def at_most(self, most):
        """Return the smaller of two."""
        return self.code.select(self < most, self, self.code.index(most))


class Vector:
    """A row of numbers, in vectors of the machine, its parts."""

    def __init__(self, code: "Code", parts: Iterable[Any]) -> None:
        self.code, self.parts = code, list(parts)

    def _combined(self, operation: str, other: Any) -> "Vector":
        write = getattr(self.code.builder, operation)
        pairs = zip(self.parts, self.code.like(self, other).parts, strict=True)
        return Vector(self.code, [write(x, y, flags=_FUSED) for x, y in pairs])

    __add__ = __radd__ = partialmethod(_combined, "fadd")
    __sub__ = partialmethod(_combined, "fsub")
    __mul__ = __rmul__ = partialmethod(_combined, "fmul")
    __truediv__ = partialmethod(_combined, "fdiv")

    def __rsub__(self, other):
        return self.code.like(self, other) - self

    def __rtruediv__(self, other):
        return self.code.like(self, other) / self

    def where_at_least(self, least, then, otherwise):
        """Return, number by number, `then` where this is at least so much, else `otherwise`."""
        code = self.code
        rows = (code.like(self, x).parts for x in (least, then, otherwise))
        return Vector(
            code,
            [
                code.builder.select(code.builder.fcmp_ordered(">=", x, low), yes, no)
                for x, low, yes, no in zip(self.parts, *rows, strict=True)
            ],
        )

    def larger(self, other):
        """Return the larger of two, number by number."""
        return self.where_at_least(other, self, other)

    def above_rounding(self, whole):
        """Return these numbers, but 0 for those that are nothing but rounding of a sum `whole`."""
        least = whole * self.code.rounding
        return least.where_at_least(self, 0.0, self)

    def replaced(self, count, other):
        """Return these numbers, the first `count` replaced by the other's."""
        builder = self.code.builder
        (part,), (instead,) = self.parts, self.code.like(self, other).parts
        width = part.type.count
        low = builder.icmp_signed("<", ramp(width), self.code.spread(count.value, width))
        return Vector(self.code, [builder.select(low, instead, part)])

    def converted(self, element):
        """Return these numbers rounded or widened to another precision."""
        builder, (part,) = self.code.builder, self.parts
        if part.type.element == element:
            return self
        convert = builder.fptrunc if element == SINGLE else builder.fpext
        return Vector(self.code, [convert(part, ir.VectorType(element, part.type.count))])

    def number(self, place):
        """Return one of these numbers as a double."""
        part, lane = divmod(place, self.parts[0].type.count)
        found = self.code.builder.extract_element(self.parts[part], ir.Constant(HALF, lane))
        return self.code.cast(found, DOUBLE)


class Data:
    """An array of elements of one kind, or its part from some position on."""

    def __init__(self, code: "Code", pointer: Any, element: Any) -> None:
        self.code, self.pointer, self.element = code, pointer, element

    def __getitem__(self, where: slice) -> "Data":
        """Return the part ``data[position:]``."""
        return Data(self.code, self.pointer_to(self.code.index(where.start).value), self.element)

    def pointer_to(self, at: Any) -> Any:
        """Make a pointer to an element, at a whole number of LLVM's."""
        return self.code.builder.gep(self.pointer, [at], source_etype=self.element)

    def _row(self, at):
        kind, pointer = ir.VectorType(self.element, self.code.width), self.pointer_to(at.value)
        return self.code.builder.load(pointer, align=4, typ=kind)

    def vector(self, at, parts=1):
        """Read neighbouring numbers."""
        code = self.code
        return Vector(code, [self._row(code.index(at) + x * code.width) for x in range(parts)])

    def put(self, at, vector):
        """Write neighbouring numbers."""
        code = self.code
        for x, part in enumerate(vector.parts):
            width = part.type.count
            code.builder.store(part, self.pointer_to((code.index(at) + x * width).value), align=4)

    def number(self, at):
        """Read one number: an Index, or a double."""
        builder = self.code.builder
        found = builder.load(self.pointer_to(self.code.index(at).value), typ=self.element)
        if not isinstance(found.type, ir.IntType):
            return self.code.cast(found, DOUBLE)
        return Index(self.code, found if found.type.width == 64 else builder.sext(found, WORD))

    def put_number(self, at, number):
        """Write one number: an Index, or a double, rounded if need be."""
        if isinstance(number, Index):
            value = number.value
        else:
            value = self.code.cast(number, self.element)
        self.code.builder.store(value, self.pointer_to(self.code.index(at).value))

    def indices(self, at):
        """Read neighbouring whole numbers of 32 bits as a vector of LLVM's."""
        row = self._row(self.code.index(at))
        return self.code.builder.sext(row, ir.VectorType(WORD, self.code.width))

    def ask_for(self, at, numbers):
        """Ask for so many numbers from a position on, some time before they are read."""
        builder = self.code.builder
        kind = ir.FunctionType(ir.VoidType(), [POINTER, HALF, HALF, HALF])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        for x in range(0, numbers, LINE // bytes_of(self.element)):
            pointer = self.pointer_to((self.code.index(at) + x).value)
            builder.call(prefetch, [pointer, *(ir.Constant(HALF, y) for y in (0, 3, 1))])


class Variable:
    """A vector that loops of the kernel change."""

    def __init__(self, code: "Code", vector: Vector) -> None:
        self.code = code
        self._slots = [cgutils.alloca_once(code.builder, part.type) for part in vector.parts]
        self.set(vector)

    def set(self, vector):
        """Give it another value."""
        for slot, part in zip(self._slots, vector.parts, strict=True):
            self.code.builder.store(part, slot)

    def get(self):
        """Return its value."""
        return Vector(self.code, [self.code.builder.load(slot) for slot in self._slots])


class Code:
    """The kernel that is written: makes operands, loops and branches."""

    def __init__(self, builder: ir.IRBuilder, element: Any, width: int) -> None:
        self.builder = builder
        self.width = width
        """Numbers of one vector of the machine, if nothing else is said."""
        self.kind = ir.VectorType(element, width)
        self.rounding = 1e-5 if isinstance(element, ir.FloatType) else 1e-14
        """Share of a sum that may be nothing but rounding."""

    # --- operands ---

    def index(self, number):
        """Make an Index."""
        return number if isinstance(number, Index) else Index(self, ir.Constant(WORD, int(number)))

    def vector(self, number, parts=1):
        """Make a Vector of one number, a constant or a double of the kernel."""
        return self._repeated(number, self.kind, parts)

    def like(self, vector, number):
        """Make a Vector of one number, as wide as another; a Vector stays as it is."""
        if isinstance(number, Vector):
            return number
        return self._repeated(number, vector.parts[0].type, len(vector.parts))

    def lone(self, number):
        """Make a Vector of one single double."""
        return self._repeated(number, ir.VectorType(DOUBLE, 1), 1)

    def _repeated(self, number, kind, parts):
        if isinstance(number, int | float):
            row = ir.Constant(kind, [float(number)] * kind.count)
        else:
            row = self.spread(self.cast(number, kind.element), kind.count)
        return Vector(self, [row] * parts)

    def variable(self, vector):
        """Make a Variable that begins as a vector."""
        return Variable(self, vector)

    def double(self, number):
        """Make a constant double."""
        return ir.Constant(DOUBLE, number)

    def spread(self, scalar, width):
        """Make a vector of LLVM's of one number."""
        kind = ir.VectorType(scalar.type, width)
        one = self.builder.insert_element(
            ir.Constant(kind, ir.Undefined), scalar, ir.Constant(HALF, 0)
        )
        mask = ir.Constant(ir.VectorType(HALF, width), [0] * width)
        return self.builder.shuffle_vector(one, one, mask)

    def cast(self, scalar, element):
        """Round or widen a number."""
        if scalar.type == element:
            return scalar
        is_narrow = isinstance(element, ir.FloatType)
        return (self.builder.fptrunc if is_narrow else self.builder.fpext)(scalar, element)

    def tree(self, terms):
        """Sum vectors in pairs, so that few additions wait for each other."""
        terms = list(terms)
        while len(terms) > 1:
            pairs = [x + y for x, y in zip(terms[::2], terms[1::2], strict=False)]
            terms = pairs + terms[2 * len(pairs) :]
        return terms[0]

    # --- what the kernel decides when it runs ---

    @contextmanager
    def loop(self, first, last, *, down: bool = False) -> Iterator[Index]:
        """Write a loop over whole numbers, from the first to before the last, or back."""
        first, last, builder = self.index(first), self.index(last), self.builder
        slot = cgutils.alloca_once(builder, WORD)
        builder.store(first.value, slot)
        head, body, end = (builder.append_basic_block(x) for x in ("head", "body", "end"))
        builder.branch(head)
        builder.position_at_end(head)
        count = builder.load(slot)
        builder.cbranch(builder.icmp_signed("<", count, last.value), body, end)
        builder.position_at_end(body)
        here = Index(self, count)
        yield first + last - 1 - here if down else here
        builder.store((here + 1).value, slot)
        builder.branch(head)
        builder.position_at_end(end)

    def when(self, condition):
        """Write the code for a true condition: a context."""
        return self.builder.if_then(condition)

    def all_of(self, *conditions):
        """Write a condition that holds if several do."""
        holds = conditions[0]
        for condition in conditions[1:]:
            holds = self.builder.and_(holds, condition)
        return holds

    def select(self, condition, then, otherwise):
        """Choose one of two of a kind: Index, Vector or double."""
        if isinstance(then, Index):
            return Index(self, self.builder.select(condition, then.value, otherwise.value))
        if isinstance(then, Vector):
            pairs = zip(then.parts, otherwise.parts, strict=True)
            return Vector(self, [self.builder.select(condition, x, y) for x, y in pairs])
        return self.builder.select(condition, then, otherwise)


def bytes_of(element: Any) -> int:
    """Size of a floating point number."""
    return 8 if element == DOUBLE else 4


def ramp(width: int) -> Any:
    """Make a vector of LLVM's: 0, 1, 2 and so on."""
    return ir.Constant(ir.VectorType(WORD, width), list(range(width)))
