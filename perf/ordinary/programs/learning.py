"""Programs that learn from data, and prices of options."""

import numpy as np
from scipy import special

from perf.ordinary.record import Ordinary


def kalman_filter(measured, F, H, Q, R, x, P):
    """Return the filtered states and their covariances over time."""
    steps = len(measured)
    states = np.zeros((steps, len(x)))
    covariances = np.zeros((steps, len(x), len(x)))
    for t in range(steps):
        x = F @ x
        P = F @ P @ F.T + Q
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ (measured[t] - H @ x)
        P = (np.eye(len(x)) - K @ H) @ P
        states[t] = x
        covariances[t] = P
    return states, covariances


def em_mixture(X, means, iterations):
    """Return weights, means and covariances of a mixture of normal distributions; the means are improved in place."""
    n, d = X.shape
    k = len(means)
    weights = np.full(k, 1.0 / k)
    covariances = np.array([np.eye(d) for _ in range(k)])
    shares = np.empty((n, k))
    for _ in range(iterations):
        for j in range(k):
            difference = X - means[j]
            exponent = np.sum(difference @ np.linalg.inv(covariances[j]) * difference, axis=1)
            norm = np.sqrt((2 * np.pi) ** d * np.linalg.det(covariances[j]))
            shares[:, j] = weights[j] * np.exp(-0.5 * exponent) / norm
        shares /= shares.sum(axis=1, keepdims=True)
        total = shares.sum(axis=0)
        weights = total / n
        for j in range(k):
            means[j] = shares[:, j] @ X / total[j]
            difference = X - means[j]
            covariances[j] = (shares[:, j, None] * difference).T @ difference / total[j] + 1e-6 * np.eye(d)
    return weights, means, covariances


def logistic_regression(X, y, rate, penalty, epochs):
    """Return weights, bias and the losses of the epochs."""
    n, d = X.shape
    w = np.zeros(d)
    b = 0.0
    losses = np.zeros(epochs)
    for epoch in range(epochs):
        p = 1.0 / (1.0 + np.exp(-(X @ w + b)))
        losses[epoch] = -np.mean(y * np.log(p + 1e-12) + (1 - y) * np.log(1 - p + 1e-12))
        error = p - y
        w -= rate * (X.T @ error / n + penalty * w)
        b -= rate * error.mean()
    return w, b, losses


def mlp_adam(X, y, W1, b1, W2, b2, rate, batch, epochs):
    """Train a network with one hidden layer in place; return the losses of the epochs."""
    parameters = [W1, b1, W2, b2]
    first = [np.zeros_like(p) for p in parameters]
    second = [np.zeros_like(p) for p in parameters]
    losses = np.zeros(epochs)
    step = 0
    for epoch in range(epochs):
        for start in range(0, len(X), batch):
            xb, yb = X[start : start + batch], y[start : start + batch]
            hidden = np.maximum(xb @ W1 + b1, 0.0)
            scores = hidden @ W2 + b2
            scores -= scores.max(axis=1, keepdims=True)
            p = np.exp(scores)
            p /= p.sum(axis=1, keepdims=True)
            rows = np.arange(len(xb))
            losses[epoch] -= np.log(p[rows, yb]).mean()
            p[rows, yb] -= 1.0
            p /= len(xb)
            back = p @ W2.T
            back[hidden <= 0.0] = 0.0
            gradients = [xb.T @ back, back.sum(axis=0), hidden.T @ p, p.sum(axis=0)]
            step += 1
            for parameter, gradient, m, v in zip(parameters, gradients, first, second, strict=True):
                m *= 0.9
                m += 0.1 * gradient
                v *= 0.999
                v += 0.001 * gradient**2
                parameter -= rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return losses


def kmeans(points, centres, limit):
    """Return centres and labels when the centres have stopped to move."""
    labels = np.zeros(len(points), dtype=np.int64)
    for _ in range(limit):
        distances = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        labels = np.argmin(distances, axis=1)
        moved = np.empty_like(centres)
        for k in range(len(centres)):
            moved[k] = points[labels == k].mean(axis=0)
        if np.abs(moved - centres).max() < 1e-6:
            break
        centres = moved
    return centres, labels


