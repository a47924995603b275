"""Computations over scalars: traced once, checked, and applied to whole arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xjit.errors import ArgumentError, DTypeError
from xjit.ir.context import CONSTANT, PARAMETER, TracedValue
from xjit.ir.current import current
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import apply, constant, lift, own, register, trace_computation, wrap
from xjit.ops.define.evaluate import evaluate_elementwise, is_elementwise
from xjit.ops.define.rules import got
from xjit.ops.whole_arrays.shape import expanded
from xjit.types import BOOL, ArrayType, Dim, DType, TupleType, c_order


def traced_scalars(
    name: str,
    computation: Callable[..., Any],
    types: Sequence[ArrayType],
    results: Sequence[DType] | None,
) -> Graph:
    """The graph of a computation that takes scalars of these types and returns scalars of the ``results`` types.

    None for one result of any type. DTypeError for wrong types, ArgumentError for a wrong number of results,
    ShapeError for results that are no scalars.
    """
    graph, _ = trace_computation(computation, types, name)
    found = tuple(node.aval for node in graph.outputs)
    expected = 1 if results is None else len(results)
    if results is not None:
        for wanted, type in zip(results, found, strict=False):
            if type.dtype != wanted:
                raise DTypeError(
                    f"ops.{name}: computation: a result has the wrong element type; "
                    f"got {got((type,))} for {got((ArrayType(wanted, (), ()),))}"
                )
    if len(found) != expected:
        raise ArgumentError(f"ops.{name}: computation: {expected} results are required; got {len(found)}")
    for type in found:
        rules.check_rank(name, "computation", type, 0)
    return graph


def _infer_map(types: tuple[ArrayType, ...], params: Params) -> TupleType:
    graph, dims = params["computation"], params["dims"]
    elements = tuple(ArrayType(node.aval.dtype, dims, c_order(len(dims))) for node in graph.outputs)
    return TupleType(elements)


def _map_reference(*arrays: Any, computation: Graph, dims: tuple[int, ...]) -> tuple[Any, ...]:
    return evaluate_elementwise(computation, arrays, dims)


MAP = register(
    OpDef(
        name="map",
        kind=Kind.STRUCTURED,
        xla_name="Map",
        infer=_infer_map,
        reference=_map_reference,
        doc="A computation over scalars at every index, for computations that hold more than elementwise nodes.",
    )
)


def replay(graph: Graph, operands: Sequence[Any], dims: tuple[Dim, ...]) -> tuple[Any, ...]:
    """A computation over scalars applied at every index; operands have these dimensions or rank 0.

    Elementwise nodes are emitted again over arrays, so that they fuse with their surroundings. Loops and branches
    run for all elements at once.
    """
    extra = captured(graph)
    if not is_elementwise(graph):
        return _with_control(graph, operands, extra, dims)
    values: dict[Node, Any] = {}
    for node, operand in zip(graph.parameters, (*operands, *extra), strict=True):
        values[node] = expanded(operand, dims, dims_of(operand))
    for node in graph.nodes:
        if node.op is CONSTANT:
            values[node] = expanded(constant(node.param("value").array()), dims, ())
        elif node.op is not PARAMETER:
            values[node] = apply(node.op, *(values[source] for source in node.inputs), **node.kwargs)
    results = tuple(values[node] for node in graph.outputs)
    trace = current()
    if trace is None:
        return tuple(own(result, operands) for result in results)
    return tuple(wrap(trace, lift(trace, result)) for result in results)  # never the very operand


def _with_control(
    graph: Graph, operands: Sequence[Any], extra: Sequence[Any], dims: tuple[Dim, ...]
) -> tuple[Any, ...]:
    """A computation with other than elementwise nodes, under a trace without the step on whole arrays."""
    from xjit.ops.control.each_element import at_every_element

    if current() is None:
        outputs: tuple[Any, ...] = apply(MAP, *operands, *extra, computation=graph, dims=dims)
        return outputs
    sizes = ArrayType(BOOL, dims, c_order(len(dims))).shape
    return at_every_element(graph, operands, extra, sizes)


def captured(graph: Graph) -> list[Any]:
    """The values of the enclosing trace that a computation closes over, as further operands of its operation."""
    trace = current()
    if trace is None and graph.captures:
        raise TypeError("a computation closes over a traced value whose trace has ended")
    return [] if trace is None else [TracedValue(trace.adopt(node), trace) for node in graph.captures]


def dims_of(operand: Any) -> tuple[int, ...]:
    """The identity mapping of an operand's dimensions."""
    return tuple(range(operand.ndim))
