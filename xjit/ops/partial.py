"""The first half of a large reduction: one result for each chunk of an axis. Made by the compiler, never by users."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ir.context import CONSTANT
from xjit.ir.expr import Literal
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind, OpDef, Params, Reducer
from xjit.ops import rules
from xjit.ops.convert import CONVERT
from xjit.ops.reduce import REDUCE, reduction_graph
from xjit.types import FLOAT64, ArrayType, DType, array_type, dtype_class


def accumulator_dtype(reducer: Reducer, dtype: DType) -> DType:
    """The type of chunk results: sums and products of floats are carried in f64."""
    return FLOAT64 if reducer.reassociates and dtype_class(dtype) == "F" else dtype


def _infer(types: tuple[ArrayType, ...], params: Params) -> ArrayType:
    axis, size = params["chunk"]
    kept = [place for place in range(types[0].rank) if place not in params["dims"]]
    dims = (*(types[0].shape[place] for place in kept), -(-types[0].shape[axis] // size))
    # The results of one chunk lie together, in the order of the whole reduction's.
    whole = rules.elementwise_type(types[:1], types[0].dtype).order
    order = (len(kept), *(kept.index(place) for place in whole if place in kept))
    return ArrayType(accumulator_dtype(params["reducer"], types[0].dtype), dims, order)


def _reference(
    operand: np.ndarray[Any, Any],
    init: np.ndarray[Any, Any],
    *,
    dims: tuple[int, ...],
    reducer: Reducer,
    computation: Graph,
    n: int,
    chunk: tuple[int, int],
) -> np.ndarray[Any, Any]:
    axis, size = chunk
    wide = operand.astype(accumulator_dtype(reducer, operand.dtype))
    parts = [
        REDUCE.reference(
            np.take(wide, range(start, min(start + size, wide.shape[axis])), axis),
            init.astype(wide.dtype),
            dims=dims,
            reducer=reducer,
            computation=computation,
            n=n,
        )
        for start in range(0, wide.shape[axis], size)
    ]
    return np.stack(parts, axis=-1)


PARTIAL_REDUCE = OpDef(
    name="partial_reduce",
    kind=Kind.REDUCE,
    infer=_infer,
    reference=_reference,
    doc="Folds each chunk of an axis, and all of the other axes, to a result of its own.",
)


def chunked(node: Node, axis: int, size: int) -> Node:
    """The same value as a ``reduce`` node, computed as a reduction of the results of chunks."""
    operand, init = node.inputs
    reducer: Reducer = node.param("reducer")
    dtype = operand.aval.dtype
    wide = accumulator_dtype(reducer, dtype)
    common = {"reducer": reducer, "computation": reduction_graph(reducer, wide), "n": 1}
    part = derived(
        PARTIAL_REDUCE,
        (operand, identity_of(reducer, dtype, node)),
        node,
        dims=node.param("dims"),
        **common,
        chunk=(axis, size),
    )
    start = init if wide == dtype else identity_of(reducer, wide, node)
    whole = derived(REDUCE, (part, start), node, dims=(part.aval.rank - 1,), **common)
    if wide == dtype:
        return whole
    return derived(CONVERT, (whole,), node, dtype=dtype)


def identity_of(reducer: Reducer, dtype: DType, node: Node) -> Node:
    """The number that a reducer starts from, as a constant that stems from a node's place in the program."""
    literal = Literal.of(reducer.identity(dtype), dtype)
    type = array_type(dtype, ())
    return Node(CONSTANT, (), (("value", literal), ("type", type)), type, node.where)


def derived(op: OpDef, inputs: tuple[Node, ...], like: Node, **params: Any) -> Node:
    """A node that the compiler makes of others, for the line of the program that another one stands for."""
    type = op.infer(tuple(source.type for source in inputs), params)
    return Node(op, inputs, tuple(params.items()), type, like.where)
