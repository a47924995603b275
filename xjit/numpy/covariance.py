"""Covariances and correlations of variables whose observations stand side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError, DTypeError
from xjit.numpy.creation import filled
from xjit.numpy.diagonals import diag
from xjit.numpy.indexing import getitem
from xjit.numpy.joining import concatenate
from xjit.numpy.linear import dot
from xjit.numpy.methods import real
from xjit.numpy.promotion import cast, requested, supported
from xjit.numpy.selection import clip
from xjit.numpy.shaping import atleast_2d, squeeze, transpose
from xjit.numpy.static import static_array
from xjit.numpy.statistics import average
from xjit.numpy.ufuncs import call
from xjit.numpy.values import as_value, shape_of
from xjit.ops._core import Array, Operand, dtype_of
from xjit.types import FLOAT64, DType, dtype_class


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """``numpy.cov``: the mean of products of distances from the means, of each two variables.

    Variables are rows, or columns if not ``rowvar``; element types: at least float64. Weights of observations have to
    be known while tracing. Raises ArgumentError for more than two dimensions and for weights that do not fit,
    DTypeError, CaptureError for traced weights.

    >>> cov(np.array([[0.0, 2.0], [2.0, 0.0]]))
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise ArgumentError(f"numpy.cov: ddof must be integer; got {ddof}")
    parts = [as_value(m, "cov", "m")] + ([] if y is None else [as_value(y, "cov", "y")])
    for name, part in zip("my", parts, strict=False):
        if len(shape_of(part)) > 2:
            raise ArgumentError(f"numpy.cov: {name} has more than 2 dimensions")
    found = requested(dtype, "cov") or supported(np.result_type(*map(dtype_of, parts), FLOAT64), "cov")
    rows = _variables(parts, rowvar, found)
    if rows is None:
        return filled((0, 0), np.zeros((), FLOAT64))
    if ddof is None:
        ddof = 1 if bias == 0 else 0
    return _products(rows, _Weights(fweights, aweights, shape_of(rows)[1]), ddof)


def _variables(parts: list[Operand], rowvar: bool, dtype: DType) -> Any:
    """All variables as rows; None if there are none."""
    rows: list[Any] = [atleast_2d(cast(part, dtype)) for part in parts]
    for place, part in enumerate(parts):
        turned = len(shape_of(part)) != 1 if place == 0 else shape_of(rows[place])[0] != 1
        if not rowvar and turned:
            rows[place] = transpose(rows[place])
    if shape_of(rows[0])[0] == 0:
        return None
    return rows[0] if len(rows) == 1 else concatenate(rows, 0)


class _Weights:
    """Frequencies and importances of observations; ``product`` of them, None without any."""

    def __init__(self, fweights: Any, aweights: Any, count: int) -> None:
        frequencies, self.importances = (
            None if given is None else _checked(given, name, count)
            for name, given in (("fweights", fweights), ("aweights", aweights))
        )
        both = [one for one in (frequencies, self.importances) if one is not None]
        self.count = count
        self.product: Array | None = np.prod(both, axis=0) if both else None

    def degrees(self, ddof: Any) -> float:
        """What the sum of products is divided by; zero if there is nothing left."""
        if self.product is None:
            return max(float(self.count - ddof), 0.0)
        total = np.sum(self.product)
        share = 1 if self.importances is None or ddof == 0 else np.sum(self.product * self.importances) / total
        return max(float(total - ddof * share), 0.0)


def _checked(weights: Any, name: str, count: int) -> Array:
    found = static_array(weights, "cov", name).astype(FLOAT64)
    if found.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if name == "fweights" and not np.all(found == np.around(found)):
        raise TypeError("fweights must be integer")
    if found.shape[0] != count:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if np.any(found < 0):
        raise ArgumentError(f"numpy.cov: {name} cannot be negative")
    return found


def _products(rows: Any, weights: _Weights, ddof: Any) -> Any:
    middle = average(rows, axis=1, weights=weights.product)
    apart = _in_place(np.subtract, rows, getitem(middle, (slice(None), None)))
    weighted = apart if weights.product is None else call(np.multiply, apart, weights.product)
    sums = dot(apart, call(np.conjugate, transpose(weighted)))
    with np.errstate(all="ignore"):
        scale = np.true_divide(1, weights.degrees(ddof))
    return squeeze(_in_place(np.multiply, sums, scale))


def _in_place(ufunc: np.ufunc, value: Any, other: Any) -> Any:
    """As an in-place operator of NumPy computes it: in the type of both, kept in that of the first."""
    result, dtype = call(ufunc, value, other), dtype_of(value)
    if not np.can_cast(dtype_of(result), dtype, "same_kind"):
        raise DTypeError(f"numpy.cov: dtype: no type that holds fractions; got {dtype}")
    return cast(result, dtype)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """``numpy.corrcoef``: covariances over the square roots of both variances, within -1 and 1; one of one variable.

    Element types and errors as in ``cov``.

    >>> corrcoef(np.array([[0.0, 2.0], [2.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    products = cov(x, y, rowvar, dtype=dtype)
    if not shape_of(products):
        return call(np.divide, products, products)
    spread = call(np.sqrt, real(diag(products)))
    for index in ((slice(None), None), (None, slice(None))):
        products = _in_place(np.divide, products, getitem(spread, index))
    if dtype_class(dtype_of(products)) != "C":
        return clip(products, -1, 1)
    return ops.complex(*(clip(of(products), -1, 1) for of in (ops.real, ops.imag)))


FUNCTIONS: dict[Any, Any] = {np.cov: cov, np.corrcoef: corrcoef}
