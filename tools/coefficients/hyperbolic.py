"""Numbers of hyperbolic functions."""

from __future__ import annotations

import mpmath as mp

from tools.coefficients.fitting import Fit, Table, at_root


def tables() -> list[Fit | Table]:
    """All numbers of the family."""
    tiny = mp.mpf(10) ** -9
    tanh_tail = (
        at_root(lambda r: (mp.tanh(r) - r) / r**3),
        at_root(lambda r: r**3 / mp.tanh(r)),
    )
    return [
        Fit(
            "TANH_TAIL_F32",
            "(tanh(a) - a) / a**3 in a**2, |a| <= 0.8",
            *(*tanh_tail, tiny, mp.mpf("0.8") ** 2, 6, 24),
        ),
    ]
