"""Which primitives are vector functions, and which of these have a quick variant for usual arguments only."""

from __future__ import annotations

from xjit.codegen.scalar_text import kind
from xjit.codegen.vmath import COMPLEX_FUNCTIONS, VECTOR_FUNCTIONS, VectorFunction
from xjit.types import FLOAT32, NARROW_FLOATS, DType


def has_variants(prim: str, dtype: DType) -> bool:
    """Whether a primitive on operands of this type has variants ``near`` and ``is_far``.

    >>> import numpy as np
    >>> has_variants("sin", np.dtype(np.float64)), has_variants("exp", np.dtype(np.float64))
    (True, False)
    """
    function = _function(prim, dtype)
    return function is not None and function.varied


def is_frequent(prim: str, dtype: DType) -> bool:
    """Whether loops over arguments that ``near`` is wrong for inline the function, so that they are vector code.

    >>> import numpy as np
    >>> is_frequent("pow", np.dtype(np.float64)), is_frequent("sin", np.dtype(np.float64))
    (True, False)
    """
    function = _function(prim, dtype)
    return function is not None and function.frequent


def is_vector_function(prim: str, dtype: DType) -> bool:
    """Whether a primitive on operands of this type is a vector function, which has the variant ``rare``.

    >>> import numpy as np
    >>> is_vector_function("exp", np.dtype(np.float64)), is_vector_function("add", np.dtype(np.float64))
    (True, False)
    """
    return _function(prim, dtype) is not None


def _function(prim: str, dtype: DType) -> VectorFunction | None:
    name = f"{prim}_{kind(FLOAT32 if dtype in NARROW_FLOATS else dtype)}"
    return VECTOR_FUNCTIONS.get(name) or COMPLEX_FUNCTIONS.get(name)
