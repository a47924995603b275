"""Recurrences along one axis: alternating directions, a recursive filter, tridiagonal systems of column models."""

import numpy as np

from perf.ordinary.record import Ordinary


def adi(steps, r, u):
    """Advance the heat equation by steps that are implicit along rows and columns in turn; the border is zero."""
    n = u.shape[0]
    v = np.zeros((n, n))
    p = np.zeros((n, n))
    q = np.zeros((n, n))
    for _ in range(steps):
        for j in range(1, n - 1):
            pivot = 1.0 + 2.0 * r - r * p[1:-1, j - 1]
            p[1:-1, j] = r / pivot
            explicit = r * u[:-2, j] + (1.0 - 2.0 * r) * u[1:-1, j] + r * u[2:, j]
            q[1:-1, j] = (explicit + r * q[1:-1, j - 1]) / pivot
        for j in range(n - 2, 0, -1):
            v[1:-1, j] = p[1:-1, j] * v[1:-1, j + 1] + q[1:-1, j]
        for i in range(1, n - 1):
            pivot = 1.0 + 2.0 * r - r * p[i - 1, 1:-1]
            p[i, 1:-1] = r / pivot
            explicit = r * v[i, :-2] + (1.0 - 2.0 * r) * v[i, 1:-1] + r * v[i, 2:]
            q[i, 1:-1] = (explicit + r * q[i - 1, 1:-1]) / pivot
        for i in range(n - 2, 0, -1):
            u[i, 1:-1] = p[i, 1:-1] * u[i + 1, 1:-1] + q[i, 1:-1]
        p[0, :] = 0.0
        q[0, :] = 0.0
        p[:, 0] = 0.0
        q[:, 0] = 0.0


