"""Loops whose conditions Python knows, of arrays that change their shapes: turn by turn, however many these are."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest

from xjit import xjit
from xjit.errors import CaptureError, FallbackWarning


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


def widened(x: Any, turns: Any) -> Any:
    """Sums of arrays whose lengths differ from turn to turn."""
    for i in range(turns):
        x = x + np.geomspace(1.0, 2.0, 3 + i % 4).sum() * x
    return x


def scaled(x: Any, factors: Any) -> Any:
    """Products with numbers in a list."""
    for factor in factors:
        if x[0] > 3.0:
            x = x + 1.0
        x = x * factor
    return x


def test_a_loop_that_cannot_be_captured_is_unrolled_if_it_is_short() -> None:
    x = np.linspace(0.0, 1.0, 5)
    np.testing.assert_allclose(xjit(strict=True)(widened)(x, 40), widened(x, 40), rtol=1e-12)
    with pytest.raises(CaptureError, match=r"(?s)geomspace: the shape.*, in widened.*fix: "):
        xjit(strict=True)(widened)(x, 10**9)


def test_a_loop_over_python_objects_is_unrolled() -> None:
    x = np.linspace(2.0, 4.0, 5)[::-1]
    np.testing.assert_allclose(xjit(strict=True)(scaled)(x, [1.1] * 9), scaled(x, [1.1] * 9), rtol=1e-13)


AXES = np.arange(60) % 2


def folded(x: Any) -> Any:
    """Sums along axes that have to be known: an array from outside names them, turn by turn."""
    for k in range(60):
        x = 0.25 * x + np.sum(x, axis=AXES[k]) / (1.0 + k)
    return x


def shown(x: Any) -> Any:
    """The same with a write, which no way of tracing does without a step in Python."""
    for k in range(60):
        x = 0.25 * x + np.sum(x, axis=AXES[k]) / (1.0 + k)
        sys.stdout.write("")
    return x


def test_a_short_loop_is_unrolled_rather_than_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    x = np.linspace(0.0, 1.0, 16).reshape(4, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = xjit(folded)
        np.testing.assert_allclose(compiled(x), folded(x), rtol=1e-13)
    assert "while_loop" not in str(compiled.explain(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        split = xjit(shown)
        np.testing.assert_allclose(split(x), shown(x), rtol=1e-13)
    assert split.stats().fallbacks == 0
