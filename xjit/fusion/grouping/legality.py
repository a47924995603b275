"""Why a statement may not join a group: one predicate for each reason, which is given in words."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import TypeAlias

from xjit.dataclass import dataclass
from xjit.fusion.grouping.open_groups import OpenGroup, orders_of
from xjit.fusion.grouping.reasons import PARTS
from xjit.fusion.regions.materialized import owner
from xjit.fusion.regions.reads import ProducerSlice
from xjit.fusion.statements import Check, Reduce, Scan, Statement
from xjit.machine import Machine


@dataclass(frozen=True, slots=True, eq=False)
class Joining:
    """A statement that may join a group, what it reads, and the groups that have to run before it.

    ``axes`` are those of the group for its own; empty where the loops are others. ``runs_along_rows`` says of a
    reduction whether it folds over what is fastest in memory.
    """

    group: OpenGroup
    statement: Statement
    slice: ProducerSlice
    before: Set[OpenGroup]
    axes: dict[int, int] | None
    runs_along_rows: bool
    machine: Machine


def overlaps(joining: Joining) -> str:
    """The group makes the whole of the result, of which the statement makes a part, or any of what it changes."""
    group, statement = joining.group, joining.statement
    makers = group.makers.get(statement.target, ())
    if any(group.statements[number].domain.is_whole for number in makers):
        return PARTS
    return PARTS if any(node in group.makers for node in statement.updated) else ""


def has_other_loops(joining: Joining) -> str:
    """The loops do not have the same extents, or do not fold over the same axes."""
    return "the loops run over other extents or other reduced axes" if joining.axes is None else ""


def ends_elsewhere(joining: Joining) -> str:
    """The loops end at other positions, which only the run knows."""
    axes, stops = joining.axes, joining.statement.domain.stops
    assert axes is not None
    own = {axes[axis]: stop for axis, stop in stops.items()}
    shared = {axis: stop for axis, stop in joining.group.limits.items() if axis in axes.values()}
    return "the loops end where other integers of the run say" if own != shared else ""


def adds_in_another_order(joining: Joining) -> str:
    """Sums of one group go through the elements together."""
    orders = joining.group.orders | orders_of(joining.statement)
    return "the two sums take their elements in other orders" if len(orders) > 1 else ""


def runs_across_rows(joining: Joining) -> str:
    """Results along slow axes are there when all rows have been read, so that nothing follows in the same loops."""
    group, statement = joining.group, joining.statement
    chunked = statement.chunk is not None or group.chunk is not None  # its loops can be shared either way
    if chunked or (isinstance(statement, Reduce) and group.has_reduction):
        return ""
    if isinstance(statement, Reduce):
        across = not joining.runs_along_rows
    else:
        full = isinstance(statement, Scan) or statement.dims[: statement.rank] == group.dims[: group.rank]
        chained = any(owner(indexed.node) in group.reductions for indexed in joining.slice.reads)
        across = group.columns and full and not (isinstance(statement, Check) and not chained)
    return "the reduced axes are not the fastest in memory" if across else ""


def is_too_long(joining: Joining) -> str:
    """Kernels beyond some length take longer to compile than two."""
    assert joining.axes is not None
    most = joining.machine.kernel_operations
    operations = joining.group.operations_with(joining.slice, joining.axes, most)
    return f"a kernel holds at most {most} operations" if operations > most else ""


def reads_elsewhere(joining: Joining) -> str:
    """Values that the group makes are there at the step that makes them."""
    axes = joining.axes
    assert axes is not None
    if joining.statement.domain.skew is not None or all(
        joining.group.makes_at(indexed, axes) for indexed in joining.slice.reads
    ):
        return ""
    return "a value is read at another position than it is made at"


def reads_what_is_changed(joining: Joining) -> str:
    """Results that nothing else reads are computed where they are read: what they are made of may have changed."""
    stale = joining.group.stale
    late = stale and any(owner(indexed.node) in stale for indexed in joining.slice.reads)
    return "the loops have changed what a value is made of" if late else ""


def reads_a_scan_late(joining: Joining) -> str:
    """Running values of a scan are gone in a later pass, unless a whole row of them is kept."""
    group, statement, reads = joining.group, joining.statement, joining.slice.reads
    late = group.late_scans(reads, group.level(reads) + statement.reads_twice)
    if late and (
        statement.reads_twice or statement.domain.skew is not None or not group.has_room_for(late, joining.machine)
    ):
        return "a running value is read in a later pass than that which makes it"
    return ""


def runs_around_another(joining: Joining) -> str:
    """Operands of the statement would need the group itself."""
    others = sorted(joining.before - {joining.group}, key=_number, reverse=True)  # the same work in every process
    between = any(other.needs(joining.group) for other in others)
    return "another kernel has to run between the two" if between else ""


def _number(group: OpenGroup) -> int:
    return group.number


Predicate: TypeAlias = Callable[[Joining], str]

PREDICATES: tuple[Predicate, ...] = (
    overlaps,
    has_other_loops,
    ends_elsewhere,
    adds_in_another_order,
    runs_across_rows,
    is_too_long,
    reads_elsewhere,
    reads_what_is_changed,
    reads_a_scan_late,
    runs_around_another,
)
"""In the order in which they are asked: quick ones first."""


def refusal(joining: Joining) -> str:
    """Why the statement may not join the group; empty if it may."""
    return next((reason for predicate in PREDICATES if (reason := predicate(joining))), "")
