"""Ports of `perf.ordinary.programs.stencils`."""

from jax import lax


def jacobi_1d(steps, A, B):
    """Return both lines."""

    def mean(a):
        return (a[:-2] + a[1:-1] + a[2:]) / 3.0

    def step(_, lines):
        A, B = lines
        B = B.at[1:-1].set(mean(A))
        return A.at[1:-1].set(mean(B)), B

    return lax.fori_loop(0, steps, step, (A, B))


def jacobi_2d(steps, A, B):
    """Return both grids."""

    def mean(a):
        return 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])

    def step(_, grids):
        A, B = grids
        B = B.at[1:-1, 1:-1].set(mean(A))
        return A.at[1:-1, 1:-1].set(mean(B)), B

    return lax.fori_loop(0, steps, step, (A, B))


def heat_3d(steps, A, B):
    """Return both cubes."""

    def heated(a):
        middle = a[1:-1, 1:-1, 1:-1]
        along = a[2:, 1:-1, 1:-1] - 2.0 * middle + a[:-2, 1:-1, 1:-1]
        across = a[1:-1, 2:, 1:-1] - 2.0 * middle + a[1:-1, :-2, 1:-1]
        return middle + 0.125 * (along + across + a[1:-1, 1:-1, 2:] - 2.0 * middle + a[1:-1, 1:-1, :-2])

    def step(_, cubes):
        A, B = cubes
        B = B.at[1:-1, 1:-1, 1:-1].set(heated(A))
        return A.at[1:-1, 1:-1, 1:-1].set(heated(B)), B

    return lax.fori_loop(0, steps, step, (A, B))


def fdtd_2d(ex, ey, hz, source):
    """Return the field."""

    def step(field, driven):
        ex, ey, hz = field
        ey = ey.at[0].set(driven).at[1:].add(-0.5 * (hz[1:] - hz[:-1]))
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        hz = hz.at[:-1, :-1].add(-0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]))
        return (ex, ey, hz), None

    return lax.scan(step, (ex, ey, hz), source)[0]


PORTS = {"jacobi-1d": jacobi_1d, "jacobi-2d": jacobi_2d, "heat-3d": heat_3d, "fdtd-2d": fdtd_2d}
