"""Element types and array types: (dtype, dims, memory order), with dynamic extents as dims.

>>> str(array_type("f32", (2, 3)))
'f32[2,3]'
>>> str(array_type("f32", (2, 3), order=(1, 0)))
'f32[2,3]{1,0}'
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np

from xjit.dataclass import dataclass
from xjit.errors import DTypeError
from xjit.lazy import lazy

DType: TypeAlias = "np.dtype[Any]"

BOOL: DType = np.dtype(np.bool_)
INT8: DType = np.dtype(np.int8)
INT16: DType = np.dtype(np.int16)
INT32: DType = np.dtype(np.int32)
INT64: DType = np.dtype(np.int64)
FLOAT32: DType = np.dtype(np.float32)
FLOAT64: DType = np.dtype(np.float64)
COMPLEX64: DType = np.dtype(np.complex64)
COMPLEX128: DType = np.dtype(np.complex128)
# An object of Python's, which only steps in Python read: no element type of arrays.
OBJECT: DType = np.dtype(np.object_)

# XLA's names; the class letters P, I, F, C are those of the operation semantics.
DTYPES: dict[str, DType] = {
    "pred": BOOL,
    "s8": np.dtype(np.int8),
    "s16": INT16,
    "s32": INT32,
    "s64": INT64,
    "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "f8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8e4m3b11fnuz": np.dtype(ml_dtypes.float8_e4m3b11fnuz),
    "f8e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8e5m2fnuz": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": FLOAT32,
    "f64": FLOAT64,
    "c64": COMPLEX64,
    "c128": COMPLEX128,
}
NAMES: dict[DType, str] = {dtype: name for name, dtype in DTYPES.items()}
NARROW_FLOATS = frozenset(dtype for name, dtype in DTYPES.items() if name in ("f16", "bf16") or name[:2] == "f8")

_CLASSES = {"p": "P", "s": "I", "u": "I", "f": "F", "b": "F", "c": "C"}


def dtype_class(dtype: DType) -> str:
    """The class letter of an element type: P (bool), I (integer), F (float), C (complex) or O (object).

    >>> dtype_class(np.dtype(np.int8))
    'I'
    """
    return "O" if dtype is OBJECT else _CLASSES[NAMES[dtype][0]]


def in_classes(dtype: DType, classes: str) -> bool:
    """Return whether an element type is one of these: class letters and XLA's names, divided by spaces where need be.

    >>> in_classes(np.dtype(np.float64), "IF"), in_classes(np.dtype(np.float64), "C f32")
    (True, False)
    """
    name = NAMES[dtype]
    return any(word == name or (word not in DTYPES and dtype_class(dtype) in word) for word in classes.split())


def is_supported(dtype: DType) -> bool:
    """Return whether arrays of this element type can enter a graph."""
    return dtype in NAMES


def is_signed(dtype: DType) -> bool:
    """Return whether the type is a signed integer.

    >>> is_signed(np.dtype(np.uint8))
    False
    """
    return NAMES[dtype][0] == "s"


def bits(dtype: DType) -> int:
    """The width of one element in bits."""
    return dtype.itemsize * 8


def real_dtype(dtype: DType) -> DType:
    """The type of a complex number's parts; any other type itself."""
    return {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}.get(dtype, dtype)


def as_dtype(value: Any, subject: str = "dtype") -> DType:
    """An XLA name in any case, a NumPy or ml_dtypes dtype, scalar type or its whole name, as the dtype object.

    Raises DTypeError for anything else, byte-swapped types among them, and for NumPy's short names: "u4" are 4 bytes
    there and 4 bits in XLA.
    """
    if isinstance(value, str) and value.lower() in DTYPES:
        return DTYPES[value.lower()]
    try:
        found: DType = np.dtype(value)  # type-checked below: NumPy accepts almost anything here
    except TypeError as error:
        raise DTypeError(f"{subject}: an element type is required; got {value!r}") from error
    if value is None or (isinstance(value, str) and value != found.name):
        raise DTypeError(f"{subject}: an element type is required; got {value!r}")
    if found not in NAMES:
        raise DTypeError(f"{subject}: this element type is not supported; got {found}")
    return found


@dataclass(frozen=True, slots=True)
class Extent:
    """A dynamic dimension: the scalar integer node that gives it at run time and, if known, its upper bound."""

    node: object
    bound: int | None = None

    def __str__(self) -> str:
        return "?" if self.bound is None else f"<={self.bound}"


Dim: TypeAlias = "int | Extent"


