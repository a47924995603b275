"""Vectors of 512 bits against vectors of 256, on processors that have both: what to prefer is measured."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

from perf.measuring.timing import interleave
from perf.programs import SEED

WIDTHS = ("512", "256")
SIZE = 100_000
FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "x * x + 1.5": lambda x: x * x + 1.5,
    "exp": lambda x: np.exp(x),
    "log": lambda x: np.log(x),
    "sin": lambda x: np.sin(x),
    "tanh": lambda x: np.tanh(x),
    "sum": lambda x: np.sum(x),
}


@dataclass(frozen=True, slots=True)
class WidthRatio:
    """Ratio of the times of a function with 256 bits and with 512, on one thread."""

    name: str
    dtype: str
    ratio: float


def measure_widths(budget: float) -> list[WidthRatio]:
    """Measure every function on one thread, both widths interleaved; ``budget`` seconds for each."""
    import xjit

    rng = np.random.default_rng(SEED)
    found = []
    with xjit.threads(1):
        for dtype in (np.float32, np.float64):
            x = rng.uniform(0.1, 5.0, SIZE).astype(dtype)
            for name, function in FUNCTIONS.items():
                calls = {width: _compiled(function, width, x) for width in WIDTHS}
                samples = interleave(calls, budget)
                found.append(WidthRatio(name, x.dtype.name, samples.median("256") / samples.median("512")))
    return found


def _compiled(function: Callable[[Any], Any], width: str, x: Any) -> Callable[[], Any]:
    import xjit

    with mock.patch.dict(os.environ, {"XJIT_VECTOR_BITS": width}):
        compiled = xjit.jit(lambda value: function(value))
        compiled(x)
    return lambda: compiled(x)


def width_text(ratios: list[WidthRatio]) -> str:
    """Return a table of the ratios."""
    rows = [f"| {one.name} | {one.dtype} | {one.ratio:.2f} |" for one in ratios]
    return "\n".join(["| function | type | time with 256 bits over time with 512 |", "|---|---|---|", *rows])
