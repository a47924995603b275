"""NumPy's functions on limited arrays: elementwise ones, reductions, products, and what only moves axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from xjit import ops
from xjit.errors import CaptureError, ShapeError
from xjit.numpy import dispatch
from xjit.numpy.limited.arrays import (
    LimitedArray,
    Sizes,
    aligned,
    elements_of,
    limited,
    made,
    part_at,
    picked,
    sizes_of,
    turned,
    value_of,
)
from xjit.numpy.limited.run_time_integers import Integer, integer, is_same, largest
from xjit.numpy.reducing.axis_reductions import axes_of
from xjit.numpy.rules.promotion import cast, weak_type
from xjit.numpy.rules.values import as_scalar, as_value, shape_of
from xjit.numpy.selecting import indexing
from xjit.ops.dynamic.limited_windows import bound_of, number
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import dtype_class

_FIX = "use an array whose size is known while tracing, such as all of it with np.where"


def refused(name: str) -> CaptureError:
    """The error about a function that does not know arrays of sizes that only the run knows."""
    return CaptureError(f"{name} of an array whose size only the run knows is not supported", fix=_FIX)


# ---- elementwise


def call_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """``ufunc.method(*inputs, **options)`` on arrays of which at least one is limited."""
    name = f"numpy.{ufunc.__name__}"
    if method == "reduce" and len(inputs) == 1:
        of_nothing = None if ufunc.identity is not None else _no_identity(ufunc.__name__)
        return _reduced(lambda *a, **k: dispatch.call_ufunc(ufunc, "reduce", a, k), of_nothing, inputs, options, 0)
    if method == "accumulate" and ufunc in (np.add, np.multiply) and len(inputs) == 1:
        return FUNCTIONS[np.cumsum if ufunc is np.add else np.cumprod](*inputs, **options)
    if method == "outer" and len(inputs) == 2 and ufunc.signature is None:
        left, right = inputs
        return call_ufunc(ufunc, "__call__", (_spread(left, len(sizes_of(right))), right), options)
    if method != "__call__":
        raise refused(f"{name}.{method}")
    if ufunc is np.matmul:
        return matmul(*inputs, **options)
    if ufunc.signature is not None or any(key not in ("dtype", "casting") for key in options):
        raise refused(name)
    return _each(ufunc.__name__, inputs, lambda *values: dispatch.call_ufunc(ufunc, "__call__", values, options))


def _each(name: str, inputs: Sequence[Any], compute: Callable[..., Any]) -> Any:
    """An elementwise function on operands that broadcast; numbers of Python's stay as they are."""
    places = [place for place, value in enumerate(inputs) if not _is_number(value)]
    values, sizes = aligned(name, [inputs[place] for place in places])
    operands = list(inputs)
    for place, value in zip(places, values, strict=True):
        operands[place] = value
    found = compute(*operands)
    return tuple(made(one, sizes) for one in found) if isinstance(found, tuple) else made(found, sizes)


def _is_number(value: Any) -> bool:
    return isinstance(value, bool) or weak_type(value) is not None


def _where(condition: Any, x: Any, y: Any) -> Any:
    return _each("where", (condition, x, y), lambda *values: dispatch.call_function(np.where, values, {}))


def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise refused("numpy.clip with two bounds on one side")
    a_min, a_max = min if a_min is None else a_min, max if a_max is None else a_max
    if a_min is None and a_max is None:
        raise refused("numpy.clip without bounds")
    low = a if a_min is None else call_ufunc(np.maximum, "__call__", (a, a_min), {})
    return low if a_max is None else call_ufunc(np.minimum, "__call__", (low, a_max), {})


