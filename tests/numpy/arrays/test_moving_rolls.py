"""``roll`` by shifts that only the run tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xjit import xjit
from xjit.errors import ArgumentError, CaptureError


def turned_in_a_loop(x: Any, k: Any) -> Any:
    for i in range(100):
        x = 0.4 * np.roll(x, i * int(k[1]), axis=0) + 0.2 * np.abs(x) - 0.1 * x * x / (1.0 + x * x)
    return x


ROLLS: dict[str, Callable[[Any, Any], Any]] = {
    "flattened": lambda x, k: np.roll(x, k[0]),
    "of columns": lambda x, k: np.roll(x.T, k[0]),
    "an axis": lambda x, k: np.roll(x, k[0], axis=1),
    "two shifts": lambda x, k: np.roll(x, (k[0], k[1]), axis=(0, 1)),
    "an array": lambda x, k: np.roll(x, k, axis=(0, 1)),
    "an array, flattened": lambda x, k: np.roll(x, k),
    "with a known one": lambda x, k: np.roll(x, (k[0], 3), axis=0),
    "two axes": lambda x, k: np.roll(x, k[0], axis=(0, 1)),
    "a Python integer": lambda x, k: np.roll(x, int(k[0]) + 2),
    "a place": lambda x, k: np.roll(x, k.argmax(), axis=-1),
    "narrow": lambda x, k: np.roll(x, k.astype(np.int8)[1], axis=0),
    "in a loop": turned_in_a_loop,
}


@pytest.mark.parametrize("shape", [(5, 7), (0, 3), (1, 4)])
@pytest.mark.parametrize("name", ROLLS)
def test_rolled_by_shifts_of_the_run(name: str, shape: tuple[int, int]) -> None:
    function, x = ROLLS[name], np.random.default_rng(1).standard_normal(shape)
    compiled = xjit(function, strict=True)
    for shifts in ([3, -2], [0, 100], [-7, -35], [10**6 + 1, -(10**6)]):
        k = np.array(shifts)
        found, wanted = compiled(x, k), function(x, k)
        np.testing.assert_allclose(found, wanted, rtol=1e-11)
        assert 0 in shape or found.strides == wanted.strides
    assert compiled.stats().traces == 1


def test_refused_shifts() -> None:
    x, k = np.arange(6.0), np.array([[1, 2]])
    with pytest.raises(ArgumentError, match="1D sequences"):
        xjit(lambda x, k: np.roll(x, k), strict=True)(x, k)
    with pytest.raises(CaptureError, match=r"roll: shift: values known while tracing"):
        xjit(lambda x, k: np.roll(x, k[0]), strict=True)(x, np.array([1.5]))
