"""Formulas that work element by element: dense, transposed, broadcast, in half precision, on complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from perf.program import Arrays, Program, Random, Shape, Tolerance, normals


def chain(a: Any, b: Any, c: Any) -> Any:
    """Return a chain of four cheap operations: bound by memory."""
    return (a + b) * c - a * 0.5


def hypot(x: Any, y: Any) -> Any:
    """Return the length of the vectors (x, y)."""
    return np.sqrt(x * x + y * y)


def multiply_add(a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c."""
    return a * b + c


def blend(a: Any, b: Any, weight: Any) -> Any:
    """Return the mixture of two matrices, with a weight for every column."""
    return a * weight + b * (1.0 - weight)


def affine_relu(x: Any, scale: Any, bias: Any) -> Any:
    """Return every row scaled and shifted, and its negative elements set to zero."""
    return np.maximum(x * scale + bias, 0.0)


def frequency_shift(signal: Any, phase: Any) -> Any:
    """Return a complex signal turned by a phase."""
    return signal * np.exp(1j * phase)


def adam(weights: Any, gradient: Any, mean: Any, square: Any) -> Any:
    """Return weights and both moments after one step of the optimiser Adam (without bias correction)."""
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.999 * square + 0.001 * gradient * gradient
    return weights - 1e-3 * mean / (np.sqrt(square) + 1e-8), mean, square


def transposed_and_broadcast(rng: Random, shape: Shape) -> Arrays:
    """Return a transposed float32 matrix, one in C order, and a row stretched over all rows."""
    rows, columns = shape
    turned = rng.standard_normal((columns, rows), dtype=np.float32).T
    row = rng.random(columns, dtype=np.float32)
    return turned, rng.standard_normal(shape, dtype=np.float32), np.broadcast_to(row, shape)


def half_precision(rng: Random, shape: Shape) -> Arrays:
    """Return a float16 matrix and two float16 rows."""
    return tuple(rng.standard_normal(extents).astype(np.float16) for extents in (shape, shape[1], shape[1]))


def signal_and_phase(rng: Random, shape: Shape) -> Arrays:
    """Return complex numbers and angles."""
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape), rng.uniform(-np.pi, np.pi, shape)


def optimiser_state(rng: Random, shape: Shape) -> Arrays:
    """Return weights, gradients, and the running means of gradients and of their squares."""
    weights, gradient, mean = normals(3, np.float32)(rng, shape)
    return weights, gradient, mean, rng.random(shape, dtype=np.float32)


PROGRAMS = (
    Program(
        "arithmetic chain f32",
        chain,
        normals(3, np.float32),
        {"S": (1000,), "M": (32_768,), "L": (4_000_000,), "XL": (10_000_000,)},
        Tolerance(),
        "memory",
        kernels=1,
        expression="(a + b) * c - a * half",
        constants={"half": np.float32(0.5)},
    ),
    Program(
        "hypot chain f64",
        hypot,
        normals(2, np.float64),
        {"S": (1000,), "M": (16_384,), "L": (2_000_000,), "XL": (10_000_000,)},
        Tolerance(),
        "memory",
        kernels=1,
        expression="sqrt(x * x + y * y)",
    ),
    Program(
        "a*b+c, ten elements",
        multiply_add,
        normals(3, np.float64),
        {"S": (10,)},
        Tolerance(),
        "overhead",
        kernels=1,
        expression="a * b + c",
    ),
    Program(
        "transposed and broadcast f32",
        blend,
        transposed_and_broadcast,
        {"S": (30, 34), "M": (300, 280), "L": (3200, 3200)},
        Tolerance(),
        "memory",
        kernels=1,
        expression="a * weight + b * (one - weight)",
        constants={"one": np.float32(1)},
    ),
    Program(
        "affine and ReLU f16",
        affine_relu,
        half_precision,
        {"S": (16, 64), "M": (128, 1024), "L": (10_000, 1000)},
        Tolerance(),
        "memory",
        kernels=1,
    ),
    Program(
        "frequency shift c128",
        frequency_shift,
        signal_and_phase,
        {"S": (1000,), "M": (16_384,), "L": (4_000_000,)},
        Tolerance(1e-14, 1e-14),
        expression="signal * exp(1j * phase)",
    ),
    Program(
        "Adam step f32",
        adam,
        optimiser_state,
        {"S": (1000,), "M": (32_768,), "L": (10_000_000,)},
        Tolerance(),
        "memory",
        kernels=1,
    ),
)
