"""Operations that move elements without computing: broadcasts, reshapes, slices, padding, iota."""

from __future__ import annotations

import builtins
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.errors import ArgumentError, ShapeError
from xjit.ir.current import current
from xjit.ir.opdef import Access, AxisMap, Kind, OpDef, Params
from xjit.ir.scalar_expr import Expr, Index, cast
from xjit.ops.define import rules
from xjit.ops.define.core import Operand, apply, as_operand, as_shape, aval_of, register, static_int, static_ints
from xjit.ops.define.references import Array, convert
from xjit.ops.define.rules import got
from xjit.showing import Along, Indexed, Reshaped, Showing, Turned
from xjit.types import ArrayType, array_type, c_order, order_of

__all__ = ["broadcast", "broadcast_in_dim", "collapse", "iota", "reshape", "rev", "slice", "transpose"]

Types = tuple[ArrayType, ...]


# ---- broadcast_in_dim


def _infer_broadcast(types: Types, params: Params) -> ArrayType:
    name, (type,), dims, mapping = "broadcast_in_dim", types, params["dims"], params["mapping"]
    rules.check_length(name, "broadcast_dimensions", mapping, type.rank)
    rules.check_increasing(name, "broadcast_dimensions", mapping, len(dims))
    rules.check_at_least(name, "out_dim_size", (dim for dim in dims if isinstance(dim, int)), 0)
    sources: list[int | None] = [None] * len(dims)
    for axis, target in enumerate(mapping):
        if type.dims[axis] == dims[target]:
            sources[target] = axis
        elif type.dims[axis] != 1:
            raise ShapeError(
                f"ops.{name}: operand: dimension {axis} must be 1 or the size of dimension {target} of the result; "
                f"got {got(types)} and {tuple(dims)}"
            )
    return rules.view_type(type, dims, sources)


def _broadcast(operand: Array, dims: tuple[int, ...], mapping: tuple[int, ...]) -> Array:
    shape = [1] * len(dims)
    for axis, target in enumerate(mapping):
        shape[target] = operand.shape[axis]
    return np.broadcast_to(operand.reshape(shape), dims)


def _spread(operand: Array, dims: tuple[int, ...], mapping: tuple[int, ...]) -> Array:
    return np.broadcast_arrays(operand, np.broadcast_to(np.empty(()), dims))[0]


def _access_broadcast(types: Types, params: Params, out: ArrayType) -> Access:
    dims, mapping = params["dims"], params["mapping"]
    pairs = zip(types[0].dims, mapping, strict=True)
    return Access(tuple(AxisMap(axis if dim == dims[axis] else None) for dim, axis in pairs))


BROADCAST_IN_DIM = register(
    OpDef(
        name="broadcast_in_dim",
        kind=Kind.INDEXING,
        xla_name="BroadcastInDim",
        infer=_infer_broadcast,
        reference=_broadcast,
        access=_access_broadcast,
        doc="Repeats the operand along new dimensions and dimensions of size 1.",
    )
)


SPREAD = register(
    OpDef(
        name="spread",
        kind=Kind.INDEXING,
        infer=_infer_broadcast,
        reference=_spread,
        access=_access_broadcast,
        doc="As broadcast_in_dim; NumPy lets the caller write to such views, with a warning.",
    )
)


def broadcast_in_dim(operand: Any, out_dim_size: Sequence[int], broadcast_dimensions: Sequence[int]) -> Any:
    """Operand dimension d becomes dimension ``broadcast_dimensions[d]`` of a result of size ``out_dim_size``.

    Other dimensions of the result, and those that operand dimensions of size 1 meet, repeat it. Any element type.
    Raises ArgumentError unless the mapping is strictly increasing, ShapeError for sizes that do not fit.

    >>> broadcast_in_dim(np.int8([1, 2]), (2, 3), (0,))
    array([[1, 1, 1],
           [2, 2, 2]], dtype=int8)
    """
    name = "broadcast_in_dim"
    array = as_operand(operand, name, "operand")
    dims = static_ints(out_dim_size, name, "out_dim_size")
    mapping = static_ints(broadcast_dimensions, name, "broadcast_dimensions")
    return apply(BROADCAST_IN_DIM, array, dims=dims, mapping=mapping)


