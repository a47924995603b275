"""The axes of values that live in scratch while a tile is computed.

A value u[plane, row, column], tiled along rows, has three axes in scratch: planes, rows and columns. Axes that are
not tiled and follow each other in memory are one: of a value tiled along planes alone, rows and columns together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

from xjit.dataclass import dataclass, field
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.plan import Tiling
from xjit.ir.node import Node


@dataclass(frozen=True, slots=True)
class ScratchAxis:
    """An axis of scratch: ``strides`` are the distances along it of the axes of the value, 0 for others.

    ``tiled`` is the axis of the value, where tiles cut it.
    """

    strides: tuple[int, ...]
    extent: int
    tiled: int | None


@dataclass(frozen=True, slots=True)
class InTiles:
    """The axes along which the groups of a kernel are tiled, the extents of a tile, and values that stay in scratch,
    with their axes.
    """

    axes: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    values: Mapping[Node, tuple[ScratchAxis, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, tiling: Tiling | None, layouts: Layouts) -> InTiles:
        """The tiles of a kernel, none without a tiling."""
        if tiling is None:
            return cls()
        return cls(tiling.axes, tiling.sizes, {node: _scratch_axes(node, tiling, layouts) for node in tiling.values})


def _scratch_axes(node: Node, tiling: Tiling, layouts: Layouts) -> tuple[ScratchAxis, ...]:
    """The slowest first."""
    shape, strides = node.aval.shape, layouts.strides(node)
    order = sorted(range(len(shape)), key=lambda axis: (-strides[axis], axis))
    runs = itertools.groupby(order, key=lambda axis: axis if axis in tiling.axes else None)
    found = []
    for tiled, run in runs:
        axes = list(run)
        unit = min(strides[axis] for axis in axes)
        along = tuple(stride // unit if axis in axes else 0 for axis, stride in enumerate(strides))
        found.append(ScratchAxis(along, math.prod(shape[axis] for axis in axes), tiled))
    return tuple(found)
