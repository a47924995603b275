"""Products of matrices and vectors, whose results are written over an argument."""

import numpy as np

from perf.ordinary.record import Ordinary


def two_products(alpha, beta, A, B, C, D):
    """Write D = alpha A B C + beta D."""
    D[:] = alpha * A @ B @ C + beta * D


def three_products(A, B, C, D):
    """Return the product of two products."""
    E = A @ B
    F = C @ D
    return E @ F


def gemm(alpha, beta, A, B, C):
    """Write C = alpha A B + beta C."""
    C *= beta
    C += alpha * (A @ B)


def atax(A, x):
    """Return the transpose of A times A x."""
    return (A @ x) @ A


def bicg(A, p, r):
    """Return the two products of the biconjugate gradient method."""
    return r @ A, A @ p


def mvt(A, x1, x2, y1, y2):
    """Add the products with a matrix and with its transpose to two vectors."""
    x1 += A @ y1
    x2 += y2 @ A


def gesummv(alpha, beta, A, B, x):
    """Return the sum of two products with one vector."""
    return alpha * A @ x + beta * B @ x


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    """Update a matrix by two outer products, a vector by its transpose, and another by both."""
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x


def doitgen(A, C4):
    """Replace each line of a cube by its product with a matrix."""
    for r in range(A.shape[0]):
        for q in range(A.shape[1]):
            A[r, q, :] = A[r, q, :] @ C4


def _matrices(count, numbers=()):
    def make(rng, n):
        return *numbers, *(rng.random((n, n)) / n for _ in range(count))

    return make


def _matrix_and_vectors(vectors, matrices=1, numbers=()):
    def make(rng, rows, columns):
        squares = tuple(rng.random((rows, columns)) for _ in range(matrices))
        return *numbers, *squares, *(rng.random(rows if one == "r" else columns) for one in vectors)

    return make


def _cube(rng, rows, columns, depth):
    return rng.random((rows, columns, depth)), rng.random((depth, depth)) / depth


SMALL, LARGE = {"S": (20,)}, {"L": (900,)}

PROGRAMS = (
    Ordinary("2mm", two_products, _matrices(4, (1.5, 1.2)), SMALL | LARGE, ("D",)),
    Ordinary("3mm", three_products, _matrices(4), SMALL | LARGE),
    Ordinary("gemm", gemm, _matrices(3, (1.5, 1.2)), SMALL | {"L": (1500,)}, ("C",)),
    Ordinary("atax", atax, _matrix_and_vectors("c"), {"S": (30, 40), "L": (6000, 6000)}),
    Ordinary("bicg", bicg, _matrix_and_vectors("cr"), {"S": (30, 40), "L": (6000, 6000)}),
    Ordinary("mvt", mvt, _matrix_and_vectors("cccc"), {"S": (40, 40), "L": (6000, 6000)}, ("x1", "x2")),
    Ordinary("gesummv", gesummv, _matrix_and_vectors("c", 2, (1.5, 1.2)), {"S": (40, 40), "L": (5000, 5000)}),
    Ordinary(
        "gemver",
        gemver,
        _matrix_and_vectors("cccccccc", 1, (1.5, 1.2)),
        {"S": (40, 40), "L": (4000, 4000)},
        ("A", "w", "x"),
    ),
    Ordinary("doitgen", doitgen, _cube, {"S": (6, 5, 8), "L": (120, 100, 100)}, ("A",)),
)
