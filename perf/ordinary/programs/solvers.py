"""Programs that solve equations: resolvents, transforms, iterations, steps in time."""

import numpy as np

from perf.ordinary.record import Ordinary


def contour_integral(constant, linear, quadratic, right, points, weights):
    """Return the first two moments of the resolvent of a quadratic eigenproblem along a contour."""
    first = np.zeros(right.shape, dtype=np.complex128)
    second = np.zeros(right.shape, dtype=np.complex128)
    for k in range(len(points)):
        z = points[k]
        solved = np.linalg.solve(constant + z * linear + z * z * quadratic, right)
        first += weights[k] * solved
        second += weights[k] * z * solved
    return first, second


def stockham_fft(x):
    """Return the Fourier transform of a power of two of numbers, in self-sorting steps of radix two."""
    n = len(x)
    y = x.astype(np.complex128)
    half, stride = n // 2, 1
    while half >= 1:
        twiddle = np.exp(-1j * np.pi * np.arange(half) / half)
        y = y.reshape(2, half, stride)
        out = np.empty((half, 2, stride), dtype=np.complex128)
        out[:, 0, :] = y[0] + y[1]
        out[:, 1, :] = (y[0] - y[1]) * twiddle[:, None]
        y = out.reshape(n)
        half //= 2
        stride *= 2
    return y


def conjugate_gradients(A, b, tolerance):
    """Return the solution of a positive definite system and the number of iterations."""
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    square = r @ r
    iterations = 0
    while np.sqrt(square) > tolerance and iterations < 10 * len(b):
        Ap = A @ p
        alpha = square / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        updated = r @ r
        p = r + (updated / square) * p
        square = updated
        iterations += 1
    return x, iterations


def pull(position):
    """Return the acceleration of bodies around a sun at the origin."""
    distance = np.sqrt((position * position).sum(axis=1, keepdims=True))
    return -position / distance**3


def orbits_rk4(position, velocity, end, dt):
    """Return positions and velocities at the end, by the classical method of Runge and Kutta."""
    t = 0.0
    while t < end:
        v1, a1 = velocity, pull(position)
        v2, a2 = velocity + 0.5 * dt * a1, pull(position + 0.5 * dt * v1)
        v3, a3 = velocity + 0.5 * dt * a2, pull(position + 0.5 * dt * v2)
        v4, a4 = velocity + dt * a3, pull(position + dt * v3)
        position = position + dt / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)
        velocity = velocity + dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        t += dt
    return position, velocity


def oscillators(y, stiffness):
    """Return the derivatives of Van der Pol oscillators, positions first, then velocities."""
    n = len(stiffness)
    change = np.empty_like(y)
    change[:n] = y[n:]
    change[n:] = stiffness * (1.0 - y[:n] ** 2) * y[n:] - y[:n]
    return change


def adaptive_steps(y, stiffness, end, tolerance):
    """Return the state at the end and the numbers of steps accepted and refused."""
    t, h = 0.0, 1e-3
    accepted = refused = 0
    k1 = oscillators(y, stiffness)
    while t < end:
        h = min(h, end - t)
        k2 = oscillators(y + 0.5 * h * k1, stiffness)
        k3 = oscillators(y + 0.75 * h * k2, stiffness)
        updated = y + h * (2.0 / 9.0 * k1 + 1.0 / 3.0 * k2 + 4.0 / 9.0 * k3)
        k4 = oscillators(updated, stiffness)
        error = np.max(np.abs(h * (-5.0 / 72.0 * k1 + 1.0 / 12.0 * k2 + 1.0 / 9.0 * k3 - 1.0 / 8.0 * k4)))
        if error <= tolerance:
            t += h
            y = updated
            k1 = k4
            accepted += 1
        else:
            refused += 1
        h *= min(5.0, max(0.2, 0.9 * (tolerance / (error + 1e-300)) ** (1.0 / 3.0)))
    return y, accepted, refused


def _pencil(rng, n, columns, points):
    constant, linear, quadratic = (rng.standard_normal((n, n)) for _ in range(3))
    angles = 2.0 * np.pi * (np.arange(points) + 0.5) / points
    circle = np.exp(1j * angles)
    return constant, linear, quadratic, rng.standard_normal((n, columns)), 2.0 * circle, 2.0 * circle / points


def _signal(rng, n):
    return (rng.standard_normal(n) + 1j * rng.standard_normal(n),)


def _positive(rng, n):
    half = rng.standard_normal((n, n))
    return half @ half.T / n + np.eye(n), rng.standard_normal(n), 1e-10


def _bodies(rng, n, end):
    radius, angle = rng.uniform(1.0, 3.0, n), rng.uniform(0.0, 2.0 * np.pi, n)
    position = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    velocity = np.column_stack([-np.sin(angle), np.cos(angle)]) / np.sqrt(radius)[:, None]
    return position, velocity, float(end), 0.01


def _stiff(rng, n, end):
    return rng.standard_normal(2 * n), rng.uniform(1.0, 5.0, n), float(end), 1e-6


PROGRAMS = (
    Ordinary("contour-integral", contour_integral, _pencil, {"S": (10, 3, 8), "L": (150, 10, 32)}),
    Ordinary("stockham-fft", stockham_fft, _signal, {"S": (256,), "L": (1 << 19,)}),
    Ordinary("conjugate-gradients", conjugate_gradients, _positive, {"S": (40,), "L": (2000,)}),
    Ordinary("orbits-rk4", orbits_rk4, _bodies, {"S": (10, 1), "L": (1000, 10)}),
    Ordinary("adaptive-steps", adaptive_steps, _stiff, {"S": (5, 1), "L": (1000, 10)}),
)
