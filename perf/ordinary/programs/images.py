"""Programs on images: fractals, windows, masks, integration by rings, rays."""

import numpy as np

from perf.ordinary.record import Ordinary

# An orbit at the rim of the set multiplies a distance by up to four at each step, and NumPy contracts the square of a
# complex number on processors with fused multiply-add and 512-bit vectors only.
RIM_OF_THE_SET = 1e-6


def mandelbrot_masks(left, right, low, high, width, height, steps):
    """Return the last values and the numbers of steps of a rectangle of the complex plane."""
    real = np.linspace(left, right, width)
    imaginary = np.linspace(low, high, height)
    c = real + 1j * imaginary[:, None]
    z = np.zeros_like(c)
    counts = np.zeros(c.shape, dtype=np.int64)
    for n in range(steps):
        inside = z.real * z.real + z.imag * z.imag <= 4.0
        counts[inside] = n + 1
        z[inside] = z[inside] ** 2 + c[inside]
    return z, counts


def mandelbrot_shrinking(c, steps):
    """Return the numbers of steps; points that have left are taken out of the arrays."""
    counts = np.full(c.size, steps)
    index = np.arange(c.size)
    point = c.ravel()
    z = np.zeros_like(point)
    for n in range(steps):
        z = z * z + point
        inside = z.real * z.real + z.imag * z.imag <= 4.0
        counts[index[~inside]] = n
        z, point, index = z[inside], point[inside], index[inside]
        if len(z) == 0:
            break
    return counts.reshape(c.shape)


def convolution_layer(images, weights, bias):
    """Return a convolution of a batch of images by windows, with a bias and a rectifier."""
    count, height, width, _ = images.shape
    size, out_channels = weights.shape[0], weights.shape[3]
    rows, columns = height - size + 1, width - size + 1
    out = np.empty((count, rows, columns, out_channels), dtype=images.dtype)
    for i in range(rows):
        for j in range(columns):
            window = images[:, i : i + size, j : j + size, :]
            out[:, i, j, :] = np.sum(window[:, :, :, :, np.newaxis] * weights[np.newaxis], axis=(1, 2, 3))
    return np.maximum(out + bias, 0)


