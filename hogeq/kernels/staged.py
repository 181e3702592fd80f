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
LINE = 64  # bytes of a line of the processor's cache, and of its widest register
_FUSED = ("contract",)  # lets a multiplication and an addition become one instruction


class Index:
    """A whole number of the kernel: `value` is LLVM's, of 64 bits."""

    def __init__(self, code: "Code", value: Any) -> None:
        self.code, self.value = code, value

    def _emit_operation(self, operation: str, other: Any) -> "Index":
        """Emit an instruction on this number and another; `operation` is llvmlite's method."""
        emit = getattr(self.code.builder, operation)
        return Index(self.code, emit(self.value, self.code.index(other).value))

    def _emit_comparison(self, sign: str, other: Any) -> Any:
        """Emit a signed comparison, `sign` such as "<": LLVM's value of one bit."""
        return self.code.builder.icmp_signed(sign, self.value, self.code.index(other).value)

    __add__ = __radd__ = partialmethod(_emit_operation, "add")
    __sub__ = partialmethod(_emit_operation, "sub")
    __mul__ = __rmul__ = partialmethod(_emit_operation, "mul")
    __floordiv__ = partialmethod(_emit_operation, "udiv")
    __mod__ = partialmethod(_emit_operation, "urem")
    __and__ = partialmethod(_emit_operation, "and_")
    __rshift__ = partialmethod(_emit_operation, "ashr")
    __lt__ = partialmethod(_emit_comparison, "<")
    __ge__ = partialmethod(_emit_comparison, ">=")
    equals = partialmethod(_emit_comparison, "==")
    differs = partialmethod(_emit_comparison, "!=")

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

    `registers` are LLVM's vectors, all of one type, each of which fills a register of the
    processor: the row is their concatenation. Methods work number by number.
    """

    def __init__(self, code: "Code", registers: Iterable[Any]) -> None:
        self.code, self.registers = code, list(registers)

    def _emit_operation(self, operation: str, other: Any) -> "Vector":
        """Emit an instruction on this Vector and another, or a number; llvmlite's method."""
        emit = getattr(self.code.builder, operation)
        others = self.code.broadcast_like(self, other).registers
        pairs = zip(self.registers, others, strict=True)
        return Vector(self.code, [emit(mine, theirs, flags=_FUSED) for mine, theirs in pairs])

    __add__ = __radd__ = partialmethod(_emit_operation, "fadd")
    __sub__ = partialmethod(_emit_operation, "fsub")
    __mul__ = __rmul__ = partialmethod(_emit_operation, "fmul")
    __truediv__ = partialmethod(_emit_operation, "fdiv")

    def __rsub__(self, other):
        return self.code.broadcast_like(self, other) - self

    def __rtruediv__(self, other):
        return self.code.broadcast_like(self, other) / self

    def where_at_least(self, least, then, otherwise):
        """Return `then` where this is at least `least`, else `otherwise`: Vectors or numbers."""
        code, builder = self.code, self.code.builder
        others = [code.broadcast_like(self, other).registers for other in (least, then, otherwise)]
        chosen = []
        for register, low, yes, no in zip(self.registers, *others, strict=True):
            is_at_least = builder.fcmp_ordered(">=", register, low)
            chosen.append(builder.select(is_at_least, yes, no))
        return Vector(code, chosen)

    def maximum(self, other):
        """Return the larger of two numbers, number by number."""
        return self.where_at_least(other, self, other)

    def zero_where_rounding(self, sums):
        """Return these numbers, but 0 for those as small as rounding errors of `sums`."""
        least = sums * self.code.rounding
        return least.where_at_least(self, 0.0, self)

    def with_first_replaced(self, count, other):
        """Return these numbers, one register, the first `count`, an Index, as in `other`."""
        builder = self.code.builder
        (register,) = self.registers
        (replacement,) = self.code.broadcast_like(self, other).registers
        width = register.type.count
        count_everywhere = self.code.broadcast(count.value, width)
        is_first = builder.icmp_signed("<", lane_numbers(width), count_everywhere)
        return Vector(self.code, [builder.select(is_first, replacement, register)])

    def converted(self, element):
        """Return these numbers, one register, in the precision `element`: DOUBLE or SINGLE."""
        builder = self.code.builder
        (register,) = self.registers
        if register.type.element == element:
            return self
        convert = builder.fptrunc if element == SINGLE else builder.fpext
        return Vector(self.code, [convert(register, ir.VectorType(element, register.type.count))])

    def number(self, index):
        """Return the number at an index, known as the kernel is written, as a double."""
        register_index, lane = divmod(index, self.registers[0].type.count)
        register = self.registers[register_index]
        number = self.code.builder.extract_element(register, ir.Constant(INT32, lane))
        return self.code.cast(number, DOUBLE)


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

    def vector(self, position, num_registers=1):
        """Read a Vector of neighbouring numbers, so many registers long."""
        code = self.code
        first = code.index(position)
        registers = [self._register(first + number * code.width) for number in range(num_registers)]
        return Vector(code, registers)

    def nth_vector(self, number):
        """Read a Vector of one register, by its number in an array of such."""
        return self.vector(number * self.code.width)

    def put_nth_vector(self, number, vector):
        """Write a Vector of one register, by its number in an array of such."""
        self.put(number * self.code.width, vector)

    def put(self, position, vector):
        """Write a Vector to neighbouring numbers."""
        code = self.code
        for number, register in enumerate(vector.registers):
            register_position = code.index(position) + number * register.type.count
            code.builder.store(register, self.pointer_to(register_position.value), align=4)

    def number(self, position):
        """Read one number: an Index if the array has whole numbers, else a double of LLVM."""
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
        """Load neighbouring numbers into the cache, some time before the kernel reads them."""
        builder = self.code.builder
        kind = ir.FunctionType(ir.VoidType(), [POINTER, INT32, INT32, INT32])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        # LLVM's arguments: 0 to read rather than write; 3 to keep as long as can be; 1 for data.
        hints = [ir.Constant(INT32, hint) for hint in (0, 3, 1)]
        numbers_of_line = LINE // self.bytes
        for offset in range(0, numbers, numbers_of_line):
            pointer = self.pointer_to((self.code.index(position) + offset).value)
            builder.call(prefetch, [pointer, *hints])


