"""Numbers of sine, cosine and tangent: tails of the series, digits of pi."""

from __future__ import annotations

import mpmath as mp

from tools.coefficients.fitting import Fit, Real, Table, at_root, inverse_pi_words, pieces, rounded


def _tangent(name: str, pole: Real, high: Real, count: int, bits: int) -> Fit:
    """Return the tangent without its nearest poles, which are where 1 - pole * r**2 vanishes."""

    def smooth(r: Real) -> Real:
        return mp.tan(r) / r * (1 - pole * r**2)

    return Fit(
        name,
        f"(tan(r) / r * (1 - {float(pole):.4} * r**2) - 1) / r**2 in r**2, |r| <= pi/4",
        at_root(lambda r: (smooth(r) - 1) / r**2),
        at_root(lambda r: r**2 / smooth(r)),
        *(mp.mpf(10) ** -9, high, count, bits),
    )


def tables() -> list[Fit | Table]:
    """All numbers of the family."""
    half_pi_square = (mp.pi / 2) ** 2 * mp.mpf("1.0005")
    tiny = mp.mpf(10) ** -9
    sine_tail = (
        at_root(lambda r: (mp.sin(r) - r) / r**3),
        at_root(lambda r: r**3 / mp.sin(r)),
    )
    quarter_pi_square = (mp.pi / 4) ** 2 * mp.mpf("1.002")
    pole_f32, pole_f64 = rounded((2 / mp.pi) ** 2, 24), rounded((2 / mp.pi) ** 2, 53)
    return [
        Fit("SINE_TAIL_F32", "(sin(r) - r) / r**3 in r**2, |r| <= pi/2", *sine_tail, tiny, half_pi_square, 4, 53),
        Fit("SINE_TAIL_F64", "the same", *sine_tail, tiny, half_pi_square, 8, 53),
        _tangent("TANGENT_TAIL_F32", pole_f32, quarter_pi_square, 3, 24),
        _tangent("TANGENT_TAIL_F64", pole_f64, quarter_pi_square, 7, 53),
        Table("POLE_F32", "(2 / pi)**2, the pole of the first of these", (float(pole_f32),)),
        Table("POLE_F64", "the same, of the second", (float(pole_f64),)),
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
        Table(
            "HALF_PI_PARTS_F32",
            "pi / 2 in four parts; products of all but the last with 12-bit integers are exact",
            pieces(mp.pi / 2, 12, 12, 12, 24),
        ),
        Table("INVERSE_PI_WORDS_F32", "binary digits of 1 / pi from weight 2**-1 on", inverse_pi_words(-1, 32, 7)),
        Table("INVERSE_PI_WORDS_F64", "binary digits of 1 / pi from weight 2**28 on", inverse_pi_words(28, 64, 19)),
    ]
