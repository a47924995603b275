"""Ports of `perf.ordinary.programs.images`."""

import jax
import jax.numpy as jnp
from jax import lax


def mandelbrot_masks(left, right, low, high, width, height, steps):
    """Return last values and numbers of steps."""
    c = jnp.linspace(left, right, width) + 1j * jnp.linspace(low, high, height)[:, None]

    def step(_, state):
        z, counts = state
        inside = z.real * z.real + z.imag * z.imag <= 4.0
        return jnp.where(inside, z * z + c, z), counts + inside

    return lax.fori_loop(0, steps, step, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int64)))


def convolution_layer(images, weights, bias):
    """Return the convolution with bias and rectifier."""
    layout = ("NHWC", "HWIO", "NHWC")
    return jax.nn.relu(lax.conv_general_dilated(images, weights, (1, 1), "VALID", dimension_numbers=layout) + bias)


def max_pooling(x, size):
    """Return the maxima of windows."""
    window = (1, size, size, 1)
    return lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID")


def savitzky_golay(signals, window, order):
    """Return smoothed rows."""
    half = window // 2
    positions = jnp.arange(-half, half + 1, dtype=jnp.float64)
    weights = jnp.linalg.pinv(positions[:, None] ** jnp.arange(order + 1))[0]
    padded = jnp.pad(signals, ((0, 0), (half, half)), mode="edge")
    return jax.vmap(lambda row: jnp.convolve(row, weights[::-1], mode="valid"))(padded)


def threshold(image, low, high):
    """Return the shares and the image."""
    dark, bright = image < low, image > high
    stretched = ((image - float(low)) * (255.0 / (high - low))).astype(jnp.uint8)
    return dark.mean(), bright.mean(), jnp.where(dark, 0, jnp.where(bright, 255, stretched)).astype(jnp.uint8)


def ray_spheres(origin, directions, centres, radii, light):
    """Return distances, spheres and brightnesses."""

    def meet(state, sphere):
        nearest, seen = state
        s, centre, radius = sphere
        offset = origin - centre
        b = directions @ offset
        discriminant = b * b - (offset @ offset - radius**2)
        hit = discriminant > 0.0
        distance = jnp.where(hit, -b - jnp.sqrt(jnp.where(hit, discriminant, 0.0)), jnp.inf)
        closer = (distance > 1e-6) & (distance < nearest)
        return (jnp.where(closer, distance, nearest), jnp.where(closer, s, seen)), None

    count = len(directions)
    start = jnp.full(count, jnp.inf), jnp.full(count, -1)
    (nearest, seen), _ = lax.scan(meet, start, (jnp.arange(len(radii)), centres, radii))
    visible = seen >= 0
    points = origin + jnp.where(visible, nearest, 0.0)[:, None] * directions
    normals = (points - centres[seen]) / radii[seen][:, None]
    return nearest, seen, jnp.where(visible, jnp.maximum(normals @ light, 0.0), 0.0)


PORTS = {
    "mandelbrot-masks": mandelbrot_masks,
    "convolution-layer": convolution_layer,
    "max-pooling": max_pooling,
    "savitzky-golay": savitzky_golay,
    "threshold": threshold,
    "ray-spheres": ray_spheres,
}
