"""NumPy's solvers and decompositions of matrices, as they are. They raise LinAlgError where NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.dataclass import replace
from xjit.ir.opdef import OpDef, Params, Solver
from xjit.ops.define.core import Array
from xjit.ops.define.library_op import by_sizes, library, marked, tried

# NumPy runs these with its floating-point errors ignored, whatever the caller has set.
_SILENT = ("solve", "inv", "cholesky", "qr", "eigh", "eigvalsh")
_ANY_ELEMENTS = ("det", "slogdet", "qr")  # never raise for their elements


def _record(
    name: str,
    doc: str,
    function: Callable[..., Any] | None = None,
    solver: Callable[[Params], Solver | None] | None = None,
) -> OpDef:
    found = function or getattr(np.linalg, name)
    raises = () if name in _ANY_ELEMENTS else (np.linalg.LinAlgError,)
    silent, infer = name in _SILENT, by_sizes(found)
    form = tried(name, found, infer, raises, silent=silent) if raises else None
    return library(
        name,
        found,
        infer,
        doc,
        threaded=True,
        silent=silent,
        fresh=True,
        raises=raises,
        solver=solver,
        tried=form,
        marked=None if solver is None or not raises else _marked(name, found, infer, raises, solver),
    )


def _marked(
    name: str,
    function: Callable[..., Any],
    infer: Callable[..., Any],
    raises: tuple[type[Exception], ...],
    solver: Callable[[Params], Solver | None],
) -> OpDef:
    """The record of what marks a result that is not there; the routine does so, too."""

    def marking(params: Params) -> Solver | None:
        found = solver(params)
        return None if found is None else replace(found, failure=None, marks=True)

    return marked(name, function, infer, raises, marking, silent=name in _SILENT)


def _not_positive() -> Exception:
    """The error of NumPy's, in its words."""
    return np.linalg.LinAlgError("Matrix is not positive definite")


def _singular() -> Exception:
    """The error of NumPy's, in its words."""
    return np.linalg.LinAlgError("Singular matrix")


def _lower_factor(params: Params) -> Solver | None:
    return None if params["upper"] else Solver("potrf", (1,), _not_positive)


def _lstsq(a: Array, b: Array, rcond: Any) -> tuple[Any, ...]:
    """Residuals have a place for each column; where NumPy gives none, as ranks are too low, they are NaN."""
    solution, residuals, rank, values = np.linalg.lstsq(a, b, rcond)
    if a.shape[0] > a.shape[1] and rank < a.shape[1]:
        residuals = np.full(b.shape[1:] or 1, np.nan, values.dtype)
    return solution, residuals, rank, values


_ELIMINATION = Solver("gesv", (), _singular)
SOLVE = _record("solve", "Solutions of systems of linear equations.", solver=lambda params: _ELIMINATION)
INV = _record("inv", "Inverse matrices.", solver=lambda params: _ELIMINATION)
DET = _record("det", "Determinants.", solver=lambda params: Solver("getrf", ()))
SLOGDET = _record("slogdet", "Signs and logarithms of the magnitudes of determinants.")
CHOLESKY = _record("cholesky", "Cholesky factors; LinAlgError where there are none.", solver=_lower_factor)
QR = _record("qr", "Orthogonal and triangular factors.")
SVD = _record("svd", "Singular values, with or without their vectors.")
EIGH = _record("eigh", "Eigenvalues and eigenvectors of Hermitian matrices.")
EIGVALSH = _record("eigvalsh", "Eigenvalues of Hermitian matrices.")
EIG = _record("eig", "Eigenvalues and eigenvectors of complex matrices.")
EIGVALS = _record("eigvals", "Eigenvalues of complex matrices.")
LSTSQ = _record("lstsq", "Solutions of least squares, with residuals, rank and singular values.", _lstsq)
PINV = _record("pinv", "Pseudo-inverse matrices.")
MATRIX_RANK = _record("matrix_rank", "How many singular values of matrices are not negligible.")
COND = _record("cond", "How sensitive solutions of linear equations are to errors.")
