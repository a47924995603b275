"""A loop taken apart for passes: the values that it carries, and those that its graphs close over."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from xjit.dataclass import dataclass, replace
from xjit.ir.context import PROJECT
from xjit.ir.inner_graphs import GRAPHS
from xjit.ir.node import Graph, Node, topological
from xjit.ir.rebuilding import reading, with_new
from xjit.passes.simplify import simplify
from xjit.types import TupleType


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """A carried value: where it starts, and what the condition and the body see of it."""

    start: Node
    tested: Node
    before: Node


@dataclass(frozen=True, slots=True, eq=False)
class Captures:
    """A graph of a loop with what it closes over: operands of the loop, and the parameters that stand for them."""

    graph: Graph
    operands: tuple[Node, ...]
    parameters: tuple[Node, ...]

    def used(self) -> Captures:
        """The same without what nothing reads."""
        needed = needed_by((*self.graph.outputs, *self.graph.effects))
        pairs = [(one, two) for one, two in zip(self.operands, self.parameters, strict=True) if two in needed]
        return replace(self, operands=tuple(one for one, _ in pairs), parameters=tuple(two for _, two in pairs))

    def with_more(self, operands: Sequence[Node], parameters: Sequence[Node]) -> Captures:
        """The same with further values that the graph closes over."""
        return replace(self, operands=(*self.operands, *operands), parameters=(*self.parameters, *parameters))


@dataclass(frozen=True, slots=True, eq=False)
class LoopParts:
    """A loop: ``carried`` by the number of the result, the condition and the body with what they close over.

    The outputs of the body's graph are those of the carried values, in order.
    """

    node: Node
    carried: dict[int, Carried]
    condition: Captures
    body: Captures

    @property
    def after(self) -> dict[int, Node]:
        """The next value of each that is carried."""
        return dict(zip(self.carried, self.body.graph.outputs, strict=True))

    def carrying(self, numbers: Collection[int]) -> LoopParts:
        """The loop that carries only these values."""
        carried = {number: one for number, one in self.carried.items() if number in numbers}
        outputs = tuple(node for number, node in self.after.items() if number in numbers)
        body = replace(self.body, graph=replace(self.body.graph, outputs=outputs))
        return replace(self, carried=carried, body=body)

    def whole(self) -> Node:
        """The loop put together again."""
        condition, body, carried = self.condition.used(), self.body.used(), list(self.carried.values())
        tested, before = [one.tested for one in carried], [one.before for one in carried]
        graphs = (
            replace(condition.graph, parameters=(*tested, *condition.parameters)),
            replace(body.graph, parameters=(*before, *body.parameters)),
        )
        inputs = (*(one.start for one in carried), *condition.operands, *body.operands)
        values = {**self.node.kwargs, GRAPHS: graphs, "n": len(carried)}
        assert isinstance(self.node.type, TupleType)
        type = TupleType(tuple(self.node.type.elements[number] for number in self.carried))
        return replace(self.node, inputs=inputs, params=tuple(values.items()), type=type)


def parts_of(node: Node) -> LoopParts:
    """A loop taken apart."""
    condition, body = node.param(GRAPHS)
    count = node.param("n")
    split = len(condition.parameters)
    columns = (node.inputs, condition.parameters, body.parameters)
    carried = {number: Carried(*(one[number] for one in columns)) for number in range(count)}
    return LoopParts(
        node,
        carried,
        Captures(condition, node.inputs[count:split], condition.parameters[count:]),
        Captures(body, node.inputs[split:], body.parameters[count:]),
    )


def needed_by(roots: Sequence[Node]) -> set[Node]:
    """The nodes that others are made of, these included."""
    return set(topological(tuple(roots)))


def substituted(graph: Graph, others: Mapping[Node, Node]) -> Graph:
    """The graph with nodes replaced by others, whatever they are made of; its parameters stay."""
    if not others:
        return graph
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        if node in others:
            new[node] = others[node]
            continue
        new[node] = reading(node, new)
    return with_new(graph, new)


def projections(graph: Graph) -> dict[Node, dict[int, Node]]:
    """For each node that yields several values those that are read."""
    found: dict[Node, dict[int, Node]] = {}
    for node in graph.nodes:
        if node.op is PROJECT:
            found.setdefault(node.inputs[0], {})[node.param("index")] = node
    return found


def with_control(
    graph: Graph, control: str, change: Callable[[Node, dict[Node, Node], dict[int, Node]], None]
) -> Graph:
    """The graph with operations of one kind of control changed; the same object when there are none.

    ``change`` gets such a node, what stands for the nodes so far, and the projections of it that are read. It puts
    something in place of the node and of these.
    """
    if not any(node.op.control == control for node in graph.nodes):
        return graph
    read = projections(graph)
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        if node.op is PROJECT and node in new:
            continue
        new[node] = reading(node, new)
        if node.op.control == control:
            change(node, new, read.get(node, {}))
    return simplify(with_new(graph, new))
