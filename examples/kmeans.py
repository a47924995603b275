"""Group handwritten digits by k-means, with array code under NumPy and with the same code under `@xjit`.

The 1797 images of 8 × 8 grey values come with scikit-learn. One step of Lloyd's algorithm is an ordinary NumPy
function; the loop around it is ordinary Python. Both versions start from the same images; the script prints how long
each takes to converge, whether all labels are the same, how much the sums of squared distances differ, and how well
the groups match the digits (adjusted Rand index), beside scikit-learn's own k-means from the same start.

    python examples/kmeans.py [--clusters 10] [--seed 1]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

import xjit as package
from xjit import xjit

Array = np.ndarray[Any, Any]
Step = Callable[[Array, Array], tuple[Array, Any, Array]]

MOST_STEPS = 300
ROUNDS = 7


def step(points: Array, centres: Array) -> tuple[Array, Any, Array]:
    """Return the nearest centre of every point, the sum of squared distances, and the means of the groups."""
    difference = points[:, None, :] - centres[None, :, :]
    distance = (difference * difference).sum(axis=2)
    labels = distance.argmin(axis=1)
    member = (labels[:, None] == np.arange(centres.shape[0])).astype(np.float64)
    means = member.T @ points / np.maximum(member.sum(axis=0), 1.0)[:, None]
    return labels, distance.min(axis=1).sum(), means


compiled_step = xjit(step)


@dataclass(frozen=True, slots=True)
class Clustering:
    """Result of k-means, with its steps and seconds."""

    labels: Array
    inertia: float
    steps: int
    seconds: float


def k_means(advance: Step, points: Array, centres: Array) -> Clustering:
    """Repeat a step until no point changes its group."""
    begin = time.perf_counter()
    labels, inertia, centres = advance(points, centres)
    steps = 1
    while steps < MOST_STEPS:
        before = labels
        labels, inertia, centres = advance(points, centres)
        steps += 1
        if np.array_equal(labels, before):
            break
    return Clustering(labels, float(inertia), steps, time.perf_counter() - begin)


def describe(name: str, found: Clustering, digits: Array) -> None:
    """Print one line about a clustering."""
    score = adjusted_rand_score(digits, found.labels)
    took = f"{found.steps:3} steps  {found.seconds * 1e3:9.2f} ms"
    print(f"  {name:18} {took}  inertia {found.inertia:.6f}  Rand index {score:.4f}")


def main() -> None:
    """Run the example."""
    parser = argparse.ArgumentParser(description="k-means of handwritten digits with NumPy and with xjit")
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1, help="chooses the images to start from")
    options = parser.parse_args()
    points, digits = load_digits(return_X_y=True)
    chosen = np.random.default_rng(options.seed).choice(len(points), options.clusters, replace=False)
    start = points[chosen]
    print(f"xjit {package.__version__}, NumPy {np.__version__}; {len(points)} images, {options.clusters} groups\n")

    first = k_means(compiled_step, points, start)
    turns = [(k_means(step, points, start), k_means(compiled_step, points, start)) for _ in range(ROUNDS)]
    plain, ours = turns[-1]
    theirs = KMeans(options.clusters, init=start, n_init=1, tol=0.0, algorithm="lloyd").fit(points)
    describe("NumPy", plain, digits)
    describe("xjit, first run", first, digits)
    describe("xjit", ours, digits)
    score = adjusted_rand_score(digits, theirs.labels_)
    took = f"{'scikit-learn':18} {theirs.n_iter_:3} steps{'':14}"
    print(f"  {took}  inertia {theirs.inertia_:.6f}  Rand index {score:.4f}")

    medians = [statistics.median(turn[who].seconds for turn in turns) for who in (0, 1)]
    factor = medians[0] / medians[1]
    print(f"\n  medians of {ROUNDS} runs in turns: NumPy {medians[0] * 1e3:.2f} ms, xjit {medians[1] * 1e3:.2f} ms")
    print(f"  xjit takes the time of NumPy divided by {factor:.2f}")
    print(f"  labels that differ: {np.count_nonzero(plain.labels != ours.labels)}")
    print(f"  difference of inertia: {abs(plain.inertia - ours.inertia) / plain.inertia:.3g} of it")


if __name__ == "__main__":
    main()
