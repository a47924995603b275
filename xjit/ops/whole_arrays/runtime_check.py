"""Conditions that only the run can tell: a value is handed on if one holds, else NumPy's error or warning comes.

Kernels never raise: they note that a condition does not hold, go on, and the program raises when they are done. What
follows from the value is therefore computed all the same, and must be harmless. Warnings come from steps of their
own.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from xjit.errors import (
    ArgumentError,
    DTypeError,
    IndexOutOfBoundsError,
    IntegerError,
    NumberError,
    ShapeError,
    XjitError,
)
from xjit.ir.boundary import COMES_FIRST, LITTLE_ROOM, OTHER_VALUE
from xjit.ir.opdef import Access, AxisMap, Kind, OpDef, Params
from xjit.ir.source_location import stack_level
from xjit.ops.define import rules
from xjit.ops.define.core import apply, as_operand, register
from xjit.ops.define.references import Array
from xjit.types import ArrayType, c_order

Types = tuple[ArrayType, ...]


class RepeatError(XjitError):
    """A call that NumPy has to do from the beginning; users never see it."""


class LengthError(RepeatError):
    """A call that needs more room for an array than its program has; users never see it."""


class PinError(RepeatError):
    """A call in which a value is another one than its program takes for granted; users never see it."""


setattr(RepeatError, COMES_FIRST, True)
setattr(LengthError, LITTLE_ROOM, True)
setattr(PinError, OTHER_VALUE, True)

REPEAT, LENGTH, PINNED = "repeat", "length", "pinned"
"""The words of a call that NumPy has to do from the beginning, of one that needs more room besides, and of one that
another program does.
"""

BEGUN_ANEW = frozenset({REPEAT, LENGTH, PINNED})
"""The words of calls that are done from the beginning."""

MESSAGES = {
    REPEAT: "an error of the function's own is raised",
    LENGTH: "an array is longer than the program has room for",
    PINNED: "a value is another one than the program is for",
}

ERRORS: dict[str, type[Exception]] = {
    "value": ArgumentError,
    "index": IndexOutOfBoundsError,
    "division": ZeroDivisionError,
    "number": NumberError,
    "integer": IntegerError,
    "type": DTypeError,
    "shape": ShapeError,
    REPEAT: RepeatError,
    LENGTH: LengthError,
    PINNED: PinError,
}
"""Errors that may be raised, by the word that a node keeps of it."""

WARNINGS: dict[str, type[Warning]] = {"rank": np.exceptions.RankWarning}
"""Warnings that may be given, by such a word."""


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


def _warn(operand: Array, condition: Array, warning: str, message: str) -> Array:
    if not np.all(condition):
        warnings.warn(message, WARNINGS[warning], stacklevel=stack_level())
    return np.array(operand, order="K")


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

WARN = register(
    OpDef(
        name="warn",
        kind=Kind.STRUCTURED,
        infer=_infer,
        reference=_warn,
        silent=True,
        doc="The operand; with a warning, unless a condition holds.",
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


def warned(operand: Any, condition: Any, warning: str, message: str) -> Any:
    """The operand, with the warning of this word unless the condition holds everywhere when it is computed.

    Any element type; the condition is PRED, of any dimensions. Raises DTypeError for another condition.

    >>> warned(np.float32([1, 2]), np.array(True), "rank", "there are too few points")
    array([1., 2.], dtype=float32)
    """
    array, holds = as_operand(operand, "warned", "operand"), as_operand(condition, "warned", "condition")
    return apply(WARN, array, holds, warning=warning, message=message)
