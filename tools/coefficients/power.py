"""Numbers of powers."""

from __future__ import annotations

import mpmath as mp

from tools.coefficients.fitting import Fit, Real, Table, pieces


def _split(value: Real) -> tuple[float, float]:
    high = float(value)
    return high, float(value - mp.mpf(high))


def tables() -> list[Fit | Table]:
    """All numbers of the family."""
    scale = 2 / mp.log(2)
    tiny = mp.mpf(10) ** -9
    end = (3 - mp.sqrt(8)) ** 2 * mp.mpf("1.0001")

    def tail(z: Real) -> Real:
        return scale * mp.fsum(z**k / (2 * k + 5) for k in range(40))

    return [
        Table("SCALE_F64", "2 / log(2) in two parts", _split(scale)),
        Table("SCALE_F32", "2 / log(2) in two parts of f32", pieces(scale, 24, 24)),
        Table("CUBIC_F32", "2 / (3 log(2)) in two parts of f32", pieces(scale / 3, 24, 24)),
        Table("CUBIC_F64", "2 / (3 log(2)) in two parts", _split(scale / 3)),
        Fit(
            "LOG2_TAIL_F64",
            "(2 atanh(s) / (s log(2)) - 2 / log(2) - 2 s**2 / (3 log(2))) / s**4 in s**2, |s| <= 3 - sqrt(8)",
            tail,
            lambda z: z**2 / scale,
            *(tiny, end, 7, 53),
        ),
        Fit(
            "LOG2_TAIL_F32",
            "the same for numbers of f32",
            tail,
            lambda z: z**2 / scale,
            *(tiny, end, 3, 24),
        ),
        Fit(
            "EXP2_F32",
            "2**r in r, |r| <= 1/2",
            lambda r: mp.mpf(2) ** r,
            lambda r: mp.mpf(2) ** -r,
            *(mp.mpf(-1) / 2, mp.mpf(1) / 2, 7, 24),
            leading=(1.0,),
        ),
        Fit(
            "EXP2_F64",
            "the same",
            lambda r: mp.mpf(2) ** r,
            lambda r: mp.mpf(2) ** -r,
            *(mp.mpf(-1) / 2, mp.mpf(1) / 2, 12, 53),
            leading=(1.0,),
        ),
    ]
