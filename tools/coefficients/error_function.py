"""Numbers of the error function."""

from __future__ import annotations

import mpmath as mp

from tools.coefficients.fitting import Fit, Function, Real, Table, at_root

TAIL_CENTRE, ROOT_CENTRE = mp.mpf("0.75"), mp.mpf(2)
# At this centre the first coefficient is almost a float.
SCALE, DIVISOR_CENTRE = mp.mpf(3), mp.mpf("0.2578125")


def root(power: int, factor: int) -> tuple[Function, Function]:
    """The root of erfc / factor that a polynomial comes near, and what its errors count in erfc."""

    def function(a: Real) -> Real:
        return (mp.erfc(a) / factor) ** (mp.mpf(1) / power)

    def weight(a: Real) -> Real:
        return factor * power * function(a) ** (power - 1)

    return function, weight


def at_distance(functions: tuple[Function, Function], centre: Real) -> tuple[Function, Function]:
    """The functions of the distance of their argument to a centre."""
    first, second = functions
    return (lambda u: first(u + centre)), (lambda u: second(u + centre))


def scaled(c: Real) -> Real:
    """exp(a**2) * erfc(a) / s for s = 3 / (a + 3) and c = 0.2578125 - s."""
    s = DIVISOR_CENTRE - c
    a = SCALE / s - SCALE
    return mp.exp(a * a) * mp.erfc(a) / s


def inverse_scaled(c: Real) -> Real:
    """One over that, so that errors are relative."""
    return 1 / scaled(c)


def tables() -> list[Fit | Table]:
    """Polynomials of the error function, on both sides of where its two forms meet."""
    tail: tuple[Function, Function] = (
        at_root(lambda r: (mp.erf(r) - r) / r),
        at_root(lambda r: r / mp.erf(r)),
    )
    centred = at_distance(tail, TAIL_CENTRE)
    tiny = mp.mpf(10) ** -9
    low, high = mp.mpf("1.201"), mp.mpf("1.451")
    return [
        Fit(
            "ERF_TAIL_F32",
            "(erf(a) - a) / a in a**2 - 0.75, |a| <= 1.2",
            *centred,
            *(tiny - TAIL_CENTRE, low**2 - TAIL_CENTRE, 8, 24),
        ),
        Fit(
            "ERF_TAIL_F64",
            "the same, |a| <= 1.45",
            *centred,
            *(tiny - TAIL_CENTRE, high**2 - TAIL_CENTRE, 16, 53),
        ),
        Fit(
            "ERFC_ROOT_F32",
            "(erfc(a) / 2)**(1/4) in a - 2, 1.2 <= a <= 4; the error is that of erfc",
            *at_distance(root(4, 2), ROOT_CENTRE),
            *(low - mp.mpf("0.002") - ROOT_CENTRE, 4 - ROOT_CENTRE, 8, 24),
        ),
        Fit(
            "ERFC_ROOT_F64",
            "erfc(a)**(1/16) in a, 1.45 <= a <= 6; the error is that of erfc",
            *root(16, 1),
            *(high - mp.mpf("0.002"), mp.mpf(6), 17, 53),
        ),
        Fit(
            "ERFC_SCALED_F32",
            "exp(a**2) erfc(a) (a + 3) / 3 in 0.2578125 - 3 / (a + 3), 0 <= a <= 10.3",
            *(scaled, inverse_scaled, DIVISOR_CENTRE - 1, DIVISOR_CENTRE - SCALE / mp.mpf("13.3"), 12, 53),
        ),
        Fit(
            "ERFC_SCALED_F64",
            "the same, 0 <= a <= 27.4",
            *(scaled, inverse_scaled, DIVISOR_CENTRE - 1, DIVISOR_CENTRE - SCALE / mp.mpf("30.4"), 25, 53),
        ),
    ]
