"""Fused chains of elementary functions: formulas whose time goes into the functions, not into memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from perf.programs import Arrays, Program, Random, Shape, Tolerance, normals, options

HALF_ROOT_TWO = 0.7071067811865476
EARTH_RADIUS_KM = 6371.0


def normal_distribution(x: Any) -> Any:
    """Return the normal distribution function."""
    return 0.5 * (1.0 + special.erf(x * HALF_ROOT_TWO))


def black_scholes(spot: Any, strike: Any, years: Any) -> Any:
    """Return the prices of a European call and a European put (interest 2 %, volatility 30 %)."""
    rate, volatility = 0.02, 0.3
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * years)
    call = spot * normal_distribution(d1) - discounted * normal_distribution(d2)
    return call, call - spot + discounted


def haversine(latitude1: Any, longitude1: Any, latitude2: Any, longitude2: Any) -> Any:
    """Return the distances in km of points on the globe whose coordinates are in radians."""
    across = np.sin(0.5 * (latitude2 - latitude1))
    along = np.sin(0.5 * (longitude2 - longitude1))
    square = across * across + np.cos(latitude1) * np.cos(latitude2) * along * along
    return 2.0 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(square))


def gelu(x: Any) -> Any:
    """Return the Gaussian error linear unit."""
    return 0.5 * x * (1.0 + special.erf(x * HALF_ROOT_TWO))


def places(rng: Random, shape: Shape) -> Arrays:
    """Return latitudes and longitudes of two sets of points, in radians."""
    latitudes = [np.arcsin(rng.uniform(-1, 1, shape)) for _ in range(2)]
    longitudes = [rng.uniform(-np.pi, np.pi, shape) for _ in range(2)]
    return latitudes[0], longitudes[0], latitudes[1], longitudes[1]


SIZE = "whole"
CHAINS = (
    Program("Black-Scholes with erf f64", black_scholes, options, {SIZE: (1_000_000,)}, Tolerance(1e-12, 1e-12)),
    Program("haversine f64", haversine, places, {SIZE: (1_000_000,)}, Tolerance(1e-12, 1e-9)),
    Program("GELU with erf f32", gelu, normals(1, np.float32), {SIZE: (4_000_000,)}, Tolerance(1e-5, 1e-6)),
)
