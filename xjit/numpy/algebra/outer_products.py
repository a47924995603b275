"""Products of vectors, matrices and stacks of them: inner, outer, vdot, tensordot, kron, cross, vecdot."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from xjit import ops
from xjit.errors import ArgumentError
from xjit.numpy.algebra.contractions import Labelled, contracted
from xjit.numpy.algebra.matmul import scaled
from xjit.numpy.arrays.joining import join
from xjit.numpy.arrays.shaping import as_array, expand_dims, moveaxis, ravel, reshape
from xjit.numpy.rules.promotion import cast, loop_types, requested, result_type
from xjit.numpy.rules.static import hollow, miniatures, static_array
from xjit.numpy.rules.values import as_scalar, as_value, fresh, numpy_errors, refuse, shape_of, with_order
from xjit.numpy.selecting.indexing import getitem
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, dtype_of
from xjit.types import FLOAT32, NARROW_FLOATS, dtype_class, order_of


def inner(a: Any, b: Any, /) -> Any:
    """Sums of products over the last axes of both; the product, if one has rank 0.

    Any element types, promoted together. Raises ArgumentError for sizes that differ.

    >>> inner(np.array([1, 2]), np.array([3, 4]))
    np.int64(11)
    """
    x, y = as_value(a, "inner"), as_value(b, "inner")
    with numpy_errors("inner", ArgumentError):
        np.inner(*miniatures(x, y))
    if not shape_of(x) or not shape_of(y):
        return as_scalar(scaled(as_array(x), as_array(y)))
    last = (len(shape_of(x)) - 1,), (len(shape_of(y)) - 1,)
    return as_scalar(_contraction(x, y, last, "inner"))


def _contraction(x: Operand, y: Operand, axes: tuple[tuple[int, ...], tuple[int, ...]], name: str) -> Any:
    """Sums of products over paired axes; vectors of all axes are multiplied and summed in one loop."""
    dtype = result_type(x, y, name=name)
    working = FLOAT32 if dtype in NARROW_FLOATS else dtype
    one = Labelled(cast(x, working), _labels(x, axes[0], "x"))
    other = Labelled(cast(y, working), _labels(y, axes[1], "y"))
    kept = [label for label in (*one.labels, *other.labels) if isinstance(label, tuple)]
    return cast(contracted(one, other, kept).value, dtype)


def _labels(value: Operand, over: tuple[int, ...], side: str) -> tuple[Any, ...]:
    return tuple(over.index(axis) if axis in over else (side, axis) for axis in range(len(shape_of(value))))


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """All products of an element of one with an element of the other, both flattened.

    Any element types, promoted together.

    >>> outer([1, 2], np.array([3, 4]))
    array([[3, 4],
           [6, 8]])
    """
    refuse("outer", out=out)
    x, y = ravel(as_value(a, "outer")), ravel(as_value(b, "outer"))
    return call(np.multiply, expand_dims(x, 1), expand_dims(y, 0))


def vdot(a: Any, b: Any, /) -> Any:
    """The sum of all products, the first operand conjugated, both flattened.

    Any element types, promoted together. Raises ArgumentError for different numbers of elements.

    >>> vdot(np.array([1j]), np.array([2j]))
    np.complex128(2+0j)
    """
    x, y = ravel(as_value(a, "vdot")), ravel(as_value(b, "vdot"))
    with numpy_errors("vdot", ArgumentError):
        np.vdot(*miniatures(x, y))
    return as_scalar(_contraction(_conjugated(x), y, ((0,), (0,)), "vdot"))


def _conjugated(value: Operand) -> Operand:
    found: Operand = ops.conj(value) if dtype_class(dtype_of(value)) == "C" else value
    return found


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Sums of products over axes of one paired with axes of the other: the last and the first ones, or those given.

    Any element types, promoted together. Raises ArgumentError for axes that are given twice or differ in size,
    IndexOutOfBoundsError for axes out of range.

    >>> tensordot(np.ones((2, 3)), np.ones((3, 4)), 1).shape
    (2, 4)
    """
    x, y = (as_array(as_value(value, "tensordot")) for value in (a, b))
    judge: Any = np.tensordot
    with numpy_errors("tensordot", ArgumentError):
        judge(*miniatures(x, y), axes)
    left, right = _paired_axes(axes)
    pairs = tuple(axis % len(shape_of(x)) for axis in left), tuple(axis % len(shape_of(y)) for axis in right)
    return with_order(*_row_major(_contraction(x, y, pairs, "tensordot")))


