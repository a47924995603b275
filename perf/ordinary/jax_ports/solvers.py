"""Ports of `perf.ordinary.programs.solvers`."""

import jax.numpy as jnp
from jax import lax


def contour_integral(constant, linear, quadratic, right, points, weights):
    """Return both moments."""

    def add(moments, point):
        z, weight = point
        solved = jnp.linalg.solve(constant + z * linear + z * z * quadratic, right.astype(jnp.complex128))
        return (moments[0] + weight * solved, moments[1] + weight * z * solved), None

    zero = jnp.zeros(right.shape, jnp.complex128)
    return lax.scan(add, (zero, zero), (points, weights))[0]


def stockham_fft(x):
    """Return the transform."""
    n = len(x)
    y = x.astype(jnp.complex128)
    half, stride = n // 2, 1
    while half >= 1:
        twiddle = jnp.exp(-1j * jnp.pi * jnp.arange(half) / half)
        y = y.reshape(2, half, stride)
        y = jnp.stack([y[0] + y[1], (y[0] - y[1]) * twiddle[:, None]], axis=1).reshape(n)
        half //= 2
        stride *= 2
    return y


def conjugate_gradients(A, b, tolerance):
    """Return the solution and the number of iterations."""

    def step(state):
        x, r, p, square, iterations = state
        Ap = A @ p
        alpha = square / (p @ Ap)
        x, r = x + alpha * p, r - alpha * Ap
        updated = r @ r
        return x, r, r + (updated / square) * p, updated, iterations + 1

    def goes_on(state):
        return (jnp.sqrt(state[3]) > tolerance) & (state[4] < 10 * len(b))

    x, _, _, _, iterations = lax.while_loop(goes_on, step, (jnp.zeros_like(b), b, b, b @ b, 0))
    return x, iterations


def orbits_rk4(position, velocity, end, dt):
    """Return positions and velocities."""

    def pull(position):
        return -position / jnp.sqrt((position * position).sum(axis=1, keepdims=True)) ** 3

    def step(state):
        t, position, velocity = state
        v1, a1 = velocity, pull(position)
        v2, a2 = velocity + 0.5 * dt * a1, pull(position + 0.5 * dt * v1)
        v3, a3 = velocity + 0.5 * dt * a2, pull(position + 0.5 * dt * v2)
        v4, a4 = velocity + dt * a3, pull(position + dt * v3)
        position = position + dt / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)
        return t + dt, position, velocity + dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)

    return lax.while_loop(lambda state: state[0] < end, step, (jnp.zeros(()), position, velocity))[1:]


def adaptive_steps(y, stiffness, end, tolerance):
    """Return the state and the numbers of steps."""
    n = len(stiffness)

    def slope(y):
        return jnp.concatenate([y[n:], stiffness * (1.0 - y[:n] ** 2) * y[n:] - y[:n]])

    def step(state):
        t, h, y, k1, accepted, refused = state
        h = jnp.minimum(h, end - t)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.75 * h * k2)
        updated = y + h * (2.0 / 9.0 * k1 + 1.0 / 3.0 * k2 + 4.0 / 9.0 * k3)
        k4 = slope(updated)
        error = jnp.max(jnp.abs(h * (-5.0 / 72.0 * k1 + 1.0 / 12.0 * k2 + 1.0 / 9.0 * k3 - 1.0 / 8.0 * k4)))
        good = error <= tolerance
        factor = jnp.clip(0.9 * (tolerance / (error + 1e-300)) ** (1.0 / 3.0), 0.2, 5.0)
        y, k1 = jnp.where(good, updated, y), jnp.where(good, k4, k1)
        return jnp.where(good, t + h, t), h * factor, y, k1, accepted + good, refused + ~good

    start = jnp.zeros(()), jnp.asarray(1e-3, jnp.float64), y, slope(y), 0, 0
    _, _, y, _, accepted, refused = lax.while_loop(lambda state: state[0] < end, step, start)
    return y, accepted, refused


PORTS = {
    "contour-integral": contour_integral,
    "stockham-fft": stockham_fft,
    "conjugate-gradients": conjugate_gradients,
    "orbits-rk4": orbits_rk4,
    "adaptive-steps": adaptive_steps,
}
