"""Functions with rare arguments, stored over what they are computed of: no element is read after it was written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xjit import xjit


def power(x: Any, y: Any) -> None:
    x **= y


def floor_division(x: Any, y: Any) -> None:
    x //= y


def sine_of_a_window(x: Any, y: Any) -> None:
    x[1:-1] = np.sin(x[1:-1]) + y


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", [power, floor_division, sine_of_a_window])
@pytest.mark.parametrize("uncompiled", ["0", "1"])
def test_rare_arguments_are_computed_once(function: Any, uncompiled: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("XJIT_DEBUG", uncompiled)
    x, y = np.arange(-4.0, 8.0), np.full(1, 3.0)
    x[3] = 1e300
    expected, got = x.copy(), x.copy()
    function(expected, y)
    xjit(function)(got, y)
    np.testing.assert_allclose(got, expected, rtol=1e-13)
