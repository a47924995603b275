"""Loops for `perf.programs.physics`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange

from perf.loops.parallel import parallel

EARTH_RADIUS_KM = 6371.0
MANDELBROT_STEPS = 20


@parallel
def accelerations(position: Any, mass: Any) -> Any:
    """Return the acceleration of every body."""
    count = mass.size
    out = np.empty_like(position)
    for i in prange(count):
        ax, ay, az = 0.0, 0.0, 0.0
        for j in range(count):
            dx = position[j, 0] - position[i, 0]
            dy = position[j, 1] - position[i, 1]
            dz = position[j, 2] - position[i, 2]
            square = dx * dx + dy * dy + dz * dz + 1e-3
            pull = mass[j] / (square * math.sqrt(square))
            ax += dx * pull
            ay += dy * pull
            az += dz * pull
        out[i, 0], out[i, 1], out[i, 2] = ax, ay, az
    return out


@parallel
def haversine(latitude1: Any, longitude1: Any, latitude2: Any, longitude2: Any) -> Any:
    """Return distances in km."""
    out = np.empty_like(latitude1)
    for i in prange(out.size):
        across = math.sin(0.5 * (latitude2[i] - latitude1[i]))
        along = math.sin(0.5 * (longitude2[i] - longitude1[i]))
        square = across * across + math.cos(latitude1[i]) * math.cos(latitude2[i]) * along * along
        out[i] = 2.0 * EARTH_RADIUS_KM * math.asin(math.sqrt(square))
    return out


@parallel
def mandelbrot(real: Any, imaginary: Any) -> Any:
    """Return the steps of every point; a point outside is done."""
    rows, columns = imaginary.shape[0], real.shape[1]
    out = np.empty((rows, columns), dtype=np.int32)
    for i in prange(rows):
        for j in range(columns):
            x, y, steps = 0.0, 0.0, 0
            while steps < MANDELBROT_STEPS:
                xx, yy = x * x, y * y
                if not xx + yy <= 4.0:
                    break
                steps += 1
                x, y = xx - yy + real[0, j], 2.0 * x * y + imaginary[i, 0]
            out[i, j] = steps
    return out


LOOPS = {
    "n-body accelerations f64": accelerations,
    "haversine f64": haversine,
    "Mandelbrot, 20 steps f64": mandelbrot,
}
