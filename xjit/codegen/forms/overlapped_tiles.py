"""Kernels one behind the other, a tile at a time: what is between them stays in scratch.

    m0 = scratch_f64(m0_n)                                    # the window of the first result
    for b0 in range(tiles):                                   # tiles, shared among threads
        b0_first = b0 * size0
        b0_last = select(b0_first + size0 < n0, b0_first + size0, n0)
        from0 = b0_first - 1                                  # what this tile needs of the first
        to0 = b0_last + 1
        for i0 in range(from0, to0):
            for i1 in range(n1):
                st(m0, ..., v4)
        for i0 in range(b0_first, b0_last):
            for i1 in range(n2):
                x5 = ld(m0, ...)
                st(o0, ..., v9)

A group that makes only a part of a value runs over what of its part a tile needs.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from xjit.codegen.lowering.buffers import Pointers, Window
from xjit.codegen.lowering.elements import storage_dtype
from xjit.codegen.lowering.loop_bounds import Bounds
from xjit.codegen.lowering.lower import Lowering
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.plan import FusionGroup, Halo, Tiling
from xjit.fusion.statements import Output, Statement, Store
from xjit.ir.loops.intexpr import maximum, minimum, variable
from xjit.ir.loops.nodes import LetInt, LoopKind
from xjit.ir.node import Node


def window_layouts(tiling: Tiling, layouts: Layouts) -> Layouts:
    """The layouts in which values that a tile keeps in scratch have the strides of their windows."""
    strides = {node: _window_strides(tiling, node, layouts) for node in tiling.windows}
    return Layouts({**layouts.parameters, **strides})


def _window_strides(tiling: Tiling, node: Node, layouts: Layouts) -> tuple[int, ...]:
    """In bytes; the axes keep their order in memory."""
    shape, strides = tiling.window_shape(node), layouts.strides(node)
    found, step = [0] * len(shape), node.aval.dtype.itemsize
    for axis in sorted(range(len(shape)), key=lambda axis: (strides[axis], -axis)):
        found[axis] = step
        step *= max(shape[axis], 1)
    return tuple(found)


def in_windows(group: FusionGroup, tiling: Tiling, layouts: Layouts) -> FusionGroup:
    """The group with its results stored in windows of these layouts."""
    statements = tuple(_in_window(statement, tiling, layouts) for statement in group.statements)
    return dataclasses.replace(group, statements=statements)


def _in_window(statement: Statement, tiling: Tiling, layouts: Layouts) -> Statement:
    if not isinstance(statement, Store) or statement.target not in tiling.windows:
        return statement
    return statement.to(Output(statement.target, layouts.strides(statement.target)).moved(statement.domain.corner))


def write_tiles(parts: Sequence[Lowering], tiling: Tiling, nest: LoopBuilder, pointers: Pointers) -> None:
    """The loops over tiles, around one nest for each group; threads share the longest one."""
    counts = [-(-extent // size) for extent, size in zip(tiling.dims, tiling.sizes, strict=True)]
    shared = counts.index(max(counts))
    tiles = [nest.fresh("b") for _ in counts]
    layouts = parts[0].layouts
    for node, halo in tiling.windows.items():
        pointers.windows[node] = _window(node, tiling, layouts, tiles, halo, parts[0])
    for number, (tile, size, extent) in enumerate(zip(tiles, tiling.sizes, tiling.dims, strict=True)):
        scope = nest.open(tile)
        step = nest.word(("tile size", number), size, "size")
        first, stop = variable(f"{tile}_first"), nest.word(("tiled extent", number), extent, "n")
        scope.statements.append(LetInt(str(first), variable(tile) * step))
        scope.statements.append(LetInt(f"{tile}_last", minimum(first + step, stop)))
    stops = [nest.word(("tiles", number), count, "blocks") for number, count in enumerate(counts)]
    for number, part in enumerate(parts):
        nest.section = number + 1
        _write_part(part, tiling, tiling.halos[number], tiles)
    for number in reversed(range(len(tiles))):
        nest.close(0, stops[number], LoopKind.PARALLEL if number == shared else LoopKind.SERIAL)


def _window(
    node: Node,
    tiling: Tiling,
    layouts: Layouts,
    tiles: Sequence[str],
    halo: Sequence[tuple[int, int]],
    part: Lowering,
) -> Window:
    """Takes scratch for a window."""
    strides = layouts.strides(node)
    moves = [strides[axis] for axis in tiling.axes]
    count = math.prod(tiling.window_shape(node))
    name = part.nest.fresh("m")
    extent = part.nest.word(("window", node), count, f"{name}_n")
    part.scratch.add(name, storage_dtype(node.aval.dtype), (extent,))
    steps = {tile: size * move for tile, size, move in zip(tiles, tiling.sizes, moves, strict=True)}
    first = sum(low * move for (low, _), move in zip(halo, moves, strict=True))
    return Window(name, steps, first)


def _write_part(part: Lowering, tiling: Tiling, halo: Halo, tiles: Sequence[str]) -> None:
    """One group within a tile."""
    nest, once = part.nest, list[Bounds]()
    part.bounds.shared = False
    for axis, tile, extent, beyond in zip(tiling.axes, tiles, tiling.dims, halo, strict=True):
        bounds = _bounds(part, axis, tile, extent, beyond)
        if part.group.dims[axis] == 1:
            nest.open(nest.fresh("once"))
            once.append(bounds)
        else:
            part.bounds.given[axis] = _within_loop(part, axis, bounds)
    nest.outermost = len(nest.scopes) - 1
    part.write()
    for bounds in reversed(once):
        nest.close(*bounds)
    nest.outermost = 0


def _within_loop(part: Lowering, axis: int, bounds: Bounds) -> Bounds:
    """The bounds of the loop that begins with an axis: in elements, where faster axes fall together with it."""
    loop = part.plan.loop_of(axis)
    assert loop is not None and loop.axes[0] == axis
    count = loop.extent // part.group.dims[axis]
    if count == 1:
        return bounds
    step = part.nest.word(("elements", axis, count), count, "each")
    start, stop = bounds
    return part.nest.integer("from", start * step), part.nest.integer("to", stop * step)


def _bounds(part: Lowering, axis: int, tile: str, tiled: int, beyond: tuple[int, int]) -> Bounds:
    """The bounds of a loop: what a tile needs, as far as the group makes it.

    ``tiled`` is the extent of all tiles, ``beyond`` how much further than a tile the loop runs.
    """
    nest, domain = part.nest, part.group.statements[0].domain
    extent, origin = part.group.dims[axis], domain.begin[axis]
    start, stop = variable(f"{tile}_first"), variable(f"{tile}_last")
    if any(beyond):
        start, stop = nest.integer("from", start + beyond[0]), nest.integer("to", stop + beyond[1])
    if not domain.origin and beyond[0] >= 0 and tiled + beyond[1] <= extent:
        return start, stop
    first = nest.word(("origin", axis), origin, "first")
    limit = nest.word(("extent along", axis), extent, "n")
    return nest.integer("lo", maximum(start - first, 0)), nest.integer("hi", minimum(stop - first, limit))
