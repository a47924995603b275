"""NumPy definitions of what NumPy has no function for, or another rule.

They are written to be obvious, not fast: eager calls, constant folding and the interpreter run them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from xjit.types import BOOL, FLOAT32, FLOAT64, NARROW_FLOATS, DType, dtype_class, is_signed

Array: TypeAlias = "np.ndarray[Any, Any]"


def widened(function: Callable[..., Any]) -> Callable[..., Array]:
    """Runs a function of narrow floats in float32 and rounds its result once; other types as they are.

    >>> import ml_dtypes
    >>> widened(np.exp)(np.array([1], ml_dtypes.bfloat16)).dtype.name
    'bfloat16'
    """

    def reference(*arrays: Array) -> Array:
        dtype = arrays[0].dtype
        if dtype not in NARROW_FLOATS:
            return np.asarray(function(*arrays))
        result = np.asarray(function(*(array.astype(FLOAT32) for array in arrays)))
        return result.astype(dtype) if result.dtype == FLOAT32 else result

    return reference


def by_class(**functions: Callable[..., Any]) -> Callable[..., Array]:
    """One NumPy function for each class of element types: ``by_class(P=np.logical_or, IFC=np.add)``."""
    rows = {letter: function for letters, function in functions.items() for letter in letters}

    def reference(*arrays: Array) -> Array:
        return np.asarray(rows[dtype_class(arrays[0].dtype)](*arrays))

    return widened(reference)


def quotient(x: Array, y: Array) -> Array:
    """Integer quotient toward zero; x/0 has all bits set, the least number over -1 wraps."""
    dtype = np.result_type(x)
    ones = dtype.type(-1) if is_signed(dtype) else dtype.type(np.iinfo(dtype).max)
    safe = np.where(y == 0, dtype.type(1), y)
    floor = np.floor_divide(x, safe)
    inexact = (x - floor * safe != 0) & ((x < 0) != (safe < 0))
    return np.asarray(np.where(y == 0, ones, floor + inexact.astype(dtype)))


def remainder(x: Array, y: Array) -> Array:
    """Integer remainder with the sign of the dividend; x rem 0 is x."""
    safe = np.where(y == 0, np.result_type(x).type(1), y)
    return np.where(y == 0, x, np.fmod(x, safe))


def integer_power(x: Array, y: Array) -> Array:
    """Repeated squaring, wrapping; negative exponents give 1 for base 1, the sign for base -1, else 0."""
    dtype, result, rest, square = x.dtype, np.ones_like(x), np.where(y < 0, 0, y), x
    while np.any(rest):
        result = np.where(rest % 2 == 1, result * square, result)
        rest, square = rest // 2, square * square
    turned = np.where(x == 1, 1, np.where((x.astype(np.float64) == -1), np.where(y % 2 == 0, 1, x), 0))
    return np.where(y < 0, turned.astype(dtype), result)


def maximum(x: Array, y: Array) -> Array:
    """NaN if either is NaN; the sum of two zeros is the larger one."""
    return np.where((x == 0) & (y == 0), x + y, np.maximum(x, y))


def minimum(x: Array, y: Array) -> Array:
    """NaN if either is NaN; -0 is below +0."""
    return np.where((x == 0) & (y == 0), -(-x + -y), np.minimum(x, y))


def sign(x: Array) -> Array:
    """-1, 1, or x itself where it is a zero or NaN."""
    return np.where(x > 0, x.dtype.type(1), np.where(x < 0, x.dtype.type(-1), x))


def complex_sign(z: Array) -> Array:
    """z/|z| with both scaled by a power of two, so that nothing overflows; 0 for 0."""
    exponent = np.frexp(np.maximum(np.abs(z.real), np.abs(z.imag)))[1]
    real, imag = np.ldexp(z.real, -exponent), np.ldexp(z.imag, -exponent)
    modulus = np.hypot(real, imag)
    broken = np.isnan(z.real) | np.isnan(z.imag)
    parts = (np.where(z == 0, 0, np.where(broken, np.nan, part / modulus)) for part in (real, imag))
    return paired(*parts).astype(z.dtype)


def paired(real: Array, imag: Array) -> Array:
    """Complex numbers from their parts, signs of zero and infinities kept."""
    real, imag = np.broadcast_arrays(real, imag)
    result = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    result.real, result.imag = real, imag
    return result


def reciprocal_root(x: Array) -> Array:
    """1/sqrt(x); the real part of a complex one is not negative, the imaginary part has the sign that x has not."""
    result = np.asarray(1 / np.sqrt(x))
    if x.dtype.kind != "c":
        return result
    vanished = np.isinf(x.real) | np.isinf(x.imag)
    parts = (np.where(vanished, 0, part) for part in (result.real, result.imag))
    real, imag = (part.astype(result.real.dtype) for part in parts)
    return paired(np.abs(real), np.copysign(imag, -x.imag))


def logistic(x: Array) -> Array:
    """1/(1+exp(-x)) through the exponential that does not overflow; that of conjugates are conjugates."""
    if x.dtype.kind == "c":
        result = _logistic(paired(x.real, np.abs(x.imag)))
        return paired(result.real, np.copysign(1, x.imag) * result.imag).astype(x.dtype)
    return _logistic(x)


def _logistic(x: Array) -> Array:
    decayed = np.exp(np.where(x.real > 0, -x, x))
    return np.where(x.real > 0, 1 / (1 + decayed), decayed / (1 + decayed)).astype(x.dtype)


def round_away(x: Array) -> Array:
    """Nearest integer, ties away from zero; the sign of zero is kept."""
    whole = np.trunc(x)
    far = np.abs(x - whole) >= 0.5
    return np.copysign(np.where(far, whole + np.copysign(x.dtype.type(1), x), whole), x)


def population_count(x: Array) -> Array:
    """One bits of the pattern; NumPy counts those of the absolute value."""
    return np.asarray(np.bitwise_count(x.view(f"u{x.dtype.itemsize}")).astype(x.dtype))


def convert(x: Array, dtype: DType) -> Array:
    """The conversion table of convert_element_type."""
    if x.dtype == dtype:
        return x
    if dtype_class(x.dtype) == "C" and dtype_class(dtype) != "C":
        x = x.real
    if x.dtype in NARROW_FLOATS:
        x = x.astype(FLOAT32)
    if dtype == BOOL:
        return np.asarray(x != 0)
    if dtype_class(dtype) == "I" and dtype_class(x.dtype) == "F":
        return saturated(x, dtype)
    if dtype in NARROW_FLOATS:
        return rounded_to_odd(x).astype(dtype)
    return np.asarray(x.astype(dtype))


def saturated(x: Array, dtype: DType) -> Array:
    """Floats truncated to integers, held within their range; NaN gives 0."""
    info = np.iinfo(dtype)
    high, low = x >= float(info.max), x <= float(info.min)
    inside = np.where(high | low | np.isnan(x), x.dtype.type(0), x).astype(dtype)
    return np.where(high, dtype.type(info.max), np.where(low, dtype.type(info.min), inside))


def rounded_to_odd(x: Array) -> Array:
    """As float32, inexact results with an odd last bit: rounding once more, to a narrow type, is then right."""
    if dtype_class(x.dtype) == "I":
        x = _sticky(x)
    if x.dtype != FLOAT64:
        return x.astype(FLOAT32)
    near = x.astype(FLOAT32)
    back, pattern = near.astype(FLOAT64), near.view(np.uint32)
    move = (back != x) & ~np.isnan(x) & (pattern % 2 == 0)
    step = np.where(np.abs(back) > np.abs(x), np.uint32(0xFFFFFFFF), np.uint32(1))
    return np.asarray(np.where(move, pattern + step, pattern)).astype(np.uint32).view(FLOAT32)


def _sticky(x: Array) -> Array:
    """Integers as float64; of those over 2**40 the low 16 bits only say whether any of them is set."""
    wide = x.astype(np.int64 if is_signed(x.dtype) else np.uint64)
    magnitude = np.where(wide < 0, 0 - wide.astype(np.uint64), wide.astype(np.uint64))
    high, rest = magnitude >> np.uint64(16), (magnitude & np.uint64(0xFFFF)) != 0
    large = (high | rest.astype(np.uint64)).astype(FLOAT64) * 65536.0
    value = np.where(high >> np.uint64(24) != 0, large, magnitude.astype(FLOAT64))
    return np.where(wide < 0, -value, value)


def total_order_key(x: Array) -> Array:
    """Signed integers in the order of the values, as the total order wants it."""
    if dtype_class(x.dtype) != "F":
        return x
    pattern = x.view(f"i{x.dtype.itemsize}")
    key = np.where(pattern >= 0, pattern, pattern ^ np.iinfo(pattern.dtype).max)
    if "fnuz" in x.dtype.name:
        return np.where(pattern == -128, np.int16(128), key.astype(np.int16))
    return key


def imaginary(x: Array) -> Array:
    """The imaginary part; zero for real numbers."""
    return x.imag.copy() if x.dtype.kind == "c" else np.zeros_like(x)
