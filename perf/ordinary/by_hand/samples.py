"""Loops for `perf.ordinary.programs.samples`."""

import numpy as np
from numba import prange

from perf.loops.parallel import parallel


@parallel
def covariance(data):
    """Return the covariances by one product."""
    n, m = data.shape
    mean = np.zeros(m)
    for i in range(n):
        for j in range(m):
            mean[j] += data[i, j]
    mean /= n
    for i in prange(n):
        for j in range(m):
            data[i, j] -= mean[j]
    return np.dot(data.T, data) / (n - 1.0)


@parallel
def correlation(data):
    """Return the correlations by one product."""
    n, m = data.shape
    mean, squares = np.zeros(m), np.zeros(m)
    for i in range(n):
        for j in range(m):
            mean[j] += data[i, j]
    mean /= n
    for i in range(n):
        for j in range(m):
            squares[j] += (data[i, j] - mean[j]) ** 2
    scale = np.sqrt(squares / n)
    for j in range(m):
        scale[j] = np.sqrt(n) * (scale[j] if scale[j] > 0.1 else 1.0)
    for i in prange(n):
        for j in range(m):
            data[i, j] = (data[i, j] - mean[j]) / scale[j]
    corr = np.dot(data.T, data)
    for j in range(m):
        corr[j, j] = 1.0
    return corr


BY_HAND = {"covariance": covariance, "correlation": correlation}
