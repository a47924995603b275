"""Groups one behind the other, each over its whole extents; what is between them is in scratch.

    alloc m0: f64[n0, n1] for each iteration
    for i0 in 0 .. n2:
      for i1 in 0 .. n3:
        m0[i0, i1] = ...
    for i0_0 in 0 .. n4:
      for i1_0 in 0 .. n5:
        o0[i0_0, i1_0] = m0[i0_0, i1_0 + c0] + m0[i0_0 + 1, i1_0]

The rewrites of ``scheduling/overlapped_tiles.py`` leave as much of the scratch as a tile needs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xjit.codegen.lowering.elements import storage_dtype
from xjit.codegen.lowering.lower import Lowering
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.analysis.surroundings import written
from xjit.codegen.scheduling.scratch_axes import InTiles, ScratchAxis
from xjit.errors import XjitError
from xjit.ir.loops.intexpr import IntExpr
from xjit.ir.loops.nodes import Alloc, Block, Kernel, Scope, Statement
from xjit.ir.loops.walk import loads
from xjit.ir.node import Node


def write_one_behind_the_other(parts: Sequence[Lowering], tiles: InTiles, nest: LoopBuilder) -> None:
    """The nests of all groups, in sections of their own, behind scratch for the values between them."""
    for node in tiles.values:
        parts[0].pointers.inside[node] = _scratch(node, tiles, parts[0])
    for part in parts:
        nest.section += 1
        part.bounds.shared = False
        part.write()


def _scratch(node: Node, tiles: InTiles, part: Lowering) -> str:
    """Scratch for a whole value."""
    name = part.nest.fresh("m")

    def extent(number: int, axis: ScratchAxis) -> IntExpr:
        if axis.tiled is None:
            return part.nest.row(axis.extent)
        return part.nest.word(("extent of", node, number), axis.extent, f"{name}_n")

    extents = tuple(extent(number, axis) for number, axis in enumerate(tiles.values[node]))
    return part.scratch.add(name, storage_dtype(node.aval.dtype), extents, scope=Scope.ITERATION)


def without_unread(body: Block, between: Collection[str]) -> Block:
    """The statements without values ``between`` groups that nobody reads: numbers stand in the text."""
    unread = set(between) - {load.buffer for load in loads(body)}
    return tuple(one for one in body if not _makes_only(one, unread)) if unread else body


def _makes_only(one: Statement, unread: Collection[str]) -> bool:
    if isinstance(one, Alloc):
        return one.buffer.name in unread
    made = written((one,))
    return bool(made) and made <= set(unread)


class NoTilesError(XjitError):
    """Loops are not to be cut into the tiles of their plan, which leaves them to another one."""


def see_that_tiles_have_scratch(kernel: Kernel, between: Collection[str]) -> None:
    """Raise NoTilesError where a value ``between`` two groups is still there as a whole."""
    for one in kernel.body:
        if isinstance(one, Alloc) and one.buffer.name in between and one.scope is Scope.ITERATION:
            raise NoTilesError(f"{one.buffer.name} has no tiles")
