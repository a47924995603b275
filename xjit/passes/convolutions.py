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

from xjit.dataclass import dataclass
from xjit.ir.context import CONSTANT
from xjit.ir.node import Graph, Node
from xjit.ir.scalar_expr import Literal
from xjit.ops.define.core import registry
from xjit.ops.whole_arrays.concatenate import PAD
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.ops.whole_arrays.shape import BROADCAST_IN_DIM, IOTA, RESHAPE, TRANSPOSE
from xjit.ops.windows.conv import CONV, Convolution
from xjit.ops.windows.sum_of_products import PRODUCTS, SUM_OF_PRODUCTS, WINDOWS_AROUND
from xjit.ops.windows.window_padding import dilated
from xjit.passes.simplify import rewrite
from xjit.types import DType, array_type, dtype_class

_SHORT, _LONG = np.dtype(np.uint32), np.dtype(np.uint64)


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
    axes = _axes(node, lhs)
    is_stored = _is_padded_first(node, axes)
    left, right = (_padded(node, lhs, axes) if is_stored else lhs), rhs
    if several:
        left = _in_groups(node, left, convolution)
        right = _reshaped(node, rhs, (*several, dims[2], *rhs.aval.shape[1:]))
    within = tuple(range(summed, len(dims)))
    lows = tuple([axis.low - is_stored * axis.stored[0] for axis in axes])
    factors = (
        _repeated(_seen(node, left, axes, lows), node, dims, (*range(features), *range(features + 1, len(dims)))),
        _repeated(right, node, dims, (*range(1, features + 1), *within)),
        *_inside(node, axes, dims, (features + 1, summed + 1)),
    )
    order = _with_groups(node.param("order")) if several else node.param("order")
    result = derived(
        SUM_OF_PRODUCTS,
        factors,
        node,
        dims=within,
        order=order,
        reducer=PRODUCTS,
        n=len(factors),
        around=not is_stored,
    )
    return _reshaped(node, result, node.aval.shape) if several else result


@dataclass(frozen=True, slots=True)
class _Axis:
    """One dimension of space: ``size`` positions with the holes between elements, of which the windows use those from
    ``-low`` up to ``last``.
    """

    count: int
    taps: int
    stride: int
    dilation: int
    apart: int
    low: int
    size: int

    @property
    def last(self) -> int:
        """The last position of the last window."""
        return (self.count - 1) * self.stride + (self.taps - 1) * self.dilation - self.low

    @property
    def is_inside(self) -> bool:
        """Return whether all windows lie within the array."""
        return self.low <= 0 and self.last < self.size

    @property
    def stored(self) -> tuple[int, int, int]:
        """The padding of the axis where it is stored."""
        return max(self.low, 0), max(self.last + 1 - self.size, 0), self.apart - 1


def _axes(node: Node, lhs: Node) -> tuple[_Axis, ...]:
    windows = node.param("convolution").windows
    rows = zip(
        node.aval.shape[2:],
        windows.sizes,
        windows.strides,
        windows.window_dilations,
        windows.base_dilations,
        [low for low, _ in windows.padding],
        map(dilated, lhs.aval.shape[2:], windows.base_dilations),
        strict=True,
    )
    return tuple([_Axis(*row) for row in rows])


def _is_padded_first(node: Node, axes: Sequence[_Axis]) -> bool:
    """Return whether the operand is stored with its padding: what lies apart is not loaded under a condition."""
    fastest = node.param("order")[-1] - 2
    is_picked = fastest >= 0 and axes[fastest].stride > 1
    return any(axis.apart > 1 for axis in axes) or (is_picked and not all(axis.is_inside for axis in axes))


def _padded(node: Node, lhs: Node, axes: Sequence[_Axis]) -> Node:
    config = ((0, 0, 0), (0, 0, 0), *(axis.stored for axis in axes))
    return derived(PAD, (lhs, _number(node, 0, lhs.aval.dtype)), node, config=config)


def _in_groups(node: Node, lhs: Node, convolution: Convolution) -> Node:
    """The operand as [batch, group, feature, space...]."""
    batch, features, *space = lhs.aval.shape
    groups = convolution.groups
    if convolution.feature_groups > 1:
        return _reshaped(node, lhs, (batch, groups, features // groups, *space))
    cut = _reshaped(node, lhs, (groups, batch // groups, features, *space))
    return derived(TRANSPOSE, (cut,), node, permutation=(1, 0, *range(2, cut.aval.rank)))


def _seen(node: Node, lhs: Node, axes: Sequence[_Axis], lows: tuple[int, ...]) -> Node:
    """The windows over the operand as [batch, groups, windows..., feature, elements of a window...]."""
    space = len(axes)
    view = derived(
        WINDOWS_AROUND,
        (lhs,),
        node,
        counts=tuple([axis.count for axis in axes]),
        sizes=tuple([axis.taps for axis in axes]),
        strides=tuple([axis.stride for axis in axes]),
        dilations=tuple([axis.dilation for axis in axes]),
        lows=lows,
    )
    first = lhs.aval.rank - space
    order = (*range(first - 1), *range(first, first + space), first - 1, *range(first + space, first + 2 * space))
    return derived(TRANSPOSE, (view,), node, permutation=order)


def _inside(node: Node, axes: Sequence[_Axis], dims: tuple[int, ...], places: tuple[int, int]) -> tuple[Node, ...]:
    """Where products are terms of the sum, unless that is everywhere.

    ``places`` are the first axes of windows and of the elements of a window in the sum.
    """
    found: list[Node] = []
    for number, axis in enumerate(axes):
        found += _conditions(node, axis, dims, tuple(place + number for place in places))
    return (functools.reduce(lambda one, other: _elementwise("and_", node, one, other), found),) if found else ()


def _conditions(node: Node, axis: _Axis, dims: tuple[int, ...], places: tuple[int, ...]) -> Iterator[Node]:
    """Yield what holds along one axis of the elements of windows that are terms."""
    # What is negative is large without a sign. Vectors of short integers have as many lanes as those of floats.
    dtype = _SHORT if max(abs(axis.low), axis.last + axis.low) < np.iinfo(np.int32).max else _LONG

    def number(value: int) -> Node:
        return _repeated(_number(node, value, dtype), node, dims)

    moves = [
        _elementwise("mul", node, derived(IOTA, (), node, dims=dims, dtype=dtype, axis=place), number(step))
        for place, step in zip(places, (axis.stride, axis.dilation), strict=True)
    ]
    at = _elementwise("add", node, *moves)
    at = _elementwise("sub" if axis.low > 0 else "add", node, at, number(abs(axis.low)))
    if not axis.is_inside:
        yield _elementwise("lt", node, at, number(axis.size))
    if axis.apart > 1:
        yield _elementwise("eq", node, _elementwise("rem", node, at, number(axis.apart)), number(0))


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
