"""Results that are written over a value which nobody reads any more.

In ``np.tanh(a @ b + c)`` the product is read for the last time by the kernel that adds ``c``, element for element
where it writes. Its result takes the buffer of the product: one slot of the table for both, loads and stores through
one pointer, so that LLVM sees that they go to the same element and the loop becomes vector code as any other::

    a0 = ptr_f32(table, 0)
    ...
        x0 = ldw(a0, a0_at0 + i1)
        ...
        st(a0, a0_at0 + i1, v1)

A buffer is taken if it has the shape, the type and the memory order of the result, if all accesses to both go to the
same element at the same step of the loops, and if the rewrite finds that each element is read before.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.analysis.dependence import touches
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.rewrites.storage.write_over import WriteOver, axes_over
from xjit.codegen.scheduling.accesses import Access, GroupAccesses
from xjit.dataclass import dataclass, field
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.statements import Store
from xjit.ir.loops.intexpr import evaluate
from xjit.ir.loops.nodes import Buffer, Kernel, Loop
from xjit.ir.node import Node

if TYPE_CHECKING:
    from xjit.codegen.scheduling.scheduler import NaiveNest


@dataclass(frozen=True, slots=True, eq=False)
class InPlace:
    """The idea, for a kernel behind which nobody reads ``spent`` values; ``names`` are those of its arguments.

    Of some spent values the buffer is ``kept`` for one result.
    """

    spent: frozenset[Node]
    layouts: Layouts
    names: Mapping[Node, Sequence[str]]
    kept: Mapping[Node, Node] = field(default_factory=dict)

    def __call__(self, kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
        """Yield what writes results over spent values, of which each is taken once."""
        if not self.spent:
            return
        buffers = {one.buffer.name: one.buffer for one in kernel.arguments}
        values = dict(nest.words.values())
        uses = [_uses(one.ordered.accesses) for one in nests]
        once = _outside_of_loops(kernel)
        for one, own in zip(nests, uses, strict=True):
            others = {node for other in uses if other is not own for node in other}
            for target, source in self._pairs(one.ordered.accesses, own, others):
                first, second = self._name(target), self._name(source)
                if (
                    first
                    and second
                    and not once.issuperset((first, second))
                    and _lie_alike(kernel, buffers[first], buffers[second], values)
                ):
                    yield (WriteOver(first, second),)

    def taken(self, done: Sequence[Rewrite]) -> dict[Node, Node]:
        """Each result that was written over a value, with that value."""
        nodes = {name: node for node, names in self.names.items() for name in names}
        return {nodes[one.result]: nodes[one.over] for one in done if isinstance(one, WriteOver)}

    def _name(self, node: Node) -> str:
        names = self.names.get(node, ())
        return names[0] if len(names) == 1 else ""

    def _pairs(
        self, accesses: GroupAccesses, uses: Mapping[Node, set[Access]], others: set[Node]
    ) -> Iterator[tuple[Node, Node]]:
        """Yield results of one nest and spent values whose elements are touched at the same steps."""
        candidates = [node for node in uses if node in self.spent - others]
        for number in range(len(accesses.group.statements)) if candidates else ():
            access = _whole_store(accesses, number)
            if access is None or access.node in others or len(uses[access.node]) > 1:
                continue
            for source in candidates:
                alike = self.kept.get(source, access.node) is access.node
                alike = alike and self._is_laid_out_alike(source, access.node)
                if alike and uses[source] == {dataclasses.replace(access, node=source)}:
                    yield access.node, source

    def _is_laid_out_alike(self, source: Node, target: Node) -> bool:
        if (source.aval.dtype, source.aval.shape) != (target.aval.dtype, target.aval.shape):
            return False
        return self.layouts.strides(source) == self.layouts.strides(target)


def _uses(accesses: GroupAccesses) -> dict[Node, set[Access]]:
    """All accesses of a group, by the buffer."""
    found: dict[Node, set[Access]] = {}
    for access in (*accesses.reads.values(), *filter(None, accesses.writes)):
        found.setdefault(access.node, set()).add(access)
    return found


def _outside_of_loops(kernel: Kernel) -> frozenset[str]:
    """The buffers of which elements are touched outside of loops.

    The rewrite refuses two that both are, as nothing says that one element is read before it is written there. To
    look at all of a long kernel for each pair of its scalars takes longer than all else that is done to it.
    """
    around = ((one.buffer, one.around) for one in touches(kernel.body))
    return frozenset(name for name, outer in around if not any(isinstance(one, Loop) for one in outer))


def _whole_store(accesses: GroupAccesses, number: int) -> Access | None:
    """The access of a statement that stores each element of its target once, at steps of its own; None of other
    statements.
    """
    statement, access = accesses.group.statements[number], accesses.writes[number]
    if access is None or access.start or access.lookups:
        return None
    if not isinstance(statement, Store) or statement.values[0].node is not statement.target:
        return None
    steps = zip(access.moves, accesses.group.dims, strict=True)
    if any(extent > 1 and not move for move, extent in steps):
        return None
    return access if math.prod(statement.dims) == statement.target.aval.size else None


def _lie_alike(kernel: Kernel, result: Buffer, over: Buffer, words: Mapping[str, int]) -> bool:
    """Return whether a result has the strides of a value along the axes that both have."""
    axes, given = axes_over(kernel, result, over), _strides(over, words)
    return axes is not None and _strides(result, words) == [given[axis] for axis in axes]


def _strides(buffer: Buffer, words: Mapping[str, int]) -> list[int]:
    return [evaluate(stride, words) for stride in buffer.strides]
