"""Loops for `perf.ordinary.programs.triangles`."""

import numpy as np
from numba import prange

from perf.loops.parallel import parallel


@parallel
def symm(alpha, beta, A, B, C):
    """Write over C."""
    n, m = C.shape
    for i in prange(n):
        for j in range(m):
            C[i, j] *= beta
        for k in range(n):
            a = alpha * (A[i, k] if k <= i else A[k, i])
            for j in range(m):
                C[i, j] += a * B[k, j]


@parallel
def syrk(alpha, beta, A, C):
    """Write over the lower triangle of C."""
    n, m = A.shape
    T = np.ascontiguousarray(A.T)
    # Rows from both ends are one turn, so that all turns take the same time.
    for turn in prange((n + 1) // 2):
        first = np.int64(turn)
        for side in range(1 if 2 * first == n - 1 else 2):
            i = n - 1 - first if side else first
            for j in range(i + 1):
                C[i, j] *= beta
            for k in range(m):
                a = alpha * A[i, k]
                for j in range(i + 1):
                    C[i, j] += a * T[k, j]


@parallel
def syr2k(alpha, beta, A, B, C):
    """Write over the lower triangle of C."""
    n = A.shape[0]
    product = np.dot(A, B.T)
    for i in prange(n):
        for j in range(i + 1):
            C[i, j] = beta * C[i, j] + alpha * (product[i, j] + product[j, i])


@parallel
def trmm(alpha, A, B):
    """Write over B; columns are independent of each other."""
    n, m = B.shape
    block = 32
    for part in prange((m + block - 1) // block):
        first, last = part * block, min(m, (part + 1) * block)
        for i in range(n):
            for k in range(i + 1, n):
                a = A[k, i]
                for j in range(first, last):
                    B[i, j] += a * B[k, j]
            for j in range(first, last):
                B[i, j] *= alpha


BY_HAND = {"symm": symm, "syrk": syrk, "syr2k": syr2k, "trmm": trmm}
