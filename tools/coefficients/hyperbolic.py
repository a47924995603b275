"""Numbers of hyperbolic functions."""

from __future__ import annotations

import mpmath as mp

from tools.coefficients.fitting import Fit, Table, at_root


def tables() -> list[Fit | Table]:
    """All numbers of the family."""
    tiny = mp.mpf(10) ** -9
    sinh_tail = (
        at_root(lambda r: (mp.sinh(r) - r) / r**3),
        at_root(lambda r: r**3 / mp.sinh(r)),
    )
    cosh_tail = (
        at_root(lambda r: (mp.cosh(r) - 1) / r**2),
        at_root(lambda r: r**2 / mp.cosh(r)),
    )
    long, short = mp.mpf("0.483") ** 2, (mp.log(2) / 2 * mp.mpf("1.001")) ** 2
    return [
        Fit("SINH_TAIL_F32", "(sinh(r) - r) / r**3 in r**2, |r| <= 0.483", *sinh_tail, tiny, long, 3, 24),
        Fit("SINH_TAIL_F64", "the same", *sinh_tail, tiny, long, 5, 53),
        Fit("COSH_TAIL_F32", "(cosh(r) - 1) / r**2 in r**2, |r| <= 0.483", *cosh_tail, tiny, long, 3, 24),
        Fit("COSH_TAIL_F64", "the same", *cosh_tail, tiny, long, 6, 53),
        Fit("SHORT_SINH_TAIL_F32", "(sinh(r) - r) / r**3 in r**2, |r| <= log(2)/2", *sinh_tail, tiny, short, 2, 24),
        Fit("SHORT_SINH_TAIL_F64", "the same", *sinh_tail, tiny, short, 5, 53),
        Fit("SHORT_COSH_TAIL_F32", "(cosh(r) - 1) / r**2 in r**2, |r| <= log(2)/2", *cosh_tail, tiny, short, 3, 24),
        Fit("SHORT_COSH_TAIL_F64", "the same", *cosh_tail, tiny, short, 5, 53),
    ]
