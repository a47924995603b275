"""Rows in pairs where an array is updated in place: no row is changed twice, an odd last one neither."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit


def subtracted(a: Any, b: Any) -> None:
    b[1:-1, 1:-1] -= -0.125 * a[2:, :-2] + -0.125 * a[1:-1, :-2]


def smoothed(a: Any, b: Any) -> None:
    b += 0.5 * (a[1:] + a[:-1])[:, : b.shape[1]]


@pytest.mark.parametrize("rows", [10, 11, 110, 111])
def test_rows_are_updated_once(rows: int) -> None:
    rng = np.random.default_rng(3)
    for function, more in ((subtracted, 0), (smoothed, 1)):
        a, b = rng.random((rows + more, 12)), rng.random((rows, 12))
        expected = b.copy()
        function(a, expected)
        xjit.jit(function)(a, b)
        assert b.tobytes() == expected.tobytes()
