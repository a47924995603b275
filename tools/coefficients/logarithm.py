"""Numbers of logarithms."""

from __future__ import annotations

import mpmath as mp

from tools.coefficients.fitting import Fit, Table, at_root


def tables() -> list[Fit | Table]:
    """All numbers of the family."""
    root = mp.sqrt(mp.mpf(1) / 2)
    tiny = mp.mpf(10) ** -9
    return [
        Fit(
            "LOG_TAIL_F32",
            "(log(1 + a) - a + a**2/2) / a**3 in a, sqrt(1/2) <= 1 + a <= sqrt(2)",
            lambda a: (mp.log1p(a) - a + a**2 / 2) / a**3,
            lambda a: a**3 / mp.log1p(a),
            *(root - 1, 1 / root - 1, 8, 24),
        ),
        Fit(
            "LOG_RATIO_F64",
            "(2 atanh(s) / s - 2) / s**2 in s**2, |s| <= 3 - sqrt(8)",
            at_root(lambda s: (2 * mp.atanh(s) / s - 2) / s**2),
            lambda z: z / 2,
            *(tiny, (3 - mp.sqrt(8)) ** 2 * mp.mpf("1.0001"), 7, 53),
        ),
    ]
