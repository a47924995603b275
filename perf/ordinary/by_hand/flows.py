"""Loops for `perf.ordinary.programs.flows`."""

import numpy as np
from numba import prange

from perf.loops.parallel import inline, parallel


@inline
def source(u, v, i, j, west, east, dx, dy, dt, rho):
    """Return the right side of the equation of the pressure at one point."""
    du_dx, dv_dx = (u[i, east] - u[i, west]) / (2 * dx), (v[i, east] - v[i, west]) / (2 * dx)
    du_dy, dv_dy = (u[i + 1, j] - u[i - 1, j]) / (2 * dy), (v[i + 1, j] - v[i - 1, j]) / (2 * dy)
    return rho * ((du_dx + dv_dy) / dt - du_dx * du_dx - 2 * du_dy * dv_dx - dv_dy * dv_dy)


@inline
def moved(x, un, vn, i, j, west, east, slope, dt, dx, dy, nu):
    """Return the next velocity at one point; the slope is that of the pressure."""
    return (
        x[i, j]
        - un[i, j] * dt / dx * (x[i, j] - x[i, west])
        - vn[i, j] * dt / dy * (x[i, j] - x[i - 1, j])
        - slope
        + nu * dt / (dx * dx) * (x[i, east] - 2 * x[i, j] + x[i, west])
        + nu * dt / (dy * dy) * (x[i + 1, j] - 2 * x[i, j] + x[i - 1, j])
    )


@inline
def cavity_flow(steps, turns, u, v, p, dt, dx, dy, rho, nu):
    """Advance the flow in the cavity; the grid is too small for threads."""
    n, m = p.shape
    b, pn, un, vn = np.zeros((n, m)), p.copy(), u.copy(), v.copy()
    around = 1 / (2 * (dx * dx + dy * dy))
    for _ in range(steps):
        un[:] = u
        vn[:] = v
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                b[i, j] = source(u, v, i, j, j - 1, j + 1, dx, dy, dt, rho) * dx * dx * dy * dy
        for _ in range(turns):
            pn[:] = p
            for i in range(1, n - 1):
                for j in range(1, m - 1):
                    along = (pn[i, j + 1] + pn[i, j - 1]) * dy * dy
                    across = (pn[i + 1, j] + pn[i - 1, j]) * dx * dx
                    p[i, j] = (along + across - b[i, j]) * around
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                slope = dt / (2 * rho * dx) * (p[i, j + 1] - p[i, j - 1])
                u[i, j] = moved(un, un, vn, i, j, j - 1, j + 1, slope, dt, dx, dy, nu)
                slope = dt / (2 * rho * dy) * (p[i + 1, j] - p[i - 1, j])
                v[i, j] = moved(vn, un, vn, i, j, j - 1, j + 1, slope, dt, dx, dy, nu)
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0


@inline
def channel_flow(turns, tolerance, most, u, v, p, dt, dx, dy, rho, nu, force):
    """Advance the flow in the ring; the grid is too small for threads."""
    n, m = p.shape
    b, pn, un, vn = np.zeros((n, m)), p.copy(), u.copy(), v.copy()
    around = 1 / (2 * (dx * dx + dy * dy))
    change, steps = 1.0, 0
    while change > tolerance and steps < most:
        un[:] = u
        vn[:] = v
        for i in range(1, n - 1):
            for j in range(m):
                west, east = (j - 1 if j else m - 1), (j + 1 if j < m - 1 else 0)
                b[i, j] = source(u, v, i, j, west, east, dx, dy, dt, rho) * dx * dx * dy * dy
        for _ in range(turns):
            pn[:] = p
            for i in range(1, n - 1):
                p[i, 0] = (
                    (pn[i, 1] + pn[i, m - 1]) * dy * dy + (pn[i + 1, 0] + pn[i - 1, 0]) * dx * dx - b[i, 0]
                ) * around
                for j in range(1, m - 1):
                    along = (pn[i, j + 1] + pn[i, j - 1]) * dy * dy
                    across = (pn[i + 1, j] + pn[i - 1, j]) * dx * dx
                    p[i, j] = (along + across - b[i, j]) * around
                j = m - 1
                along = (pn[i, 0] + pn[i, j - 1]) * dy * dy
                p[i, j] = (along + (pn[i + 1, j] + pn[i - 1, j]) * dx * dx - b[i, j]) * around
            p[0] = p[1]
            p[-1] = p[-2]
        for i in range(1, n - 1):
            for j in range(m):
                west, east = (j - 1 if j else m - 1), (j + 1 if j < m - 1 else 0)
                slope = dt / (2 * rho * dx) * (p[i, east] - p[i, west]) - force * dt
                u[i, j] = moved(un, un, vn, i, j, west, east, slope, dt, dx, dy, nu)
                slope = dt / (2 * rho * dy) * (p[i + 1, j] - p[i - 1, j])
                v[i, j] = moved(vn, un, vn, i, j, west, east, slope, dt, dx, dy, nu)
        u[0], u[-1], v[0], v[-1] = 0.0, 0.0, 0.0, 0.0
        change = (np.sum(u) - np.sum(un)) / np.sum(u)
        steps += 1
    return steps


@parallel
def horizontal_diffusion(field, out, coefficient):
    """Write the field; a row of Laplacians and fluxes at a time is kept."""
    n, m, depth = out.shape
    laplace = np.empty((n + 2, m + 2, depth))
    for i in prange(n + 2):
        for j in range(m + 2):
            for k in range(depth):
                around = field[i + 2, j + 1, k] + field[i, j + 1, k] + field[i + 1, j + 2, k] + field[i + 1, j, k]
                laplace[i, j, k] = 4.0 * field[i + 1, j + 1, k] - around
    for i in prange(n):
        for j in range(m):
            for k in range(depth):
                here, value = laplace[i + 1, j + 1, k], field[i + 2, j + 2, k]
                north = laplace[i + 2, j + 1, k] - here
                north = 0.0 if north * (field[i + 3, j + 2, k] - value) > 0.0 else north
                south = here - laplace[i, j + 1, k]
                south = 0.0 if south * (value - field[i + 1, j + 2, k]) > 0.0 else south
                east = laplace[i + 1, j + 2, k] - here
                east = 0.0 if east * (field[i + 2, j + 3, k] - value) > 0.0 else east
                west = here - laplace[i + 1, j, k]
                west = 0.0 if west * (value - field[i + 2, j + 1, k]) > 0.0 else west
                out[i, j, k] = value - coefficient[i, j, k] * (north - south + east - west)


BY_HAND = {
    "cavity-flow": cavity_flow,
    "channel-flow": channel_flow,
    "horizontal-diffusion": horizontal_diffusion,
}