@dataclass(frozen=True)  # without slots, so that what is asked for often can be kept
class ArrayType:
    """Element type, dimensions, and memory order: the axes from the slowest to the fastest varying one.

    Axes that ``order`` leaves out have stride zero: the value is broadcast along them.
    """

    dtype: DType
    dims: tuple[Dim, ...]
    order: tuple[int, ...]

    @lazy
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.dims)

    @lazy
    def is_static(self) -> bool:
        """Return whether every dimension is known while tracing."""
        return all(isinstance(dim, int) for dim in self.dims)

    @lazy
    def shape(self) -> tuple[int, ...]:
        """The dimensions as integers; ValueError if one of them is dynamic."""
        for dim in self.dims:
            if not isinstance(dim, int):
                raise ValueError(f"{self} has a dynamic dimension")
        return cast("tuple[int, ...]", self.dims)

    @lazy
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The number of bytes of a packed array of this type."""
        return self.size * self.dtype.itemsize

    @lazy
    def strides(self) -> tuple[int, ...]:
        """The strides in bytes of a packed array in this memory order; zero where the value is broadcast."""
        result, step = [0] * self.rank, self.dtype.itemsize
        for axis in reversed(self.order):
            result[axis] = step
            step *= max(self.shape[axis], 1)
        return tuple(result)

    def with_dtype(self, dtype: DType) -> ArrayType:
        """The same dimensions and order with another element type."""
        return ArrayType(dtype, self.dims, self.order)

    def __str__(self) -> str:
        return self._text

    @lazy
    def _text(self) -> str:
        dims = ",".join(map(str, self.dims))
        order = "" if self.order == c_order(self.rank) else f"{{{','.join(map(str, self.order))}}}"
        return f"{NAMES.get(self.dtype, self.dtype.name)}[{dims}]{order}"


@dataclass(frozen=True, slots=True)
class TupleType:
    """Several values that one operation yields together."""

    elements: tuple[ArrayType, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.elements))})"


Type: TypeAlias = "ArrayType | TupleType"


def in_words(type: Type) -> str:
    """The type in NumPy's words, a value without axes by its element type.

    >>> in_words(array_type(bool, (2, 3))), in_words(array_type(float, ()))
    ('bool[2,3]', 'float64')
    """
    if isinstance(type, TupleType):
        return ", ".join(map(in_words, type.elements))
    dims = ",".join(map(str, type.dims))
    return f"{type.dtype.name}[{dims}]" if dims else str(type.dtype.name)


def c_order(rank: int) -> tuple[int, ...]:
    """Row-major: the last axis varies fastest."""
    return tuple(range(rank))


def array_type(dtype: object, dims: tuple[Dim, ...], order: tuple[int, ...] | None = None) -> ArrayType:
    """An ArrayType from an element type in any spelling; row-major unless an order is given."""
    return ArrayType(as_dtype(dtype), tuple(dims), c_order(len(dims)) if order is None else order)


def scalar_type(dtype: DType) -> ArrayType:
    """The type of a rank-0 value."""
    return ArrayType(dtype, (), ())


def type_of(array: np.ndarray[Any, Any]) -> ArrayType:
    """The type of an array; the order ranks axes by the size of their strides, as NumPy's K order does."""
    return ArrayType(array.dtype, array.shape, order_of(array.shape, array.strides))


def order_of(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """Axes from the slowest to the fastest varying; axes of one element keep their C position, broadcast ones go.

    Without elements nothing is broadcast, whatever the strides are.
    """
    if not shape:
        return ()
    order = combined_order(shape, (strides,))
    return tuple(axis for axis in order if strides[axis] != 0 or shape[axis] == 1 or 0 in shape)


def combined_order(shape: tuple[int, ...], strides: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """The memory order that an elementwise result gets from operands with these (broadcast) strides.

    NumPy's K rule: an insertion sort of the axes from the fastest up; two axes are swapped only when no operand
    objects, and strides of zero have no opinion.
    """
    if len(shape) < 2:
        return tuple(range(len(shape)))
    return _insertion_order(shape, tuple(tuple(abs(s) for s in one) for one in strides))


def _insertion_order(shape: tuple[int, ...], strides: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    order = list(reversed(range(len(shape))))  # from the fastest to the slowest
    for start in range(1, len(order)):
        axis, place = order[start], start
        for position in range(start - 1, -1, -1):
            verdict = _compare(axis, order[position], shape, strides)
            if verdict is None:
                continue
            if not verdict:
                break
            place = position
        order.insert(place, order.pop(start))
    return tuple(reversed(order))


def _compare(axis: int, other: int, shape: tuple[int, ...], strides: tuple[tuple[int, ...], ...]) -> bool | None:
    """True if axis should come before (be faster than) other, None if no operand has an opinion."""
    verdict: bool | None = None
    for one in strides:
        if one[axis] == 0 or one[other] == 0 or shape[axis] == 1 or shape[other] == 1:
            continue
        if one[axis] >= one[other]:
            return False
        verdict = True
    return verdict


_WRITABLE = 0x0400  # NPY_ARRAY_WRITEABLE


def is_writable(array: np.ndarray[Any, Any]) -> bool:
    """Return whether an array may be written to; the attribute ``flags.writeable`` warns about results of broadcasts.

    >>> is_writable(np.zeros(3)), is_writable(np.broadcast_to(1.0, 3))
    (True, False)
    """
    return bool(array.flags.num & _WRITABLE)


class Box:
    """An object on its way between steps: NumPy takes no array of it for elements of the array around it."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def item(self) -> Any:
        """The object itself."""
        return self.value


_NUMBERS = (np.ndarray, np.generic, int, float, complex)


def as_array(value: Any) -> np.ndarray[Any, Any]:
    """A number as an array of rank 0, an object in one of objects.

    >>> as_array(2.5), as_array([2.5])[()].item()
    (array(2.5), [2.5])
    """
    if isinstance(value, _NUMBERS):
        return np.asarray(value)
    made = np.empty((), object)
    made[()] = Box(value)
    return made
