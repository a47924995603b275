"""Numbers of exponentials: tails of the series, logarithms of two."""

from __future__ import annotations

import mpmath as mp

from tools.coefficients.fitting import Fit, Function, Table, pieces, rounded


def tables() -> list[Fit | Table]:
    """All numbers of the family."""
    half_log = mp.log(2) / 2 * mp.mpf("1.001")
    log2 = mp.log(2)
    exp_tail: tuple[Function, Function] = (lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2 * mp.exp(-r))
    return [
        Fit("EXP_TAIL_F32", "(exp(r) - 1 - r) / r**2 in r, |r| <= log(2)/2", *exp_tail, -half_log, half_log, 5, 24),
        Fit("EXP_TAIL_F64", "the same", *exp_tail, -half_log, half_log, 10, 53),
        Fit(
            "EXPM1_TAIL_F32",
            "the same, -0.415 log(2) <= r <= 0.585 log(2)",
            *exp_tail,
            *(-log2 * mp.mpf("0.4155"), log2 * mp.mpf("0.5855"), 5, 24),
        ),
        Fit("EXPM1_TAIL_F64", "the same", *exp_tail, -log2 * mp.mpf("0.4155"), log2 * mp.mpf("0.5855"), 10, 53),
        Fit(
            "EXP2_F32",
            "2**r in r, |r| <= 1/2",
            lambda r: mp.mpf(2) ** r,
            lambda r: mp.mpf(2) ** -r,
            *(mp.mpf("-0.5005"), mp.mpf("0.5005"), 7, 24, (1.0, float(rounded(mp.log(2), 24)))),
        ),
        Fit(
            "EXP2_F64",
            "the same",
            lambda r: mp.mpf(2) ** r,
            lambda r: mp.mpf(2) ** -r,
            *(mp.mpf("-0.5005"), mp.mpf("0.5005"), 12, 53, (1.0, float(mp.log(2)))),
        ),
        Table("LOG2_E", "1 / log(2)", pieces(1 / log2, 53)),
        Table("LOG2_E_F32", "1 / log(2) in two parts", pieces(1 / log2, 24, 24)),
        Table("LOG2_E_F64", "1 / log(2) in two parts", pieces(1 / log2, 53, 53)),
        Table(
            "LN2_F32",
            "log(2) in two parts; products of the first with 9-bit integers are exact",
            pieces(log2, 15, 24),
        ),
        Table(
            "LN2_F64",
            "log(2) in two parts; products of the first with 11-bit integers are exact",
            pieces(log2, 42, 53),
        ),
    ]
