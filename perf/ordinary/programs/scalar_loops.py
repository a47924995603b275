"""Programs that go through numbers one by one in Python loops."""

import numpy as np

from perf.ordinary.record import Ordinary


def lotka_volterra(prey, predators, a, b, c, d, dt, steps):
    """Return the numbers of prey and predators after every step of Euler's method."""
    x = np.empty(steps + 1)
    y = np.empty(steps + 1)
    x[0] = prey
    y[0] = predators
    for t in range(steps):
        x[t + 1] = x[t] + dt * (a * x[t] - b * x[t] * y[t])
        y[t + 1] = y[t] + dt * (d * x[t] * y[t] - c * y[t])
    return x, y


def lu_elements(A):
    """Decompose a matrix into its triangular factors, in place, by elements."""
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


def insertion_sort(x):
    """Sort in place by insertion; return how many places elements have moved."""
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


def drawdowns(returns):
    """Return the running sum, its running maximum and how far the one is below the other."""
    n = len(returns)
    total = np.empty(n)
    peak = np.empty(n)
    below = np.empty(n)
    value, best = 0.0, 0.0
    for i in range(n):
        value += returns[i]
        if value > best:
            best = value
        total[i] = value
        peak[i] = best
        below[i] = best - value
    return total, peak, below.max()


def histogram_loop(x, bins, low, high):
    """Return how many elements are in each bin of equal width."""
    counts = np.zeros(bins, dtype=np.int64)
    width = (high - low) / bins
    for value in x:
        if value < low or value >= high:
            continue
        counts[int((value - low) / width)] += 1
    return counts


def bisection(targets, low, high):
    """Return where the cubic x**3 + x takes each of the values."""
    roots = np.empty_like(targets)
    for k in range(len(targets)):
        a, b = low, high
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


def kepler_newton(mean_anomaly, eccentricity):
    """Return the solutions of Kepler's equation by Newton's method, and the number of all steps."""
    out = np.empty_like(mean_anomaly)
    steps = 0
    for i in range(len(mean_anomaly)):
        anomaly = mean_anomaly[i]
        while True:
            error = anomaly - eccentricity * np.sin(anomaly) - mean_anomaly[i]
            step = error / (1.0 - eccentricity * np.cos(anomaly))
            anomaly -= step
            steps += 1
            if abs(step) < 1e-12:
                break
        out[i] = anomaly
    return out, steps


def collatz_lengths(limit):
    """Return how many steps each number below `limit` takes to 1."""
    lengths = np.zeros(limit, dtype=np.int64)
    for start in range(1, limit):
        n = start
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1
        lengths[start] = steps
    return lengths


def pid_controller(target, proportional, integral, derivative, limit, dt):
    """Return the position of a damped mass that a controller of limited force drives after a target."""
    position = np.zeros(len(target))
    force = np.zeros(len(target))
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
        position[t] = x
        force[t] = u
    return position, force


def exponential_smoothing(x, alpha, beta):
    """Return a series smoothed with a level and a trend."""
    out = np.empty_like(x)
    level, trend = x[0], x[1] - x[0]
    out[0] = level
    for t in range(1, len(x)):
        last = level
        level = alpha * x[t] + (1 - alpha) * (level + trend)
        trend = beta * (level - last) + (1 - beta) * trend
        out[t] = level
    return out


def welford(x):
    """Return the mean and the variance of the columns in one pass."""
    count = 0
    mean = np.zeros(x.shape[1])
    squares = np.zeros(x.shape[1])
    for row in x:
        count += 1
        difference = row - mean
        mean += difference / count
        squares += difference * (row - mean)
    return mean, squares / (count - 1)


def _populations(_, steps):
    return 10.0, 5.0, 1.1, 0.4, 0.4, 0.1, 1e-3, steps


def _dominant(rng, n):
    return (rng.random((n, n)) + n * np.eye(n),)


def _line(rng, n):
    return (rng.standard_normal(n),)


def _binned(rng, n):
    return rng.standard_normal(n), 50, -3.0, 3.0


def _values(rng, n):
    return rng.uniform(-20.0, 20.0, n), -10.0, 10.0


def _anomalies(rng, n):
    return rng.uniform(0.0, 2.0 * np.pi, n), 0.6


def _limit(_, n):
    return (n,)


def _steps_up(rng, n):
    return np.repeat(rng.uniform(-1.0, 1.0, n // 50), 50), 8.0, 2.0, 4.0, 5.0, 0.02


def _walk(rng, n):
    return np.cumsum(rng.standard_normal(n)), 0.3, 0.1


def _rows(rng, n, columns):
    return (rng.standard_normal((n, columns)),)


PROGRAMS = (
    Ordinary("lotka-volterra", lotka_volterra, _populations, {"S": (5000,), "L": (1_000_000,)}),
    Ordinary("lu-elements", lu_elements, _dominant, {"S": (25,), "L": (110,)}, ("A",)),
    Ordinary("insertion-sort", insertion_sort, _line, {"S": (150,), "L": (3000,)}, ("x",), tolerance=0.0),
    Ordinary("drawdowns", drawdowns, _line, {"S": (5000,), "L": (1_000_000,)}),
    Ordinary("histogram-loop", histogram_loop, _binned, {"S": (5000,), "L": (1_000_000,)}, tolerance=0.0),
    Ordinary("bisection", bisection, _values, {"S": (100,), "L": (20_000,)}),
    Ordinary("kepler-newton", kepler_newton, _anomalies, {"S": (300,), "L": (50_000,)}),
    Ordinary("collatz-lengths", collatz_lengths, _limit, {"S": (500,), "L": (100_000,)}, tolerance=0.0),
    Ordinary("pid-controller", pid_controller, _steps_up, {"S": (2000,), "L": (400_000,)}),
    Ordinary("exponential-smoothing", exponential_smoothing, _walk, {"S": (5000,), "L": (1_000_000,)}),
    Ordinary("welford", welford, _rows, {"S": (500, 8), "L": (50_000, 20)}),
)
