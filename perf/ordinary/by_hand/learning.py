"""Loops for `perf.ordinary.programs.learning`."""

import math

import numpy as np
from numba import prange

from perf.loops.parallel import inline, parallel


@inline
def kalman_filter(measured, F, H, Q, R, x, P):
    """Return states and covariances."""
    steps, n = len(measured), len(x)
    states, covariances = np.empty((steps, n)), np.empty((steps, n, n))
    one = np.eye(n)
    for t in range(steps):
        x = F @ x
        P = F @ P @ F.T + Q
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ (measured[t] - H @ x)
        P = (one - K @ H) @ P
        states[t] = x
        covariances[t] = P
    return states, covariances


@parallel
def em_mixture(X, means, iterations):
    """Return weights, means and covariances."""
    n, d = X.shape
    k = len(means)
    weights = np.full(k, 1.0 / k)
    covariances = np.zeros((k, d, d))
    for j in range(k):
        for a in range(d):
            covariances[j, a, a] = 1.0
    shares, inverses, norms = np.empty((n, k)), np.empty((k, d, d)), np.empty(k)
    parts = 16
    totals, sums, squares = np.empty((parts, k)), np.empty((parts, k, d)), np.empty((parts, k, d, d))
    for _ in range(iterations):
        for j in range(k):
            inverses[j] = np.linalg.inv(covariances[j])
            norms[j] = weights[j] / math.sqrt((2 * math.pi) ** d * np.linalg.det(covariances[j]))
        for part in prange(parts):
            totals[part], sums[part] = 0.0, 0.0
            for i in range(part * n // parts, (part + 1) * n // parts):
                total = 0.0
                for j in range(k):
                    exponent = 0.0
                    for a in range(d):
                        for b in range(d):
                            exponent += (X[i, a] - means[j, a]) * inverses[j, a, b] * (X[i, b] - means[j, b])
                    shares[i, j] = norms[j] * math.exp(-0.5 * exponent)
                    total += shares[i, j]
                for j in range(k):
                    shares[i, j] /= total
                    totals[part, j] += shares[i, j]
                    for a in range(d):
                        sums[part, j, a] += shares[i, j] * X[i, a]
        total = totals.sum(axis=0)
        weights = total / n
        for j in range(k):
            means[j] = sums[:, j].sum(axis=0) / total[j]
        for part in prange(parts):
            squares[part] = 0.0
            for i in range(part * n // parts, (part + 1) * n // parts):
                for j in range(k):
                    for a in range(d):
                        for b in range(d):
                            product = (X[i, a] - means[j, a]) * (X[i, b] - means[j, b])
                            squares[part, j, a, b] += shares[i, j] * product
        for j in range(k):
            covariances[j] = squares[:, j].sum(axis=0) / total[j] + 1e-6 * np.eye(d)
    return weights, means, covariances


@parallel
def logistic_regression(X, y, rate, penalty, epochs):
    """Return weights, bias and losses."""
    n, d = X.shape
    w, b, losses = np.zeros(d), 0.0, np.zeros(epochs)
    error = np.empty(n)
    for epoch in range(epochs):
        z = X @ w
        loss = total = 0.0
        for i in prange(n):
            p = 1.0 / (1.0 + math.exp(-(z[i] + b)))
            loss += y[i] * math.log(p + 1e-12) + (1 - y[i]) * math.log(1 - p + 1e-12)
            error[i] = p - y[i]
            total += error[i]
        losses[epoch] = -loss / n
        w -= rate * (X.T @ error / n + penalty * w)
        b -= rate * total / n
    return w, b, losses


@inline
def _adam(parameter, gradient, m, v, rate, first, second):
    flat, slope, m, v = parameter.ravel(), gradient.ravel(), m.ravel(), v.ravel()
    for i in range(flat.size):
        m[i] = 0.9 * m[i] + 0.1 * slope[i]
        v[i] = 0.999 * v[i] + 0.001 * slope[i] * slope[i]
        flat[i] -= rate * (m[i] / first) / (math.sqrt(v[i] / second) + 1e-8)


@inline
def mlp_adam(X, y, W1, b1, W2, b2, rate, batch, epochs):
    """Train in place; return losses."""
    mW1, mb1, mW2, mb2 = np.zeros_like(W1), np.zeros_like(b1), np.zeros_like(W2), np.zeros_like(b2)
    vW1, vb1, vW2, vb2 = np.zeros_like(W1), np.zeros_like(b1), np.zeros_like(W2), np.zeros_like(b2)
    gb1, gb2 = np.empty_like(b1), np.empty_like(b2)
    losses = np.zeros(epochs)
    step = 0
    for epoch in range(epochs):
        for start in range(0, len(X), batch):
            xb, yb = X[start : start + batch], y[start : start + batch]
            n = len(xb)
            hidden = xb @ W1
            for i in range(n):
                for j in range(len(b1)):
                    hidden[i, j] = max(hidden[i, j] + b1[j], 0.0)
            p = hidden @ W2
            loss = 0.0
            gb2[:] = 0.0
            for i in range(n):
                largest = -np.inf
                for j in range(len(b2)):
                    p[i, j] += b2[j]
                    largest = max(largest, p[i, j])
                total = 0.0
                for j in range(len(b2)):
                    p[i, j] = math.exp(p[i, j] - largest)
                    total += p[i, j]
                loss -= math.log(p[i, yb[i]] / total)
                for j in range(len(b2)):
                    p[i, j] = (p[i, j] / total - (1.0 if j == yb[i] else 0.0)) / n
                    gb2[j] += p[i, j]
            losses[epoch] += loss / n
            back = p @ W2.T
            gb1[:] = 0.0
            for i in range(n):
                for j in range(len(b1)):
                    if hidden[i, j] <= 0.0:
                        back[i, j] = 0.0
                    gb1[j] += back[i, j]
            gW1, gW2 = xb.T @ back, hidden.T @ p
            step += 1
            first, second = 1 - 0.9**step, 1 - 0.999**step
            _adam(W1, gW1, mW1, vW1, rate, first, second)
            _adam(b1, gb1, mb1, vb1, rate, first, second)
            _adam(W2, gW2, mW2, vW2, rate, first, second)
            _adam(b2, gb2, mb2, vb2, rate, first, second)
    return losses


@parallel
def kmeans(points, centres, limit):
    """Return centres and labels."""
    n, d = points.shape
    k = len(centres)
    labels = np.zeros(n, np.int64)
    parts = 16
    sums, counts = np.empty((parts, k, d)), np.empty((parts, k), np.int64)
    for _ in range(limit):
        for part in prange(parts):
            sums[part], counts[part] = 0.0, 0
            for i in range(part * n // parts, (part + 1) * n // parts):
                best, nearest = np.inf, 0
                for j in range(k):
                    distance = 0.0
                    for a in range(d):
                        distance += (points[i, a] - centres[j, a]) ** 2
                    if distance < best:
                        best, nearest = distance, j
                labels[i] = nearest
                counts[part, nearest] += 1
                for a in range(d):
                    sums[part, nearest, a] += points[i, a]
        moved = np.empty((k, d))
        change = 0.0
        for j in range(k):
            for a in range(d):
                moved[j, a] = sums[:, j, a].sum() / counts[:, j].sum()
                change = max(change, abs(moved[j, a] - centres[j, a]))
        if change < 1e-6:
            break
        centres = moved
    return centres, labels


@inline
def _normal(x):
    return 0.5 * math.erfc(-x * 0.7071067811865476)


@parallel
def black_scholes_masks(spot, strike, years, is_call, rate, volatility):
    """Return the prices."""
    price = np.empty_like(spot)
    for i in prange(len(spot)):
        if years[i] > 0.0:
            spread = volatility * math.sqrt(years[i])
            d1 = (math.log(spot[i] / strike[i]) + (rate + 0.5 * volatility**2) * years[i]) / spread
            d2 = d1 - spread
            discounted = strike[i] * math.exp(-rate * years[i])
            if is_call[i]:
                price[i] = spot[i] * _normal(d1) - discounted * _normal(d2)
            else:
                price[i] = discounted * _normal(-d2) - spot[i] * _normal(-d1)
        else:
            price[i] = max(spot[i] - strike[i] if is_call[i] else strike[i] - spot[i], 0.0)
    return price


BY_HAND = {
    "kalman-filter": kalman_filter,
    "em-mixture": em_mixture,
    "logistic-regression": logistic_regression,
    "mlp-adam": mlp_adam,
    "kmeans": kmeans,
    "black-scholes-masks": black_scholes_masks,
}