def max_pooling(x, size):
    """Return the maxima of the windows of a batch of images."""
    count, height, width, channels = x.shape
    out = np.empty((count, height // size, width // size, channels), dtype=x.dtype)
    for i in range(height // size):
        for j in range(width // size):
            window = x[:, i * size : (i + 1) * size, j * size : (j + 1) * size, :]
            out[:, i, j, :] = np.max(window, axis=(1, 2))
    return out


def azimuthal_integration(image, radius, bins):
    """Return the means of an image over rings of equal width, and the rings' radii."""
    edges = np.linspace(0.0, radius.max(), bins + 1)
    profile = np.zeros(bins)
    for i in range(bins):
        ring = (radius >= edges[i]) & (radius < edges[i + 1])
        profile[i] = image[ring].mean()
    return 0.5 * (edges[1:] + edges[:-1]), profile


def savitzky_golay(signals, window, order):
    """Return every row smoothed by polynomials fitted to a moving window."""
    half = window // 2
    positions = np.arange(-half, half + 1, dtype=np.float64)
    powers = positions[:, None] ** np.arange(order + 1)
    weights = np.linalg.pinv(powers)[0]
    out = np.empty_like(signals)
    for row in range(signals.shape[0]):
        padded = np.pad(signals[row], half, mode="edge")
        out[row] = np.convolve(padded, weights[::-1], mode="valid")
    return out


def threshold(image, low, high):
    """Stretch the contrast of an image of bytes in place; return the shares of dark and of bright pixels."""
    dark = image < low
    bright = image > high
    middle = ~(dark | bright)
    image[dark] = 0
    image[bright] = 255
    image[middle] = (image[middle] - float(low)) * (255.0 / (high - low))
    return dark.mean(), bright.mean()


def ray_spheres(origin, directions, centres, radii, light):
    """Return the distance, the sphere and the brightness that each ray sees."""
    count = len(directions)
    nearest = np.full(count, np.inf)
    seen = np.full(count, -1)
    for s in range(len(radii)):
        offset = origin - centres[s]
        b = directions @ offset
        c = offset @ offset - radii[s] ** 2
        discriminant = b * b - c
        hit = discriminant > 0.0
        distance = np.full(count, np.inf)
        distance[hit] = -b[hit] - np.sqrt(discriminant[hit])
        closer = (distance > 1e-6) & (distance < nearest)
        nearest[closer] = distance[closer]
        seen[closer] = s
    brightness = np.zeros(count)
    visible = seen >= 0
    points = origin + nearest[visible][:, None] * directions[visible]
    normals = (points - centres[seen[visible]]) / radii[seen[visible]][:, None]
    brightness[visible] = np.maximum(normals @ light, 0.0)
    return nearest, seen, brightness


def _rectangle(_, width, height, steps):
    return -2.25, 0.75, -1.25, 1.25, width, height, steps


def _plane(_, width, height, steps):
    return np.linspace(-2.25, 0.75, width) + 1j * np.linspace(-1.25, 1.25, height)[:, None], steps


def _layer(rng, count, side, inputs, size, outputs):
    images = rng.standard_normal((count, side, side, inputs), dtype=np.float32)
    weights = rng.standard_normal((size, size, inputs, outputs), dtype=np.float32)
    return images, weights, rng.standard_normal(outputs, dtype=np.float32)


def _batch(rng, count, side, channels, size):
    return rng.standard_normal((count, side, side, channels), dtype=np.float32), size


def _rings(rng, side, bins):
    y, x = np.indices((side, side)) - 0.5 * (side - 1.3)
    radius = np.hypot(y, x)
    return np.exp(-0.01 * radius) * (1.0 + 0.1 * rng.random((side, side))), radius, bins


def _signals(rng, rows, columns):
    return np.cumsum(rng.standard_normal((rows, columns)), axis=1), 21, 3


def _bytes(rng, side):
    return rng.integers(0, 256, (side, side), dtype=np.uint8), 60, 200


def _rays(rng, side, spheres):
    y, x = np.meshgrid(np.linspace(-1.0, 1.0, side), np.linspace(-1.0, 1.0, side), indexing="ij")
    directions = np.stack([x.ravel(), y.ravel(), np.full(side * side, 1.5)], axis=1)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    centres = np.column_stack([rng.uniform(-3.0, 3.0, (spheres, 2)), rng.uniform(4.0, 10.0, spheres)])
    light = np.array([0.6, -0.6, -0.5])
    return np.zeros(3), directions, centres, rng.uniform(0.3, 1.0, spheres), light / np.linalg.norm(light)


PROGRAMS = (
    Ordinary(
        "mandelbrot-masks",
        mandelbrot_masks,
        _rectangle,
        {"S": (60, 40, 30), "L": (600, 400, 60)},
        tolerance=RIM_OF_THE_SET,
    ),
    Ordinary("mandelbrot-shrinking", mandelbrot_shrinking, _plane, {"S": (60, 40, 30), "L": (1000, 700, 100)}),
    Ordinary(
        "convolution-layer",
        convolution_layer,
        _layer,
        {"S": (2, 12, 3, 3, 4), "L": (4, 64, 3, 5, 16)},
        tolerance=1e-5,
    ),
    Ordinary("max-pooling", max_pooling, _batch, {"S": (2, 12, 4, 2), "L": (8, 224, 16, 2)}, tolerance=0.0),
    Ordinary("azimuthal-integration", azimuthal_integration, _rings, {"S": (60, 20), "L": (1000, 150)}),
    Ordinary("savitzky-golay", savitzky_golay, _signals, {"S": (20, 200), "L": (2000, 3000)}),
    Ordinary("threshold", threshold, _bytes, {"S": (100,), "L": (3000,)}, ("image",)),
    Ordinary("ray-spheres", ray_spheres, _rays, {"S": (30, 6), "L": (500, 60)}),
)
