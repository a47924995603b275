"""Operand values for cases, and arithmetic to expect results by that shares nothing with the implementation.

Integers are Python's, wrapped by hand; narrow floats are rounded by looking the number up among all of the type.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tests.helpers.harness import array
from xjit.types import DTYPES

SIGNED = ("s8", "s16", "s32", "s64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTEGERS = (*SIGNED, *UNSIGNED)
EIGHT_BIT = ("f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e4m3fnuz", "f8e5m2fnuz")
NARROW = (*EIGHT_BIT, "f16", "bf16")
WIDE = ("f32", "f64")
FLOATS = (*NARROW, *WIDE)
COMPLEX = ("c64", "c128")
ALL = ("pred", *INTEGERS, *FLOATS, *COMPLEX)

inf, nan = float("inf"), float("nan")


def width(dtype: str) -> int:
    """Bits of one element."""
    return DTYPES[dtype].itemsize * 8


def wrapped(value: int, dtype: str) -> int:
    """A Python integer modulo 2**w, in the range of the type."""
    value &= (1 << width(dtype)) - 1
    top = 1 << (width(dtype) - 1)
    return value - 2 * top if dtype[0] == "s" and value >= top else value


def integer_edges(dtype: str) -> list[int]:
    """Numbers near zero and near the ends of the range."""
    info = np.iinfo(DTYPES[dtype])
    values = {info.min, info.min + 1, -100, -7, -3, -2, -1, 0, 1, 2, 3, 7, 100, info.max - 1, info.max}
    return sorted(value for value in values if info.min <= value <= info.max)


def integers(dtype: str, values: Sequence[int]) -> np.ndarray[Any, Any]:
    """An array of Python integers."""
    return np.array(values, dtype=DTYPES[dtype])


def pairs(values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Every value with every other."""
    return [x for x in values for _ in values], [y for _ in values for y in values]


def truncated(x: int, y: int) -> int:
    """The quotient toward zero."""
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def float_edges(dtype: str) -> np.ndarray[Any, Any]:
    """Zeros, ones, ties, subnormals, the ends of the range, infinities and NaN."""
    info = ml_dtypes.finfo(DTYPES[dtype])
    small, least, most = (float(v) for v in (info.smallest_subnormal, info.smallest_normal, info.max))
    positive = [0.0, small, 3 * small, least, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 5.5, 7.0, most / 2, most, inf]
    return array(dtype, [*positive, *(-value for value in positive), nan])


def every(dtype: str) -> np.ndarray[Any, Any]:
    """Every number of a type of at most 16 bits."""
    return np.arange(1 << width(dtype), dtype=f"u{width(dtype) // 8}").view(DTYPES[dtype])


def many(dtype: str) -> np.ndarray[Any, Any]:
    """Every number of an 8-bit type; of longer ones the edges and, with 16 bits, a sample that is odd and even."""
    if width(dtype) == 8:
        return every(dtype)
    return np.concatenate([float_edges(dtype), every(dtype)[::37]]) if width(dtype) == 16 else float_edges(dtype)


def float_pairs(values: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Every float with every other, flat."""
    first, second = np.meshgrid(values.view(f"u{values.dtype.itemsize}"), values.view(f"u{values.dtype.itemsize}"))
    return first.ravel().view(values.dtype), second.ravel().view(values.dtype)


@functools.cache
def _table(dtype: str) -> tuple[Any, Any, float, float]:
    """Positive numbers in order, their patterns, the smallest number that overflows, and what it becomes."""
    patterns = np.arange(1 << (width(dtype) - 1), dtype=f"u{width(dtype) // 8}")
    values = patterns.view(DTYPES[dtype]).astype(np.float64)
    count = int(np.sum(np.isfinite(values)))
    finite = values[:count]
    limit = finite[-1] + (finite[-1] - finite[-2]) / 2
    has_infinity = dtype in ("f16", "bf16", "f8e5m2")
    return finite, patterns[:count], limit, inf if has_infinity else nan


def rounded(dtype: str, values: Any) -> np.ndarray[Any, Any]:
    """The nearest number of the type, ties to the even pattern; F32 and F64 by NumPy, narrow ones by search."""
    wide = np.asarray(values, np.float64)
    if dtype in WIDE:
        return wide.astype(DTYPES[dtype])
    finite, patterns, limit, overflow = _table(dtype)
    size = np.abs(np.where(np.isnan(wide), 0, wide))
    above = np.clip(np.searchsorted(finite, size), 1, len(finite) - 1)
    middle = (finite[above - 1] + finite[above]) / 2
    up = (size > middle) | ((size == middle) & (patterns[above] % 2 == 0))
    result = np.where(up, finite[above], finite[above - 1])
    last_is_even = patterns[-1] % 2 == 0
    result = np.where((size > limit) | ((size == limit) & (not last_is_even)), overflow, result)
    signed = np.copysign(np.where(np.isnan(wide), nan, result), wide)
    return signed.astype(DTYPES[dtype])


def through_single(dtype: str, function: Callable[..., Any], *operands: Any) -> np.ndarray[Any, Any]:
    """A formula on floats as the specification wants it: narrow types in float32, rounded once at the end."""
    with np.errstate(all="ignore"):
        if dtype == "f64":
            return np.asarray(function(*(x.astype(np.longdouble) for x in operands))).astype(np.float64)
        exact = function(*(x.astype(np.float64) for x in operands))
        return rounded(dtype, np.asarray(exact).astype(np.float32))


def exactly(dtype: str, function: Callable[..., Any], *operands: Any) -> np.ndarray[Any, Any]:
    """The same for formulas that float64 computes exactly, or in F64 itself."""
    with np.errstate(all="ignore"):
        exact = np.asarray(function(*(x.astype(np.float64) for x in operands)))
        return exact if dtype == "f64" else rounded(dtype, exact.astype(np.float32))
