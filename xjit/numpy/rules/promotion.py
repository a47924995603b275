"""NumPy's promotion: which element type an operation computes in (NEP 50).

The installed NumPy answers itself, through the type resolution of its ufuncs, so every answer is its own, extension
types included. Python scalars, and traced values that stand for one, are weak: they take the kind of the other
operand, not its width.

>>> result_type(np.zeros(2, np.float32), 2.0)
dtype('float32')
"""

from __future__ import annotations

import functools
import operator
from typing import Any, TypeAlias

import numpy as np

from xjit.errors import CaptureError, DTypeError
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.numpy.rules.bounds import in_bounds
from xjit.ops.define.core import Operand, dtype_of
from xjit.ops.elements.compare import ne
from xjit.ops.elements.convert import convert_element_type
from xjit.ops.elements.elementwise import real
from xjit.types import BOOL, FLOAT32, FLOAT64, NARROW_FLOATS, DType, dtype_class, is_supported

FLOAT16: DType = np.dtype(np.float16)

Weak: TypeAlias = "type[int] | type[float] | type[complex]"
Spec: TypeAlias = "DType | Weak | None"

_SAMPLES: dict[Any, Any] = {int: 0, float: 0.0, complex: 0j}


def weak_type(value: Any) -> Weak | None:
    """int, float or complex if the value promotes as a Python scalar of that type; None if it has its own type.

    A Python bool counts as NumPy's bool: it has a type of its own.

    >>> weak_type(1), weak_type(True), weak_type(np.float64(1))
    (<class 'int'>, None, None)
    """
    if isinstance(value, TracedValue):
        return None if value.weak is bool else value.weak
    if isinstance(value, np.generic | bool):
        return None
    return next((kind for kind in (int, float, complex) if isinstance(value, kind)), None)


def spec_of(value: Any) -> DType | Weak:
    """Return what promotion sees of a value: its element type, or the Python type of a weak scalar."""
    weak = weak_type(value)
    if weak is not None:
        return weak
    return BOOL if isinstance(value, bool) else dtype_of(value)


def supported(dtype: DType, name: str) -> DType:
    """The type itself; DTypeError if arrays of it cannot enter a graph."""
    if not is_supported(dtype):
        raise DTypeError(f"numpy.{name}: this element type is not supported; got {dtype}")
    return dtype


def is_inexact(dtype: DType) -> bool:
    """Return whether NumPy's functions take a type for floating: not those of other packages, which they make
    float64.

    >>> is_inexact(np.dtype(np.float16)), is_inexact(np.dtype(np.int8))
    (True, False)
    """
    return issubclass(dtype.type, np.inexact)


def requested(dtype: Any, name: str) -> DType | None:
    """The ``dtype`` argument of a NumPy function: any spelling that NumPy takes, None for none."""
    if dtype is None:
        return None
    try:
        found = np.dtype(dtype)
    except TypeError as error:
        raise DTypeError(
            f"numpy.{name}: dtype: {error}", fix="pass an element type of NumPy, such as np.float32"
        ) from error
    return supported(found, name)


def result_type(*values: Any, name: str = "result_type") -> DType:
    """The common element type of values, weak Python scalars included.

    Raises DTypeError where NumPy finds no common type.
    """
    samples = [_SAMPLES.get(spec, spec) for spec in map(spec_of, values)]
    try:
        found = np.result_type(*samples)
    except TypeError as error:
        raise DTypeError(f"numpy.{name}: {error}") from error
    return supported(found, name)


def loop_types(
    ufunc: np.ufunc, specs: tuple[Spec, ...], dtype: DType | None = None, casting: Any = "same_kind"
) -> tuple[DType, ...]:
    """Element types of the loop that NumPy runs for these operands: inputs, then outputs.

    Raises DTypeError for operands that the ufunc does not take, CaptureError for Python numbers under "equiv", by
    which NumPy's own answer on types ends the process.
    """
    if casting == "equiv" and any(isinstance(spec, type) for spec in specs):
        raise CaptureError(f"numpy.{ufunc.__name__}: casting='equiv' is not supported for Python numbers")
    return _loop_types(ufunc, specs, dtype, casting)


@functools.lru_cache(maxsize=4096)
def _loop_types(ufunc: np.ufunc, specs: tuple[Spec, ...], dtype: DType | None, casting: Any) -> tuple[DType, ...]:
    signature = (None,) * ufunc.nin + (dtype,) * ufunc.nout
    given = specs + (None,) * (ufunc.nin + ufunc.nout - len(specs))
    try:
        found = ufunc.resolve_dtypes(given, signature=signature, casting=casting)
    except TypeError as error:
        raise DTypeError(f"numpy.{ufunc.__name__}: {error}", fix=_not_taken(ufunc, specs)) from error
    return tuple(supported(one, ufunc.__name__) for one in found)


