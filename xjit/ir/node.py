"""Nodes and graphs: the traced program as frozen data."""

from __future__ import annotations

import dataclasses
import functools
import struct
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from xjit.dataclass import dataclass
from xjit.ir.opdef import ORDERED, Access, Kind, OpDef, Piece
from xjit.ir.scalar_expr import Expr, Literal
from xjit.ir.source_location import NOWHERE, Where
from xjit.lazy import lazy
from xjit.types import ArrayType, TupleType, Type, dtype_class


@dataclass(frozen=True, eq=False)  # without slots, so that what is asked for often can be kept
class Node:
    """One value: an operation applied to nodes.

    Nodes compare by identity; a Trace makes only one node of equal operation, inputs and params. ``sequence`` orders
    the nodes with effects (-1: none) and ``after`` is the effect that has to come before.
    """

    op: OpDef
    inputs: tuple[Node, ...]
    params: tuple[tuple[str, Any], ...]
    type: Type
    where: Where = NOWHERE
    sequence: int = -1
    after: Node | None = None

    def param(self, name: str) -> Any:
        """The value of one static parameter; KeyError if the node has none of this name."""
        for key, value in self.params:
            if key == name:
                return value
        raise KeyError(name)

    @lazy
    def aval(self) -> ArrayType:
        """The type of a node that yields one array; TypeError for a tuple."""
        if isinstance(self.type, TupleType):
            raise TypeError(f"{self.op.name} yields a tuple")
        return self.type

    @lazy
    def access(self) -> Access | None:
        """The index map of an operation that only reads elsewhere; None for others and where it is not affine."""
        if self.op.access is None or self.op.kind is not Kind.INDEXING:
            return None
        return self.op.access(tuple(source.aval for source in self.inputs), self.kwargs, self.aval)

    @lazy
    def place(self) -> Access | None:
        """The places in the first operands that an UPDATE operation changes; None for others."""
        if self.op.access is None or self.op.kind is not Kind.UPDATE:
            return None
        return self.op.access(tuple(source.aval for source in self.inputs), self.kwargs, self.inputs[0].aval)

    @lazy
    def limits(self) -> Mapping[int, Node]:
        """The axes along which only the first so many positions exist, each with the node that says how many."""
        stack = [self]  # graphs are deeper than Python's
        while stack:
            waiting = [source for source in stack[-1].inputs if "limits" not in source.__dict__]
            if waiting:
                stack += waiting
            else:
                node = stack.pop()
                object.__setattr__(node, "limits", _limits(node))
        found: Mapping[int, Node] = self.__dict__["limits"]
        return found

    @property
    def updated(self) -> tuple[Node, ...]:
        """The operands that a node changes elements of: the results of an UPDATE operation are these, changed; an
        operation of control ``changes`` those that its graphs may write over.
        """
        if self.op.kind is Kind.CONTROL:
            return tuple(dict.fromkeys(self.inputs[number] for number in self.kwargs.get("changes", ())))
        return self.inputs[: self.param("n")] if self.op.kind is Kind.UPDATE else ()

    @lazy
    def pieces(self) -> tuple[Piece, ...]:
        """The blocks of operands that the value is put together of; later ones lie over earlier ones."""
        if self.op.pieces is None:
            return ()
        return self.op.pieces(tuple(source.aval for source in self.inputs), self.kwargs, self.aval)

    @property
    def is_assembled(self) -> bool:
        """Return whether the value consists of blocks of other values without gaps in them."""
        return self.op.pieces is not None and self._has_no_gaps

    @lazy
    def _has_no_gaps(self) -> bool:
        return bool(self.pieces) and all(piece.is_block for piece in self.pieces)

    @lazy
    def element(self) -> Expr | None:
        """Return the expression of one element over elements of the inputs; None without such a rule."""
        if self.op.kind is not Kind.ELEMENTWISE or self.op.element is None:
            return None
        types = tuple([source.aval for source in self.inputs])
        return self.op.element(types, self.kwargs, self.aval) if self.params else _element(self.op, types, self.aval)

    @property
    def shows_part(self) -> bool:
        """Return whether NumPy would show the real or imaginary parts of the operand here."""
        return self.op.part is not None and dtype_class(self.inputs[0].aval.dtype) == "C"

    @property
    def shows(self) -> bool:
        """Return whether NumPy would show the memory of the only operand here: index operations, and parts."""
        return (self.op.access is not None and len(self.inputs) == 1) or self.shows_part

    @lazy
    def computes(self) -> tuple[Any, ...]:
        """A hashable key of what the node computes of its inputs."""
        return (self.op.name, freeze(self.params), str(self.type))

    @property
    def kwargs(self) -> dict[str, Any]:
        """The static parameters as keyword arguments."""
        return dict(self.params)

    def __repr__(self) -> str:
        return f"<{self.op.name}: {self.type}>"


UNREAD = -2
"""Stands for the memory of outputs that nobody reads, as they are computed for the errors of their conditions."""


