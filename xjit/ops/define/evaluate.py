"""Runs graphs with NumPy, node by node: the slow and obvious meaning of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.ir.context import CONSTANT, PARAMETER
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.types import ArrayType


def evaluate_graph(graph: Graph, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a graph for arrays in the place of its parameters, captures last.

    Every node is computed once by its reference, effects in their order, under the caller's np.errstate. Results
    may share memory with the arrays. TypeError if a reference contradicts the inferred type: that is a mistake in
    its record.
    """
    values: dict[Node, Any] = dict(zip(graph.parameters, arrays, strict=True))
    for node in graph.nodes:
        if node.op is not PARAMETER:
            values[node] = _checked(node, _compute(node, values))
    return tuple(values[node] for node in graph.outputs)


def _compute(node: Node, values: dict[Node, Any]) -> Any:
    result = node.op.reference(*(_there(node, source, values) for source in node.inputs), **node.kwargs)
    return result if isinstance(result, tuple) else np.asarray(result)


def _there(node: Node, source: Node, values: dict[Node, Any]) -> Any:
    """The value of an operand; reductions see no more of it than exists along the axes that they reduce."""
    if node.op.kind is not Kind.REDUCE or not source.limits:
        return values[source]
    cut = [slice(None)] * source.aval.rank
    for axis in node.param("dims"):
        if axis in source.limits:
            cut[axis] = slice(int(values[source.limits[axis]]))
    return values[source][tuple(cut)]


def _checked(node: Node, value: Any) -> Any:
    types = (node.type,) if isinstance(node.type, ArrayType) else node.type.elements
    for type, array in zip(types, value if isinstance(value, tuple) else (value,), strict=True):
        if array.dtype != type.dtype or (type.is_static and array.shape != type.shape and not node.op.trims):
            raise TypeError(f"the reference of {node.op.name} gave {array.dtype}{array.shape} for {type}")
    return value


def is_elementwise(graph: Graph) -> bool:
    """Return whether a computation over scalars may run on whole arrays at once."""
    return all(
        node.op in (PARAMETER, CONSTANT) or (node.op.kind is Kind.ELEMENTWISE and len(node.inputs) > 0)
        for node in graph.nodes
    )


def evaluate_elementwise(graph: Graph, arrays: Sequence[Any], dims: tuple[int, ...]) -> tuple[Any, ...]:
    """A computation over scalars applied to every element of arrays of these dimensions; rank 0 serves them all."""
    if not is_elementwise(graph):
        return _evaluate_each(graph, arrays, dims)
    values: dict[Node, Any] = dict(zip(graph.parameters, arrays, strict=True))
    for node in graph.nodes:
        if node.op is not PARAMETER:
            values[node] = _compute(node, values)
    return tuple(np.broadcast_to(values[node], dims) for node in graph.outputs)


def _evaluate_each(graph: Graph, arrays: Sequence[Any], dims: tuple[int, ...]) -> tuple[Any, ...]:
    results = tuple(np.empty(dims, node.aval.dtype) for node in graph.outputs)
    spread = [np.broadcast_to(array, dims) for array in arrays]
    for index in np.ndindex(*dims):
        for result, value in zip(results, evaluate_graph(graph, [a[index] for a in spread]), strict=True):
            result[index] = value
    return results
