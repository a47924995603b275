"""Trigonometric and hyperbolic functions and their inverses.

Formulas are those of the textbooks (Abramowitz and Stegun 4.5 and 4.6), written so that nothing overflows before the
result does.
"""

from __future__ import annotations

import numpy as np

from xjit.ir.expr import Expr, prim, select
from xjit.ir.opdef import Parity
from xjit.ops.formulas import in_single
from xjit.ops.rows import binary, primitive, unary
from xjit.types import FLOAT64, DType


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


tan = unary(
    "tan",
    "Tan",
    "FC",
    np.tan,
    {"FC": primitive("tan")},
    parity=(Parity.ODD,),
    example="np.float32([0, np.inf]) -> [ 0. nan]",
    doc="Tangent.",
)
asin = unary(
    "asin",
    "Asin",
    "FC",
    np.arcsin,
    {"FC": primitive("asin")},
    parity=(Parity.ODD,),
    example="np.float32([0, 1, 2]) -> [0.        1.5707964       nan]",
    doc="Inverse sine; NaN outside [-1, 1].",
)
acos = unary(
    "acos",
    "Acos",
    "FC",
    np.arccos,
    {"FC": primitive("acos")},
    example="np.float32([1, -1, 2]) -> [0.        3.1415927       nan]",
    doc="Inverse cosine; NaN outside [-1, 1].",
)
atan = unary(
    "atan",
    "Atan",
    "FC",
    np.arctan,
    {"FC": primitive("atan")},
    parity=(Parity.ODD,),
    example="np.float32([0, np.inf]) -> [0.        1.5707964]",
    doc="Inverse tangent.",
)
atan2 = binary(
    "atan2",
    "Atan2",
    "F",
    np.arctan2,
    {"F": primitive("atan2")},
    example="np.float32([0, 1]), np.float32([-1, 1]) -> [3.1415927 0.7853981]",
    doc="The angle of the point (rhs, lhs), in (-pi, pi]; C99's for zeros and infinities.",
)
sinh = unary(
    "sinh",
    "Sinh",
    "FC",
    np.sinh,
    {"F": in_single(_sinh), "C": primitive("sinh")},
    parity=(Parity.ODD,),
    example="np.float32([0, np.inf]) -> [ 0. inf]",
    doc="Hyperbolic sine.",
)
cosh = unary(
    "cosh",
    "Cosh",
    "FC",
    np.cosh,
    {"F": in_single(_cosh), "C": primitive("cosh")},
    parity=(Parity.EVEN,),
    example="np.float32([0, np.inf]) -> [ 1. inf]",
    doc="Hyperbolic cosine.",
)
asinh = unary(
    "asinh",
    "Asinh",
    "FC",
    np.arcsinh,
    {"FC": primitive("asinh")},
    parity=(Parity.ODD,),
    example="np.float32([0, np.inf]) -> [ 0. inf]",
    doc="Inverse hyperbolic sine.",
)
acosh = unary(
    "acosh",
    "Acosh",
    "FC",
    np.arccosh,
    {"FC": primitive("acosh")},
    example="np.float32([1, 0]) -> [ 0. nan]",
    doc="Inverse hyperbolic cosine.",
)
atanh = unary(
    "atanh",
    "Atanh",
    "FC",
    np.arctanh,
    {"FC": primitive("atanh")},
    parity=(Parity.ODD,),
    example="np.float32([0, 1]) -> [ 0. inf]",
    doc="Inverse hyperbolic tangent.",
)