@dataclass(frozen=True, eq=False)
class Graph:
    """A traced function: parameter nodes, output nodes, and the effects that it must not lose.

    ``captures`` are nodes of the enclosing trace that a computation closes over; the last ``len(captures)``
    parameters stand for them. Graphs compare by structure.
    """

    name: str
    parameters: tuple[Node, ...]
    outputs: tuple[Node, ...]
    effects: tuple[Node, ...] = ()
    captures: tuple[Node, ...] = ()

    @lazy
    def nodes(self) -> tuple[Node, ...]:
        """All reachable nodes, operands before users, effects in their order."""
        return tuple(topological((*self.parameters, *self.effects, *self.outputs)))

    @lazy
    def key(self) -> tuple[Any, ...]:
        """Return a key that graphs of the same structure share; positions and names are left out."""
        number = {node: index for index, node in enumerate(self.nodes)}
        rows = tuple(
            (
                tuple(number[i] for i in node.inputs),
                node.computes,
                node.sequence,
            )
            for node in self.nodes
        )
        return (
            rows,
            tuple(number[node] for node in self.parameters),
            tuple(number[node] for node in self.outputs),
            tuple(number[node] for node in self.effects),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Graph) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def is_ordered(op: OpDef, params: Mapping[str, Any]) -> bool:
    """Return whether a node has a place in the order of effects: its own are, or those of a graph inside of it."""
    return op.kind in ORDERED or (op.reads is not None and any(graph.effects for graph in params["graphs"]))


def topological(roots: tuple[Node, ...]) -> Iterator[Node]:
    """Nodes reachable from the roots, each after its inputs. Iterative: graphs are deeper than the stack."""
    seen: set[Node] = set()
    for root in roots:
        stack: list[tuple[Node, bool]] = [(root, False)]
        while stack:
            node, expanded = stack.pop()
            if expanded:
                yield node
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                before = node.inputs if node.after is None else (*node.inputs, node.after)
                stack.extend((source, False) for source in reversed(before) if source not in seen)


def freeze(value: Any) -> Any:
    """A hashable key of a parameter value that tells 1, 1.0 and True apart, and 0.0 and -0.0."""
    kind = type(value)
    if kind is tuple or kind is list:
        if set(map(type, value)) == _INTEGERS:
            return ("ints", *value)
        return tuple([freeze(item) for item in value])
    if kind is int or kind is bool:
        return (kind.__name__, int(value))
    if value is None or kind in _FROZEN:
        return value
    return _frozen(value)


def _limits(node: Node) -> Mapping[int, Node]:
    """The limits of a node whose operands know theirs; an operation that says where axes end says so of all axes."""
    if node.op.limits is not None:
        return {axis: node.inputs[number] for axis, number in node.op.limits(node.kwargs).items()}
    return _limits_of_operands(node) if any(source.__dict__["limits"] for source in node.inputs) else _NO_LIMITS


def _limits_of_operands(node: Node) -> dict[int, Node]:
    """The limits that a node has from its operands, which have one and the same where they have one at all."""
    match node.op.kind:
        case Kind.ELEMENTWISE:
            return {axis: limit for source in node.inputs for axis, limit in source.limits.items()}
        case Kind.INDEXING:
            return dict(_moved_limits(node))
        case Kind.REDUCE:
            dims, limits = node.param("dims"), node.inputs[0].limits
            return {axis - sum(one < axis for one in dims): limits[axis] for axis in limits if axis not in dims}
        case Kind.SCAN | Kind.LEAF:
            return {axis: limit for source in node.inputs[:1] for axis, limit in source.limits.items()}
        case _:
            return {}


def _moved_limits(node: Node) -> Iterator[tuple[int, Node]]:
    """The limits of the operands of an index operation, by the axes of the result that run along them."""
    assert node.access is not None, "what has limits is moved along axes only"
    looked_up = ((node.inputs[one.source], one.axes) for map in node.access.axes for one in map.found)
    for source, axes in ((node.inputs[0], node.access.axes), *looked_up):
        for axis, limit in source.limits.items():
            map = axes[axis]
            if map.axis is not None and map.scale == 1 and not (map.offset or map.found or map.also):
                yield map.axis, limit


@functools.lru_cache(maxsize=4096)
def _element(op: OpDef, types: tuple[ArrayType, ...], out: ArrayType) -> Expr:
    """The expression of an operation without parameters: one for all nodes of these types."""
    assert op.element is not None
    return op.element(types, {}, out)


_NO_LIMITS: Mapping[int, Node] = {}
_FROZEN = frozenset({str, bytes, Literal})
_INTEGERS = {int}


def _frozen(value: Any) -> Any:
    """The key of a value of one of the rarer kinds."""
    if isinstance(value, str | bytes | Literal):
        return value
    if isinstance(value, bool | int):
        return (type(value).__name__, int(value))
    if isinstance(value, float):
        return ("float", struct.pack("<d", value))
    if isinstance(value, complex):
        return ("complex", struct.pack("<dd", value.real, value.imag))
    if isinstance(value, tuple | list):
        return tuple(freeze(item) for item in value)
    if isinstance(value, np.dtype):
        return ("dtype", value.name)
    if isinstance(value, Graph):
        return value.key
    if isinstance(value, ArrayType):
        return (ArrayType.__name__, value)
    if dataclasses.is_dataclass(value):
        fields = dataclasses.fields(value)
        return (type(value).__name__, *(freeze(getattr(value, field.name)) for field in fields))
    if callable(value) or isinstance(value, OpDef | Kind):
        return value
    raise TypeError(f"a static parameter of this type cannot be part of a graph: {value!r}")
