"""Elementary functions for kernels: branch-free, so that loops that call them become vector code.

Kernels call them by name, as ``exp_f64(v)``; :data:`VECTOR_FUNCTIONS` lists the names, :data:`COMPLEX_FUNCTIONS`
those of complex numbers.  Every one is right for every argument: infinities, NaN, signed zeros, subnormal arguments
and results, huge angles.

All have a companion ``sin_f64_rare``, the function itself, but called instead of inlined: a loop over it is not
vector code, and compiles in a fraction of the time.  Some have two more.  ``sin_f64_near`` is right wherever
``sin_f64_is_far`` is false, and for NaN, and returns some number elsewhere; it costs a third or less.  A kernel may
use them so, a strip at a time::

    rare = b1(False)
    for i in range(start, stop):
        rare = rare | sin_f64_is_far(argument(i))
        ... sin_f64_near(argument(i)) ...
    if rare:
        for i in range(start, stop): ... sin_f64_rare(argument(i)) ...      # or sin_f64

All give the same bits where they are right, so results do not depend on how a loop was cut into strips.

Fused multiply-add is used wherever it helps and needed nowhere: on processors without it a multiplication and
an addition stand in, and errors stay below four units in the last place.
"""

from __future__ import annotations

from xjit.codegen.language import inline_functions, narrow_floats
from xjit.codegen.vmath.angles import angle_reduction, inverse_trig, tan, trig
from xjit.codegen.vmath.arithmetic import cbrt, float_parts, integer_quotients, remainders
from xjit.codegen.vmath.complex_numbers.complex_functions import COMPLEX_FUNCTIONS
from xjit.codegen.vmath.exponentials import (
    exp,
    hyperbolic_sine,
    inverse_hyperbolic,
    log,
    log_odds,
    logistic,
    pow,
    tanh,
)
from xjit.codegen.vmath.statistical import erf, erf_inv, erfc, log_gamma
from xjit.codegen.vmath.vector_function import VectorFunction

__all__ = [
    "COMPLEX_FUNCTIONS",
    "VECTOR_FUNCTIONS",
    "VectorFunction",
    "angle_reduction",
    "cbrt",
    "erf",
    "erf_inv",
    "erfc",
    "exp",
    "float_parts",
    "hyperbolic_sine",
    "integer_quotients",
    "inverse_hyperbolic",
    "inverse_trig",
    "log",
    "log_gamma",
    "log_odds",
    "logistic",
    "narrow_floats",
    "pow",
    "remainders",
    "tan",
    "tanh",
    "trig",
]


_MODULES = (
    exp,
    log,
    trig,
    tanh,
    erf,
    erf_inv,
    erfc,
    pow,
    inverse_trig,
    tan,
    inverse_hyperbolic,
    remainders,
    log_gamma,
    cbrt,
    log_odds,
    hyperbolic_sine,
    logistic,
)

VECTOR_FUNCTIONS: dict[str, VectorFunction] = {
    function.name: function for module in _MODULES for function in module.FUNCTIONS
}
"""The functions by name; every module of functions has a table ``FUNCTIONS``."""


def _called(function: VectorFunction) -> inline_functions.Called:
    find = inline_functions.registered
    if not function.varied:
        return inline_functions.Called(find(function.name))
    often = find(function.name) if function.frequent else None
    return inline_functions.Called(find(function.near), find(function.is_far), often)


for _function in (*VECTOR_FUNCTIONS.values(), *COMPLEX_FUNCTIONS.values()):
    inline_functions.register_called(_function.rare, _function.name)
for _function in VECTOR_FUNCTIONS.values():
    inline_functions.register_called(_function.called, _function.name, _called(_function))
