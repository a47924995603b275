"""Dynamic programming: folds of a molecule and shortest paths."""

import numpy as np

from perf.ordinary.record import Ordinary


def nussinov(bases):
    """Return the largest number of pairs in every piece of a molecule; bases pair that add up to three."""
    n = len(bases)
    pairs = np.zeros((n, n), dtype=np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = max(pairs[i, j - 1], pairs[i + 1, j])
            inner = pairs[i + 1, j - 1]
            if i + 1 < j and bases[i] + bases[j] == 3:
                inner += 1
            best = max(best, inner)
            for k in range(i + 1, j):
                best = max(best, pairs[i, k] + pairs[k + 1, j])
            pairs[i, j] = best
    return pairs


def floyd_warshall(path):
    """Write the lengths of the shortest paths over those of the edges."""
    for k in range(len(path)):
        path[:] = np.minimum(path, path[:, k, np.newaxis] + path[k])


def _molecule(rng, n):
    return (rng.integers(0, 4, n),)


def _edges(rng, n):
    path = rng.integers(1, 100, (n, n))
    path[rng.random((n, n)) < 0.7] = 999
    np.fill_diagonal(path, 0)
    return (path,)


PROGRAMS = (
    Ordinary("nussinov", nussinov, _molecule, {"S": (12,), "L": (150,)}, tolerance=0.0),
    Ordinary("floyd-warshall", floyd_warshall, _edges, {"S": (12,), "L": (500,)}, ("path",), 0.0),
)
