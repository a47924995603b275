"""Factors of matrices and triangular systems, in place, by rows and columns that grow."""

import numpy as np

from perf.ordinary.record import Ordinary


def cholesky(A):
    """Write the factor of Cholesky over the lower triangle."""
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] = (A[i, j] - np.dot(A[i, :j], A[j, :j])) / A[j, j]
        A[i, i] = np.sqrt(A[i, i] - np.dot(A[i, :i], A[i, :i]))


def lu(A):
    """Write both triangular factors over the matrix."""
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]


def ludcmp(A, b):
    """Return the solutions of the two triangular systems after a factorisation in place."""
    n = A.shape[0]
    x, y = np.zeros_like(b), np.zeros_like(b)
    for k in range(n - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    for i in range(n):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x, y


def trisolv(L, b):
    """Return the solution of a lower triangular system."""
    x = np.empty_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return x


def durbin(r):
    """Return the solution of the equations of Yule and Walker by the recursion of Levinson and Durbin."""
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = alpha
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(r[k - 1 :: -1], y[:k])) / beta
        y[:k] += alpha * y[k - 1 :: -1]
        y[k] = alpha
    return y


def gramschmidt(A):
    """Return an orthonormal base of the columns and the triangular factor; what is left of the columns is written."""
    Q = np.zeros_like(A)
    R = np.zeros((A.shape[1], A.shape[1]))
    for k in range(A.shape[1]):
        R[k, k] = np.sqrt(np.sum(A[:, k] ** 2))
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = Q[:, k] @ A[:, j]
            A[:, j] -= Q[:, k] * R[k, j]
    return Q, R


def _positive(rng, n):
    a = rng.random((n, n))
    return (a @ a.T + n * np.eye(n),)


def _dominant(rng, n):
    return (rng.random((n, n)) + n * np.eye(n),)


def _system(rng, n):
    return *_dominant(rng, n), rng.random(n)


def _covariances(rng, n):
    return (0.9 ** np.arange(1, n + 1) * (0.5 + 0.01 * rng.random(n)),)


def _columns(rng, n, m):
    return (rng.random((n, m)) + np.eye(n, m),)


PROGRAMS = (
    Ordinary("cholesky", cholesky, _positive, {"S": (12,), "L": (400,)}, ("A",)),
    Ordinary("lu", lu, _dominant, {"S": (12,), "L": (300,)}, ("A",)),
    Ordinary("ludcmp", ludcmp, _system, {"S": (12,), "L": (500,)}, ("A",)),
    Ordinary("trisolv", trisolv, _system, {"S": (12,), "L": (6000,)}),
    Ordinary("durbin", durbin, _covariances, {"S": (12,), "L": (6000,)}),
    Ordinary("gramschmidt", gramschmidt, _columns, {"S": (12, 9), "L": (300, 250)}, ("A",)),
)
