"""Loops for `perf.ordinary.programs.stencils`."""

from numba import prange

from perf.loops.parallel import inline, parallel


@inline
def jacobi_1d(steps, A, B):
    """Write means of three points; a line is too short for threads."""
    for _ in range(steps):
        for i in range(1, A.size - 1):
            B[i] = (A[i - 1] + A[i] + A[i + 1]) / 3.0
        for i in range(1, A.size - 1):
            A[i] = (B[i - 1] + B[i] + B[i + 1]) / 3.0


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


@inline
def heated(a, i, j, k):
    """Return the next temperature of a point."""
    return (
        a[i, j, k]
        + 0.125 * (a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k])
        + 0.125 * (a[i, j + 1, k] - 2.0 * a[i, j, k] + a[i, j - 1, k])
        + 0.125 * (a[i, j, k + 1] - 2.0 * a[i, j, k] + a[i, j, k - 1])
    )


@parallel
def heat_3d(steps, A, B):
    """Write steps of the heat equation."""
    n = A.shape[0]
    for _ in range(steps):
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    B[i, j, k] = heated(A, i, j, k)
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    A[i, j, k] = heated(B, i, j, k)


@inline
def seidel_2d(steps, A):
    """Replace points in order."""
    n, m = A.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                above = A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1]
                here = above + A[i, j - 1] + A[i, j] + A[i, j + 1]
                A[i, j] = (here + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]) / 9.0


@parallel
def fdtd_2d(ex, ey, hz, source):
    """Advance the field; both electric components in one pass."""
    n, m = ex.shape
    for t in range(source.size):
        for i in prange(n):
            if i == 0:
                for j in range(m):
                    ey[0, j] = source[t]
            else:
                for j in range(m):
                    ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
            for j in range(1, m):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in prange(n - 1):
            for j in range(m - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


BY_HAND = {
    "jacobi-1d": jacobi_1d,
    "jacobi-2d": jacobi_2d,
    "heat-3d": heat_3d,
    "seidel-2d": seidel_2d,
    "fdtd-2d": fdtd_2d,
}