def spread(operand: Operand, dims: tuple[int, ...]) -> Any:
    """The operand repeated along new leading dimensions and those of size 1, as ``numpy.broadcast_arrays`` has it."""
    rank = len(aval_of(operand).dims)
    mapping = tuple(range(len(dims) - rank, len(dims)))
    return stretched(apply(SPREAD, operand, dims=dims, mapping=mapping), operand, mapping)


def broadcast(operand: Any, broadcast_sizes: Sequence[int]) -> Any:
    """New dimensions of these sizes on the left, along which the operand is repeated. Any element type.

    >>> broadcast(np.float32([1, 2]), (2,))
    array([[1., 2.],
           [1., 2.]], dtype=float32)
    """
    array = as_operand(operand, "broadcast", "operand")
    sizes = static_ints(broadcast_sizes, "broadcast", "broadcast_sizes")
    rules.check_at_least("broadcast", "broadcast_sizes", sizes, 0)
    dims = aval_of(array).dims
    mapping = tuple(range(len(sizes), len(sizes) + len(dims)))
    return apply(BROADCAST_IN_DIM, array, dims=(*sizes, *dims), mapping=mapping)


def expanded(operand: Operand, dims: tuple[Any, ...], mapping: tuple[int, ...]) -> Any:
    """The operand repeated to these dimensions; itself if it has them already, a view of it outside a trace."""
    if aval_of(operand).dims == dims:
        return operand
    if current() is None:
        return _broadcast(np.asarray(operand), dims, mapping)
    return stretched(apply(BROADCAST_IN_DIM, operand, dims=dims, mapping=mapping), operand, mapping)


def stretched(result: Any, operand: Operand, mapping: tuple[int, ...]) -> Any:
    """The result of a broadcast that serves operands of any size: a trace with dynamic dimensions is told so."""
    trace = current()
    if trace is not None and trace.extents is not None:
        sizes = aval_of(operand).dims
        kept = {place for axis, place in enumerate(mapping) if sizes[axis] == aval_of(result).dims[place] != 1}
        trace.extents.stretch(result.node, [axis for axis in range(result.node.aval.rank) if axis not in kept])
    return result


def broadcast_together(
    name: str, operands: Sequence[Operand], classes: str, broadcast_dimensions: Sequence[int] | None
) -> tuple[Any, Any]:
    """Both operands of a binary operation, repeated to their common dimensions.

    DTypeError, ArgumentError and ShapeError in this order.
    """
    lhs, rhs = operands
    types = aval_of(lhs), aval_of(rhs)
    rules.check_class(name, "lhs", types[0], classes)
    rules.check_same_dtype(name, ("lhs", "rhs"), types)
    if broadcast_dimensions is None:
        if types[0].dims == types[1].dims:
            return lhs, rhs
        mapping = None
    else:
        mapping = static_ints(broadcast_dimensions, name, "broadcast_dimensions")
    dims, left, right = rules.joint_dims(name, *types, mapping)
    return expanded(lhs, dims, left), expanded(rhs, dims, right)


# ---- reshape


def _infer_reshape(types: Types, params: Params) -> ArrayType:
    (type,), sizes = types, params["sizes"]
    rules.check_at_least("reshape", "new_sizes", sizes, 0)
    if math.prod(sizes) != type.size:
        raise ShapeError(f"ops.reshape: new_sizes: the number of elements changes; got {got(types)} and {sizes}")
    if type.order == c_order(type.rank):
        return array_type(type.dtype, sizes)
    strides = view_strides(type.shape, type.strides, sizes)
    return array_type(type.dtype, sizes, None if strides is None else order_of(sizes, strides))


