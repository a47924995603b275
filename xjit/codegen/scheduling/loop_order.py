"""The loops of a group with the accesses that decide them: their order and direction, short ones, tiles."""

from __future__ import annotations

from xjit.codegen.scheduling.accesses import GroupAccesses
from xjit.codegen.scheduling.ideas.joined_windows import windows_order
from xjit.codegen.scheduling.ideas.tiles import Transposition, transposition
from xjit.codegen.scheduling.ideas.unrolled import short_loop
from xjit.codegen.scheduling.schedule import Schedule, backward_axes, schedule
from xjit.codegen.scheduling.scratch_axes import InTiles
from xjit.codegen.scheduling.update_order import update_loops
from xjit.dataclass import dataclass
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.plan import FusionGroup
from xjit.fusion.statements import Reduce
from xjit.ir.node import Node
from xjit.machine import Machine


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """A group with what it accesses, its loops and the tiles of two of them.

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
    tiles: InTiles,
) -> Ordered:
    """Decides the loops of a group. ``leaves`` are materialised nodes, ``stored`` those that get a buffer; the axes
    of ``tiles`` have loops of their own, which are cut.
    """
    if group.changes:
        accesses = GroupAccesses(group, layouts, leaves, stored, machine, tiles)
        return Ordered(group, accesses, update_loops(group, accesses), None)
    accesses, plan = _scheduled(group, layouts, leaves, stored, machine, tiles)
    apart = frozenset(tiles.axes)
    short = short_loop(group, plan, accesses)
    if short is not None and not (apart & set(short.axes) or short.variable in plan.rows.values()):
        plan = plan.with_short(short, machine)
    turned = None if apart or group.limits else transposition(group, plan, accesses)
    return Ordered(group, accesses, plan if turned is None else turned.plan, turned, apart)


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
    fixed, sums, primary = frozenset(accesses.positions), group.sums, windows_order(accesses)
    fixed |= frozenset(group.limits)
    accesses.turn(backward_axes(group, accesses.moves, fixed | apart, exact, primary, sums))
    plan = schedule(group, accesses.moves, fixed, exact, primary, machine, apart, sums)
    return accesses, plan.with_counted(machine.joined_products) if group.adds_products else plan
