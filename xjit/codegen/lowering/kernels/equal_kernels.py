"""Kernels of one structure are lowered once: the others have the same loops over other buffers.

A hundred sweeps of a solver are a hundred kernels of one text. Two kernels have one structure if numbering the nodes
in the order in which their groups name them leaves no difference: the same operations in the same lines, domains and
indices, the same of them in memory, with the same strides, and the same of them read for the last time.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

from xjit.codegen.lowering.kernels.nests import LoweredKernel, lower
from xjit.dataclass import dataclass, field, replace
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.plan import KernelStep
from xjit.ir.context import PARAMETER, PROJECT
from xjit.ir.node import Node
from xjit.ir.opdef import AxisMap
from xjit.machine import Machine
from xjit.types import TupleType


@dataclass(eq=False)
class EqualKernels:
    """Lowers the kernels of one program, those of one structure once.

    ``leaves``, ``stored``, ``machine`` and ``varying`` are those of :func:`lower`.
    """

    layouts: Layouts
    leaves: frozenset[Node]
    stored: frozenset[Node]
    machine: Machine
    varying: bool = False
    _known: dict[Any, tuple[LoweredKernel, tuple[Node, ...]]] = field(default_factory=dict)

    def lower(self, step: KernelStep, spent: frozenset[Node]) -> LoweredKernel:
        """The loops of a kernel. ``spent`` are the values whose buffers nobody reads after it."""
        key, nodes = structure(step, self._facts(spent), self._stops)
        found = self._known.get(key)
        if found is None:
            known = self.layouts, self.leaves, self.stored
            lowered = lower(step.groups, *known, spent, step.tiling, self.machine, self.varying)
            self._known[key] = lowered, nodes
            return lowered
        lowered, others = found
        return _renamed(lowered, step, dict(zip(others, nodes, strict=True)))

    def _stops(self, node: Node) -> bool:
        """Return whether nothing below a node is read by a kernel that does not make it."""
        return node in self.leaves and node.op is not PROJECT

    def _facts(self, spent: frozenset[Node]) -> Callable[[Node], tuple[Any, ...]]:
        def facts(node: Node) -> tuple[Any, ...]:
            strides = () if isinstance(node.type, TupleType) else self.layouts.strides(node)
            return (node in self.leaves, node in self.stored, node in spent, strides)

        return facts


def structure(
    step: KernelStep, facts: Callable[[Node], tuple[Any, ...]], stops: Callable[[Node], bool]
) -> tuple[Any, tuple[Node, ...]]:
    """A hashable key of all that decides the loops of a kernel, and its nodes in the order of their numbers.

    ``facts`` are what decides besides the graph, of each node; nothing is looked at below nodes that ``stops``
    names, unless the kernel makes them.
    """
    numbers: dict[Node, int] = {}
    made = {statement.target for statement in step.statements}
    key = [_key(step, numbers)]
    done = 0
    while done < len(numbers):  # which grows meanwhile
        for node in list(numbers)[done:]:
            inputs = () if stops(node) and node not in made else _key(node.inputs, numbers)
            computes = str(node.type) if node.op is PARAMETER else node.computes
            key.append((computes, node.where, facts(node), inputs))
            done += 1
    return tuple(key), tuple(numbers)


def _key(value: Any, numbers: dict[Node, int]) -> Any:
    """A record, or a part of it, with numbers in place of nodes."""
    kind: Any = type(value)
    if kind is Node:
        return numbers.setdefault(value, len(numbers))
    if kind is int or (kind is AxisMap and not value.found):
        return value
    if isinstance(value, tuple):
        if set(map(type, value)) == _INTEGERS:
            return value
        return tuple([_key(item, numbers) for item in value])
    if isinstance(value, Mapping):
        return tuple([(_key(name, numbers), _key(item, numbers)) for name, item in value.items()])
    names = _field_names(kind)
    return (kind, *[_key(getattr(value, name), numbers) for name in names]) if names else value


_INTEGERS = {int}


@functools.cache
def _field_names(kind: Any) -> tuple[str, ...]:
    """The fields of a record that decide; none for what is no record."""
    if not dataclasses.is_dataclass(kind):
        return ()
    return tuple(one.name for one in dataclasses.fields(kind) if one.name != "reasons")


def _renamed(lowered: LoweredKernel, step: KernelStep, names: Mapping[Node, Node]) -> LoweredKernel:
    """The same loops for another kernel, over its own buffers."""
    pointers = tuple((names[node], start) for node, start in lowered.pointers)
    in_place = {names[target]: names[source] for target, source in lowered.in_place.items()}
    return replace(lowered, pointers=pointers, groups=step.groups, in_place=in_place)
