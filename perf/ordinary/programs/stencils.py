"""Means of neighbours and waves, step after step, on lines, grids and cubes."""

from perf.ordinary.record import Ordinary


def jacobi_1d(steps, A, B):
    """Write means of three points from one line to the other and back."""
    for _ in range(steps):
        B[1:-1] = (A[:-2] + A[1:-1] + A[2:]) / 3.0
        A[1:-1] = (B[:-2] + B[1:-1] + B[2:]) / 3.0


def jacobi_2d(steps, A, B):
    """Write means of five points from one grid to the other and back."""
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def heat_3d(steps, A, B):
    """Write steps of the heat equation from one cube to the other and back."""
    for _ in range(steps):
        B[1:-1, 1:-1, 1:-1] = (
            A[1:-1, 1:-1, 1:-1]
            + 0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, :-2])
        )
        A[1:-1, 1:-1, 1:-1] = (
            B[1:-1, 1:-1, 1:-1]
            + 0.125 * (B[2:, 1:-1, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[:-2, 1:-1, 1:-1])
            + 0.125 * (B[1:-1, 2:, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, :-2, 1:-1])
            + 0.125 * (B[1:-1, 1:-1, 2:] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, 1:-1, :-2])
        )


def seidel_2d(steps, A):
    """Replace each point by the mean of nine, in the order of Gauss and Seidel."""
    n, m = A.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                A[i, j] = (
                    A[i - 1, j - 1]
                    + A[i - 1, j]
                    + A[i - 1, j + 1]
                    + A[i, j - 1]
                    + A[i, j]
                    + A[i, j + 1]
                    + A[i + 1, j - 1]
                    + A[i + 1, j]
                    + A[i + 1, j + 1]
                ) / 9.0


def fdtd_2d(ex, ey, hz, source):
    """Advance an electromagnetic field on staggered grids, driven along its first row."""
    for t in range(len(source)):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def _two_lines(rng, n, steps):
    return steps, rng.random(n), rng.random(n)


def _two_grids(rng, n, steps):
    return steps, rng.random((n, n)), rng.random((n, n))


def _two_cubes(rng, n, steps):
    return steps, rng.random((n, n, n)), rng.random((n, n, n))


def _one_grid(rng, n, steps):
    return steps, rng.random((n, n))


def _fields(rng, n, m, steps):
    return *(rng.random((n, m)) for _ in range(3)), rng.random(steps)


PROGRAMS = (
    Ordinary("jacobi-1d", jacobi_1d, _two_lines, {"S": (30, 6), "L": (20_000, 4000)}, ("A", "B"), 0.0),
    Ordinary("jacobi-2d", jacobi_2d, _two_grids, {"S": (12, 5), "L": (600, 100)}, ("A", "B"), 0.0),
    Ordinary("heat-3d", heat_3d, _two_cubes, {"S": (7, 4), "L": (80, 30)}, ("A", "B"), 0.0),
    Ordinary("seidel-2d", seidel_2d, _one_grid, {"S": (9, 2), "L": (120, 10)}, ("A",), 0.0),
    Ordinary("fdtd-2d", fdtd_2d, _fields, {"S": (9, 11, 5), "L": (500, 600, 60)}, ("ex", "ey", "hz"), 0.0),
)
