"""NumPy's elementwise functions as compositions of records, where one record alone would not give NumPy's answer.

All functions here take operands of one shape, already in the element type of NumPy's loop.
"""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from xjit import ops
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import cast, nonzero
from xjit.numpy.rules.values import shape_of
from xjit.ops.define.core import Operand, dtype_of
from xjit.types import BOOL, FLOAT32, NARROW_FLOATS, DType, bits, dtype_class, is_signed

Value = Any

_SIGN_BITS: dict[int, DType] = {
    8: np.dtype(np.int8),
    16: np.dtype(np.int16),
    32: np.dtype(np.int32),
    64: np.dtype(np.int64),
}


def full_like(value: Operand, number: Any, dtype: DType | None = None) -> Value:
    """A number in every place of the operand's shape."""
    return broadcast_to_shape(np.asarray(number, dtype or dtype_of(value)), shape_of(value))


def letter(value: Operand) -> str:
    """The class letter of the operand's element type."""
    return dtype_class(dtype_of(value))


def both(x: Value, y: Value) -> Value:
    """Logical and of two PRED operands."""
    return ops.logical_and(x, y)


def either(x: Value, y: Value) -> Value:
    """Logical or of two PRED operands."""
    return ops.logical_or(x, y)


def positive(x: Value) -> Value:
    """The operand itself."""
    return x


def absolute(x: Value) -> Value:
    """The magnitude; booleans are their own."""
    return x if letter(x) == "P" else ops.abs(x)


def sign(x: Value) -> Value:
    """-1, 0 or 1; both zeros give +0, which the record keeps apart, and complex infinities their direction."""
    if letter(x) == "C":
        return _complex_sign(x)
    if letter(x) == "I" or dtype_of(x).name in ml_dtypes.__all__:
        return ops.sign(x)
    return ops.select(ops.eq(x, full_like(x, 0)), full_like(x, 0), ops.sign(x))


def _complex_sign(x: Value) -> Value:
    parts, signs = (ops.real(x), ops.imag(x)), ops.sign(x)
    infinite = [isinf(part) for part in parts]
    found = []
    for k, sign_part in enumerate((ops.real(signs), ops.imag(signs))):
        nan, zero = full_like(parts[k], np.nan), full_like(parts[k], 0)
        own = ops.select(infinite[1 - k], nan, ops.sign(parts[k]))
        found.append(ops.select(infinite[k], own, ops.select(infinite[1 - k], zero, sign_part)))
    return ops.complex(*found)


def reciprocal(x: Value) -> Value:
    """One divided by the operand; integers truncate."""
    one = full_like(x, 1)
    if letter(x) == "C":
        return _complex_reciprocal(x)
    if letter(x) == "F":
        return ops.div(one, x)
    at_zero = np.iinfo(dtype_of(x)).min if bits(dtype_of(x)) >= 32 else 0
    return ops.select(ops.eq(x, full_like(x, 0)), full_like(x, at_zero), ops.div(one, x))


def _complex_reciprocal(x: Value) -> Value:
    """Smith's division of one, which has no number for zero."""
    real, imag = ops.real(x), ops.imag(x)
    upright = ops.le(ops.abs(imag), ops.abs(real))
    large, small = ops.select(upright, real, imag), ops.select(upright, imag, real)
    ratio, one = ops.div(small, large), full_like(real, 1)
    divisor = ops.add(large, ops.mul(small, ratio))
    first, second = ops.select(upright, one, ratio), ops.select(upright, ratio, one)
    return ops.complex(ops.div(first, divisor), ops.div(ops.neg(second), divisor))


def logical_not(x: Value) -> Value:
    """Which elements are zero."""
    return ops.not_(nonzero(x))


def logical_and(x: Value, y: Value) -> Value:
    """Which elements are non-zero in both."""
    return both(nonzero(x), nonzero(y))


def logical_or(x: Value, y: Value) -> Value:
    """Which elements are non-zero in at least one."""
    return either(nonzero(x), nonzero(y))


def logical_xor(x: Value, y: Value) -> Value:
    """Which elements are non-zero in exactly one."""
    return ops.ne(nonzero(x), nonzero(y))


def whole(record: Any) -> Any:
    """A rounding function: integers and booleans are whole already."""

    def rounded(x: Value) -> Value:
        return x if letter(x) in "PI" else record(x)

    return rounded


