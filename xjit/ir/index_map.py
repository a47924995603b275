"""Index maps: where an operand is read, as an affine function of the position in a loop domain.

An index has one AxisMap per axis of the value it points into; axes of one element are always read at 0. The position
along an axis is a sum over axes of the domain: of one for most values, of two where a window is read.

>>> [map.axis for map in relabel(identity((5, 1, 4)), {0: 3, 2: 0})]
[3, None, 0]
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from xjit.ir.linear_sums import NOTHING, LinearSum, linear_sum
from xjit.ir.node import Node
from xjit.ir.opdef import Access, AxisMap, Lookup
from xjit.ir.scalar_expr import Arg, Expr, Prim
from xjit.ir.scalar_expr import Index as Position
from xjit.types import INT64

Index: TypeAlias = "tuple[AxisMap, ...]"

ORIGIN = AxisMap(None)

_DEEPEST = 32
"""Nodes between looked-up positions and what they are made of that are looked at, at most."""


def identity(dims: tuple[int, ...]) -> Index:
    """Reads every element at its own position."""
    return tuple(ORIGIN if size == 1 else AxisMap(axis) for axis, size in enumerate(dims))


def affine(terms: Iterable[tuple[int, int]], offset: int = 0, found: tuple[Lookup, ...] = ()) -> AxisMap:
    """The map that adds up scale * (position on the axis) over (axis, scale), in any order and with repeated axes.

    >>> affine([(2, 3), (0, 1), (2, -1)], 5)
    AxisMap(axis=0, scale=1, offset=5, found=(), also=((2, 2),))
    """
    scales: dict[int, int] = {}
    for axis, scale in terms:
        scales[axis] = scales.get(axis, 0) + scale
    kept = sorted((axis, scale) for axis, scale in scales.items() if scale)
    return AxisMap(*kept[0], offset, found, tuple(kept[1:])) if kept else AxisMap(None, 1, offset, found)


def compose(access: Access, index: Index, inputs: tuple[Node, ...]) -> Index:
    """Compose index maps: return the index of the first operand when the result is read at ``index``."""
    return normalise(substituted(access, index, inputs), inputs[0].aval.shape)


def substituted(access: Access, index: Index, inputs: tuple[Node, ...]) -> Index:
    """The same without regard for the extents of the operand, of which positions may lie outside."""
    return tuple([_through(map, index, inputs) for map in access.axes])


def _through(map: AxisMap, index: Index, inputs: tuple[Node, ...]) -> AxisMap:
    looked_up = tuple(
        [
            Lookup(inputs[one.source], _within(one.axes, index, inputs, inputs[one.source]), one.times)
            for one in map.found
        ]
    )
    return _substituted(map, index.__getitem__, looked_up)


def _within(axes: Index, index: Index, inputs: tuple[Node, ...], source: Node) -> Index:
    return normalise(tuple(_through(map, index, inputs) for map in axes), source.aval.shape)


def _substituted(map: AxisMap, at: Callable[[int], AxisMap], found: tuple[Lookup, ...]) -> AxisMap:
    """The map with ``at(axis)`` in place of the position on each axis, and with ``found`` in place of its own."""
    if map.axis is None:
        return AxisMap(None, 1, map.offset, found)
    inner = at(map.axis)
    if map.also or inner.also:
        return _sum(map, at, found)
    offset = inner.offset * map.scale + map.offset
    if inner.found:
        found = (*found, *_times(inner.found, map.scale))
    if inner.axis is None:
        return AxisMap(None, 1, offset, found)
    return AxisMap(inner.axis, inner.scale * map.scale, offset, found)


def _sum(map: AxisMap, at: Callable[[int], AxisMap], found: tuple[Lookup, ...]) -> AxisMap:
    terms: list[tuple[int, int]] = []
    offset = map.offset
    for axis, scale in map.terms:
        inner = at(axis)
        terms += [(own, times * scale) for own, times in inner.terms]
        offset += inner.offset * scale
        found = (*found, *_times(inner.found, scale))
    return affine(terms, offset, found)


def _times(found: tuple[Lookup, ...], scale: int) -> list[Lookup]:
    return [Lookup(one.source, one.axes, one.times * scale) for one in found]


def normalise(index: Index, dims: tuple[int, ...]) -> Index:
    """The same index with axes of one element read at 0."""
    return tuple([ORIGIN if size == 1 else map for map, size in zip(index, dims, strict=True)])


def axes_of(index: Index) -> frozenset[int]:
    """The domain axes that the index depends on."""
    found = {map.axis for map in index if map.axis is not None}
    for map in index:
        found.update([axis for axis, _ in map.also])
        for lookup in map.found:
            found |= axes_of(lookup.axes)
    return frozenset(found)


def changed(index: Index, at: Callable[[int], AxisMap]) -> Index:
    """The same index with ``at(axis)`` in place of the position on each axis, in looked-up positions as well."""
    return tuple(
        [
            map if map.axis is None and not map.found else _substituted(map, at, _found(map, at) if map.found else ())
            for map in index
        ]
    )


def _found(map: AxisMap, at: Callable[[int], AxisMap]) -> tuple[Lookup, ...]:
    return tuple([Lookup(one.source, changed(one.axes, at), one.times) for one in map.found])


def relabel(index: Index, axes: Mapping[int, int]) -> Index:
    """The same index in a domain whose axes have other numbers."""
    return changed(index, lambda axis: AxisMap(axes[axis]))


def has_lookups(index: Index) -> bool:
    """Return whether the index adds integers from data."""
    return bool([map for map in index if map.found])


def is_origin(index: Index) -> bool:
    """Return whether the index is that of the first element, wherever in the domain."""
    return all(map == ORIGIN for map in index)


def lookups_of(index: Index) -> Iterator[Lookup]:
    """The integers from data that the index adds."""
    for map in index:
        yield from map.found


def never_meet(one: Index, other: Index, dims: tuple[int, ...]) -> bool:
    """Return whether no position of a domain of these extents has an element at the one index that any position has
    at the other one.

    >>> evens, odds = (AxisMap(0, 2, 0),), (AxisMap(0, 2, 1),)
    >>> never_meet(evens, odds, (9,)), never_meet(evens, identity((9,)), (9,))
    (True, False)
    """
    return any(map(functools.partial(_lie_apart, dims), one, other)) or _on_other_lines(one, other)


def _lie_apart(dims: tuple[int, ...], one: AxisMap, other: AxisMap) -> bool:
    """Return whether two maps of one axis have no position in common, as they leave gaps or end before.

    Integers from data have to differ by a number that is known.
    """
    if any(axes_of(lookup.axes) for lookup in (*one.found, *other.found)):
        return False
    ahead = _looked_up(other).plus(_looked_up(one), -1)
    if ahead.terms:
        return False
    steps = [abs(scale) for axis, scale in (*one.terms, *other.terms) if dims[axis] > 1]
    (first, last), (begin, end) = _span(one, dims), _span(other, dims)
    begin, end, apart = begin + ahead.constant, end + ahead.constant, other.offset + ahead.constant - one.offset
    return last < begin or end < first or apart % max(math.gcd(*steps), 1) != 0


def _looked_up(map: AxisMap) -> LinearSum:
    """The sum of the integers from data that a map adds, each of which is one number."""
    total = NOTHING
    for lookup in map.found:
        total = total.plus(linear_sum(lookup.source), lookup.times)
    return total


def _span(map: AxisMap, dims: tuple[int, ...]) -> tuple[int, int]:
    """The first and the last position of a map, integers from data aside."""
    moves = [scale * (dims[axis] - 1) for axis, scale in map.terms]
    return map.offset + sum(min(move, 0) for move in moves), map.offset + sum(max(move, 0) for move in moves)


def are_equal(one: Index, other: Index) -> bool:
    """Return whether two indices are the same at each position of a domain, as far as is known.

    Those of two views of one array may have different numbers of axes.
    """
    if one == other or len(one) != len(other):
        return one == other
    pairs = ((_line_of(first), _line_of(second)) for first, second in zip(one, other, strict=True))
    return all(first is not None and first == second for first, second in pairs)


def are_apart(index: Index, dims: tuple[int, ...]) -> bool:
    """Return whether no two positions of a domain of these extents have one element, as far as is known: each axis
    of the domain moves along one of the index, alone.
    """
    lines = [line for line in map(_line_of, index) if line is not None and len(line.steps) == 1]
    moving = {axis for line in lines for axis in line.steps}
    return all(axis in moving for axis, size in enumerate(dims) if size > 1)


class _Line(NamedTuple):
    """A sum of integers, and of positions along axes of the domain, each so many times."""

    total: LinearSum
    steps: dict[int, int]

    def plus(self, other: _Line, times: int = 1) -> _Line:
        """The sum with so many times another one."""
        scales = {axis: self.steps.get(axis, 0) + times * scale for axis, scale in other.steps.items()}
        kept = {axis: scale for axis, scale in (self.steps | scales).items() if scale}
        return _Line(self.total.plus(other.total, times), kept)


def _on_other_lines(one: Index, other: Index) -> bool:
    """Return whether positions along two axes that are looked up have another sum, or another difference, at the one
    index than at the other one, the same everywhere.

    x[i, d - i] and x[i - 1, d - i] add up to d and to d - 1, whatever the rows ``i`` are.
    """
    if not any(axes_of(lookup.axes) for lookup in lookups_of((*one, *other))):
        return False
    pairs = [(_line_of(first), _line_of(second)) for first, second in zip(one, other, strict=True)]
    known = [(first, second) for first, second in pairs if first is not None and second is not None]
    for (first, second), (along, across) in itertools.combinations(known, 2):
        for times in (1, -1):
            left, right = first.plus(along, times), second.plus(across, times)
            apart = right.total.plus(left.total, -1)
            if not (left.steps or right.steps or apart.terms) and apart.constant:
                return True
    return False


def _line_of(map: AxisMap) -> _Line | None:
    """The line that the positions of a map lie on; None where nobody knows."""
    line = _Line(LinearSum(map.offset, {}), dict(map.terms))
    for lookup in map.found:
        found = _element_of(lookup.source, lookup.axes, _DEEPEST)
        if found is None:
            return None
        line = line.plus(found, lookup.times)
    return line


def _element_of(node: Node, index: Index, depth: int) -> _Line | None:
    """The line that the elements at an index of a node of integers lie on."""
    if not node.aval.rank:
        return _Line(linear_sum(node), {})
    if depth and node.access is not None:
        return _element_of(node.inputs[0], compose(node.access, index, node.inputs), depth - 1)
    if depth and node.element is not None and node.aval.dtype == INT64:
        return _computed(node.element, node, index, depth - 1)
    return None


def _computed(expr: Expr, node: Node, index: Index, depth: int) -> _Line | None:
    match expr:
        case Arg(number) if node.inputs[number].aval.dtype == INT64:
            return _element_of(node.inputs[number], index, depth)
        case Position(axis):
            return _line_of(index[axis])
        case Prim("add" | "sub" as name, (one, other)):
            left, right = _computed(one, node, index, depth), _computed(other, node, index, depth)
            return None if left is None or right is None else left.plus(right, 1 if name == "add" else -1)
    return None
