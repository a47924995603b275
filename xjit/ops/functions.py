"""Further elementwise functions: powers, exponentials and logarithms with care near 1, hyperbolic functions.

Formulas are those of the textbooks: W. Kahan's for expm1 and log1p, Abramowitz and Stegun 4.5 and 4.6 for the
hyperbolic functions, written so that nothing overflows before the result does.
"""

from __future__ import annotations

import math

import numpy as np

from xjit.ir.expr import Expr, cast, lit, prim, select
from xjit.ir.opdef import Gap
from xjit.ops import references
from xjit.ops.formulas import complex_quotient, in_single, is_finite
from xjit.ops.references import by_class
from xjit.ops.rows import HOST_COMPLEX, binary, boolean, primitive, unary
from xjit.types import FLOAT64, DType, bits, is_signed

_INT32: DType = np.dtype(np.int32)

# ---- exponentials and logarithms


expm1 = unary(
    "expm1",
    "Expm1",
    "FC",
    np.expm1,
    {"F": primitive("expm1")},
    gaps=HOST_COMPLEX,
    example="np.float64([1e-20, -np.inf]) -> [ 1.e-20 -1.e+00]",
    doc="exp(x) - 1, exact near 0.",
)
log1p = unary(
    "log1p",
    "Log1p",
    "FC",
    np.log1p,
    {"F": primitive("log1p")},
    gaps=HOST_COMPLEX,
    example="np.float64([1e-20, -1]) -> [1.e-20   -inf]",
    doc="log(1 + x), exact near 0.",
)
exp2 = unary(
    "exp2",
    None,
    "FC",
    np.exp2,
    {"F": primitive("exp2")},
    gaps=HOST_COMPLEX,
    example="np.float32([3, -1]) -> [8.  0.5]",
    doc="2 to the power x.",
)
log2 = unary(
    "log2",
    None,
    "FC",
    np.log2,
    {"F": primitive("log2")},
    gaps=HOST_COMPLEX,
    example="np.float32([8, 0.5]) -> [ 3. -1.]",
    doc="Logarithm to base 2.",
)

# ---- trigonometric and hyperbolic functions


def _tan(x: Expr) -> Expr:
    return prim("sin", x) / prim("cos", x)


def _safe_exponent(dtype: DType) -> float:
    """Up to this argument exp does not overflow; the largest finite results lie a little further."""
    return 708.0 if dtype == FLOAT64 else 87.0


def _halved_exponential(magnitude: Expr) -> Expr:
    """exp(x)/2 as a product, for x where exp(x) alone overflows."""
    half = prim("exp", magnitude * 0.5)
    return half * 0.5 * half


def _sinh(x: Expr) -> Expr:
    magnitude = prim("abs", x)
    less = prim("expm1", magnitude)
    near = (less + less / (less + 1)) * 0.5
    value = select(magnitude < _safe_exponent(x.dtype), near, _halved_exponential(magnitude))
    return prim("copysign", value, x)


def _cosh(x: Expr) -> Expr:
    magnitude = prim("abs", x)
    raised = prim("exp", magnitude)
    near = (raised + 1 / raised) * 0.5
    return select(magnitude < _safe_exponent(x.dtype), near, _halved_exponential(magnitude))


def _large(dtype: DType) -> float:
    """From here on 1 is nothing beside the square."""
    return 2.0**27 if dtype == FLOAT64 else 2.0**12


def _asinh(x: Expr) -> Expr:
    magnitude = prim("abs", x)
    far = prim("log", magnitude) + math.log(2)
    square = magnitude * magnitude
    near = prim("log1p", magnitude + square / (prim("sqrt", square + 1) + 1))
    return prim("copysign", select(magnitude > _large(x.dtype), far, near), x)


def _acosh(x: Expr) -> Expr:
    over = x - 1
    near = prim("log1p", over + prim("sqrt", over * 2 + over * over))
    far = prim("log", x) + math.log(2)
    return select(x < 1, math.nan, select(x > _large(x.dtype), far, near))


def _atanh(x: Expr) -> Expr:
    magnitude = prim("abs", x)
    return prim("copysign", prim("log1p", magnitude * 2 / (1 - magnitude)) * 0.5, x)


tan = unary(
    "tan",
    "Tan",
    "FC",
    np.tan,
    {"F": in_single(_tan)},
    gaps=HOST_COMPLEX,
    example="np.float32([0, np.inf]) -> [ 0. nan]",
    doc="Tangent.",
)
sinh = unary(
    "sinh",
    "Sinh",
    "FC",
    np.sinh,
    {"F": in_single(_sinh)},
    gaps=HOST_COMPLEX,
    example="np.float32([0, np.inf]) -> [ 0. inf]",
    doc="Hyperbolic sine.",
)
cosh = unary(
    "cosh",
    "Cosh",
    "FC",
    np.cosh,
    {"F": in_single(_cosh)},
    gaps=HOST_COMPLEX,
    example="np.float32([0, np.inf]) -> [ 1. inf]",
    doc="Hyperbolic cosine.",
)
asinh = unary(
    "asinh",
    "Asinh",
    "FC",
    np.arcsinh,
    {"F": in_single(_asinh)},
    gaps=HOST_COMPLEX,
    example="np.float32([0, np.inf]) -> [ 0. inf]",
    doc="Inverse hyperbolic sine.",
)
acosh = unary(
    "acosh",
    "Acosh",
    "FC",
    np.arccosh,
    {"F": in_single(_acosh)},
    gaps=HOST_COMPLEX,
    example="np.float32([1, 0]) -> [ 0. nan]",
    doc="Inverse hyperbolic cosine.",
)
atanh = unary(
    "atanh",
    "Atanh",
    "FC",
    np.arctanh,
    {"F": in_single(_atanh)},
    gaps=HOST_COMPLEX,
    example="np.float32([0, 1]) -> [ 0. inf]",
    doc="Inverse hyperbolic tangent.",
)

