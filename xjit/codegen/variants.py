"""Which primitives have a quick variant that is right for usual arguments only."""

from __future__ import annotations

from xjit.codegen.scalar_text import kind
from xjit.codegen.vmath import COMPLEX_FUNCTIONS, VECTOR_FUNCTIONS
from xjit.types import FLOAT32, NARROW_FLOATS, DType


def has_variants(prim: str, dtype: DType) -> bool:
    """Whether a primitive on operands of this type has variants ``near``, ``rare`` and ``is_far``.

    >>> import numpy as np
    >>> has_variants("sin", np.dtype(np.float64)), has_variants("exp", np.dtype(np.float64))
    (True, False)
    """
    name = f"{prim}_{kind(FLOAT32 if dtype in NARROW_FLOATS else dtype)}"
    function = VECTOR_FUNCTIONS.get(name) or COMPLEX_FUNCTIONS.get(name)
    return function is not None and function.varied
