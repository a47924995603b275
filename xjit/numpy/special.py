"""SciPy's special functions that are ufuncs: one row each, as in :mod:`xjit.numpy.ufuncs`.

SciPy is looked for among the modules that the program has imported, and never imported here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import ops
from xjit.numpy.broadcasting import broadcast_to_shape
from xjit.numpy.values import shape_of
from xjit.ops._core import Operand, dtype_of

Row = Callable[..., Any]


def gammaln(x: Operand) -> Any:
    """SciPy's value at -inf, which is -inf."""
    lowest = broadcast_to_shape(np.asarray(-np.inf, dtype_of(x)), shape_of(x))
    return ops.select(ops.eq(x, lowest), lowest, ops.lgamma(x))


def digamma(x: Operand) -> Any:
    """SciPy's value at the pole at zero: infinite, of the opposite sign."""
    zero = np.zeros((), dtype_of(x))
    infinite = ops.div(broadcast_to_shape(np.asarray(-1, dtype_of(x)), shape_of(x)), x)
    return ops.select(ops.eq(x, broadcast_to_shape(zero, shape_of(x))), infinite, ops.digamma(x))


ROWS: dict[str, Row] = {
    "cbrt": ops.cbrt,
    "digamma": digamma,
    "erf": ops.erf,
    "erfc": ops.erfc,
    "erfinv": ops.erf_inv,
    "expit": ops.logistic,
    "expm1": ops.expm1,
    "exp2": ops.exp2,
    "gammaln": gammaln,
    "log1p": ops.log1p,
    "logit": ops.logit,
    "psi": digamma,
}


def row_of(ufunc: np.ufunc) -> Row | None:
    """The row of a ufunc of ``scipy.special``; None for all others.

    >>> row_of(np.exp) is None
    True
    """
    module = sys.modules.get("scipy.special")
    known = module is not None and getattr(module, ufunc.__name__, None) is ufunc
    return ROWS.get(ufunc.__name__) if known else None
