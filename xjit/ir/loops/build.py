"""Values that statements of control are made of."""

from __future__ import annotations

from xjit.ir.loops.intexpr import IntExpr
from xjit.ir.loops.nodes import Const, FromInt, Prim, Value
from xjit.ir.scalar_expr import Literal
from xjit.types import BOOL, INT64, DType


def number(value: int, dtype: DType = INT64) -> Const:
    """An integer."""
    return Const(Literal.of(dtype.type(value)))


def truth(value: bool) -> Const:
    """A truth value."""
    return Const(Literal.of(BOOL.type(value)))


def position(expr: IntExpr) -> FromInt:
    """An integer expression as a value."""
    return FromInt(expr, INT64)


def equal(one: Value, other: Value) -> Prim:
    """one == other."""
    return Prim("eq", (one, other), BOOL)


def less(one: Value, other: Value) -> Prim:
    """one < other."""
    return Prim("lt", (one, other), BOOL)


def both(one: Value, other: Value) -> Prim:
    """Return whether two conditions hold."""
    return Prim("and", (one, other), BOOL)


def plus(one: Value, other: Value) -> Prim:
    """one + other."""
    return Prim("add", (one, other), one.dtype)


def minus(one: Value, other: Value) -> Prim:
    """one - other."""
    return Prim("sub", (one, other), one.dtype)
