"""Ports of `perf.ordinary.programs.samples`."""

import jax.numpy as jnp


def covariance(data):
    """Return covariances and centred data."""
    data = data - data.mean(axis=0)
    return data.T @ data / (data.shape[0] - 1.0), data


def correlation(data):
    """Return correlations and standardised data."""
    data = data - data.mean(axis=0)
    deviation = data.std(axis=0)
    data = data / (jnp.sqrt(data.shape[0]) * jnp.where(deviation <= 0.1, 1.0, deviation))
    return jnp.fill_diagonal(data.T @ data, 1.0, inplace=False), data


PORTS = {"covariance": covariance, "correlation": correlation}
