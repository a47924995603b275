"""Index maps: where an operand is read, as an affine function of the position in a loop domain.

An index has one AxisMap per axis of the value it points into; axes of one element are always read at 0.

>>> from xjit.ir.opdef import Access
>>> compose(Access((AxisMap(0, 2, 1),)), identity((5,)))
(AxisMap(axis=0, scale=2, offset=1),)
"""

from __future__ import annotations

from typing import TypeAlias

from xjit.ir.opdef import Access, AxisMap

Index: TypeAlias = "tuple[AxisMap, ...]"

ORIGIN = AxisMap(None)


def identity(dims: tuple[int, ...]) -> Index:
    """Reads every element at its own position."""
    return tuple(ORIGIN if size == 1 else AxisMap(axis) for axis, size in enumerate(dims))


def compose(access: Access, index: Index) -> Index:
    """Where the operand is read when the result is read at ``index``."""
    return tuple(_through(map, index) for map in access.axes)


def _through(map: AxisMap, index: Index) -> AxisMap:
    if map.axis is None:
        return map
    inner = index[map.axis]
    offset = inner.offset * map.scale + map.offset
    return AxisMap(None, 1, offset) if inner.axis is None else AxisMap(inner.axis, inner.scale * map.scale, offset)


def normalise(index: Index, dims: tuple[int, ...]) -> Index:
    """The same index with axes of one element read at 0."""
    return tuple(ORIGIN if size == 1 else map for map, size in zip(index, dims, strict=True))


def axes_of(index: Index) -> frozenset[int]:
    """The domain axes that the index depends on."""
    return frozenset(map.axis for map in index if map.axis is not None)


def relabel(index: Index, axes: dict[int, int]) -> Index:
    """The same index in a domain whose axes have other numbers."""
    return tuple(map if map.axis is None else AxisMap(axes[map.axis], map.scale, map.offset) for map in index)
