"""Ports of `perf.ordinary.programs.scalar_loops`."""

import jax
import jax.numpy as jnp
from jax import lax


def lotka_volterra(prey, predators, a, b, c, d, dt, steps):
    """Return both populations."""

    def step(state, _):
        x, y = state
        state = x + dt * (a * x - b * x * y), y + dt * (d * x * y - c * y)
        return state, state

    start = jnp.asarray(prey, jnp.float64), jnp.asarray(predators, jnp.float64)
    _, (x, y) = lax.scan(step, start, None, length=steps)
    return jnp.concatenate([start[0][None], x]), jnp.concatenate([start[1][None], y])


def drawdowns(returns):
    """Return sums, maxima, and the deepest fall."""
    total = jnp.cumsum(returns)
    peak = jnp.maximum(lax.cummax(total), 0.0)
    return total, peak, (peak - total).max()


def histogram_loop(x, bins, low, high):
    """Return the counts."""
    width = (high - low) / bins
    inside = (x >= low) & (x < high)
    return jnp.zeros(bins, jnp.int64).at[jnp.where(inside, ((x - low) / width).astype(jnp.int64), bins)].add(1)


def bisection(targets, low, high):
    """Return the roots."""

    def root(target):
        def halve(state):
            a, b, _, turns = state
            middle = 0.5 * (a + b)
            above = middle * middle * middle + middle > target
            done = b - a < 1e-10
            return jnp.where(above | done, a, middle), jnp.where(above & ~done, middle, b), middle, turns + 1

        def goes_on(state):
            return (state[3] == 0) | (state[1] - state[0] >= 1e-10) & (state[3] < 100)

        a, b, _, _ = lax.while_loop(goes_on, halve, (low, high, low, 0))
        return 0.5 * (a + b)

    return jax.vmap(root)(targets)


def kepler_newton(mean_anomaly, eccentricity):
    """Return solutions and the number of steps."""

    def solve(mean):
        def closer(state):
            anomaly, _, steps = state
            error = anomaly - eccentricity * jnp.sin(anomaly) - mean
            step = error / (1.0 - eccentricity * jnp.cos(anomaly))
            return anomaly - step, jnp.abs(step), steps + 1

        anomaly, _, steps = lax.while_loop(lambda state: state[1] >= 1e-12, closer, (mean, jnp.inf, 0))
        return anomaly, steps

    anomalies, steps = jax.vmap(solve)(mean_anomaly)
    return anomalies, steps.sum()


def pid_controller(target, proportional, integral, derivative, limit, dt):
    """Return positions and forces."""

    def step(state, wanted):
        x, velocity, total, previous = state
        error = wanted - x
        raised = total + error * dt
        u = proportional * error + integral * raised + derivative * (error - previous) / dt
        total = jnp.where(jnp.abs(u) > limit, raised - error * dt, raised)
        u = jnp.clip(u, -limit, limit)
        velocity = velocity + (u - 0.4 * velocity) * dt
        x = x + velocity * dt
        return (x, velocity, total, error), (x, u)

    zero = jnp.zeros(())
    _, outputs = lax.scan(step, (zero, zero, zero, zero), target)
    return outputs


def exponential_smoothing(x, alpha, beta):
    """Return the level."""

    def step(state, value):
        level, trend = state
        updated = alpha * value + (1 - alpha) * (level + trend)
        return (updated, beta * (updated - level) + (1 - beta) * trend), updated

    _, levels = lax.scan(step, (x[0], x[1] - x[0]), x[1:])
    return jnp.concatenate([x[:1], levels])


PORTS = {
    "lotka-volterra": lotka_volterra,
    "drawdowns": drawdowns,
    "histogram-loop": histogram_loop,
    "bisection": bisection,
    "kepler-newton": kepler_newton,
    "pid-controller": pid_controller,
    "exponential-smoothing": exponential_smoothing,
}
