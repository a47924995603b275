"""Reductions inside of reductions: which ones run within the loops of the reduction that reads them.

The distance of every point to every centre, and the nearest centre of each point, are a sum within a minimum: one
nest ``for point: for centre: for coordinate`` computes both, and the distances are never stored.
"""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet

from xjit.dataclass import replace
from xjit.fusion.regions.materialized import reduction_of
from xjit.fusion.regions.reads import producer_slice
from xjit.fusion.regions.tiny import is_foldable
from xjit.fusion.statements import IndexedValue, Reduce, Statement
from xjit.fusion.storage.demand import Places, Reader, prospect_of
from xjit.ir.index_map import axes_of
from xjit.ir.node import Node
from xjit.machine import Machine
from xjit.types import TupleType


def runs_inside(node: Node, places: Places, machine: Machine) -> bool:
    """Return whether a reduction that is read there, and nowhere else, is better run within the loops of its
    readers: where these are reductions of it, each result is needed once, and the axes are fast in memory.
    """
    if not is_foldable(node) or not places:
        return False
    statement = reduction_of(node)
    if not _is_short(statement, machine):
        return False
    if not (prospect_of(statement, machine).fast or _is_worth_writing_out(statement, machine)):
        return False
    return all(_ends(reader, IndexedValue(node, index), machine) for reader, index in places)


def _is_worth_writing_out(statement: Reduce, machine: Machine) -> bool:
    """Return whether a reduction is so short that it is written out along a row of its results, and one of its
    largest operands is fastest along what is reduced: neither order of the loops suits all of them.
    """
    extents = [extent for axis, extent in enumerate(statement.dims) if axis not in statement.reduced]
    terms = math.prod(statement.dims[axis] for axis in statement.reduced)
    many = extents[-1:] >= [machine.packed_results] and math.prod(extents[:-1]) >= machine.packed_rows
    if not many or not 1 < terms <= machine.packed_terms:
        return False
    below = _below(statement, machine.written_out_operations // terms)
    return bool(_fastest_axes(statement, below) & set(statement.reduced))


def _below(statement: Reduce, most: int) -> set[Node]:
    """The values that a statement would compute if nothing below it were stored; none if they are more than so
    many.
    """
    waiting, found = [indexed.node for indexed in statement.values], set[Node]()
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(node.inputs)
        if len(found) > most:
            return set()
    return found


def _fastest_axes(statement: Reduce, below: AbstractSet[Node]) -> set[int]:
    """The axes along which the largest operands of elementwise operations are fastest in memory."""
    found: dict[int, set[int]] = {}
    operands = {source for node in below if node.element is not None for source in node.inputs}
    for node in operands:
        if node.element is None and node.aval.shape == statement.dims:
            axes = [axis for axis in node.aval.order if statement.dims[axis] > 1]
            sources = [one.aval.size for one in node.inputs if not isinstance(one.type, TupleType)]
            size = max(sources, default=node.aval.size)
            found.setdefault(size, set()).update(axes[-1:])
    return found[max(found)] if found else set()


def _ends(reader: Reader, indexed: IndexedValue, machine: Machine) -> bool:
    """Return whether a reader reduces what it reads there, so that there is no need to keep it."""
    if reader.prospect.last().fast:
        return _ends_in(reader.statement, indexed, machine)
    return _ends_in_columns(reader.statement, indexed)


def _is_short(statement: Statement, machine: Machine) -> bool:
    """Return whether the statement reduces few elements; those of a sum that rounds lie along one axis, as its loops
    add them.
    """
    order = statement.sums
    is_line = order is None or len(order.axes) <= 1
    return is_line and 0 < math.prod(statement.dims[axis] for axis in statement.reduced) <= machine.nested_elements


def _ends_in(statement: Statement, indexed: IndexedValue, machine: Machine) -> bool:
    """Return whether the statement reduces what it reads there, few enough of it to be kept between two passes."""
    used = axes_of(indexed.index) & set(statement.reduced)
    few = math.prod(statement.dims[axis] for axis in used) <= machine.nested_elements
    return (
        isinstance(statement, Reduce)
        and (is_foldable(statement.target) or _is_position(statement.target))
        and bool(used)
        and few
    )


def _is_position(node: Node) -> bool:
    """Return whether the node is the place of an extreme, which goes through the row once more where it was met."""
    return "extreme" in node.kwargs and node.kwargs.get("chunk") is None


def _ends_in_columns(statement: Statement, indexed: IndexedValue) -> bool:
    """Return whether the statement reduces columns and reads one number for all columns of a row: there is no need
    to keep it.
    """
    used = axes_of(indexed.index)
    is_named = isinstance(statement, Reduce) and statement.target.param("reducer") is not None
    return is_named and bool(used) and used <= set(statement.reduced)


def with_nested(statement: Statement, leaves: AbstractSet[Node], chosen: frozenset[Node]) -> Statement:
    """The statement with an axis for every one that the nested reductions it inlines run over."""
    while chosen:
        known = {node for node, _ in statement.domain.nested}
        found = [
            indexed.node
            for indexed in producer_slice(statement, leaves).reads
            if indexed.node in chosen and indexed.node not in known
        ]
        if not found:
            break
        shape, dims = found[0].inputs[0].aval.shape, sorted(found[0].param("dims"))
        domain = statement.domain.around(found[0], tuple(shape[axis] for axis in dims))
        statement = replace(statement, domain=domain)
    return statement
