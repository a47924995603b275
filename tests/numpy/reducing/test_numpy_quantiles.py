"""Medians and quantiles against NumPy, over methods, element types, memory layouts and axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.oracles.numpy_tables import array, check_compiled, check_eager, check_lines, layouts
from xjit import xjit
from xjit.errors import CaptureError

pytestmark = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="quantiles of narrow floats were rounded elsewhere before"
)

METHODS = (
    *("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen"),
    *("weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest"),
)

MEDIANS = """
    median(a)
    median(a, 0)
    median(a, axis=-1, keepdims=True)
    median(a, (0, 1))
    median(a, axis=(-1, 0), keepdims=True)
    median(a, 5)
    median(a, (0, 0))
    nanmedian(a)
    nanmedian(a, 0, keepdims=True)
    nanmedian(a, (1, 0))
"""

QUANTILES = """
    quantile(a, 0.3)
    quantile(a, 0.8, 0)
    quantile(a, [0, 0.25, 0.7, 1], axis=-1)
    quantile(a, np.float32([0.5, 0.1]), (0, 1), keepdims=True)
    quantile(a, np.array([[0.5, 0.1]]), 1)
    quantile(a, 1, 0)
    quantile(a, 0.5, 0, keepdims=True)
    percentile(a, 10)
    percentile(a, (25, 50, 75), axis=0)
    percentile(a, 130)
    nanpercentile(a, [10, -1])
    quantile(a, -0.1)
    quantile(a, 0.5, method="other")
    quantile(a, 0.5, axis=4)
    quantile(a, [[[0.5]]])
    nanquantile(a, 0.3)
    nanquantile(a, [0, 0.25, 1], axis=0)
    nanpercentile(a, 70.0, (0, 1), keepdims=True)
    nanquantile(a, 2)
"""


@pytest.mark.parametrize("code", "?bHidefFD")
def test_layouts(code: str) -> None:
    operands = [*layouts(array(code, 3, 4)), *layouts(array(code, 2, 3, 2))]
    check_lines(MEDIANS, operands, ulp=1, zeros=False)
    check_lines(QUANTILES, operands, ulp=2, zeros=False)


@pytest.mark.parametrize("method", METHODS)
def test_methods(method: str) -> None:
    table = f"""
        quantile(a, 0.37, method="{method}")
        quantile(a, [0, 0.2, 0.5, 0.9, 1], method="{method}")
        quantile(a, 0, method="{method}")
        nanquantile(a, [0.1, 0.5, 1], method="{method}")
        nanquantile(a, 0.37, method="{method}")
    """
    for n in (1, 2, 5, 10):
        check_lines(table, [array("d", n), array("f", n), array("i", n)], ulp=2, zeros=False)


def holes(*shape: int) -> Any:
    values = array("d", *shape)
    values.ravel()[::5] = np.nan
    values[0] = np.nan
    return values


def test_numbers_that_are_none() -> None:
    table = MEDIANS + QUANTILES
    check_lines(table, [holes(4, 5), holes(3, 4).astype(np.float32), holes(4, 5) * np.nan], ulp=2, zeros=False)
    x = np.array([np.inf, 1, -np.inf, np.inf])
    check_lines("median(a)\n median(a[1:])\n quantile(a, 0.5)\n nanmedian(a[1:])", [x])


def test_small_arrays() -> None:
    check_lines("median(a)\n quantile(a, 0.5)\n nanmedian(a)\n nanquantile(a, 0.5)", [array("d"), array("i", 1)])
    check_lines("median(a)\n median(a, 0)\n median(a, 1)\n quantile(a, 0.5, 0)", [array("d", 0, 3), array("d", 3, 0)])
    check_lines("median(a)\n median(a, axis=0)", [np.float64(3), 3.5, 2])
    none = "median(a, axis=())\n median(a, axis=(), keepdims=True)\n quantile(a, 0.5, axis=())"
    check_lines(none, [array("d", 0, 3), array("d", 3, 0, 2), array("i", 0), array("d", 2, 3)])


def test_long_lines() -> None:
    check_lines("nanmedian(a, 0)\n nanmedian(a, 1)\n nanquantile(a, 0.3, 1)", layouts(holes(5, 700)), ulp=2)


def test_weights_and_traced_shares() -> None:
    a, weights, shares = array("d", 4, 3), np.abs(array("d", 4, 3)), np.array([0.2, 0.9])
    table = """
        quantile(a, c)
        quantile(a, c, 0, keepdims=True)
        percentile(a, c * 100, axis=(0, 1), method="nearest")
        quantile(a, c[0], axis=1)
        nanquantile(a, c, 1)
        quantile(a, 0.3, method="inverted_cdf", weights=b)
        quantile(a, 0.3, 0, weights=b, method="inverted_cdf")
    """
    check_lines(table, [(a, weights, shares)], ulp=2)
    function = xjit(lambda a, q: np.quantile(a, q))
    np.testing.assert_allclose(function(a, shares), np.quantile(a, shares))
    with pytest.raises(ValueError, match="range"):
        function(a, shares + 1)


def test_without_a_trace() -> None:
    check_eager("median(a, 0)\n quantile(a, [0.2, 0.4], 1)\n nanmedian(a)\n percentile(a, 10)", array("d", 3, 4))


@pytest.mark.parametrize("code", "ifd")
def test_compiled(code: str) -> None:
    check_compiled(MEDIANS, np.asfortranarray(array(code, 3, 4)), ulp=1)
    check_compiled(QUANTILES, array(code, 5, 3), ulp=2)


def outliers(x: Any, threshold: float) -> Any:
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    middle = np.median(z, axis=0)
    spread = np.median(np.abs(z - middle), axis=0)
    low, high = np.percentile(x, [5, 95], axis=0)
    return (np.abs(z - middle) > threshold * spread).sum(axis=0), np.clip(x, low, high), middle


def test_steps_between_kernels() -> None:
    function, x = xjit(outliers), np.sin(np.arange(3000.0) ** 2).reshape(1000, 3)
    for got, want in zip(function(x, 1.5), outliers(x, 1.5), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15)
    assert function.stats().fallbacks == 0
    steps = [step for step in function.explain(x, 1.5).steps if step.startswith("library")]
    assert [step.split()[2] for step in steps].count("numpy_partition") == 3


def test_refusals() -> None:
    x = holes(4, 5)
    with pytest.raises(CaptureError, match="weights"):
        xjit(lambda x: np.nanquantile(x, 0.5, weights=x, method="inverted_cdf"))(x)


@pytest.mark.parametrize("name", ["percentile", "nanpercentile", "quantile", "nanquantile"])
@pytest.mark.parametrize("shares", [120.0, -5.0, [0.5, 130.0], np.nan])
def test_what_is_out_of_range_is_called_by_its_name(name: str, shares: Any) -> None:
    x = array("d", 5)
    with pytest.raises(ValueError) as wanted:
        getattr(np, name)(x, shares)
    for compiled in (xjit(lambda x, q: getattr(np, name)(x, shares)), xjit(lambda x, q: getattr(np, name)(x, q))):
        with pytest.raises(ValueError) as found:
            compiled(x, np.array(shares))
        assert str(wanted.value) in str(found.value)
