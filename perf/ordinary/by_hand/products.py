"""Loops for `perf.ordinary.programs.products`; products of matrices are BLAS's here too."""

import numpy as np
from numba import prange

from perf.loops.parallel import inline, parallel


@parallel
def two_products(alpha, beta, A, B, C, D):
    """Write over D."""
    E = np.dot(np.dot(A, B), C)
    for i in prange(D.shape[0]):
        for j in range(D.shape[1]):
            D[i, j] = alpha * E[i, j] + beta * D[i, j]


@inline
def three_products(A, B, C, D):
    """Return the product of products."""
    return np.dot(np.dot(A, B), np.dot(C, D))


@parallel
def gemm(alpha, beta, A, B, C):
    """Write over C."""
    E = np.dot(A, B)
    for i in prange(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] = alpha * E[i, j] + beta * C[i, j]


@inline
def atax(A, x):
    """Return the product."""
    return np.dot(np.dot(A, x), A)


@inline
def bicg(A, p, r):
    """Return both products."""
    return np.dot(r, A), np.dot(A, p)


@inline
def mvt(A, x1, x2, y1, y2):
    """Add both products."""
    x1 += np.dot(A, y1)
    x2 += np.dot(y2, A)


@inline
def gesummv(alpha, beta, A, B, x):
    """Return the sum."""
    return alpha * np.dot(A, x) + beta * np.dot(B, x)


@parallel
def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    """Update the matrix in one pass, and the vectors by BLAS."""
    for i in prange(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
    x += beta * np.dot(y, A) + z
    w += alpha * np.dot(A, x)


@parallel
def doitgen(A, C4):
    """Multiply plane by plane."""
    for r in prange(A.shape[0]):
        A[r] = np.dot(A[r], C4)


BY_HAND = {
    "2mm": two_products,
    "3mm": three_products,
    "gemm": gemm,
    "atax": atax,
    "bicg": bicg,
    "mvt": mvt,
    "gesummv": gesummv,
    "gemver": gemver,
    "doitgen": doitgen,
}
