"""Fused chains of elementary functions: formulas whose time goes into the functions, not into memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from perf.programs import Program, Tolerance, normals, options
from perf.programs.physics import haversine, places

HALF_ROOT_TWO = 0.7071067811865476


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


def gelu(x: Any) -> Any:
    """Return the Gaussian error linear unit."""
    return 0.5 * x * (1.0 + special.erf(x * HALF_ROOT_TWO))


SIZE = "whole"
CHAINS = (
    Program("Black-Scholes with erf f64", black_scholes, options, {SIZE: (1_000_000,)}, Tolerance(1e-12, 1e-12)),
    Program("haversine f64", haversine, places, {SIZE: (1_000_000,)}, Tolerance(1e-12, 1e-9)),
    Program("GELU with erf f32", gelu, normals(1, np.float32), {SIZE: (4_000_000,)}, Tolerance(1e-5, 1e-6)),
)
