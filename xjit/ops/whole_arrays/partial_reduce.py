"""The first half of a large reduction: one result for each chunk of an axis. Made by the compiler, never by users.

A third operand says in which chunk each position along the axis lies. By it, results can be spread over the positions
again: within the loop over chunks they are there as soon as the chunk has been reduced.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ir.context import CONSTANT
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Access, AxisMap, Kind, Lookup, OpDef, Params, Reducer
from xjit.ir.scalar_expr import Index, Literal, lit, prim
from xjit.ops.define import rules
from xjit.ops.elements.convert import CONVERT
from xjit.ops.whole_arrays.reduce import REDUCE, reduction_graph
from xjit.types import FLOAT64, INT64, ArrayType, DType, array_type, dtype_class


def accumulator_dtype(reducer: Reducer, dtype: DType) -> DType:
    """The type of chunk results: sums and products of floats are carried in f64."""
    return FLOAT64 if reducer.reassociates and dtype_class(dtype) == "F" else dtype


def _infer(types: tuple[ArrayType, ...], params: Params) -> ArrayType:
    axis, size = params["chunk"]
    kept = [place for place in range(types[0].rank) if place not in params["dims"]]
    dims = (*(types[0].shape[place] for place in kept), -(-types[0].shape[axis] // size))
    # The results of one chunk lie together, in the order of the whole reduction's, or those of all chunks do.
    whole = rules.elementwise_type(types[:1], types[0].dtype).order
    others = tuple(kept.index(place) for place in whole if place in kept)
    order = (*others, len(kept)) if params.get("beside") else (len(kept), *others)
    return ArrayType(accumulator_dtype(params["reducer"], types[0].dtype), dims, order)


def _reference(
    operand: np.ndarray[Any, Any],
    init: np.ndarray[Any, Any],
    numbers: np.ndarray[Any, Any],
    *,
    dims: tuple[int, ...],
    reducer: Reducer,
    computation: Graph,
    n: int,
    chunk: tuple[int, int],
    beside: bool = False,
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


def _infer_numbers(types: tuple[ArrayType, ...], params: Params) -> ArrayType:
    return array_type(INT64, (params["length"],))


CHUNK_NUMBERS = OpDef(
    name="chunk_numbers",
    kind=Kind.ELEMENTWISE,
    infer=_infer_numbers,
    reference=lambda *, length, size: np.arange(length) // size,
    element=lambda types, params, out: prim("idiv", Index(0), lit(params["size"], INT64)),
    doc="The number of the chunk of ``size`` elements that each position along an axis lies in.",
)


def _infer_spread(types: tuple[ArrayType, ...], params: Params) -> ArrayType:
    return ArrayType(types[0].dtype, params["sizes"], params["order"])


def _spread(
    parts: np.ndarray[Any, Any],
    numbers: np.ndarray[Any, Any],
    *,
    sizes: tuple[int, ...],
    order: tuple[int, ...],
    axis: int,
    dims: tuple[int, ...],
) -> np.ndarray[Any, Any]:
    along = np.moveaxis(np.take(parts, numbers, axis=-1), -1, axis - sum(place < axis for place in dims))
    return np.broadcast_to(np.expand_dims(along, [place for place in dims if place != axis]), sizes)


def _access_spread(types: tuple[ArrayType, ...], params: Params, out: ArrayType) -> Access:
    kept = (place for place in range(out.rank) if place not in params["dims"])
    number = Lookup(1, (AxisMap(params["axis"]),))
    return Access((*(AxisMap(place) for place in kept), AxisMap(None, 1, 0, (number,))))


SPREAD = OpDef(
    name="spread_chunks",
    kind=Kind.INDEXING,
    infer=_infer_spread,
    reference=_spread,
    access=_access_spread,
    doc="What was computed for each chunk, at every element of the chunk.",
)


def chunked(node: Node, axis: int, size: int) -> Node:
    """The same value as a ``reduce`` node, computed as a reduction of the results of chunks."""
    part = partial(node.param("reducer"), node.inputs[0], node, axis, size)
    return combined(node, part)


def partial(reducer: Reducer, operand: Node, like: Node, axis: int, size: int, **more: Any) -> Node:
    """The reduction of each chunk of an operand, over the axes of the node ``like``.

    With ``beside=True`` the results of all chunks lie side by side in memory, not those of one.
    """
    numbers = derived(CHUNK_NUMBERS, (), like, length=operand.aval.shape[axis], size=size)
    inputs = (operand, identity_of(reducer, operand.aval.dtype, like), numbers)
    common = _common(reducer, accumulator_dtype(reducer, operand.aval.dtype))
    return derived(PARTIAL_REDUCE, inputs, like, dims=like.param("dims"), **common, chunk=(axis, size), **more)


def combined(node: Node, parts: Node) -> Node:
    """The value of a ``reduce`` node from results of chunks, which lie along the last axis."""
    reducer: Reducer = node.param("reducer")
    wide, dtype = parts.aval.dtype, node.aval.dtype
    start = node.inputs[1] if wide == dtype else identity_of(reducer, wide, node)
    whole = derived(REDUCE, (parts, start), node, dims=(parts.aval.rank - 1,), **_common(reducer, wide))
    return whole if wide == dtype else derived(CONVERT, (whole,), node, dtype=dtype)


def spread(chunks: Node, part: Node) -> Node:
    """Results of the chunks of ``part`` at every element of the operand that it reduces."""
    type, (axis, _), dims = part.inputs[0].aval, part.param("chunk"), part.param("dims")
    return derived(SPREAD, (chunks, part.inputs[2]), part, sizes=type.shape, order=type.order, axis=axis, dims=dims)


def _common(reducer: Reducer, dtype: DType) -> dict[str, Any]:
    return {"reducer": reducer, "computation": reduction_graph(reducer, dtype), "n": 1}


def identity_of(reducer: Reducer, dtype: DType, node: Node) -> Node:
    """The number that a reducer starts from, as a constant that stems from a node's place in the program."""
    literal = Literal.of(reducer.identity(dtype), dtype)
    type = array_type(dtype, ())
    return Node(CONSTANT, (), (("value", literal), ("type", type)), type, node.where)


def derived(op: OpDef, inputs: tuple[Node, ...], like: Node, **params: Any) -> Node:
    """A node that the compiler makes of others, for the line of the program that another one stands for."""
    type = op.infer(tuple(source.type for source in inputs), params)
    return Node(op, inputs, tuple(params.items()), type, like.where)
