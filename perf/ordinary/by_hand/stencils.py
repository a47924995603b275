"""Loops for `perf.ordinary.programs.stencils`."""

from numba import prange

from perf.loops.parallel import parallel


@parallel
def jacobi_2d(steps, A, B):
    """Write means of five points."""
    n = A.shape[0]
    for _ in range(steps):
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


BY_HAND = {"jacobi-2d": jacobi_2d}
