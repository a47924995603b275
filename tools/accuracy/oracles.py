"""Oracles that results are compared with: quick wide arithmetic on arrays to screen, MPFR to decide.

A float32 result is screened with float64 functions, a float64 result with long double ones.  A screen may be off by
:attr:`Oracle.slack` units; every argument whose error might exceed the largest so far by that much goes to MPFR.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from tools.accuracy import libm

Array = np.ndarray[Any, Any]
Function = Callable[..., Array]

WIDE_LONG_DOUBLE = np.finfo(np.longdouble).nmant >= 63


@dataclass(frozen=True, slots=True)
class Oracle:
    """Screens of one operation for both element types; None where there is none and MPFR decides alone.

    ``single`` takes and returns float64, ``double`` long double.  ``absolute`` bounds their errors near zeros of the
    function, where they are no longer small beside the value; everywhere else they are a few units of the screen's
    own last place, which :data:`RELATIVE_SLACK` covers many times over; ``relative`` is a closer bound for those that
    are little more than arithmetic, 0 for those that are exact.

    ``scale`` gives the size of the terms that cancel near zeros of a function where it is only as exact as those are:
    float64 errors are then in units of the last place of the larger of it and the result.
    """

    single: Function
    double: Function | None
    absolute: tuple[float, float] = (0.0, 0.0)
    relative: tuple[float, float] | None = None
    scale: Function | None = None

    def screen(self, kind: str) -> Function | None:
        """The screen for results of an element type."""
        return self.single if kind == "f32" else self.double if WIDE_LONG_DOUBLE else None

    def slack(self, kind: str) -> float:
        """Return the error that the screen may have relative to the value, in units of the type that is looked at."""
        return RELATIVE_SLACK[kind] if self.relative is None else self.relative[kind == "f64"]


RELATIVE_SLACK = {"f32": 1e-6, "f64": 0.01}
"""Error that screens may have relative to the value, in units of the type that is looked at."""


def _numpy(name: str) -> Oracle:
    function = getattr(np, name)
    return Oracle(function, function)


def _arithmetic(function: Function) -> Oracle:
    """Of a screen with two or three roundings."""
    return Oracle(function, function, relative=(1e-8, 0.002))


def logistic(x: Array) -> Array:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


def logit(x: Array) -> Array:
    """log(x / (1 - x)); near one half by the difference from it, which is exact."""
    near = np.log1p((2 * x - 1) / (1 - x))
    return np.where((x > 0.25) & (x < 0.75), near, np.log(x) - np.log1p(-x))


def softplus(x: Array) -> Array:
    """log(1 + exp(x))."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def rsqrt(x: Array) -> Array:
    """1 / sqrt(x)."""
    return 1 / np.sqrt(x)


# B(2k) / 2k of the asymptotic series of digamma, Abramowitz and Stegun 6.3.18.
_SERIES = ((1, 12), (-1, 120), (1, 252), (-1, 240), (1, 132), (-691, 32760), (1, 12), (-3617, 8160), (43867, 14364))
_SERIES_FROM = 20


def digamma(x: Array) -> Array:
    """Logarithmic derivative of the gamma function: reflection, recurrence, asymptotic series."""
    wide = x.dtype.type
    pi = wide("3.14159265358979323846264338327950288")
    a = np.where(x < 0.5, 1 - x, x)
    shift = np.zeros_like(a)
    for _ in range(_SERIES_FROM):
        small = a < _SERIES_FROM
        shift += np.where(small, 1 / a, 0)
        a = np.where(small, a + 1, a)
    square = 1 / (a * a)
    tail = np.zeros_like(a)
    for numerator, denominator in reversed(_SERIES):
        tail = (tail + wide(numerator) / wide(denominator)) * square
    value = np.log(a) - 1 / (2 * a) - tail - shift
    part = x - np.rint(x)
    value = np.where(x < 0.5, value - pi / np.tan(pi * part), value)
    pole = (x < 0) & (part == 0)
    return np.where(x == 0, np.copysign(np.inf, -x), np.where(pole, np.nan, value))


def gammaln(x: Array) -> Array:
    """SciPy's logarithm of the gamma function, but infinite at both infinities, as C has it."""
    value: Array = np.where(np.isinf(x), np.inf, special.gammaln(x))
    return value


def scale_of_lgamma(x: Array) -> Array:
    """The larger of one and the logarithm for -x, whose difference from another term it is, for negative x."""
    positive = gammaln(np.abs(x).astype(np.float64))
    return np.where(x < 0, np.maximum(positive, 1.0), 0.0)


def scale_of_digamma(x: Array) -> Array:
    """The larger of one and the value for 1 - x, whose difference from another term it is, for negative x."""
    positive = special.digamma(1.0 + np.abs(x).astype(np.float64))
    return np.where(x < 0, np.maximum(positive, 1.0), 0.0)


def erfinv(x: Array) -> Array:
    """SciPy's inverse of the error function, but odd at zero too."""
    value: Array = np.where(x == 0, x, special.erfinv(x))
    return value


def erf_inv(x: Array) -> Array:
    """Inverse of the error function: SciPy's value and one step of Newton's method in long double."""
    start = erfinv(x.astype(np.float64)).astype(x.dtype)
    y, a = np.abs(start), np.abs(x)
    missing = np.where(a > 0.5, libm.erfc(y) - (1 - a), a - libm.erf(y))
    half_root_pi = x.dtype.type("0.886226925452758013649083741670572591")
    better = y + missing * np.exp(y * y) * half_root_pi
    value: Array = np.where(np.isfinite(start) & (start != 0), np.copysign(better, x), start)
    return value


def _where_available(function: Function) -> Function | None:
    return function if libm.AVAILABLE else None


_NAMES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "pow": "power",
}
_SAME = "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh cbrt hypot"

ORACLES: dict[str, Oracle] = {
    **{name: _numpy(name) for name in _SAME.split()},
    **{name: _numpy(theirs) for name, theirs in _NAMES.items()},
    "fmod": Oracle(np.fmod, np.fmod, relative=(0.0, 0.0)),
    **{name: _arithmetic(getattr(np, name)) for name in ("sqrt", "remainder", "floor_divide")},
    "rsqrt": _arithmetic(rsqrt),
    "logaddexp": Oracle(np.logaddexp, np.logaddexp, (1e-14, 1e-17)),
    "logaddexp2": Oracle(np.logaddexp2, np.logaddexp2, (1e-14, 1e-17)),
    "logistic": Oracle(logistic, logistic),
    "logit": Oracle(logit, logit),
    "softplus": Oracle(softplus, softplus),
    "erf": Oracle(special.erf, _where_available(libm.erf)),
    "erfc": Oracle(special.erfc, _where_available(libm.erfc)),
    "erf_inv": Oracle(erfinv, _where_available(erf_inv)),
    "lgamma": Oracle(gammaln, _where_available(libm.lgamma), (3e-14, 0.0), scale=scale_of_lgamma),
    "digamma": Oracle(digamma, digamma, (2e-14, 5e-18), scale=scale_of_digamma),
}
"""By the name of the operation."""
