"""Matrices of covariances and correlations, row by row, with the data centred in place."""

import numpy as np

from perf.ordinary.record import Ordinary


def covariance(data):
    """Return the covariances of the columns; the data is centred."""
    n, m = data.shape
    data -= np.mean(data, axis=0)
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i, i:] = cov[i:, i] = data[:, i] @ data[:, i:] / (n - 1.0)
    return cov


def correlation(data):
    """Return the correlations of the columns; the data is standardised."""
    n, m = data.shape
    data -= np.mean(data, axis=0)
    deviation = np.std(data, axis=0)
    # A column that is nearly constant stays as it is.
    deviation[deviation <= 0.1] = 1.0
    data /= np.sqrt(n) * deviation
    corr = np.eye(m)
    for i in range(m - 1):
        corr[i + 1 :, i] = data[:, i + 1 :].T @ data[:, i]
        corr[i, i + 1 :] = corr[i + 1 :, i]
    return corr


def _data(rng, n, m):
    data = rng.standard_normal((n, m))
    data[:, 1] *= 0.01
    return (data,)


PROGRAMS = (
    Ordinary("covariance", covariance, _data, {"S": (20, 12), "L": (1000, 800)}, ("data",)),
    Ordinary("correlation", correlation, _data, {"S": (20, 12), "L": (1000, 800)}, ("data",)),
)
