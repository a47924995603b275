"""Price a surface of options and draw it: an ordinary NumPy function, and the same function under `@xjit`.

Every point of a grid of strike prices and times to expiry is a European call after Black and Scholes: its price and
its sensitivities to the share price (delta), to that of delta (gamma) and to volatility (vega). The script prints
what NumPy and xjit take and how far the four results differ, and draws price and vega.

    python examples/black_scholes.py [--size 1500] [--output black_scholes.png]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy import special

import xjit as package
from xjit import xjit

Array = np.ndarray[Any, Any]
Surface = tuple[Array, Array, Array, Array]

SPOT, RATE, VOLATILITY = 100.0, 0.03, 0.25
ROUNDS = 9
DRAWN = 60


def call_surface(spot: float, strike: Array, years: Array, rate: float, volatility: float) -> Surface:
    """Return price, delta, gamma and vega of calls; strikes and years are broadcast against each other."""
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    delta = 0.5 * (1.0 + special.erf(d1 / np.sqrt(2.0)))
    exercised = 0.5 * (1.0 + special.erf((d1 - spread) / np.sqrt(2.0)))
    density = np.exp(-0.5 * d1 * d1) / np.sqrt(2.0 * np.pi)
    price = spot * delta - strike * np.exp(-rate * years) * exercised
    return price, delta, density / (spot * spread), spot * density * np.sqrt(years)


compiled_surface = xjit(call_surface)


def seconds_of(function: Callable[..., Surface], arguments: tuple[Any, ...]) -> float:
    """Return the seconds of one call, freeing of its results included."""
    begin = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - begin


def draw(surface: Surface, strike: Array, years: Array, path: Path) -> None:
    """Draw price and vega over strike and time to expiry."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    every = max(1, strike.shape[1] // DRAWN), max(1, years.shape[0] // DRAWN)
    across, along = np.broadcast_arrays(strike, years)
    for place, (name, values) in enumerate((("price", surface[0]), ("vega", surface[3])), 1):
        axes: Any = figure.add_subplot(1, 2, place, projection="3d")
        shown = [part[:: every[1], :: every[0]] for part in (across, along, values)]
        axes.plot_surface(*shown, cmap="viridis", linewidth=0)
        axes.set(title=f"{name} of a call, share at {SPOT:g}", xlabel="strike", ylabel="years to expiry")
    figure.savefig(path, dpi=110)


def main() -> None:
    """Run the example."""
    parser = argparse.ArgumentParser(description="a surface of option prices with NumPy and with xjit")
    parser.add_argument("--size", type=int, default=1500, help="strikes, and times to expiry")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".png"))
    options = parser.parse_args()
    strike = np.linspace(50.0, 150.0, options.size)[None, :]
    years = np.linspace(0.05, 3.0, options.size)[:, None]
    arguments = SPOT, strike, years, RATE, VOLATILITY
    print(f"xjit {package.__version__}, NumPy {np.__version__}; {options.size} × {options.size} options\n")

    first = seconds_of(compiled_surface, arguments)
    turns = [(seconds_of(call_surface, arguments), seconds_of(compiled_surface, arguments)) for _ in range(ROUNDS)]
    plain, later = (statistics.median(column) for column in zip(*turns, strict=True))
    print(f"  NumPy               {plain * 1e3:10.3f} ms")
    print(f"  xjit, first call    {first * 1e3:10.3f} ms")
    print(f"  xjit, later calls   {later * 1e3:10.3f} ms   ({plain / later:.2f} times as fast as NumPy)")
    expected, found = call_surface(*arguments), compiled_surface(*arguments)
    for name, ours, theirs in zip(("price", "delta", "gamma", "vega"), found, expected, strict=True):
        print(f"  largest difference of {name:6} {float(np.max(np.abs(ours - theirs))):10.3g}")
    draw(found, strike, years, options.output)
    print(f"\nwhat became of the function:\n{compiled_surface.explain(*arguments)}\n\npicture: {options.output}")


if __name__ == "__main__":
    main()
