"""The modified Bessel function of order zero, as a sum of Chebyshev polynomials on either side of 8.

Coefficients: C. W. Clenshaw, Chebyshev series for mathematical functions, 1962, in the form that the Cephes library
and NumPy use.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import DTypeError
from xjit.numpy.arrays.shaping import as_array
from xjit.numpy.rules.compositions import full_like
from xjit.numpy.rules.promotion import is_inexact
from xjit.numpy.rules.values import as_value, converted, loop_order, with_order
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import dtype_of
from xjit.types import FLOAT64, dtype_class

BORDER = 8.0
"""Up to here the near coefficients hold, beyond it the far ones."""

NEAR = (
    -4.4153416464793395e-18,
    3.3307945188222384e-17,
    -2.431279846547955e-16,
    1.715391285555133e-15,
    -1.1685332877993451e-14,
    7.676185498604936e-14,
    -4.856446783111929e-13,
    2.95505266312964e-12,
    -1.726826291441556e-11,
    9.675809035373237e-11,
    -5.189795601635263e-10,
    2.6598237246823866e-09,
    -1.300025009986248e-08,
    6.046995022541919e-08,
    -2.670793853940612e-07,
    1.1173875391201037e-06,
    -4.4167383584587505e-06,
    1.6448448070728896e-05,
    -5.754195010082104e-05,
    0.00018850288509584165,
    -0.0005763755745385824,
    0.0016394756169413357,
    -0.004324309995050576,
    0.010546460394594998,
    -0.02373741480589947,
    0.04930528423967071,
    -0.09490109704804764,
    0.17162090152220877,
    -0.3046826723431984,
    0.6767952744094761,
)
FAR = (
    -7.233180487874754e-18,
    -4.830504485944182e-18,
    4.46562142029676e-17,
    3.461222867697461e-17,
    -2.8276239805165836e-16,
    -3.425485619677219e-16,
    1.7725601330565263e-15,
    3.8116806693526224e-15,
    -9.554846698828307e-15,
    -4.150569347287222e-14,
    1.54008621752141e-14,
    3.8527783827421426e-13,
    7.180124451383666e-13,
    -1.7941785315068062e-12,
    -1.3215811840447713e-11,
    -3.1499165279632416e-11,
    1.1889147107846439e-11,
    4.94060238822497e-10,
    3.3962320257083865e-09,
    2.266668990498178e-08,
    2.0489185894690638e-07,
    2.8913705208347567e-06,
    6.889758346916825e-05,
    0.0033691164782556943,
    0.8044904110141088,
)


def i0(x: Any) -> Any:
    """The modified Bessel function of the first kind of order zero; an array even for rank 0.

    Element types: floats stay, integers count as float64. Raises DTypeError for complex numbers.

    >>> i0(np.array([0.0]))
    array([1.])
    """
    value = as_array(as_value(x, "i0"))
    letter = dtype_class(dtype_of(value))
    if letter == "C":
        raise DTypeError("numpy.i0: i0 not supported for complex values")
    value = value if is_inexact(dtype_of(value)) else converted(value, FLOAT64)
    size = ops.abs(value)
    growth = call(np.exp, size)
    near = call(np.multiply, growth, _series(call(np.subtract, call(np.divide, size, 2.0), 2), NEAR))
    far = call(np.multiply, growth, _series(call(np.subtract, call(np.divide, 32.0, size), 2.0), FAR))
    result = ops.select(ops.le(size, full_like(size, BORDER)), near, call(np.divide, far, call(np.sqrt, size)))
    return with_order(as_array(result), loop_order(value))


def _series(x: Any, coefficients: tuple[float, ...]) -> Any:
    """The sum of Chebyshev polynomials by Clenshaw's recurrence."""
    last: Any = coefficients[0]
    before: Any = 0.0
    older: Any = 0.0
    for coefficient in coefficients[1:]:
        older, before = before, last
        last = call(np.add, call(np.subtract, call(np.multiply, x, before), older), coefficient)
    return call(np.multiply, 0.5, call(np.subtract, last, older))