def trunc(x: Value) -> Value:
    """Rounding toward zero; keeps the sign of zero."""
    if letter(x) in "PI":
        return x
    return ops.select(ops.lt(x, full_like(x, 0)), ops.ceil(x), ops.floor(x))


def modf(x: Value) -> tuple[Value, Value]:
    """The fraction, with the sign of the operand, and the whole number before it; an infinity has no fraction."""
    size = ops.abs(x)
    fraction = ops.select(isinf(x), full_like(x, 0), ops.sub(size, ops.floor(size)))
    return ops.select(signbit(x), ops.neg(fraction), fraction), trunc(x)


def rint(x: Value) -> Value:
    """The nearest whole number, ties to even; complex numbers part by part."""
    if letter(x) == "C":
        return ops.complex(rint(ops.real(x)), rint(ops.imag(x)))
    return ops.round_nearest_even(x)


def isnan(x: Value) -> Value:
    """Which elements are not a number: only those differ from themselves."""
    return full_like(x, False, BOOL) if letter(x) in "PI" else ops.ne(x, x)


def isfinite(x: Value) -> Value:
    """Which elements are neither infinite nor NaN."""
    if letter(x) == "C":
        return both(ops.is_finite(ops.real(x)), ops.is_finite(ops.imag(x)))
    return full_like(x, True, BOOL) if letter(x) in "PI" else ops.is_finite(x)


def isinf(x: Value) -> Value:
    """Which elements are infinite; a complex number is if one part is."""
    if letter(x) == "C":
        return either(isinf(ops.real(x)), isinf(ops.imag(x)))
    if letter(x) in "PI":
        return full_like(x, False, BOOL)
    return ops.not_(either(ops.is_finite(x), isnan(x)))


def signbit(x: Value) -> Value:
    """Which elements have their sign bit set, negative zeros and NaNs among them."""
    integer = _SIGN_BITS[bits(dtype_of(x))]
    return ops.lt(ops.bitcast_convert_type(x, integer), full_like(x, 0, integer))


def copysign(x: Value, y: Value) -> Value:
    """The magnitude of the first with the sign of the second."""
    integer = _SIGN_BITS[bits(dtype_of(x))]
    one, other = (ops.bitcast_convert_type(value, integer) for value in (x, y))
    lowest = full_like(one, np.iinfo(integer).min)
    moved = ops.or_(ops.and_(one, ops.not_(lowest)), ops.and_(other, lowest))
    result = ops.bitcast_convert_type(moved, dtype_of(x))
    # Types with a single NaN have no sign to spare for it.
    return ops.select(isnan(x), x, result) if dtype_of(x).name.endswith("fnuz") else result


def heaviside(x: Value, at_zero: Value) -> Value:
    """0 for negative and 1 for positive numbers, the second operand for zero, NaN for NaN."""
    step = ops.select(ops.lt(x, full_like(x, 0)), full_like(x, 0), full_like(x, 1))
    return ops.select(isnan(x), x, ops.select(ops.eq(x, full_like(x, 0)), at_zero, step))


def conjugate(x: Value) -> Value:
    """The complex conjugate; real numbers are their own."""
    return ops.conj(x) if letter(x) == "C" else x


def less(x: Value, y: Value) -> Value:
    """Order of numbers; complex ones go by real part, then by imaginary part."""
    return _lexicographic(x, y, ops.lt) if letter(x) == "C" else ops.lt(x, y)


def less_equal(x: Value, y: Value) -> Value:
    """As less, equality included."""
    return _lexicographic(x, y, ops.le) if letter(x) == "C" else ops.le(x, y)


def greater(x: Value, y: Value) -> Value:
    """As less, the other way round."""
    return less(y, x)


def greater_equal(x: Value, y: Value) -> Value:
    """As greater, equality included."""
    return less_equal(y, x)


def _lexicographic(x: Value, y: Value, compare: Any) -> Value:
    xr, xi, yr, yi = ops.real(x), ops.imag(x), ops.real(y), ops.imag(y)
    ordered = ops.not_(either(isnan(xi), isnan(yi)))
    return either(both(ops.lt(xr, yr), ordered), both(ops.eq(xr, yr), compare(xi, yi)))


