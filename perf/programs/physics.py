"""Particles, distances on the globe, the Mandelbrot set."""

from __future__ import annotations

from typing import Any

import numpy as np

from perf.program import Arrays, Program, Random, Shape, Tolerance

EARTH_RADIUS_KM = 6371.0
MANDELBROT_STEPS = 20


def accelerations(position: Any, mass: Any) -> Any:
    """Return the acceleration of every body by the gravity of all others, softened at short distance."""
    difference = position[None] - position[:, None]
    square = (difference * difference).sum(axis=2) + 1e-3
    pull = mass * square**-1.5
    return (difference * pull[:, :, None]).sum(axis=1)


def haversine(latitude1: Any, longitude1: Any, latitude2: Any, longitude2: Any) -> Any:
    """Return the distances in km of points on the globe whose coordinates are in radians."""
    across = np.sin(0.5 * (latitude2 - latitude1))
    along = np.sin(0.5 * (longitude2 - longitude1))
    square = across * across + np.cos(latitude1) * np.cos(latitude2) * along * along
    return 2.0 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(square))


def mandelbrot(real: Any, imaginary: Any) -> Any:
    """Return after how many of 20 steps z * z + c leaves the disc of radius 2."""
    x = np.zeros((imaginary.shape[0], real.shape[1]))
    y = np.zeros((imaginary.shape[0], real.shape[1]))
    steps = np.zeros((imaginary.shape[0], real.shape[1]), dtype=np.int32)
    for _ in range(MANDELBROT_STEPS):
        xx, yy = x * x, y * y
        inside = xx + yy <= 4.0
        steps = steps + inside
        x, y = np.where(inside, xx - yy + real, x), np.where(inside, 2.0 * x * y + imaginary, y)
    return steps


def bodies(rng: Random, shape: Shape) -> Arrays:
    """Return places in space and masses."""
    return rng.standard_normal((shape[0], 3)), rng.uniform(0.1, 1.0, shape[0])


def places(rng: Random, shape: Shape) -> Arrays:
    """Return latitudes and longitudes of two sets of points, in radians."""
    latitudes = [np.arcsin(rng.uniform(-1, 1, shape)) for _ in range(2)]
    longitudes = [rng.uniform(-np.pi, np.pi, shape) for _ in range(2)]
    return latitudes[0], longitudes[0], latitudes[1], longitudes[1]


def plane(rng: Random, shape: Shape) -> Arrays:
    """Return a row of real parts and a column of imaginary parts; nothing is random about them."""
    return np.linspace(-2.0, 0.5, shape[1])[None, :], np.linspace(-1.25, 1.25, shape[0])[:, None]


PROGRAMS = (
    Program(
        "n-body accelerations f64",
        accelerations,
        bodies,
        {"S": (20,), "M": (140,), "L": (1000,)},
        Tolerance(1e-10, 1e-10),
        kernels=1,
    ),
    Program(
        "haversine f64",
        haversine,
        places,
        {"S": (1000,), "M": (20_000,), "L": (4_000_000,)},
        Tolerance(1e-12, 1e-9),
        kernels=1,
        expression="12742.0 * arcsin(sqrt(sin(0.5 * (latitude2 - latitude1)) ** 2"
        " + cos(latitude1) * cos(latitude2) * sin(0.5 * (longitude2 - longitude1)) ** 2))",
    ),
    Program(
        "Mandelbrot, 20 steps f64",
        mandelbrot,
        plane,
        {"S": (32, 32), "M": (200, 200), "L": (1000, 1000)},
        Tolerance(),
        kernels=1,
    ),
)
