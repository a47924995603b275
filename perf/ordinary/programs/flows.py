"""Fluids on grids: a driven cavity, a periodic channel, diffusion with limited fluxes."""

import numpy as np

from perf.ordinary.record import Ordinary


def pressure_source(b, rho, dt, u, v, dx, dy):
    """Write the right side of the equation of the pressure."""
    du_dx = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
    dv_dy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
    du_dy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy)
    dv_dx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)
    b[1:-1, 1:-1] = rho * ((du_dx + dv_dy) / dt - du_dx**2 - 2 * du_dy * dv_dx - dv_dy**2)


def relax_pressure(turns, p, dx, dy, b):
    """Write turns of Jacobi over the pressure: closed walls, a free surface above."""
    pn = np.empty_like(p)
    for _ in range(turns):
        pn[:] = p
        p[1:-1, 1:-1] = ((pn[1:-1, 2:] + pn[1:-1, :-2]) * dy**2 + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx**2) / (
            2 * (dx**2 + dy**2)
        ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


def cavity_flow(steps, turns, u, v, p, dt, dx, dy, rho, nu):
    """Advance the flow in a cavity whose lid moves; velocities and pressure are written."""
    b = np.zeros_like(p)
    for _ in range(steps):
        un = u.copy()
        vn = v.copy()
        pressure_source(b, rho, dt, u, v, dx, dy)
        relax_pressure(turns, p, dx, dy, b)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            + nu
            * (
                dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2])
                + dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[:-2, 1:-1])
            )
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
            + nu
            * (
                dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, :-2])
                + dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[:-2, 1:-1])
            )
        )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0


def channel_flow(turns, tolerance, most, u, v, p, dt, dx, dy, rho, nu, force):
    """Advance the flow in a channel that is closed to a ring until it is steady; return the number of steps."""
    change = 1.0
    steps = 0
    while change > tolerance and steps < most:
        un, vn = u.copy(), v.copy()
        # The neighbours along the ring.
        ue, uw = np.roll(un, -1, axis=1), np.roll(un, 1, axis=1)
        ve, vw = np.roll(vn, -1, axis=1), np.roll(vn, 1, axis=1)
        du_dx, dv_dx = (ue - uw)[1:-1] / (2 * dx), (ve - vw)[1:-1] / (2 * dx)
        du_dy, dv_dy = (un[2:] - un[:-2]) / (2 * dy), (vn[2:] - vn[:-2]) / (2 * dy)
        b = rho * ((du_dx + dv_dy) / dt - du_dx**2 - 2 * du_dy * dv_dx - dv_dy**2)
        for _ in range(turns):
            pe, pw = np.roll(p, -1, axis=1), np.roll(p, 1, axis=1)
            p[1:-1] = ((pe[1:-1] + pw[1:-1]) * dy**2 + (p[2:] + p[:-2]) * dx**2 - b * dx**2 * dy**2) / (
                2 * (dx**2 + dy**2)
            )
            p[0] = p[1]
            p[-1] = p[-2]
        pe, pw = np.roll(p, -1, axis=1), np.roll(p, 1, axis=1)
        u[1:-1] = (
            un[1:-1]
            - un[1:-1] * dt / dx * (un[1:-1] - uw[1:-1])
            - vn[1:-1] * dt / dy * (un[1:-1] - un[:-2])
            - dt / (2 * rho * dx) * (pe - pw)[1:-1]
            + nu * dt / dx**2 * (ue - 2 * un + uw)[1:-1]
            + nu * dt / dy**2 * (un[2:] - 2 * un[1:-1] + un[:-2])
            + force * dt
        )
        v[1:-1] = (
            vn[1:-1]
            - un[1:-1] * dt / dx * (vn[1:-1] - vw[1:-1])
            - vn[1:-1] * dt / dy * (vn[1:-1] - vn[:-2])
            - dt / (2 * rho * dy) * (p[2:] - p[:-2])
            + nu * dt / dx**2 * (ve - 2 * vn + vw)[1:-1]
            + nu * dt / dy**2 * (vn[2:] - 2 * vn[1:-1] + vn[:-2])
        )
        u[0] = u[-1] = 0.0
        v[0] = v[-1] = 0.0
        change = (np.sum(u) - np.sum(un)) / np.sum(u)
        steps += 1
    return steps


def horizontal_diffusion(field, out, coefficient):
    """Write a field diffused twice, with fluxes that would go up its slope left out."""
    laplace = 4.0 * field[1:-1, 1:-1] - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
    along = laplace[1:, 1:-1] - laplace[:-1, 1:-1]
    along[along * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0.0] = 0.0
    across = laplace[1:-1, 1:] - laplace[1:-1, :-1]
    across[across * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0.0] = 0.0
    out[...] = field[2:-2, 2:-2] - coefficient * (along[1:] - along[:-1] + across[:, 1:] - across[:, :-1])


def _cavity(rng, n, steps, turns):
    u, v, p = (np.zeros((n, n)) for _ in range(3))
    u[-1, :] = 1.0
    return steps, turns, u, v, p, 0.1 / n**2, 2.0 / (n - 1), 2.0 / (n - 1), 1.0, 0.1


def _channel(rng, n, steps, turns):
    u, v, p = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    v[1:-1] = 0.01 * rng.random((n - 2, n))
    return turns, 1.0 / steps, 2 * steps, u, v, p, 0.4 / n**2, 2.0 / (n - 1), 2.0 / (n - 1), 1.0, 0.1, 1.0


def _field(rng, n, m, depth):
    return rng.random((n + 4, m + 4, depth)), np.zeros((n, m, depth)), rng.random((n, m, depth))


PROGRAMS = (
    Ordinary("cavity-flow", cavity_flow, _cavity, {"S": (9, 3, 4), "L": (101, 50, 50)}, ("u", "v", "p")),
    Ordinary("channel-flow", channel_flow, _channel, {"S": (9, 8, 4), "L": (101, 100, 30)}, ("u", "v", "p"), 1e-9),
    Ordinary(
        "horizontal-diffusion", horizontal_diffusion, _field, {"S": (6, 5, 4), "L": (160, 160, 80)}, ("out",), 0.0
    ),
)
