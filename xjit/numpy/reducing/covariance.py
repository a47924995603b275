"""Covariances: cov and corrcoef, as products of centred observations."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError, IndexOutOfBoundsError
from xjit.numpy.algebra.matmul import dot
from xjit.numpy.arrays.creation import filled
from xjit.numpy.arrays.diagonals import diag
from xjit.numpy.arrays.joining import join
from xjit.numpy.arrays.shaping import atleast_2d, squeeze, transpose
from xjit.numpy.methods import imag, real
from xjit.numpy.reducing import axis_reductions
from xjit.numpy.reducing.averages import average
from xjit.numpy.rules.promotion import cast, in_place, requested, supported
from xjit.numpy.rules.values import as_value, fresh, shape_of
from xjit.numpy.selecting.indexing import getitem
from xjit.numpy.selecting.selection import clip, where
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import constant, dtype_of
from xjit.ops.dynamic.carried_sizes import check_static
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import FLOAT64, DType, dtype_class


def cov(
    m: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """The covariance of each variable with each other one; variables are rows, or columns without ``rowvar``.

    Operands of rank 2 or less, ``y`` adds variables. Element types: numbers, with float64 unless ``dtype`` is given.
    ``fweights`` count how often an observation occurs, ``aweights`` say how much it matters; ``ddof`` is taken off
    their sum, by default 1, or 0 with ``bias``. Raises ArgumentError for other ranks and for a ``ddof`` that is no
    integer, DTypeError for types that centring cannot store, RuntimeError for weights of another shape; when the
    program runs DTypeError for ``fweights`` that are no integers, ArgumentError for negative weights,
    ZeroDivisionError for weights that sum to zero.

    >>> cov(np.array([[0, 1, 2], [2, 1, 0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise ArgumentError(f"numpy.cov: ddof must be integer; got {ddof}")
    samples = _samples(m, y, rowvar, requested(dtype, "cov"))
    if samples is None:
        return filled((0, 0), np.zeros(()))
    check_static("numpy.cov", (samples,))
    count = shape_of(samples)[1]
    frequencies = None if fweights is None else _frequencies(fweights, count)
    importance = None if aweights is None else _weights(aweights, count, "aweights")
    less = ddof if ddof is not None else 0 if bias else 1
    return _products(samples, _times(frequencies, importance), importance, less)


def _samples(m: Any, y: Any, rowvar: Any, dtype: DType | None) -> Any:
    """The observations of all variables, one variable in each row; None without variables."""
    values = [as_value(m, "cov", "m"), *([] if y is None else [as_value(y, "cov", "y")])]
    for name, value in zip(("m", "y"), values, strict=False):
        if len(shape_of(value)) > 2:
            raise ArgumentError(f"numpy.cov: {name} has more than 2 dimensions")
    found = dtype or supported(np.result_type(*map(dtype_of, values), FLOAT64), "cov")
    rows = [atleast_2d(fresh(cast(value, found))) for value in values]
    if not rowvar and len(shape_of(values[0])) != 1:
        rows[0] = transpose(rows[0])
    if shape_of(rows[0])[0] == 0:
        return None
    if not rowvar and shape_of(rows[-1])[0] != 1 and y is not None:
        rows[1] = transpose(rows[1])
    return join("cov", rows, 0) if y is not None else rows[0]


def _frequencies(weights: Any, count: int) -> Any:
    found = cast(as_value(weights, "cov", "fweights"), FLOAT64)
    whole = call(np.equal, found, call(np.rint, found))
    return _weights(require(found, whole, "type", "numpy.cov: fweights must be integer"), count, "fweights")


def _weights(weights: Any, count: int, argument: str) -> Any:
    found = cast(as_value(weights, "cov", argument), FLOAT64)
    if len(shape_of(found)) > 1:
        raise RuntimeError(f"numpy.cov: cannot handle multidimensional {argument}")
    if not shape_of(found):
        raise IndexOutOfBoundsError(f"numpy.cov: {argument}: rank 1 is required; got a number")
    if shape_of(found)[0] != count:
        raise RuntimeError(f"numpy.cov: incompatible numbers of samples and {argument}")
    present = ops.not_(call(np.less, found, 0))
    return require(found, present, "value", f"numpy.cov: {argument} cannot be negative")


def _times(first: Any, second: Any) -> Any:
    """The product of weights that were given."""
    given = [one for one in (first, second) if one is not None]
    return call(np.multiply, *given) if len(given) == 2 else next(iter(given), None)


def _products(samples: Any, weights: Any, importance: Any, less: Any) -> Any:
    """The covariances; NumPy centres and scales in place, so both results are cast back."""
    mean, total = average(samples, axis=1, weights=weights, returned=True)
    centred = in_place(call(np.subtract, samples, getitem(mean, (slice(None), None))), dtype_of(samples), "cov")
    weighted = centred if weights is None else call(np.multiply, centred, weights)
    products = dot(centred, call(np.conjugate, transpose(weighted)))
    if weights is None:
        with np.errstate(all="ignore"):
            scale = np.true_divide(1, max(shape_of(samples)[1] - less, 0.0))
        # Not in the source of kernels: they serve any number of observations.
        factor = constant(np.asarray(scale), by_reference=True)
    else:
        factor = _inverse(getitem(total, 0), weights, importance, less)
    return squeeze(in_place(call(np.multiply, products, factor), dtype_of(products), "cov"))


def _inverse(total: Any, weights: Any, importance: Any, less: Any) -> Any:
    """One over the sum of the weights less the degrees of freedom that are lost; infinite if none are left."""
    if less and importance is not None:
        squares = axis_reductions.sum(call(np.multiply, weights, importance))
        less = call(np.divide, call(np.multiply, less, squares), total)
    left = call(np.subtract, total, less)
    return where(call(np.less_equal, left, 0), np.inf, call(np.true_divide, 1, left))


def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Any:
    """The correlation of each variable with each other one, within -1 and 1; arguments and errors as of ``cov``.

    >>> corrcoef(np.array([[0, 1, 2], [2, 1, 0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    products = cov(x, y, rowvar, dtype=dtype)
    if not shape_of(products):
        return call(np.divide, products, products)
    deviation = call(np.sqrt, real(diag(products)))
    for divisor in (getitem(deviation, (slice(None), None)), getitem(deviation, (None, slice(None)))):
        products = in_place(call(np.divide, products, divisor), dtype_of(products), "corrcoef")
    if dtype_class(dtype_of(products)) != "C":
        return clip(products, -1, 1)
    return ops.complex(*(clip(part(products), -1, 1) for part in (real, imag)))
