"""Kernels one behind the other, a tile at a time: what is between them stays in scratch.

    m0 = scratch_f64(m0_n)                                    # the window of the first result
    for b0 in range(lo, hi):                                  # tiles, shared among threads
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

from xjit.codegen.buffers import Pointers, Window
from xjit.codegen.elements import storage_dtype
from xjit.codegen.lower import Lowering
from xjit.codegen.scopes import Nest
from xjit.fusion.layout import Layouts
from xjit.fusion.plan import FusionGroup, Halo, Tiling
from xjit.fusion.statements import Output, Statement, Store
from xjit.ir.loops import Alloc, Base, Bound, LoopKind, Offset, Share, Term
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


def write_tiles(parts: Sequence[Lowering], tiling: Tiling, nest: Nest, pointers: Pointers) -> int:
    """The loops over tiles, around one nest for each group; the number of steps of the shared one."""
    counts = [-(-extent // size) for extent, size in zip(tiling.dims, tiling.sizes, strict=True)]
    shared = counts.index(max(counts))
    tiles = [nest.fresh("b") for _ in counts]
    layouts = parts[0].layouts
    for node, halo in tiling.windows.items():
        pointers.windows[node] = _window(node, tiling, layouts, tiles, halo, parts[0])
    for number, (variable, size, extent) in enumerate(zip(tiles, tiling.sizes, tiling.dims, strict=True)):
        scope = nest.open(variable)
        step = nest.word(("tile size", number), size, "size")
        scope.statements.append(Base(f"{variable}_first", Offset((Term(variable, step),))))
        stop = nest.word(("tiled extent", number), extent, "n")
        scope.statements.append(Bound(f"{variable}_last", f"{variable}_first", step, stop))
    stops = [nest.word(("tiles", number), count, "blocks") for number, count in enumerate(counts)]
    for number, part in enumerate(parts):
        nest.section = number + 1
        _write_part(part, tiling, tiling.halos[number], tiles)
    for number in reversed(range(len(tiles))):
        if number == shared:
            nest.close("lo", "hi", LoopKind.PARALLEL)
        else:
            nest.close("0", stops[number])
    return counts[shared]


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
    part.scratch.allocs.append(Alloc(name, extent, storage_dtype(node.aval.dtype)))
    steps = {tile: size * move for tile, size, move in zip(tiles, tiling.sizes, moves, strict=True)}
    first = sum(low * move for (low, _), move in zip(halo, moves, strict=True))
    return Window(name, steps, first)


def _write_part(part: Lowering, tiling: Tiling, halo: Halo, tiles: Sequence[str]) -> None:
    """One group within a tile."""
    nest, once = part.nest, list[tuple[str, str]]()
    part.bounds.shared = None
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


def _within_loop(part: Lowering, axis: int, bounds: tuple[str, str]) -> tuple[str, str]:
    """The bounds of the loop that begins with an axis: in elements, where faster axes fall together with it."""
    loop = part.plan.loop_of(axis)
    assert loop is not None and loop.axes[0] == axis
    count = loop.extent // part.group.dims[axis]
    if count == 1:
        return bounds
    step = part.nest.word(("elements", axis, count), count, "each")
    names = part.nest.fresh("from"), part.nest.fresh("to")
    part.nest.inner.statements += [
        Base(name, Offset((Term(bound, step),))) for name, bound in zip(names, bounds, strict=True)
    ]
    return names


def _bounds(part: Lowering, axis: int, tile: str, tiled: int, beyond: tuple[int, int]) -> tuple[str, str]:
    """The names of the bounds of a loop: what a tile needs, as far as the group makes it.

    ``tiled`` is the extent of all tiles, ``beyond`` how much further than a tile the loop runs.
    """
    nest, domain = part.nest, part.group.statements[0].domain
    extent, origin = part.group.dims[axis], domain.begin[axis]
    start, stop = f"{tile}_first", f"{tile}_last"
    statements = nest.inner.statements
    if any(beyond):
        names = nest.fresh("from"), nest.fresh("to")
        ends = zip(names, (start, stop), beyond, strict=True)
        statements += [Base(name, Offset((Term(end, 1),), margin)) for name, end, margin in ends]
        start, stop = names
    if not domain.origin and beyond[0] >= 0 and tiled + beyond[1] <= extent:
        return start, stop
    low, high = nest.fresh("lo"), nest.fresh("hi")
    first = nest.word(("origin", axis), origin, "first")
    limit = nest.word(("extent along", axis), extent, "n")
    statements.append(Share(low, high, first, limit, start, stop))
    return low, high
