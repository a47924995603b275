"""Lists in which Python's numbers stand beside NumPy's: arrays of numbers, as NumPy makes them, never of objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xjit import xjit

REDUCED: dict[str, Callable[[Any], Any]] = {
    "fmax": lambda line: np.fmax.reduce(line),
    "maximum": lambda line: np.maximum.reduce(line),
    "add": lambda line: np.add.reduce(line),
    "multiply": lambda line: np.multiply.accumulate(line),
    "outer": lambda line: np.subtract.outer(line, line),
    "asarray": lambda line: np.asarray(line) * 2,
    "sum": lambda line: np.sum(line),
    "sqrt": lambda line: np.sqrt(line),
}
LINES = {
    "half beside nan": [np.float16(65504.0), np.nan],
    "nan beside single": [np.nan, np.float32(3.0)],
    "double beside integer": [np.float64(1e308), 3],
    "python's alone": [2.5, 3, True],
}


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("line", LINES)
def test_as_in_numpy(name: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    function, numbers = REDUCED[name], LINES[line]
    compiled = xjit(function)
    for values in (numbers, numbers[::-1], [numbers[0], 7.0], numbers):
        with np.errstate(all="ignore"):
            expected, found = function(values), compiled(values)
        assert (type(found), found.dtype, found.shape) == (type(expected), expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-15)
