"""Loops for `perf.programs.rows`: threads share the rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange

from perf.loops.parallel import parallel

HALF, ONE = np.float32(0.5), np.float32(1)
A, B = np.float32(0.7978845608028654), np.float32(0.044715)


@parallel
def softmax(x: Any) -> Any:
    """Return the softmax of every row."""
    rows, columns = x.shape
    out = np.empty_like(x)
    for i in prange(rows):
        top = x[i, 0]
        for j in range(1, columns):
            top = max(top, x[i, j])
        total = 0.0
        for j in range(columns):
            e = math.exp(x[i, j] - top)
            out[i, j] = e
            total += e
        scale = np.float32(total)
        for j in range(columns):
            out[i, j] /= scale
    return out


@parallel
def layernorm(x: Any, gain: Any, bias: Any) -> Any:
    """Return normalised, scaled and shifted rows."""
    rows, columns = x.shape
    out = np.empty_like(x)
    for i in prange(rows):
        total = 0.0
        for j in range(columns):
            total += x[i, j]
        mean = np.float32(total / columns)
        square = 0.0
        for j in range(columns):
            square += (x[i, j] - mean) * (x[i, j] - mean)
        deviation = np.float32(math.sqrt(square / columns + 1e-5))
        for j in range(columns):
            out[i, j] = (x[i, j] - mean) / deviation * gain[j] + bias[j]
    return out


@parallel
def gelu(x: Any, bias: Any) -> Any:
    """Return the Gaussian error linear unit."""
    rows, columns = x.shape
    out = np.empty_like(x)
    for i in prange(rows):
        for j in range(columns):
            y = x[i, j] + bias[j]
            out[i, j] = HALF * y * (ONE + math.tanh(A * (y + B * y * y * y)))
    return out


@parallel
def logsumexp(x: Any) -> Any:
    """Return the logarithm of the sum of the exponentials of every row."""
    rows, columns = x.shape
    out = np.empty(rows)
    for i in prange(rows):
        top = x[i, 0]
        for j in range(1, columns):
            top = max(top, x[i, j])
        total = 0.0
        for j in range(columns):
            total += math.exp(x[i, j] - top)
        out[i] = math.log(total) + top
    return out


@parallel
def z_score(x: Any) -> Any:
    """Return rows with mean 0 and deviation 1."""
    rows, columns = x.shape
    out = np.empty_like(x)
    for i in prange(rows):
        mean = 0.0
        for j in range(columns):
            mean += x[i, j]
        mean /= columns
        square = 0.0
        for j in range(columns):
            square += (x[i, j] - mean) * (x[i, j] - mean)
        deviation = math.sqrt(square / columns)
        for j in range(columns):
            out[i, j] = (x[i, j] - mean) / deviation
    return out


@parallel
def cosine_similarity(a: Any, b: Any) -> Any:
    """Return the cosine of the angle between the rows of two matrices."""
    rows, columns = a.shape
    out = np.empty(rows, dtype=a.dtype)
    for i in prange(rows):
        both, left, right = 0.0, 0.0, 0.0
        for j in range(columns):
            both += a[i, j] * b[i, j]
            left += a[i, j] * a[i, j]
            right += b[i, j] * b[i, j]
        out[i] = both / math.sqrt(left * right)
    return out


@parallel
def rolling_mean(x: Any) -> Any:
    """Return the mean of every 20 neighbours of a row, by differences of running sums."""
    rows, columns = x.shape
    out = np.empty((rows, columns - 20))
    for i in prange(rows):
        total = np.empty(columns)
        running = 0.0
        for j in range(columns):
            running += x[i, j]
            total[j] = running
        for j in range(columns - 20):
            out[i, j] = (total[j + 20] - total[j]) / 20.0
    return out


LOOPS = {
    "softmax f32": softmax,
    "layernorm f32": layernorm,
    "GELU + bias f32": gelu,
    "logsumexp f64": logsumexp,
    "row z-score f64": z_score,
    "cosine similarity f32": cosine_similarity,
    "rolling mean f64": rolling_mean,
}
