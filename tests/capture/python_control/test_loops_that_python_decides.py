"""Loops whose conditions Python knows, of arrays that change their shapes: turn by turn, however many these are."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import xjit


def halved(x: Any) -> Any:
    """Sums of pairs, of pairs of these, and so on, of differences too."""
    y, half, width = x * 1.0, len(x) // 2, 1
    while half >= 1:
        y = y.reshape(2, half, width)
        weights = np.sqrt(np.arange(half) + 1.0)
        out = np.empty((half, 2, width))
        out[:, 0, :] = y[0] + y[1]
        out[:, 1, :] = (y[0] - y[1]) * weights[:, None]
        y = out.reshape(len(x))
        half //= 2
        width *= 2
    return y


def test_while_whose_turns_differ_in_shapes() -> None:
    x = np.random.default_rng(5).standard_normal(1 << 10)
    np.testing.assert_allclose(xjit(strict=True)(halved)(x), halved(x), rtol=1e-13)