def deriche(alpha, image):
    """Return an image smoothed by the recursive filter of Deriche, along its rows and then its columns."""
    decay = np.exp(-alpha)
    k = (1.0 - decay) ** 2 / (1.0 + 2.0 * alpha * decay - decay * decay)
    a1, a2 = k, k * decay * (alpha - 1.0)
    a3, a4 = k * decay * (alpha + 1.0), -k * decay * decay
    b1, b2 = 2.0 * decay, -decay * decay
    rows, columns = image.shape
    left, right = np.zeros_like(image), np.zeros_like(image)
    left[:, 0] = a1 * image[:, 0]
    left[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * left[:, 0]
    for j in range(2, columns):
        left[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * left[:, j - 1] + b2 * left[:, j - 2]
    right[:, -2] = a3 * image[:, -1]
    for j in range(columns - 3, -1, -1):
        right[:, j] = a3 * image[:, j + 1] + a4 * image[:, j + 2] + b1 * right[:, j + 1] + b2 * right[:, j + 2]
    across = left + right
    down, up = np.zeros_like(image), np.zeros_like(image)
    down[0] = a1 * across[0]
    down[1] = a1 * across[1] + a2 * across[0] + b1 * down[0]
    for i in range(2, rows):
        down[i] = a1 * across[i] + a2 * across[i - 1] + b1 * down[i - 1] + b2 * down[i - 2]
    up[-2] = a3 * across[-1]
    for i in range(rows - 3, -1, -1):
        up[i] = a3 * across[i + 1] + a4 * across[i + 2] + b1 * up[i + 1] + b2 * up[i + 2]
    return down + up


def vertical_advection(tendency, u, w, dt):
    """Add the tendency of implicit advection along the last axis, a tridiagonal system for every column."""
    levels = u.shape[2]
    upper = np.ndarray(u.shape, dtype=u.dtype)
    right = np.ndarray(u.shape, dtype=u.dtype)
    rate = 1.0 / dt
    for k in range(levels):
        if k == 0:
            speed = 0.25 * (w[1:, :, 1] + w[:-1, :, 1])
            diagonal = rate - speed
            upper[:, :, 0] = speed / diagonal
            right[:, :, 0] = (rate * u[:, :, 0] - speed * (u[:, :, 1] - u[:, :, 0])) / diagonal
        elif k < levels - 1:
            below = -0.25 * (w[1:, :, k] + w[:-1, :, k])
            above = 0.25 * (w[1:, :, k + 1] + w[:-1, :, k + 1])
            diagonal = rate - below - above
            change = below * (u[:, :, k - 1] - u[:, :, k]) + above * (u[:, :, k + 1] - u[:, :, k])
            pivot = diagonal - upper[:, :, k - 1] * below
            upper[:, :, k] = above / pivot
            right[:, :, k] = (rate * u[:, :, k] - change - below * right[:, :, k - 1]) / pivot
        else:
            below = -0.25 * (w[1:, :, k] + w[:-1, :, k])
            diagonal = rate - below
            change = below * (u[:, :, k - 1] - u[:, :, k])
            pivot = diagonal - upper[:, :, k - 1] * below
            right[:, :, k] = (rate * u[:, :, k] - change - below * right[:, :, k - 1]) / pivot
    solution = right[:, :, levels - 1]
    tendency[:, :, levels - 1] += rate * (solution - u[:, :, levels - 1])
    for k in range(levels - 2, -1, -1):
        solution = right[:, :, k] - upper[:, :, k] * solution
        tendency[:, :, k] += rate * (solution - u[:, :, k])


def solve_tridiagonal(a, b, c, d, water, edge):
    """Return the solutions of systems along the last axis, from the bottom of the sea, where its columns begin."""
    depth = a.shape[2]
    w = np.zeros(a.shape)
    g = np.zeros(a.shape)
    x = np.zeros(a.shape)
    for k in range(depth):
        if k == 0:
            w[:, :, 0] = np.where(edge[:, :, 0], c[:, :, 0] / b[:, :, 0], 0.0)
            g[:, :, 0] = np.where(edge[:, :, 0], d[:, :, 0] / b[:, :, 0], 0.0)
        else:
            below = np.where(edge[:, :, k], 0.0, a[:, :, k])
            pivot = b[:, :, k] - below * w[:, :, k - 1]
            w[:, :, k] = np.where(water[:, :, k], c[:, :, k] / pivot, 0.0)
            g[:, :, k] = np.where(water[:, :, k], (d[:, :, k] - below * g[:, :, k - 1]) / pivot, 0.0)
    x[:, :, -1] = g[:, :, -1]
    for k in range(depth - 2, -1, -1):
        x[:, :, k] = g[:, :, k] - w[:, :, k] * x[:, :, k + 1]
    return x


def mix_energy(energy, mixing, shear, buoyancy, bottom, thickness, dt):
    """Advance the turbulent energy of an ocean: diffusion solved implicitly, production, dissipation, its floor."""
    depth = energy.shape[2]
    level = np.arange(depth)
    water = level[np.newaxis, np.newaxis, :] >= bottom[:, :, np.newaxis]
    edge = level[np.newaxis, np.newaxis, :] == bottom[:, :, np.newaxis]
    root = np.sqrt(np.maximum(0.0, energy))
    length = np.sqrt(2.0) * root / np.sqrt(np.maximum(1e-12, buoyancy))
    length[length < 1e-4] = 1e-4
    flux = np.zeros(energy.shape)
    flux[:, :, :-1] = dt / thickness[1:] * 0.5 * (mixing[:, :, :-1] + mixing[:, :, 1:])
    a = np.zeros(energy.shape)
    b = np.ones(energy.shape)
    c = np.zeros(energy.shape)
    a[:, :, 1:] = -flux[:, :, :-1] / thickness[1:]
    c[:, :, :-1] = -flux[:, :, :-1] / thickness[:-1]
    b -= c
    b[:, :, 1:] += flux[:, :, :-1] / thickness[1:] * ~edge[:, :, 1:]
    b += dt * 0.7 * root / length
    forcing = energy + dt * (mixing * shear - mixing * buoyancy)
    solution = solve_tridiagonal(a, b, c, forcing, water, edge)
    energy[:] = np.where(water, solution, energy)
    negative = water & (energy < 0.0)
    lost = np.sum(np.where(negative, energy, 0.0) * thickness, axis=2)
    energy[negative] = 0.0
    return lost


def _plate(rng, n, steps):
    u = np.zeros((n, n))
    u[1:-1, 1:-1] = rng.random((n - 2, n - 2))
    return steps, 0.4, u


def _image(rng, rows, columns):
    return 0.25, rng.random((rows, columns))


def _air(rng, rows, columns, levels):
    shape = (rows, columns, levels)
    return rng.random(shape), rng.random(shape), 0.1 * rng.random((rows + 1, columns, levels)), 3.0


def _sea(rng, rows, columns, depth):
    shape = (rows, columns, depth)
    energy = rng.random(shape) - 0.05
    bottom = rng.integers(0, depth + 1, (rows, columns))
    thickness = 1.0 + rng.random(depth)
    return energy, rng.random(shape), rng.random(shape), 4.0 * rng.random(shape), bottom, thickness, 0.5


PROGRAMS = (
    Ordinary("adi", adi, _plate, {"S": (9, 3), "L": (250, 50)}, ("u",)),
    Ordinary("deriche", deriche, _image, {"S": (9, 11), "L": (1000, 1200)}),
    Ordinary("vertical-advection", vertical_advection, _air, {"S": (4, 5, 8), "L": (128, 128, 80)}, ("tendency",)),
    Ordinary("ocean-mixing", mix_energy, _sea, {"S": (4, 5, 8), "L": (120, 120, 60)}, ("energy",)),
)
