"""Polynomials of least squares: polyfit, by LAPACK's solver on columns of equal length."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.errors import ArgumentError, CaptureError
from xjit.ir.context import TracedValue
from xjit.numpy.algebra.linear_algebra import inv, lstsq
from xjit.numpy.algebra.matmul import dot
from xjit.numpy.algebra.outer_products import outer
from xjit.numpy.analysis.polynomials import vander
from xjit.numpy.arrays.shaping import transpose
from xjit.numpy.reducing import axis_reductions
from xjit.numpy.rules.promotion import in_place
from xjit.numpy.rules.values import as_scalar, as_value, shape_of
from xjit.numpy.selecting.indexing import getitem
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, dtype_of
from xjit.ops.whole_arrays.runtime_check import warned

_COLUMN = (slice(None), None)


def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False) -> Any:
    """The coefficients of the polynomial of a degree nearest to the points, that of the highest power first.

    ``x`` of rank 1, ``y`` of rank 1 or 2: one polynomial for each column. Element types: numbers that LAPACK has,
    integers as float64. ``w`` weighs the distances. With ``full`` also the sums of their squares, the rank, the
    singular values and ``rcond``, below which these count as zero; with ``cov`` the covariances of the coefficients.
    Warns of columns that are not independent when the program runs, and raises ArgumentError there where such have no
    sums or covariances. Raises ArgumentError for a negative degree, TypeError for other ranks and sizes, CaptureError
    for more than 64 coefficients.

    >>> polyfit(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]), 1).round(6)
    array([2., 1.])
    """
    order = int(deg) + 1
    abscissas, values = (call(np.add, as_value(one, "polyfit", name), 0.0) for one, name in ((x, "x"), (y, "y")))
    _check(abscissas, values, deg)
    if isinstance(rcond, TracedValue):
        raise CaptureError("numpy.polyfit: rcond: a number known while tracing is required")
    bound = shape_of(abscissas)[0] * np.finfo(dtype_of(abscissas)).eps if rcond is None else rcond
    columns, wanted = _weighted(vander(abscissas, order), values, w)
    scale = call(np.sqrt, axis_reductions.sum(call(np.multiply, columns, columns), axis=0))
    columns = in_place(call(np.divide, columns, scale), dtype_of(columns), "polyfit")
    solution, residuals, rank, singular = lstsq(columns, wanted, float(bound))
    fitted = transpose(call(np.divide, transpose(solution), scale))
    if full:
        return fitted, residuals, rank, singular, as_scalar(np.asarray(bound)) if rcond is None else rcond
    fitted = warned(fitted, call(np.equal, rank, order), "rank", "Polyfit may be poorly conditioned")
    return (fitted, _covariances(columns, scale, residuals, values, cov)) if cov else fitted


def _check(x: Operand, y: Operand, deg: Any) -> None:
    if deg < 0:
        raise ArgumentError(f"numpy.polyfit: expected deg >= 0; got {deg}")
    if len(shape_of(x)) != 1:
        raise TypeError("numpy.polyfit: expected 1D vector for x")
    if shape_of(x)[0] == 0:
        raise TypeError("numpy.polyfit: expected non-empty vector for x")
    if len(shape_of(y)) not in (1, 2):
        raise TypeError("numpy.polyfit: expected 1D or 2D array for y")
    if shape_of(x)[0] != shape_of(y)[0]:
        raise TypeError("numpy.polyfit: expected x and y to have same length")


def _weighted(columns: Any, values: Any, weights: Any) -> tuple[Any, Any]:
    """Both sides of the equations, each equation times its weight."""
    if weights is None:
        return columns, values
    found = call(np.add, as_value(weights, "polyfit", "w"), 0.0)
    if len(shape_of(found)) != 1:
        raise TypeError("numpy.polyfit: expected a 1-d array for weights")
    if shape_of(found)[0] != shape_of(values)[0]:
        raise TypeError("numpy.polyfit: expected w and y to have the same length")
    column = getitem(found, _COLUMN)
    sides = ((columns, column), (values, column if len(shape_of(values)) == 2 else found))
    left, right = (in_place(call(np.multiply, side, by), dtype_of(side), "polyfit") for side, by in sides)
    return left, right


def _covariances(columns: Any, scale: Any, residuals: Any, values: Any, kind: Any) -> Any:
    """The covariances of the coefficients, for each column of values if there are several."""
    (count, order), factor = shape_of(columns), 1
    base = inv(dot(transpose(columns), columns))
    base = in_place(call(np.divide, base, outer(scale, scale)), dtype_of(base), "polyfit")
    if not (isinstance(kind, str) and kind == "unscaled"):
        if count <= order:
            raise ArgumentError(
                "numpy.polyfit: the number of data points must exceed order to scale the covariance matrix"
            )
        factor = call(np.divide, residuals, count - order)
    return call(np.multiply, base if len(shape_of(values)) == 1 else getitem(base, (..., None)), factor)