def _not_taken(ufunc: np.ufunc, specs: tuple[Spec, ...]) -> str:
    types = " and ".join(dict.fromkeys(spec.__name__ if isinstance(spec, type) else str(spec) for spec in specs))
    return f"{ufunc.__name__} does not take {types}: convert with astype"


def typed(value: Any, dtype: DType) -> Operand:
    """An operand of this element type.

    Python integers that do not fit an integer type raise OverflowError, as in NumPy.
    """
    if isinstance(value, TracedValue):
        return cast(value, dtype)
    if isinstance(value, np.ndarray | np.generic):
        return cast(np.asarray(value), dtype)
    with np.errstate(all="ignore"):
        return np.asarray(value, dtype)


def _of_integer(value: TracedValue, dtype: DType) -> Operand:
    """A Python integer of which only the run knows the value as an element type takes it."""
    letter = dtype_class(dtype)
    if letter == "I":
        return _converted(in_bounds(value, dtype), dtype)
    if letter in "FC":
        return _converted(_converted(value, FLOAT64), dtype)  # Python numbers reach floating types through float64
    return _converted(value, dtype)


def wrapped(value: Any, dtype: DType) -> Operand:
    """An operand of this element type, from an array of its own type first: Python integers out of range wrap.

    >>> wrapped(300, np.dtype(np.int8))
    array(44, dtype=int8)
    """
    if isinstance(value, TracedValue):
        return cast(as_array(value), dtype)
    array = np.asarray(value)
    if array.dtype != object:
        return cast(array, dtype)
    with np.errstate(all="ignore"):  # integers beyond 64 bits
        return array.astype(dtype)


def concrete_integer(value: Any, subject: str) -> int:
    """A Python int of a value that has to be known while tracing; TypeError as Python raises it otherwise."""
    try:
        return operator.index(value)
    except CaptureError:
        raise
    except TypeError as error:
        raise DTypeError(f"{subject}: an integer known while tracing is required; got {value!r}") from error


def as_array(value: TracedValue) -> TracedValue:
    """The value; for a number of Python's NumPy's scalar of it, which has an element type of its own."""
    trace = current()
    if value.weak is None or trace is None:
        return value
    found = trace.wrap(trace.adopt(value.node), trace)
    found.scalar = True
    return found


def cast(value: Operand, dtype: DType) -> Operand:
    """NumPy's ``astype`` by value: complex numbers lose their imaginary part, and are true if either part is.

    Traced Python integers that do not fit an integer type raise OverflowError, when the program runs.
    """
    if dtype_of(value) == dtype:
        return value
    if isinstance(value, TracedValue) and value.weak is int:
        return _of_integer(value, dtype)
    return _converted(value, dtype)


def _converted(value: Operand, dtype: DType) -> Operand:
    source = dtype_of(value)
    if source == dtype:
        return value
    if dtype == BOOL:
        return nonzero(value)
    if dtype in NARROW_FLOATS and dtype != FLOAT16:
        value = _in_single(value)
    result: Operand = convert_element_type(value, dtype)
    return result


def in_place(result: Operand, dtype: DType, name: str) -> Operand:
    """A result as ``x op= y`` stores it into an array of this type; DTypeError if it is of another kind."""
    if not np.can_cast(dtype_of(result), dtype, "same_kind"):
        raise DTypeError(f"numpy.{name}: a result of type {dtype_of(result)} cannot be stored in place as {dtype}")
    return cast(result, dtype)


def _in_single(value: Operand) -> Operand:
    """The narrow types that NumPy itself lacks are reached through float32, which rounds twice."""
    if dtype_class(dtype_of(value)) == "C":
        value = real(value)
    result: Operand = value if dtype_of(value) in NARROW_FLOATS else convert_element_type(value, FLOAT32)
    return result


def nonzero(value: Operand) -> Operand:
    """Which elements are true: those that differ from zero, NaN among them."""
    source = dtype_of(value)
    result: Operand = value if source == BOOL else ne(value, np.zeros((), source))
    return result


def stored(value: Any, dtype: DType) -> Operand:
    """A value as assignment into an array of this type converts it; OverflowError for a Python int out of range."""
    if isinstance(value, TracedValue | np.ndarray):
        return cast(value, dtype)
    if isinstance(value, int):
        return np.asarray(value, dtype)
    return cast(np.asarray(value), dtype)


def assigned(value: Any, dtype: DType, name: str) -> Operand:
    """As ``stored``, for a place of one element: there a Python number has to be of the kind that it becomes.

    Raises DTypeError for a complex number that would become a real one.
    """
    imaginary = isinstance(value, complex) and not isinstance(value, np.generic)
    if imaginary and dtype_class(dtype) in "IF":
        raise DTypeError(f"numpy.{name}: a real number is required for {dtype}; got {value!r}")
    return stored(value, dtype)
