"""The functions that are timed: NumPy as one writes it, with nothing in it for the sake of a compiler."""

from __future__ import annotations

from typing import Any

import numpy as np


def chain(a: Any, b: Any, c: Any) -> Any:
    """Return a chain of four cheap operations: bound by memory."""
    return (a + b) * c - a * 0.5


def hypot(x: Any, y: Any) -> Any:
    """Return the length of the vectors (x, y)."""
    return np.sqrt(x * x + y * y)


def normal_distribution(x: Any) -> Any:
    """Return the normal distribution function, by Abramowitz and Stegun 26.2.17 (error below 7.5e-8)."""
    t = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    series = 0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))
    tail = 0.3989422804014327 * np.exp(-0.5 * x * x) * t * series
    return np.where(x >= 0.0, 1.0 - tail, tail)


def black_scholes(spot: Any, strike: Any, years: Any) -> Any:
    """Return the prices of a European call and a European put (interest 2 %, volatility 30 %)."""
    rate, volatility = 0.02, 0.3
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * years)
    call = spot * normal_distribution(d1) - discounted * normal_distribution(d2)
    put = discounted * normal_distribution(-d2) - spot * normal_distribution(-d1)
    return call, put


def softmax(x: Any) -> Any:
    """Return the softmax of every row."""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layernorm(x: Any, gain: Any, bias: Any) -> Any:
    """Return every row brought to mean 0 and variance 1, then scaled and shifted column by column."""
    mean = x.mean(axis=1, keepdims=True)
    variance = x.var(axis=1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * gain + bias


def gelu(x: Any, bias: Any) -> Any:
    """Return the tanh form of the Gaussian error linear unit of every row plus a bias."""
    y = x + bias
    return 0.5 * y * (1.0 + np.tanh(0.7978845608028654 * (y + 0.044715 * y * y * y)))


def logsumexp(x: Any) -> Any:
    """Return the logarithm of the sum of the exponentials of every row."""
    top = x.max(axis=1)
    return np.log(np.exp(x - top[:, None]).sum(axis=1)) + top


def sum_of_squares(x: Any) -> Any:
    """Return the sum of the squares of all elements."""
    return np.sum(x * x)


def gaussian_log_likelihood(x: Any, mean: Any, deviation: Any) -> Any:
    """Return the log-likelihood of independent normal observations."""
    z = (x - mean) / deviation
    return np.sum(-0.5 * z * z - np.log(deviation) - 0.9189385332046727)


def multiply_add(a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c."""
    return a * b + c
