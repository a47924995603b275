"""Second reductions of what a first one has reduced, done while its chunk is in cache: deviations from a mean, places
of an extreme. One sweep over memory makes what the definition needs two for.

Let c be the mean of a chunk of n elements. About any centre m the squares of all elements sum to

    sum over chunks of  [sum (x - c)^2] + (c - m) * (2 * [sum (x - c)] + n * (c - m))

in which the brackets are sums over the chunk. This is exact for any c, and its terms are as small as the deviations
(Chan, Golub, LeVeque: Updating formulae and a pairwise algorithm for computing sample variances, 1979). The least
position that holds the extreme is the least among those chunks whose own extreme is that of all.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xjit import numerics
from xjit.ir.context import CONSTANT
from xjit.ir.index_map import Index, axes_of, compose, identity
from xjit.ir.node import Node
from xjit.ir.opdef import AxisMap, Kind
from xjit.ir.scalar_expr import Literal
from xjit.ops.define.core import registry
from xjit.ops.elements.compare import SAME
from xjit.ops.elements.convert import CONVERT
from xjit.ops.whole_arrays.partial_reduce import PARTIAL_REDUCE, combined, derived, partial, spread
from xjit.ops.whole_arrays.reduce import REDUCE, REDUCERS
from xjit.types import FLOAT32, FLOAT64, array_type


def in_chunks(node: Node, axis: int, size: int) -> Node | None:
    """The value of a ``reduce`` node by chunks of an axis, if it needs the result of another one over the same."""
    operand, start = node.inputs
    if start.op is not CONSTANT or start.param("value").data != _identity(node).data:
        return None
    distance = _squared(operand)
    if node.param("reducer").name == "add" and distance is not None and node.aval.dtype in (FLOAT32, FLOAT64):
        return _deviations(node, distance, (axis, size))
    if node.param("reducer").name == "min" and operand.op is registry["select"]:
        return _places(node, (axis, size))
    return None


def _identity(node: Node) -> Literal:
    dtype = node.inputs[1].aval.dtype
    return Literal.of(node.param("reducer").identity(dtype), dtype)


def _squared(value: Node) -> Node | None:
    """The difference whose square a value is."""
    factors = (value.inputs[0],) * 2 if value.op is registry["square"] else value.inputs
    if value.op not in (registry["square"], registry["mul"]) or factors[0] is not factors[1]:
        return None
    return factors[0] if factors[0].op is registry["sub"] else None


def _deviations(node: Node, distance: Node, chunk: tuple[int, int]) -> Node | None:
    """The sum of squared distances from a value that was computed from the sum of the same elements."""
    x, repeated = distance.inputs
    centre, index = _origin(repeated)
    sums = _part_below(centre, x, node, chunk, "add")
    if sums is None or axes_of(index) & set(node.param("dims")) or not _is_plain(index):
        return None
    count = _counts(node, x, sums, chunk)
    mean = derived(registry["div"], (sums, count), node)
    wide = derived(registry["sub"], (_wide(x), spread(mean, sums)), node)
    squares = partial(REDUCERS["add"], derived(registry["square"], (wide,), node), node, *chunk)
    rests = partial(REDUCERS["add"], wide, node, *chunk)
    shift = derived(registry["sub"], (mean, _wide(_beside(centre, index, node, sums))), node)
    moved = _sum(_sum(rests, rests, node), derived(registry["mul"], (count, shift), node), node)
    zero = _repeated(_constant(np.zeros((), FLOAT64), node), node, sums)
    is_same = derived(registry["eq"], (shift, zero), node)
    # Where both are infinite, the squares say so already.
    is_lost = derived(registry["ne"], (shift, shift), node)
    nothing = derived(registry["or_"], (is_same, is_lost), node)
    change = derived(registry["select"], (nothing, zero, derived(registry["mul"], (shift, moved), node)), node)
    return combined(node, _sum(squares, change, node))


def _sum(left: Node, right: Node, like: Node) -> Node:
    return derived(registry["add"], (left, right), like)


def _wide(node: Node) -> Node:
    return node if node.aval.dtype == FLOAT64 else derived(CONVERT, (node,), node, dtype=FLOAT64)


def _places(node: Node, chunk: tuple[int, int]) -> Node | None:
    """The least of values at the elements that hold the extreme of the same elements, or a constant elsewhere."""
    hit, here, elsewhere = node.inputs[0].inputs
    if hit.op is not SAME or elsewhere.op is not registry["broadcast_in_dim"]:
        return None
    x, repeated = hit.inputs
    last = elsewhere.inputs[0]
    best, index = _origin(repeated)
    part = best.inputs[0] if best.op is REDUCE else None
    if part is None or not _is_part(part, x, node, chunk):
        return None
    if axes_of(index) & set(node.param("dims")) or not _is_plain(index):
        return None
    if last.op is not CONSTANT or last.aval.rank:
        return None
    inside = derived(SAME, (x, spread(part, part)), node)
    parts = partial(node.param("reducer"), derived(registry["select"], (inside, here, elsewhere), node), node, *chunk)
    among = derived(SAME, (part, _beside(best, index, node, part)), node)
    return combined(node, derived(registry["select"], (among, parts, _repeated(last, node, part)), node))


def _origin(value: Node) -> tuple[Node, Index]:
    """Return the value that another repeats or rearranges, and its index."""
    index = identity(value.aval.shape)
    while value.op.kind is Kind.INDEXING and len(value.inputs) == 1 and value.op.access is not None:
        access = value.op.access((value.inputs[0].aval,), value.kwargs, value.aval)
        if access is None:
            break
        index = compose(access, index, value.inputs)
        value = value.inputs[0]
    return value, index


def _is_plain(index: Index) -> bool:
    """Return whether a value is read at the positions of different axes as they are, in their order, from the first
    on.
    """
    axes = [map.axis for map in index if map.axis is not None]
    return axes == sorted(set(axes)) and all(map == AxisMap(map.axis) for map in index)


def _is_part(part: Node, x: Node, node: Node, chunk: tuple[int, int]) -> bool:
    """Return whether a node reduces the same chunks of x over the same axes."""
    return (
        part.op is PARTIAL_REDUCE
        and part.inputs[0] is x
        and (part.param("dims"), part.param("chunk")) == (node.param("dims"), chunk)
    )


def _part_below(value: Node, x: Node, node: Node, chunk: tuple[int, int], reducer: str) -> Node | None:
    """The reduction of chunks of x that a value was computed from, a few operations before."""
    level = {value}
    for _ in range(numerics.CHUNK_DEPTH):
        level = {source for one in level for source in one.inputs}
        for part in level:
            if _is_part(part, x, node, chunk) and part.param("reducer").name == reducer:
                return part
    return None


def _beside(value: Node, index: Index, node: Node, part: Node) -> Node:
    """A value that is read at kept axes of an operand, next to all results of chunks."""
    kept = [axis for axis in range(node.inputs[0].aval.rank) if axis not in node.param("dims")]
    places = [kept.index(map.axis) for map in index if map.axis is not None]
    sizes = tuple(value.aval.shape[place] for place, map in enumerate(index) if map.axis is not None)
    packed = value if sizes == value.aval.shape else derived(registry["reshape"], (value,), node, sizes=sizes)
    return derived(registry["broadcast_in_dim"], (packed,), node, dims=part.aval.shape, mapping=tuple(places))


def _repeated(value: Node, node: Node, part: Node) -> Node:
    return derived(registry["broadcast_in_dim"], (value,), node, dims=part.aval.shape, mapping=())


def _constant(value: np.ndarray[Any, Any], like: Node) -> Node:
    type = array_type(value.dtype, value.shape)
    params = (("value", Literal.of(value)), ("by_reference", True), ("type", type))
    return Node(CONSTANT, (), params, type, like.where)


def _counts(node: Node, x: Node, part: Node, chunk: tuple[int, int]) -> Node:
    """Count the elements that each result of a chunk is made of."""
    (axis, size), shape = chunk, x.aval.shape
    starts = np.arange(0, shape[axis], size)
    others = math.prod(shape[place] for place in node.param("dims") if place != axis)
    counts = (np.minimum(starts + size, shape[axis]) - starts) * others
    line = _constant(counts.astype(FLOAT64), node)
    return derived(registry["broadcast_in_dim"], (line,), node, dims=part.aval.shape, mapping=(part.aval.rank - 1,))
