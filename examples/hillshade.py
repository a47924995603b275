"""Shade a map of real mountains with an ordinary NumPy function, and with the same function under `@xjit`.

The elevation grid is the one that comes with matplotlib (the Jacksboro fault in Tennessee); beside it
stands the same grid resampled to a size at which speed matters. For both the script prints what NumPy
takes, what the first call under `@xjit` takes (it traces, fuses and compiles, or finds the kernel on
disk), what later calls take, after how many calls the first one has paid for itself, and how far the
results differ. It writes a picture.

    python examples/hillshade.py [--size 4096] [--output hillshade.png]
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.cbook
import matplotlib.image
import numpy as np
import scipy.ndimage

import xjit as package
from xjit import xjit

Array = np.ndarray[Any, Any]
Shade = Callable[..., Array]

METRES_PER_DEGREE = 111_320.0
LEAST_ROUNDS, MOST_ROUNDS, SECONDS = 7, 51, 6.0


def hillshade(height: Array, dx: float, dy: float, azimuth: float, altitude: float) -> Array:
    """Return how brightly the sun lights each inner point of a grid of heights, from 0 to 1.

    Lambert's law: the cosine of the angle between the ground's normal and the sun. The normal comes from
    central differences; the sun stands at `azimuth` (clockwise from north) and `altitude`, both in
    radians. Row 0 is the northern edge.
    """
    east = (height[1:-1, 2:] - height[1:-1, :-2]) / (2.0 * dx)
    north = (height[:-2, 1:-1] - height[2:, 1:-1]) / (2.0 * dy)
    sun_east = np.sin(azimuth) * np.cos(altitude)
    sun_north = np.cos(azimuth) * np.cos(altitude)
    sun_up = np.sin(altitude)
    light = (sun_up - sun_east * east - sun_north * north) / np.sqrt(east * east + north * north + 1.0)
    return np.where(light > 0.0, light, 0.0)


compiled_hillshade = xjit(hillshade)


@dataclass(frozen=True, slots=True)
class Result:
    """Result of one grid: seconds of NumPy, of the first and of later calls, and the difference of results."""

    numpy: float
    first: float
    later: float
    difference: float
    picture: Array

    def break_even(self, spent: float = 0.0) -> str:
        """After how many calls xjit has taken less time than NumPy, in words.

        `spent` is the time of an earlier first call that compiled the kernel.
        """
        if self.later >= self.numpy:
            return "never"
        calls = max(1, math.ceil((spent + self.first - self.later) / (self.numpy - self.later)))
        return f"{calls} call{'s' if calls > 1 else ''}"


def elevation() -> tuple[Array, float, float]:
    """Return the heights in metres, and the metres between columns and between rows."""
    data = matplotlib.cbook.get_sample_data("jacksboro_fault_dem.npz")
    middle = math.radians(0.5 * (float(data["ymin"]) + float(data["ymax"])))
    dx = float(data["dx"]) * METRES_PER_DEGREE * math.cos(middle)
    return data["elevation"].astype(np.float64), dx, float(data["dy"]) * METRES_PER_DEGREE


def seconds_of(function: Shade, arguments: tuple[Any, ...]) -> float:
    """Return the seconds of one call, freeing of its result included."""
    begin = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - begin


def measure(arguments: tuple[Any, ...]) -> Result:
    """Run both versions on one grid, in turns, and compare what they return."""
    expected = hillshade(*arguments)
    begin = time.perf_counter()
    found = compiled_hillshade(*arguments)
    first = time.perf_counter() - begin
    if found.shape != expected.shape or found.dtype != expected.dtype:
        raise AssertionError(f"{found.dtype}{found.shape} is not {expected.dtype}{expected.shape}")
    once = seconds_of(hillshade, arguments) + seconds_of(compiled_hillshade, arguments)
    rounds = int(min(MOST_ROUNDS, max(LEAST_ROUNDS, SECONDS / once)))
    turns = [(seconds_of(hillshade, arguments), seconds_of(compiled_hillshade, arguments)) for _ in range(rounds)]
    plain, later = (statistics.median(column) for column in zip(*turns, strict=True))
    return Result(plain, first, later, float(np.max(np.abs(found - expected))), found)


def describe(title: str, result: Result, spent: float = 0.0) -> None:
    """Print the numbers of one grid; `spent` as in `Result.break_even`."""
    factor = result.numpy / result.later
    print(title)
    print(f"  NumPy               {result.numpy * 1e3:10.3f} ms")
    print(f"  xjit, first call    {result.first * 1e3:10.3f} ms")
    print(f"  xjit, later calls   {result.later * 1e3:10.3f} ms   ({factor:.2f} times as fast as NumPy)")
    print(f"  break-even          {result.break_even(spent):>13}")
    print(f"  largest difference  {result.difference:10.3g}\n")


def size(array: Array) -> str:
    """Return the shape and dtype in words."""
    return f"{' × '.join(map(str, array.shape))} {array.dtype}"


def main() -> None:
    """Run the example."""
    parser = argparse.ArgumentParser(description="hillshade with NumPy and with xjit")
    parser.add_argument("--size", type=int, default=4096, help="rows and columns of the larger grid")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".png"))
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"xjit {package.__version__}, NumPy {np.__version__}, {cores} cores; medians, calls in turns\n")

    height, dx, dy = elevation()
    sun = math.radians(315.0), math.radians(45.0)
    original = measure((height, dx, dy, *sun))
    describe(f"the grid as it is, {size(height)}; its first call loads xjit's compiler or its cache", original)

    zoom = options.size / height.shape[0], options.size / height.shape[1]
    large = scipy.ndimage.zoom(height, zoom, order=1)
    arguments = large, dx / zoom[1], dy / zoom[0], *sun
    title = f"resampled, {size(large)}; the same kernel serves it, and break-even counts both first calls"
    describe(title, measure(arguments), spent=original.first)

    matplotlib.image.imsave(options.output, original.picture, cmap="gray", vmin=0.0, vmax=1.0)
    print(f"what became of the function:\n{compiled_hillshade.explain(*arguments)}\n")
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
