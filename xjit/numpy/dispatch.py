"""Dispatch of NumPy's protocols: a ufunc or function of NumPy called on traced values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xjit.errors import ArgumentError, CaptureError
from xjit.numpy import (
    bessel,
    blocks,
    choosing,
    comparing,
    covariance,
    creation,
    data_dependent,
    diagonals,
    differences,
    evenly_spaced,
    fft,
    flat_positions,
    gathering,
    grids,
    histograms,
    indexing,
    interpolation,
    joining,
    linear,
    linear_algebra,
    matrices,
    methods,
    moments,
    nans,
    packing,
    padding,
    picking,
    polynomial_arithmetic,
    polynomial_fits,
    polynomials,
    products,
    quantiles,
    reductions,
    repeating,
    scans,
    searching,
    selection,
    sequences,
    shaping,
    sorting,
    splitting,
    statistics,
    subscripts,
    turning,
    ufuncs,
)
from xjit.numpy.library_folds import library_fold
from xjit.numpy.values import as_value, refuse, shape_of

Function = Callable[..., Any]

TRACED_FUNCTIONS: dict[Any, Function] = {
    np.sum: reductions.sum,
    np.prod: reductions.prod,
    np.min: reductions.min,
    np.max: reductions.max,
    np.amin: reductions.min,
    np.amax: reductions.max,
    np.any: reductions.any,
    np.all: reductions.all,
    np.argmin: reductions.argmin,
    np.argmax: reductions.argmax,
    np.reshape: shaping.reshape,
    np.ravel: shaping.ravel,
    np.transpose: shaping.transpose,
    np.matrix_transpose: methods.matrix_transposed,
    np.swapaxes: shaping.swapaxes,
    np.moveaxis: shaping.moveaxis,
    np.squeeze: shaping.squeeze,
    np.expand_dims: shaping.expand_dims,
    np.atleast_1d: shaping.atleast_1d,
    np.atleast_2d: shaping.atleast_2d,
    np.atleast_3d: shaping.atleast_3d,
    np.broadcast_to: shaping.broadcast_to,
    np.concatenate: joining.concatenate,
    np.stack: joining.stack,
    np.hstack: joining.hstack,
    np.vstack: joining.vstack,
    np.column_stack: joining.column_stack,
    np.dstack: joining.dstack,
    np.append: joining.append,
    np.cumsum: scans.cumsum,
    np.cumprod: scans.cumprod,
    np.nancumsum: scans.nancumsum,
    np.nancumprod: scans.nancumprod,
    np.where: selection.where,
    np.take: gathering.take,
    np.take_along_axis: gathering.take_along_axis,
    np.select: selection.select,
    np.clip: selection.clip,
    np.round: selection.round,
    np.around: selection.round,
    np.zeros: creation.zeros,
    np.ones: creation.ones,
    np.empty: creation.empty,
    np.full: creation.full,
    np.zeros_like: creation.zeros_like,
    np.ones_like: creation.ones_like,
    np.empty_like: creation.empty_like,
    np.full_like: creation.full_like,
    np.array: creation.array,
    np.asarray: creation.asarray,
    np.asanyarray: creation.asarray,
    np.ascontiguousarray: creation.ascontiguousarray,
    np.asfortranarray: creation.asfortranarray,
    np.copy: creation.copy,
    np.astype: creation.astype,
    np.arange: sequences.arange,
    np.eye: sequences.eye,
    np.identity: sequences.identity,
    np.dot: linear.dot,
    np.real: methods.real,
    np.angle: methods.angle,
    np.imag: methods.imag,
    **flat_positions.FUNCTIONS,
    **moments.FUNCTIONS,
    **nans.FUNCTIONS,
    **statistics.FUNCTIONS,
    **covariance.FUNCTIONS,
    **turning.FUNCTIONS,
    **splitting.FUNCTIONS,
    **repeating.FUNCTIONS,
    **picking.FUNCTIONS,
    **padding.FUNCTIONS,
    **packing.FUNCTIONS,
    **differences.FUNCTIONS,
    **diagonals.FUNCTIONS,
    **grids.FUNCTIONS,
    **polynomials.FUNCTIONS,
    **polynomial_arithmetic.FUNCTIONS,
    **polynomial_fits.FUNCTIONS,
    **searching.FUNCTIONS,
    **sorting.FUNCTIONS,
    **evenly_spaced.FUNCTIONS,
    **histograms.FUNCTIONS,
    **quantiles.FUNCTIONS,
    **fft.FUNCTIONS,
    **linear_algebra.FUNCTIONS,
    **products.FUNCTIONS,
    **subscripts.FUNCTIONS,
    **matrices.FUNCTIONS,
    **choosing.FUNCTIONS,
    **comparing.FUNCTIONS,
    **interpolation.FUNCTIONS,
    **bessel.FUNCTIONS,
    **blocks.FUNCTIONS,
    **data_dependent.FUNCTIONS,
}


# Ufuncs that contract the last axes of stacks.
OF_STACKS: dict[np.ufunc, Function] = {np.matmul: linear.matmul, **products.UFUNCS}


_BUILD = "build the array from its parts with np.where, np.concatenate or np.stack"
_WRITES: frozenset[Any] = frozenset({np.put, np.place, np.copyto, np.putmask, np.put_along_axis, np.fill_diagonal})
"""Functions that write into an array."""


# Functions that NumPy has from release 2.1 on.
TRACED_FUNCTIONS |= {
    getattr(np, name): getattr(scans, name) for name in ("cumulative_sum", "cumulative_prod") if hasattr(np, name)
}


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``ufunc.method(*inputs, **kwargs)`` on traced values.

    Raises CaptureError for a ufunc or method that is not supported.
    """
    options = dict(kwargs)
    outputs = options.pop("out", None)
    if outputs is not None and any(one is not None for one in _as_tuple(outputs)):
        refuse(ufunc.__name__, out=outputs)
    if method == "__call__":
        return OF_STACKS[ufunc](*inputs, **options) if ufunc in OF_STACKS else ufuncs.call(ufunc, *inputs, **options)
    if method == "reduce" and ufunc in reductions.FOLDS:
        return _reduce(ufunc, *inputs, **options)
    if method == "accumulate" and ufunc in scans.ACCUMULATED:
        return scans.accumulate(ufunc, *inputs, **options)
    if method in ("reduce", "accumulate"):
        return library_fold(ufunc, method, *inputs, **options)
    if method == "outer" and ufunc.signature is None:
        return _outer(ufunc, *inputs, **options)
    name = f"numpy.{ufunc.__name__}.{method}"
    if method == "at":
        raise CaptureError(f"{name} writes into an array, which is not supported", fix=_BUILD)
    raise CaptureError(f"{name} is not supported", fix="call it outside of the compiled function")