class Variable:
    """A Vector that loops of the kernel change: it lies on the stack, one slot for a register."""

    def __init__(self, code: "Code", vector: Vector) -> None:
        self.code = code
        self._slots = [
            cgutils.alloca_once(code.builder, register.type) for register in vector.registers
        ]
        self.set(vector)

    def set(self, vector):
        """Write another value."""
        for slot, register in zip(self._slots, vector.registers, strict=True):
            self.code.builder.store(register, slot)

    def get(self):
        """Read the value as a Vector."""
        return Vector(self.code, [self.code.builder.load(slot) for slot in self._slots])


class Code:
    """The kernel that is written, in DOUBLE or SINGLE precision: makes operands and branches."""

    def __init__(self, builder: ir.IRBuilder, element: Any, width: int) -> None:
        """Write by an LLVM builder; `width` numbers of the type `element` fill a register."""
        self.builder = builder
        self.width = width
        """Numbers of one register of the processor: the default length of vectors."""
        self.kind = ir.VectorType(element, width)
        self.rounding = 1e-5 if isinstance(element, ir.FloatType) else 1e-14
        """A number below this share of a sum may be a rounding error of the sum alone."""

    # --- operands ---

    def index(self, number):
        """Make an Index of a constant; an Index stays as it is."""
        return number if isinstance(number, Index) else Index(self, ir.Constant(INT64, int(number)))

    def vector(self, number, num_registers=1):
        """Make a Vector with one number everywhere, a constant or a double of the kernel."""
        return self._repeated(number, self.kind, num_registers)

    def broadcast_like(self, vector, number):
        """Make a Vector with one number everywhere, as long as `vector`; a Vector stays as is."""
        if isinstance(number, Vector):
            return number
        return self._repeated(number, vector.registers[0].type, len(vector.registers))

    def double_vector(self, number):
        """Make a Vector of one single double."""
        return self._repeated(number, ir.VectorType(DOUBLE, 1), 1)

    def _repeated(self, number, kind, num_registers):
        """Make a Vector with one number everywhere, of registers of LLVM's vector type `kind`."""
        if isinstance(number, int | float):
            register = ir.Constant(kind, [float(number)] * kind.count)
        else:
            register = self.broadcast(self.cast(number, kind.element), kind.count)
        return Vector(self, [register] * num_registers)

    def variable(self, vector):
        """Make a Variable that begins as a Vector."""
        return Variable(self, vector)

    def double(self, number):
        """Make a constant double."""
        return ir.Constant(DOUBLE, number)

    def broadcast(self, scalar, width):
        """Make LLVM's vector of `width` numbers that all are `scalar`."""
        kind = ir.VectorType(scalar.type, width)
        undefined = ir.Constant(kind, ir.Undefined)
        with_first = self.builder.insert_element(undefined, scalar, ir.Constant(INT32, 0))
        # A shuffle that reads entry 0 for every place.
        all_first = ir.Constant(ir.VectorType(INT32, width), [0] * width)
        return self.builder.shuffle_vector(with_first, with_first, all_first)

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
            odd_one = terms[2 * len(sums) :]
            terms = sums + odd_one
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
        # The counter rises in any case; its mirror image between the ends falls.
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
        emit = self.builder.select
        if isinstance(then, Index):
            return Index(self, emit(condition, then.value, otherwise.value))
        if isinstance(then, Vector):
            pairs = zip(then.registers, otherwise.registers, strict=True)
            return Vector(self, [emit(condition, yes, no) for yes, no in pairs])
        return emit(condition, then, otherwise)


def lane_numbers(width: int) -> Any:
    """Make LLVM's vector 0, 1, 2 and so on: each number is its own place."""
    return ir.Constant(ir.VectorType(INT64, width), list(range(width)))
