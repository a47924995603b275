"""Ports of `perf.ordinary.programs.paths`."""

import jax.numpy as jnp
from jax import lax


def floyd_warshall(path):
    """Return the lengths."""
    return lax.fori_loop(0, len(path), lambda k, path: jnp.minimum(path, path[:, k, jnp.newaxis] + path[k]), path)


PORTS = {"floyd-warshall": floyd_warshall}
