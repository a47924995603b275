"""Which primitives are vector functions, and which of these have a quick variant for usual arguments only.

Planning and lowering ask for no more than this table, so that the texts of the functions are loaded to compile only.
"""

from __future__ import annotations

from xjit.codegen.scalar_text import kind
from xjit.types import FLOAT32, NARROW_FLOATS, DType

_REAL = """
    exp exp2 expm1 log log2 log10 log1p tanh erf erf_inv erfc asin acos atan atan2 asinh acosh atanh cbrt rsqrt hypot
    logit softplus sinh cosh logistic sin cos tan fmod remainder floor_divide lgamma digamma pow
"""
_COMPLEX = """
    asin acos atan asinh acosh atanh log log2 log10 log1p angle abs sqrt rsqrt exp exp2 expm1 logistic sinh cosh tanh
    sin cos tan pow
"""
_VARIED_REAL = "sin cos tan fmod remainder floor_divide lgamma digamma pow"
_VARIED_COMPLEX = "exp exp2 expm1 logistic sinh cosh tanh sin cos tan pow"


def _names(real: str, complex: str) -> frozenset[str]:
    both = ((real, "f32 f64"), (complex, "c64 c128"))
    return frozenset(f"{stem}_{kind}" for stems, kinds in both for stem in stems.split() for kind in kinds.split())


NAMES = _names(_REAL, _COMPLEX)
"""The functions of :mod:`xjit.codegen.vmath`."""
VARIED = _names(_VARIED_REAL, _VARIED_COMPLEX)
"""Those with the variants ``near`` and ``is_far``."""
FREQUENT = _names("pow", "")
"""Those of which many arguments are far where some are."""


def has_variants(prim: str, dtype: DType) -> bool:
    """Whether a primitive on operands of this type has variants ``near`` and ``is_far``.

    >>> import numpy as np
    >>> has_variants("sin", np.dtype(np.float64)), has_variants("exp", np.dtype(np.float64))
    (True, False)
    """
    return _name(prim, dtype) in VARIED


def is_frequent(prim: str, dtype: DType) -> bool:
    """Whether loops over arguments that ``near`` is wrong for inline the function, so that they are vector code.

    >>> import numpy as np
    >>> is_frequent("pow", np.dtype(np.float64)), is_frequent("sin", np.dtype(np.float64))
    (True, False)
    """
    return _name(prim, dtype) in FREQUENT


def is_vector_function(prim: str, dtype: DType) -> bool:
    """Whether a primitive on operands of this type is a vector function, which has the variant ``rare``.

    >>> import numpy as np
    >>> is_vector_function("exp", np.dtype(np.float64)), is_vector_function("add", np.dtype(np.float64))
    (True, False)
    """
    return _name(prim, dtype) in NAMES


def _name(prim: str, dtype: DType) -> str:
    return f"{prim}_{kind(FLOAT32 if dtype in NARROW_FLOATS else dtype)}"
