"""Index maps: where an operand is read, as an affine function of the position in a loop domain.

An index has one AxisMap per axis of the value it points into; axes of one element are always read at 0.

>>> [map.axis for map in relabel(identity((5, 1, 4)), {0: 3, 2: 0})]
[3, None, 0]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from xjit.ir.node import Node
from xjit.ir.opdef import Access, AxisMap, Lookup

Index: TypeAlias = "tuple[AxisMap, ...]"

ORIGIN = AxisMap(None)


def identity(dims: tuple[int, ...]) -> Index:
    """Reads every element at its own position."""
    return tuple(ORIGIN if size == 1 else AxisMap(axis) for axis, size in enumerate(dims))


def compose(access: Access, index: Index, inputs: tuple[Node, ...]) -> Index:
    """Compose index maps: return the index of the first operand when the result is read at ``index``."""
    dims = inputs[0].aval.shape
    return normalise(tuple([_through(map, index, inputs) for map in access.axes]), dims)


def _through(map: AxisMap, index: Index, inputs: tuple[Node, ...]) -> AxisMap:
    looked_up = tuple(
        [
            Lookup(inputs[one.source], _within(one.axes, index, inputs, inputs[one.source]), one.times)
            for one in map.found
        ]
    )
    if map.axis is None:
        return AxisMap(None, 1, map.offset, looked_up)
    inner = index[map.axis]
    offset = inner.offset * map.scale + map.offset
    found = (*looked_up, *[Lookup(one.source, one.axes, one.times * map.scale) for one in inner.found])
    if inner.axis is None:
        return AxisMap(None, 1, offset, found)
    return AxisMap(inner.axis, inner.scale * map.scale, offset, found)


def _within(axes: Index, index: Index, inputs: tuple[Node, ...], source: Node) -> Index:
    return normalise(tuple(_through(map, index, inputs) for map in axes), source.aval.shape)


def normalise(index: Index, dims: tuple[int, ...]) -> Index:
    """The same index with axes of one element read at 0."""
    return tuple([ORIGIN if size == 1 else map for map, size in zip(index, dims, strict=True)])


def axes_of(index: Index) -> frozenset[int]:
    """The domain axes that the index depends on."""
    found = {map.axis for map in index if map.axis is not None}
    for map in index:
        for lookup in map.found:
            found |= axes_of(lookup.axes)
    return frozenset(found)


def changed(index: Index, change: Callable[[AxisMap], AxisMap]) -> Index:
    """The same index with every map along an axis changed, those of looked-up positions included.

    ``change`` keeps what is found.
    """
    maps = [_with_found(map, change) if map.found else map for map in index]
    return tuple([map if map.axis is None else change(map) for map in maps])


def _with_found(map: AxisMap, change: Callable[[AxisMap], AxisMap]) -> AxisMap:
    found = tuple(Lookup(one.source, changed(one.axes, change), one.times) for one in map.found)
    return AxisMap(map.axis, map.scale, map.offset, found)


def relabel(index: Index, axes: dict[int, int]) -> Index:
    """The same index in a domain whose axes have other numbers."""
    return changed(index, lambda map: AxisMap(axes[map.axis or 0], map.scale, map.offset, map.found))


def has_lookups(index: Index) -> bool:
    """Return whether the index adds integers from data."""
    return bool([map for map in index if map.found])


def lookups_of(index: Index) -> Iterator[Lookup]:
    """The integers from data that the index adds."""
    for map in index:
        yield from map.found
