"""The cost model, with the thresholds of a machine (:mod:`xjit.machine`). Costs are in additions per element."""

from __future__ import annotations

import functools
import math
from collections.abc import Set as AbstractSet

from xjit import numerics
from xjit.fusion.regions.tiny import is_foldable
from xjit.ir.index_map import Index, axes_of
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.ir.scalar_expr import cost as expression_cost
from xjit.machine import Machine


def is_worth_storing(total: float, times: int, size: int, machine: Machine) -> bool:
    """Return whether computing ``size`` elements at this cost ``times`` times takes longer than storing and loading
    them.
    """
    cheap = machine.load_cost
    return total > cheap and (times - size) * total > cheap * size


def shared_columns(columns: int, elements: int, work: float, machine: Machine) -> int:
    """The most columns of so many that one thread accumulates at a time, so that there are some for the others;
    one where there are none.

    >>> from xjit.machine import processor
    >>> cases = (200, 80_000, 600_000.0), (200, 10_000_000, 6e7), (0, 0, 0.0)
    >>> [shared_columns(*case, processor()) for case in cases]
    [128, 200, 1]
    """
    if work < machine.parallel_work or elements >= numerics.MANY_COLUMN_ELEMENTS:
        return max(1, columns)
    fewest = machine.fewest_shared_columns
    return max(1, -(-columns // (machine.shared_column_blocks * fewest))) * fewest


def element_cost(node: Node, machine: Machine) -> float:
    """The cost of computing one element of a node from elements of its inputs."""
    if is_foldable(node):
        return float(_elements(node))
    return 0.0 if node.element is None else expression_cost(node.element, machine)


def _elements(node: Node) -> int:
    """The number of elements of its operand that one result of a reduction is made of."""
    return node.inputs[0].aval.size // max(node.aval.size, 1)


def _is_open(node: Node) -> bool:
    """Return whether the cost of the node includes that of its inputs."""
    return node.op.kind in (Kind.ELEMENTWISE, Kind.INDEXING) or is_foldable(node)


def evaluations(
    group_dims: tuple[int, ...],
    reduced: tuple[int, ...],
    index: Index,
    rank: int,
    machine: Machine,
    *,
    columns: bool = False,
) -> int:
    """The number of times that a value read at this index is computed: once per step of the innermost loop it
    depends on.

    The axes from ``rank`` on belong to nested reductions. In ``columns`` the last kept axis is cut into blocks, and
    the reduced ones run between the loop over blocks and that over the columns of each.
    """
    return _evaluations(group_dims, reduced, axes_of(index), rank, machine.column_block if columns else 0)


@functools.lru_cache(maxsize=4096)
def _evaluations(
    group_dims: tuple[int, ...], reduced: tuple[int, ...], axes: frozenset[int], rank: int, column_block: int
) -> int:
    """The same of a value that depends on these axes; 0 is the block where there are no columns."""
    kept = [axis for axis in range(rank) if axis not in reduced and not (column_block and group_dims[axis] == 1)]
    column: list[int] = kept[-1:] if column_block else []
    order = [*kept[: len(kept) - len(column)], *reduced, *column, *range(rank, len(group_dims))]
    used = [order.index(axis) for axis in axes]
    if not used:
        return 1
    times: int = math.prod(group_dims[axis] for axis in order[: max(used) + 1])
    if not column or column[0] in order[: max(used) + 1]:
        return times
    return times * math.ceil(group_dims[column[0]] / column_block)


class CostTable:
    """Costs of nodes with everything below them that would be inlined, each computed once."""

    def __init__(self, leaves: AbstractSet[Node], machine: Machine) -> None:
        self.machine = machine
        self._leaves = leaves
        self._own: dict[Node, float] = {}
        self._total: dict[Node, float] = {}

    def own(self, node: Node) -> float:
        """The cost of the node itself."""
        found = self._own.get(node)
        if found is None:
            found = self._own[node] = element_cost(node, self.machine)
        return found

    def total(self, node: Node) -> float:
        """The cost of the node and of what it inlines, down to materialised values."""
        found = self._total.get(node)
        if found is not None:
            return found
        stack = [node]
        while stack:
            top = stack[-1]
            waiting = [n for n in top.inputs if n not in self._leaves and n not in self._total]
            if waiting and _is_open(top):
                stack.extend(waiting)
                continue
            inputs = [self._total[n] for n in self._each(top)] if _is_open(top) else []
            below = sum(inputs) if top.op.pieces is None else max(inputs, default=0.0)
            self._total[top] = self.own(top) + below * (_elements(top) if is_foldable(top) else 1)
            stack.pop()
        return self._total[node]

    def _each(self, node: Node) -> list[Node]:
        """The operands that are computed for each element: a single one is made once, in front of their loop."""
        single = node.aval.size == 1
        return [one for one in node.inputs if one not in self._leaves and (single or one.aval.size != 1)]

    def loads(self, node: Node) -> int:
        """Count the arrays that are read for an element with all that it inlines; single elements do not count."""
        stack, seen, found = [node], set[Node](), 0
        while stack:
            for source in stack.pop().inputs:
                if source in seen:
                    continue
                seen.add(source)
                if source not in self._leaves and _is_open(source):
                    stack.append(source)
                else:
                    found += source.aval.size > 1
        return found
