"""Truncating division of integers and its remainder as vector code: ``idiv`` and ``irem``.

Processors divide vectors of floats only. Integers of up to 53 bits are floats, so that the float nearest to the
quotient, cut off, is the quotient: where it is no integer it is further from the next one than rounding goes.
Integers of 64 bits take two steps: a quotient that is never too large leaves a remainder of at most some thousand
divisors, whose own quotient is at most one too small.

The divisor must not be zero; nor minus one, where the dividend is the smallest integer.
"""

from __future__ import annotations

from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import f32, f64, i32, i64, select, u32, u64

# More than the roundings of both operands, of a quotient and of a product take away together.
BELOW = 1.0 - 2.0**-50


@inline("i32(i32,i32)")
def idiv_short(x: Any, y: Any) -> Any:
    """Quotient of integers of 16 bits."""
    return i32(f32(x) / f32(y))


@inline("i32(i32,i32)")
def idiv_i32(x: Any, y: Any) -> Any:
    """Quotient of x and y, cut off."""
    return i32(f64(x) / f64(y))


@inline("u32(u32,u32)")
def idiv_u32(x: Any, y: Any) -> Any:
    """Quotient of x and y, cut off."""
    return u32(f64(x) / f64(y))


@inline("u64(u64,u64)")
def idiv_u64(x: Any, y: Any) -> Any:
    """Quotient of x and y, cut off."""
    inverse = BELOW / f64(y)
    first = u64(f64(x) * inverse)
    rest = x - first * y
    second = u64(f64(rest) * inverse)
    return first + second + select(rest - second * y >= y, u64(1), u64(0))


@inline("i64(i64,i64)")
def idiv_i64(x: Any, y: Any) -> Any:
    """Quotient of x and y, cut off."""
    inverse = BELOW / f64(y)
    first = i64(f64(x) * inverse)
    rest = x - first * y
    second = i64(f64(rest) * inverse)
    left = rest - second * y
    # Sizes without sign: that of the smallest integer is none with one.
    size = u64(select(left < i64(0), i64(0) - left, left))
    one = select((x < i64(0)) ^ (y < i64(0)), i64(-1), i64(1))
    return first + second + select(size >= u64(select(y < i64(0), i64(0) - y, y)), one, i64(0))


@inline("i32(i32,i32)")
def irem_short(x: Any, y: Any) -> Any:
    """Remainder of integers of 16 bits, with the sign of x."""
    return x - idiv_short(x, y) * y


@inline("i32(i32,i32)")
def irem_i32(x: Any, y: Any) -> Any:
    """Remainder of x and y, with the sign of x."""
    return x - idiv_i32(x, y) * y


@inline("u32(u32,u32)")
def irem_u32(x: Any, y: Any) -> Any:
    """Remainder of x and y."""
    return x - idiv_u32(x, y) * y


@inline("i64(i64,i64)")
def irem_i64(x: Any, y: Any) -> Any:
    """Remainder of x and y, with the sign of x."""
    return x - idiv_i64(x, y) * y


@inline("u64(u64,u64)")
def irem_u64(x: Any, y: Any) -> Any:
    """Remainder of x and y."""
    return x - idiv_u64(x, y) * y
