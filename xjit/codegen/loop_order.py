"""The loops of a region with the accesses that decide them: their order and direction, short ones, tiles, pairs."""

from __future__ import annotations

from xjit.codegen.accesses import RegionAccesses
from xjit.codegen.pairs import paired, paired_loop
from xjit.codegen.schedule import Loop, Schedule, backward_axes, schedule
from xjit.codegen.short_loops import short_loop, written_out
from xjit.codegen.tiles import Transposition, transposition
from xjit.dataclass import dataclass
from xjit.fusion.layout import Layouts
from xjit.fusion.plan import Region
from xjit.ir.node import Node


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """A region, a short innermost loop written out, with what it accesses, its loops and the tiles of two of them.

    ``pairs`` is the loop of which two steps are done at a time.
    """

    region: Region
    accesses: RegionAccesses
    plan: Schedule
    transposition: Transposition | None
    pairs: Loop | None = None


def ordered(
    region: Region,
    layouts: Layouts,
    leaves: frozenset[Node],
    stored: frozenset[Node],
    apart: frozenset[int] = frozenset(),
) -> Ordered:
    """Decides the loops of a region. ``leaves`` are materialised nodes, ``stored`` those that get a buffer; along the
    axes ``apart`` somebody else says where loops begin and end.
    """
    accesses, plan = _scheduled(region, layouts, leaves, stored, apart)
    short = short_loop(region, plan, accesses)
    if short is not None and apart.isdisjoint(short.axes):
        region = written_out(region, short)
        accesses, plan = _scheduled(region, layouts, leaves, stored, apart)
    turned = None if apart else transposition(region, plan, accesses)
    if turned is not None:
        return Ordered(region, accesses, turned.plan, turned)
    pairs = None if apart else paired_loop(region, plan, accesses)
    if pairs is not None:
        region = paired(region, pairs)
        accesses, plan = _scheduled(region, layouts, leaves, stored, apart)
    return Ordered(region, accesses, plan, None, pairs)


def _scheduled(
    region: Region, layouts: Layouts, leaves: frozenset[Node], stored: frozenset[Node], apart: frozenset[int]
) -> tuple[RegionAccesses, Schedule]:
    accesses = RegionAccesses(region, layouts, leaves, stored)
    exact = any(unit.is_reduction and unit.target.param("reducer") is None for unit in region.units)
    fixed, sums = frozenset(accesses.positions), region.sums
    accesses.turn(backward_axes(region, accesses.moves, fixed | apart, exact, accesses.primary, sums))
    return accesses, schedule(region, accesses.moves, fixed, exact, accesses.primary, apart, sums)
