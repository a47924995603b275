"""Products in which one triangle of a matrix is stored or computed."""

import numpy as np

from perf.ordinary.record import Ordinary


def symm(alpha, beta, A, B, C):
    """Write C = alpha A B + beta C; of the symmetric A the lower triangle is stored."""
    C *= beta
    for i in range(A.shape[0]):
        C[:i] += alpha * np.outer(A[i, :i], B[i])
        C[i] += alpha * (A[i, :i] @ B[:i] + A[i, i] * B[i])


def syrk(alpha, beta, A, C):
    """Write the lower triangle of C = alpha A A^T + beta C."""
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]


def syr2k(alpha, beta, A, B, C):
    """Write the lower triangle of C = alpha (A B^T + B A^T) + beta C."""
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        C[i, : i + 1] += alpha * (B[: i + 1] @ A[i]) + alpha * (A[: i + 1] @ B[i])


def trmm(alpha, A, B):
    """Write B = alpha A^T B; A is lower triangular with ones on its diagonal."""
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha


def _square(matrices, numbers):
    def make(rng, n, m):
        square, others = rng.random((n, n)), tuple(rng.random((n, m)) for _ in range(matrices))
        return *numbers, square, *others

    return make


def _factors(matrices):
    def make(rng, n, m):
        return 1.5, 1.2, *(rng.random((n, m)) for _ in range(matrices)), rng.random((n, n))

    return make


PROGRAMS = (
    Ordinary("symm", symm, _square(2, (1.5, 1.2)), {"S": (12, 9), "L": (500, 400)}, ("C",)),
    Ordinary("syrk", syrk, _factors(1), {"S": (12, 9), "L": (250, 200)}, ("C",)),
    Ordinary("syr2k", syr2k, _factors(2), {"S": (12, 9), "L": (500, 400)}, ("C",)),
    Ordinary("trmm", trmm, _square(1, (1.5,)), {"S": (12, 9), "L": (250, 200)}, ("B",)),
)
