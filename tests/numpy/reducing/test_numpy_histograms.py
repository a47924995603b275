"""Histograms and counts against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.oracles.numpy_tables import array, check_compiled, check_eager, check_lines, layouts
from xjit import xjit
from xjit.errors import CaptureError

HISTOGRAMS = """
    histogram(a)
    histogram(a, 4)
    histogram(a, bins=5, range=(0, 3))
    histogram(a, bins=5, range=(0.5, 2.5), density=True)
    histogram(a, [0, 1, 2.5, 4])
    histogram(a, np.array([0, 2, 3]), density=True)
    histogram(a, 3, weights=a)
    histogram(a, [0, 1, 4], weights=a)
    histogram_bin_edges(a, 6)
    histogram_bin_edges(a, [1, 2])
    histogram(a, 0)
    histogram(a, 2.5)
    histogram(a, [[1, 2]])
    histogram(a, 3, weights=a[0])
    histogram(a, 3, range=(2, 1))
    histogram(a, [2, 1])
    histogram(a, 3, range=(1, 2, 3))
"""


@pytest.mark.parametrize("code", "?bLefd")
def test_histograms(code: str) -> None:
    check_lines(HISTOGRAMS, layouts(array(code, 3, 4)), ulp=1)
    check_lines("histogram(a, 3)\n histogram(a, [1.0, 2])", [array(code, 0), array(code, 1), array(code)])


def test_traced_edges_and_ranges() -> None:
    a, edges = array("f", 20), np.linspace(0, 4, 6)
    table = """
        histogram(a, b)
        histogram(a, b.astype(np.float32), density=True)
        histogram(a, 4, (a.min(), a.max()))
        histogram(a, 4, (0, a.max()))
        histogram(a, 4, (b[0], 3.5))
        histogram(a, b[::-1])
    """
    check_lines(table, [(a, edges)], ulp=1)


PLANES = """
    histogram2d(a, b)
    histogram2d(a, b, 4)
    histogram2d(a, b, [3, 4], range=[[0, 3], (1, 2)])
    histogram2d(a, b, ([0, 1, 2], 5), density=True)
    histogram2d(a, b, [0, 1, 2.5], weights=b)
    histogram2d(a, b, 0)
    histogram2d(a, b[1:])
    histogram2d(a, b, [3])
    histogram2d(a, b, 3, range=[1, 2])
"""


SPACES = """
    histogramdd(a)[0]
    (xp.histogramdd(a, 3)[0], *xp.histogramdd(a, 3)[1])
    (xp.histogramdd(a, [2, 3, 4], density=True)[0], *xp.histogramdd(a, [2, 3, 4])[1])
    (xp.histogramdd(a, np.array([2, 3, 4]))[0], *xp.histogramdd(a, [2, [0, 1, 2], np.array([0.5, 3])])[1])
    (xp.histogramdd(a, [b, 2, b])[0], *xp.histogramdd(a, [b, 2, b])[1])
    (xp.histogramdd(a, 2, [None, (0, 2), (1, 2.5)])[0], *xp.histogramdd(a, 2, [None, (0, 2), (1, 2.5)])[1])
    histogramdd(a, 2, weights=a[:, 0])[0]
    histogramdd([a[:, 0], a[:, 1]], 3)[0]
    histogramdd((a[:, 0], [1] * 8), 3)[0]
    histogramdd(a[0], 3)[0]
    histogramdd(a[None], 3)[0]
    histogramdd(a, [2, 3])[0]
    histogramdd(a, 0)[0]
    histogramdd(a, 2.5)[0]
    histogramdd(a, [[[1]], 2, 3])[0]
    histogramdd(a, [b[::-1], 2, 2])[0]
    histogramdd(a, 2, [(0, 1)])[0]
    histogramdd(a, 2, [(0, 1), (1, 0), (0, 1)])[0]
    histogramdd(a, 2, [(0, 1), (1, 0, 2), (0, 1)])[0]
    histogramdd(a, 2, weights=a[1:, 0])[0]
