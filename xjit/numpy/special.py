"""SciPy's special functions that are ufuncs: one row each, as in :mod:`xjit.numpy.ufuncs`.

SciPy is looked for among the modules that the program has imported, and never imported here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import ops

Row = Callable[..., Any]

ROWS: dict[str, Row] = {
    "erf": ops.erf,
}


def row_of(ufunc: np.ufunc) -> Row | None:
    """The row of a ufunc of ``scipy.special``; None for all others.

    >>> row_of(np.exp) is None
    True
    """
    module = sys.modules.get("scipy.special")
    known = module is not None and getattr(module, ufunc.__name__, None) is ufunc
    return ROWS.get(ufunc.__name__) if known else None
