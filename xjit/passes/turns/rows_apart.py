"""Loops over arrays whose rows need no other rows, in any turn.

    for k in range(n):                          row i of x is made of row i of x alone, in every turn
      x[:, k + 1] = x[:, k] * a[k] + b[1:]      a and b are not changed: any of their elements may be read

A *row* is a position along one axis of each array that is carried, of windows of these, too.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from xjit.ir.context import PROJECT
from xjit.ir.inner_graphs import InnerGraph, inner_graphs
from xjit.ir.node import Node
from xjit.ir.opdef import AxisMap, Kind
from xjit.types import BOOL, TupleType, scalar_type


class Along(NamedTuple):
    """The rows of a value lie along an axis, the one at position 0 is that of this number ``first``."""

    axis: int
    first: int = 0


ALL = None
"""In place of rows: the value is the same for all rows, or none of its elements is one that turns change."""

Rows: TypeAlias = "Along | None"


class _MeetError(Exception):
    """A row is made of others, or it is not known what it is made of."""


def rows_are_apart(loop: Node) -> bool:
    """Return whether the arrays that a loop carries have rows which need no others."""
    begun = loop.inputs[: loop.param("n")]
    largest = max((one.aval for one in begun), key=lambda aval: aval.rank, default=scalar_type(BOOL))
    if loop.sequence >= 0 or any(inner.graph.effects for inner in inner_graphs(loop)):
        return False
    return any(_are_rows(loop, begun, axis, size) for axis, size in enumerate(largest.shape) if size > 1)


def _are_rows(loop: Node, begun: Sequence[Node], axis: int, size: int) -> bool:
    """Return whether positions along an axis of this size are rows."""
    starts: list[Rows] = [ALL] * len(loop.inputs)
    for number, one in enumerate(begun):
        shape = one.aval.shape
        found = [at for at, extent in enumerate(shape) if extent == size]
        if shape and not found:
            return False
        starts[number] = Along(axis if axis in found else found[0]) if shape else ALL
    try:
        return list(_of_loop(loop, starts, "masked" in loop.kwargs)) == starts[: len(begun)]
    except _MeetError:
        return False


def _of_graph(inner: InnerGraph, given: Sequence[Rows]) -> list[Rows]:
    """The rows of the outputs of a graph inside of an operation whose operands have these."""
    found: dict[Node, Rows | tuple[Rows, ...]] = {}
    for parameter, number in zip(inner.graph.parameters, inner.operands, strict=True):
        found[parameter] = given[number]
    for node in inner.graph.nodes:
        if node not in found:
            found[node] = _of_node(node, [found[source] for source in node.inputs])
    return [_single(found[node]) for node in inner.graph.outputs]


def _of_loop(loop: Node, given: Sequence[Rows], masked: bool = False) -> tuple[Rows, ...]:
    """The rows of what a loop yields. With ``masked`` rows the condition is that one of them goes on."""
    condition, body = inner_graphs(loop)
    count, rows = loop.param("n"), list(given)
    while True:
        ends = _of_graph(body, rows)
        joined = list(map(_either, rows[:count], ends))
        if joined == rows[:count]:
            break
        rows[:count] = joined
    if not masked and _of_graph(condition, rows) != [ALL]:
        raise _MeetError
    return tuple(joined)


def _of_choice(choice: Node, given: Sequence[Rows]) -> tuple[Rows, ...]:
    """The rows of what a choice yields, which is the same one for all rows."""
    if given[0] is not ALL:
        raise _MeetError
    arms = [_of_graph(inner, given) for inner in inner_graphs(choice)]
    return tuple(functools.reduce(_either, several) for several in zip(*arms, strict=True))


def _of_node(node: Node, inputs: Sequence[Rows | tuple[Rows, ...]]) -> Rows | tuple[Rows, ...]:
    if node.op is PROJECT:
        (whole,) = inputs
        return whole[node.param("index")] if whole is not ALL and not isinstance(whole, Along) else whole
    given = list(map(_single, inputs))
    if all(one is ALL for one in given):
        return ALL
    if node.op.kind is Kind.CONTROL:
        return _of_loop(node, given) if node.op.control == "loop" else _of_choice(node, given)
    if isinstance(node.type, TupleType) or node.op.kind not in _RULES:
        raise _MeetError
    found = _RULES[node.op.kind](node, given)
    if found.axis in node.limits:
        raise _MeetError
    return found


# ---- kinds of operations


def _elementwise(node: Node, given: Sequence[Rows]) -> Along:
    """Each element is made of those at the same place."""
    return _one(given)


def _indexed(node: Node, given: Sequence[Rows]) -> Along:
    """Elements are read along rows, and perhaps at positions that are found in rows."""
    if node.access is None:
        return _reshaped(node, _one(given))
    axes, found, used = node.access.axes, list[Along](), {0}
    if (operand := given[0]) is not ALL:
        found.append(_followed(axes[operand.axis], operand))
    for one in axes:
        for lookup in one.found:
            used.add(lookup.source)
            if (positions := given[lookup.source]) is not ALL:
                found.append(_followed(lookup.axes[positions.axis], positions))
    if any(one is not ALL for number, one in enumerate(given) if number not in used):
        raise _MeetError
    return _one(found)


def _reshaped(node: Node, rows: Along) -> Along:
    """A value whose rows are as many, and as far apart, as before."""
    before, after = node.inputs[0].aval.shape, node.aval.shape
    wide = math.prod(before[: rows.axis])
    for axis, size in enumerate(after):
        if node.op.flat and size == before[rows.axis] and math.prod(after[:axis]) == wide:
            return Along(axis, rows.first)
    raise _MeetError


def _reduced(node: Node, given: Sequence[Rows]) -> Along:
    """Rows are reduced along other axes."""
    dims, rows = node.param("dims"), _one(given)
    if rows.axis in dims:
        raise _MeetError
    return Along(rows.axis - sum(one < rows.axis for one in dims), rows.first)


def _scanned(node: Node, given: Sequence[Rows]) -> Along:
    """Rows are scanned along another axis."""
    rows = _one(given)
    if node.param("axis") == rows.axis:
        raise _MeetError
    return rows


def _updated(node: Node, given: Sequence[Rows]) -> Along:
    """Elements of rows are changed to those of the same rows of the update."""
    target, update, *positions = given
    if node.param("n") != 1 or node.place is None or any(one is not ALL for one in positions):
        raise _MeetError
    axes = node.place.axes
    if target is ALL:
        assert update is not ALL, "nothing has rows"
        found = [axis for axis, one in enumerate(axes) if one.terms == ((update.axis, 1),) and not one.found]
        if len(found) != 1:
            raise _MeetError
        return Along(found[0], update.first - axes[found[0]].offset)
    if update not in (ALL, _followed(axes[target.axis], target)):
        raise _MeetError
    return target


_RULES: Mapping[Kind, Callable[[Node, Sequence[Rows]], Along]] = {
    Kind.ELEMENTWISE: _elementwise,
    Kind.INDEXING: _indexed,
    Kind.REDUCE: _reduced,
    Kind.SCAN: _scanned,
    Kind.UPDATE: _updated,
}


def _followed(one: AxisMap, rows: Along) -> Along:
    """The rows along the axis whose positions, each by itself, an index map reads along these rows."""
    if one.axis is None or one.terms != ((one.axis, 1),) or one.found:
        raise _MeetError
    return Along(one.axis, rows.first + one.offset)


def _one(several: Sequence[Rows]) -> Along:
    """The only rows that values have."""
    found = {one for one in several if one is not None}
    if len(found) != 1:
        raise _MeetError
    return found.pop()


def _either(one: Rows, other: Rows) -> Rows:
    """The rows of a value that is one of two."""
    return one if one == other else _one((one, other))


def _single(rows: Rows | tuple[Rows, ...]) -> Rows:
    if rows is not None and not isinstance(rows, Along):
        raise _MeetError
    return rows
