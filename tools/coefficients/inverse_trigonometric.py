"""Numbers of inverse trigonometric functions."""

from __future__ import annotations

import mpmath as mp

from tools.coefficients.fitting import Fit, Table, at_root, pieces


def tables() -> list[Fit | Table]:
    """All numbers of the family."""
    tiny = mp.mpf(10) ** -9
    asin_tail = (
        at_root(lambda s: (mp.asin(s) - s) / s**3),
        at_root(lambda s: s**3 / mp.asin(s)),
    )
    atan_tail = (
        at_root(lambda t: (mp.atan(t) - t) / t**3),
        at_root(lambda t: t**3 / mp.atan(t)),
    )
    quarter = mp.mpf("0.2501")
    return [
        Fit("ASIN_TAIL_F32", "(asin(s) - s) / s**3 in s**2, |s| <= 1/2", *asin_tail, tiny, quarter, 5, 24),
        Fit("ASIN_TAIL_F64", "the same", *asin_tail, tiny, quarter, 12, 53),
        Fit("ATAN_TAIL_F32", "(atan(t) - t) / t**3 in t**2, |t| <= 1", *atan_tail, tiny, mp.mpf("1.0001"), 9, 24),
        Fit("ATAN_TAIL_F64", "the same", *atan_tail, tiny, mp.mpf("1.0001"), 20, 53),
        Fit("ATAN_HALF_TAIL_F64", "the same, |t| <= 1/2", *atan_tail, tiny, quarter, 12, 53),
        Table("HALF_PI_F32", "pi / 2 in two parts", pieces(mp.pi / 2, 24, 24)),
        Table("HALF_PI_F64", "pi / 2 in two parts", pieces(mp.pi / 2, 53, 53)),
    ]
