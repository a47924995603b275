"""Pads with random valid configurations against a loop over their index equation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.cases.cases_shape import picked
from tests.helpers.harness import run_eager
from tests.helpers.kernel_executors import run_parallel, run_serial, run_uncompiled
from xjit import ops

Edges = tuple[int, int, int]


def edges(rng: np.random.Generator, size: int) -> Edges:
    """Padding before, behind and between elements; negative numbers take away no more than there is."""
    inner = int(rng.integers(0, 3))
    length = size + max(size - 1, 0) * inner
    low = int(rng.integers(-length, 4))
    return low, int(rng.integers(-(length + min(low, 0)), 4)), inner


def padded(operand: Any, fill: Any, config: tuple[Edges, ...]) -> Any:
    """result[i] = operand[k] where i - low = k * (interior + 1) along every axis, else the padding value."""
    dims = [
        low + n + max(n - 1, 0) * inner + high for n, (low, high, inner) in zip(operand.shape, config, strict=True)
    ]

    def place(index: tuple[int, ...]) -> tuple[int, ...] | None:
        steps = [(i - low, inner + 1) for i, (low, _, inner) in zip(index, config, strict=True)]
        found = tuple(distance // step for distance, step in steps)
        inside = all(0 <= k < n for k, n in zip(found, operand.shape, strict=True))
        return found if inside and not any(distance % step for distance, step in steps) else None

    return picked(operand, dims, place, fill)


def pad_of(seed: int) -> tuple[Callable[..., Any], tuple[Any, Any], Any]:
    """A pad, its operands and its result; every other one of values that are computed."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(rng.integers(0 if rng.random() < 0.1 else 1, 6)) for _ in range(int(rng.integers(0, 4))))
    config = tuple(edges(rng, size) for size in shape)
    operand, fill = rng.integers(-50, 50, shape).astype(np.int16), np.int16(77)
    if seed % 2:
        return lambda a, v: ops.pad(a, v, config), (operand, fill), padded(operand, fill, config)
    return (
        lambda a, v: ops.neg(ops.pad(ops.add(a, a), v, config)),
        (operand, fill),
        -padded(operand * 2, fill, config),
    )


@pytest.mark.parametrize("seed", range(200))
def test_pad(seed: int) -> None:
    function, operands, expected = pad_of(seed)
    runs = [run_eager, *([run_uncompiled] if seed < 100 else []), *([run_serial, run_parallel] if seed < 30 else [])]
    for run in runs:
        np.testing.assert_array_equal(run(function, operands), expected)
