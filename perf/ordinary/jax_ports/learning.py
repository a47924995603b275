"""Ports of `perf.ordinary.programs.learning`."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy import special


def kalman_filter(measured, F, H, Q, R, x, P):
    """Return states and covariances."""

    def step(state, z):
        x, P = state
        x = F @ x
        P = F @ P @ F.T + Q
        K = P @ H.T @ jnp.linalg.inv(H @ P @ H.T + R)
        x = x + K @ (z - H @ x)
        P = (jnp.eye(len(x)) - K @ H) @ P
        return (x, P), (x, P)

    return lax.scan(step, (x, P), measured)[1]


def em_mixture(X, means, iterations):
    """Return weights, means, covariances, and the means again."""
    n, d = X.shape
    k = len(means)

    def density(weight, mean, covariance):
        difference = X - mean
        exponent = jnp.sum(difference @ jnp.linalg.inv(covariance) * difference, axis=1)
        return weight * jnp.exp(-0.5 * exponent) / jnp.sqrt((2 * jnp.pi) ** d * jnp.linalg.det(covariance))

    def spread(share, mean, total):
        difference = X - mean
        return (share[:, None] * difference).T @ difference / total + 1e-6 * jnp.eye(d)

    def step(_, state):
        shares = jax.vmap(density, out_axes=1)(*state)
        shares = shares / shares.sum(axis=1, keepdims=True)
        total = shares.sum(axis=0)
        means = shares.T @ X / total[:, None]
        return total / n, means, jax.vmap(spread, in_axes=(1, 0, 0))(shares, means, total)

    start = jnp.full(k, 1.0 / k), means, jnp.tile(jnp.eye(d), (k, 1, 1))
    weights, means, covariances = lax.fori_loop(0, iterations, step, start)
    return weights, means, covariances, means


def logistic_regression(X, y, rate, penalty, epochs):
    """Return weights, bias and losses."""

    def step(state, _):
        w, b = state
        p = jax.nn.sigmoid(X @ w + b)
        loss = -jnp.mean(y * jnp.log(p + 1e-12) + (1 - y) * jnp.log(1 - p + 1e-12))
        error = p - y
        return (w - rate * (X.T @ error / len(X) + penalty * w), b - rate * error.mean()), loss

    (w, b), losses = lax.scan(step, (jnp.zeros(X.shape[1]), jnp.zeros(())), None, length=epochs)
    return w, b, losses


def mlp_adam(X, y, W1, b1, W2, b2, rate, batch, epochs):
    """Return losses and parameters."""

    def loss(parameters, xb, yb):
        W1, b1, W2, b2 = parameters
        logits = jax.nn.log_softmax(jax.nn.relu(xb @ W1 + b1) @ W2 + b2)
        return -jnp.take_along_axis(logits, yb[:, None], axis=1).mean()

    def update(state, data):
        parameters, first, second, step = state
        value, gradients = jax.value_and_grad(loss)(parameters, *data)
        step = step + 1.0
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, second, gradients)

        def moved(p, m, v):
            return p - rate * (m / (1 - 0.9**step)) / (jnp.sqrt(v / (1 - 0.999**step)) + 1e-8)

        return (jax.tree.map(moved, parameters, first, second), first, second, step), value

    def epoch(state, _):
        state, values = lax.scan(update, state, (X.reshape(-1, batch, X.shape[1]), y.reshape(-1, batch)))
        return state, values.sum()

    parameters = (W1, b1, W2, b2)
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    state, losses = lax.scan(epoch, (parameters, zeros, zeros, jnp.zeros(())), None, length=epochs)
    return losses, *state[0]


def kmeans(points, centres, limit):
    """Return centres and labels."""
    k = len(centres)

    def step(state):
        _, centres, _, turns, _ = state
        labels = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
        sums = jax.ops.segment_sum(points, labels, num_segments=k)
        moved = sums / jax.ops.segment_sum(jnp.ones(len(points)), labels, num_segments=k)[:, None]
        return centres, moved, labels, turns + 1, jnp.abs(moved - centres).max() < 1e-6

    def goes_on(state):
        return (state[3] < limit) & ~state[4]

    start = centres, centres, jnp.zeros(len(points), jnp.int64), 0, jnp.asarray(False)
    before, after, labels, _, still = lax.while_loop(goes_on, step, start)
    return jnp.where(still, before, after), labels


def black_scholes_masks(spot, strike, years, is_call, rate, volatility):
    """Return the prices."""
    alive = years > 0.0
    spread = volatility * jnp.sqrt(jnp.where(alive, years, 1.0))
    d1 = (jnp.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    sign = jnp.where(is_call, 1.0, -1.0)
    discounted = strike * jnp.exp(-rate * years)
    price = sign * (spot * special.ndtr(sign * d1) - discounted * special.ndtr(sign * d2))
    return jnp.where(alive, price, jnp.maximum(sign * (spot - strike), 0.0))


PORTS = {
    "kalman-filter": kalman_filter,
    "em-mixture": em_mixture,
    "logistic-regression": logistic_regression,
    "mlp-adam": mlp_adam,
    "kmeans": kmeans,
    "black-scholes-masks": black_scholes_masks,
}