# ---- powers


def _integer_power(x: Expr, y: Expr) -> Expr:
    """Repeated squaring. Exponent bits beyond the width change nothing: odd bases have come back to 1 by then.

    Negative exponents give 1 for base 1, the sign for base -1, else 0.
    """
    result: Expr = lit(1, x.dtype)
    square = x
    for place in range(bits(x.dtype) - 1 if is_signed(x.dtype) else bits(x.dtype)):
        bit = prim("lshr", y, place) & 1
        result = result * select(bit.equals(0), 1, square)
        square = square * square
    if not is_signed(x.dtype):
        return result
    odd = (y & 1).differs(0)
    turned = select(x.equals(1), 1, select(x.equals(-1), select(odd, x, 1), 0))
    return select(y < 0, turned, result)


def _single_power(x: Expr, y: Expr) -> Expr:
    """C99's pow through exp(y*log|x|) in float64, which is exact enough for float32 and narrower."""
    if x.dtype == FLOAT64:
        raise TypeError("pow has no scalar expression for f64")
    base, exponent = cast(x, FLOAT64), cast(y, FLOAT64)
    magnitude = prim("abs", base)
    raised = prim("exp", exponent * prim("log", magnitude))
    raised = select(magnitude.equals(1) & exponent.equals(exponent), 1, raised)
    halved = exponent * 0.5
    whole = prim("rint", exponent).equals(exponent)
    odd = whole & prim("rint", halved).differs(halved)
    signed = select(odd, prim("copysign", raised, base), raised)
    broken = (base < 0) & is_finite(base) & ~whole
    value = select(base.equals(1) | exponent.equals(0), 1, select(broken, math.nan, signed))
    return cast(value, x.dtype)


pow = binary(
    "pow",
    "Pow",
    "IFC",
    by_class(I=references.integer_power, FC=np.power),
    {"I": _integer_power, "F": _single_power},
    gaps=(
        *HOST_COMPLEX,
        Gap("cpu", "f64", "float64 powers need a logarithm of more than 53 bits; NumPy computes this step"),
    ),
    example="np.int32([2, 3]), np.int32([10, -1]) -> [1024    0]",
    doc="Power; C99's for floats, integers wrap.",
)

# ---- products and classes of floats

square = unary(
    "square",
    "Square",
    "IFC",
    np.square,
    {"IFC": lambda x: x * x},
    example="np.int32([3, -2]) -> [9 4]",
    doc="The product with itself.",
)
reciprocal = unary(
    "reciprocal",
    "Reciprocal",
    "FC",
    lambda x: 1 / x,
    {"F": lambda x: 1 / x, "C": lambda z: complex_quotient(lit(1, z.dtype), z)},
    example="np.float32([4, 0]) -> [0.25  inf]",
    doc="1/x.",
)
is_nan = unary(
    "is_nan",
    "IsNan",
    "F",
    np.isnan,
    {"F": lambda x: x.differs(x)},
    result=boolean,
    example="np.float32([1, np.inf, np.nan]) -> [False False  True]",
    doc="Whether it is NaN.",
)
is_inf = unary(
    "is_inf",
    "IsInf",
    "F",
    np.isinf,
    {"F": lambda x: x.equals(x) & (x - x).differs(0)},
    result=boolean,
    example="np.float32([1, np.inf, np.nan]) -> [False  True False]",
    doc="Whether it is infinite.",
)
is_pos_inf = unary(
    "is_pos_inf",
    "IsPosInf",
    "F",
    np.isposinf,
    {"F": lambda x: (x > 0) & (x - x).differs(0)},
    result=boolean,
    example="np.float32([1, np.inf, -np.inf]) -> [False  True False]",
    doc="Whether it is +inf.",
)
is_neg_inf = unary(
    "is_neg_inf",
    "IsNegInf",
    "F",
    np.isneginf,
    {"F": lambda x: (x < 0) & (x - x).differs(0)},
    result=boolean,
    example="np.float32([1, np.inf, -np.inf]) -> [False False  True]",
    doc="Whether it is -inf.",
)
is_neg_zero = unary(
    "is_neg_zero",
    "IsNegZero",
    "F",
    lambda x: (x == 0) & np.signbit(x),
    {"F": lambda x: x.equals(0) & (prim("copysign", lit(1, x.dtype), x) < 0)},
    result=boolean,
    example="np.float32([0, -0.0]) -> [False  True]",
    doc="Whether it is -0.",
)
