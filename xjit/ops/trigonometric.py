"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

import numpy as np

from xjit.ir.opdef import Parity
from xjit.ops.rows import binary, primitive, unary

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
    {"FC": primitive("sinh")},
    parity=(Parity.ODD,),
    example="np.float32([0, np.inf]) -> [ 0. inf]",
    doc="Hyperbolic sine.",
)
cosh = unary(
    "cosh",
    "Cosh",
    "FC",
    np.cosh,
    {"FC": primitive("cosh")},
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
