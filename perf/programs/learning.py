"""Machine learning: attention, a perceptron, clusters, a gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from perf.program import Arrays, Program, Random, Shape, Tolerance, normals


def attention(query: Any, key: Any, value: Any) -> Any:
    """Return scaled dot-product attention; arrays are (heads, length, width)."""
    score = query @ key.swapaxes(1, 2) * query.shape[2] ** -0.5
    weight = np.exp(score - score.max(axis=2, keepdims=True))
    return weight / weight.sum(axis=2, keepdims=True) @ value


def perceptron(x: Any, weight1: Any, bias1: Any, weight2: Any, bias2: Any) -> Any:
    """Return what two dense layers with a ReLU between them make of every row."""
    return np.maximum(x @ weight1 + bias1, 0.0) @ weight2 + bias2


def nearest(points: Any, centres: Any) -> Any:
    """Return for every point the number of the centre that is nearest to it."""
    difference = points[:, None, :] - centres[None, :, :]
    return (difference * difference).sum(axis=2).argmin(axis=1)


def k_means_step(points: Any, centres: Any) -> Any:
    """Return the mean of the points that are nearest to each centre."""
    difference = points[:, None, :] - centres[None, :, :]
    labels = (difference * difference).sum(axis=2).argmin(axis=1)
    member = (labels[:, None] == np.arange(centres.shape[0])).astype(np.float32)
    return member.T @ points / np.maximum(member.sum(axis=0), 1.0)[:, None]


def logistic_gradient(features: Any, labels: Any, weights: Any) -> Any:
    """Return the gradient of the mean loss of a logistic regression."""
    likely = 1.0 / (1.0 + np.exp(-(features @ weights)))
    return features.T @ (likely - labels) / features.shape[0]


def layers(rng: Random, shape: Shape) -> Arrays:
    """Return a batch and the parameters of two layers; `shape` is (batch, inputs, hidden, outputs)."""
    batch, inputs, hidden, outputs = shape
    extents: tuple[Shape, ...] = ((batch, inputs), (inputs, hidden), (hidden,), (hidden, outputs), (outputs,))
    return tuple(rng.standard_normal(one, dtype=np.float32) for one in extents)


def clusters(rng: Random, shape: Shape) -> Arrays:
    """Return points around centres, and the centres; `shape` is (points, centres, width)."""
    count, centres, width = shape
    middle = rng.standard_normal((centres, width), dtype=np.float32)
    near = middle[rng.integers(0, centres, count)]
    return near + 0.1 * rng.standard_normal((count, width), dtype=np.float32), middle


def labelled(rng: Random, shape: Shape) -> Arrays:
    """Return features, labels 0 and 1, and weights."""
    features = rng.standard_normal(shape)
    return features, rng.integers(0, 2, shape[0]).astype(np.float64), 0.1 * rng.standard_normal(shape[1])


PROGRAMS = (
    Program(
        "pairwise distance + argmin f32",
        nearest,
        clusters,
        {"S": (64, 8, 2), "M": (500, 32, 8), "L": (20_000, 64, 16)},
        Tolerance(),
        kernels=1,
    ),
    Program(
        "k-means step f32",
        k_means_step,
        clusters,
        {"S": (64, 8, 2), "M": (500, 32, 8), "L": (20_000, 64, 16)},
        Tolerance(1e-5, 1e-5),
    ),
    Program(
        "logistic gradient f64",
        logistic_gradient,
        labelled,
        {"S": (50, 20), "M": (1000, 100), "L": (100_000, 100)},
        Tolerance(1e-11, 1e-13),
        "memory",
    ),
    Program(
        "attention f32",
        attention,
        normals(3, np.float32),
        {"S": (2, 16, 16), "M": (4, 128, 64), "L": (8, 512, 64)},
        Tolerance(1e-5, 1e-6),
        "BLAS",
    ),
    Program(
        "two-layer perceptron f32",
        perceptron,
        layers,
        {"S": (8, 16, 16, 4), "M": (32, 128, 128, 10), "L": (256, 784, 512, 10)},
        Tolerance(1e-4, 1e-3),
        "BLAS",
    ),
)
