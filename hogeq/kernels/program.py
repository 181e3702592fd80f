"""Kernels that are written for constants, :class:`Program`, and memory for their results."""

import math
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import NativeValue, intrinsic, models, register_model, unbox
from numpy.typing import DTypeLike, NDArray

from hogeq.kernels.cache import cached
from hogeq.kernels.staged import DOUBLE, LINE, SINGLE, Code, Index
from hogeq.kernels.vectors import data_of


def zeros(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Zeros that begin a cache line: a vector that straddles two takes twice as long."""
    kind = np.dtype(dtype)
    size = math.prod(shape)
    spare = np.zeros(size + LINE // kind.itemsize, kind)
    first = -spare.ctypes.data % LINE // kind.itemsize
    return spare[first : first + size].reshape(shape)


class ProgramType(types.Type):
    """Type of a program: a kernel is compiled for each, and cached under its name."""

    def __init__(
        self, write: Callable[..., None], constants: Any, width: int, single: bool
    ) -> None:
        self.write = write
        self.constants = constants
        self.width = width
        self.single = single
        written = write.__module__, write.__qualname__, constants, width, single
        digest = sha256(repr(written).encode()).hexdigest()[:16]
        super().__init__(name=f"Program({write.__name__}, {digest})")


register_model(ProgramType)(models.OpaqueModel)


class Program:
    """A kernel, compiled when it first runs.

    ``write(code, constants, *numbers, *arrays)`` writes it (:mod:`hogeq.kernels.staged`): numbers
    are Indices, or doubles of LLVM, and arrays are Data. It must be a function of a module in this
    package, and `constants` a value whose `repr` says all, such as nested named tuples: both name
    the kernel in the cache.

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
        self._numba_type_ = ProgramType(write, constants, width, single)

    def __call__(self, numbers: tuple[float, ...], arrays: tuple[NDArray[Any], ...]) -> None:
        """Run it on numbers and contiguous arrays, read as flat."""
        run(self, numbers, arrays)


@unbox(ProgramType)
def _unbox(kind: ProgramType, value: Any, handed: Any) -> NativeValue:
    return NativeValue(handed.context.get_dummy_value())


@intrinsic
def _written(typing, program, numbers, arrays):
    """Write a program in place of a call."""

    def generate(context, builder, signature, arguments):
        _, numbers, arrays = arguments
        kind, _, array_kinds = signature.args
        # The kernel's own vectors lie on whole lines of the cache.
        builder.function.attributes.alignstack = LINE
        builder.function.attributes.add("nounwind")
        code = Code(builder, SINGLE if kind.single else DOUBLE, kind.width)
        operands = [
            Index(code, number) if isinstance(number.type, ir.IntType) else number
            for number in cgutils.unpack_tuple(builder, numbers)
        ]
        for array_kind, array in zip(
            array_kinds.types, cgutils.unpack_tuple(builder, arrays), strict=True
        ):
            operands.append(data_of(code, context, array_kind, array))
        kind.write(code, kind.constants, *operands)
        return context.get_dummy_value()

    return types.void(program, numbers, arrays), generate


@cached
@njit(error_model="numpy", nogil=True, _nrt=False)
def run(program, numbers, arrays):
    """Run a program."""
    _written(program, numbers, arrays)
