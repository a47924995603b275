"""The programs that structure tests look at: what they fuse to, their source, their machine code."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def chain(x: Array, y: Array) -> Array:
    return (x * 2.0 + y) * (x - 1.5) + 0.25


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def layernorm(x: Array, scale: Array, shift: Array) -> Array:
    mean = x.mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5) * scale + shift


def variance(x: Array) -> Array:
    return x.var(axis=1)


def logsumexp(x: Array) -> Array:
    largest = x.max(axis=1)
    return largest + np.log(np.exp(x - largest[:, None]).sum(axis=1))


def gelu(x: Array, bias: Array) -> Array:
    y = x + bias
    return 0.5 * y * (1.0 + np.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))


def _normal(x: Array) -> Array:
    return 0.5 * (1.0 + np.tanh(0.79788456 * (x + 0.044715 * x * x * x)))


def black_scholes(price: Array, strike: Array, years: Array) -> tuple[Array, Array]:
    discounted = strike * np.exp(-0.03 * years)
    spread = 0.2 * np.sqrt(years)
    first = (np.log(price / strike) + 0.05 * years) / spread
    call = price * _normal(first) - discounted * _normal(first - spread)
    return call, call - price + discounted


def accelerations(position: Array, mass: Array) -> Array:
    away = position[None, :, :] - position[:, None, :]
    distance = np.square(away).sum(axis=-1) + 0.01
    return (away * (mass[None, :] * distance**-1.5)[:, :, None]).sum(axis=1)


def sum_of_squares(x: Array) -> Any:
    return (x * x).sum()


def row_maximum(x: Array) -> Any:
    return x.max(axis=1)


def column_means(x: Array) -> Array:
    return x.mean(axis=0)


def stencil(x: Array) -> Array:
    return x[:-2] - 2.0 * x[1:-1] + x[2:]


def outer_exponential(x: Array, y: Array) -> Array:
    return np.exp(x)[:, None] * y


def joined(x: Array) -> Array:
    return np.concatenate([np.exp(x), x * 2.0])


def nearest(x: Array, y: Array) -> Array:
    return ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)


def collatz(x: Array) -> Array:
    return np.where(x & 1 == 0, x >> 1, 3 * x + 1)


def hypotenuse(x: Array, y: Array) -> Array:
    return np.sqrt(x * x + y * y)


def blended(x: Any, y: Any, row: Any) -> Any:
    """An operand that runs through memory across the others."""
    return x.T * y + row


def biharmonic(u: Any) -> Any:
    for _ in range(2):
        u = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    return u


def rolling_mean(x: Array) -> Array:
    total = np.cumsum(x, axis=1)
    return (total[:, 20:] - total[:, :-20]) / 20.0
