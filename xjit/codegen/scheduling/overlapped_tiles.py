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
from collections.abc import Iterator, Sequence

from xjit.codegen.rewrites.fuse import Fuse
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.rewrites.reorder import Reorder
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.storage.compute_at import ComputeAt
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, maximum


@dataclass(frozen=True, slots=True)
class Stage:
    """A nest that makes a result: its loops down to the last tiled one, and those of the tiled axes.

    ``first`` is where each of the latter begins in the result, ``extents`` how long it is; ``ends`` are where they
    end in the result.
    """

    loops: tuple[str, ...]
    tiled: tuple[str, ...]
    first: tuple[IntExpr, ...]
    extents: tuple[IntExpr, ...]
    ends: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Stages:
    """The nests that make results, and the scratch between those in front of them."""

    results: tuple[Stage, ...]
    scratch: tuple[str, ...]


def tile_rewrites(
    stages: Stages, sizes: Sequence[tuple[int, IntExpr]], tiles: Sequence[Sequence[str]]
) -> Iterator[Rewrite]:
    """Cut the nests of results into tiles, which threads share, and compute in each tile what it needs.

    ``sizes`` are those of a tile, with their words, ``tiles`` names for the loops over tiles of each nest.
    """
    ends = [max(along) for along in zip(*(one.ends for one in stages.results), strict=True)]
    counts = [-(-end // size) for end, (size, _) in zip(ends, sizes, strict=True)]
    shared = counts.index(max(counts))
    for stage, names in zip(stages.results, tiles, strict=True):
        yield Parallelize(stage.tiled[shared])
        for axis, (name, (_, size)) in enumerate(zip(names, sizes, strict=True)):
            whole = _whole(stages.results, axis) if len(stages.results) > 1 else None
            yield Split(stage.tiled[axis], size, name, None if whole is None else (stage.first[axis], whole))
        yield from _tiles_outside(stage, names)
    first, *others = tiles
    for other in others:
        yield from map(Fuse, first, other)
    yield ComputeAt(stages.scratch, first[-1])


def _whole(results: Sequence[Stage], axis: int) -> IntExpr:
    """Where the last of the results ends."""
    return maximum(*(one.first[axis] + one.extents[axis] for one in results))


def _tiles_outside(stage: Stage, names: Sequence[str]) -> Iterator[Rewrite]:
    """Put the loops over tiles around all others."""
    cut = dict(zip(stage.tiled, names, strict=True))
    nest = [*itertools.chain.from_iterable((cut[loop], loop) if loop in cut else (loop,) for loop in stage.loops)]
    moved = nest[: max(map(nest.index, names)) + 1]
    order = (*names, *(loop for loop in moved if loop not in names))
    start = next((at for at, (one, other) in enumerate(zip(order, moved, strict=True)) if one != other), len(order))
    if start < len(order):
        yield Reorder(order[start:])