def view_strides(shape: tuple[int, ...], strides: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...] | None:
    """Strides of a row-major reshape that needs no copy, None if it needs one.

    Old and new axes are matched in the smallest groups of equal products; the old axes of a group must be one run.
    """
    if 0 in shape:
        return None
    old = [axis for axis in range(len(shape)) if shape[axis] != 1]
    result, done, position = [0] * len(sizes), 0, 0
    while position < len(sizes):
        start, product = position, sizes[position]
        position += 1
        if product == 1:
            continue
        group, run = [old[done]], shape[old[done]]
        done += 1
        while product != run:
            if product < run:
                product *= sizes[position]
                position += 1
            else:
                group.append(old[done])
                run *= shape[old[done]]
                done += 1
        if any(strides[a] != shape[b] * strides[b] for a, b in itertools.pairwise(group)):
            return None
        step = strides[group[-1]]
        for axis in reversed(range(start, position)):
            result[axis] = step
            step *= sizes[axis]
    return tuple(result)


def _reshape(operand: Array, sizes: tuple[int, ...]) -> Array:
    return operand.reshape(sizes)


def _access_reshape(types: Types, params: Params, out: ArrayType) -> Access | None:
    dims, sizes = types[0].shape, params["sizes"]
    targets = [axis for axis, size in enumerate(sizes) if size != 1]
    if [size for size in dims if size != 1] != [sizes[axis] for axis in targets]:
        return None
    places = iter(targets)
    return Access(tuple(AxisMap(None if size == 1 else next(places)) for size in dims))


def _shown_reshape(types: Types, params: Params, out: ArrayType) -> Showing:
    """An index where only axes of one element come and go, whatever the lengths of the others are."""
    dims, sizes = list(types[0].dims), list(params["sizes"])
    if [size for size in dims if size != 1] != [size for size in sizes if size != 1]:
        return Reshaped(tuple(sizes))
    entries: list[Along | int | None] = []
    while dims or sizes:
        stays, goes = dims[-1:] == sizes[-1:], dims[-1:] == [1]
        entries.append(Along() if stays else 0 if goes else None)
        dims, sizes = dims[:-1] if stays or goes else dims, sizes if goes and not stays else sizes[:-1]
    return Indexed(tuple(reversed(entries)))


RESHAPE = register(
    OpDef(
        name="reshape",
        kind=Kind.INDEXING,
        xla_name="Reshape",
        infer=_infer_reshape,
        reference=_reshape,
        access=_access_reshape,
        shown=_shown_reshape,
        flat=True,
        doc="Flattens row-major and refills other dimensions.",
    )
)


def reshape(operand: Any, new_sizes: Sequence[int], *, dimensions: Sequence[int] | None = None) -> Any:
    """The elements in row-major order, refilled into ``new_sizes``; first transposed by ``dimensions``, if given.

    Any element type. Raises ArgumentError for a negative size or no permutation, ShapeError if the number of
    elements would change.

    >>> reshape(np.int8([1, 2, 3, 4]), (2, 2))
    array([[1, 2],
           [3, 4]], dtype=int8)
    """
    array = as_operand(operand, "reshape", "operand")
    sizes = static_ints(new_sizes, "reshape", "new_sizes")
    if dimensions is not None:
        axes = static_ints(dimensions, "reshape", "dimensions")
        rules.check_permutation("reshape", "dimensions", axes, aval_of(array).rank)
        if axes != tuple(range(len(axes))):
            rules.check_at_least("reshape", "new_sizes", sizes, 0)
            array = apply(TRANSPOSE, array, permutation=axes)
    return apply(RESHAPE, array, sizes=sizes)


