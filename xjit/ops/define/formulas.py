"""Scalar expressions of elements that are more than one primitive.

Each function takes and gives expressions of one element type. Formulas are branch-free: both sides of a select are
evaluated, so divisors are made safe first.
"""

from __future__ import annotations

import numpy as np

from xjit.ir.scalar_expr import Expr, bitcast, cast, lit, prim, select
from xjit.types import BOOL, COMPLEX64, FLOAT64, NARROW_FLOATS, DType, dtype_class, is_signed


def bit_type(dtype: DType, *, signed: bool = False) -> DType:
    """The integer type of the same width."""
    return np.dtype(f"{'i' if signed else 'u'}{dtype.itemsize}")


def all_ones(dtype: DType) -> Expr:
    """The integer with every bit set."""
    return lit(-1 if is_signed(dtype) else np.iinfo(dtype).max, dtype)


def quotient(x: Expr, y: Expr) -> Expr:
    """Integer quotient toward zero; x/0 has all bits set, the least number over -1 is itself."""
    zero = y.equals(0)
    unsafe = zero
    if is_signed(x.dtype):
        unsafe = zero | (x.equals(int(np.iinfo(x.dtype).min)) & y.equals(-1))
    return select(zero, all_ones(x.dtype), prim("idiv", x, select(unsafe, 1, y)))


def remainder(x: Expr, y: Expr) -> Expr:
    """Integer remainder with the sign of the dividend; x rem 0 is x, anything rem -1 is 0."""
    zero = y.equals(0)
    unsafe = zero | y.equals(-1) if is_signed(x.dtype) else zero
    return select(zero, x, prim("irem", x, select(unsafe, 1, y)))


def parts(z: Expr) -> tuple[Expr, Expr]:
    """Real and imaginary part."""
    return prim("real", z), prim("imag", z)


def complex_quotient(x: Expr, y: Expr) -> Expr:
    """Smith's division, the larger part of the divisor scaled to one: what NumPy computes."""
    (a, b), (c, d) = parts(x), parts(y)
    upright = prim("abs", c) >= prim("abs", d)
    large, small = select(upright, c, d), select(upright, d, c)
    first, second = select(upright, a, b), select(upright, b, a)
    ratio = small / large
    scale = 1.0 / (large + small * ratio)
    real, turned = first + second * ratio, first * ratio
    imag = select(upright, second - turned, turned - second)
    zero = c.equals(0) & d.equals(0)
    over = prim("abs", c)
    return prim("complex", select(zero, a / over, real * scale), select(zero, b / over, imag * scale))


def scaled_parts(z: Expr) -> tuple[Expr, Expr, Expr]:
    """Both parts times a power of two at which their squares neither overflow nor vanish, and its reciprocal.

    complex64 is widened to float64, whose range needs no scale.
    """
    if z.dtype == COMPLEX64:
        real, imag = (cast(part, FLOAT64) for part in parts(z))
        return real, imag, lit(1.0, FLOAT64)
    real, imag = parts(z)
    largest = prim("max", prim("abs", real), prim("abs", imag))
    up, down = largest < 2.0**-400, largest > 2.0**400
    scale = select(up, lit(2.0**600, FLOAT64), select(down, lit(2.0**-600, FLOAT64), 1.0))
    back = select(up, lit(2.0**-600, FLOAT64), select(down, lit(2.0**600, FLOAT64), 1.0))
    return real * scale, imag * scale, back


def complex_sign(z: Expr) -> Expr:
    """z/|z|; zero for zero, NaN in both parts if either is NaN."""
    real, imag, _ = scaled_parts(z)
    root = prim("sqrt", real * real + imag * imag)
    zero = real.equals(0.0) & imag.equals(0.0)
    broken = real.differs(real) | imag.differs(imag)
    safe = select(zero, 1.0, select(broken, np.nan, root))
    part = np.dtype(f"f{z.dtype.itemsize // 2}")
    real, imag = (select(zero, 0.0, value / safe) for value in (real, imag))
    return prim("complex", cast(real, part), cast(imag, part))


def complex_equal(x: Expr, y: Expr) -> Expr:
    """Both parts are equal."""
    (a, b), (c, d) = parts(x), parts(y)
    return a.equals(c) & b.equals(d)


def float_sign(x: Expr) -> Expr:
    """-1, 1, or x itself where it is a zero or NaN."""
    return select(x > 0, 1, select(x < 0, -1, x))


def integer_sign(x: Expr) -> Expr:
    """-1, 0 or 1."""
    if not is_signed(x.dtype):
        return cast(x.differs(0), x.dtype)
    return cast(x > 0, x.dtype) - cast(x < 0, x.dtype)


def is_finite(x: Expr) -> Expr:
    """Only finite numbers differ from themselves by zero; needs no infinity, which some types lack."""
    return (x - x).equals(0)


def total_order_key(x: Expr) -> Expr:
    """Signed integers in the order of the values; types with one NaN get a wider key that puts it last."""
    if dtype_class(x.dtype) != "F":
        return x
    pattern = bitcast(x, bit_type(x.dtype, signed=True))
    key = select(pattern >= 0, pattern, pattern ^ int(np.iinfo(pattern.dtype).max))
    if "fnuz" in x.dtype.name:
        return select(pattern.equals(-128), lit(128, np.dtype(np.int16)), cast(key, np.dtype(np.int16)))
    return key


def compared(name: str, x: Expr, y: Expr) -> Expr:
    """A comparison; that of booleans in logic, as there is no order of them in every target."""
    if x.dtype != BOOL:
        return prim(name, x, y)
    return {
        "eq": lambda: ~(x ^ y),
        "ne": lambda: x ^ y,
        "lt": lambda: ~x & y,
        "le": lambda: ~x | y,
        "gt": lambda: x & ~y,
        "ge": lambda: x | ~y,
    }[name]()


def chosen(condition: Expr, on_true: Expr, on_false: Expr) -> Expr:
    """A select that copies bits; narrow floats are not widened on the way, so that NaN payloads stay."""
    if on_true.dtype not in NARROW_FLOATS:
        return select(condition, on_true, on_false)
    raw = bit_type(on_true.dtype)
    return bitcast(select(condition, bitcast(on_true, raw), bitcast(on_false, raw)), on_true.dtype)


def clamped(low: Expr, x: Expr, high: Expr) -> Expr:
    """minimum(maximum(low, x), high)."""
    if x.dtype == BOOL:
        return (low | x) & high
    return prim("min", prim("max", low, x), high)
