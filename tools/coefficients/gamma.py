"""Numbers of the logarithm of the gamma function and of its derivative."""

from __future__ import annotations

import mpmath as mp

from tools.coefficients.fitting import Fit, Real, Table, at_root

SMALLEST_STIRLING = mp.mpf("4.5")
SMALLEST_DIGAMMA_SERIES = mp.mpf(4)


def _stirling_rest(z: Real) -> Real:
    x = 1 / mp.sqrt(z)
    return (mp.loggamma(x) - (x - mp.mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2) * x


def _digamma_rest(z: Real) -> Real:
    x = 1 / mp.sqrt(z)
    return (mp.log(x) - 1 / (2 * x) - mp.psi(0, x)) / z


def _by_zeros(a: Real) -> Real:
    return mp.loggamma(2 + a) / (a * (1 + a))


def _sine_by_angle(a: Real) -> Real:
    return mp.sinpi(a) / (mp.pi * a)


def _root() -> Real:
    return mp.findroot(lambda x: mp.psi(0, x), mp.mpf("1.4616321449683623"))


def tables() -> list[Fit | Table]:
    """All numbers of the family."""
    root = _root()
    high = float(root)
    half, tiny = mp.mpf(1) / 2, mp.mpf(10) ** -7
    log_two = mp.log(2)
    middle = mp.mpf("1.75")
    return [
        Table("LN2", "log(2) in two parts", (float(log_two), float(log_two - mp.mpf(float(log_two))))),
        Table("PI", "pi in two parts", (float(mp.pi), float(mp.pi - mp.mpf(float(mp.pi))))),
        Fit(
            "SINE_BY_ANGLE",
            "sin(pi a) / (pi a) in a**2, |a| <= 1/2",
            at_root(_sine_by_angle),
            at_root(lambda a: 1 / _sine_by_angle(a)),
            *(tiny, half**2, 9, 53, (1.0,)),
        ),
        Table("STIRLING_CONSTANT", "log(2 pi) / 2 - 1/2", (float(mp.log(2 * mp.pi) / 2 - half),)),
        Fit(
            "LGAMMA_BY_ZEROS",
            "what the logarithm of gamma(2 + a) is in units of a (1 + a), in a, -3/4 <= a <= 1/2",
            _by_zeros,
            lambda a: 1 / _by_zeros(a),
            *(-3 * half / 2 - tiny, half + tiny * 3, 22, 53),
        ),
        Fit(
            "STIRLING_REST",
            "x (log(gamma(x)) - (x - 1/2) log(x) + x - log(2 pi) / 2) in 1 / x**2, x >= 4.5",
            _stirling_rest,
            lambda z: mp.sqrt(z) / mp.loggamma(1 / mp.sqrt(z)),
            *(tiny, 1 / SMALLEST_STIRLING**2, 8, 53),
        ),
        Table("DIGAMMA_ROOT", "positive zero of digamma in two parts", (high, float(root - mp.mpf(high)))),
        Fit(
            "DIGAMMA_BY_ROOT",
            "digamma(7/4 + a) / (7/4 + a - root) in a, |a| <= 3/4",
            lambda a: mp.psi(0, middle + a) / (middle + a - root),
            lambda a: (middle + a - root) / mp.psi(0, middle + a),
            *(-middle + 1 - tiny, middle - 1 + tiny * 3, 26, 53),
        ),
        Fit(
            "DIGAMMA_REST",
            "x**2 (log(x) - 1 / (2 x) - digamma(x)) in 1 / x**2, x >= 4",
            _digamma_rest,
            lambda z: z / mp.psi(0, 1 / mp.sqrt(z)),
            *(tiny, 1 / SMALLEST_DIGAMMA_SERIES**2, 9, 53),
        ),
    ]
