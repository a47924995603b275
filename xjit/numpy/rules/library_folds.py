"""Folds of ufuncs that no kernel computes: NumPy runs them between kernels, in its own order."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from xjit.errors import ArgumentError, CaptureError
from xjit.ir.context import TracedValue
from xjit.numpy.rules.values import as_scalar, as_value, numpy_errors, refuse, shape_of
from xjit.ops.define.core import apply
from xjit.ops.for_numpy.numpy_ufunc import fold_of, pieces_of


def library_fold(ufunc: np.ufunc, method: str, array: Any, *axis: Any, **options: Any) -> Any:
    """``ufunc.reduce`` or ``ufunc.accumulate`` as a library step; arguments as in NumPy, known while tracing.

    Raises CaptureError for ufuncs of the program's own, ``where`` and traced arguments, and what NumPy raises.

    >>> library_fold(np.subtract, "reduce", np.array([10, 3, 2]))
    np.int64(5)
    """
    name = f"{ufunc.__name__}.{method}"
    record = fold_of(ufunc, method)
    if record is None:
        raise CaptureError(f"numpy.{name} is not supported", fix="call it outside of the compiled function")
    value = as_value(array, name)
    if len(axis) > 1:
        raise CaptureError(f"numpy.{name}: arguments after axis are given by name", fix="write dtype=...")
    params = _known(name, {**options, **({"axis": axis[0]} if axis else {})})
    with numpy_errors(name, ArgumentError):
        return as_scalar(apply(record, value, **params))


def library_pieces(ufunc: np.ufunc, array: Any, indices: Any, axis: Any = 0, dtype: Any = None) -> Any:
    """``ufunc.reduceat`` as a library step; axis and element type are known while tracing.

    Raises CaptureError for ufuncs of the program's own, what NumPy raises, and IndexOutOfBoundsError when the program
    runs.

    >>> library_pieces(np.add, np.array([1, 2, 3]), np.array([0, 2]))
    array([3, 3])
    """
    name = f"{ufunc.__name__}.reduceat"
    record = pieces_of(ufunc)
    if record is None:
        raise CaptureError(f"numpy.{name} is not supported", fix="call it outside of the compiled function")
    value, positions = as_value(array, name), as_value(indices, name, "indices")
    params = _known(name, {"dtype": dtype} if dtype is not None else {})
    with numpy_errors(name, ArgumentError):
        params["axis"] = normalize_axis_index(operator.index(axis), len(shape_of(value)))
        return apply(record, value, positions, **params)


def _known(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that say something, as static parameters."""
    refuse(name, out=options.get("out"), where=None if options.get("where", True) is True else "given")
    given = {key: value for key, value in options.items() if key not in ("out", "where") and value is not np._NoValue}
    for key, value in given.items():
        if isinstance(value, TracedValue):
            raise CaptureError(f"numpy.{name}: {key} must be known while tracing", fix="pass a Python number")
    if given.get("dtype") is not None:
        given["dtype"] = np.dtype(given["dtype"])
    return given
