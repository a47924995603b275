"""Means of neighbours, step after step, on lines, grids and cubes."""

from perf.ordinary.record import Ordinary


def jacobi_2d(steps, A, B):
    """Write means of five points from one grid to the other and back."""
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def _two_grids(rng, n, steps):
    return steps, rng.random((n, n)), rng.random((n, n))


PROGRAMS = (Ordinary("jacobi-2d", jacobi_2d, _two_grids, {"S": (30, 5), "L": (600, 100)}, ("A", "B"), tolerance=0.0),)
