"""Error function, odd: everything is computed for ``a = |x|`` and the sign put back.

Below 0.9 ``a + a * tail(a**2)``; above ``1 - exp(p(a))`` with a polynomial for the logarithm of ``1 - erf(a)``,
where errors of the exponential shrink, because the second term is small.
"""

from __future__ import annotations

from typing import Any

from xjit.codegen.inline_functions import inline
from xjit.codegen.intrinsics import copysign, f32, f64, fabs, fma, select
from xjit.codegen.vmath.coefficients import error_function
from xjit.codegen.vmath.exp import exp_f32, exp_f64
from xjit.codegen.vmath.polynomial import polynomial
from xjit.codegen.vmath.record import everywhere

erf_tail_f32 = polynomial("erf_tail_f32", "f32", error_function.ERF_TAIL_F32)
erf_tail_f64 = polynomial("erf_tail_f64", "f64", error_function.ERF_TAIL_F64)
erfc_log_f32 = polynomial("erfc_log_f32", "f32", error_function.ERFC_LOG_F32)
erfc_log_f64 = polynomial("erfc_log_f64", "f64", error_function.ERFC_LOG_F64)

TAIL_BELOW = 0.9
# From here on the result rounds to one.
ONE_FROM_F32, ONE_FROM_F64 = 4.0, 6.0


@inline("f32(f32)")
def erf_f32(x: Any) -> Any:
    """Error function of x."""
    a = fabs(x)
    below = fma(a, erf_tail_f32(a * a), a)
    above = f32(1.0) - exp_f32(erfc_log_f32(select(a > f32(ONE_FROM_F32), f32(ONE_FROM_F32), a)))
    return copysign(select(a < f32(TAIL_BELOW), below, above), x)


@inline("f64(f64)")
def erf_f64(x: Any) -> Any:
    """Error function of x."""
    a = fabs(x)
    below = fma(a, erf_tail_f64(a * a), a)
    above = 1.0 - exp_f64(erfc_log_f64(select(a > ONE_FROM_F64, f64(ONE_FROM_F64), a)))
    return copysign(select(a < TAIL_BELOW, below, above), x)


FUNCTIONS = (
    everywhere("erf_f32", 1.11),
    everywhere("erf_f64", 1.2),
)
