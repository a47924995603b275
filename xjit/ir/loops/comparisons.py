"""Conditions on integer expressions as values.

>>> from xjit.ir.loops.intexpr import variable
>>> [one.name for one in within(variable("i"), variable("n"))]
['le', 'lt']
"""

from __future__ import annotations

from xjit.ir.loops.intexpr import IntExpr, constant
from xjit.ir.loops.nodes import FromInt, Prim, Value
from xjit.types import BOOL, INT64


def within(place: IntExpr, size: IntExpr) -> tuple[Prim, Prim]:
    """Conditions that a place lies within an axis of a size."""
    first, at, stop = (FromInt(one, INT64) for one in (constant(0), place, size))
    return Prim("le", (first, at), BOOL), Prim("lt", (at, stop), BOOL)


def all_of(first: Value, *others: Value) -> Value:
    """The condition that all of some conditions hold."""
    for one in others:
        first = Prim("and", (first, one), BOOL)
    return first
