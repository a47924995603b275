"""The methods and attributes of arrays, under their NumPy names, as functions of the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError, CaptureError
from xjit.ir.context import TracedValue
from xjit.numpy.algebra import matmul
from xjit.numpy.arrays import creation, diagonals, shaping, viewing
from xjit.numpy.limited import repeats
from xjit.numpy.reducing import axis_reductions, moments, scans, sorting
from xjit.numpy.rules.promotion import weak_type
from xjit.numpy.rules.values import as_value, as_view, is_scalar, scalar_like, shape_of, with_order
from xjit.numpy.rules.view_strides import column_or_row_major
from xjit.numpy.selecting import choosing, gathering, picking, searching, selection
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import dtype_of
from xjit.types import dtype_class

Method = Callable[..., Any]


def _reshape(x: Any, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
    sizes = shape[0] if len(shape) == 1 else shape
    return shaping.reshape(x, sizes, order, copy=copy)


def _transpose(x: Any, *axes: Any) -> Any:
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
    return shaping.transpose(x, order or None)


def _copy(x: Any, order: str = "C") -> Any:
    return scalar_like(x, creation.copy(x, order))


def _conjugate(x: Any) -> Any:
    real = dtype_of(x).kind in "biuf"
    return x if real and not is_scalar(x) else call(np.conjugate, x)


def _writing(name: str) -> Method:
    def method(x: Any, *arguments: Any, **options: Any) -> Any:
        raise CaptureError(
            f"numpy.ndarray.{name} writes into the array, which is not supported",
            fix="make a new array with np.where, np.full_like, np.sort or np.stack",
        )

    return method


def transposed(x: Any) -> Any:
    """``x.T``: the axes reversed; a view."""
    return shaping.transpose(x)


def matrix_transposed(x: Any) -> Any:
    """``x.mT``: the last two axes exchanged; a view."""
    if len(shape_of(x)) < 2:
        raise ArgumentError("numpy.matrix_transpose: matrix transpose with ndim < 2 is undefined")
    return shaping.swapaxes(x, -1, -2)


def real(x: Any) -> Any:
    """``x.real``: a view of the real parts; real arrays themselves."""
    if weak_type(x) in (int, float):
        return x
    value = as_value(x, "real")
    if dtype_class(dtype_of(value)) != "C":
        return value if not is_scalar(x) else scalar_like(x, value)
    return scalar_like(x, as_view(ops.real(value)))


def imag(x: Any) -> Any:
    """``x.imag``: a view of the imaginary parts; zeros of real arrays, which cannot be written to."""
    kind = weak_type(x)
    if kind in (int, float):
        return kind(0)
    value = as_value(x, "imag")
    if dtype_class(dtype_of(value)) != "C":
        zeros = with_order(creation.zeros_like(value), column_or_row_major(value))
        return scalar_like(x, _frozen(zeros))
    return scalar_like(x, as_view(ops.imag(value)))


def _frozen(value: Any) -> Any:
    if isinstance(value, TracedValue):
        value.frozen = True
    else:
        value.flags.writeable = False
    return value


def angle(z: Any, deg: bool = False) -> Any:
    """``numpy.angle``: the angle of complex numbers in the plane, within pi; of real ones zero or pi."""
    value = as_value(z, "angle")
    parts = (imag(z), real(z)) if dtype_class(dtype_of(value)) == "C" else (0, z)
    radians = call(np.arctan2, *parts)
    return call(np.multiply, radians, 180 / np.pi) if deg else radians


def _round(x: Any, decimals: int = 0, out: Any = None) -> Any:
    return selection.round(x, decimals, out)


def _compress(x: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return picking.compress(condition, x, axis, out)


def _clip(x: Any, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Any:
    return selection.clip(x, min, max, out, **options)


def _refused(name: str, fix: str) -> Method:
    def method(x: Any, *arguments: Any, **options: Any) -> Any:
        raise CaptureError(f"{name} of a traced array needs its values", fix=fix)

    return method


def _nonzero(value: Any) -> Any:
    from xjit.numpy.limited.finding import nonzero

    return nonzero(value)


METHODS: dict[str, Method] = {
    "sum": axis_reductions.sum,
    "prod": axis_reductions.prod,
    "min": axis_reductions.min,
    "max": axis_reductions.max,
    "any": axis_reductions.any,
    "all": axis_reductions.all,
    "mean": moments.mean,
    "var": moments.var,
    "std": moments.std,
    "argmin": axis_reductions.argmin,
    "argmax": axis_reductions.argmax,
    "reshape": _reshape,
    "ravel": shaping.ravel,
    "flatten": shaping.flatten,
    "transpose": _transpose,
    "swapaxes": shaping.swapaxes,
    "squeeze": shaping.squeeze,
    "astype": creation.astype,
    "copy": _copy,
    "clip": _clip,
    "round": _round,
    "dot": matmul.dot,
    "repeat": repeats.repeat,
    "diagonal": diagonals.diagonal,
    "trace": diagonals.trace,
    "compress": _compress,
    "choose": choosing.choose,
    "take": gathering.take,
    "cumsum": scans.cumsum,
    "cumprod": scans.cumprod,
    "conj": _conjugate,
    "conjugate": _conjugate,
    "view": viewing.view,
    **searching.METHODS,
    **sorting.METHODS,
    "nonzero": _nonzero,
    "item": _refused("item", "return the array and take the item outside"),
    "tolist": _refused("tolist", "return the array and convert it outside"),
    "tobytes": _refused("tobytes", "return the array and convert it outside"),
    **{name: _writing(name) for name in ("fill", "put", "sort", "partition", "resize", "setfield")},
}

ATTRIBUTES: dict[str, Method] = {"T": transposed, "mT": matrix_transposed, "real": real, "imag": imag}
