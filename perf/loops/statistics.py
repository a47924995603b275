"""Loops for `perf.programs.statistics`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange

from perf.loops.parallel import inline, parallel

COLUMNS_AT_ONCE = 64


@inline
def normal_distribution(x: Any) -> Any:
    """Return the normal distribution function of one number."""
    t = 1.0 / (1.0 + 0.2316419 * abs(x))
    series = 0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))
    tail = 0.3989422804014327 * math.exp(-0.5 * x * x) * t * series
    return 1.0 - tail if x >= 0.0 else tail


@parallel
def black_scholes(spot: Any, strike: Any, years: Any) -> Any:
    """Return the prices of calls and puts."""
    call, put = np.empty_like(spot), np.empty_like(spot)
    for i in prange(spot.size):
        spread = 0.3 * math.sqrt(years[i])
        d1 = (math.log(spot[i] / strike[i]) + 0.065 * years[i]) / spread
        d2 = d1 - spread
        discounted = strike[i] * math.exp(-0.02 * years[i])
        call[i] = spot[i] * normal_distribution(d1) - discounted * normal_distribution(d2)
        put[i] = discounted * normal_distribution(-d2) - spot[i] * normal_distribution(-d1)
    return call, put


@parallel
def sum_of_squares(x: Any) -> Any:
    """Return the sum of the squares, added in double precision."""
    total = 0.0
    for i in prange(x.size):
        total += x[i] * x[i]
    return np.float32(total)


@parallel
def gaussian_log_likelihood(x: Any, mean: Any, deviation: Any) -> Any:
    """Return the log-likelihood."""
    total = 0.0
    for i in prange(x.size):
        z = (x[i] - mean[i]) / deviation[i]
        total += -0.5 * z * z - math.log(deviation[i]) - 0.9189385332046727
    return total


@parallel
def column_statistics(x: Any) -> Any:
    """Return means and deviations; every thread takes some columns."""
    rows, columns = x.shape
    mean, deviation = np.zeros(columns), np.zeros(columns)
    for block in prange((columns + COLUMNS_AT_ONCE - 1) // COLUMNS_AT_ONCE):
        low, high = block * COLUMNS_AT_ONCE, min(columns, (block + 1) * COLUMNS_AT_ONCE)
        for i in range(rows):
            for j in range(low, high):
                mean[j] += x[i, j]
        for j in range(low, high):
            mean[j] /= rows
        for i in range(rows):
            for j in range(low, high):
                deviation[j] += (x[i, j] - mean[j]) ** 2
        for j in range(low, high):
            deviation[j] = math.sqrt(deviation[j] / rows)
    return mean, deviation


@parallel
def gather_tanh_sum(values: Any, indices: Any) -> Any:
    """Return the sum of hyperbolic tangents, added in double precision."""
    total = 0.0
    for i in prange(indices.size):
        total += math.tanh(values[indices[i]])
    return np.float32(total)


LOOPS = {
    "Black-Scholes f64": black_scholes,
    "sum of squares f32": sum_of_squares,
    "Gaussian log-likelihood f64": gaussian_log_likelihood,
    "column mean and deviation f64": column_statistics,
    "gather, tanh, sum f32": gather_tanh_sum,
}
