"""Error function, odd: everything is computed for ``a = |x|`` and the sign put back.

Below a bound ``a + a * tail(a**2)``; above ``1 - 2 * root(a)**4`` (f64: ``1 - root(a)**16``) with a polynomial for
that root of ``1 - erf(a)``.  A root takes fewer coefficients and steps than an exponential would.  Its power makes
errors larger, but there it is small.
"""

from __future__ import annotations

from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import copysign, f32, f64, fabs, fma, select
from xjit.codegen.vmath.coefficients import error_function
from xjit.codegen.vmath.polynomial_pair import polynomial_pair
from xjit.codegen.vmath.vector_function import everywhere

erf_parts_f32 = polynomial_pair("erf_parts_f32", "f32", error_function.ERF_TAIL_F32, error_function.ERFC_ROOT_F32)
erf_parts_f64 = polynomial_pair("erf_parts_f64", "f64", error_function.ERF_TAIL_F64, error_function.ERFC_ROOT_F64)

TAIL_BELOW_F32, TAIL_BELOW_F64 = 1.2, 1.45
# Polynomials in the distance to a centre lose less to rounding.
TAIL_CENTRE, ROOT_CENTRE_F32 = 0.75, 2.0
# From here on the result rounds to one.
ONE_FROM_F32, ONE_FROM_F64 = 4.0, 6.0


@inline("f32(f32)")
def erf_f32(x: Any) -> Any:
    """Error function of x."""
    a = fabs(x)
    small = a < f32(TAIL_BELOW_F32)
    beyond = select(a > f32(ONE_FROM_F32), f32(ONE_FROM_F32), a) - f32(ROOT_CENTRE_F32)
    part = erf_parts_f32(small, select(small, fma(a, a, f32(-TAIL_CENTRE)), beyond))
    square = part * part
    return copysign(select(small, fma(a, part, a), fma(-square, square + square, f32(1.0))), x)


@inline("f64(f64)")
def erf_f64(x: Any) -> Any:
    """Error function of x."""
    a = fabs(x)
    small = a < TAIL_BELOW_F64
    part = erf_parts_f64(
        small, select(small, fma(a, a, -TAIL_CENTRE), select(a > ONE_FROM_F64, f64(ONE_FROM_F64), a))
    )
    fourth = part * part * (part * part)
    eighth = fourth * fourth
    return copysign(select(small, fma(a, part, a), fma(-eighth, eighth, 1.0)), x)


FUNCTIONS = (
    everywhere("erf_f32", 1.0),
    everywhere("erf_f64", 1.45),
)
