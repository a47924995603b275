"""Loops for `perf.ordinary.programs.solvers`."""

import math

import numpy as np
from numba import prange

from perf.loops.parallel import inline, parallel


@inline
def contour_integral(constant, linear, quadratic, right, points, weights):
    """Return both moments."""
    n = len(constant)
    first = np.zeros(right.shape, np.complex128)
    second = np.zeros(right.shape, np.complex128)
    matrix = np.empty((n, n), np.complex128)
    known = right.astype(np.complex128)
    for k in range(len(points)):
        z = points[k]
        for i in range(n):
            for j in range(n):
                matrix[i, j] = constant[i, j] + z * linear[i, j] + z * z * quadratic[i, j]
        solved = np.linalg.solve(matrix, known)
        for i in range(n):
            for j in range(right.shape[1]):
                first[i, j] += weights[k] * solved[i, j]
                second[i, j] += weights[k] * z * solved[i, j]
    return first, second


@parallel
def stockham_fft(x):
    """Return the transform."""
    n = len(x)
    y, out, twiddles = x.astype(np.complex128), np.empty(n, np.complex128), np.empty(n // 2, np.complex128)
    for p in prange(n // 2):
        angle = -math.pi * p / (n // 2)
        twiddles[p] = complex(math.cos(angle), math.sin(angle))
    half, stride = n // 2, 1
    while half >= 1:
        if half >= 64:
            for p in prange(half):
                for q in range(stride):
                    a, b = y[p * stride + q], y[(p + half) * stride + q]
                    out[2 * p * stride + q] = a + b
                    out[(2 * p + 1) * stride + q] = (a - b) * twiddles[p * stride]
        else:
            for q in prange(stride):
                for p in range(half):
                    a, b = y[p * stride + q], y[(p + half) * stride + q]
                    out[2 * p * stride + q] = a + b
                    out[(2 * p + 1) * stride + q] = (a - b) * twiddles[p * stride]
        y, out = out, y
        half //= 2
        stride *= 2
    return y


@inline
def conjugate_gradients(A, b, tolerance):
    """Return the solution and the number of iterations."""
    n = len(b)
    x = np.zeros(n)
    r = b - A @ x
    p = r.copy()
    square = r @ r
    iterations = 0
    while math.sqrt(square) > tolerance and iterations < 10 * n:
        Ap = A @ p
        alpha = square / (p @ Ap)
        updated = 0.0
        for i in range(n):
            x[i] += alpha * p[i]
            r[i] -= alpha * Ap[i]
            updated += r[i] * r[i]
        for i in range(n):
            p[i] = r[i] + (updated / square) * p[i]
        square = updated
        iterations += 1
    return x, iterations


@inline
def _pull(x, y):
    square = x * x + y * y
    cube = square * math.sqrt(square)
    return -x / cube, -y / cube


@parallel
def orbits_rk4(position, velocity, end, dt):
    """Return positions and velocities."""
    steps, t = 0, 0.0
    while t < end:
        t += dt
        steps += 1
    position, velocity = position.copy(), velocity.copy()
    for i in prange(len(position)):
        x, y, u, v = position[i, 0], position[i, 1], velocity[i, 0], velocity[i, 1]
        for _ in range(steps):
            a1, b1 = _pull(x, y)
            u2, v2 = u + 0.5 * dt * a1, v + 0.5 * dt * b1
            a2, b2 = _pull(x + 0.5 * dt * u, y + 0.5 * dt * v)
            u3, v3 = u + 0.5 * dt * a2, v + 0.5 * dt * b2
            a3, b3 = _pull(x + 0.5 * dt * u2, y + 0.5 * dt * v2)
            u4, v4 = u + dt * a3, v + dt * b3
            a4, b4 = _pull(x + dt * u3, y + dt * v3)
            x += dt / 6.0 * (u + 2.0 * u2 + 2.0 * u3 + u4)
            y += dt / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4)
            u += dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
            v += dt / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4)
        position[i, 0], position[i, 1], velocity[i, 0], velocity[i, 1] = x, y, u, v
    return position, velocity


@inline
def _slope(x, v, stiffness):
    return v, stiffness * (1.0 - x * x) * v - x


@inline
def adaptive_steps(y, stiffness, end, tolerance):
    """Return the state and the numbers of steps."""
    n = len(stiffness)
    state, updated = y.copy(), np.empty(2 * n)
    k1, k4 = np.empty(2 * n), np.empty(2 * n)
    for i in range(n):
        k1[i], k1[n + i] = _slope(state[i], state[n + i], stiffness[i])
    t, h = 0.0, 1e-3
    accepted = refused = 0
    while t < end:
        h = min(h, end - t)
        error = 0.0
        for i in range(n):
            x, v, s, p1, q1 = state[i], state[n + i], stiffness[i], k1[i], k1[n + i]
            p2, q2 = _slope(x + 0.5 * h * p1, v + 0.5 * h * q1, s)
            p3, q3 = _slope(x + 0.75 * h * p2, v + 0.75 * h * q2, s)
            x += h * (2.0 / 9.0 * p1 + 1.0 / 3.0 * p2 + 4.0 / 9.0 * p3)
            v += h * (2.0 / 9.0 * q1 + 1.0 / 3.0 * q2 + 4.0 / 9.0 * q3)
            p4, q4 = _slope(x, v, s)
            off_x = abs(h * (-5.0 / 72.0 * p1 + 1.0 / 12.0 * p2 + 1.0 / 9.0 * p3 - 1.0 / 8.0 * p4))
            off_v = abs(h * (-5.0 / 72.0 * q1 + 1.0 / 12.0 * q2 + 1.0 / 9.0 * q3 - 1.0 / 8.0 * q4))
            error = max(error, off_x, off_v)
            updated[i], updated[n + i], k4[i], k4[n + i] = x, v, p4, q4
        if error <= tolerance:
            t += h
            state, updated = updated, state
            k1, k4 = k4, k1
            accepted += 1
        else:
            refused += 1
        h *= min(5.0, max(0.2, 0.9 * (tolerance / (error + 1e-300)) ** (1.0 / 3.0)))
    return state, accepted, refused


BY_HAND = {
    "contour-integral": contour_integral,
    "stockham-fft": stockham_fft,
    "conjugate-gradients": conjugate_gradients,
    "orbits-rk4": orbits_rk4,
    "adaptive-steps": adaptive_steps,
}
