"""Loops for `perf.programs.elementwise`; Numba has no float16 on the CPU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange

from perf.loops.parallel import parallel

HALF, ONE = np.float32(0.5), np.float32(1)
KEPT, ADDED = np.float32(0.9), np.float32(0.1)
KEPT_SQUARE, ADDED_SQUARE = np.float32(0.999), np.float32(0.001)
RATE, SMALL = np.float32(1e-3), np.float32(1e-8)


@parallel
def chain(a: Any, b: Any, c: Any) -> Any:
    """Return (a + b) * c - a / 2."""
    out = np.empty_like(a)
    for i in prange(a.size):
        out[i] = (a[i] + b[i]) * c[i] - a[i] * HALF
    return out


@parallel
def hypot(x: Any, y: Any) -> Any:
    """Return the length of the vectors (x, y)."""
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = math.sqrt(x[i] * x[i] + y[i] * y[i])
    return out


@parallel
def multiply_add(a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c."""
    out = np.empty_like(a)
    for i in prange(a.size):
        out[i] = a[i] * b[i] + c[i]
    return out


@parallel
def blend(a: Any, b: Any, weight: Any) -> Any:
    """Return the mixture of two matrices, in tiles because one of them is transposed."""
    rows, columns = b.shape
    out = np.empty_like(b)
    for tile in prange((rows + 31) // 32):
        for left in range(0, columns, 32):
            for i in range(tile * 32, min(rows, tile * 32 + 32)):
                for j in range(left, min(columns, left + 32)):
                    out[i, j] = a[i, j] * weight[i, j] + b[i, j] * (ONE - weight[i, j])
    return out


@parallel
def frequency_shift(signal: Any, phase: Any) -> Any:
    """Return a complex signal turned by a phase."""
    out = np.empty_like(signal)
    for i in prange(signal.size):
        out[i] = signal[i] * complex(math.cos(phase[i]), math.sin(phase[i]))
    return out


@parallel
def adam(weights: Any, gradient: Any, mean: Any, square: Any) -> Any:
    """Return weights and both moments after one step."""
    new, first, second = np.empty_like(weights), np.empty_like(mean), np.empty_like(square)
    for i in prange(weights.size):
        m = KEPT * mean[i] + ADDED * gradient[i]
        s = KEPT_SQUARE * square[i] + ADDED_SQUARE * gradient[i] * gradient[i]
        new[i] = weights[i] - RATE * m / (math.sqrt(s) + SMALL)
        first[i], second[i] = m, s
    return new, first, second


LOOPS = {
    "arithmetic chain f32": chain,
    "hypot chain f64": hypot,
    "a*b+c, ten elements": multiply_add,
    "transposed and broadcast f32": blend,
    "frequency shift c128": frequency_shift,
    "Adam step f32": adam,
}
