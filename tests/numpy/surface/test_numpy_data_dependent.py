"""Results whose shape or type only the run knows: refused under strict at the user's line, else run by NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.oracles.numpy_tables import check_lines
from xjit.errors import CaptureError, DataDependentError, FallbackWarning

LINE = np.array([0.0, 3.0, 3.0, 1.0, 0.0])
SQUARE = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, 1.0]])
OTHER = np.array([3.0, 7.0, 0.0])

SHAPES: dict[str, Callable[[Any], Any]] = {
    "unique_all": lambda x: np.unique_all(x),
    "unique_counts": lambda x: np.unique_counts(x),
    "unique_inverse": lambda x: np.unique_inverse(x),
    "unique_values": lambda x: np.unique_values(x),
    "trim_zeros": lambda x: np.trim_zeros(x),
    "roots": lambda x: np.roots(x),
    "polydiv": lambda x: np.polydiv(x[1:], x[1:3]),
    "polymul": lambda x: np.polymul(x, x),
    "histogram": lambda x: np.histogram(x, "auto"),
}
TYPES: dict[str, Callable[[Any], Any]] = {
    "eig": lambda x: np.linalg.eig(x),
    "eigvals": lambda x: np.linalg.eigvals(x),
    "poly": lambda x: np.poly(x),
}
CASES = [(name, program, LINE) for name, program in SHAPES.items()]
CASES += [(name, program, SQUARE) for name, program in TYPES.items()]


@pytest.mark.parametrize(("name", "program", "array"), CASES, ids=[name for name, _, _ in CASES])
def test_refused_under_strict(name: str, program: Callable[[Any], Any], array: Any) -> None:
    with pytest.raises(DataDependentError, match="depends on the elements of a traced array") as caught:
        xjit.jit(program, strict=True)(array)
    assert isinstance(caught.value, CaptureError)
    message, *rest = str(caught.value).splitlines()
    assert ("the type of the result" if name in TYPES else "the ") in message
    line = program.__code__.co_firstlineno
    assert rest[0] == f"  at {__file__}:{line}, in <lambda>"
    assert any(one.startswith("  from argument x: float64[") for one in rest)
    assert rest[-1].startswith("  fix: ") and rest[-1].endswith("without strict=True NumPy runs the call")


@pytest.mark.parametrize(("name", "program", "array"), CASES, ids=[name for name, _, _ in CASES])
def test_run_by_numpy_otherwise(
    name: str, program: Callable[[Any], Any], array: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    jitted = xjit.jit(program)
    with pytest.warns(FallbackWarning, match="depends on the elements"):
        first = jitted(array)
    for found in (first, jitted(array)):  # the second call does not warn again
        want = program(array)
        assert type(found) is type(want)
        np.testing.assert_equal(found, want)


KNOWN_MASKS = """
    (a[[True, False, True, False]])
    (a[np.array([False, True, True, False])])
    (a[np.array([False, True, True, False]), 1:])
    (a[1:, [True, False, True]])
    (a[..., np.array([True, False, True])])
    (a[np.eye(4, 3) == 1])
    (a[[True, False, True, False], [True, False, True]])
    (a[[True, False, True, False], 0])
    (a[np.zeros(4, bool)])
    (a[[True, False]])
    (a[np.eye(3) == 1])
    (a[None, [True, False, True, False]])
    take(a, [True, False])
    compress([True, False, True], a, axis=1)
"""


def test_masks_that_are_known_while_tracing() -> None:
    check_lines(KNOWN_MASKS, [np.arange(12.0).reshape(4, 3), np.arange(12).reshape(3, 4).T])
    mask = np.array([True, False, True, False, True])
    jitted = xjit.jit(lambda x: x[[True, False, True, False, True]] * 2, strict=True)
    np.testing.assert_array_equal(jitted(LINE), LINE[mask] * 2)
