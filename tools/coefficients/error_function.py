"""Numbers of the error function."""

from __future__ import annotations

import mpmath as mp

from tools.coefficients.fitting import Fit, Function, Table, at_root


def tables() -> list[Fit | Table]:
    """Polynomials of the error function, on both sides of where its two forms meet."""
    tail: tuple[Function, Function] = (
        at_root(lambda r: (mp.erf(r) - r) / r),
        at_root(lambda r: r / mp.erf(r)),
    )
    decay: tuple[Function, Function] = (lambda a: mp.log(mp.erfc(a)), mp.erfc)
    tiny, meeting = mp.mpf(10) ** -9, mp.mpf("0.9")
    return [
        Fit("ERF_TAIL_F32", "(erf(a) - a) / a in a**2, |a| <= 0.9", *tail, tiny, meeting**2, 7, 24),
        Fit("ERF_TAIL_F64", "the same", *tail, tiny, meeting**2, 12, 53),
        Fit(
            "ERFC_LOG_F32",
            "log(erfc(a)) in a, 0.9 <= a <= 4; the error is that of erfc",
            *decay,
            meeting,
            mp.mpf("4.0"),
            8,
            24,
        ),
        Fit(
            "ERFC_LOG_F64",
            "the same, 0.9 <= a <= 6; the error is that of erfc",
            *decay,
            meeting,
            mp.mpf("6.0"),
            22,
            53,
        ),
    ]