def _as_tuple(outputs: Any) -> tuple[Any, ...]:
    return outputs if isinstance(outputs, tuple) else (outputs,)


def _reduce(
    ufunc: np.ufunc,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Any:
    name = f"{ufunc.__name__}.reduce"
    refuse(name, out=out)
    return reductions.fold(name, ufunc, array, axis, dtype, keepdims, initial, where)


def _outer(ufunc: np.ufunc, a: Any, b: Any, **options: Any) -> Any:
    """Every element of one operand with every element of the other; numbers have the types of their arrays."""
    if ufunc.nin != 2:
        raise ArgumentError(f"numpy.{ufunc.__name__}.outer: outer product only supported for binary functions")
    x, y = (shaping.as_array(as_value(value, f"{ufunc.__name__}.outer")) for value in (a, b))
    return ufuncs.call(ufunc, indexing.getitem(x, (..., *(None,) * len(shape_of(y)))), y, **options)


def call_function(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``func(*args, **kwargs)`` for a function of NumPy, on traced values.

    Raises CaptureError for a function that is not supported.
    """
    function = TRACED_FUNCTIONS.get(func)
    if function is None:
        module = getattr(func, "__module__", "numpy") or "numpy"
        name = f"{module}.{getattr(func, '__name__', func)}"
        if func in _WRITES:
            raise CaptureError(f"{name} writes into an array, which is not supported", fix=_BUILD)
        raise CaptureError(f"{name} is not supported", fix="call it outside of the compiled function")
    return function(*args, **kwargs)
