"""Polynomials as lines of coefficients against NumPy: sums, derivatives, zeros, fits."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.oracles.numpy_oracle import Traced, check
from tests.helpers.oracles.numpy_tables import array, check_compiled, check_eager, check_lines, layouts, lines
from xjit.errors import CaptureError, DataDependentError

SUMS = """
    polyadd(a, b)
    polyadd(b, a)
    polyadd(a, a)
    polyadd(a, 3)
    polyadd(2.5, a)
    polyadd([1, 2, 3, 4, 5, 6, 7], a)
    polyadd(a, a[0])
    polysub(a, b)
    polysub(b, a)
    polysub(a, 1)
    polysub(a, a[None])
    polyadd(a[None], b[None])
    polyder(a)
    polyder(a, 2)
    polyder(a, 0)
    polyder(a, 9)
    polyder(a[0])
    polyder(a, -1)
    polyder(a[:1])
    polyder(a[:0])
    polyint(a)
    polyint(a, 2)
    polyint(a, 0)
    polyint(a, 3, 2)
    polyint(a, 2, [1, 2])
    polyint(a, 2, b)
    polyint(a, 1, b[0])
    polyint(a, 3, b[:2])
    polyint(a, -1)
    polyint(a[0])
    polyint(a[:0])
"""
ZEROS = """
    poly(a)
    poly(a[:1])
    poly(a[0])
    poly(a[None, None])
    poly(a.reshape(2, 3))
"""
FITS = """
    polyfit(a, b, 1)
    polyfit(a, b, 3)
    polyfit(a, b, 2, 1e-3)
    polyfit(a, b, 2, w=b)
    polyfit(a, b, 2, w=[1, 2, 3, 4, 5, 6, 7])
    polyfit(a, b, 2, full=True)
    polyfit(a, b, 2, 0.001, True)[:4]
    polyfit(a, b, 2, cov=True)[0]
    polyfit(a, b, 2, cov=True)[1]
    polyfit(a, b, 2, cov="unscaled")[1]
    polyfit(a, np.linspace(0, 1, 14).reshape(7, 2), 2)
    polyfit(a, np.linspace(0, 1, 14).reshape(7, 2), 2, w=b)
    polyfit(a, np.linspace(0, 1, 14).reshape(7, 2) ** 2, 1, cov=True)[1]
"""
MISTAKES = """
    polyfit(a, b, -1)
    polyfit(a[None], b, 1)
    polyfit(a[:0], b[:0], 1)
    polyfit(a, b[0], 1)
    polyfit(a, b[1:], 1)
    polyfit(a, b, 1, w=a[None])
    polyfit(a, b, 1, w=b[1:])
    polyfit(a, b, 1, w=b * 1j)
    polyfit(a, b, 6, cov=True)
"""


@pytest.mark.parametrize("code", "?bLefdFD")
def test_sums_and_derivatives(code: str) -> None:
    line, other = array(code, 6), array("h" if code in "bL" else code, 4, seed=4)
    check_lines(SUMS, [(one, other) for one in (layouts(line) if code == "d" else [line])])


def test_products_of_known_polynomials() -> None:
    check_eager("polymul([0, 0, 1, 2], [1, 3])\n polymul(3, [0, 0])\n polymul([], [1, 2])", np.zeros(1))
    check(lambda xp, x: x + xp.polymul([0, 1.5], [2, 1]), np.arange(2.0))
    check(lambda xp, x: xp.polymul([[1]], x), np.arange(2.0))
    with pytest.raises(CaptureError, match=r"poly1d objects are not supported"):
        Traced(lambda xp, x: xp.polyadd(x, np.poly1d([1, 2])), [np.arange(2.0)])


def test_leading_zeros_are_known_at_the_run_only() -> None:
    with pytest.raises(DataDependentError, match="without leading zeros: the shape of the result depends") as e:
        xjit.jit(lambda x: np.polymul(x, [1, 2]), strict=True)(np.arange(3.0))
    assert "fix: use np.convolve" in str(e.value) and "argument x" in str(e.value)


@pytest.mark.parametrize("code", "?bLefd")
def test_polynomials_with_zeros(code: str) -> None:
    check_lines(ZEROS, [array(code, 6)], ulp=16)


def test_no_zeros() -> None:
    assert xjit.jit(lambda x: (np.poly(x[:0]), x), strict=True)(np.ones(2))[0] == 1.0
    for one in (array("D", 4), array("d", 3, 3)):
        with pytest.raises(DataDependentError, match="real or complex"):
            Traced(lambda xp, x: xp.poly(x), [one])


@pytest.mark.parametrize("code", "bfd")
def test_fits(code: str) -> None:
    x, y = np.arange(1, 8).astype(code), np.array([3, 1, 4, 1, 5, 9, 2]).astype(code)
    check_lines(FITS, [(x, y)], ulp=4096)


def test_fits_of_complex_values() -> None:
    x = np.linspace(-1, 1, 7)
    check_lines("polyfit(a, b, 2)\n polyfit(b, a, 2)", [(x, np.exp(2j * x))], ulp=256, zeros=False)


def test_mistakes() -> None:
    check_lines(MISTAKES, [(array("d", 7), array("d", 7, seed=4)), (array("i", 7), array("i", 7, seed=4))])


def test_points_that_do_not_determine_the_polynomial() -> None:
    jitted = xjit.jit(lambda x, y: np.polyfit(x, y, 2), strict=True)
    x, y = np.array([0.0, 1, 2, 3]), np.array([0.0, 1, 4, 9])
    np.testing.assert_allclose(jitted(x, y), [1, 0, 0], atol=1e-13)
    with pytest.warns(np.exceptions.RankWarning, match="poorly conditioned"):
        found = jitted(x // 2, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(found, np.polyfit(x // 2, y, 2), rtol=1e-12, atol=1e-12)
    full = xjit.jit(lambda x, y: np.polyfit(x, y, 2, full=True)[2], strict=True)
    assert full(x // 2, y) == 2


def test_compiled() -> None:
    check_compiled("\n".join(lines(SUMS)[::7]), array("d", 6), array("d", 4, seed=4))

    def program(x: Any, y: Any) -> Any:
        return np.polyfit(x, y, 3), np.poly(x[:3]), np.polyval(np.polyder(np.polyfit(x, y, 2)), x)

    x = np.linspace(-1, 1, 40)
    for got, want in zip(xjit.jit(program, strict=True)(x, np.sin(x)), program(x, np.sin(x)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)
