"""Matrices row by row: normalisations, softmax and its kin, similarities."""

from __future__ import annotations

from typing import Any

import numpy as np

from perf.program import Arrays, Program, Random, Shape, Tolerance, normals


def softmax(x: Any) -> Any:
    """Return the softmax of every row."""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layernorm(x: Any, gain: Any, bias: Any) -> Any:
    """Return every row brought to mean 0 and variance 1, then scaled and shifted column by column."""
    mean = x.mean(axis=1, keepdims=True)
    variance = x.var(axis=1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * gain + bias


def gelu(x: Any, bias: Any) -> Any:
    """Return the tanh form of the Gaussian error linear unit of every row plus a bias."""
    y = x + bias
    return 0.5 * y * (1.0 + np.tanh(0.7978845608028654 * (y + 0.044715 * y * y * y)))


def logsumexp(x: Any) -> Any:
    """Return the logarithm of the sum of the exponentials of every row."""
    top = x.max(axis=1)
    return np.log(np.exp(x - top[:, None]).sum(axis=1)) + top


def z_score(x: Any) -> Any:
    """Return every row brought to mean 0 and standard deviation 1."""
    return (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)


def cosine_similarity(a: Any, b: Any) -> Any:
    """Return the cosine of the angle between the rows of two matrices, pair by pair."""
    return (a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))


def rolling_mean(x: Any) -> Any:
    """Return the mean of every 20 neighbours of a row, by differences of running sums."""
    total = np.cumsum(x, axis=1)
    return (total[:, 20:] - total[:, :-20]) / 20.0


def rows_and_columns(rng: Random, shape: Shape) -> Arrays:
    """Return a float32 matrix and two float32 rows as long as its rows."""
    matrix = rng.standard_normal(shape, dtype=np.float32)
    return matrix, *(rng.standard_normal(shape[1], dtype=np.float32) for _ in range(2))


def matrix_and_bias(rng: Random, shape: Shape) -> Arrays:
    """Return a float32 matrix and one float32 row."""
    return rows_and_columns(rng, shape)[:2]


PROGRAMS = (
    Program(
        "softmax f32",
        softmax,
        normals(1, np.float32),
        {"S": (16, 64), "M": (64, 1024), "L": (4096, 1024), "XL": (9766, 1024)},
        Tolerance(2e-6, 1e-12),
        kernels=1,
    ),
    Program(
        "layernorm f32",
        layernorm,
        rows_and_columns,
        {"S": (16, 64), "M": (64, 768), "L": (8192, 768), "XL": (13_021, 768)},
        Tolerance(1e-5, 2e-6),
        "memory",
        kernels=1,
    ),
    Program(
        "GELU + bias f32",
        gelu,
        matrix_and_bias,
        {"S": (16, 64), "M": (64, 1024), "L": (4096, 1024), "XL": (9766, 1024)},
        Tolerance(1e-5, 1e-6),
        kernels=1,
        expression="half * (x + bias) * (one + tanh(a * ((x + bias) + b * (x + bias) * (x + bias) * (x + bias))))",
        constants={
            "half": np.float32(0.5),
            "one": np.float32(1),
            "a": np.float32(0.7978845608028654),
            "b": np.float32(0.044715),
        },
    ),
    Program(
        "logsumexp f64",
        logsumexp,
        normals(1, np.float64),
        {"S": (16, 64), "M": (64, 1024), "L": (1024, 1024), "XL": (9766, 1024)},
        Tolerance(1e-14, 1e-14),
        kernels=1,
    ),
    Program(
        "row z-score f64",
        z_score,
        normals(1, np.float64),
        {"S": (16, 64), "M": (64, 768), "L": (10_000, 1000)},
        Tolerance(1e-12, 1e-13),
        "memory",
        kernels=1,
    ),
    Program(
        "cosine similarity f32",
        cosine_similarity,
        normals(2, np.float32),
        {"S": (16, 64), "M": (128, 768), "L": (10_000, 1000)},
        Tolerance(1e-5, 1e-6),
        "memory",
        kernels=1,
    ),
    Program(
        "rolling mean f64",
        rolling_mean,
        normals(1, np.float64),
        {"S": (4, 250), "M": (8, 4096), "L": (100, 100_000)},
        Tolerance(1e-11, 1e-11),
        "memory",
        kernels=1,
    ),
)
