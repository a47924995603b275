"""Histograms and counts: steps between kernels, which NumPy runs."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError, CaptureError, DTypeError
from xjit.ir.context import TracedValue
from xjit.numpy.arrays.joining import rows
from xjit.numpy.arrays.shaping import atleast_2d, transpose
from xjit.numpy.rules.data_dependent import depends
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.static import static_array, static_integer
from xjit.numpy.rules.values import as_value, numpy_errors, shape_of
from xjit.ops.define.core import Operand, apply, dtype_of
from xjit.ops.define.core import Shape as OpsShape
from xjit.ops.for_numpy import numpy_statistics as records
from xjit.ops.whole_arrays.reduce import reduce
from xjit.ops.whole_arrays.runtime_check import require
from xjit.ops.whole_arrays.shape import iota
from xjit.types import BOOL, INT64, dtype_class

_FEW_PAIRS = 1024
"""Numbers times possible values, up to which comparisons cost less than a call of a library."""
_NEGATIVE = "numpy.bincount: 'list' argument must have no negative elements"

_BYTE = np.dtype(np.uint8)


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple[Any, Any]:
    """Count the elements between edges, or the sum of their weights, and the edges.

    ``bins`` is their number, known while tracing, or the edges themselves. Element types: real numbers. Raises
    DTypeError, ArgumentError, DataDependentError for numbers of bins that depend on the elements, and ValueError when
    the program runs for edges that fall and ranges that are not finite.

    >>> histogram(np.array([1.0, 2.0, 2.5]), bins=[0, 2, 3])[0]
    array([1, 2])
    """
    value = _numbers("histogram", a)
    operands: dict[str, Any] = {"a": value}
    params: dict[str, Any] = {"density": bool(density)}
    edges = _bins("histogram", bins)
    (params if isinstance(edges, int) else operands)["bins"] = edges
    if range is not None and isinstance(edges, int):
        for name, end in zip(("range_low", "range_high"), _ends("histogram", range), strict=True):
            (operands if isinstance(end, TracedValue | np.ndarray) else params)[name] = end
    if weights is not None:
        operands["weights"] = as_value(weights, "histogram", "weights")
        if shape_of(operands["weights"]) != shape_of(value):
            raise ArgumentError("numpy.histogram: weights should have the same shape as a.")
    with numpy_errors("histogram", ArgumentError):
        counts, found = apply(records.HISTOGRAM, *operands.values(), names=tuple(operands), **params)
    return counts, edges if isinstance(edges, TracedValue) else found


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of ``histogram`` alone. Raises as ``histogram``."""
    if dtype_class(dtype_of(as_value(a, "histogram_bin_edges"))) == "C":
        raise CaptureError(
            "numpy.histogram_bin_edges: complex numbers are not supported", fix="take their real parts, or sizes"
        )
    return histogram(a, bins, range, None, weights)[1]


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, Any, Any]:
    """Count the points in each part of a plane, as float64, and the edges along both axes.

    ``bins`` is a number or edges for both axes, or a pair of these; ``range`` is known while tracing. Raises as
    ``histogram``.
    """
    points = [as_value(x, "histogram2d", "x"), as_value(y, "histogram2d", "y")]
    if len(shape_of(points[0])) != 1 or shape_of(points[0]) != shape_of(points[1]):
        raise ArgumentError("numpy.histogram2d: x and y must have the same length.")
    pair = bins if isinstance(bins, list | tuple) and len(bins) in (1, 2) else (bins, bins)
    counts, (vertical, horizontal) = histogramdd(points, pair, range, density, weights)
    return counts, vertical, horizontal


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, list[Any]]:
    """Count the points in each part of a space, as float64, and a list of the edges along its axes.

    ``sample`` has a point in each row, or is a sequence of their coordinates. ``bins`` is a number for all axes, or
    one number or edges for each; ``range`` is known while tracing. Raises as ``histogram``.

    >>> histogramdd(np.array([[0.0, 1.0], [2.0, 3.0]]), 2)[0]
    array([[1., 0.],
           [0., 1.]])
    """
    value = _of_numpy("histogramdd", as_value(sample, "histogramdd", "sample"))
    if isinstance(sample, list | tuple) or len(shape_of(value)) != 2:
        value = transpose(atleast_2d(value))
    if len(shape_of(value)) != 2:
        raise ArgumentError(f"numpy.histogramdd: sample: rank 2 is required; got {shape_of(value)}")
    operands: dict[str, Any] = {"sample": value}
    edges = [_bins("histogramdd", one) for one in _for_each_axis(bins, shape_of(value)[1])]
    operands |= {f"edges_{axis}": one for axis, one in enumerate(edges) if not isinstance(one, int)}
    if weights is not None:
        operands["weights"] = as_value(weights, "histogramdd", "weights")
    params = {"counts": tuple(one if isinstance(one, int) else None for one in edges), "density": bool(density)}
    params["range"] = _ranges(range, len(edges))
    with numpy_errors("histogramdd", ArgumentError):
        counts, *found = apply(records.HISTOGRAMDD, *operands.values(), names=tuple(operands), **params)
    return counts, [one if isinstance(one, TracedValue) else own for one, own in zip(edges, found, strict=True)]


