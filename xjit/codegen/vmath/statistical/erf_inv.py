"""Inverse of the error function, odd.

``erf_inv(x) / x`` is a smooth function of ``w = -log(1 - x**2)``, and where w is large of its square root (Giles
2012): polynomials on three intervals, of which f32, which computes in f64, needs two.
"""

from __future__ import annotations

import math
from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import f32, f64, fabs, select, sqrt
from xjit.codegen.vmath.coefficients import inverse_error_function
from xjit.codegen.vmath.exponentials.log import log_f64
from xjit.codegen.vmath.polynomial import polynomial
from xjit.codegen.vmath.polynomial_pair import polynomial_pair
from xjit.codegen.vmath.vector_function import everywhere

erf_inv_parts_f32 = polynomial_pair(
    "erf_inv_parts_f32",
    "f64",
    inverse_error_function.ERF_INV_NEAR_F32,
    inverse_error_function.ERF_INV_MIDDLE_F32,
    halves=True,
)
erf_inv_parts_f64 = polynomial_pair(
    "erf_inv_parts_f64", "f64", inverse_error_function.ERF_INV_NEAR_F64, inverse_error_function.ERF_INV_MIDDLE_F64
)
erf_inv_far_f64 = polynomial("erf_inv_far_f64", "f64", inverse_error_function.ERF_INV_FAR_F64)

INFINITY = math.inf
NEAR, MIDDLE, FAR = 3.125, 3.25, 5.0
# Up to this w, and this square root of w.
NEAR_TO, MIDDLE_TO = 6.25, 4.0


@inline("f64(f64)")
def minus_log_f64(x: Any) -> Any:
    """-log(1 - x**2), infinite for one and minus one."""
    a = fabs(x)
    return -log_f64((1.0 - a) * (1.0 + a))


@inline("f32(f32)")
def erf_inv_f32(x: Any) -> Any:
    """The number whose error function is x; NaN beyond one."""
    wide = f64(x)
    w = minus_log_f64(wide)
    near = w < NEAR_TO
    part = erf_inv_parts_f32(near, select(near, w - NEAR, sqrt(w) - MIDDLE))
    return f32(wide * select(w == INFINITY, f64(INFINITY), part))


@inline("f64(f64)")
def erf_inv_f64(x: Any) -> Any:
    """The number whose error function is x; NaN beyond one."""
    w = minus_log_f64(x)
    root = sqrt(w)
    near = w < NEAR_TO
    part = erf_inv_parts_f64(near, select(near, w - NEAR, root - MIDDLE))
    part = select(root > MIDDLE_TO, erf_inv_far_f64(root - FAR), part)
    return x * select(w == INFINITY, f64(INFINITY), part)


FUNCTIONS = (
    everywhere("erf_inv_f32", 0.7),
    everywhere("erf_inv_f64", 2.8),
)
