"""Random chains of functions of arrays whose lengths only the run knows, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit

STEPS = (
    *("y[y > 0]", "y[1:]", "y[:-1]", "y[::-1]", "np.sort(y)", "y * 2", "y - y.sum()", "np.cumsum(y)", "np.diff(y)"),
    *("np.concatenate([y, y[:2]])", "y[: len(y) // 2]", "y[len(y) // 2 :]", "y[np.flatnonzero(y < 0.3)]", "y[2:5]"),
    *("np.unique(np.round(y, 1))", "np.where(y > 0, y, 0.0)", "np.repeat(y, 2)", "y[np.argsort(y)]", "np.abs(y)"),
    *("np.append(y, 0.5)", "y[::2]", "np.setdiff1d(y, y[:3])", "y[np.argsort(-y)[:2]]"),
)


def chain(seed: int) -> Any:
    """A function of an array and a mask: four steps one after the other."""
    lines = "".join(f"    y = {step}\n" for step in np.random.default_rng(seed).choice(STEPS, 4))
    names: dict[str, Any] = {"np": np}
    exec(f"def program(x, m):\n    y = x[m]\n{lines}    return y, y.sum(), len(y)\n", names)
    return names["program"]


@pytest.mark.parametrize("seed", range(25))
def test_chains(seed: int) -> None:
    program = chain(seed)
    fast, source = xjit.jit(program, strict=True), np.random.default_rng(seed)
    for size, density in ((60, 0.4), (60, 0.0), (60, 1.0), (3, 0.6)):
        x, m = source.standard_normal(size), source.random(size) < density
        for found, wanted in zip(fast(x, m), program(x, m), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
            assert np.shape(found) == np.shape(wanted)
