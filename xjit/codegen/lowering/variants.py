"""Which primitives are vector functions, and which of these have a quick variant for usual arguments only.

Planning and lowering ask for no more than this table, so that the texts of the functions are loaded to compile only.
"""

from __future__ import annotations

from collections.abc import Iterable

from xjit.codegen.text.scalar_text import kind
from xjit.ir.node import Node
from xjit.ir.scalar_expr import Expr, Prim
from xjit.machine import Machine
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


REAL = _names(_REAL, "")
"""The functions of :mod:`xjit.codegen.vmath` on real numbers."""
NAMES = _names(_REAL, _COMPLEX)
"""The functions of :mod:`xjit.codegen.vmath`."""
VARIED = _names(_VARIED_REAL, _VARIED_COMPLEX)
"""Those with the variants ``near`` and ``is_far``."""
FREQUENT = _names("pow", "")
"""Those of which many arguments are far where some are."""


def has_fast_path(prim: str, dtype: DType) -> bool:
    """Return whether a primitive on operands of this type has variants ``near`` and ``is_far``.

    >>> import numpy as np
    >>> has_fast_path("sin", np.dtype(np.float64)), has_fast_path("exp", np.dtype(np.float64))
    (True, False)
    """
    return _name(prim, dtype) in VARIED


def with_fast_path(keys: Iterable[tuple[str, DType]]) -> list[tuple[str, DType]]:
    """Those of some primitives that have variants ``near`` and ``is_far``."""
    return [key for key in keys if has_fast_path(*key)]


def is_frequent(prim: str, dtype: DType) -> bool:
    """Return whether loops over arguments that ``near`` is wrong for inline the function, so that they are vector
    code.

    >>> import numpy as np
    >>> is_frequent("pow", np.dtype(np.float64)), is_frequent("sin", np.dtype(np.float64))
    (True, False)
    """
    return _name(prim, dtype) in FREQUENT


def is_vector_function(prim: str, dtype: DType) -> bool:
    """Return whether a primitive on operands of this type is a vector function, which has the variant ``rare``.

    >>> import numpy as np
    >>> is_vector_function("exp", np.dtype(np.float64)), is_vector_function("add", np.dtype(np.float64))
    (True, False)
    """
    return _name(prim, dtype) in NAMES


def calls_many(nodes: Iterable[Node], machine: Machine) -> bool:
    """Return whether one element of each node takes so many vector functions that a loop calls them."""
    keys = [key for node in nodes for key in _vector_functions(node)]
    return len(keys) >= machine.called_functions and all(has_called_form(*key) for key in keys)


def _vector_functions(node: Node) -> list[tuple[str, DType]]:
    """The vector functions in the element of a node, with the types of their operands."""
    stack: list[Expr] = [] if node.element is None else [node.element]
    seen: set[int] = set()
    found = []
    while stack:
        expr = stack.pop()
        if isinstance(expr, Prim) and id(expr) not in seen:
            seen.add(id(expr))
            stack.extend(expr.args)
            key = expr.name, expr.args[0].dtype
            if is_vector_function(*key):
                found.append(key)
    return found


def has_called_form(prim: str, dtype: DType) -> bool:
    """Return whether a primitive on operands of this type is a vector function that has the variant ``called``.

    >>> import numpy as np
    >>> has_called_form("exp", np.dtype(np.float64)), has_called_form("exp", np.dtype(np.complex128))
    (True, False)
    """
    return _name(prim, dtype) in REAL


def _name(prim: str, dtype: DType) -> str:
    return f"{prim}_{kind(FLOAT32 if dtype in NARROW_FLOATS else dtype)}"
