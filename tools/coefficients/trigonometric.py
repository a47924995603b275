"""Numbers of sine and cosine: tails of the series, digits of pi."""

from __future__ import annotations

import mpmath as mp

from tools.coefficients.fitting import Fit, Table, at_root, inverse_pi_words, pieces


def tables() -> list[Fit | Table]:
    """All numbers of the family."""
    half_pi_square = (mp.pi / 2) ** 2 * mp.mpf("1.0005")
    tiny = mp.mpf(10) ** -9
    sine_tail = (
        at_root(lambda r: (mp.sin(r) - r) / r**3),
        at_root(lambda r: r**3 / mp.sin(r)),
    )
    return [
        Fit("SINE_TAIL_F32", "(sin(r) - r) / r**3 in r**2, |r| <= pi/2", *sine_tail, tiny, half_pi_square, 4, 53),
        Fit("SINE_TAIL_F64", "the same", *sine_tail, tiny, half_pi_square, 8, 53),
        Table("INVERSE_PI", "1 / pi", pieces(1 / mp.pi, 53)),
        Table(
            "PI_F32", "pi in two parts; products of the first with 24-bit integers are exact", pieces(mp.pi, 29, 53)
        ),
        Table(
            "PI_F64",
            "pi in four parts; products of all but the last with 24-bit integers are exact",
            pieces(mp.pi, 29, 23, 29, 53),
        ),
        Table("PI_PAIR", "pi as a float and the rest", pieces(mp.pi, 53, 53)),
        Table("INVERSE_PI_WORDS_F32", "binary digits of 1 / pi from weight 2**-1 on", inverse_pi_words(-1, 32, 7)),
        Table("INVERSE_PI_WORDS_F64", "binary digits of 1 / pi from weight 2**28 on", inverse_pi_words(28, 64, 19)),
    ]
