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


@inline
def flood_fill(mask, row, column):
    """Return the cells and their number; each cell is put on the stack four times at most."""
    rows, columns = mask.shape
    reached = np.zeros((rows, columns), dtype=np.bool_)
    stack = np.empty((4 * rows * columns + 1, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = row, column
    size, count = 1, 0
    while size > 0:
        size -= 1
        i, j = stack[size, 0], stack[size, 1]
        if i < 0 or j < 0 or i >= rows or j >= columns or reached[i, j] or not mask[i, j]:
            continue
        reached[i, j] = True
        count += 1
        for a, b in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
            stack[size, 0], stack[size, 1] = a, b
            size += 1
    return reached, count


@inline
def maze_distances(mask, row, column):
    """Return the distances; each cell stands in the queue once."""
    rows, columns = mask.shape
    distance = np.full((rows, columns), -1)
    distance[row, column] = 0
    queue = np.empty((rows * columns, 2), dtype=np.int64)
    queue[0, 0], queue[0, 1] = row, column
    first, end = 0, 1
    while first < end:
        i, j = queue[first, 0], queue[first, 1]
        first += 1
        for a, b in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
            if 0 <= a < rows and 0 <= b < columns and mask[a, b] and distance[a, b] < 0:
                distance[a, b] = distance[i, j] + 1
                queue[end, 0], queue[end, 1] = a, b
                end += 1
    return distance


@inline
def lower_hull(points):
    """Return the hull, of which the result is the part that is left."""
    hull = np.empty_like(points)
    size = 0
    for k in range(len(points)):
        x, y = points[k, 0], points[k, 1]
        while size >= 2:
            ax, ay, bx, by = hull[size - 2, 0], hull[size - 2, 1], hull[size - 1, 0], hull[size - 1, 1]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                break
            size -= 1
        hull[size, 0], hull[size, 1] = x, y
        size += 1
    return hull[:size].copy()


BY_HAND = {
    "nussinov": nussinov,
    "floyd-warshall": floyd_warshall,
    "flood-fill": flood_fill,
    "maze-distances": maze_distances,
    "lower-hull": lower_hull,
}
