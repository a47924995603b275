"""Solvers and decompositions of numpy.linalg: steps between kernels, which NumPy runs with LAPACK."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from xjit.errors import ArgumentError, CaptureError
from xjit.ir.context import TracedValue
from xjit.ir.opdef import OpDef
from xjit.numpy.arrays.shaping import moveaxis, reshape
from xjit.numpy.rules.data_dependent import depends
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.values import as_scalar, as_value, numpy_errors, shape_of
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, apply, dtype_of
from xjit.ops.for_numpy import numpy_linalg as records
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, dtype_class

_FLOATS = frozenset({FLOAT32, FLOAT64, COMPLEX64, COMPLEX128})
"""The element types that NumPy eliminates matrices of, besides integers."""


class LinAlgError(ArgumentError, np.linalg.LinAlgError):
    """A matrix has the wrong shape: also NumPy's error of this name, which is a ValueError."""

    remedy = "pass square matrices, in the last two axes; lstsq and pinv take others"


@contextlib.contextmanager
def _errors(name: str) -> Iterator[None]:
    with numpy_errors(f"linalg.{name}"):
        try:
            yield
        except np.linalg.LinAlgError as error:
            raise error if isinstance(error, LinAlgError) else LinAlgError(f"numpy.linalg.{name}: {error}") from None


def _step(record: OpDef, *operands: Any, **params: Any) -> Any:
    """One step; results of rank 0 are scalars, several come as NumPy's named tuple."""
    name = record.name.removeprefix("numpy_")
    values = [as_value(operand, f"linalg.{name}") for operand in operands]
    with _errors(name):
        result = apply(record, *values, **params)
    if not isinstance(result, tuple):
        return as_scalar(result)
    parts = map(as_scalar, result)
    kind = _tuple_class(name)
    return tuple(parts) if kind is None else kind(*parts)


def _in_double(*operands: Any) -> Iterator[Any]:
    """Yield operands in double precision, of one element type, where NumPy eliminates in it and returns it."""
    values = [as_value(operand, "linalg") for operand in operands]
    kinds = [FLOAT64 if dtype_class(dtype_of(value)) in "PI" else dtype_of(value) for value in values]
    common = np.result_type(*kinds) if _FLOATS.issuperset(kinds) else None
    for value in values:
        yield cast(value, common) if common in (FLOAT64, COMPLEX128) else value


@functools.cache
def _tuple_class(name: str) -> Any:
    """The named tuple that a function of NumPy returns, None if it is a plain one."""
    if name == "lstsq":
        return None
    return type(getattr(np.linalg, name)(np.eye(1)))


def solve(a: Any, b: Any) -> Any:
    """The solutions x of ``a @ x = b`` for a vector, or for stacks of matrices, which broadcast.

    Element types: numbers; integers count as float64. Raises DTypeError, ShapeError, LinAlgError for matrices that
    are not square and, when the program runs, for singular ones.

    >>> solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0]))
    array([1. , 0.5])
    """
    return _step(records.SOLVE, *_in_double(a, b))


def inv(a: Any) -> Any:
    """The inverse of each matrix over the last two axes. Raises as ``solve``."""
    return _step(records.INV, *_in_double(a))


def det(a: Any) -> Any:
    """The determinant of each matrix over the last two axes. Raises DTypeError, LinAlgError."""
    return _step(records.DET, a)


def slogdet(a: Any) -> Any:
    """The sign and the logarithm of the magnitude of determinants, as a named tuple. Raises as ``det``."""
    return _step(records.SLOGDET, a)


def cholesky(a: Any, /, *, upper: Any = False) -> Any:
    """The lower factor L with ``a = L @ L.conj().T`` of each matrix, or the upper one.

    Raises as ``det``, and LinAlgError when the program runs for matrices that are not positive definite.
    """
    return _step(records.CHOLESKY, a, upper=bool(upper))


def qr(a: Any, mode: Any = "reduced") -> Any:
    """An orthogonal and an upper triangular factor of each matrix; ``mode`` as in NumPy. Raises as ``det``."""
    result = _step(records.QR, a, mode=mode)
    return tuple(result) if mode == "raw" else result


def svd(a: Any, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False) -> Any:
    """Singular values of each matrix, falling, between their left and right vectors. Raises as ``det``."""
    flags = {"full_matrices": bool(full_matrices), "compute_uv": bool(compute_uv), "hermitian": bool(hermitian)}
    return _step(records.SVD, a, **flags)


def svdvals(x: Any, /) -> Any:
    """The singular values of each matrix, falling. Raises as ``det``."""
    return svd(x, compute_uv=False)


def eigh(a: Any, UPLO: Any = "L") -> Any:
    """Eigenvalues, rising, and eigenvectors of Hermitian matrices; one triangle is read. Raises as ``det``."""
    return _step(records.EIGH, a, UPLO=_triangle("eigh", UPLO))


