"""The loops of a group with the accesses that decide them: their order and direction, short ones, tiles."""

from __future__ import annotations

from xjit.codegen.scheduling.accesses import GroupAccesses
from xjit.codegen.scheduling.schedule import Schedule, backward_axes, schedule
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

    Somebody else says where the loops along the axes ``apart`` begin and end.
    """

    group: FusionGroup
    accesses: GroupAccesses
    plan: Schedule
    transposition: Transposition | None
    apart: frozenset[int] = frozenset()


def ordered(
    group: FusionGroup,
    layouts: Layouts,
    leaves: frozenset[Node],
    stored: frozenset[Node],
    machine: Machine,
    apart: frozenset[int] = frozenset(),
) -> Ordered:
    """Decides the loops of a group. ``leaves`` are materialised nodes, ``stored`` those that get a buffer; along the
    axes ``apart`` somebody else says where loops begin and end.
    """
    accesses, plan = _scheduled(group, layouts, leaves, stored, machine, apart)
    short = short_loop(group, plan, accesses)
    if short is not None and apart.isdisjoint(short.axes):
        group = written_out(group, short)
        accesses, plan = _scheduled(group, layouts, leaves, stored, machine, apart)
    turned = None if apart else transposition(group, plan, accesses)
    return Ordered(group, accesses, plan if turned is None else turned.plan, turned, apart)


def _scheduled(
    group: FusionGroup,
    layouts: Layouts,
    leaves: frozenset[Node],
    stored: frozenset[Node],
    machine: Machine,
    apart: frozenset[int],
) -> tuple[GroupAccesses, Schedule]:
    accesses = GroupAccesses(group, layouts, leaves, stored, machine)
    exact = any(
        isinstance(statement, Reduce) and statement.target.param("reducer") is None for statement in group.statements
    )
    fixed, sums = frozenset(accesses.positions), group.sums
    accesses.turn(backward_axes(group, accesses.moves, fixed | apart, exact, accesses.primary, sums))
    return accesses, schedule(group, accesses.moves, fixed, exact, accesses.primary, machine, apart, sums)
