"""Loops for `perf.ordinary.programs.paths`."""

import numpy as np
from numba import prange

from perf.loops.parallel import inline, parallel


@inline
def nussinov(bases):
    """Return the numbers of pairs."""
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


@parallel
def floyd_warshall(path):
    """Write the lengths; a copy of the middle row tells the compiler that it does not change."""
    n = len(path)
    for k in range(n):
        middle = path[k].copy()
        for i in prange(n):
            first = path[i, k]
            for j in range(n):
                path[i, j] = min(path[i, j], first + middle[j])


BY_HAND = {"nussinov": nussinov, "floyd-warshall": floyd_warshall}
