"""Writes convolutions out as sums of products.

    conv x[n, c, h] w[o, c, k]  ->  sum_of_products over c, k of
                                        windows_around x [n, o, h, c, k], broadcast w [o, c, k], inside [h, k]

What lies outside of the array is never stored: products there are no terms of the sum. Groups are further dimensions.
Only elements that lie apart are stored with the holes between them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import numpy as np

from xjit.ir.context import CONSTANT
from xjit.ir.node import Graph, Node
from xjit.ir.scalar_expr import Literal
from xjit.ops.define.core import registry
from xjit.ops.elements.convert import CONVERT
from xjit.ops.whole_arrays.concatenate import PAD
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.ops.whole_arrays.shape import BROADCAST_IN_DIM, IOTA, RESHAPE, TRANSPOSE
from xjit.ops.windows.conv import CONV, Convolution
from xjit.ops.windows.sum_of_products import PRODUCTS, SUM_OF_PRODUCTS, WINDOWS_AROUND
from xjit.passes.simplify import rewrite
from xjit.types import INT64, DType, array_type, dtype_class


_UNSIGNED = np.dtype(np.uint64)

def write_convolutions_out(graph: Graph) -> Graph:
    """The graph with convolutions as sums; the same object when there are none."""
    return rewrite(graph, _written_out)


def _written_out(node: Node) -> Node:
    if node.op is not CONV or not all(source.aval.is_static for source in node.inputs):
        return node
    lhs, rhs = node.inputs
    if not node.aval.size or 0 in (*lhs.aval.shape, *rhs.aval.shape):
        return _repeated(_number(node, 0, node.aval.dtype), node, node.aval.shape)
    if dtype_class(node.aval.dtype) != "C":
        return _real(node, lhs, rhs)
    (a, b), (c, d) = ([_elementwise(name, node, side) for name in ("real", "imag")] for side in (lhs, rhs))
    real = _elementwise("sub", node, _real(node, a, c), _real(node, b, d))
    imaginary = _elementwise("add", node, _real(node, a, d), _real(node, b, c))
    return _elementwise("complex", node, real, imaginary)


def _real(node: Node, lhs: Node, rhs: Node) -> Node:
    """The sum for operands that are not complex.

    It runs over batch, groups if there are several, out features, windows; in features and the elements of a window.
    """
    convolution: Convolution = node.param("convolution")
    groups, space = convolution.groups, rhs.aval.rank - 2
    counts = node.aval.shape[2:]
    several = (groups,) if groups > 1 else ()
    features = 1 + len(several)
    summed = features + 1 + space
    dims = (node.aval.shape[0], *several, rhs.aval.shape[0] // groups, *counts, *rhs.aval.shape[1:])
    left, right = _apart(node, lhs, convolution), rhs
    if several:
        left, right = _in_groups(node, left, convolution), _reshaped(node, rhs, (*several, dims[2], *rhs.aval.shape[1:]))
    within = tuple(range(summed, len(dims)))
    factors = (
        _repeated(_seen(node, left, convolution), node, dims, (*range(features), *range(features + 1, len(dims)))),
        _repeated(right, node, dims, (*range(1, features + 1), *within)),
        *_inside(node, left, convolution, dims, (features + 1, summed + 1)),
    )
    order = _with_groups(node.param("order")) if several else node.param("order")
    result = derived(
        SUM_OF_PRODUCTS, factors, node, dims=within, order=order, reducer=PRODUCTS, n=len(factors), computation=None
    )
    return _reshaped(node, result, node.aval.shape) if several else result


def _apart(node: Node, lhs: Node, convolution: Convolution) -> Node:
    """The operand with holes between its elements along space."""
    apart = convolution.windows.base_dilations
    if all(step == 1 for step in apart):
        return lhs
    config = ((0, 0, 0), (0, 0, 0), *((0, 0, step - 1) for step in apart))
    return derived(PAD, (lhs, _number(node, 0, lhs.aval.dtype)), node, config=config)


def _in_groups(node: Node, lhs: Node, convolution: Convolution) -> Node:
    """The operand as [batch, group, feature, space...]."""
    batch, features, *space = lhs.aval.shape
    groups = convolution.groups
    if convolution.feature_groups > 1:
        return _reshaped(node, lhs, (batch, groups, features // groups, *space))
    cut = _reshaped(node, lhs, (groups, batch // groups, features, *space))
    return derived(TRANSPOSE, (cut,), node, permutation=(1, 0, *range(2, cut.aval.rank)))


def _seen(node: Node, lhs: Node, convolution: Convolution) -> Node:
    """The windows over the operand as [batch, groups, windows..., feature, elements of a window...]."""
    windows, space = convolution.windows, len(convolution.windows.sizes)
    low = tuple(before for before, _ in windows.padding)
    view = derived(
        WINDOWS_AROUND,
        (lhs,),
        node,
        counts=node.aval.shape[2:],
        sizes=windows.sizes,
        strides=windows.strides,
        dilations=windows.window_dilations,
        lows=low,
    )
    first = lhs.aval.rank - space
    order = (*range(first - 1), *range(first, first + space), first - 1, *range(first + space, first + 2 * space))
    return derived(TRANSPOSE, (view,), node, permutation=order)


def _inside(
    node: Node, lhs: Node, convolution: Convolution, dims: tuple[int, ...], places: tuple[int, int]
) -> Iterator[Node]:
    """Yield where products are terms of the sum, unless that is everywhere.

    ``places`` are the first axes of windows and of the elements of a window in the sum.
    """
    found: list[Node] = []
    for axis, size in enumerate(lhs.aval.shape[lhs.aval.rank - len(convolution.windows.sizes) :]):
        found += _conditions(node, convolution, axis, size, dims, tuple(place + axis for place in places))
    if found:
        yield functools.reduce(lambda one, other: _elementwise("and_", node, one, other), found)


def _conditions(
    node: Node, convolution: Convolution, axis: int, size: int, dims: tuple[int, ...], places: tuple[int, ...]
) -> Iterator[Node]:
    """Yield what holds along one axis of the elements of windows that are terms."""
    windows = convolution.windows
    steps, low = (windows.strides[axis], windows.window_dilations[axis]), windows.padding[axis][0]
    last = sum((dims[place] - 1) * step for place, step in zip(places, steps, strict=True)) - low
    moves = [_times(node, derived(IOTA, (), node, dims=dims, dtype=INT64, axis=place), step, dims) for place, step in zip(places, steps, strict=True)]
    at = _elementwise("sub", node, _elementwise("add", node, *moves), _numbers(node, low, INT64, dims))
    if low > 0 or last >= size:
        # What is negative is large without a sign.
        yield _elementwise("lt", node, derived(CONVERT, (at,), node, dtype=_UNSIGNED), _numbers(node, size, _UNSIGNED, dims))
    if windows.base_dilations[axis] > 1:
        rest = _elementwise("rem", node, at, _numbers(node, windows.base_dilations[axis], INT64, dims))
        yield _elementwise("eq", node, rest, _numbers(node, 0, INT64, dims))


def _times(node: Node, position: Node, step: int, dims: tuple[int, ...]) -> Node:
    return position if step == 1 else _elementwise("mul", node, position, _numbers(node, step, INT64, dims))


def _with_groups(order: Sequence[int]) -> tuple[int, ...]:
    """A memory order of dimensions of which the second one becomes two."""
    return tuple(place for axis in order for place in ((1, 2) if axis == 1 else (axis + (axis > 1),)))


def _elementwise(name: str, node: Node, *operands: Node) -> Node:
    return derived(registry[name], operands, node)


def _reshaped(node: Node, operand: Node, sizes: tuple[int, ...]) -> Node:
    return derived(RESHAPE, (operand,), node, sizes=sizes)


def _repeated(operand: Node, node: Node, dims: tuple[int, ...], mapping: tuple[int, ...] = ()) -> Node:
    return derived(BROADCAST_IN_DIM, (operand,), node, dims=dims, mapping=mapping)


def _number(node: Node, value: int, dtype: DType) -> Node:
    """A constant of the program."""
    type = array_type(dtype, ())
    return Node(CONSTANT, (), (("value", Literal.of(np.asarray(value, dtype))), ("type", type)), type, node.where)


def _numbers(node: Node, value: int, dtype: DType, dims: tuple[int, ...]) -> Node:
    return _repeated(_number(node, value, dtype), node, dims)
