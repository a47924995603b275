"""Groups one behind the other, each over its whole extents; what is between them is in scratch.

    alloc m0: f64[n0, n1] for each iteration
    for i0 in 0 .. n2:
      for i1 in 0 .. n1:
        m0[i0, i1] = ...
    for i0_0 in 0 .. n3:
      for i1 in 0 .. n4:
        o0[i0_0, i1] = m0[i0_0, i1 + c0] + m0[i0_0 + 1, i1]

The rewrites of ``scheduling/overlapped_tiles.py`` then leave as much of the scratch as a tile needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xjit import numerics
from xjit.codegen.lowering.elements import storage_dtype
from xjit.codegen.lowering.lower import Lowering
from xjit.codegen.lowering.scopes import Nest
from xjit.codegen.scheduling.overlapped_tiles import Stage, Stages
from xjit.codegen.scheduling.scratch_axes import InTiles
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Loop, Scope
from xjit.ir.loops.walk import renamed
from xjit.ir.node import Node


def write_stages(parts: Sequence[Lowering], tiles: InTiles, nest: Nest) -> Stages:
    """The nests of all groups; returned are those that make results, with the names of the scratch."""
    pointers = parts[0].pointers
    for node in tiles.values:
        pointers.inside[node] = _scratch(node, tiles, parts[0])
    results = []
    for number, part in enumerate(parts):
        nest.section = number + 1
        _write_stage(part, nest)
        if not all(statement.target in tiles.values for statement in part.group.statements):
            results.append(_result(part, tiles, nest))
    return Stages(tuple(results), tuple(pointers.inside.values()))


def _scratch(node: Node, tiles: InTiles, part: Lowering) -> str:
    """Scratch for a whole value."""
    name = part.nest.fresh("m")
    extents = [
        constant(axis.extent)
        if axis.extent <= numerics.TINY and axis.tiled is None
        else part.nest.word(("extent of", node, number), axis.extent, f"{name}_n")
        for number, axis in enumerate(tiles.values[node])
    ]
    return part.scratch.add(name, storage_dtype(node.aval.dtype), tuple(extents), scope=Scope.ITERATION)


def _write_stage(part: Lowering, nest: Nest) -> None:
    part.bounds.shared = False
    for loop in part.plan.single:
        nest.open(loop.variable)
    nest.outermost = len(nest.scopes) - 1
    part.write()
    for loop in reversed(part.plan.single):
        nest.close(0, loop.extent)
    nest.outermost = 0


def _result(part: Lowering, tiles: InTiles, nest: Nest) -> Stage:
    """The nest written last, of a result; the loops of tiled axes and those around them get names of their own."""
    loops = {axis: loop for loop in (*part.plan.single, *part.plan.kept) for axis in loop.axes}
    tiled = [loops[axis].variable for axis in tiles.axes]
    names = {name: nest.fresh(f"{name}_") for name in _around(nest.inner.statements[-1], tiled)}
    nest.inner.statements[-1:] = renamed(tuple(nest.inner.statements[-1:]), names)
    begin = part.group.statements[0].domain.begin
    return Stage(
        tuple(names.values()),
        tuple(names[name] for name in tiled),
        tuple(
            nest.word(("origin", axis), begin[axis], "first") if begin[axis] else constant(0) for axis in tiles.axes
        ),
        tuple(
            constant(1) if loops[axis] in part.plan.single else part.bounds.extent(loops[axis]) for axis in tiles.axes
        ),
        tuple(begin[axis] + part.group.dims[axis] for axis in tiles.axes),
    )


def _around(outermost: object, wanted: Sequence[str]) -> Iterator[str]:
    """Yield the variables of loops, each the last thing in the one before, down to the last one that is wanted."""
    missing, one = set(wanted), outermost
    while missing:
        assert isinstance(one, Loop), f"{missing} have no loops"
        yield one.variable
        missing.discard(one.variable)
        one = one.body[-1]
