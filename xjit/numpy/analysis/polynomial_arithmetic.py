"""Polynomials as lines of coefficients, that of the highest power first: sums, products, derivatives, from zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.errors import ArgumentError, CaptureError
from xjit.numpy.analysis.polynomials import check_terms, convolve
from xjit.numpy.arrays.creation import filled
from xjit.numpy.arrays.joining import join
from xjit.numpy.arrays.shaping import atleast_1d
from xjit.numpy.rules.data_dependent import depends, known_array
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.values import as_value, constant, fresh, shape_of
from xjit.numpy.selecting.indexing import getitem
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, dtype_of
from xjit.types import dtype_class


def _coefficients(value: Any, name: str, argument: str) -> Any:
    if isinstance(value, np.poly1d):
        raise CaptureError(
            f"numpy.{name}: {argument}: poly1d objects are not supported", fix=f"pass the coefficients: {argument}.c"
        )
    return as_value(value, name, argument)


def polyadd(a1: Any, a2: Any) -> Any:
    """The sum of two polynomials: zeros stand before the shorter one.

    Element types: numbers, promoted together. Raises ShapeError for other ranks than one that do not fit,
    CaptureError for poly1d objects.

    >>> polyadd(np.array([1, 2]), [9, 5, 4])
    array([9, 6, 6])
    """
    return _combined(np.add, a1, a2, "polyadd")


def polysub(a1: Any, a2: Any) -> Any:
    """The difference of two polynomials; as ``polyadd``, and raises DTypeError for truth values.

    >>> polysub(np.array([1, 2]), [9, 5, 4])
    array([-9, -4, -2])
    """
    return _combined(np.subtract, a1, a2, "polysub")


def _combined(ufunc: np.ufunc, a1: Any, a2: Any, name: str) -> Any:
    left, right = (
        atleast_1d(fresh(_coefficients(one, name, argument))) for one, argument in ((a1, "a1"), (a2, "a2"))
    )
    missing = shape_of(right)[0] - shape_of(left)[0]
    return call(ufunc, _lengthened(left, missing, name), _lengthened(right, -missing, name))


def _lengthened(line: Operand, count: int, name: str) -> Any:
    """With zeros before it, if there are any to be put there."""
    return join(name, [filled((count,), np.zeros((), dtype_of(line))), line], 0) if count > 0 else line


def polymul(a1: Any, a2: Any) -> Any:
    """The product of two polynomials without their leading zeros, which have to be known for that.

    Raises ArgumentError for other ranks than one, DataDependentError for coefficients not known while tracing.

    >>> polymul([1, 2], [0, 1, 3])
    array([1, 5, 6])
    """
    factors = [_coefficients(one, "polymul", argument) for one, argument in ((a1, "a1"), (a2, "a2"))]
    if any(len(shape_of(one)) > 1 for one in factors):
        raise ArgumentError("numpy.polymul: Polynomial must be 1d only.")
    fix = "use np.convolve, which keeps leading zeros"
    found = [known_array(one, "polymul", "coefficients without leading zeros", fix) for one in factors]
    return constant(np.asarray(np.polymul(*found)))


def polyder(p: Any, m: Any = 1) -> Any:
    """The m-th derivative. Element types: numbers, promoted with int64.

    Raises ArgumentError for a negative order, TypeError for rank 0.

    >>> polyder(np.array([1, 1, 1, 1]))
    array([3, 2, 1])
    """
    value, order = _coefficients(p, "polyder", "p"), int(m)
    if order < 0:
        raise ArgumentError("numpy.polyder: Order of derivative must be positive (see polyint)")
    _length(value, "polyder")
    for _ in range(order):
        value = call(np.multiply, getitem(value, slice(-1)), np.arange(_length(value, "polyder") - 1, 0, -1))
    return value


def polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    """The m-th antiderivative, with the constants ``k`` of integration: one for all, or m of them.

    Element types: numbers; integers count as float64. Raises ArgumentError for a negative order and too few
    constants, TypeError for rank 0.

    >>> polyint(np.array([3, 2, 1]))
    array([1., 1., 1., 0.])
    """
    value, order = _coefficients(p, "polyint", "p"), int(m)
    if order < 0:
        raise ArgumentError("numpy.polyint: Order of integral must be positive (see polyder)")
    ends = atleast_1d(np.zeros(order) if k is None else fresh(as_value(k, "polyint", "k")))
    if shape_of(ends)[0] == 1 and order > 1:
        ends = call(np.multiply, getitem(ends, 0), np.ones(order))
    if shape_of(ends)[0] < order:
        raise ArgumentError("numpy.polyint: k must be a scalar or a rank-1 array of length 1 or >m.")
    for place in range(order):
        terms = call(np.true_divide, value, np.arange(_length(value, "polyint"), 0, -1))
        value = join("polyint", [terms, getitem(ends, slice(place, place + 1))], 0)
    return value


def _length(value: Operand, name: str) -> int:
    if not shape_of(value):
        raise TypeError(f"numpy.{name}: object of rank 0 has no length")
    return shape_of(value)[0]


def poly(seq_of_zeros: Any) -> Any:
    """The coefficients of the polynomial with these zeros, at most 64 of them; the first coefficient is one.

    Element types: real numbers, integers as float64; of no zeros a Python number. Raises TypeError for rank 0,
    ArgumentError for ranks above one, DataDependentError for complex zeros, which have real coefficients if they come
    in conjugate pairs, and for square matrices, whose eigenvalues would be the zeros.

    >>> poly(np.array([1, 2]))
    array([ 1., -3.,  2.])
    """
    zeros = as_value(seq_of_zeros, "poly", "seq_of_zeros")
    shape = shape_of(zeros)
    if not shape:
        raise TypeError("numpy.poly: a sequence of zeros is required; got a number")
    square = len(shape) == 2 and shape[0] == shape[1] != 0
    if len(shape) != 1 and not square:
        raise ArgumentError("numpy.poly: input must be 1d or non-empty square 2d array.")
    if square or dtype_class(dtype_of(zeros)) == "C":
        depends("numpy.poly", "the type of the result, real or complex,", "multiply the factors with np.convolve")
    check_terms("poly", shape[0])
    dtype = np.dtype(np.mintypecode(dtype_of(zeros).char))
    values = cast(zeros, dtype)
    result: Any = np.ones(1, dtype) if shape[0] else 1.0
    for place in range(shape[0]):
        factor = join("poly", [np.ones(1, dtype), call(np.negative, getitem(values, slice(place, place + 1)))], 0)
        result = convolve(result, factor)
    return result
