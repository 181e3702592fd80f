"""Tables as kernels are handed them: one pointer, to where every field lies.

A tuple of eighty arrays would be as many times seven arguments, which numba and LLVM carry through
every function and every copy of the name: that took most of the time of compiling. Instead a kernel
gets the address of a list of words, the numbers and for every array its address and its shape. The
fields that it uses are read from there once, on entry, and are from then on what arguments are.
"""

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    unbox,
)
from numba.np.numpy_support import from_dtype

from hogeq.kernels.diagonals import Diagonals
from hogeq.kernels.tables import Tables

_WORD = ir.IntType(64)


class ViewType(types.Type):
    """Type of a view: the place of every field among the words, and its type."""

    def __init__(self, name: str, fields: dict[str, tuple[int, types.Type]], words: int) -> None:
        self.fields = fields
        self.words = words
        super().__init__(name=name)


@register_model(ViewType)
class _ViewModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: ViewType) -> None:
        super().__init__(manager, kind, ir.ArrayType(_WORD, kind.words).as_pointer())


class TablesView:
    """What is handed to a kernel for tables; it keeps them alive."""

    def __init__(self, tables: Tables | Diagonals) -> None:
        self.tables = tables
        words: list[int] = []
        self._kept: list[Any] = []
        fields = self._lay_out(tables, words)
        matches = len(tables.match) if isinstance(tables, Diagonals) else 1
        name = f"{type(tables).__name__}({len(tables.lane)}, {matches})"
        self._numba_type_ = _typed(name, fields, len(words))
        self._words = np.array(words, np.int64)
        self.address = self._words.ctypes.data

    def _lay_out(self, part: Any, words: list[int]) -> dict[str, Any]:
        """Append the words of a named tuple; give the place and the type of each field."""
        found: dict[str, Any] = {}
        for name, value in part._asdict().items():
            place = len(words)
            if isinstance(value, np.ndarray):
                array = np.ascontiguousarray(value)
                self._kept.append(array)
                words.extend([array.ctypes.data, *array.shape])
                found[name] = place, types.Array(from_dtype(array.dtype), array.ndim, "C")
            elif hasattr(value, "_asdict"):
                found[name] = place, self._lay_out(value, words)
            elif isinstance(value, tuple):
                found[name] = place, types.UniTuple(types.int64, len(value))
            else:
                words.append(int(value))
                found[name] = place, types.boolean if isinstance(value, bool) else types.int64
        return found


def _typed(name: str, fields: dict[str, Any], words: int) -> ViewType:
    typed = {
        field: (place, _typed(f"{name}.{field}", kind, words) if isinstance(kind, dict) else kind)
        for field, (place, kind) in fields.items()
    }
    return ViewType(name, typed, words)


@unbox(ViewType)
def _unbox(kind: ViewType, value: Any, handed: Any) -> NativeValue:
    address = handed.pyapi.object_getattr_string(value, "address")
    number = handed.pyapi.long_as_longlong(address)
    handed.pyapi.decref(address)
    pointer = handed.builder.inttoptr(number, handed.context.get_value_type(kind))
    return NativeValue(
        pointer, is_error=cgutils.is_not_null(handed.builder, handed.pyapi.err_occurred())
    )


@infer_getattr
class _Fields(AttributeTemplate):
    key = ViewType

    def generic_resolve(self, kind: ViewType, name: str) -> Any:
        return kind.fields[name][1] if name in kind.fields else None


_read: WeakKeyDictionary[Any, dict[tuple[int, str], Any]] = WeakKeyDictionary()


@lower_getattr_generic(ViewType)
def _field(context: Any, builder: ir.IRBuilder, kind: ViewType, value: Any, name: str) -> Any:
    place, field = kind.fields[name]
    if isinstance(field, ViewType):
        return value
    if isinstance(field, types.UniTuple):
        return context.get_constant_null(field)
    # The argument itself: `value` may be a copy that is not there yet on entry.
    (words,) = (given for given in builder.function.args if given.type == value.type)
    read = _read.setdefault(builder.function, {})
    if (place, name) not in read:
        with builder.goto_entry_block():
            read[place, name] = _read_field(context, builder, field, words, place)
    return read[place, name]


def _read_field(context: Any, builder: ir.IRBuilder, field: Any, words: Any, place: int) -> Any:
    def word(x: int, kind: Any = _WORD) -> Any:
        at = [ir.Constant(_WORD, 0), ir.Constant(_WORD, place + x)]
        where = builder.gep(words, at, inbounds=True)
        return builder.load(builder.bitcast(where, kind.as_pointer()))

    if isinstance(field, types.Boolean):
        return builder.icmp_signed("!=", word(0), ir.Constant(_WORD, 0))
    if isinstance(field, types.Integer):
        return word(0)
    array = context.make_array(field)(context, builder)
    shape = [word(1 + axis) for axis in range(field.ndim)]
    strides = [context.get_constant(types.intp, field.dtype.bitwidth // 8)]
    for size in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], size))
    items = shape[0]
    for size in shape[1:]:
        items = builder.mul(items, size)
    array.data = word(0, array.data.type)
    array.nitems = items
    array.itemsize = context.get_constant(types.intp, field.dtype.bitwidth // 8)
    array.shape = cgutils.pack_array(builder, shape)
    array.strides = cgutils.pack_array(builder, strides)
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    return array._getvalue()  # noqa: SLF001 - numba's way
