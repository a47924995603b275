"""Loops whose turns read what they carry across: transposed, backwards, rolled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

TURNS: dict[str, Callable[[Any, Any], Any]] = {
    "transposed": lambda x, a: x.T + a,
    "backwards": lambda x, a: x[::-1] + a,
    "rolled": lambda x, a: np.roll(x, 1, 0) + a,
    "transposed and backwards": lambda x, a: x.T[:, ::-1] - 0.5 * a.T,
}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("size", [4, 20, 70])
@pytest.mark.parametrize("name", TURNS)
def test_turns_that_read_across(name: str, size: int, order: Any) -> None:
    def run(a: Any) -> Any:
        return xjit.fori_loop(0, 3, lambda _, x: TURNS[name](x, a), a)

    start = np.asarray(np.random.default_rng(size).random((size, size)), order=order)
    np.testing.assert_allclose(xjit.jit(run, strict=True)(start), run(start), rtol=1e-14)
