"""Loops for `perf.ordinary.programs.images`."""

import math

import numpy as np
from numba import prange

from perf.loops.parallel import inline, parallel


@parallel
def mandelbrot_masks(left, right, low, high, width, height, steps):
    """Return last values and numbers of steps."""
    z = np.empty((height, width), np.complex128)
    counts = np.empty((height, width), np.int64)
    across, up = (right - left) / (width - 1), (high - low) / (height - 1)
    for i in prange(height):
        for j in range(width):
            a, b = left + j * across, low + i * up
            x, y, n = 0.0, 0.0, 0
            while n < steps and x * x + y * y <= 4.0:
                x, y = x * x - y * y + a, 2.0 * x * y + b
                n += 1
            z[i, j] = complex(x, y)
            counts[i, j] = n
    return z, counts


@parallel
def mandelbrot_shrinking(c, steps):
    """Return numbers of steps."""
    counts = np.empty(c.shape, np.int64)
    for i in prange(c.shape[0]):
        for j in range(c.shape[1]):
            a, b = c[i, j].real, c[i, j].imag
            x, y, n = 0.0, 0.0, 0
            while n < steps:
                x, y = x * x - y * y + a, 2.0 * x * y + b
                if not x * x + y * y <= 4.0:
                    break
                n += 1
            counts[i, j] = n
    return counts


@parallel
def convolution_layer(images, weights, bias):
    """Return the convolution with bias and rectifier."""
    count, height, width, channels = images.shape
    size, outputs = weights.shape[0], weights.shape[3]
    rows, columns = height - size + 1, width - size + 1
    out = np.empty((count, rows, columns, outputs), np.float32)
    for task in prange(count * rows):
        n, i = task // rows, task % rows
        for j in range(columns):
            total = np.zeros(outputs, np.float32)
            for p in range(size):
                for q in range(size):
                    for c in range(channels):
                        value = images[n, i + p, j + q, c]
                        for o in range(outputs):
                            total[o] += value * weights[p, q, c, o]
            for o in range(outputs):
                out[n, i, j, o] = max(total[o] + bias[o], np.float32(0.0))
    return out


@parallel
def max_pooling(x, size):
    """Return the maxima of windows."""
    count, height, width, channels = x.shape
    rows, columns = height // size, width // size
    out = np.empty((count, rows, columns, channels), x.dtype)
    for task in prange(count * rows):
        n, i = task // rows, task % rows
        for j in range(columns):
            for c in range(channels):
                best = x[n, i * size, j * size, c]
                for p in range(size):
                    for q in range(size):
                        best = max(best, x[n, i * size + p, j * size + q, c])
                out[n, i, j, c] = best
    return out


@inline
def _ring(value, edges):
    # A guess from the equal widths, mended by the edges themselves.
    i = int(value / edges[1])
    while i > 0 and value < edges[i]:
        i -= 1
    while i < edges.size - 1 and value >= edges[i + 1]:
        i += 1
    return i


@parallel
def azimuthal_integration(image, radius, bins):
    """Return radii and means of rings."""
    rows, columns = radius.shape
    edges = np.linspace(0.0, radius.max(), bins + 1)
    parts = 16
    sums, counts = np.zeros((parts, bins)), np.zeros((parts, bins), np.int64)
    for part in prange(parts):
        for i in range(part * rows // parts, (part + 1) * rows // parts):
            for j in range(columns):
                ring = _ring(radius[i, j], edges)
                if ring < bins:
                    sums[part, ring] += image[i, j]
                    counts[part, ring] += 1
    return 0.5 * (edges[1:] + edges[:-1]), sums.sum(axis=0) / counts.sum(axis=0)


@parallel
def savitzky_golay(signals, window, order):
    """Return smoothed rows."""
    half = window // 2
    powers = np.empty((window, order + 1))
    for i in range(window):
        for j in range(order + 1):
            powers[i, j] = float(i - half) ** j
    weights = np.linalg.pinv(powers)[0].copy()
    rows, columns = signals.shape
    out = np.empty((rows, columns))
    for row in prange(rows):
        padded = np.empty(columns + 2 * half)
        padded[:half], padded[half + columns :] = signals[row, 0], signals[row, -1]
        padded[half : half + columns] = signals[row]
        # Blocks that stay in the first cache, with sums in a line of their own.
        total = np.empty(256)
        for start in range(0, columns, 256):
            count = min(256, columns - start)
            total[:] = 0.0
            for k in range(window):
                weight, line = weights[k], padded[start + k : start + k + count]
                for i in range(count):
                    total[i] += weight * line[i]
            out[row, start : start + count] = total[:count]
    return out


@parallel
def threshold(image, low, high):
    """Stretch the contrast."""
    rows, columns = image.shape
    dark = bright = 0
    scale = 255.0 / (high - low)
    for i in prange(rows):
        for j in range(columns):
            value = image[i, j]
            if value < low:
                dark += 1
                image[i, j] = 0
            elif value > high:
                bright += 1
                image[i, j] = 255
            else:
                image[i, j] = np.uint8((value - float(low)) * scale)
    return dark / image.size, bright / image.size


@parallel
def ray_spheres(origin, directions, centres, radii, light):
    """Return distances, spheres and brightnesses."""
    count = len(directions)
    nearest, seen, brightness = np.empty(count), np.empty(count, np.int64), np.empty(count)
    for r in prange(count):
        dx, dy, dz = directions[r, 0], directions[r, 1], directions[r, 2]
        best, sphere = np.inf, -1
        for s in range(len(radii)):
            ox, oy, oz = origin[0] - centres[s, 0], origin[1] - centres[s, 1], origin[2] - centres[s, 2]
            b = dx * ox + dy * oy + dz * oz
            square = b * b - (ox * ox + oy * oy + oz * oz - radii[s] * radii[s])
            if square > 0.0:
                distance = -b - math.sqrt(square)
                if 1e-6 < distance < best:
                    best, sphere = distance, s
        shade = 0.0
        if sphere >= 0:
            for a in range(3):
                normal = (origin[a] + best * directions[r, a] - centres[sphere, a]) / radii[sphere]
                shade += normal * light[a]
        nearest[r], seen[r], brightness[r] = best, sphere, max(shade, 0.0)
    return nearest, seen, brightness


BY_HAND = {
    "mandelbrot-masks": mandelbrot_masks,
    "mandelbrot-shrinking": mandelbrot_shrinking,
    "convolution-layer": convolution_layer,
    "max-pooling": max_pooling,
    "azimuthal-integration": azimuthal_integration,
    "savitzky-golay": savitzky_golay,
    "threshold": threshold,
    "ray-spheres": ray_spheres,
}