def black_scholes_masks(spot, strike, years, is_call, rate, volatility):
    """Return the prices of calls and puts, some of which have expired."""
    price = np.empty_like(spot)
    alive = years > 0.0
    payoff = np.where(is_call, spot - strike, strike - spot)
    price[~alive] = np.maximum(payoff[~alive], 0.0)
    d1 = np.zeros_like(spot)
    spread = volatility * np.sqrt(years[alive])
    drift = (rate + 0.5 * volatility**2) * years[alive]
    d1[alive] = (np.log(spot[alive] / strike[alive]) + drift) / spread
    d2 = d1 - volatility * np.sqrt(np.maximum(years, 0.0))
    discounted = strike * np.exp(-rate * years)
    calls, puts = alive & is_call, alive & ~is_call
    price[calls] = spot[calls] * special.ndtr(d1[calls]) - discounted[calls] * special.ndtr(d2[calls])
    price[puts] = discounted[puts] * special.ndtr(-d2[puts]) - spot[puts] * special.ndtr(-d1[puts])
    return price


def _track(rng, steps):
    dt = 0.1
    F = np.eye(4) + dt * np.eye(4, k=2)
    H = np.eye(2, 4)
    measured = np.cumsum(rng.standard_normal((steps, 2)), axis=0)
    return measured, F, H, 0.01 * np.eye(4), 0.5 * np.eye(2), np.zeros(4), np.eye(4)


def _clouds(rng, n, clusters, d, spread):
    centres = spread * rng.standard_normal((clusters, d))
    points = centres[np.arange(n) % clusters] + rng.standard_normal((n, d))
    return points, centres + 0.5 * rng.standard_normal((clusters, d))


def _mixture(rng, n, clusters, d, iterations):
    return *_clouds(rng, n, clusters, d, 6.0), iterations


def _scattered(rng, n, clusters, d, limit):
    points, centres = _clouds(rng, n, clusters, d, 1.5)
    return points, centres, limit


def _labelled(rng, n, d, epochs):
    X = rng.standard_normal((n, d))
    y = (X @ rng.standard_normal(d) + rng.standard_normal(n) > 0.0).astype(np.float64)
    return X, y, 0.5, 1e-3, epochs


def _network(rng, n, inputs, hidden, classes, epochs):
    W1 = rng.standard_normal((inputs, hidden)) / np.sqrt(inputs)
    W2 = rng.standard_normal((hidden, classes)) / np.sqrt(hidden)
    X = rng.standard_normal((n, inputs))
    y = np.argmax(X @ rng.standard_normal((inputs, classes)), axis=1)
    return X, y, W1, np.zeros(hidden), W2, np.zeros(classes), 1e-3, 50, epochs


def _options(rng, n):
    spot, strike = rng.uniform(50.0, 150.0, n), rng.uniform(50.0, 150.0, n)
    years = np.maximum(rng.uniform(-0.2, 2.0, n), 0.0)
    return spot, strike, years, rng.random(n) < 0.5, 0.02, 0.3


PROGRAMS = (
    Ordinary("kalman-filter", kalman_filter, _track, {"S": (50,), "L": (5000,)}),
    Ordinary(
        "em-mixture", em_mixture, _mixture, {"S": (200, 3, 2, 5), "L": (20_000, 5, 3, 20)}, ("means",), tolerance=1e-8
    ),
    Ordinary("logistic-regression", logistic_regression, _labelled, {"S": (200, 5, 20), "L": (20_000, 20, 250)}),
    Ordinary(
        "mlp-adam",
        mlp_adam,
        _network,
        {"S": (100, 8, 10, 3, 2), "L": (4000, 32, 64, 10, 20)},
        ("W1", "b1", "W2", "b2"),
        tolerance=1e-8,
    ),
    Ordinary("kmeans", kmeans, _scattered, {"S": (200, 3, 2, 60), "L": (20_000, 8, 4, 60)}),
    Ordinary("black-scholes-masks", black_scholes_masks, _options, {"S": (500,), "L": (1_000_000,)}),
)
