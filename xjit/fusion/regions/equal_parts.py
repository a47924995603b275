"""Statements of one structure are cut once: the others have the same parts, of other values.

A hundred sweeps of a solver cross the same borders a hundred times. Two statements have one structure if numbering
the nodes in the order in which they are read leaves no difference: the same operations over the same of them, the
same of them in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, TypeAlias

from xjit.dataclass import dataclass, field, replace
from xjit.fusion.regions.reads import ProducerSlice, Slices
from xjit.fusion.regions.tiny import is_tiny_reduction
from xjit.fusion.statements import IndexedValue, Statement, Store
from xjit.ir.node import Node

Parts: TypeAlias = "tuple[Statement, ...] | frozenset[Node]"
"""The parts of a statement, or the values that have to be stored before it can be cut."""


@dataclass(eq=False)
class EqualParts:
    """Cuts the statements of one program, those of one structure once."""

    cut: Callable[[Statement, Slices], Parts]
    _known: dict[Any, tuple[tuple[Node, ...], Parts, tuple[ProducerSlice, ...]]] = field(default_factory=dict)

    def of(self, statement: Statement, slices: Slices) -> Parts:
        """The parts of a statement; what they inline is known to the slices."""
        if not isinstance(statement, Store) or statement.positions:
            return self.cut(statement, slices)
        key, nodes = structure(statement, slices.leaves)
        known = self._known.get(key)
        if known is None:
            found = self.cut(statement, slices)
            inlined = tuple(map(slices.of, found)) if isinstance(found, tuple) else ()
            if not any(map(_has_lookups, inlined)):
                self._known[key] = nodes, found, inlined
            return found
        others, found, inlined = known
        names = dict(zip(others, nodes, strict=True))
        if isinstance(found, frozenset):
            return frozenset(names[node] for node in found)
        renamed = [_renamed(part, names) for part in found]
        for part, one in zip(renamed, inlined, strict=True):
            slices.know(part, ProducerSlice(_of_others(one.visits, names), _of_others(one.reads, names)))
        return tuple(renamed)


def structure(statement: Store, leaves: Container[Node]) -> tuple[Any, tuple[Node, ...]]:
    """A hashable key of all that decides where a store is cut, and the nodes that it may read, in order."""
    numbers: dict[Node, int] = {statement.target: 0}
    values = tuple([(numbers.setdefault(one.node, len(numbers)), one.index) for one in statement.values])
    key: list[Any] = [statement.domain, values, statement.output.strides, statement.output.start]
    done = 0
    while done < len(numbers):  # which grows meanwhile
        for node in list(numbers)[done:]:
            done += 1
            if node in leaves and node is not statement.target:
                key.append(node.type)
            else:
                inputs = tuple([numbers.setdefault(source, len(numbers)) for source in node.inputs])
                key.append((node.computes, inputs, is_tiny_reduction(node)))
    return tuple(key), tuple(numbers)


def _has_lookups(found: ProducerSlice) -> bool:
    """Return whether indices have nodes in them."""
    return any(map.found for values in (found.visits, found.reads) for one in values for map in one.index)


def _renamed(part: Statement, names: Mapping[Node, Node]) -> Statement:
    """The same part of other values."""
    assert isinstance(part, Store)
    output = replace(part.output, target=names[part.output.target])
    return replace(part, values=_of_others(part.values, names), output=output)


def _of_others(values: tuple[IndexedValue, ...], names: Mapping[Node, Node]) -> tuple[IndexedValue, ...]:
    return tuple([IndexedValue(names[one.node], one.index) for one in values])