def _paired_axes(axes: Any) -> tuple[list[int], list[int]]:
    if np.ndim(axes) == 0:
        count = int(axes)
        return list(range(-count, 0)), list(range(count))
    left, right = (np.atleast_1d(static_array(part, "tensordot", "axes")).tolist() for part in axes)
    return left, right


def _row_major(value: Any) -> tuple[Any, tuple[int, ...]]:
    return value, tuple(range(len(shape_of(value))))


def kron(a: Any, b: Any) -> Any:
    """The Kronecker product: each element of the first times the whole of the second, as blocks.

    Any element types, promoted together.

    >>> kron([1, 10], np.array([1, 2]))
    array([ 1,  2, 10, 20])
    """
    x, y = as_array(as_value(a, "kron")), as_array(as_value(b, "kron"))
    if not shape_of(x) and not shape_of(y):
        return call(np.multiply, x, y)
    rank = max(len(shape_of(x)), len(shape_of(y)))
    left, right = ((1,) * (rank - len(shape_of(value))) + shape_of(value) for value in (x, y))
    blocks = ops.reshape(x, tuple(size for n in left for size in (n, 1)))
    inside = ops.reshape(y, tuple(size for n in right for size in (1, n)))
    return fresh(reshape(call(np.multiply, blocks, inside), tuple(m * n for m, n in zip(left, right, strict=True))))


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    """The vector product along one axis of each: of three components, or of two, whose third one is zero.

    Element types: numbers, promoted together. Raises ArgumentError for other sizes, AxisError, ShapeError for stacks
    that do not fit.

    >>> cross([1, 0, 0], np.array([0, 1, 0]))
    array([0, 0, 1])
    """
    if axis is not None:
        axisa, axisb, axisc = (axis,) * 3
    x, y = as_array(as_value(a, "cross")), as_array(as_value(b, "cross"))
    if not shape_of(x) or not shape_of(y):
        raise ArgumentError("numpy.cross: At least one array has zero dimension")
    with numpy_errors("cross"):
        first = normalize_axis_index(axisa, len(shape_of(x)), "axisa")
        second = normalize_axis_index(axisb, len(shape_of(y)), "axisb")
    x, y = moveaxis(x, first, -1), moveaxis(y, second, -1)
    if shape_of(x)[-1] not in (2, 3) or shape_of(y)[-1] not in (2, 3):
        raise ArgumentError("numpy.cross: incompatible dimensions for cross product (dimension must be 2 or 3)")
    if 2 in (shape_of(x)[-1], shape_of(y)[-1]):
        _check_planes(shape_of(x)[-1], shape_of(y)[-1])
    with numpy_errors("cross"):
        stack = np.broadcast(hollow(x)[..., 0], hollow(y)[..., 0]).shape
        vectors = 3 in (shape_of(x)[-1], shape_of(y)[-1])
        place = normalize_axis_index(axisc, len(stack) + 1, "axisc") if vectors else 0
    dtype = np.promote_types(dtype_of(x), dtype_of(y))
    found = _components(cast(x, dtype), cast(y, dtype))
    if not vectors:
        return with_order(*_row_major(as_array(found[-1])))
    return moveaxis(join("cross", [expand_dims(with_order(*_row_major(one)), -1) for one in found], -1), -1, place)


def _check_planes(first: int, second: int) -> None:
    """Raises the error that the installed NumPy has for vectors of two components; it has none before 2.5."""
    with numpy_errors("cross", ArgumentError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.cross(np.zeros(first), np.zeros(second))


def _components(x: Operand, y: Operand) -> list[Any]:
    """The components, with zero for a third one that is missing, in NumPy's order of operations."""
    a, b = ([getitem(value, (..., k)) for k in range(shape_of(value)[-1])] for value in (x, y))
    last = call(np.subtract, call(np.multiply, a[0], b[1]), call(np.multiply, a[1], b[0]))
    if len(a) == 2 and len(b) == 2:
        return [last]
    if len(a) == 2:
        return [call(np.multiply, a[1], b[2]), call(np.negative, call(np.multiply, a[0], b[2])), last]
    if len(b) == 2:
        return [call(np.negative, call(np.multiply, a[2], b[1])), call(np.multiply, a[2], b[0]), last]
    first = call(np.subtract, call(np.multiply, a[1], b[2]), call(np.multiply, a[2], b[1]))
    second = call(np.subtract, call(np.multiply, a[2], b[0]), call(np.multiply, a[0], b[2]))
    return [first, second, last]


# ---- the ufuncs of vectors and matrices besides matmul


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1, keepdims: bool = False, **options: Any) -> Any:
    """Sums of products along one axis, the first operand conjugated; the other axes broadcast.

    Any element types, promoted together. Raises ArgumentError for sizes that differ, AxisError.

    >>> vecdot(np.ones((2, 3)), np.arange(3.0))
    array([3., 3.])
    """
    ufunc: Any = np.vecdot
    x, y, judged = _stacks(ufunc, x1, x2, options, axis=axis, keepdims=keepdims)
    x, y = moveaxis(x, axis, -1), moveaxis(y, axis, -1)
    result = _stacked(_conjugated(x), y, ("n",), ("n",), ())
    return as_scalar(
        expand_dims(result, axis) if keepdims else with_order(result, order_of(judged.shape, judged.strides))
    )


