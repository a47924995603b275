"""Integers that are made of others as expressions, so that it is seen which elements are touched.

x1 = s64(t)                  x1 = s64(t)
v1 = (x1 + 1)                v1 = (x1 + 1)
y[v1] = 0.0                  y[t + 1] = 0.0
"""

from __future__ import annotations

from collections.abc import Callable

from xjit.ir.loops.intexpr import IntExpr, constant, substitute
from xjit.ir.loops.nodes import Block, Const, FromInt, Let, Prim, Statement, Value, Var
from xjit.ir.loops.walk import Change, blocks, with_blocks
from xjit.types import INT64

_ON_INTEGERS: dict[str, Callable[[IntExpr, IntExpr], IntExpr]] = {
    "add": IntExpr.__add__,
    "sub": IntExpr.__sub__,
    "mul": IntExpr.__mul__,
}


def with_positions(block: Block, known: dict[str, IntExpr] | None = None) -> Block:
    """The statements with expressions in place of integers that are made of others."""
    known = {} if known is None else known
    found = list[Statement]()
    for one in block:
        if isinstance(one, Let) and one.value.dtype == INT64:
            expr = _integer(one.value, known)
            if expr is not None:
                known[one.name] = expr
        inner = blocks(one)
        if inner:
            one = with_blocks(one, tuple(with_positions(part, known) for part in inner))
        found += Change(integer=lambda expr: substitute(expr, known)).block((one,))
    return tuple(found)


def _integer(value: Value, known: dict[str, IntExpr]) -> IntExpr | None:
    """The expression that a value is, if it is one."""
    match value:
        case FromInt(expr):
            return substitute(expr, known)
        case Var(name):
            return known.get(name)
        case Const(literal):
            return constant(int(literal.item()))
        case Prim(name, (one, other)) if name in _ON_INTEGERS:
            left, right = _integer(one, known), _integer(other, known)
            return None if left is None or right is None else _ON_INTEGERS[name](left, right)
    return None
