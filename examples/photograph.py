"""Develop a photograph with an ordinary NumPy function, and with the same function under `@xjit`.

The photograph (a temple in China, 427 × 640 pixels) comes with scikit-learn. It is sharpened against a blurred copy
in linear light, its colours are made stronger and its corners darker. For the photograph as it is and for a mosaic
of it that is as large as those of cameras, the script prints what NumPy and xjit take and how far the bytes differ.
It writes the picture.

    python examples/photograph.py [--tiles 5] [--output photograph.png]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
from sklearn.datasets import load_sample_image

import xjit as package
from xjit import xjit

Array = np.ndarray[Any, Any]

ROUNDS = 9


def blurred(x: Array) -> Array:
    """Return an image smoothed by the filter 1 4 6 4 1 in both directions, two pixels smaller on each side."""
    down = (x[:-4] + x[4:] + 4.0 * (x[1:-3] + x[3:-1]) + 6.0 * x[2:-2]) / 16.0
    return (down[:, :-4] + down[:, 4:] + 4.0 * (down[:, 1:-3] + down[:, 3:-1]) + 6.0 * down[:, 2:-2]) / 16.0


def develop(image: Array, sharpness: float, saturation: float, shade: float) -> Array:
    """Return an RGB image of bytes sharpened, with stronger colours and darker corners, as bytes."""
    light = (image.astype(np.float32) / 255.0) ** 2
    inner = light[2:-2, 2:-2]
    sharp = inner + sharpness * (inner - blurred(light))
    grey = 0.2126 * sharp[..., 0] + 0.7152 * sharp[..., 1] + 0.0722 * sharp[..., 2]
    colour = grey[..., None] + saturation * (sharp - grey[..., None])
    up = np.linspace(-1.0, 1.0, inner.shape[0], dtype=np.float32)[:, None]
    across = np.linspace(-1.0, 1.0, inner.shape[1], dtype=np.float32)[None, :]
    corners = 1.0 - shade * (up * up + across * across)
    shown = np.sqrt(np.clip(colour * corners[..., None], 0.0, 1.0))
    return (255.0 * shown + 0.5).astype(np.uint8)


compiled_develop = xjit(develop)


def seconds_of(function: Callable[..., Array], arguments: tuple[Any, ...]) -> float:
    """Return the seconds of one call, freeing of its result included."""
    begin = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - begin


def measure(title: str, arguments: tuple[Any, ...]) -> Array:
    """Print what both versions take on one image and how far they differ; return the developed image."""
    first = seconds_of(compiled_develop, arguments)
    turns = [(seconds_of(develop, arguments), seconds_of(compiled_develop, arguments)) for _ in range(ROUNDS)]
    plain, later = (statistics.median(column) for column in zip(*turns, strict=True))
    expected, found = develop(*arguments), compiled_develop(*arguments)
    apart = np.abs(expected.astype(np.int16) - found)
    print(f"{title}, {' × '.join(map(str, arguments[0].shape))}")
    print(f"  NumPy               {plain * 1e3:10.3f} ms")
    print(f"  xjit, first call    {first * 1e3:10.3f} ms")
    print(f"  xjit, later calls   {later * 1e3:10.3f} ms   ({plain / later:.2f} times as fast as NumPy)")
    print(f"  largest difference  {int(apart.max()):10} of 255; bytes that differ: {np.count_nonzero(apart)}\n")
    return found


def main() -> None:
    """Run the example."""
    parser = argparse.ArgumentParser(description="develop a photograph with NumPy and with xjit")
    parser.add_argument("--tiles", type=int, default=5, help="photographs in each direction of the mosaic")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".png"))
    options = parser.parse_args()
    print(f"xjit {package.__version__}, NumPy {np.__version__}; medians of {ROUNDS} calls in turns\n")
    image = np.ascontiguousarray(load_sample_image("china.jpg"))
    taste = 1.5, 1.3, 0.25
    picture = measure("the photograph", (image, *taste))
    mosaic = np.tile(image, (options.tiles, options.tiles, 1))
    measure("a mosaic of it", (mosaic, *taste))
    matplotlib.image.imsave(options.output, picture)
    print(f"what became of the function:\n{compiled_develop.explain(mosaic, *taste)}\n\npicture: {options.output}")


if __name__ == "__main__":
    main()
