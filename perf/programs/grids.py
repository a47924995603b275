"""Grids and images: stencils, edges, grey values."""

from __future__ import annotations

from typing import Any

import numpy as np

from perf.program import Array, Arrays, Program, Random, Shape, Tolerance, normals


def five_point(u: Any) -> Any:
    """Return the mean of the four neighbours of every inner point."""
    return 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def gradient_magnitude(u: Any) -> Any:
    """Return the length of the gradient of an image at every inner point, by Sobel's filters."""
    east = u[:-2, 2:] + 2.0 * u[1:-1, 2:] + u[2:, 2:]
    west = u[:-2, :-2] + 2.0 * u[1:-1, :-2] + u[2:, :-2]
    north = u[:-2, :-2] + 2.0 * u[:-2, 1:-1] + u[:-2, 2:]
    south = u[2:, :-2] + 2.0 * u[2:, 1:-1] + u[2:, 2:]
    return np.sqrt((east - west) ** 2 + (south - north) ** 2)


def grey(image: Any) -> Any:
    """Return the brightness of an RGB image of bytes, as bytes."""
    colours = image.astype(np.float32)
    light = 0.299 * colours[..., 0] + 0.587 * colours[..., 1] + 0.114 * colours[..., 2]
    return np.clip(light + 0.5, 0.0, 255.0).astype(np.uint8)


def photograph(rng: Random, shape: Shape) -> Arrays:
    """Return random bytes for three colours."""
    return (rng.integers(0, 256, (*shape, 3), dtype=np.uint8),)


def neighbours(u: Array) -> dict[str, Array]:
    """Return the views of a grid that its stencil reads, by name."""
    return {
        "north": u[:-2, 1:-1],
        "south": u[2:, 1:-1],
        "west": u[1:-1, :-2],
        "east": u[1:-1, 2:],
        "nw": u[:-2, :-2],
        "ne": u[:-2, 2:],
        "sw": u[2:, :-2],
        "se": u[2:, 2:],
    }


PROGRAMS = (
    Program(
        "five-point stencil f64",
        five_point,
        normals(1, np.float64),
        {"S": (32, 32), "M": (250, 250), "L": (3200, 3200)},
        Tolerance(),
        "memory",
        kernels=1,
        expression="0.25 * (north + south + west + east)",
        operands=neighbours,
    ),
    Program(
        "gradient magnitude f32",
        gradient_magnitude,
        normals(1, np.float32),
        {"S": (32, 32), "M": (350, 350), "L": (3200, 3200)},
        Tolerance(1e-6, 1e-6),
        "memory",
        kernels=1,
        expression="sqrt((ne + two * east + se - (nw + two * west + sw)) ** 2"
        " + (sw + two * south + se - (nw + two * north + ne)) ** 2)",
        operands=neighbours,
        constants={"two": np.float32(2)},
    ),
    Program(
        "RGB to grey u8",
        grey,
        photograph,
        {"S": (30, 34), "M": (240, 320), "L": (1080, 1920)},
        Tolerance(),
        kernels=1,
    ),
)
