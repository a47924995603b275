"""Functions of text and statistics are steps in Python; code in C that takes no traced values is named."""

from __future__ import annotations

import decimal
import re
import statistics
import textwrap
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import described

X = np.array([3.0, 1.5, 2.25])


class Doubled:
    """Values that NumPy gets as an array."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values * 2


def digits(x: Any) -> Any:
    found = re.match(r"(\d+)\.(\d+)", f"{x.max():.2f}")
    return int(found.group(1)) + x if found else x


STEPS: dict[str, Callable[[Any], Any]] = {
    "match": digits,
    "substitution": lambda x: re.sub("0", "_", f"{x.max():.2f}"),
    "part of text": lambda x: f"{x.max():.0f}" in "1234",
    "lines": lambda x: textwrap.fill(f"the largest is {x.max()}", 12),
    "mean": lambda x: statistics.mean(x.tolist()) + x,
    "deviation": lambda x: statistics.stdev(x.tolist()),
}

REFUSED: dict[str, Callable[[Any], Any]] = {
    "object as an array": lambda x: np.asarray(Doubled(x + 1)) + 1,
    "object in a ufunc": lambda x: np.sin(Doubled(x + 1)),
    "bytes": lambda x: bytes(x),
    "view of memory": lambda x: memoryview(x + 1).nbytes,
    "decimal": lambda x: decimal.Decimal(x[0]) + 1,
    "compiled pattern": lambda x: re.compile("3").search(str(x.max())) is None,
}


@pytest.mark.parametrize("name", STEPS)
def test_functions_of_text_and_statistics_are_steps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(STEPS[name])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for factor in (1.0, 2.0, 1.0):
            assert described(compiled(X * factor)) == described(STEPS[name](X * factor))
    assert not any("runs through NumPy" in str(one.message) for one in told)


@pytest.mark.parametrize("name", REFUSED)
def test_what_takes_no_values_of_the_run_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(REFUSED[name])
    with pytest.warns(xjit.errors.FallbackWarning, match="code that is not traced") as told:
        assert described(compiled(X)) == described(REFUSED[name](X))
    text = str(told[0].message)
    assert "test_functions_of_text.py" in text and "fix:" in text and "report" not in text
