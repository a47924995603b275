"""Kernels one behind the other, a tile at a time: what is between them stays in scratch.

    parallel b0 in 0 .. (n3 + size0 - 1) // size0:            # tiles, shared among threads
      alloc m0: f64[size0 + 1, n1] for each iteration         # what a tile needs of the first result
      for i0 in b0*size0 .. min(b0*size0 + size0, n3) + 1:
        for i1 in 0 .. n1:
          m0[i0 - b0*size0, i1] = ...
      for i0_0 in b0*size0 .. min(b0*size0 + size0, n3):
        for i1 in 0 .. n4:
          o0[i0_0, i1] = m0[i0_0 - b0*size0, i1 + c0] + m0[i0_0 - b0*size0 + 1, i1]

Parts of a result, its borders and its interior, are cut into the same tiles.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.collapse import Collapse
from xjit.codegen.rewrites.fuse import Fuse
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.rewrites.reorder import Reorder
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.split_part import SplitPart
from xjit.codegen.rewrites.storage.compute_at import ComputeAt
from xjit.codegen.rewrites.storage.flatten import Flatten
from xjit.codegen.scheduling.scratch_axes import InTiles
from xjit.dataclass import dataclass
from xjit.fusion.statements import Store
from xjit.ir.loops.intexpr import IntExpr, constant, maximum
from xjit.ir.loops.nodes import Alloc, Kernel, Scope

if TYPE_CHECKING:
    from xjit.codegen.scheduling.scheduler import NaiveNest


def in_overlapped_tiles(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what cuts results into tiles, which threads share, and computes in each tile what it needs."""
    tiles = nests[0].ordered.accesses.tiles
    if not tiles.axes:
        return
    results = [_Result.of(one, number, nest) for number, one in enumerate(nests) if _makes_a_result(one, tiles)]
    nest.section = 0
    sizes = [nest.word(("tile size", axis), size, "size") for axis, size in enumerate(tiles.sizes)]
    ends = [max(along) for along in zip(*(one.ends for one in results), strict=True)]
    counts = [-(-end // size) for end, size in zip(ends, tiles.sizes, strict=True)]
    names = [[nest.fresh("b") for _ in sizes] for _ in results]
    rewrites: list[Rewrite] = []
    for result, own in zip(results, names, strict=True):
        rewrites += result.reorders
        rewrites.append(Parallelize(result.tiled[counts.index(max(counts))]))
        rewrites += _splits(result, results, sizes, own)
        rewrites += _tiles_outside(result, own)
    for own in names[1:]:
        rewrites += map(Fuse, names[0], own)
    scratch = tuple(one.buffer.name for one in kernel.body if isinstance(one, Alloc) and one.scope is Scope.ITERATION)
    yield (*rewrites, ComputeAt(scratch, names[0][-1]))
    rows = [
        (one.loops[outer][0], one.loops[inner][0]) for one in nests for outer, inner in one.ordered.plan.rows.items()
    ]
    if rows:
        yield tuple(map(Flatten, scratch))
    for outer, inner in rows:
        yield (Collapse(outer, inner, inner),)


def _makes_a_result(naive: NaiveNest, tiles: InTiles) -> bool:
    """Return whether the nest stores anything else than scratch; running values are in no memory of their own."""
    statements = naive.ordered.group.statements
    return any(isinstance(one, Store) and one.target not in tiles.values for one in statements)


@dataclass(frozen=True, slots=True)
class _Result:
    """A nest that makes a result: its loops down to the last tiled one, and those of the tiled axes.

    ``reorders`` put loops of single elements, which are around all others, where the axis that they are of is.
    ``first`` is where each of the latter begins in the result, ``extents`` how long it is; ``ends`` are where they
    end in the result.
    """

    reorders: tuple[Rewrite, ...]
    loops: tuple[str, ...]
    tiled: tuple[str, ...]
    first: tuple[IntExpr, ...]
    extents: tuple[IntExpr, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, naive: NaiveNest, number: int, nest: LoopBuilder) -> _Result:
        """The nest with that number, of a kernel."""
        nest.section = number + 1
        plan, group, axes = naive.ordered.plan, naive.ordered.group, naive.ordered.accesses.tiles.axes
        loops = (*plan.single, *plan.kept)
        own = {axis: number for number, loop in enumerate(loops) for axis in loop.axes}
        names = [naive.loops[loop.variable][0] for loop in loops]
        begin = group.statements[0].domain.begin
        tiled = tuple(names[own[axis]] for axis in axes)
        written = tuple(names[: max(own[axis] for axis in axes) + 1])
        ordered = _with_singles_inside(written, tiled, names[: len(plan.single)])
        return cls(
            (Reorder(ordered),) if ordered != written else (),
            ordered,
            tiled,
            tuple(nest.word(("origin", axis), begin[axis], "first") if begin[axis] else constant(0) for axis in axes),
            tuple(_extent(group.dims[axis], loops[own[axis]].variable, nest) for axis in axes),
            tuple(begin[axis] + group.dims[axis] for axis in axes),
        )


def _with_singles_inside(loops: Sequence[str], tiled: Sequence[str], singles: Collection[str]) -> tuple[str, ...]:
    """The loops of a nest, those of single elements behind the one of the tiled axis before theirs."""
    order = list(loops)
    for before, loop in itertools.pairwise(tiled):
        if loop in singles:
            order.remove(loop)
            order.insert(order.index(before) + 1, loop)
    return tuple(order)


def _extent(extent: int, variable: str, nest: LoopBuilder) -> IntExpr:
    """The length of a loop; those of single elements are numbers."""
    return constant(1) if extent == 1 else nest.extent(variable, extent)


def _splits(
    result: _Result, results: Sequence[_Result], sizes: Sequence[IntExpr], names: Sequence[str]
) -> Iterator[Rewrite]:
    """Yield what cuts the loops of a result into tiles: those of all results together, where there are several."""
    for axis, (loop, size, name) in enumerate(zip(result.tiled, sizes, names, strict=True)):
        if len(results) == 1:
            yield Split(loop, size, name)
        else:
            whole = maximum(*(one.first[axis] + one.extents[axis] for one in results))
            yield SplitPart(loop, size, name, result.first[axis], whole)


def _tiles_outside(result: _Result, names: Sequence[str]) -> Iterator[Rewrite]:
    """Yield what puts the loops over tiles around all others."""
    cut = dict(zip(result.tiled, names, strict=True))
    nest = [*itertools.chain.from_iterable((cut[loop], loop) if loop in cut else (loop,) for loop in result.loops)]
    moved = nest[: max(map(nest.index, names)) + 1]
    order = (*names, *(loop for loop in moved if loop not in names))
    start = next((at for at, (one, other) in enumerate(zip(order, moved, strict=True)) if one != other), len(order))
    if start < len(order):
        yield Reorder(order[start:])
