"""Numbers of roots: first guesses made of bits, and the series that improve them."""

from __future__ import annotations

import math

import mpmath as mp

from tools.coefficients.fitting import Fit, Real, Table

STEPS = 3000
HALVINGS = 60


def tables() -> list[Fit | Table]:
    """All numbers of the family."""
    magic, reach = guess(3)
    return [
        Table(
            "INVERSE_CUBE_ROOT_GUESS",
            "what the curvature of logarithms takes from the exponent and fraction of the guess",
            (magic,),
        ),
        # A guess rounded to twelve bits is off by a little more.
        _series("CUBE_ROOT_F32", "-2/3", (1 + reach) * (1 + mp.mpf(2) ** -12) ** 3 - 1, 5, 24),
        _series("INVERSE_CUBE_ROOT_F64", "-1/3", reach, 6, 53),
    ]


def _series(name: str, exponent: str, reach: Real, count: int, bits: int) -> Fit:
    numerator, _, denominator = exponent.partition("/")

    def power(h: Real) -> Real:
        return (1 - h) ** (mp.mpf(numerator) / int(denominator))

    return Fit(
        name,
        f"((1 - h)**({exponent}) - 1) / h in h, |h| <= {float(reach):.4}",
        lambda h: (power(h) - 1) / h,
        lambda h: h / power(h),
        *(-reach, reach, count, bits),
    )


def guess(root: int) -> tuple[float, Real]:
    """The best constant of ``constant - log2(x) / root``, logarithm and power both piecewise linear, as bits are.

    With it comes the largest ``|1 - x * y**root|``, which is the same in both directions.
    """
    low, high = -0.2, 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        errors = [_miss(middle, root, 1 + root * step / STEPS) for step in range(STEPS)]
        low, high = (middle, high) if max(errors) > -min(errors) else (low, middle)
    return middle, mp.mpf(max(errors)) * mp.mpf("1.0005")


def _miss(constant: float, root: int, linear: float) -> float:
    """``1 - x * y**root`` for the number whose piecewise linear logarithm this is."""
    return 1 - _power(linear) * _power(constant - linear / root) ** root


def _power(linear: float) -> float:
    whole = math.floor(linear)
    return math.ldexp(1 + linear - whole, whole)
