"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

import numpy as np

from xjit.ops.define.op_tables import EVEN, ODD, function, operator

tan = function("tan", "FC", np.tan, "np.float32([0, np.inf]) -> [ 0. nan]", "Tangent.", parity=ODD)
asin = function(
    "asin",
    "FC",
    np.arcsin,
    "np.float32([0, 1, 2]) -> [0.        1.5707964       nan]",
    "Inverse sine; NaN outside [-1, 1].",
    parity=ODD,
)
acos = function(
    "acos",
    "FC",
    np.arccos,
    "np.float32([1, -1, 2]) -> [0.        3.1415927       nan]",
    "Inverse cosine; NaN outside [-1, 1].",
)
atan = function(
    "atan", "FC", np.arctan, "np.float32([0, np.inf]) -> [0.        1.5707964]", "Inverse tangent.", parity=ODD
)
atan2 = operator(
    "atan2",
    "F",
    np.arctan2,
    "np.float16([0, 1]), np.float16([-1, 1]) -> [3.14  0.785]",
    "The angle of the point (rhs, lhs), in (-pi, pi]; C99's for zeros and infinities.",
)
sinh = function("sinh", "FC", np.sinh, "np.float32([0, np.inf]) -> [ 0. inf]", "Hyperbolic sine.", parity=ODD)
cosh = function("cosh", "FC", np.cosh, "np.float32([0, np.inf]) -> [ 1. inf]", "Hyperbolic cosine.", parity=EVEN)
asinh = function(
    "asinh", "FC", np.arcsinh, "np.float32([0, np.inf]) -> [ 0. inf]", "Inverse hyperbolic sine.", parity=ODD
)
acosh = function("acosh", "FC", np.arccosh, "np.float32([1, 0]) -> [ 0. nan]", "Inverse hyperbolic cosine.")
atanh = function(
    "atanh", "FC", np.arctanh, "np.float32([0, 1]) -> [ 0. inf]", "Inverse hyperbolic tangent.", parity=ODD
)
