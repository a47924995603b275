"""Loops for `perf.programs.grids`: threads share the rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange

from perf.loops.parallel import parallel

TWO, HALF, MOST = np.float32(2), np.float32(0.5), np.float32(255)
RED, GREEN, BLUE = np.float32(0.299), np.float32(0.587), np.float32(0.114)


@parallel
def five_point(u: Any) -> Any:
    """Return the mean of the four neighbours of every inner point."""
    rows, columns = u.shape
    out = np.empty((rows - 2, columns - 2))
    for i in prange(rows - 2):
        for j in range(columns - 2):
            out[i, j] = 0.25 * (u[i, j + 1] + u[i + 2, j + 1] + u[i + 1, j] + u[i + 1, j + 2])
    return out


@parallel
def gradient_magnitude(u: Any) -> Any:
    """Return the length of the gradient at every inner point."""
    rows, columns = u.shape
    out = np.empty((rows - 2, columns - 2), dtype=u.dtype)
    for i in prange(rows - 2):
        for j in range(columns - 2):
            east = u[i, j + 2] + TWO * u[i + 1, j + 2] + u[i + 2, j + 2]
            west = u[i, j] + TWO * u[i + 1, j] + u[i + 2, j]
            north = u[i, j] + TWO * u[i, j + 1] + u[i, j + 2]
            south = u[i + 2, j] + TWO * u[i + 2, j + 1] + u[i + 2, j + 2]
            out[i, j] = math.sqrt((east - west) * (east - west) + (south - north) * (south - north))
    return out


@parallel
def grey(image: Any) -> Any:
    """Return the brightness of an RGB image of bytes."""
    rows, columns, _ = image.shape
    out = np.empty((rows, columns), dtype=np.uint8)
    for i in prange(rows):
        for j in range(columns):
            red, green, blue = np.float32(image[i, j, 0]), np.float32(image[i, j, 1]), np.float32(image[i, j, 2])
            light = RED * red + GREEN * green + BLUE * blue + HALF
            out[i, j] = np.uint8(min(light, MOST))
    return out


LOOPS = {
    "five-point stencil f64": five_point,
    "gradient magnitude f32": gradient_magnitude,
    "RGB to grey u8": grey,
}
