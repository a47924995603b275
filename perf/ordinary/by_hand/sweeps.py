"""Loops for `perf.ordinary.programs.sweeps`."""

import math

import numpy as np
from numba import prange

from perf.loops.parallel import parallel


@parallel
def adi(steps, r, u):
    """Advance the heat equation; rows, and then blocks of columns, are solved on their own."""
    n = u.shape[0]
    v = np.zeros((n, n))
    p, q = np.zeros((n, n)), np.zeros((n, n))
    block = 32
    for _ in range(steps):
        for i in prange(1, n - 1):
            p0, q0 = 0.0, 0.0
            for j in range(1, n - 1):
                pivot = 1.0 + 2.0 * r - r * p0
                explicit = r * u[i - 1, j] + (1.0 - 2.0 * r) * u[i, j] + r * u[i + 1, j]
                p0, q0 = r / pivot, (explicit + r * q0) / pivot
                p[i, j], q[i, j] = p0, q0
            for j in range(n - 2, 0, -1):
                v[i, j] = p[i, j] * v[i, j + 1] + q[i, j]
        for part in prange((n - 2 + block - 1) // block):
            first, last = 1 + part * block, min(n - 1, 1 + (part + 1) * block)
            for i in range(1, n - 1):
                for j in range(first, last):
                    p0 = p[i - 1, j] if i > 1 else 0.0
                    q0 = q[i - 1, j] if i > 1 else 0.0
                    pivot = 1.0 + 2.0 * r - r * p0
                    explicit = r * v[i, j - 1] + (1.0 - 2.0 * r) * v[i, j] + r * v[i, j + 1]
                    p[i, j] = r / pivot
                    q[i, j] = (explicit + r * q0) / pivot
            for i in range(n - 2, 0, -1):
                for j in range(first, last):
                    u[i, j] = p[i, j] * u[i + 1, j] + q[i, j]


@parallel
def deriche(alpha, image):
    """Return the smoothed image; rows, and then blocks of columns, are filtered on their own."""
    decay = math.exp(-alpha)
    k = (1.0 - decay) ** 2 / (1.0 + 2.0 * alpha * decay - decay * decay)
    a1, a2 = k, k * decay * (alpha - 1.0)
    a3, a4 = k * decay * (alpha + 1.0), -k * decay * decay
    b1, b2 = 2.0 * decay, -decay * decay
    rows, columns = image.shape
    across, out = np.empty_like(image), np.empty_like(image)
    block = 32
    for i in prange(rows):
        x1, y1, y2 = 0.0, 0.0, 0.0
        for j in range(columns):
            y0 = a1 * image[i, j] + a2 * x1 + b1 * y1 + b2 * y2
            across[i, j] = y0
            x1, y2, y1 = image[i, j], y1, y0
        x1, x2, y1, y2 = 0.0, 0.0, 0.0, 0.0
        for j in range(columns - 1, -1, -1):
            y0 = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2
            across[i, j] += y0
            x2, x1, y2, y1 = x1, image[i, j], y1, y0
    for part in prange((columns + block - 1) // block):
        first = part * block
        width = min(columns - first, block)
        before, after, new = np.zeros(width), np.zeros(width), np.zeros(width)
        for i in range(rows):
            for j in range(width):
                x1 = across[i - 1, first + j] if i else 0.0
                new[j] = a1 * across[i, first + j] + a2 * x1 + b1 * before[j] + b2 * after[j]
                out[i, first + j] = new[j]
            after, before, new = before, new, after
        before[:] = 0.0
        after[:] = 0.0
        for i in range(rows - 1, -1, -1):
            for j in range(width):
                x1 = across[i + 1, first + j] if i < rows - 1 else 0.0
                x2 = across[i + 2, first + j] if i < rows - 2 else 0.0
                new[j] = a3 * x1 + a4 * x2 + b1 * before[j] + b2 * after[j]
                out[i, first + j] += new[j]
            after, before, new = before, new, after
    return out


@parallel
def vertical_advection(tendency, u, w, dt):
    """Add the tendency, column by column."""
    rows, columns, levels = u.shape
    rate = 1.0 / dt
    for i in prange(rows):
        upper, right = np.empty(levels), np.empty(levels)
        for j in range(columns):
            for k in range(levels):
                below = -0.25 * (w[i + 1, j, k] + w[i, j, k]) if k else 0.0
                above = 0.25 * (w[i + 1, j, k + 1] + w[i, j, k + 1]) if k < levels - 1 else 0.0
                change = 0.0
                if k:
                    change += below * (u[i, j, k - 1] - u[i, j, k])
                if k < levels - 1:
                    change += above * (u[i, j, k + 1] - u[i, j, k])
                before, last = (upper[k - 1], right[k - 1]) if k else (0.0, 0.0)
                pivot = rate - below - above - before * below
                upper[k] = above / pivot
                right[k] = (rate * u[i, j, k] - change - below * last) / pivot
            solution = 0.0
            for k in range(levels - 1, -1, -1):
                solution = right[k] - upper[k] * solution
                tendency[i, j, k] += rate * (solution - u[i, j, k])


@parallel
def mix_energy(energy, mixing, shear, buoyancy, bottom, thickness, dt):
    """Advance the energy, column by column; land is left alone."""
    rows, columns, depth = energy.shape
    lost = np.zeros((rows, columns))
    for i in prange(rows):
        w, g = np.zeros(depth), np.zeros(depth)
        for j in range(columns):
            start = bottom[i, j]
            for k in range(start, depth):
                root = math.sqrt(max(0.0, energy[i, j, k]))
                length = math.sqrt(2.0) * root / math.sqrt(max(1e-12, buoyancy[i, j, k]))
                length = max(length, 1e-4)
                above, below = 0.0, 0.0
                if k < depth - 1:
                    above = dt / thickness[k + 1] * 0.5 * (mixing[i, j, k] + mixing[i, j, k + 1])
                if k:
                    below = dt / thickness[k] * 0.5 * (mixing[i, j, k - 1] + mixing[i, j, k])
                c = -above / thickness[k]
                a = -below / thickness[k] if k > start else 0.0
                b = 1.0 - c - a + dt * 0.7 * root / length
                d = energy[i, j, k] + dt * mixing[i, j, k] * (shear[i, j, k] - buoyancy[i, j, k])
                w0, g0 = (w[k - 1], g[k - 1]) if k > start else (0.0, 0.0)
                pivot = b - a * w0
                w[k] = c / pivot
                g[k] = (d - a * g0) / pivot
            x = 0.0
            for k in range(depth - 1, start - 1, -1):
                x = g[k] - w[k] * x
                if x < 0.0:
                    lost[i, j] += x * thickness[k]
                energy[i, j, k] = max(x, 0.0)
    return lost


BY_HAND = {
    "adi": adi,
    "deriche": deriche,
    "vertical-advection": vertical_advection,
    "ocean-mixing": mix_energy,
}
