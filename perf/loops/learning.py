"""Loops for `perf.programs.learning`: products through BLAS, everything else in loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange

from perf.loops.parallel import parallel

ZERO = np.float32(0)


@parallel
def nearest(points: Any, centres: Any) -> Any:
    """Return the number of the nearest centre."""
    count, width = points.shape
    out = np.empty(count, dtype=np.int64)
    for i in prange(count):
        best, least = 0, np.float32(np.inf)
        for k in range(centres.shape[0]):
            square = ZERO
            for d in range(width):
                difference = points[i, d] - centres[k, d]
                square += difference * difference
            if square < least:
                best, least = k, square
        out[i] = best
    return out


@parallel
def k_means_step(points: Any, centres: Any) -> Any:
    """Return the means of the points of each centre: labels on all cores, then one pass over the points."""
    labels = nearest(points, centres)
    total = np.zeros_like(centres)
    members = np.zeros(centres.shape[0], dtype=centres.dtype)
    for i in range(points.shape[0]):
        members[labels[i]] += 1
        for d in range(points.shape[1]):
            total[labels[i], d] += points[i, d]
    for k in range(centres.shape[0]):
        total[k] /= max(members[k], np.float32(1))
    return total


@parallel
def logistic_gradient(features: Any, labels: Any, weights: Any) -> Any:
    """Return the gradient of the mean loss."""
    rows = features.shape[0]
    wrong = np.dot(features, weights)
    for i in prange(rows):
        wrong[i] = 1.0 / (1.0 + math.exp(-wrong[i])) - labels[i]
    return np.dot(features.T, wrong) / rows


@parallel
def attention(query: Any, key: Any, value: Any) -> Any:
    """Return scaled dot-product attention."""
    heads, length, width = query.shape
    scale = np.float32(width**-0.5)
    out = np.empty_like(query)
    for h in range(heads):
        score = np.dot(query[h], key[h].T)
        for i in prange(length):
            top = score[i, 0]
            for j in range(1, length):
                top = max(top, score[i, j])
            total = 0.0
            for j in range(length):
                e = math.exp((score[i, j] - top) * scale)
                score[i, j] = e
                total += e
            for j in range(length):
                score[i, j] /= np.float32(total)
        out[h] = np.dot(score, value[h])
    return out


@parallel
def perceptron(x: Any, weight1: Any, bias1: Any, weight2: Any, bias2: Any) -> Any:
    """Return what two dense layers make of every row."""
    hidden = np.dot(x, weight1)
    for i in prange(hidden.shape[0]):
        for j in range(hidden.shape[1]):
            hidden[i, j] = max(hidden[i, j] + bias1[j], ZERO)
    return np.dot(hidden, weight2) + bias2


LOOPS = {
    "pairwise distance + argmin f32": nearest,
    "k-means step f32": k_means_step,
    "logistic gradient f64": logistic_gradient,
    "attention f32": attention,
    "two-layer perceptron f32": perceptron,
}