"""


@pytest.mark.parametrize("code", "bifd")
def test_spaces(code: str) -> None:
    samples = array(code, 8, 3)
    edges = np.array([0, 1, 3], code)
    check_lines(SPACES, [(one, edges) for one in (layouts(samples) if code == "d" else [samples])])


def test_spaces_compiled() -> None:
    points, edges = array("d", 30, 2), np.array([0.0, 2, 4])
    counts, (rows, columns) = xjit(lambda x, b: np.histogramdd(x * 2, [3, b]), strict=True)(points, edges)
    expected = np.histogramdd(points * 2, [3, edges])
    for got, want in zip((counts, rows, columns), (expected[0], *expected[1]), strict=True):
        np.testing.assert_array_equal(got, want)


def test_planes() -> None:
    check_lines(PLANES, [(array(x, 30), array(y, 30)) for x, y in ("df", "ff", "id", "bb")])
    function, x = xjit(lambda x, y: np.histogram2d(x * 2, y, [3, [0.0, 2, 4]])), array("d", 30)
    for got, want in zip(function(x, x), np.histogram2d(x * 2, x, [3, [0.0, 2, 4]]), strict=True):
        np.testing.assert_array_equal(got, want)


COUNTS = """
    bincount(a, minlength=12)
    bincount(a, minlength=20)
    bincount(a, b, 12)
    bincount(a, b[1:], 12)
    bincount(a[:, None], minlength=12)
    bincount(a - 5, minlength=12)
    bincount(b, minlength=12)
    bincount(a, minlength=-1)
    bincount(a, b * 1j, minlength=12)
"""


@pytest.mark.parametrize("code", "BHI")
def test_counts(code: str) -> None:
    check_lines(COUNTS.replace("a - 5", "a.astype(int) - 5"), [(array(code, 30), array("d", 30))])
    check_lines("bincount(a, minlength=3)", [array("?", 9), array("i", 0)])


def test_counts_that_do_not_fit() -> None:
    x = np.array([0, 3, 3])
    function = xjit(lambda x: np.bincount(x, minlength=4) * 2)
    assert function(x).tolist() == [2, 0, 0, 4]
    for _ in range(2):
        assert function(x + 1).tolist() == [0, 2, 0, 0, 4]
        assert function(x).tolist() == [2, 0, 0, 4]
    with pytest.raises(ValueError, match="negative"):
        function(x - 1)


def test_counts_that_do_not_fit_in_turns() -> None:
    def in_a_loop(x: Any, count: int) -> Any:
        total = np.zeros(4)
        for turn in range(count):
            total += np.bincount(x + turn, minlength=4)
        return total

    function = xjit(in_a_loop)
    x = np.array([0, 1, 1])
    np.testing.assert_array_equal(function(x, 3), in_a_loop(x, 3))
    with pytest.raises(ValueError, match="broadcast"):
        function(x + 1, 3)


def test_without_a_trace() -> None:
    check_eager("histogram(a, 3)\n histogram_bin_edges(a, [1, 2])", array("d", 3, 4))
    check_eager("bincount(a, minlength=12)", array("B", 5))


def test_compiled() -> None:
    check_compiled(HISTOGRAMS, np.asfortranarray(array("d", 3, 4)))
    fitting = "\n".join(line for line in COUNTS.splitlines() if "b," in line or "(a, minlength" in line)
    check_compiled(fitting, array("B", 30), array("d", 30))


def equalised(image: Any) -> Any:
    counts, edges = np.histogram(image.ravel() * 2, bins=80, density=True)
    centres = (edges[1:] + edges[:-1]) / 2
    return np.digitize(image * 2, edges) + (np.sqrt(counts) * centres).sum()


def test_steps_between_kernels() -> None:
    function, image = xjit(equalised), np.sin(np.arange(600.0)).reshape(20, 30)
    np.testing.assert_allclose(function(image), equalised(image), rtol=1e-13)
    assert function.stats().fallbacks == 0
    steps = [step for step in function.explain(image).steps if step.startswith("library")]
    assert [step.split()[2] for step in steps] == ["numpy_histogram", "numpy_digitize"]


def test_refusals() -> None:
    with pytest.raises(CaptureError, match="'auto'"):
        xjit(lambda x: np.histogram(x, "auto"), strict=True)(np.arange(4.0))
    edges = [0.0, 1.0, 2.0]
    function = xjit(lambda x: np.histogram(x, edges)[1])
    function(np.arange(3.0))[:] = 7
    np.testing.assert_array_equal(function(np.arange(3.0)), [0, 1, 2])