def _for_each_axis(bins: Any, rank: int) -> list[Any]:
    if isinstance(bins, TracedValue):
        parts = rows(bins) if bins.shape else [bins] * rank
    elif isinstance(bins, list | tuple) or np.ndim(bins):
        parts = list(bins)
    else:
        parts = [bins] * rank
    if len(parts) != rank:
        raise ArgumentError(
            "numpy.histogramdd: The dimension of bins must be equal to the dimension of the sample x.; "
            f"got {len(parts)} for {rank}"
        )
    return parts


def _ranges(range: Any, rank: int) -> Any:
    """Both ends along each axis, as numbers, or None along those whose ends are those of the points."""
    if range is None:
        return None
    if len(range) != rank:
        raise ArgumentError(f"numpy.histogramdd: range argument must have one entry per dimension; got {len(range)}")
    with numpy_errors("histogramdd", ArgumentError):
        return tuple(None if one is None else _pair(one) for one in range)


def _pair(ends: Any) -> tuple[float, float]:
    low, high = static_array(ends, "histogramdd", "range").tolist()
    return low, high


def _numbers(name: str, a: Any) -> Operand:
    """The elements; truth values count as zeros and ones. CaptureError for types that NumPy itself does not have."""
    value = _of_numpy(name, as_value(a, name))
    return cast(value, _BYTE) if dtype_of(value) == BOOL else value


def _of_numpy(name: str, value: Operand) -> Operand:
    if dtype_of(value).kind not in "biufc":
        raise CaptureError(
            f"numpy.{name}: element type {dtype_of(value)} is not supported", fix="use astype(np.float32) before"
        )
    return value


def _bins(name: str, bins: Any) -> Any:
    """The number of bins, or the edges as an array or a traced value."""
    if isinstance(bins, str):
        depends(f"numpy.{name}: bins", f"the number of bins by the rule {bins!r}", "give a number of bins or edges")
    if isinstance(bins, TracedValue) and bins.shape == ():
        bins = static_integer(bins, name, "bins")
    if not isinstance(bins, TracedValue) and np.ndim(bins) == 0:
        try:
            count = operator.index(bins)
        except TypeError as error:
            raise DTypeError(
                f"numpy.{name}: `bins` must be an integer, a string, or an array; got {bins!r}"
            ) from error
        if count < 1:
            raise ArgumentError(f"numpy.{name}: `bins` must be positive, when an integer; got {count}")
        return count
    edges = as_value(bins, name, "bins")
    if len(shape_of(edges)) != 1 or shape_of(edges)[0] == 0:
        raise ArgumentError(f"numpy.{name}: `bins` must be 1d, when an array; got {shape_of(edges)}")
    return edges


def _ends(name: str, range: Any) -> list[Any]:
    """Both ends of a range: traced ones as operands, numbers as they are."""
    with numpy_errors(name, ArgumentError):
        low, high = range
    return [as_value(end, name, "range") if isinstance(end, TracedValue) else end for end in (low, high)]


def counts_below(x: Any, weights: Any, minlength: Any) -> tuple[Any, Any]:
    """The occurrences of each number below ``minlength``, as int64, or the sum of the weights there, as float64; and
    whether all numbers are below it.

    Raises DTypeError and ArgumentError for the operands, DataDependentError without a ``minlength``, which the shape
    of the counts has to come from, and ValueError when the program runs for negative numbers.
    """
    value = as_value(x, "bincount", "x")
    with numpy_errors("bincount", ArgumentError):
        np.bincount(np.zeros(1, dtype_of(value)))  # releases differ in whether they take uint64
    if len(shape_of(value)) != 1:
        raise ArgumentError(f"numpy.bincount: x: rank 1 is required; got {shape_of(value)}")
    count = static_integer(minlength, "bincount", "minlength")
    if count < 0:
        raise ArgumentError(f"numpy.bincount: 'minlength' must not be negative; got {count}")
    if count == 0:
        depends(
            "numpy.bincount",
            "the length of the result",
            "give minlength=, one more than the largest element there can be",
        )
    if weights is None and 0 < shape_of(value)[0] * count <= _FEW_PAIRS:
        return _compared(value, count)
    extra = [] if weights is None else [_weights(value, as_value(weights, "bincount", "weights"))]
    counts, fits = apply(records.BINCOUNT, value, *extra, minlength=count)
    return counts, fits


def _compared(value: Operand, count: int) -> tuple[Any, Any]:
    """The same of a few numbers, each compared with all below the bound: loops have no call of a library in them."""
    numbers = cast(value, INT64)
    shape = (count, *shape_of(numbers))
    same = ops.eq(ops.broadcast_in_dim(numbers, shape, (1,)), iota(OpsShape(shape, INT64), 0))
    counts = reduce(ops.convert_element_type(same, INT64), np.int64(0), ops.add, [1])
    least, most = (reduce(numbers, np.int64(init), fold, [0]) for init, fold in ((0, ops.min), (-1, ops.max)))
    held = require(counts, ops.ge(least, np.int64(0)), "value", _NEGATIVE)
    return held, ops.lt(most, np.int64(count))


def _weights(value: Operand, weights: Operand) -> Operand:
    if dtype_class(dtype_of(weights)) == "C":
        raise DTypeError(f"numpy.bincount: weights: real numbers are required; got {dtype_of(weights)}")
    if shape_of(weights) != shape_of(value):
        raise ArgumentError("numpy.bincount: The weights and list don't have the same length.")
    return weights
