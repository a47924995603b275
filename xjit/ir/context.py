"""Traces: graphs under construction, and the values that user code sees of their nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from xjit.dataclass import dataclass, field
from xjit.errors import ShapeError
from xjit.ir.node import Graph, Node, freeze, is_ordered
from xjit.ir.opdef import Kind, OpDef
from xjit.ir.scalar_expr import Literal
from xjit.ir.source_location import Where, user_position
from xjit.types import ArrayType, TupleType, Type, array_type


class TracedValue:
    """A node and the trace that owns it; layers above add operators.

    weak    the Python type (bool, int, float, complex) of a traced Python scalar, which promotes weakly; else None
    scalar  NumPy would hand out a scalar here, not an array of rank 0
    view    NumPy would hand out a view of an operand's memory here
    frozen  NumPy would hand out an array here that cannot be written to
    """

    __slots__ = ("__weakref__", "frozen", "is_view", "node", "owner", "scalar", "weak")

    node: Node
    owner: Trace
    weak: type | None
    scalar: bool
    is_view: bool
    frozen: bool

    def __init__(
        self, node: Node, trace: Trace, *, weak: type | None = None, scalar: bool = False, is_view: bool = False
    ) -> None:
        put = object.__setattr__  # layers above look at what users assign
        put(self, "node", node)
        put(self, "owner", trace)
        put(self, "weak", weak)
        put(self, "scalar", scalar)
        put(self, "is_view", is_view)
        put(self, "frozen", False)

    @property
    def last_node(self) -> Node:
        """The node that the value was read as last, for messages: none is made for it."""
        return self.node

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.node.aval.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""
        return self.node.aval.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.node.aval.rank


def _leaf_type(inputs: tuple[ArrayType, ...], params: Any) -> Type:
    found: Type = params["type"]
    return found


def _element_type(inputs: tuple[Any, ...], params: Any) -> Type:
    found: Type = inputs[0].elements[params["index"]]
    return found


def _no_reference(*arrays: Any, **params: Any) -> Any:
    raise TypeError("a leaf is bound by its executor")


PARAMETER = OpDef(name="parameter", kind=Kind.LEAF, infer=_leaf_type, reference=_no_reference)
CONSTANT = OpDef(
    name="constant", kind=Kind.LEAF, infer=_leaf_type, reference=lambda value, **_: value.array(), silent=True
)
PROJECT = OpDef(
    name="project", kind=Kind.LEAF, infer=_element_type, reference=lambda parts, index: parts[index], silent=True
)


class Extents(Protocol):
    """Knows which nodes of a trace have dimensions whose size only the run knows."""

    def concern(self, op: OpDef, nodes: Sequence[Node]) -> bool:
        """Return whether an operation on these nodes has to look at extents."""

    def apply(self, op: OpDef, nodes: tuple[Node, ...], params: dict[str, Any]) -> Any:
        """Return what the caller sees of an operation that is not to see the padding of its operands."""

    def hand_on(self, inner: Trace, outer_node: Node, inner_node: Node) -> None:
        """Tell a trace inside of this one about a node that it closes over."""

    def trimmed(self, node: Node) -> Node:
        """The node without its padding."""

    def stretch(self, node: Node, axes: Sequence[int]) -> None:
        """Note that a value is repeated along dimensions to the size of others, whatever that is."""


class Lengths(Protocol):
    """Knows how long arrays may become whose length nothing bounds but the run: ``times`` as long as is guessed."""

    times: int

    @property
    def largest(self) -> int:
        """The elements of the largest array among the arguments."""

    def room(self, guess: int) -> int | None:
        """The elements that such an array has room for, by a guess; None where none may be guessed."""

    def expect(self, fits: Any, *, grows: bool = True) -> None:
        """Lets NumPy do the call unless a truth value holds; later traces make more room if it ``grows``."""


@dataclass(eq=False)
class Trace:
    """Builds one graph; equal pure nodes are made once, effects keep their order.

    ``wrap`` makes the value that user code sees of a node. Nodes of the parent trace that are used here become
    captures: extra parameters of this graph. ``lift_array`` makes a node of an array that user code brings in; arrays
    become constants when it is None. ``extents`` are those of dynamic dimensions, if there are any. ``strides`` are
    those of arguments, in bytes, None where only the run knows them; parameters that have none are packed. Of the
    ``unordered`` values only the run knows the memory order. What is ``turned`` shows a value in another order of its
    axes; traces inside turn the value themselves. ``spans`` are the numbers between which the integers of parameters
    lie, both included, where that is known. ``lengths`` tells of arrays whose length nothing bounds; None where there
    may be none.
    """

    name: str
    wrap: Callable[[Node, Trace], TracedValue] = TracedValue
    parent: Trace | None = None
    lift_array: Callable[[Any], Node] | None = None
    extents: Extents | None = None
    lengths: Lengths | None = None
    parameters: list[Node] = field(default_factory=list)
    strides: dict[Node, tuple[int, ...] | None] = field(default_factory=dict)
    unordered: set[Node] = field(default_factory=set)
    turned: set[Node] = field(default_factory=set)
    spans: dict[Node, tuple[int, int]] = field(default_factory=dict)
    effects: list[Node] = field(default_factory=list)
    captures: dict[Node, Node] = field(default_factory=dict)
    _known: dict[Any, Node] = field(default_factory=dict)
    _scalars: dict[Any, Node] = field(default_factory=dict)
    _own: set[Node] = field(default_factory=set)
    _once: dict[Any, Node] = field(default_factory=dict)
    _types: dict[Any, Type] = field(default_factory=dict)

    def parameter(self, type: ArrayType, where: Where | None = None) -> Node:
        """A new parameter of the graph."""
        params = (("index", len(self.parameters)), ("type", type))
        node = Node(PARAMETER, (), params, type, where or user_position())
        self.parameters.append(node)
        self._own.add(node)
        return node

    def scalar(self, array: Any) -> Node:
        """A constant of rank 0, made once for equal bit patterns."""
        key = array.dtype, array.tobytes()
        node = self._scalars.get(key)
        if node is None:
            node = self._scalars[key] = self.constant(Literal.of(array))
        return node

    def constant(self, literal: Literal, where: Where | None = None, *, by_reference: bool = False) -> Node:
        """A constant, made once for equal bit patterns.

        ``by_reference`` keeps the value out of the generated source, for what changes from shape to shape.
        """
        type = array_type(literal.dtype, literal.dims)
        params = (("value", literal), ("type", type), *((("by_reference", True),) if by_reference else ()))
        key = (CONSTANT, (), freeze(params))
        return self._known.get(key) or self._new(key, Node(CONSTANT, (), params, type, where or user_position()))

    def once(self, key: Any, make: Callable[[], Node]) -> Node:
        """The node of a key, made when it is first asked for."""
        node = self._once.get(key)
        if node is None:
            node = self._once[key] = make()
        return node

    def add(self, op: OpDef, inputs: tuple[Node, ...], params: dict[str, Any], where: Where | None = None) -> Node:
        """A node of this operation; its type is inferred, and the errors of the operation raised."""
        inputs = tuple([self.adopt(node) for node in inputs])
        types, static = tuple([node.type for node in inputs]), tuple(params.items())
        if is_ordered(op, params):
            return self._effect(op, inputs, static, op.infer(types, params), where)
        key = (*params, *map(freeze, params.values())) if params else ()
        known = self._known.get((op, inputs, key))
        if known is not None:
            return known
        type = self._types.get((op, types, key))
        if type is None:
            type = self._types[op, types, key] = op.infer(types, params)
        return self._new((op, inputs, key), Node(op, inputs, static, type, where or user_position()))

    def project(self, node: Node, index: int) -> Node:
        """One element of a node that yields a tuple."""
        return self.add(PROJECT, (node,), {"index": index}, node.where)

    def results(self, node: Node) -> int:
        """Return how many of the elements of a node that yields a tuple are results, the first ones."""
        assert isinstance(node.type, TupleType)
        return len(node.type.elements)

    def adopt(self, node: Node) -> Node:
        """The node itself, or the parameter that stands for a node of an enclosing trace."""
        if node in self._own:
            return node
        if self.parent is None:
            raise ValueError(f"{node!r} belongs to a trace that has ended")
        if node.op is CONSTANT:
            return self.constant(node.param("value"), node.where, by_reference=is_by_reference(node))
        if any(node in one.turned for one in self.around()):
            found = self.add(node.op, node.inputs, node.kwargs, node.where)
            self.turned.add(found)
            return found
        outer = self.parent.adopt(node)
        if outer not in self.captures:
            inner = Node(PARAMETER, (), (("capture", len(self.captures)), ("type", node.type)), node.type, node.where)
            self._own.add(inner)
            self.captures[outer] = inner
            if self.parent.extents is not None:
                self.parent.extents.hand_on(self, outer, inner)
        return self.captures[outer]

    def expects(self, holds: Any) -> bool:
        """Return whether somebody looks at a condition, so that the values behind it need not wait for it."""
        return False

    def around(self) -> Iterator[Trace]:
        """The traces around this one, the innermost first."""
        trace = self.parent
        while trace is not None:
            yield trace
            trace = trace.parent

    def reaches(self, node: Node) -> bool:
        """Return whether the trace, or one around it, has made a node."""
        trace: Trace | None = self
        while trace is not None and node not in trace._own:
            trace = trace.parent
        return trace is not None

    def finish(self, outputs: tuple[Node, ...]) -> Graph:
        """The graph of what was traced."""
        adopted = tuple(self.adopt(node) for node in outputs)
        if self.extents is not None:
            adopted = tuple(self._left(node, self.extents.trimmed(node)) for node in adopted)
        parameters = (*self.parameters, *self.captures.values())
        return Graph(self.name, parameters, adopted, tuple(self.effects), tuple(self.captures))

    def _left(self, node: Node, trimmed: Node) -> Node:
        """The result as it leaves the trace: only whole programs have results smaller than their type says."""
        if trimmed is not node and self.parent is not None:
            raise ShapeError(
                f"xjit: a result of {self.name} has a dynamic size, which nothing carries from here; got {node.type}"
            )
        return trimmed

    def _new(self, key: Any, node: Node) -> Node:
        self._known[key] = node
        self._own.add(node)
        return node

    def _effect(self, op: OpDef, inputs: tuple[Node, ...], params: Any, type: Type, where: Where | None) -> Node:
        after = self.effects[-1] if self.effects else None
        node = Node(op, inputs, params, type, where or user_position(), len(self.effects), after)
        self.effects.append(node)
        self._own.add(node)
        return node


def is_tuple(node: Node) -> bool:
    """Return whether the node yields several arrays."""
    return isinstance(node.type, TupleType)


def is_by_reference(node: Node) -> bool:
    """Return whether a constant is read from memory, so that the source does not depend on its value."""
    return any(key == "by_reference" for key, _ in node.params)
