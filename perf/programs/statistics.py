"""Statistics and finance: means, deviations, likelihoods, prices of options."""

from __future__ import annotations

from typing import Any

import numpy as np

from perf.program import Arrays, Program, Random, Shape, Tolerance, normals


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


def sum_of_squares(x: Any) -> Any:
    """Return the sum of the squares of all elements."""
    return np.sum(x * x)


def gaussian_log_likelihood(x: Any, mean: Any, deviation: Any) -> Any:
    """Return the log-likelihood of independent normal observations."""
    z = (x - mean) / deviation
    return np.sum(-0.5 * z * z - np.log(deviation) - 0.9189385332046727)


def column_statistics(x: Any) -> Any:
    """Return the mean and the standard deviation of every column."""
    return x.mean(axis=0), x.std(axis=0)


def gather_tanh_sum(values: Any, indices: Any) -> Any:
    """Return the sum of the hyperbolic tangents of chosen elements."""
    return np.sum(np.tanh(values[indices]))


def options(rng: Random, shape: Shape) -> Arrays:
    """Return spot prices, strike prices and years to expiry."""
    return rng.uniform(10, 100, shape), rng.uniform(10, 100, shape), rng.uniform(0.1, 5, shape)


def observations(rng: Random, shape: Shape) -> Arrays:
    """Return observations, their means and their standard deviations."""
    mean, deviation = rng.standard_normal(shape), rng.uniform(0.5, 2, shape)
    return mean + deviation * rng.standard_normal(shape), mean, deviation


def table_and_indices(rng: Random, shape: Shape) -> Arrays:
    """Return a table of `shape[0]` positive numbers and `shape[1]` random places in it."""
    return rng.random(shape[0], dtype=np.float32), rng.integers(0, shape[0], shape[1])


# Abramowitz and Stegun 26.2.17 of -|x| and of x, as numexpr says it.
TAIL = (
    "(0.3989422804014327 * exp(-0.5 * ({x}) * ({x})) * (1 / (1 + 0.2316419 * abs({x}))) * (0.319381530"
    " + (1 / (1 + 0.2316419 * abs({x}))) * (-0.356563782 + (1 / (1 + 0.2316419 * abs({x}))) * (1.781477937"
    " + (1 / (1 + 0.2316419 * abs({x}))) * (-1.821255978 + (1 / (1 + 0.2316419 * abs({x}))) * 1.330274429)))))"
)
NORMAL = "where({x} >= 0, 1 - {tail}, {tail})"


def normal(x: str) -> str:
    """Return the normal distribution function of an expression in numexpr's language."""
    return NORMAL.format(x=x, tail=TAIL.format(x=x))


D1 = "((log(spot / strike) + 0.065 * years) / (0.3 * sqrt(years)))"
D2 = f"({D1} - 0.3 * sqrt(years))"
CALL = f"spot * {normal(D1)} - strike * exp(-0.02 * years) * {normal(D2)}"
PUT = f"strike * exp(-0.02 * years) * {normal(f'(-{D2})')} - spot * {normal(f'(-{D1})')}"

PROGRAMS = (
    Program(
        "Black-Scholes f64",
        black_scholes,
        options,
        {"S": (1000,), "M": (16_384,), "L": (1_000_000,), "XL": (10_000_000,)},
        Tolerance(1e-11, 1e-11),
        kernels=1,
        expression=(CALL, PUT),
    ),
    Program(
        "sum of squares f32",
        sum_of_squares,
        normals(1, np.float32),
        {"S": (1000,), "M": (131_072,), "L": (10_000_000,)},
        Tolerance(1e-6),
        "memory",
        expression="sum(x * x)",
    ),
    Program(
        "Gaussian log-likelihood f64",
        gaussian_log_likelihood,
        observations,
        {"S": (1000,), "M": (16_384,), "L": (1_000_000,), "XL": (10_000_000,)},
        Tolerance(1e-12),
        expression="sum(-0.5 * ((x - mean) / deviation) ** 2 - log(deviation) - 0.9189385332046727)",
    ),
    Program(
        "column mean and deviation f64",
        column_statistics,
        normals(1, np.float64),
        {"S": (50, 20), "M": (400, 200), "L": (50_000, 200)},
        Tolerance(1e-12, 1e-13),
        "memory",
    ),
    Program(
        "gather, tanh, sum f32",
        gather_tanh_sum,
        table_and_indices,
        {"S": (1000, 1000), "M": (16_384, 65_536), "L": (1_000_000, 10_000_000)},
        Tolerance(1e-6),
    ),
)