def maximum(x: Value, y: Value) -> Value:
    """The larger; NaN if either is NaN."""
    if letter(x) == "C":
        return ops.select(either(isnan(x), greater_equal(x, y)), x, y)
    return ops.max(x, y)


def minimum(x: Value, y: Value) -> Value:
    """The smaller; NaN if either is NaN."""
    if letter(x) == "C":
        return ops.select(either(isnan(x), less_equal(x, y)), x, y)
    return ops.min(x, y)


def fmax(x: Value, y: Value) -> Value:
    """The larger; the other one where one is NaN."""
    if letter(x) in "PI":
        return ops.max(x, y)
    return ops.select(either(greater_equal(x, y), isnan(y)), x, y)


def fmin(x: Value, y: Value) -> Value:
    """The smaller; the other one where one is NaN."""
    if letter(x) in "PI":
        return ops.min(x, y)
    return ops.select(either(less_equal(x, y), isnan(y)), x, y)


def clip(x: Value, low: Value, high: Value) -> Value:
    """Between two bounds: the lower bound first, so that the upper one wins where they cross."""
    return minimum(maximum(x, low), high)


def in_single(function: Any) -> Any:
    """A function of floats narrower than 32 bits, computed in float32 and rounded once."""

    def rounded(*operands: Value) -> Value:
        dtype = dtype_of(operands[0])
        if dtype not in NARROW_FLOATS:
            return function(*operands)
        wide = (cast(operand, FLOAT32) for operand in operands)
        return cast(function(*wide), dtype)

    return rounded


def ratio(numerator: float, denominator: float) -> Any:
    """The product with a quotient of constants, formed in the operand's type as NumPy's loops do."""

    def scaled(x: Value) -> Value:
        dtype = dtype_of(x)
        if dtype.name in ml_dtypes.__all__:
            wide = cast(x, FLOAT32)
            return cast(ops.mul(wide, full_like(wide, numerator / denominator)), dtype)
        wide = cast(x, FLOAT32) if dtype in NARROW_FLOATS else x
        number = dtype_of(wide).type
        return cast(ops.mul(wide, full_like(wide, number(numerator) / number(denominator))), dtype)

    return scaled


degrees = ratio(180.0, math.pi)
radians = ratio(math.pi, 180.0)


@in_single
def logaddexp(x: Value, y: Value) -> Value:
    """log(exp(x) + exp(y)): the larger one and what the other adds to it; equal ones are doubled, infinities too."""
    far = ops.add(_larger(x, y), ops.log1p(ops.exp(ops.neg(ops.abs(ops.sub(x, y))))))
    return ops.select(ops.eq(x, y), ops.add(x, full_like(x, math.log(2.0))), far)


@in_single
def logaddexp2(x: Value, y: Value) -> Value:
    """log2(2**x + 2**y), in the same way."""
    rest = ops.log1p(ops.exp2(ops.neg(ops.abs(ops.sub(x, y)))))
    far = ops.add(_larger(x, y), ops.mul(rest, full_like(x, 1.0 / math.log(2.0))))
    return ops.select(ops.eq(x, y), ops.add(x, full_like(x, 1)), far)


def _larger(x: Value, y: Value) -> Value:
    return ops.select(ops.gt(x, y), x, y)


def right_shift(x: Value, count: Value) -> Value:
    """Copies of the sign move in; zeros if there is no sign."""
    record = ops.shift_right_arithmetic if is_signed(dtype_of(x)) else ops.shift_right_logical
    return record(x, count)


def bit_count(x: Value) -> Value:
    """The number of one bits of the magnitude, as uint8."""
    size = ops.abs(x) if is_signed(dtype_of(x)) else x
    return cast(ops.population_count(size), np.dtype(np.uint8))


def compare_mixed(name: str, x: Value, y: Value) -> Value:
    """Comparison of a signed with an unsigned 64-bit integer by their mathematical values."""
    if is_signed(dtype_of(y)):
        return compare_mixed(MIRRORED[name], y, x)
    negative = ops.lt(x, full_like(x, 0))
    exact = getattr(ops, name)(cast(x, dtype_of(y)), y)
    if name in ("lt", "le", "ne"):
        return either(negative, exact)
    return both(ops.not_(negative), exact)


MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
