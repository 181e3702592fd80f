"""Kernels that are written for constants, :class:`Program`, and memory for their results."""

import math
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import NativeValue, intrinsic, models, register_model, unbox
from numpy.typing import DTypeLike, NDArray

from hogeq.kernels.cache import cached
from hogeq.kernels.staged import DOUBLE, LINE, SINGLE, Code
from hogeq.kernels.vectors import operand


def zeros(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Make zeros that begin a line of the cache: vectors that straddle two take twice as long."""
    kind = np.dtype(dtype)
    size = math.prod(shape)
    padded = np.zeros(size + LINE // kind.itemsize, kind)  # with a line more, to begin at any
    first = -padded.ctypes.data % LINE // kind.itemsize
    return padded[first : first + size].reshape(shape)


class ProgramType(types.Type):
    """numba's type of a program: a kernel is compiled for each, and cached under its name.

    `names` are those of the operands, in order; `width` numbers fill a register; see Program.
    """

    def __init__(
        self,
        write: Callable[..., None],
        constants: Any,
        width: int,
        single: bool,
        names: tuple[str, ...],
    ) -> None:
        self.write, self.constants, self.names = write, constants, names
        self.width, self.single = width, single
        identity = write.__module__, write.__qualname__, constants, width, single, names
        digest = sha256(repr(identity).encode()).hexdigest()[:16]
        super().__init__(name=f"Program({write.__name__}, {digest})")


register_model(ProgramType)(models.OpaqueModel)


class Program:
    """A kernel, compiled when it first runs, for constants that are written into it.

    ``write(code, constants, args)`` writes it (:mod:`hogeq.kernels.staged`): `args` has the
    operands by name, Indices, doubles of LLVM or, of arrays, Data. It must be a function of a
    module in this package, and `constants` a value whose `repr` says all, such as nested named
    tuples: both name the kernel in the cache.

    Vectors are as wide as fills 64 bytes in the precision `dtype`, or `width` numbers.
    """

    def __init__(
        self,
        write: Callable[..., None],
        constants: Any,
        dtype: DTypeLike = np.float64,
        width: int = 0,
    ) -> None:
        single = np.dtype(dtype) == np.float32
        width = width or LINE // np.dtype(dtype).itemsize
        self.kind = partial(ProgramType, write, constants, width, single)
        self._numba_type_: ProgramType | None = None

    def __call__(self, **operands: Any) -> None:
        """Run it on numbers and contiguous arrays, read as flat: always the same, in one order."""
        if self._numba_type_ is None:
            self._numba_type_ = self.kind(tuple(operands))
        run(self, tuple(operands.values()))


@unbox(ProgramType)
def _unbox(kind: ProgramType, value: Any, conversion: Any) -> NativeValue:
    return NativeValue(conversion.context.get_dummy_value())


@intrinsic
def _write_inline(typing, program, operands):
    """Write a program's code in place of a call; `operands` are a tuple of numbers and arrays."""

    def generate(context, builder, signature, arguments):
        """Emit the program where numba calls it, with operands made of LLVM's `arguments`."""
        kind, operand_kinds = signature.args
        # The kernel's own vectors lie on whole lines of the cache.
        builder.function.attributes.alignstack = LINE
        builder.function.attributes.add("nounwind")
        code = Code(builder, SINGLE if kind.single else DOUBLE, kind.width)
        values = cgutils.unpack_tuple(builder, arguments[1])
        args = SimpleNamespace()
        for name, operand_kind, value in zip(kind.names, operand_kinds.types, values, strict=True):
            setattr(args, name, operand(code, context, operand_kind, value))
        kind.write(code, kind.constants, args)
        return context.get_dummy_value()

    return types.void(program, operands), generate


@cached
@njit(error_model="numpy", nogil=True, _nrt=False)
def run(program, operands):
    """Run a program."""
    _write_inline(program, operands)
