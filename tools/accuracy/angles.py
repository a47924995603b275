"""Floats closest to multiples of pi/2, for which reducing an angle needs the most digits."""

from __future__ import annotations

import functools
from typing import Any

import gmpy2
import numpy as np

DIGITS_OF_PI = 1400


def _denominators(numerator: int, denominator: int, most: int) -> list[int]:
    """Denominators up to ``most`` of the convergents of a fraction, those of the continued fraction."""
    before, last, found = 0, 1, []
    a, b = numerator, denominator
    while b:
        a, b = b, a % b
        if not b:
            break
        following = a // b
        before, last = last, following * last + before
        if last > most:
            break
        found.append(last)
    return found


@functools.cache
def hardest(digits: int = 53, largest: int = 1024) -> np.ndarray[Any, Any]:
    """For every exponent the significands whose product with the power of two is closest to a multiple of pi/2.

    ``m * 2**e * 2/pi`` is closest to an integer where ``m`` is the denominator of a convergent of ``2**e * 2/pi``.
    """
    with gmpy2.context(precision=DIGITS_OF_PI):
        turns = 2 / gmpy2.const_pi()
        fraction = int(gmpy2.floor(turns * gmpy2.exp2(DIGITS_OF_PI)))
    found = set()
    for exponent in range(largest - digits + 1):
        for m in _denominators(fraction << exponent, 1 << DIGITS_OF_PI, (1 << digits) - 1)[-3:]:
            found.add(float(m) * 2.0**exponent)
    return np.array(sorted(found))
