"""Writes products out as sums, where kernels do better than the library of matrix products.

    dot_general x[n, k] w[k]  ->  reduce add (mul x (broadcast_in_dim w))

A product with a vector reads its matrix once and does next to nothing with it. As loops it fuses with what is around
it: the gradient ``x.T @ (f(x @ w) - y)`` then reads ``x`` once in all. The library is quicker in between, where the
matrix is in the caches and the calls do not count. A small matrix, such as a rotation, stays in registers, whatever
is multiplied by it. For integers and truth values there is no library: NumPy's own loops take 2 to 20 times as long
as kernels do. Narrow floats are multiplied as float32.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xjit import numerics
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.ops.define.core import registry
from xjit.ops.define.memory_order import PACK
from xjit.ops.elements.convert import CONVERT
from xjit.ops.whole_arrays.linalg import DOT_GENERAL, DotDimensionNumbers
from xjit.ops.whole_arrays.partial_reduce import derived, identity_of
from xjit.ops.whole_arrays.reduce import REDUCE, REDUCERS, reduction_graph
from xjit.ops.whole_arrays.shape import BROADCAST_IN_DIM, TRANSPOSE
from xjit.passes.simplify import rewrite
from xjit.types import FLOAT32, NARROW_FLOATS, dtype_class


def write_products_out(graph: Graph) -> Graph:
    """The graph with some products as sums; the same object when there are none."""
    return rewrite(graph, _written_out)


def _written_out(node: Node) -> Node:
    if node.op is not DOT_GENERAL or not all(source.aval.is_static for source in node.inputs):
        return node
    if any(source.limits for source in node.inputs):
        return _as_loops(node)
    if node.aval.dtype in NARROW_FLOATS:
        return _in_float32(node)
    return node if dtype_class(node.aval.dtype) == "C" else _as_cheaper(node)


def _as_loops(node: Node) -> Node:
    """The product as a sum, whatever is quicker: a library knows of no limits."""
    numbers: DotDimensionNumbers = node.param("numbers")
    free = [numbers.free(side, source.aval.rank) for side, source in zip(("lhs", "rhs"), node.inputs, strict=True)]
    found = _as_sum(node, numbers, free)
    return found if found.type == node.type else derived(PACK, (found,), node, order=node.aval.order)


def _in_float32(node: Node) -> Node:
    """The product of narrow floats in float32, rounded once: conversions fuse with what is around the library."""
    wide = tuple(derived(CONVERT, (source,), node, dtype=FLOAT32) for source in node.inputs)
    product = _as_cheaper(derived(DOT_GENERAL, wide, node, numbers=node.param("numbers")))
    found = derived(CONVERT, (product,), node, dtype=node.aval.dtype)
    return found if found.type == node.type else node


def _as_cheaper(node: Node) -> Node:
    """The product as a sum, if that is quicker."""
    numbers: DotDimensionNumbers = node.param("numbers")
    free = [numbers.free(side, source.aval.rank) for side, source in zip(("lhs", "rhs"), node.inputs, strict=True)]
    pays = _is_small(node, numbers, free) or (not all(free) and _pays(node, numbers))
    if dtype_class(node.aval.dtype) == "F" and not pays:
        return node
    found = _as_sum(node, numbers, free)
    if found.type != node.type:  # the memory order of a sum is that of its operands
        found = derived(PACK, (found,), node, order=node.aval.order)
    return found if found.type == node.type else node


def _is_small(node: Node, numbers: DotDimensionNumbers, free: Sequence[tuple[int, ...]]) -> bool:
    """Return whether each element is a sum of few products with a small matrix: registers hold that.

    A rotation of many points ``x[n, 3] @ r[3, 3]`` reads each point once and calls nothing.
    """
    shapes = [source.aval.shape for source in node.inputs]
    terms = math.prod(shapes[0][axis] for axis in numbers.lhs_contracting_dimensions)
    columns = min(math.prod(shape[axis] for axis in own) for shape, own in zip(shapes, free, strict=True))
    return terms <= numerics.TINY and terms * columns <= numerics.SMALL_MATRIX


def _pays(node: Node, numbers: DotDimensionNumbers) -> bool:
    """Return whether loops over a product with a vector are quicker: for few or very many elements of the matrix, and
    for elements that need not be stored.
    """
    sides = zip(node.inputs, (numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions), strict=True)
    matrix, summed = max(sides, key=lambda side: side[0].aval.size)
    aval = matrix.aval
    if aval.size <= numerics.FEW_PRODUCTS or aval.nbytes >= numerics.LARGE_MATRIX_BYTES:
        return True
    return _is_computed(matrix) and bool(aval.order) and aval.order[-1] in summed


def _is_computed(node: Node) -> bool:
    """Return whether the value comes from other elements by arithmetic, at most moved since."""
    while node.op.kind is Kind.INDEXING and len(node.inputs) == 1:
        (node,) = node.inputs
    return node.op.kind is Kind.ELEMENTWISE


def _as_sum(node: Node, numbers: DotDimensionNumbers, free: Sequence[tuple[int, ...]]) -> Node:
    """The sum over the last dimensions of (batch, free of lhs, free of rhs, contracted)."""
    lhs, rhs = node.inputs
    batches = numbers.lhs_batch_dimensions, numbers.rhs_batch_dimensions
    summed = numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions
    dims = (*node.aval.shape, *(lhs.aval.shape[axis] for axis in summed[0]))
    batch, rank, count = len(batches[0]), len(dims), len(summed[0])
    factors = []
    for k, source in enumerate((lhs, rhs)):
        order = (*batches[k], *free[k], *summed[k])
        moved = (
            source if order == tuple(range(len(order))) else derived(TRANSPOSE, (source,), node, permutation=order)
        )
        first = batch + (len(free[0]) if k else 0)
        mapping = (*range(batch), *range(first, first + len(free[k])), *range(rank - count, rank))
        spread = moved.aval.shape != dims
        factors.append(derived(BROADCAST_IN_DIM, (moved,), node, dims=dims, mapping=mapping) if spread else moved)
    dtype = node.aval.dtype
    times, plus = ("and_", "or") if dtype_class(dtype) == "P" else ("mul", "add")
    product, reducer = derived(registry[times], tuple(factors), node), REDUCERS[plus]
    params = {"reducer": reducer, "computation": reduction_graph(reducer, dtype), "n": 1}
    identity = identity_of(reducer, dtype, node)
    return derived(REDUCE, (product, identity), node, dims=tuple(range(rank - count, rank)), **params)
