"""Ports of `perf.ordinary.programs.sweeps`: sweeps are scans over the rows of a transposed array."""

import jax.numpy as jnp
from jax import lax


def adi(steps, r, u):
    """Return the plate."""

    def solved(lines):
        # Along the first axis of the inner points; outside of them all is zero.
        def forward(before, right):
            p, q = before
            pivot = 1.0 + 2.0 * r - r * p
            after = r / pivot, (right + r * q) / pivot
            return after, after

        def backward(x, factors):
            p, q = factors
            x = p * x + q
            return x, x

        zero = jnp.zeros(lines.shape[1])
        factors = lax.scan(forward, (zero, zero), lines)[1]
        return lax.scan(backward, zero, factors, reverse=True)[1]

    def step(_, u):
        explicit = r * u[:-2, 1:-1] + (1.0 - 2.0 * r) * u[1:-1, 1:-1] + r * u[2:, 1:-1]
        v = jnp.pad(solved(explicit.T).T, 1)
        explicit = r * v[1:-1, :-2] + (1.0 - 2.0 * r) * v[1:-1, 1:-1] + r * v[1:-1, 2:]
        return u.at[1:-1, 1:-1].set(solved(explicit))

    return lax.fori_loop(0, steps, step, u)


def deriche(alpha, image):
    """Return the smoothed image."""
    decay = jnp.exp(-alpha)
    k = (1.0 - decay) ** 2 / (1.0 + 2.0 * alpha * decay - decay * decay)
    a1, a2 = k, k * decay * (alpha - 1.0)
    a3, a4 = k * decay * (alpha + 1.0), -k * decay * decay
    b1, b2 = 2.0 * decay, -decay * decay

    def filtered(x):
        zero = jnp.zeros(x.shape[1])

        def step(state, right):
            y1, y2 = state
            y = right + b1 * y1 + b2 * y2
            return (y, y1), y

        before = jnp.pad(x, ((1, 0), (0, 0)))[:-1]
        after, second = jnp.pad(x, ((0, 1), (0, 0)))[1:], jnp.pad(x, ((0, 2), (0, 0)))[2:]
        forward = lax.scan(step, (zero, zero), a1 * x + a2 * before)[1]
        return forward + lax.scan(step, (zero, zero), a3 * after + a4 * second, reverse=True)[1]

    return filtered(filtered(image.T).T)


def vertical_advection(tendency, u, w, dt):
    """Return the tendency."""
    rate = 1.0 / dt
    u_first = jnp.moveaxis(u, 2, 0)
    between = 0.25 * (w[1:] + w[:-1])
    between = jnp.moveaxis(between, 2, 0)
    below = -between.at[0].set(0.0)
    above = jnp.concatenate([between[1:], jnp.zeros_like(between[:1])])
    down = jnp.concatenate([jnp.zeros_like(u_first[:1]), u_first[:-1] - u_first[1:]])
    up = jnp.concatenate([u_first[1:] - u_first[:-1], jnp.zeros_like(u_first[:1])])
    right = rate * u_first - below * down - above * up

    def forward(before, level):
        upper, solved = before
        below, above, right = level
        pivot = rate - below - above - upper * below
        after = above / pivot, (right - below * solved) / pivot
        return after, after

    def backward(x, level):
        upper, right = level
        x = right - upper * x
        return x, x

    zero = jnp.zeros(u.shape[:2])
    factors = lax.scan(forward, (zero, zero), (below, above, right))[1]
    solution = lax.scan(backward, zero, factors, reverse=True)[1]
    return tendency + rate * (jnp.moveaxis(solution, 0, 2) - u)


PORTS = {"adi": adi, "deriche": deriche, "vertical-advection": vertical_advection}
