"""The loops of a group with the accesses that decide them: their order and direction, short ones, tiles, pairs."""

from __future__ import annotations

from xjit.codegen.scheduling.accesses import GroupAccesses
from xjit.codegen.scheduling.pairs import paired, paired_loop
from xjit.codegen.scheduling.schedule import Loop, Schedule, backward_axes, schedule
from xjit.codegen.scheduling.scratch_axes import InTiles
from xjit.codegen.scheduling.short_loops import short_loop, written_out
from xjit.codegen.scheduling.tiles import Transposition, transposition
from xjit.dataclass import dataclass
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.plan import FusionGroup
from xjit.fusion.statements import Reduce
from xjit.ir.node import Node
from xjit.machine import Machine


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """A group, a short innermost loop written out, with what it accesses, its loops and the tiles of two of them.

    ``pairs`` is the loop of which two steps are done at a time.
    """

    group: FusionGroup
    accesses: GroupAccesses
    plan: Schedule
    transposition: Transposition | None
    pairs: Loop | None = None


def ordered(
    group: FusionGroup,
    layouts: Layouts,
    leaves: frozenset[Node],
    stored: frozenset[Node],
    machine: Machine,
    tiles: InTiles,
) -> Ordered:
    """Decides the loops of a group. ``leaves`` are materialised nodes, ``stored`` those that get a buffer; the axes
    of ``tiles`` have loops of their own, which are cut.
    """
    accesses, plan = _scheduled(group, layouts, leaves, stored, machine, tiles)
    short = short_loop(group, plan, accesses)
    if short is not None and not (set(tiles.axes) & set(short.axes) or short.variable in plan.rows.values()):
        group = written_out(group, short)
        accesses, plan = _scheduled(group, layouts, leaves, stored, machine, tiles)
    turned = None if tiles.axes else transposition(group, plan, accesses)
    if turned is not None:
        return Ordered(group, accesses, turned.plan, turned)
    pairs = None if tiles.axes else paired_loop(group, plan, accesses)
    if pairs is not None:
        group = paired(group, pairs)
        accesses, plan = _scheduled(group, layouts, leaves, stored, machine, tiles)
    return Ordered(group, accesses, plan, None, pairs)


def _scheduled(
    group: FusionGroup,
    layouts: Layouts,
    leaves: frozenset[Node],
    stored: frozenset[Node],
    machine: Machine,
    tiles: InTiles,
) -> tuple[GroupAccesses, Schedule]:
    accesses, apart = GroupAccesses(group, layouts, leaves, stored, machine, tiles), frozenset(tiles.axes)
    exact = any(
        isinstance(statement, Reduce) and statement.target.param("reducer") is None for statement in group.statements
    )
    fixed, sums = frozenset(accesses.positions), group.sums
    accesses.turn(backward_axes(group, accesses.moves, fixed | apart, exact, accesses.primary, sums))
    return accesses, schedule(group, accesses.moves, fixed, exact, accesses.primary, machine, apart, sums)
