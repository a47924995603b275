"""x ** y: constant exponents become products, roots and reciprocals; all others are the record's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError
from xjit.ir.context import CONSTANT, TracedValue
from xjit.ir.current import current
from xjit.ir.spans import span_of
from xjit.numpy.rules.broadcasting import broadcast, broadcast_to_shape, common_shape
from xjit.numpy.rules.compositions import full_like, in_single, letter
from xjit.numpy.rules.values import shape_of
from xjit.ops.define.core import Operand, aval_of, dtype_of
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import NARROW_FLOATS, DType, dtype_class, is_signed

# Products of up to this many factors stay within 4 ULP of the exact power.
LARGEST_PRODUCT = 8
LARGEST_QUOTIENT = 4
COMPLEX_LIMIT = 100
# Powers of these exponents are a root times at most two factors.
HALVES = (0.5, 1.5, 2.5)
_NEGATIVE = "numpy.power: Integers to negative integer powers are not allowed."


def power(x: Operand, y: Operand, exponent_type: DType) -> Any:
    """x to the power of y, both in the element type of NumPy's loop; ``exponent_type`` is what y was before.

    Raises ArgumentError for integers to a negative power; where only the run tells, the program does.
    """
    exponent, short = constant_number(y), None
    if exponent is not None:
        wide = broadcast_to_shape(x, common_shape("power", [shape_of(x), shape_of(y)]))
        short = _BY_CLASS[letter(x)](wide, exponent)
    if short is not None:
        return short
    base, exponents = broadcast("power", x, y)
    if letter(x) == "I" and dtype_class(exponent_type) == "I" and is_signed(exponent_type):
        exponents = _never_negative(y, exponents)
    if letter(x) == "I" and constant_number(x) == 2:
        return ops.shift_left(full_like(exponents, 1), exponents)
    return ops.numpy_power(base, exponents)


def _never_negative(value: Operand, exponents: Any) -> Any:
    """The exponents of integers, of which none may be negative: the run looks where tracing does not tell."""
    if isinstance(value, TracedValue) and value.node.op is not CONSTANT:
        if span_of(value.node, current())[0] >= 0:
            return exponents
        # Kernels go on before the program raises, and look at the bits of the exponent alone.
        return require(exponents, ops.ge(exponents, full_like(exponents, 0)), "value", _NEGATIVE)
    known = value.node.param("value").array() if isinstance(value, TracedValue) else value
    if bool((np.asarray(known) < 0).any()):
        raise ArgumentError(_NEGATIVE, fix="use floats, as in x.astype(float) ** -1")
    return exponents


def constant_number(value: Operand) -> Any:
    """The number that a rank-0 operand known while tracing holds; None for all others."""
    if shape_of(value):
        return None
    if isinstance(value, TracedValue):
        return value.node.param("value").item().item() if value.node.op is CONSTANT else None
    return np.asarray(value).item()


def integer_power(x: Operand, exponent: int) -> Any:
    """Repeated squaring; wraps as every integer product does."""
    if exponent < 0 and aval_of(x).size:
        raise ArgumentError(_NEGATIVE, fix="use floats, as in x.astype(float) ** -1")
    return product(x, max(exponent, 0))


def float_power(x: Operand, exponent: float) -> Any:
    """The exponents that NumPy's loop takes a short way for, and those where products are as exact; else None."""
    if exponent == 0.5:
        return ops.sqrt(x) if dtype_of(x) not in NARROW_FLOATS else _power_of_half(x)
    if abs(exponent) in HALVES:
        return in_single(lambda z: _power_of_halves(z, exponent))(x)
    if not math.isfinite(exponent) or exponent != int(exponent):
        return None
    count = int(exponent)
    if 0 <= count <= LARGEST_PRODUCT:
        return in_single(lambda z: product(z, count))(x)
    if -LARGEST_QUOTIENT <= count < 0:
        # The power of the reciprocal neither overflows nor loses digits where the quotient is a normal number.
        return in_single(lambda z: product(ops.div(full_like(z, 1), z), -count))(x)
    return None


def _power_of_halves(x: Operand, exponent: float) -> Any:
    """The root times a few factors. The reciprocal goes first, so that what is small stays right.

    Negative numbers become NaN by the root; the sign of zeros and infinities does not count.
    """
    count = int(abs(exponent))
    base = ops.abs(ops.div(full_like(x, 1), x) if exponent < -1 else x)
    value = ops.mul(product(base, count), ops.sqrt(base)) if count else ops.sqrt(base)
    value = ops.div(full_like(x, 1), value) if exponent == -0.5 else value
    finite = ops.logical_and(ops.lt(x, full_like(x, 0)), ops.gt(x, full_like(x, -np.inf)))
    return ops.select(finite, full_like(x, math.nan), value)


def _power_of_half(x: Operand) -> Any:
    """The root by the rules of pow: +0 of -0, and infinity of both infinities."""
    infinite = ops.eq(ops.abs(x), full_like(x, np.inf))
    return ops.select(infinite, ops.abs(x), ops.sqrt(ops.add(x, full_like(x, 0))))


def complex_power(x: Operand, exponent: complex) -> Any:
    """NumPy's products for whole exponents below a hundred, factor by factor; None for all others."""
    if exponent.imag != 0 or not math.isfinite(exponent.real) or exponent.real != int(exponent.real):
        return None
    count = int(exponent.real)
    if count in (1, 2, 3):
        return product(x, count)
    if abs(count) >= COMPLEX_LIMIT:
        return None
    one = full_like(x, 1)
    if count == 0:
        return one
    result = product(x, abs(count), one)
    if count > 0:
        return result
    zero = ops.eq(x, full_like(x, 0))  # a pole, which NumPy takes for undefined
    return ops.select(zero, full_like(x, complex(math.nan, math.nan)), ops.div(one, result))


def product(x: Operand, count: int, start: Any = None) -> Any:
    """The product of ``count`` factors x by repeated squaring; one for no factors."""
    result, square = start, x
    while count:
        if count & 1:
            result = square if result is None else ops.mul(result, square)
        count >>= 1
        if count:
            square = ops.mul(square, square)
    return full_like(x, 1) if result is None else result


_BY_CLASS: dict[str, Callable[[Any, Any], Any]] = {"I": integer_power, "F": float_power, "C": complex_power}
