"""Which primitives have a quick variant that is right for bounded arguments only."""

from __future__ import annotations

import math

from xjit.codegen.scalar_text import kind
from xjit.codegen.vmath import VECTOR_FUNCTIONS
from xjit.types import FLOAT32, NARROW_FLOATS, DType


def bound_of(prim: str, dtype: DType) -> float | None:
    """Up to which magnitude the quick variant of a primitive is right; None if there is no such variant.

    >>> import numpy as np
    >>> bound_of("exp", np.dtype(np.float64)) is None
    True
    """
    function = VECTOR_FUNCTIONS.get(f"{prim}_{kind(FLOAT32 if dtype in NARROW_FLOATS else dtype)}")
    return None if function is None or math.isinf(function.bound) else function.bound
