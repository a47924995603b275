"""Ports of `perf.ordinary.programs.products`."""

import jax.numpy as jnp


def two_products(alpha, beta, A, B, C, D):
    """Return D."""
    return alpha * A @ B @ C + beta * D


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    """Return the matrix and the vectors that change."""
    A = A + jnp.outer(u1, v1) + jnp.outer(u2, v2)
    x = x + beta * y @ A + z
    return A, w + alpha * A @ x, x


def doitgen(A, C4):
    """Return the cube."""
    return A @ C4


PORTS = {"2mm": two_products, "gemver": gemver, "doitgen": doitgen}
