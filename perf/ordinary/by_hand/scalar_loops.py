"""Loops for `perf.ordinary.programs.scalar_loops`."""

import math

import numpy as np
from numba import prange

from perf.loops.parallel import inline, parallel


@inline
def lotka_volterra(prey, predators, a, b, c, d, dt, steps):
    """Return both populations."""
    xs, ys = np.empty(steps + 1), np.empty(steps + 1)
    x, y = prey, predators
    xs[0], ys[0] = x, y
    for t in range(steps):
        x, y = x + dt * (a * x - b * x * y), y + dt * (d * x * y - c * y)
        xs[t + 1], ys[t + 1] = x, y
    return xs, ys


@inline
def lu_elements(A):
    """Decompose the matrix."""
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[k, j]
            A[i, j] = total / A[j, j]
        for j in range(i, n):
            total = A[i, j]
            for k in range(i):
                total -= A[i, k] * A[k, j]
            A[i, j] = total


@inline
def insertion_sort(x):
    """Sort in place."""
    moves = 0
    for i in range(1, len(x)):
        value = x[i]
        j = i - 1
        while j >= 0 and x[j] > value:
            x[j + 1] = x[j]
            j -= 1
            moves += 1
        x[j + 1] = value
    return moves


@inline
def drawdowns(returns):
    """Return sums, maxima, and the deepest fall."""
    n = len(returns)
    total, peak = np.empty(n), np.empty(n)
    value, best, deepest = 0.0, 0.0, 0.0
    for i in range(n):
        value += returns[i]
        best = max(best, value)
        deepest = max(deepest, best - value)
        total[i] = value
        peak[i] = best
    return total, peak, deepest


@inline
def histogram_loop(x, bins, low, high):
    """Return the counts."""
    counts = np.zeros(bins, np.int64)
    width = (high - low) / bins
    for i in range(len(x)):
        if low <= x[i] < high:
            counts[int((x[i] - low) / width)] += 1
    return counts


@parallel
def bisection(targets, low, high):
    """Return the roots."""
    roots = np.empty_like(targets)
    for k in prange(len(targets)):
        a, b = low, high
        middle = 0.5 * (a + b)
        for _ in range(100):
            middle = 0.5 * (a + b)
            if b - a < 1e-10:
                break
            if middle * middle * middle + middle > targets[k]:
                b = middle
            else:
                a = middle
        roots[k] = middle
    return roots


@parallel
def kepler_newton(mean_anomaly, eccentricity):
    """Return solutions and the number of steps."""
    out = np.empty_like(mean_anomaly)
    steps = 0
    for i in prange(len(mean_anomaly)):
        anomaly = mean_anomaly[i]
        while True:
            error = anomaly - eccentricity * math.sin(anomaly) - mean_anomaly[i]
            step = error / (1.0 - eccentricity * math.cos(anomaly))
            anomaly -= step
            steps += 1
            if abs(step) < 1e-12:
                break
        out[i] = anomaly
    return out, steps


@parallel
def collatz_lengths(limit):
    """Return the numbers of steps."""
    lengths = np.zeros(limit, np.int64)
    for start in prange(1, limit):
        n, steps = start, 0
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1
        lengths[start] = steps
    return lengths


@inline
def pid_controller(target, proportional, integral, derivative, limit, dt):
    """Return positions and forces."""
    position, force = np.empty(len(target)), np.empty(len(target))
    x, velocity, total, previous = 0.0, 0.0, 0.0, 0.0
    for t in range(len(target)):
        error = target[t] - x
        total += error * dt
        u = proportional * error + integral * total + derivative * (error - previous) / dt
        if u > limit:
            u = limit
            total -= error * dt
        elif u < -limit:
            u = -limit
            total -= error * dt
        previous = error
        velocity += (u - 0.4 * velocity) * dt
        x += velocity * dt
        position[t], force[t] = x, u
    return position, force


@inline
def exponential_smoothing(x, alpha, beta):
    """Return the level."""
    out = np.empty_like(x)
    level, trend = x[0], x[1] - x[0]
    out[0] = level
    for t in range(1, len(x)):
        last = level
        level = alpha * x[t] + (1 - alpha) * (level + trend)
        trend = beta * (level - last) + (1 - beta) * trend
        out[t] = level
    return out


@inline
def welford(x):
    """Return mean and variance."""
    rows, columns = x.shape
    mean, squares = np.zeros(columns), np.zeros(columns)
    for i in range(rows):
        for j in range(columns):
            difference = x[i, j] - mean[j]
            mean[j] += difference / (i + 1)
            squares[j] += difference * (x[i, j] - mean[j])
    return mean, squares / (rows - 1)


BY_HAND = {
    "lotka-volterra": lotka_volterra,
    "lu-elements": lu_elements,
    "insertion-sort": insertion_sort,
    "drawdowns": drawdowns,
    "histogram-loop": histogram_loop,
    "bisection": bisection,
    "kepler-newton": kepler_newton,
    "collatz-lengths": collatz_lengths,
    "pid-controller": pid_controller,
    "exponential-smoothing": exponential_smoothing,
    "welford": welford,
}
