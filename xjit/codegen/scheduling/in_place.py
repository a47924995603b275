"""Results that are written over a value which nobody reads any more.

In ``np.tanh(a @ b + c)`` the product is read for the last time by the kernel that adds ``c``, element for element
where it writes. Its result takes the buffer of the product: one slot of the table for both, loads and stores through
one pointer, so that LLVM sees that they go to the same element and the loop becomes vector code as any other::

    o0 = ptr_f32(table, 0)
    ...
        x0 = ldw(o0, o0_at0 + i1)
        ...
        st(o0, o0_at0 + i1, v1)

A buffer is taken only if it has the shape, the type and the memory order of the result, if all accesses to both go to
the same element at the same step of the loops, and if no pass over a row reads what an earlier one has overwritten.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from xjit.codegen.lowering.variants import calls_varied
from xjit.codegen.scheduling.accesses import Access
from xjit.fusion.regions.reads import below
from xjit.fusion.statements import IndexedValue, Store
from xjit.ir.node import Node

if TYPE_CHECKING:
    from xjit.codegen.lowering.lower import Lowering


def overwrite(parts: Sequence[Lowering], spent: frozenset[Node]) -> dict[Node, Node]:
    """Moves stores of the parts of one kernel into buffers of ``spent`` values; each such result with the value."""
    found: dict[Node, Node] = {}
    if not spent:
        return found
    uses = [_uses(part) for part in parts]
    for part, own in zip(parts, uses, strict=True):
        others = set().union(*(set(other) for other in uses if other is not own))
        for number, source in _pairs(part, own, spent - others):
            target = part.group.statements[number].target
            if target not in others and source not in found.values():
                found[target] = source
                access = part.accesses.writes[number]
                assert access is not None
                part.accesses.writes[number] = dataclasses.replace(access, node=source)
    return found


def _uses(part: Lowering) -> dict[Node, set[Access]]:
    """All accesses of a part, by the buffer."""
    found: dict[Node, set[Access]] = {}
    for access in (*part.accesses.reads.values(), *filter(None, part.accesses.writes)):
        found.setdefault(access.node, set()).add(access)
    return found


def _pairs(part: Lowering, uses: dict[Node, set[Access]], spent: frozenset[Node]) -> Iterator[tuple[int, Node]]:
    """Stores of a part that may go to the buffer of a spent value, at most one for each."""
    if part.form.reads_again:
        return
    candidates = [node for node in uses if node in spent]
    # A strip that overwrites what it reads could not run twice, as functions with rare arguments have it.
    if not candidates or any(calls_varied(indexed.node) for visited in part.accesses.visits for indexed in visited):
        return
    for number in range(len(part.group.statements)):
        access = _whole_store(part, number)
        if access is None or len(uses[access.node]) > 1:
            continue
        for source in candidates:
            alike = _is_laid_out_alike(part, source, access.node)
            together = uses[source] == {dataclasses.replace(access, node=source)}
            if alike and together and _reads_first(part, number, source):
                candidates.remove(source)
                yield number, source
                break


def _whole_store(part: Lowering, number: int) -> Access | None:
    """The access of a statement that stores each element of its target once, at steps of its own; None of other
    statements.

    What is written by way of tiles has its memory chosen.
    """
    statement, access = part.group.statements[number], part.accesses.writes[number]
    turned = part.values.loops.transposition
    if access is None or (turned is not None and access in turned.across):
        return None
    if not isinstance(statement, Store) or statement.values[0].node is not statement.target or access.start:
        return None
    steps = zip(access.moves, part.group.dims, strict=True)
    if any(extent > 1 and not move for move, extent in steps):
        return None
    return access if math.prod(statement.dims) == statement.target.aval.size else None


def _is_laid_out_alike(part: Lowering, source: Node, target: Node) -> bool:
    if (source.aval.dtype, source.aval.shape) != (target.aval.dtype, target.aval.shape):
        return False
    return part.layouts.strides(source) == part.layouts.strides(target)


def _reads_first(part: Lowering, number: int, source: Node) -> bool:
    """Whether what first writes the target's elements reads the source, and nothing later does.

    A pass loads an element once, for the first that needs it, so that other statements of that pass may read it as
    well: all but searches, which look up the place of an extreme when their pass is over.
    """
    waiting, places = part.form.storage.levels, part.form.storage.places
    kept = next((indexed for indexed, place in places.items() if place == number), None)
    first = part.passes.levels[number] if kept is None else waiting[kept]
    values = part.accesses.values
    if not _loads(part, values[number] if kept is None else [kept], first, source):
        return False
    ends = [
        level + statement.is_search
        for statement, level in zip(part.group.statements, part.passes.levels, strict=True)
    ]
    later = [(values[other], part.passes.levels[other]) for other, end in enumerate(ends) if end > first]
    later += [((indexed,), level) for indexed, level in waiting.items() if level > first]
    return not any(_loads(part, indexed_values, level, source) for indexed_values, level in later)


def _loads(part: Lowering, values: Iterable[IndexedValue], level: int, source: Node) -> bool:
    """Whether a pass loads elements of the source for these values; what waits in a row is loaded from there."""

    def operands(indexed: IndexedValue) -> Iterable[IndexedValue]:
        waits = part.form.storage.levels.get(indexed, level) < level
        return () if waits else part.accesses.operands(indexed)

    return any(indexed.node is source and indexed in part.accesses.reads for indexed in below(values, operands))
