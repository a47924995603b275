"""Loops for `perf.ordinary.programs.factors`.

Sums over growing rows are several running sums side by side: one alone waits for each of its additions.
"""

import math

import numpy as np
from numba import njit, prange

from perf.loops.parallel import inline, parallel


@njit(error_model="numpy", fastmath={"reassoc"}, cache=True)
def dot(a, b):
    """Return the sum of products, in any order."""
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@inline
def cholesky(A):
    """Write over the lower triangle."""
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] = (A[i, j] - dot(A[i, :j], A[j, :j])) / A[j, j]
        A[i, i] = math.sqrt(A[i, i] - dot(A[i, :i], A[i, :i]))


@inline
def lu(A):
    """Write over the matrix; rows are subtracted whole."""
    n = A.shape[0]
    for i in range(n):
        for k in range(i):
            a = A[i, k] / A[k, k]
            A[i, k] = a
            for j in range(k + 1, n):
                A[i, j] -= a * A[k, j]


@inline
def ludcmp(A, b):
    """Return both solutions."""
    n = A.shape[0]
    x, y = np.zeros_like(b), np.zeros_like(b)
    for i in range(n):
        for k in range(i):
            a = A[i, k] / A[k, k]
            A[i, k] = a
            for j in range(k + 1, n):
                A[i, j] -= a * A[k, j]
    for i in range(n):
        y[i] = b[i] - dot(A[i, :i], y[:i])
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - dot(A[i, i + 1 :], x[i + 1 :])) / A[i, i]
    return x, y


@inline
def trisolv(L, b):
    """Return the solution."""
    x = np.empty_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - dot(L[i, :i], x[:i])) / L[i, i]
    return x


@inline
def durbin(r):
    """Return the solution; the update goes from both ends, which needs no copy."""
    y = np.empty_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = alpha
    for k in range(1, r.size):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + dot(r[k - 1 :: -1], y[:k])) / beta
        for i in range((k + 1) // 2):
            low, high = y[i], y[k - 1 - i]
            y[i], y[k - 1 - i] = low + alpha * high, high + alpha * low
        y[k] = alpha
    return y


@parallel
def gramschmidt(A):
    """Return base and factor; columns are kept as rows while they change."""
    n, m = A.shape
    rows = np.ascontiguousarray(A.T)
    base = np.zeros_like(rows)
    R = np.zeros((m, m))
    for k in range(m):
        R[k, k] = math.sqrt(dot(rows[k], rows[k]))
        base[k] = rows[k] / R[k, k]
        for j in prange(k + 1, m):
            r = dot(base[k], rows[j])
            R[k, j] = r
            for i in range(n):
                rows[j, i] -= base[k, i] * r
    A[:] = rows.T
    return np.ascontiguousarray(base.T), R


BY_HAND = {
    "cholesky": cholesky,
    "lu": lu,
    "ludcmp": ludcmp,
    "trisolv": trisolv,
    "durbin": durbin,
    "gramschmidt": gramschmidt,
}
