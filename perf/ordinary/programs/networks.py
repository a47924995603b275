"""Programs on graphs and sparse matrices: slices whose bounds are in arrays, labels that spread, frontiers."""

import numpy as np

from perf.ordinary.record import Ordinary


def csr_product(start, column, value, X):
    """Return the product of a sparse matrix and a dense one, row by row."""
    Y = np.zeros((len(start) - 1, X.shape[1]))
    for i in range(len(start) - 1):
        row = slice(start[i], start[i + 1])
        Y[i] = value[row] @ X[column[row]]
    return Y


def csr_gauss_seidel(start, column, value, b, x, sweeps):
    """Improve the solution of a sparse system in place, row by row; return the residuals after the sweeps."""
    residuals = np.zeros(sweeps)
    for k in range(sweeps):
        change = 0.0
        for i in range(len(b)):
            lo, hi = start[i], start[i + 1]
            cols, vals = column[lo:hi], value[lo:hi]
            diagonal = vals[cols == i].sum()
            new = x[i] + (b[i] - vals @ x[cols]) / diagonal
            change = max(change, abs(new - x[i]))
            x[i] = new
        residuals[k] = change
    return residuals


def csr_jacobi(start, column, value, b, sweeps):
    """Return the solution of a sparse system by Jacobi's method, with sums of segments."""
    rows = np.repeat(np.arange(len(b)), np.diff(start))
    diagonal = value[rows == column]
    x = np.zeros_like(b)
    for _ in range(sweeps):
        product = np.add.reduceat(value * x[column], start[:-1])
        x += (b - product) / diagonal
    return x


def component_labels(mask):
    """Return an image of labels that connected pixels share, and the number of components."""
    n, m = mask.shape
    labels = np.where(mask, np.arange(1, n * m + 1).reshape(n, m), 0)
    while True:
        before = labels.copy()
        padded = np.pad(labels, 1)
        largest = np.maximum.reduce(
            [padded[1:-1, 1:-1], padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]]
        )
        labels = np.where(mask, largest, 0)
        if np.array_equal(labels, before):
            break
    found = np.unique(labels[mask])
    return np.searchsorted(found, labels, side="left") * mask + mask, len(found)


def graph_components(source, target, nodes):
    """Return the smallest node that each node is connected with."""
    label = np.arange(nodes)
    changed = True
    while changed:
        before = label.copy()
        smaller = np.minimum(label[source], label[target])
        np.minimum.at(label, source, smaller)
        np.minimum.at(label, target, smaller)
        changed = (label != before).any()
    return label


def breadth_first(start, target, root):
    """Return how many edges each node is away from a root; -1 where it cannot be reached."""
    distance = np.full(len(start) - 1, -1)
    distance[root] = 0
    frontier = np.array([root])
    level = 0
    while frontier.size:
        level += 1
        reached = [target[start[node] : start[node + 1]] for node in frontier]
        candidates = np.unique(np.concatenate(reached))
        frontier = candidates[distance[candidates] < 0]
        distance[frontier] = level
    return distance


def _sparse(rng, n, per_row):
    counts = rng.integers(1, 2 * per_row, n)
    start = np.concatenate(([0], np.cumsum(counts)))
    return start, rng.integers(0, n, start[-1]), rng.standard_normal(start[-1])


def _sparse_and_dense(rng, n, per_row, columns):
    return *_sparse(rng, n, per_row), rng.standard_normal((n, columns))


def _dominant(rng, n, per_row):
    columns = [np.unique(np.append(rng.integers(0, n, per_row), i)) for i in range(n)]
    start = np.concatenate(([0], np.cumsum([len(one) for one in columns])))
    column = np.concatenate(columns)
    value = rng.uniform(-1.0, 1.0, len(column))
    value[column == np.repeat(np.arange(n), np.diff(start))] = 2.0 * per_row
    return start, column, value, rng.standard_normal(n)


def _relaxed(rng, n, per_row, sweeps):
    return *_dominant(rng, n, per_row), np.zeros(n), sweeps


def _solved(rng, n, per_row, sweeps):
    return *_dominant(rng, n, per_row), sweeps


def _spots(rng, n):
    return (rng.random((n, n)) < 0.5,)


def _edges(rng, nodes, edges):
    return rng.integers(0, nodes, edges), rng.integers(0, nodes, edges), nodes


def _adjacent(rng, nodes, per_node):
    return *_sparse(rng, nodes, per_node)[:2], 0


PROGRAMS = (
    Ordinary("csr-product", csr_product, _sparse_and_dense, {"S": (40, 4, 3), "L": (20_000, 20, 8)}),
    Ordinary("csr-gauss-seidel", csr_gauss_seidel, _relaxed, {"S": (30, 3, 4), "L": (3000, 8, 10)}, ("x",)),
    Ordinary("csr-jacobi", csr_jacobi, _solved, {"S": (50, 4, 10), "L": (20_000, 20, 50)}),
    Ordinary("component-labels", component_labels, _spots, {"S": (20,), "L": (300,)}, tolerance=0.0),
    Ordinary("graph-components", graph_components, _edges, {"S": (60, 50), "L": (50_000, 60_000)}, tolerance=0.0),
    Ordinary("breadth-first", breadth_first, _adjacent, {"S": (60, 3), "L": (20_000, 8)}, tolerance=0.0),
)
