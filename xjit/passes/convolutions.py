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

from xjit.dataclass import dataclass, replace
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

    Its dimensions are batch, groups if there are several, out features, and windows, in the order in which the result
    lies in memory; then in features and the elements of a window, which are summed.
    """
    convolution: Convolution = node.param("convolution")
    several = (convolution.groups,) if convolution.groups > 1 else ()
    kept = (node.aval.shape[0], *several, rhs.aval.shape[0] // convolution.groups, *node.aval.shape[2:])
    order = _with_groups(node.param("order")) if several else node.param("order")
    dims = (*(kept[axis] for axis in order), *rhs.aval.shape[1:])
    features = 1 + len(several)
    places = (*(order.index(axis) for axis in range(len(kept))), *range(len(kept), len(dims)))
    outside = places[:features], places[features + 1 : len(kept)], places[len(kept) :]
    axes, is_filled = _axes(node, lhs), False
    if (padded := _zeros_around(lhs, axes)) is not None:
        lhs, axes, is_filled = *padded, True
    is_stored = _is_padded_first(node, axes)
    left, right = (_padded(node, lhs, axes) if is_stored else lhs), rhs
    if several:
        left = _in_groups(node, left, convolution)
        right = _reshaped(node, rhs, (*several, kept[features], *rhs.aval.shape[1:]))
    lows = tuple([axis.low - is_stored * axis.stored[0] for axis in axes])
    factors = (
        _placed(
            node, _seen(node, left, axes, lows), (*outside[0], outside[2][0], *outside[1], *outside[2][1:]), dims
        ),
        _placed(node, right, (*places[1 : features + 1], *outside[2]), dims),
        *_inside(node, axes, dims, tuple(zip(outside[1], outside[2][1:], strict=True))),
    )
    params = {"reducer": PRODUCTS, "n": len(factors), "around": not is_stored, "filled": is_filled}
    result = derived(SUM_OF_PRODUCTS, factors, node, dims=tuple(range(len(kept), len(dims))), **params)
    if order != tuple(range(len(order))):
        result = derived(
            TRANSPOSE, (result,), node, permutation=tuple(order.index(axis) for axis in range(len(order)))
        )
    return _reshaped(node, result, node.aval.shape) if several else result


def _zeros_around(lhs: Node, axes: Sequence[_Axis]) -> tuple[Node, tuple[_Axis, ...]] | None:
    """The operand without zeros that the program itself has put around its space, and its axes; None if it has not.

    These are terms of the sum.
    """
    if lhs.op is not PAD or not all(axis.is_inside and axis.apart == 1 for axis in axes):
        return None
    operand, value = lhs.inputs
    config = lhs.param("config")
    plain = all(row == (0, 0, 0) for row in config[:2]) and all(row[2] == 0 <= min(row[:2]) for row in config[2:])
    if not plain or value.op is not CONSTANT or value.param("value").array() != 0:
        return None
    rows = zip(axes, config[2:], operand.aval.shape[2:], strict=True)
    return operand, tuple([replace(axis, low=axis.low + low, size=size) for axis, (low, _, _), size in rows])


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
    """The windows over the operand as [batch, groups, feature, windows..., elements of a window...]."""
    return derived(
        WINDOWS_AROUND,
        (lhs,),
        node,
        counts=tuple([axis.count for axis in axes]),
        sizes=tuple([axis.taps for axis in axes]),
        strides=tuple([axis.stride for axis in axes]),
        dilations=tuple([axis.dilation for axis in axes]),
        lows=lows,
    )


def _placed(node: Node, operand: Node, places: Sequence[int], dims: tuple[int, ...]) -> Node:
    """The operand repeated to some dimensions, of which ``places`` are its own."""
    order = tuple(sorted(range(len(places)), key=places.__getitem__))
    if order != tuple(range(len(order))):
        operand = derived(TRANSPOSE, (operand,), node, permutation=order)
    return _repeated(operand, node, dims, tuple(sorted(places)))


def _inside(
    node: Node, axes: Sequence[_Axis], dims: tuple[int, ...], places: Sequence[tuple[int, int]]
) -> tuple[Node, ...]:
    """The condition that windows and their elements, which lie at ``places``, are in the array, unless all are."""
    found: list[Node] = []
    for axis, pair in zip(axes, places, strict=True):
        found += _conditions(node, axis, dims, pair)
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