def collapse(operand: Any, dimensions: Sequence[int]) -> Any:
    """Consecutive ascending dimensions become one, the first of them varying slowest. Any element type.

    Raises ArgumentError for dimensions that are out of range or not consecutive.

    >>> collapse(np.int8([[1, 2], [3, 4]]), (0, 1))
    array([1, 2, 3, 4], dtype=int8)
    """
    array = as_operand(operand, "collapse", "operand")
    axes = static_ints(dimensions, "collapse", "dimensions")
    dims = aval_of(array).dims
    rules.check_increasing("collapse", "dimensions", axes, len(dims))
    if len(axes) > 0 and axes[-1] - axes[0] != len(axes) - 1:
        raise ArgumentError(f"ops.collapse: dimensions: consecutive dimensions are required; got {axes}")
    if len(axes) < 2:
        return apply(RESHAPE, array, sizes=dims)
    shape = aval_of(array).shape
    first, last = axes[0], axes[-1] + 1
    return apply(RESHAPE, array, sizes=(*shape[:first], math.prod(shape[first:last]), *shape[last:]))


# ---- transpose, rev, slice


def _infer_transpose(types: Types, params: Params) -> ArrayType:
    (type,), permutation = types, params["permutation"]
    rules.check_permutation("transpose", "permutation", permutation, type.rank)
    return rules.view_type(type, tuple(type.dims[axis] for axis in permutation), permutation)


def _access_transpose(types: Types, params: Params, out: ArrayType) -> Access:
    permutation = params["permutation"]
    return Access(tuple(AxisMap(permutation.index(axis)) for axis in range(len(permutation))))


TRANSPOSE = register(
    OpDef(
        name="transpose",
        kind=Kind.INDEXING,
        xla_name="Transpose",
        infer=_infer_transpose,
        reference=lambda operand, permutation: operand.transpose(permutation),
        access=_access_transpose,
        shown=lambda types, params, out: Turned(tuple(params["permutation"])),
        doc="Permutes the dimensions.",
    )
)


def transpose(operand: Any, permutation: Sequence[int]) -> Any:
    """Dimension i of the result is dimension ``permutation[i]`` of the operand. Any element type.

    Raises ArgumentError unless it is a permutation of all dimensions.

    >>> transpose(np.int8([[1, 2], [3, 4]]), (1, 0))
    array([[1, 3],
           [2, 4]], dtype=int8)
    """
    array = as_operand(operand, "transpose", "operand")
    return apply(TRANSPOSE, array, permutation=static_ints(permutation, "transpose", "permutation"))


def _infer_rev(types: Types, params: Params) -> ArrayType:
    rules.check_axes("rev", "dimensions", params["axes"], types[0].rank)
    return types[0]


def _access_rev(types: Types, params: Params, out: ArrayType) -> Access:
    maps = (
        AxisMap(axis, -1, size - 1) if axis in params["axes"] else AxisMap(axis)
        for axis, size in enumerate(types[0].shape)
    )
    return Access(tuple(maps))


def _shown_rev(types: Types, params: Params, out: ArrayType) -> Showing:
    sizes = enumerate(types[0].shape)
    return Indexed(tuple(Along(size - 1, -1, size) if axis in params["axes"] else Along() for axis, size in sizes))


REV = register(
    OpDef(
        name="rev",
        kind=Kind.INDEXING,
        xla_name="Rev",
        infer=_infer_rev,
        reference=lambda operand, axes: np.flip(operand, axes),
        access=_access_rev,
        shown=_shown_rev,
        doc="Reverses the order of the elements along some dimensions.",
    )
)


def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """The elements in reverse order along ``dimensions``. Any element type.

    Raises ArgumentError for dimensions that are out of range or repeated.

    >>> rev(np.int8([1, 2, 3]), (0,))
    array([3, 2, 1], dtype=int8)
    """
    array = as_operand(operand, "rev", "operand")
    return apply(REV, array, axes=static_ints(dimensions, "rev", "dimensions"))


