"""Kernels in tiles whose last stage computes all others in place, as one loop without scratch.

Stages cost loads and stores of scratch, and a pass each; memory is read ahead less well than by one loop. Where the
readers make the loads of a stage anyway, or it is cheap, it is computed again at each place where it is read::

    along[i] = limited(laplace[i + 1] - laplace[i], u[i + 2] - u[i + 1])         into scratch
    result[i] = u[i + 2] - c * (along[i + 1] - along[i])                          two loads from there

becomes::

    result[i] = u[i + 2] - c * (limited(laplace[i + 2] - ..., ...) - limited(laplace[i + 1] - ..., ...))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xjit.dataclass import replace
from xjit.fusion import cost
from xjit.fusion.plan import FusionGroup, KernelStep
from xjit.fusion.regions.materialized import owner
from xjit.fusion.regions.reads import Slices, TooManyVisitsError, is_inlined
from xjit.fusion.statements import IndexedValue, Statement, Store
from xjit.ir.index_map import relabel
from xjit.ir.node import Node
from xjit.machine import Machine


def pulled_in(step: KernelStep, slices: Slices, machine: Machine) -> KernelStep | None:
    """The same as one loop that inlines all that a kernel in tiles keeps in scratch; None where that costs more."""
    assert step.tiling is not None
    values = step.tiling.values
    if not all(_may_be_inlined(node, step.statements) for node in values):
        return None
    groups = tuple(left for group in step.groups if (left := _without(group, values)).statements)
    alone = Slices(slices.leaves - {*values})
    try:
        for group in groups:
            for statement in group.statements:
                alone.of(statement, machine.kernel_operations)
    except TooManyVisitsError:
        return None
    tiles = machine.tiling_cost if _moved_bytes(groups, alone) >= machine.far_bytes else 0.0
    before = tiles + sum(_cost(group, slices, machine) for group in step.groups)
    return KernelStep(groups) if sum(_cost(group, alone, machine) for group in groups) < before else None


def _moved_bytes(groups: Iterable[FusionGroup], slices: Slices) -> int:
    """The bytes of all that stages read and store."""
    statements = [statement for group in groups for statement in group.statements]
    read = {owner(indexed.node) for statement in statements for indexed in slices.of(statement).reads}
    return sum(node.aval.nbytes for node in read | {statement.target for statement in statements})


def _may_be_inlined(node: Node, statements: Sequence[Statement]) -> bool:
    """Return whether the value is made by one statement, every element of it from elements of its operands."""
    made = [statement for statement in statements if statement.target is node]
    if len(made) != 1 or not isinstance(made[0], Store) or made[0].updated or node.op.failure is not None:
        return False
    return made[0].makes_target and is_inlined(node) and not node.is_assembled


def _without(group: FusionGroup, values: Sequence[Node]) -> FusionGroup:
    kept = [number for number, statement in enumerate(group.statements) if statement.target not in values]
    statements, axes = tuple(group.statements[n] for n in kept), tuple(group.axes[n] for n in kept)
    return replace(group, statements=statements, axes=axes)


def _cost(group: FusionGroup, slices: Slices, machine: Machine) -> float:
    """The cost of an element of a stage: of its operations, loads and stores, and of the pass over them."""
    visits, reads = set[IndexedValue](), set[IndexedValue]()
    for statement, axes in zip(group.statements, group.axes, strict=True):
        found = slices.of(statement)
        visits |= _placed(found.visits, axes)
        reads |= _placed(found.reads, axes)
    accesses = len(reads) + sum(isinstance(statement, Store) for statement in group.statements)
    work = sum(cost.element_cost(indexed.node, machine) for indexed in visits)
    return work + machine.access_cost * accesses + machine.pass_cost


def _placed(values: Iterable[IndexedValue], axes: dict[int, int]) -> set[IndexedValue]:
    """The values of several elements, where the loops of a group read them."""
    return {
        IndexedValue(indexed.node, relabel(indexed.index, axes)) for indexed in values if indexed.node.aval.size > 1
    }
