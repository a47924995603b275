"""Scans and what reads them, a block of a row at a time: what a scan makes of a block is read while it is in cache.

The loop of a scan is one addition after the other. What it needs, and what needs it, are loops of their own that are
vector code. What runs ``w`` steps behind finds the end of the block before in front of the block at hand::

    for j0 in 0 .. n0:                     for b0 in 0 .. n0 by 512:
      t0 = t0 + exp(x[j0])                   for j0 in b0 .. min(b0 + 512, n0):       # what the scan needs
      m0[j0] = t0                              m1[j0 - b0] = exp(x[j0])
    for j1 in w .. n0:                       for j0_0 in b0 .. min(b0 + 512, n0):     # the scan
      o0[j1] = m0[j1] - m0[j1 - w]             t0 = t0 + m1[j0_0 - b0]
                                               m0[w - b0 + j0_0] = t0
                                             for j1 in max(b0, w) .. min(b0 + 512, n0):
                                               o0[j1] = m0[w - b0 + j1] - m0[j1 - b0]
                                             ...                                      # the last w sums stay
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xjit import numerics
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.analysis.surroundings import block_of, place_in
from xjit.codegen.rewrites.distribute import Distribute
from xjit.codegen.rewrites.fuse_in_blocks import FuseInBlocks
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.rewrites.storage.slide_storage import SlideStorage
from xjit.codegen.rewrites.storage.stage_value import StageValue
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Carry, Kernel, Loop
from xjit.ir.loops.walk import path_to

if TYPE_CHECKING:
    from xjit.codegen.scheduling.scheduler import NaiveNest


@dataclass(frozen=True, slots=True)
class ScanPass:
    """A pass with scans: so many loops behind the accumulator of the first scan, ``carry``.

    ``costly`` are the names of what scans take and what costs more than a store and a load, where it is computed
    first; ``parted`` are loops, by number, with so many statements that compute such values. ``rows`` are scratch
    that only these loops use.
    """

    carry: str
    loops: int
    costly: tuple[str, ...]
    parted: tuple[tuple[int, int], ...]
    rows: tuple[str, ...]


def scans_in_blocks(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what runs scans, what they need and what needs them a block at a time."""
    for one in nests:
        for scans in one.scan_passes:
            yield tuple(_in_blocks(kernel, scans, nest))


def _in_blocks(kernel: Kernel, scans: ScanPass, nest: LoopBuilder) -> Iterator[Rewrite]:
    loops = [[name] for name in _loops(kernel, scans)]
    for number, statements in scans.parted:
        (name,) = loops[number]
        loops[number].append(nest.fresh(f"{name}_"))
        yield Distribute(name, statements, loops[number][1])
    rows = list(scans.rows)
    for value in scans.costly:
        rows.append(nest.fresh("m"))
        yield StageValue(value, rows[-1])
    block = nest.fresh("b")
    yield FuseInBlocks(tuple(name for names in loops for name in names), numerics.BLOCK, block)
    if rows:
        yield SlideStorage(tuple(rows), block)


def _loops(kernel: Kernel, scans: ScanPass) -> list[str]:
    """The names of the loops of a pass."""
    path = path_to(kernel.body, lambda one: isinstance(one, Carry) and one.name == scans.carry)
    block = block_of(kernel, path)
    behind = block[place_in(block, path[-1]) :]
    return [one.variable for one in behind if isinstance(one, Loop)][: scans.loops]
