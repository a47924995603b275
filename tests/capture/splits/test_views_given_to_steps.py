"""Views that steps in Python get and return are memory of the arrays that NumPy's would be memory of."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

PLACES = np.array([2, 4])


def own(x: Any) -> Any:
    return x * 2.0


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "reversed": lambda x, m: np.split(x[::-1], m),
    "every other": lambda x, m: np.array_split(x[::2], m),
    "turned": lambda x, m: np.split(x.reshape(2, -1).T, m),
    "column": lambda x, m: np.split(x.reshape(-1, 2)[:, 1], m),
    "from a place of the run": lambda x, m: np.split(x[m[0] :], m),
    "to a place of the run": lambda x, m: np.split(x[: m[1]][::-1], m),
    "imaginary parts": lambda x, m: np.split((x + 1j).imag, m),
    "of the function's own": lambda x, m: [own(x), *np.split(own(x)[::-1], m)],
    "equal values": lambda x, m: np.split(x + 1, m) + np.split(x + 1, m),
    "equal copies": lambda x, m: np.split(x.copy(), m) + np.split(x.copy(), m),
    "an equal value": lambda x, m: [x + 1, *np.split(x + 1, m)],
    "equal constants": lambda x, m: np.split(np.zeros(6), m) + np.split(np.zeros(6), m),
}


def array_and_parts(x: Any, m: Any) -> Any:
    array = x * 2
    return [*np.split(array[::-1], m), array, *np.split(array, m)]


def row_of_constants(x: Any, m: Any) -> Any:
    table = np.eye(6)
    return [*np.split(table[1], m), table]


def laid_out(x: Any, m: Any) -> Any:
    """A copy by another shape, which the step returns as it is, is none of what is written later."""
    found = np.require(x.reshape(3, -1).flatten(), requirements="C")
    x[:2] += 1
    return [found]


def written_beside(x: Any, m: Any) -> Any:
    """An equal copy is written before, and again behind the step that shows the other one."""
    array = x[::2].copy()
    array[1] *= 0.5
    found = np.trim_zeros(x[::2].ravel())
    array[0] *= 0.5
    return [array, found]


FUNCTIONS |= {
    "written beside": written_beside,
    "an array and its parts": array_and_parts,
    "a row of constants": row_of_constants,
    "laid out": laid_out,
}


def sharing(function: Callable[..., Any]) -> Any:
    """The values of a call, and which of them share memory with each other and with the argument."""
    x = np.arange(12.0)
    found = list(function(x, PLACES))
    arrays = [x, *found]
    pairs = [[np.shares_memory(one, other) for other in arrays] for one in arrays]
    values = [(one.tolist(), one.dtype, one.flags.writeable) for one in found]
    for one in found:
        one[...] = -1.0  # which no later call may show
    return values, pairs


@pytest.mark.parametrize("name", FUNCTIONS)
def test_memory_is_that_of_numpys_results(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "0")
    function = FUNCTIONS[name]
    compiled, wanted = xjit.jit(function), sharing(function)
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", xjit.errors.FallbackWarning)
            assert sharing(compiled) == wanted
