"""Paths and hulls: folds of a molecule, shortest paths, searches of grids by stacks and queues."""

from collections import deque

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


def flood_fill(mask, row, column):
    """Return the cells that are reached from one through neighbours in the mask, and how many they are."""
    rows, columns = mask.shape
    reached = np.zeros((rows, columns), dtype=bool)
    stack = [(row, column)]
    count = 0
    while stack:
        i, j = stack.pop()
        if i < 0 or j < 0 or i >= rows or j >= columns or reached[i, j] or not mask[i, j]:
            continue
        reached[i, j] = True
        count += 1
        stack.append((i + 1, j))
        stack.append((i - 1, j))
        stack.append((i, j + 1))
        stack.append((i, j - 1))
    return reached, count


def maze_distances(mask, row, column):
    """Return the steps that each cell of a maze is away from one."""
    rows, columns = mask.shape
    distance = np.full((rows, columns), -1)
    distance[row, column] = 0
    queue = deque([(row, column)])
    while queue:
        i, j = queue.popleft()
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            a, b = i + di, j + dj
            if 0 <= a < rows and 0 <= b < columns and mask[a, b] and distance[a, b] < 0:
                distance[a, b] = distance[i, j] + 1
                queue.append((a, b))
    return distance


def lower_hull(points):
    """Return the lower hull of points in the order of their first coordinates."""
    hull = []
    for k in range(len(points)):
        x, y = points[k, 0], points[k, 1]
        while len(hull) >= 2:
            (ax, ay), (bx, by) = hull[-2], hull[-1]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                break
            hull.pop()
        hull.append((x, y))
    return np.array(hull)


def _molecule(rng, n):
    return (rng.integers(0, 4, n),)


def _edges(rng, n):
    path = rng.integers(1, 100, (n, n))
    path[rng.random((n, n)) < 0.7] = 999
    np.fill_diagonal(path, 0)
    return (path,)


def _cells(rng, n):
    mask = rng.random((n, n)) < 0.7
    mask[n // 2, n // 2] = True
    return mask, n // 2, n // 2


def _points(rng, n):
    points = rng.standard_normal((n, 2))
    return (points[np.argsort(points[:, 0])],)


PROGRAMS = (
    Ordinary("nussinov", nussinov, _molecule, {"S": (12,), "L": (150,)}, tolerance=0.0),
    Ordinary("floyd-warshall", floyd_warshall, _edges, {"S": (12,), "L": (500,)}, ("path",), 0.0),
    Ordinary("flood-fill", flood_fill, _cells, {"S": (20,), "L": (400,)}, tolerance=0.0),
    Ordinary("maze-distances", maze_distances, _cells, {"S": (20,), "L": (400,)}, tolerance=0.0),
    Ordinary("lower-hull", lower_hull, _points, {"S": (200,), "L": (100_000,)}, tolerance=0.0),
)
