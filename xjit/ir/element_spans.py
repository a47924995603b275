"""Between which numbers elements of arrays of integers lie, where what they are computed of depends on each other.

i = first + iota        ends before ``end`` where the array has ``end - first`` elements
d - i                   lies within d - end + 1 .. d - first, however large d is

Spans of the operands alone would tell less: what ``first`` and ``d`` have in common is gone there.
"""

from __future__ import annotations

from collections.abc import Mapping

from xjit.dataclass import dataclass
from xjit.ir.context import CONSTANT, Trace
from xjit.ir.linear_sums import NOTHING, LinearSum, sum_over
from xjit.ir.node import Node
from xjit.ir.opdef import AxisMap, Kind
from xjit.ir.scalar_expr import Index
from xjit.ir.spans import Span, captured, extreme_of, is_position, span_of, type_span
from xjit.types import INT64

_DEEPEST = 16
_MOST_SUMS = 64
"""Sums that are looked at to find an end: each extreme in one makes two of it."""


def element_span(node: Node, trace: Trace | None) -> Span:
    """Between which numbers those elements of a node of 64-bit integers lie that exist, both included."""
    low, high = span_of(node, trace)
    if node.is_assembled and not any(one.limits for one in (node, *node.inputs)):
        parts = [element_span(node.inputs[piece.operand], trace) for piece in node.pieces]
        return max(low, min(one[0] for one in parts)), min(high, max(one[1] for one in parts))
    outer = captured(_only_element(node), trace)
    if outer is not None and trace is not None:
        return element_span(outer, trace.parent)
    least, most = _Ends(trace, node.limits), _Ends(trace, node.limits)
    total = least.sum_of(node)
    return max(low, least.least(total)), min(high, -most.least(NOTHING.plus(total, -1)))


@dataclass(slots=True)
class _Ends:
    """The ends of sums by the spans of their terms in a trace; ``looked_at`` counts sums.

    Along each axis that has a limit, only the elements before it exist: of each there is one, or nothing is asked.
    """

    trace: Trace | None
    limits: Mapping[int, Node]
    looked_at: int = 0

    def sum_of(self, node: Node, depth: int = _DEEPEST) -> LinearSum:
        """The sum that an element of the node is, of nodes of rank 0 and elements at the same place of others."""
        if node.op is CONSTANT and node.aval.size == 1:
            return LinearSum(int(node.param("value").item()), {})
        if depth and _is_in_place(node):
            return self.sum_of(node.inputs[0], depth - 1)
        if depth and node.element is not None and node.aval.dtype == INT64 and self._fits(node):
            found = sum_over(node.element, node, lambda operand: self.sum_of(operand, depth - 1))
            if found is not None:
                return found
        return LinearSum(0, {node: 1})

    def _fits(self, node: Node) -> bool:
        """Return whether 64 bits hold what a node computes: it is the sum then, and not what is left of it."""
        low, high = span_of(node, self.trace)
        return (low, high) != type_span(node.aval.dtype)

    def least(self, total: LinearSum) -> int:
        """A number that a sum is not less than."""
        self.looked_at += 1
        found = total.constant + sum(self._end(node, times) for node, times in total.terms.items())
        if self.looked_at >= _MOST_SUMS:
            return found
        for node, times in total.terms.items():
            last = self._last_position(node)
            if last is not None and times < 0:
                return max(found, self.least(_with(total, node, last)))
        for node, times in total.terms.items():
            extreme = extreme_of(node)
            if extreme is not None:
                name, *operands = extreme
                ways = [self.least(_with(total, node, self.sum_of(one))) for one in operands]
                # The smaller one of two is at most either of them, and it is one of them.
                return max(found, max(ways) if (name == "max") == (times > 0) else min(ways))
        return found

    def _end(self, node: Node, times: int) -> int:
        low, high = span_of(node, self.trace)
        return times * (low if times > 0 else high)

    def _last_position(self, node: Node) -> LinearSum | None:
        """The last position along an axis that exists, for a node that says what position an element has there, or
        which one is the first extreme.
        """
        if is_position(node):
            limit = node.inputs[0].limits.get(node.param("dims")[0])
        else:
            limit = self.limits.get(node.element.axis) if isinstance(node.element, Index) else None
        if limit is None or (is_position(node) and span_of(limit, self.trace)[0] < 1):
            return None
        extreme = extreme_of(limit)
        if extreme is not None and extreme[0] == "max":
            # An element exists: the number of them is not the operand that is below one.
            positive = [one for one in extreme[1:] if span_of(one, self.trace)[1] > 0]
            limit = positive[0] if len(positive) == 1 else limit
        return self.sum_of(limit).plus(LinearSum(-1, {}))


def _only_element(node: Node) -> Node:
    """The number that a value of one element is the only element of."""
    while node.op.kind is Kind.INDEXING and node.inputs[0].aval.size == 1 and node.inputs[0].aval.dtype == INT64:
        node = node.inputs[0]
    return node


def _with(total: LinearSum, node: Node, other: LinearSum) -> LinearSum:
    """A sum with another one in place of a term."""
    times = total.terms[node]
    return total.plus(LinearSum(0, {node: -times})).plus(other, times)


def _is_in_place(node: Node) -> bool:
    """Return whether each element of a node is that of its operand at the same place, or the only one of it."""
    if node.op.kind is not Kind.INDEXING or node.inputs[0].aval.dtype != node.aval.dtype or node.access is None:
        return False
    rank, axes = node.inputs[0].aval.rank, node.access.axes
    return rank in (0, node.aval.rank) and axes == tuple(map(AxisMap, range(rank)))