def _infer_slice(types: Types, params: Params) -> ArrayType:
    name, (type,) = "slice", types
    start, limit, strides = params["start"], params["limit"], params["strides"]
    for argument, values in (("start_indices", start), ("limit_indices", limit), ("strides", strides)):
        rules.check_length(name, argument, values, type.rank)
    rules.check_at_least(name, "strides", strides, 1)
    bounds = list(zip(start, limit, type.shape, strict=True))
    if any(not 0 <= low <= high <= size for low, high, size in bounds):
        raise ShapeError(
            f"ops.{name}: operand: 0 <= start <= limit <= size is required; "
            f"got start {start}, limit {limit} and {got(types)}"
        )
    dims = tuple(-((low - high) // step) for low, high, step in zip(start, limit, strides, strict=True))
    steps = tuple(step * stride for step, stride in zip(strides, type.strides, strict=True))
    return array_type(type.dtype, dims, order_of(dims, steps))


def _slice(operand: Array, start: Sequence[int], limit: Sequence[int], strides: Sequence[int]) -> Array:
    return operand[tuple(map(builtins.slice, start, limit, strides))]


def _access_slice(types: Types, params: Params, out: ArrayType) -> Access:
    bounds = enumerate(zip(params["strides"], params["start"], strict=True))
    return Access(tuple(AxisMap(axis, step, first) for axis, (step, first) in bounds))


def _shown_slice(types: Types, params: Params, out: ArrayType) -> Showing:
    whole = zip(types[0].shape, out.shape, params["start"], params["strides"], strict=True)
    return Indexed(tuple(Along() if size == count else Along(at, step, count) for size, count, at, step in whole))


SLICE = register(
    OpDef(
        name="slice",
        kind=Kind.INDEXING,
        xla_name="Slice",
        infer=_infer_slice,
        reference=_slice,
        access=_access_slice,
        shown=_shown_slice,
        doc="The elements between static bounds, with steps.",
    )
)


def slice(
    operand: Any,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Any:
    """The elements from ``start_indices`` up to ``limit_indices``, every ``strides``-th one. Any element type.

    Raises ArgumentError for wrong lengths or strides below 1, ShapeError unless 0 <= start <= limit <= size.

    >>> slice(np.int8([0, 1, 2, 3, 4]), (0,), (5,), (2,))
    array([0, 2, 4], dtype=int8)
    """
    name = "slice"
    array = as_operand(operand, name, "operand")
    start = static_ints(start_indices, name, "start_indices")
    limit = static_ints(limit_indices, name, "limit_indices")
    steps = (1,) * len(start) if strides is None else static_ints(strides, name, "strides")
    return apply(SLICE, array, start=start, limit=limit, strides=steps)


# ---- iota


def _infer_iota(types: Types, params: Params) -> ArrayType:
    result = array_type(params["dtype"], params["dims"], ())  # computed where it is read: no memory order of its own
    rules.check_class("iota", "shape", result, "IFC")
    rules.check_axis("iota", "iota_dimension", params["axis"], result.rank)
    rules.check_at_least("iota", "shape", params["dims"], 0)
    return result


def _iota(dims: tuple[int, ...], dtype: Any, axis: int) -> Array:
    shape = tuple(size if d == axis else 1 for d, size in enumerate(dims))
    return np.broadcast_to(convert(np.arange(dims[axis]), np.dtype(dtype)).reshape(shape), dims).copy()


def _element_iota(types: Types, params: Params, out: ArrayType) -> Expr:
    return cast(Index(params["axis"]), out.dtype)


IOTA = register(
    OpDef(
        name="iota",
        kind=Kind.ELEMENTWISE,
        xla_name="Iota",
        infer=_infer_iota,
        reference=_iota,
        element=_element_iota,
        doc="Each element is its own position along one dimension.",
    )
)


def iota(shape: Any, iota_dimension: int) -> Any:
    """The positions 0, 1, 2 ... along ``iota_dimension``, converted from S64 as convert_element_type does.

    Element types: integer, float, complex. Raises DTypeError for PRED, ArgumentError for a bad dimension.

    >>> iota("s32[2,3]", 1)
    array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    described = as_shape(shape, "iota")
    axis = static_int(iota_dimension, "iota", "iota_dimension")
    return apply(IOTA, dims=described.dims, dtype=described.dtype, axis=axis)
