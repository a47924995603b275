"""Sorts, partitions and searches against NumPy, over element types, memory layouts and axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.oracles.numpy_tables import array, check_compiled, check_eager, check_lines, layouts
from xjit import xjit
from xjit.errors import ArgumentError, CaptureError

DTYPES = "?bHilLefdFD"

LINES = """
    sort(a)
    sort(a, 0)
    sort(a, None)
    sort(a, axis=-2, kind="stable")
    sort(a, stable=True)
    sort(a, 5)
    sort(a, kind="unknown")
    sort(a, kind="stable", stable=True)
    argsort(a, kind="stable")
    argsort(a, 0, stable=True)
    argsort(a, None, "stable")
    a.argsort(0, kind="stable")
    partition(a, 1)
    partition(a, (0, -1), 0)
    partition(a, 2, None)
    partition(a, 7)
    partition(a, -9, 0)
    partition(a, 1.5)
    partition(a, 1, kind="other")
    take_along_axis(a, xp.argpartition(a, 1), -1)
    argpartition(a, [0, 2], axis=None)
    a.argpartition(1, 0)
    sort_complex(a)
    isin(a, [1, 2, 3])
    isin(a, a[0], invert=True)
    isin(a, a[:, :2], kind="sort")
    isin(a, 2, assume_unique=True)
    isin(a, 2, kind="other")
    lexsort((a, a))
    lexsort([a[::-1], a], 0)
    lexsort((a, a[0]))
    searchsorted(xp.sort(a, None), a)
    searchsorted(xp.sort(a, None), a, "right")
    searchsorted(a, 1)
    digitize(a, [0, 1.5, 4])
    digitize(a, np.array([3, 1, 0]), True)
    digitize(a, [2, 1, 3])
    digitize(a, [[2, 1]])
"""

FLAT = """
    sort(a)
    argsort(a)
    sort(a, 0)
    partition(a, 0)
    argpartition(a, 0)
    lexsort((a,))
    lexsort(())
    searchsorted(xp.sort(a), a)
    searchsorted(a, 0.5, "r")
    searchsorted(a, a, "middle")
    searchsorted(a, a, sorter=xp.argsort(a, kind="stable"))
    searchsorted(a, a, sorter=xp.argsort(a, kind="stable")[1:])
    searchsorted(a, a, sorter=a > 0)
    a.searchsorted(2)
    digitize(a, [1, 2])
    digitize(2, xp.sort(a))
"""


@pytest.mark.parametrize("code", DTYPES)
def test_layouts(code: str) -> None:
    check_lines(LINES, [*layouts(array(code, 3, 4)), *layouts(array(code, 2, 3, 2))])


@pytest.mark.parametrize("code", "?bde")
def test_lines_and_small_arrays(code: str) -> None:
    check_lines(FLAT, [array(code, n) for n in (5, 1, 0)] + [array(code)])
    check_lines("sort(a, 0)\n sort(a)\n argsort(a, 1, 'stable')", [array(code, 2, 0), array(code, 0, 3)])


def test_numbers_that_are_none() -> None:
    x = np.array([3, np.nan, -np.inf, 1, np.inf, -0.0])
    check_lines(
        "sort(a)\n argsort(a)\n partition(a, 2)\n searchsorted(xp.sort(a), a)",
        [x, x.astype(np.float32), x.astype(complex)],
    )


def test_without_a_trace() -> None:
    check_eager("sort(a, 0)\n argsort(a, stable=True)\n partition(a, 1)\n lexsort((a, a))", array("d", 3, 4))
    check_eager("searchsorted(a, 1.0)\n digitize(a, [1, 2])", np.array([0.0, 1, 2]))


@pytest.mark.parametrize("code", "?id")
def test_compiled(code: str) -> None:
    check_compiled(LINES, np.asfortranarray(array(code, 3, 4)))
    check_compiled(FLAT, array(code, 5))


def test_steps_between_kernels() -> None:
    def ranks(x: Any, y: Any) -> Any:
        z = (x - x.mean()) / x.std()
        order = np.argsort(z * y, kind="stable")
        places = np.searchsorted(np.sort(z), z + 1)
        return (order + 1) * 2, places / len(x), np.sort(np.exp(-(z**2)))[::-1]

    function, x, y = xjit(ranks), np.linspace(3, -2, 1000) ** 2, np.linspace(1, 2, 1000)
    for got, want in zip(function(x, y), ranks(x, y), strict=True):
        np.testing.assert_allclose(got, want, 1e-14)
    assert function.stats().fallbacks == 0
    steps = function.explain(x, y).steps
    assert sum(step.startswith("library call: numpy_") for step in steps) == 2
    assert not any("thread" in step for step in steps if step.startswith("library"))


def test_mistakes_that_the_run_tells() -> None:
    function = xjit(lambda x, edges: np.digitize(x, edges * 2))
    x = np.arange(4.0)
    assert function(x, np.array([1.0, 1.5])).tolist() == [0, 0, 1, 2]
    with pytest.raises(ValueError, match="monotonically"):
        function(x, np.array([1.0, 0.5, 3.0])[[0, 1, 2]])
    assert function(x, np.array([1.5, 1.0])).tolist() == [2, 2, 1, 0]


def test_what_is_known_only_while_running() -> None:
    x = np.arange(4.0)
    with pytest.raises(CaptureError, match="shape of the result"):
        xjit(lambda x: np.unique_values(x))(x)
    with pytest.raises(CaptureError, match="kth"):
        xjit(lambda x, k: np.partition(x, k))(x, np.arange(2))
    with pytest.raises(ArgumentError, match="out of bounds"):
        xjit(lambda x: np.partition(x, 7))(x)
