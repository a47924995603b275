"""Loops for `perf.ordinary.programs.sequences`."""

import math

import numpy as np
from numba import prange

from perf.loops.parallel import inline, parallel


@inline
def crc16(data, polynomial):
    """Return the checksum."""
    crc = 0xFFFF
    for i in range(len(data)):
        value = np.int64(data[i])
        for _ in range(8):
            if (crc & 1) ^ (value & 1):
                crc = (crc >> 1) ^ polynomial
            else:
                crc >>= 1
            value >>= 1
    crc = ~crc & 0xFFFF
    return ((crc << 8) | (crc >> 8)) & 0xFFFF


@inline
def needleman_wunsch_cells(a, b, match, mismatch, gap):
    """Return the scores."""
    n, m = len(a), len(b)
    score = np.empty((n + 1, m + 1), np.int64)
    for j in range(m + 1):
        score[0, j] = gap * j
    for i in range(1, n + 1):
        score[i, 0] = gap * i
        for j in range(1, m + 1):
            diagonal = score[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch)
            score[i, j] = max(diagonal, score[i - 1, j] + gap, score[i, j - 1] + gap)
    return score


@inline
def edit_distance(a, b):
    """Return the distance."""
    previous = np.arange(len(b) + 1)
    current = np.zeros_like(previous)
    for i in range(len(a)):
        current[0] = i + 1
        for j in range(len(b)):
            change = previous[j] + (0 if a[i] == b[j] else 1)
            current[j + 1] = min(change, previous[j + 1] + 1, current[j] + 1)
        previous, current = current, previous
    return previous[-1]


@inline
def hmm_forward(observations, initial, transition, emission):
    """Return likelihood and probabilities."""
    steps, states = len(observations), len(initial)
    filtered = np.empty((steps, states))
    likelihood = 0.0
    alpha, beta = np.empty(states), np.empty(states)
    for t in range(steps):
        total = 0.0
        if t:
            beta[:] = 0.0
            for i in range(states):
                for j in range(states):
                    beta[j] += alpha[i] * transition[i, j]
        else:
            beta[:] = initial
        for j in range(states):
            beta[j] *= emission[j, observations[t]]
            total += beta[j]
        for j in range(states):
            alpha[j] = beta[j] / total
            filtered[t, j] = alpha[j]
        likelihood += math.log(total)
    return likelihood, filtered


@parallel
def csr_matvec(data, indices, indptr, x):
    """Return the product."""
    y = np.empty(len(indptr) - 1)
    for i in prange(len(y)):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += data[k] * x[indices[k]]
        y[i] = total
    return y


@parallel
def rolling_maximum(x, window):
    """Return maxima of windows."""
    n = len(x) - window + 1
    out = np.empty(n)
    block = 1024
    for start in prange((n + block - 1) // block):
        low, high = start * block, min(n, (start + 1) * block)
        best = out[low:high]
        best[:] = x[low:high]
        for k in range(1, window):
            line = x[low + k : high + k]
            for i in range(high - low):
                best[i] = best[i] if best[i] > line[i] else line[i]
    return out


@inline
def pagerank(source, target, nodes, damping, tolerance):
    """Return ranks and the number of iterations."""
    degree = np.zeros(nodes)
    for k in range(len(source)):
        degree[source[k]] += 1.0
    rank = np.full(nodes, 1.0 / nodes)
    share, received = np.empty(nodes), np.empty(nodes)
    iterations, change = 0, 1.0
    while change > tolerance:
        lost = 0.0
        for i in range(nodes):
            share[i] = rank[i] / max(degree[i], 1.0)
            received[i] = 0.0
            if degree[i] == 0.0:
                lost += rank[i]
        for k in range(len(source)):
            received[target[k]] += share[source[k]]
        change = 0.0
        for i in range(nodes):
            updated = (1.0 - damping) / nodes + damping * (received[i] + lost / nodes)
            change += abs(updated - rank[i])
            rank[i] = updated
        iterations += 1
    return rank, iterations


@inline
def sieve(n):
    """Return primes and their number."""
    prime = np.ones(n + 1, np.bool_)
    prime[:2] = False
    for i in range(2, int(math.sqrt(n)) + 1):
        if prime[i]:
            for k in range(i * i, n + 1, i):
                prime[k] = False
    return prime, prime.sum()


BY_HAND = {
    "crc16": crc16,
    "needleman-wunsch-cells": needleman_wunsch_cells,
    "needleman-wunsch-diagonals": needleman_wunsch_cells,
    "edit-distance": edit_distance,
    "hmm-forward": hmm_forward,
    "csr-matvec": csr_matvec,
    "rolling-maximum": rolling_maximum,
    "pagerank": pagerank,
    "sieve": sieve,
}