def eigvalsh(a: Any, UPLO: Any = "L") -> Any:
    """The eigenvalues of ``eigh`` alone."""
    return _step(records.EIGVALSH, a, UPLO=_triangle("eigvalsh", UPLO))


def _triangle(name: str, letter: Any) -> str:
    if not isinstance(letter, str) or letter.upper() not in ("L", "U"):
        raise ArgumentError(f"numpy.linalg.{name}: UPLO argument must be 'L' or 'U'; got {letter!r}")
    return letter.upper()


def eig(a: Any) -> Any:
    """Eigenvalues and eigenvectors of complex matrices.

    Those of real ones are real or complex, as it turns out: DataDependentError. Raises as ``det``.
    """
    return _step(records.EIG, _complex(a, "eig"))


def eigvals(a: Any) -> Any:
    """The eigenvalues of ``eig`` alone. Raises as ``eig``."""
    return _step(records.EIGVALS, _complex(a, "eigvals"))


def _complex(a: Any, name: str) -> Operand:
    value = as_value(a, f"linalg.{name}")
    if dtype_class(dtype_of(value)) != "C":
        fix = f"use {'eigh' if name == 'eig' else 'eigvalsh'} for symmetric matrices, or astype(complex)"
        depends(f"numpy.linalg.{name}", "the type of the result, real or complex,", fix)
    return value


def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Any, ...]:
    """Solutions x with the least squares of ``b - a @ x``; also the sums of these, the rank, the singular values.

    Using the sums of a matrix with more rows than columns raises ValueError when the program runs if the columns are
    not independent: NumPy has an array of another shape then. Raises as ``solve``.
    """
    solution, residuals, rank, values = _step(records.LSTSQ, a, b, rcond=rcond)
    rows, columns = shape_of(as_value(a, "linalg.lstsq"))
    if rows > columns:
        full = call(np.equal, rank, columns)
        residuals = require(residuals, full, "value", "numpy.linalg.lstsq: no residuals: columns are not independent")
    return solution, residuals, rank, values


def pinv(a: Any, rcond: Any = None, hermitian: Any = False, *, rtol: Any = np._NoValue) -> Any:
    """The pseudo-inverse of each matrix; singular values up to ``rtol`` of the largest count as zero.

    Raises as ``det``, and CaptureError for bounds that are traced.
    """
    bounds = {"rtol": None} if rtol is None else _bounds("pinv", rtol=rtol)
    return _step(records.PINV, a, hermitian=bool(hermitian), **_bounds("pinv", rcond=rcond), **bounds)


def matrix_rank(A: Any, tol: Any = None, hermitian: Any = False, *, rtol: Any = None) -> Any:
    """Count the singular values of each matrix above a bound. Raises as ``pinv``."""
    value = as_value(A, "linalg.matrix_rank")
    if len(shape_of(value)) < 2:
        raise CaptureError("numpy.linalg.matrix_rank: arrays of less than two dimensions are not supported")
    return _step(records.MATRIX_RANK, value, hermitian=bool(hermitian), **_bounds("matrix_rank", tol=tol, rtol=rtol))


def _bounds(name: str, **bounds: Any) -> dict[str, float]:
    """The bounds that were given, as numbers."""
    found = {}
    for argument, value in bounds.items():
        if value is None or value is np._NoValue:
            continue
        if isinstance(value, TracedValue) or np.ndim(value):
            raise CaptureError(f"numpy.linalg.{name}: {argument}: a number known while tracing is required")
        found[argument] = float(value)
    return found


def cond(x: Any, p: Any = None) -> Any:
    """The condition number of each matrix: the norm of it times that of its inverse. Raises as ``det``."""
    return _step(records.COND, x, p=p)


def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse for ``tensordot`` over the first ``ind`` axes. Raises as ``inv``."""
    value = as_value(a, "linalg.tensorinv")
    shape = shape_of(value)
    if ind <= 0:
        raise ArgumentError(f"numpy.linalg.tensorinv: Invalid ind argument.; got {ind}")
    flat = reshape(value, (math.prod(shape[ind:]), -1))
    return reshape(inv(flat), (*shape[ind:], *shape[:ind]))


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """The solution x of ``tensordot(a, x, x.ndim) = b``. Raises as ``solve``."""
    value, wanted = as_value(a, "linalg.tensorsolve"), as_value(b, "linalg.tensorsolve", "b")
    for axis in axes or ():
        value = moveaxis(value, axis, -1)
    rest = shape_of(value)[len(shape_of(wanted)) :]
    size = math.prod(rest)
    if math.prod(shape_of(value)) != size**2:
        raise LinAlgError(
            "numpy.linalg.tensorsolve: Input arrays must satisfy the requirement "
            "prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    return reshape(solve(reshape(value, (size, size)), reshape(wanted, (-1,))), rest)
