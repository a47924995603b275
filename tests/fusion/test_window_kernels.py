"""Kernels of operations over windows: how many there are, and that they touch no more memory than they have to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xjit import ops, xjit

Array = np.ndarray[Any, Any]

IMAGES = np.random.default_rng(1).normal(size=(4, 8, 40, 36)).astype(np.float32)
VECTOR = np.random.default_rng(2).normal(size=8).astype(np.float32)
LOWEST = np.float32(-np.inf)
ZERO = np.float32(0)


def largest(x: Any) -> Any:
    return ops.reduce_window(x, LOWEST, ops.max, (1, 1, 3, 3), padding="SAME")


def mean(x: Any) -> Any:
    return ops.mul(ops.reduce_window(x, ZERO, ops.add, (1, 1, 2, 2), (1, 1, 2, 2)), np.float32(0.25))


def padded(x: Any) -> Any:
    around = ops.pad(x, LOWEST, ((0, 0, 0), (0, 0, 0), (2, 1, 0), (1, 2, 0)))
    return ops.reduce_window(around, LOWEST, ops.max, (1, 1, 3, 3))


def between(x: Any) -> Any:
    return ops.tanh(ops.reduce_window(ops.abs(x), ZERO, ops.max, (1, 1, 3, 3), (1, 1, 2, 2), padding="SAME"))


def normalised(x: Any, scale: Any) -> Any:
    return ops.max(ops.batch_norm_training(x, scale, scale, 1e-5, 1)[0], ZERO)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Array, ...]]] = {
    "largest": (largest, (IMAGES,)),
    "mean": (mean, (IMAGES,)),
    "padded": (padded, (IMAGES,)),
    "between": (between, (IMAGES,)),
    "normalised": (normalised, (IMAGES, VECTOR)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_kernel_moves_what_it_has_to(name: str) -> None:
    function, operands = PROGRAMS[name]
    compiled = xjit(function)
    assert np.allclose(compiled(*operands), function(*operands), rtol=1e-4, atol=1e-5)
    explanation = compiled.explain(*operands)
    assert len(explanation.kernels) == 1
    assert explanation.bytes_moved <= 1.1 * explanation.minimum_bytes
