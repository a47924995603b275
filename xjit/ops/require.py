"""Conditions that only the run can tell: a value is handed on if one holds, else the error of NumPy is raised.

Kernels never raise, so this is a step between them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.errors import ArgumentError, IndexOutOfBoundsError
from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ops import rules
from xjit.ops._core import apply, as_operand, register
from xjit.ops.references import Array
from xjit.types import ArrayType, c_order

ERRORS: dict[str, type[Exception]] = {
    "value": ArgumentError,
    "index": IndexOutOfBoundsError,
    "division": ZeroDivisionError,
}
"""What may be raised, by the word that a node keeps of it."""


def _infer(types: tuple[ArrayType, ...], params: Params) -> ArrayType:
    operand, condition = types
    rules.check_class("require", "condition", condition, "P")
    rules.check_rank("require", "condition", condition, 0)
    order = operand.order if len(operand.order) == operand.rank else c_order(operand.rank)
    return ArrayType(operand.dtype, operand.dims, order)


def _reference(operand: Array, condition: Array, error: str, message: str) -> Array:
    if not condition:
        raise ERRORS[error](message)
    return np.array(operand, order="K")


REQUIRE = register(
    OpDef(
        name="require",
        kind=Kind.STRUCTURED,
        infer=_infer,
        reference=_reference,
        silent=True,
        doc="The operand, if a condition holds; else an error.",
    )
)


def require(operand: Any, condition: Any, error: str, message: str) -> Any:
    """The operand, if the condition of rank 0 holds when it is computed; else the error of this word is raised.

    Any element type; the condition is PRED. Raises DTypeError and ShapeError for another condition.

    >>> require(np.float32([1, 2]), np.array(True), "value", "numpy.f: there is nothing")
    array([1., 2.], dtype=float32)
    """
    array, holds = as_operand(operand, "require", "operand"), as_operand(condition, "require", "condition")
    return apply(REQUIRE, array, holds, error=error, message=message)
