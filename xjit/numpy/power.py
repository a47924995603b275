"""x ** y: constant exponents become products, roots and reciprocals; all others are the record's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError
from xjit.ir.context import CONSTANT, TracedValue
from xjit.numpy.broadcasting import broadcast, broadcast_to_shape, common_shape
from xjit.numpy.compositions import full_like, in_single, letter
from xjit.numpy.values import shape_of
from xjit.ops._core import Operand

# Products of up to this many factors stay within 4 ULP of the exact power.
LARGEST_PRODUCT = 8
LARGEST_QUOTIENT = 4


def power(x: Operand, y: Operand) -> Any:
    """x to the power of y, both in the element type of NumPy's loop.

    Raises ArgumentError for integers to a constant negative power.
    """
    exponent, short = constant_number(y), None
    if exponent is not None:
        wide = broadcast_to_shape(x, common_shape("power", [shape_of(x), shape_of(y)]))
        short = integer_power(wide, exponent) if letter(x) == "I" else float_power(wide, exponent)
    return ops.numpy_power(*broadcast("power", x, y)) if short is None else short


def constant_number(value: Operand) -> Any:
    """The number that a rank-0 operand known while tracing holds; None for all others."""
    if shape_of(value):
        return None
    if isinstance(value, TracedValue):
        return value.node.param("value").item().item() if value.node.op is CONSTANT else None
    return np.asarray(value).item()


def integer_power(x: Operand, exponent: int) -> Any:
    """Repeated squaring; wraps as every integer product does."""
    if exponent < 0:
        raise ArgumentError("numpy.power: Integers to negative integer powers are not allowed.")
    return product(x, exponent)


def float_power(x: Operand, exponent: Any) -> Any:
    """The exponents that NumPy's loop takes a short way for, and those where products are as exact."""
    if exponent == 0.5 and letter(x) == "F":
        return ops.sqrt(x)
    if isinstance(exponent, complex):
        exponent = exponent.real if exponent.imag == 0 else math.nan
    if math.isfinite(exponent) and exponent == int(exponent):
        count = int(exponent)
        if 0 <= count <= LARGEST_PRODUCT:
            return in_single(lambda z: product(z, count))(x)
        if -LARGEST_QUOTIENT <= count < 0:
            # The power of the reciprocal neither overflows nor loses digits where the quotient is a normal number.
            return in_single(lambda z: product(ops.div(full_like(z, 1), z), -count))(x)
    return None


def product(x: Operand, count: int) -> Any:
    """The product of ``count`` factors x by repeated squaring; one for no factors."""
    result: Any = None
    square: Any = x
    while count:
        if count & 1:
            result = square if result is None else ops.mul(result, square)
        count >>= 1
        if count:
            square = ops.mul(square, square)
    return full_like(x, 1) if result is None else result