def matvec(x1: Any, x2: Any, /, **options: Any) -> Any:
    """Products of (stacks of) matrices with (stacks of) vectors, which broadcast. Raises as ``vecdot``."""
    x, y, judged = _stacks(_ufunc("matvec"), x1, x2, options)
    result = _stacked(x, y, ("m", "n"), ("n",), ("m",))
    return with_order(result, order_of(judged.shape, judged.strides))


def vecmat(x1: Any, x2: Any, /, **options: Any) -> Any:
    """Products of (stacks of) vectors, conjugated, with (stacks of) matrices. Raises as ``vecdot``."""
    x, y, judged = _stacks(_ufunc("vecmat"), x1, x2, options)
    result = _stacked(_conjugated(x), y, ("n",), ("n", "m"), ("m",))
    return with_order(result, order_of(judged.shape, judged.strides))


def _ufunc(name: str) -> Any:
    return getattr(np, name)


def _stacks(ufunc: Any, x1: Any, x2: Any, options: dict[str, Any], **judged: Any) -> tuple[Any, Any, Any]:
    """Both operands in the element type of the ufunc's loop, and a small result that shows the memory order."""
    dtype, casting = options.pop("dtype", None), options.pop("casting", "same_kind")
    refuse(ufunc.__name__, **{key: value for key, value in options.items() if key != "subok"})
    values = [as_array(as_value(value, ufunc.__name__)) for value in (x1, x2)]
    loop = loop_types(ufunc, tuple(map(dtype_of, values)), requested(dtype, ufunc.__name__), casting)
    x, y = (cast(value, found) for value, found in zip(values, loop, strict=False))
    with numpy_errors(ufunc.__name__, ArgumentError):
        return x, y, np.asarray(ufunc(*miniatures(x, y), **judged))


def _stacked(x: Operand, y: Operand, left: tuple[str, ...], right: tuple[str, ...], out: tuple[str, ...]) -> Any:
    """The contraction over ``n`` of stacks whose last axes have these labels."""
    dtype = dtype_of(x)
    working = FLOAT32 if dtype in NARROW_FLOATS else dtype
    stack = np.broadcast_shapes(shape_of(x)[: -len(left)], shape_of(y)[: -len(right)])
    one, other = (_stack_labelled(cast(value, working), labels, stack) for value, labels in ((x, left), (y, right)))
    kept = [label for label in (*range(-len(stack), 0), *out) if label in one.labels or label in other.labels]
    found = contracted(one, other, kept)
    missing = tuple(1 if k not in found.labels else found.sizes[k] for k in (*range(-len(stack), 0), *out))
    places = tuple(found.labels.index(label) for label in kept)
    return cast(ops.reshape(ops.transpose(found.value, places), missing), dtype)


def _stack_labelled(value: Operand, labels: tuple[str, ...], stack: tuple[int, ...]) -> Labelled:
    """Without the axes of size one among those of the stack."""
    own = shape_of(value)
    depth = len(own) - len(labels)
    kept = [axis for axis in range(depth) if own[axis] != 1]
    core = own[depth:]
    names = (*(axis - depth for axis in kept), *labels)
    return Labelled(ops.reshape(value, (*(own[axis] for axis in kept), *core)), names)


UFUNCS: dict[Any, Callable[..., Any]] = {np.vecdot: vecdot}
UFUNCS |= {_ufunc(name): own for name, own in {"matvec": matvec, "vecmat": vecmat}.items() if hasattr(np, name)}
