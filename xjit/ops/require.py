"""Conditions that only the run can tell: a value is handed on if one holds, else the error of NumPy is raised.

Kernels never raise: they note that a condition does not hold, go on, and the program raises when they are done. What
follows from the value is therefore computed all the same, and must be harmless.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.errors import ArgumentError, IndexOutOfBoundsError
from xjit.ir.opdef import Access, AxisMap, Kind, OpDef, Params
from xjit.ops import rules
from xjit.ops._core import apply, as_operand, register
from xjit.ops.references import Array
from xjit.types import ArrayType, c_order

Types = tuple[ArrayType, ...]

ERRORS: dict[str, type[Exception]] = {
    "value": ArgumentError,
    "index": IndexOutOfBoundsError,
    "division": ZeroDivisionError,
}
"""What may be raised, by the word that a node keeps of it."""


def _infer(types: Types, params: Params) -> ArrayType:
    operand, condition = types
    rules.check_class("require", "condition", condition, "P")
    order = operand.order if len(operand.order) == operand.rank else c_order(operand.rank)
    return ArrayType(operand.dtype, operand.dims, order)


def _failure(params: Params) -> Exception:
    return ERRORS[params["error"]](params["message"])


def _reference(operand: Array, condition: Array, **params: Any) -> Array:
    if not np.all(condition):
        raise _failure(params)
    return np.array(operand, order="K")


def _access(types: Types, params: Params, out: ArrayType) -> Access:
    return Access(tuple(AxisMap(axis) for axis in range(out.rank)))


REQUIRE = register(
    OpDef(
        name="require",
        kind=Kind.INDEXING,
        infer=_infer,
        reference=_reference,
        access=_access,
        failure=_failure,
        doc="The operand, if a condition holds; else an error.",
    )
)


def require(operand: Any, condition: Any, error: str, message: str) -> Any:
    """The operand, if the condition holds everywhere when it is computed; else the error of this word is raised.

    Any element type; the condition is PRED, of any dimensions. Raises DTypeError for another condition.

    >>> require(np.float32([1, 2]), np.array([True, True, True]), "value", "numpy.f: there is nothing")
    array([1., 2.], dtype=float32)
    """
    array, holds = as_operand(operand, "require", "operand"), as_operand(condition, "require", "condition")
    return apply(REQUIRE, array, holds, error=error, message=message)
