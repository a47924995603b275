"""Primitives on constants, done while lowering: what is known about a divisor is not asked in every kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.ir.loops.nodes import Const, Value
from xjit.ir.scalar_expr import Literal
from xjit.types import BOOL, DType, dtype_class

_FOLDED: dict[str, Callable[..., Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
    "not": np.logical_not,
}
"""The primitives that give a truth value, of integers and of truth values."""


def folded(name: str, args: tuple[Value, ...], dtype: DType) -> Value | None:
    """The value of a primitive that constants decide, or None.

    ``i64(7) == i64(0)`` is ``b1(0)``, and ``b1(0) ^ v`` is ``v``.
    """
    function = _FOLDED.get(name)
    if function is None or dtype != BOOL or dtype_class(args[0].dtype) not in "IP":
        return None
    known = [arg.literal.array() for arg in args if isinstance(arg, Const)]
    if len(known) == len(args):
        return Const(Literal.of(function(*known), BOOL))
    if len(known) != 1 or name not in ("and", "or", "xor"):
        return None
    (rest,) = (arg for arg in args if not isinstance(arg, Const))
    if bool(known[0]):
        return {"and": rest, "or": Const(Literal.of(np.True_)), "xor": None}[name]
    return {"and": Const(Literal.of(np.False_)), "or": rest, "xor": rest}[name]
