"""Ports of `perf.ordinary.programs.flows`."""

import jax.numpy as jnp
from jax import lax


def cavity_flow(steps, turns, u, v, p, dt, dx, dy, rho, nu):
    """Return velocities and pressure."""

    def source(u, v):
        du_dx, dv_dx = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx), (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)
        du_dy, dv_dy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy), (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
        return rho * ((du_dx + dv_dy) / dt - du_dx**2 - 2 * du_dy * dv_dx - dv_dy**2)

    def relaxed(p, b):
        along, across = (p[1:-1, 2:] + p[1:-1, :-2]) * dy**2, (p[2:, 1:-1] + p[:-2, 1:-1]) * dx**2
        p = p.at[1:-1, 1:-1].set((along + across - b * dx**2 * dy**2) / (2 * (dx**2 + dy**2)))
        p = p.at[:, -1].set(p[:, -2])
        p = p.at[0].set(p[1])
        p = p.at[:, 0].set(p[:, 1])
        return p.at[-1].set(0.0)

    def moved(x, u, v, slope):
        here = x[1:-1, 1:-1]
        x = x.at[1:-1, 1:-1].set(
            here
            - u[1:-1, 1:-1] * dt / dx * (here - x[1:-1, :-2])
            - v[1:-1, 1:-1] * dt / dy * (here - x[:-2, 1:-1])
            - slope
            + nu * dt / dx**2 * (x[1:-1, 2:] - 2 * here + x[1:-1, :-2])
            + nu * dt / dy**2 * (x[2:, 1:-1] - 2 * here + x[:-2, 1:-1])
        )
        return x.at[0].set(0.0).at[:, 0].set(0.0).at[:, -1].set(0.0).at[-1].set(0.0)

    def step(_, state):
        u, v, p = state
        b = source(u, v)
        p = lax.fori_loop(0, turns, lambda _, p: relaxed(p, b), p)
        along = dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
        across = dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
        return moved(u, u, v, along).at[-1].set(1.0), moved(v, u, v, across), p

    return lax.fori_loop(0, steps, step, (u, v, p))


def channel_flow(turns, tolerance, most, u, v, p, dt, dx, dy, rho, nu, force):
    """Return the number of steps, velocities and pressure."""

    def sides(x):
        return jnp.roll(x, -1, axis=1), jnp.roll(x, 1, axis=1)

    def relaxed(p, b):
        east, west = sides(p)
        along, across = (east + west)[1:-1] * dy**2, (p[2:] + p[:-2]) * dx**2
        p = p.at[1:-1].set((along + across - b * dx**2 * dy**2) / (2 * (dx**2 + dy**2)))
        p = p.at[0].set(p[1])
        return p.at[-1].set(p[-2])

    def moved(x, u, v, push):
        (east, west), here = sides(x), x[1:-1]
        inner = (
            here
            - u[1:-1] * dt / dx * (here - west[1:-1])
            - v[1:-1] * dt / dy * (here - x[:-2])
            + push
            + nu * dt / dx**2 * (east - 2 * x + west)[1:-1]
            + nu * dt / dy**2 * (x[2:] - 2 * here + x[:-2])
        )
        return jnp.pad(inner, ((1, 1), (0, 0)))

    def step(state):
        _, steps, u, v, p = state
        (ue, uw), (ve, vw) = sides(u), sides(v)
        du_dx, dv_dx = (ue - uw)[1:-1] / (2 * dx), (ve - vw)[1:-1] / (2 * dx)
        du_dy, dv_dy = (u[2:] - u[:-2]) / (2 * dy), (v[2:] - v[:-2]) / (2 * dy)
        b = rho * ((du_dx + dv_dy) / dt - du_dx**2 - 2 * du_dy * dv_dx - dv_dy**2)
        p = lax.fori_loop(0, turns, lambda _, p: relaxed(p, b), p)
        pe, pw = sides(p)
        new = moved(u, u, v, force * dt - dt / (2 * rho * dx) * (pe - pw)[1:-1])
        v = moved(v, u, v, -dt / (2 * rho * dy) * (p[2:] - p[:-2]))
        return (new.sum() - u.sum()) / new.sum(), steps + 1, new, v, p

    def unsteady(state):
        return (state[0] > tolerance) & (state[1] < most)

    return lax.while_loop(unsteady, step, (jnp.asarray(1.0), 0, u, v, p))[1:]


def horizontal_diffusion(field, out, coefficient):
    """Return the field."""
    laplace = 4.0 * field[1:-1, 1:-1] - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
    along = laplace[1:, 1:-1] - laplace[:-1, 1:-1]
    along = jnp.where(along * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0.0, 0.0, along)
    across = laplace[1:-1, 1:] - laplace[1:-1, :-1]
    across = jnp.where(across * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0.0, 0.0, across)
    return field[2:-2, 2:-2] - coefficient * (along[1:] - along[:-1] + across[:, 1:] - across[:, :-1])


PORTS = {
    "cavity-flow": cavity_flow,
    "channel-flow": channel_flow,
    "horizontal-diffusion": horizontal_diffusion,
}
