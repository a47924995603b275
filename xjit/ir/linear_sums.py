"""Integers of a graph as sums: a constant and multiples of other integers, by which differences are known.

i + 3 and i + 1            are 2 apart, whatever i is
(i + 1) * 4 and i * 4      are 4 apart
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from xjit.ir.context import CONSTANT
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.ir.scalar_expr import Arg, Expr, Lit, Prim
from xjit.types import INT64

_DEEPEST = 32

_LARGEST_FACTOR = 2**31
"""The times that a product adds an integer are fewer, so that sums of such products fit into 64 bits."""


class LinearSum(NamedTuple):
    """A constant and how often each of some nodes of rank 0 is added."""

    constant: int
    terms: dict[Node, int]

    def plus(self, other: LinearSum, times: int = 1) -> LinearSum:
        """The sum with so many times another one."""
        terms = dict(self.terms)
        for node, count in other.terms.items():
            terms[node] = terms.get(node, 0) + times * count
        kept = {node: count for node, count in terms.items() if count}
        return LinearSum(self.constant + times * other.constant, kept)


_Known: TypeAlias = "dict[tuple[Node, int], LinearSum]"

NOTHING = LinearSum(0, {})


def linear_sum(node: Node) -> LinearSum:
    """The sum that a node of rank 0 computes, of 64-bit integers."""
    return _node_sum(node, _DEEPEST, {})


def _node_sum(node: Node, depth: int, known: _Known) -> LinearSum:
    """The sum of a node; those that are ``known`` are not found again for each way that leads to a node."""
    found = known.get((node, depth))
    if found is None:
        found = known[node, depth] = _found_sum(node, depth, known)
    return found


def _found_sum(node: Node, depth: int, known: _Known) -> LinearSum:
    if node.op is CONSTANT and node.aval.size == 1 and node.aval.dtype.kind in "iu":
        return LinearSum(int(node.param("value").item()), {})
    if depth and node.op.kind is Kind.ELEMENTWISE and node.element is not None and node.aval.dtype == INT64:
        found = sum_over(node.element, node, lambda operand: _node_sum(operand, depth - 1, known))
        if found is not None:
            return found
    return LinearSum(0, {node: 1})


def sum_over(expr: Expr, node: Node, operand: Callable[[Node], LinearSum]) -> LinearSum | None:
    """The sum that an expression over the operands of a node is, with those of the operands; None of others."""
    match expr:
        case Arg(index) if node.inputs[index].aval.dtype == INT64:
            return operand(node.inputs[index])
        case Lit(literal) if literal.dtype == INT64:
            return LinearSum(int(literal.item()), {})
        case Prim("add" | "sub" as name, (one, other)):
            left, right = sum_over(one, node, operand), sum_over(other, node, operand)
            return None if left is None or right is None else left.plus(right, 1 if name == "add" else -1)
        case Prim("mul", (one, other)):
            left, right = sum_over(one, node, operand), sum_over(other, node, operand)
            return None if left is None or right is None else _product(left, right)
        case Prim("neg", (one,)):
            found = sum_over(one, node, operand)
            return None if found is None else NOTHING.plus(found, -1)
    return None


def _product(one: LinearSum, other: LinearSum) -> LinearSum | None:
    """The product of two sums of which one is a constant; None of others, and of large ones."""
    if one.terms and other.terms:
        return None
    factor, rest = (other.constant, one) if one.terms else (one.constant, other)
    found = NOTHING.plus(rest, factor)
    return found if all(abs(count) < _LARGEST_FACTOR for count in (found.constant, *found.terms.values())) else None
