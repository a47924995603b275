"""Elementary functions for kernels: branch-free, so that loops that call them become vector code.

Kernels call them by name, as ``exp_f64(v)``; :data:`VECTOR_FUNCTIONS` lists the names.  Every one is right for
every argument: infinities, NaN, signed zeros, subnormal arguments and results, huge angles.

Some have two variants more.  ``sin_f64_near`` is right where ``fabs(x) <= bound``, and for NaN, and returns some
number elsewhere; it costs a third or less.  ``sin_f64_rare`` is the function itself, but called instead of
inlined: a loop over it is not vector code, and compiles in a fraction of the time.  A kernel may use them so, a
strip at a time::

    rare = b1(False)
    for i in range(start, stop):
        rare = rare | (fabs(argument(i)) > bound)
    if rare:
        for i in range(start, stop): ... sin_f64_rare(argument(i)) ...      # or sin_f64
    else:
        for i in range(start, stop): ... sin_f64_near(argument(i)) ...

All give the same bits where they are right, so results do not depend on how a loop was cut into strips.

Fused multiply-add is used wherever it helps and needed nowhere: on processors without it a multiplication and
an addition stand in, and errors stay below four units in the last place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xjit.codegen import narrow_floats
from xjit.codegen.vmath import erf, exp, hyperbolic, log, reduction, trig

__all__ = [
    "VECTOR_FUNCTIONS",
    "VectorFunction",
    "erf",
    "exp",
    "hyperbolic",
    "log",
    "narrow_floats",
    "reduction",
    "trig",
]


@dataclass(frozen=True, slots=True)
class VectorFunction:
    """An elementary function of one argument.

    ``error`` is a bound, found by trial, on the distance to the true value in units of the last place of that
    value.  ``near`` names the variant that is right where ``fabs(x) <= bound`` and ``rare`` the one that is called
    instead of inlined; where there are none both are the function itself and the bound is infinite.
    """

    name: str
    error: float
    near: str
    rare: str
    bound: float = math.inf


def _everywhere(name: str, error: float) -> VectorFunction:
    return VectorFunction(name, error, name, name)


def _reduced(name: str, error: float, bound: float) -> VectorFunction:
    return VectorFunction(name, error, f"{name}_near", f"{name}_rare", bound)


VECTOR_FUNCTIONS: dict[str, VectorFunction] = {
    function.name: function
    for function in (
        _everywhere("exp_f32", 1.02),
        _everywhere("exp_f64", 1.1),
        _everywhere("log_f32", 0.95),
        _everywhere("log_f64", 1.0),
        _everywhere("tanh_f32", 1.17),
        _everywhere("tanh_f64", 1.3),
        _everywhere("exp2_f32", 0.9),
        _everywhere("exp2_f64", 0.9),
        _everywhere("expm1_f32", 1.25),
        _everywhere("expm1_f64", 1.6),
        _everywhere("log2_f32", 1.1),
        _everywhere("log2_f64", 1.2),
        _everywhere("log1p_f32", 1.02),
        _everywhere("log1p_f64", 1.1),
        _everywhere("erf_f32", 1.11),
        _everywhere("erf_f64", 1.2),
        _reduced("sin_f32", 0.63, reduction.NEAR_F32),
        _reduced("sin_f64", 1.6, reduction.NEAR_F64),
        _reduced("cos_f32", 0.63, reduction.NEAR_F32),
        _reduced("cos_f64", 1.6, reduction.NEAR_F64),
    )
}
"""The functions by name."""