def _alone(function: Any) -> Callable[..., Any]:
    """A function of one array, element by element."""

    def call(a: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("copy") is False:
            raise refused(f"numpy.{function.__name__} with copy=False")
        return made(dispatch.call_function(function, (value_of(a), *args), kwargs), sizes_of(a))

    return call


def _real(val: Any) -> Any:
    """The real parts; a view of real numbers."""
    if dtype_class(value_of(val).dtype) == "C":
        return _alone(np.real)(val)
    return picked(part_at(val, [slice(None)] * len(sizes_of(val))))


# ---- reductions


def _no_identity(name: str) -> str:
    """The message about a reduction of nothing, by a ufunc that has no identity."""
    return f"zero-size array to reduction operation {name} which has no identity"


def _reduced(
    compute: Callable[..., Any],
    of_nothing: str | None,
    args: Sequence[Any],
    options: Mapping[str, Any],
    default: Any = None,
) -> Any:
    """A reduction over axes; ``of_nothing`` is the message where there is no element, of one that raises then."""
    given = dict(options)
    array, *rest = args
    sizes = sizes_of(array)
    if rest:
        given["axis"], *others = rest
        if others:
            raise refused("a reduction with positional options")
    unknown = given.keys() - {"axis", "dtype", "keepdims"}
    left_out = all(given[key] is None or given[key] is np._NoValue for key in unknown)
    if not left_out or unknown - {"out", "initial", "where"}:
        raise refused(f"a reduction with {', '.join(sorted(unknown))}=")
    given = {key: given[key] for key in given.keys() - unknown}
    given.setdefault("axis", default)
    axes = axes_of(given["axis"], len(sizes), "reduce")
    value = value_of(array)
    if of_nothing is not None:
        value = _not_empty(value, [sizes[axis] for axis in axes], of_nothing)
    found = compute(value, **given)
    return made(found, _left(sizes, axes, bool(given.get("keepdims"))))


def _left(sizes: Sizes, axes: Sequence[int], keepdims: bool) -> Sizes:
    if keepdims:
        return tuple(integer(1) if axis in axes else size for axis, size in enumerate(sizes))
    return tuple(size for axis, size in enumerate(sizes) if axis not in axes)


def _not_empty(value: Any, sizes: Sequence[Integer], message: str) -> Any:
    """The value, if there are elements."""
    for size in sizes:
        if size.low < 1:
            value = require(value, ops.gt(_operand(size), number(0)), "value", message)
    return value


def _operand(size: Integer) -> Any:
    found = size.operand
    return number(found) if isinstance(found, int) else found


def _reduction(function: Any, of_nothing: str | None = None) -> Callable[..., Any]:
    def call(a: Any, *args: Any, **kwargs: Any) -> Any:
        return _reduced(lambda *x, **k: dispatch.call_function(function, x, k), of_nothing, (a, *args), kwargs)

    return call


def _position(function: Any) -> Callable[..., Any]:
    """The position of an extreme along an axis; that in all of an array has no number along one."""
    along = _reduction(function, f"attempt to get {function.__name__} of an empty sequence")

    def call(a: Any, axis: Any = None, **kwargs: Any) -> Any:
        if axis is None and len(sizes_of(a)) > 1:
            raise refused(f"numpy.{function.__name__} without an axis")
        return along(a, axis, **kwargs)

    return call


def _mean(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    sizes, own = sizes_of(a), value_of(a).dtype
    if dtype is None and own == np.float16:  # added up in numbers of 32 bits, and rounded once
        wide = _mean(a, axis, np.float32, keepdims)
        return made(as_scalar(cast(value_of(wide), own)), sizes_of(wide))
    wide = np.float64 if dtype is None and dtype_class(own) in "IP" else dtype
    total = REDUCTIONS[np.sum](a, axis=axis, dtype=wide, keepdims=bool(keepdims))
    count = elements_of(tuple(sizes[one] for one in axes_of(axis, len(sizes), "mean")))
    found = value_of(total).dtype
    divisor = ops.convert_element_type(_operand(count), found)
    return call_ufunc(np.true_divide, "__call__", (total, _scalar(divisor)), {})


def _scalar(value: Any) -> Any:
    value.scalar = True
    return value


REDUCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _reduction(np.sum),
    np.prod: _reduction(np.prod),
    np.max: _reduction(np.max, _no_identity("maximum")),
    np.min: _reduction(np.min, _no_identity("minimum")),
    np.amax: _reduction(np.max, _no_identity("maximum")),
    np.amin: _reduction(np.min, _no_identity("minimum")),
    np.any: _reduction(np.any),
    np.all: _reduction(np.all),
    np.argmax: _position(np.argmax),
    np.argmin: _position(np.argmin),
    np.count_nonzero: _reduction(np.count_nonzero),
    np.mean: _mean,
}


# ---- products


def matmul(x1: Any, x2: Any) -> Any:
    """The product of vectors and matrices; ShapeError where the inner sizes differ."""
    left, right = sizes_of(x1), sizes_of(x2)
    if not (0 < len(left) < 3 and 0 < len(right) < 3):
        raise refused("numpy.matmul of stacks")
    x, y = _inner("matmul", x1, x2, left[-1], right[0])
    found = dispatch.call_ufunc(np.matmul, "__call__", (x, y), {})
    return made(found, (*left[:-1], *right[1:]))


def _inner(name: str, x: Any, y: Any, columns: Integer, rows: Integer) -> tuple[Any, Any]:
    """Both operands with one bound and one size along the axes that are summed over."""
    xs, ys, a, b = value_of(x), value_of(y), sizes_of(x), sizes_of(y)
    size = columns
    if not columns.equals(rows):
        message = (
            f"numpy.{name}: Input operand 1 has a mismatch in its core dimension 0: its size differs from that of "
            "the last dimension of operand 0"
        )
        if columns.known is not None and rows.known is not None:
            raise ShapeError(message)
        held = require(_operand(columns), is_same(columns, rows), "shape", message)
        size = integer(held).within(max(columns.low, rows.low), min(columns.high, rows.high))
    bound = size.known
    if bound is None:
        bound = bound_of(max(shape_of(as_value(xs, name))[-1], shape_of(as_value(ys, name))[0]))
    return _bounded(as_value(xs, name), a, -1, size, bound), _bounded(as_value(ys, name), b, 0, size, bound)


def _bounded(value: Any, sizes: Sizes, axis: int, size: Integer, bound: int) -> Any:
    """The value with a size and a bound along one axis."""
    axis = normalize_axis_index(axis, len(sizes))
    bounds = list(shape_of(value))
    if bounds[axis] == bound and sizes[axis].equals(size):
        return value
    bounds[axis] = bound
    return limited(value, (*sizes[:axis], size, *sizes[axis + 1 :]), bounds)


def _dot(a: Any, b: Any) -> Any:
    if not sizes_of(a) or not sizes_of(b):
        return call_ufunc(np.multiply, "__call__", (a, b), {})
    return matmul(a, b)


def _outer(a: Any, b: Any) -> Any:
    if len(sizes_of(a)) != 1 or len(sizes_of(b)) != 1:
        raise refused("numpy.outer of matrices")
    return call_ufunc(np.multiply, "__call__", (_spread(a, 1), b), {})


def _spread(value: Any, axes: int) -> Any:
    """The array with so many new axes behind its own."""
    if not isinstance(value, LimitedArray):
        return indexing.getitem(as_value(value, "outer"), (..., *(None,) * axes))
    return picked(part_at(value, (*(slice(None),) * value.ndim, *(None,) * axes)))


def _vdot(a: Any, b: Any) -> Any:
    if dtype_class(value_of(a).dtype) == "C" or len(sizes_of(a)) != 1 or len(sizes_of(b)) != 1:
        raise refused("numpy.vdot")
    return matmul(a, b)


# ---- axes


def transposed(a: Any, axes: Any = None) -> Any:
    """The array with its axes in another order."""
    sizes = sizes_of(a)
    order = (
        tuple(reversed(range(len(sizes))))
        if axes is None
        else tuple(normalize_axis_index(one, len(sizes)) for one in axes)
    )
    if isinstance(a, LimitedArray) and a.part is not None:
        return picked(turned((a.part, sizes), order))
    if isinstance(a, LimitedArray) and order == tuple(range(len(order))):
        return picked(part_at(a, [slice(None)] * len(order)))
    found = dispatch.call_function(np.transpose, (value_of(a), order), {})
    return made(found, tuple(sizes[axis] for axis in order))


def _flip(m: Any, axis: Any = None) -> Any:
    chosen = axes_of(axis, len(sizes_of(m)), "flip")
    return picked(part_at(m, [slice(None, None, -1 if one in chosen else 1) for one in range(len(sizes_of(m)))]))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    if axis is not None or keepdims or dtype_class(value_of(x).dtype) != "F":
        raise refused("numpy.linalg.norm with options")
    if len(sizes_of(x)) == 2 and ord in (None, "fro"):
        squares = call_ufunc(np.multiply, "__call__", (x, x), {})
        return call_ufunc(np.sqrt, "__call__", (REDUCTIONS[np.sum](squares, axis=None),), {})
    if ord is not None or len(sizes_of(x)) != 1:
        raise refused("numpy.linalg.norm with options")
    return call_ufunc(np.sqrt, "__call__", (matmul(x, x),), {})


def _var(a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False) -> Any:
    if dtype is not None or dtype_class(value_of(a).dtype) != "F":
        raise refused("numpy.var of other numbers than floats")
    sizes = sizes_of(a)
    apart = call_ufunc(np.subtract, "__call__", (a, _mean(a, axis, a.dtype, keepdims=True)), {})
    total = REDUCTIONS[np.sum](call_ufunc(np.multiply, "__call__", (apart, apart), {}), axis=axis, keepdims=keepdims)
    count = elements_of(tuple(sizes[one] for one in axes_of(axis, len(sizes), "var"))) - int(ddof)
    divisor = ops.convert_element_type(_operand(largest(count, 0)), value_of(total).dtype)
    return call_ufunc(np.true_divide, "__call__", (total, _scalar(divisor)), {})


def _std(a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False) -> Any:
    return call_ufunc(np.sqrt, "__call__", (_var(a, axis, dtype, ddof=ddof, keepdims=keepdims),), {})


def _cumulative(function: Any) -> Callable[..., Any]:
    """A running reduction along one axis."""

    def call(a: Any, axis: Any = None, dtype: Any = None) -> Any:
        if axis is None and len(sizes_of(a)) > 1:
            raise refused(f"numpy.{function.__name__} without an axis")
        found = dispatch.call_function(
            function, (value_of(a),), {"axis": 0 if axis is None else axis, "dtype": dtype}
        )
        return made(found, sizes_of(a))

    return call


def _like(number: int) -> Callable[..., Any]:
    """An array of one number, of the sizes of another array."""

    def call(a: Any, dtype: Any = None) -> Any:
        value = value_of(a)
        every = dispatch.call_function(np.full_like, (value, number), {"dtype": dtype})
        return made(limited(every, sizes_of(a)), sizes_of(a))

    return call


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **REDUCTIONS,
    **{one: _alone(one) for one in (np.copy, np.imag, np.round, np.nan_to_num)},
    np.real: _real,
    np.where: _where,
    np.flip: _flip,
    np.linalg.norm: _norm,
    np.var: _var,
    np.std: _std,
    np.cumsum: _cumulative(np.cumsum),
    np.cumprod: _cumulative(np.cumprod),
    **dict.fromkeys((np.zeros_like, np.empty_like), _like(0)),
    np.ones_like: _like(1),
    np.clip: _clip,
    np.dot: _dot,
    np.inner: _vdot,
    np.vdot: _vdot,
    np.outer: _outer,
    np.transpose: transposed,
}
"""Functions of limited arrays, by NumPy's."""
