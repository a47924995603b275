"""Numbers between bounds against NumPy: linspace bit by bit, powers within their errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.oracles.numpy_oracle import check
from tests.helpers.oracles.numpy_tables import array, check_compiled, check_lines
from xjit.errors import DataDependentError

LINES = """
    linspace(a, b, 5)
    linspace(a, b, 4, endpoint=False)
    linspace(a, b[0], 3, axis=1)
    linspace(a[0], b, 3, axis=-1)
    linspace(a, b, 1)
    linspace(a, b, 0)
    linspace(a, b, 1, endpoint=False)
    linspace(a, 7, 3)
    linspace(-2.5, b, 3, dtype=int)
    linspace(a, b, 3, dtype=np.float32, axis=2)
    linspace(a.T, b.T, 3)
    linspace(a, b, 3, retstep=True)
    linspace(a, a, 3)
    linspace(a[0, 0], b[0, 0], 4)
    linspace(a, b[:, 1:], 3)
    linspace(a, b, 3, axis=3)
    linspace(a, b, -1)
    linspace(a, b, 2.5)
"""
POWERS = """
    logspace(a, b, 5)
    logspace(a, b, 4, endpoint=False, axis=1)
    logspace(a, b, 3, base=2)
    logspace(a, b, 3, base=b)
    logspace(a, 2, 3, base=[2, 10], axis=-1)
    logspace(a[0, 0], b[0, 0], 3, dtype=np.float32)
    logspace(a, b, 3, base=[2, 3, 4])
    logspace(a, b, -1)
"""
RATIOS = """
    geomspace(a, b, 5)
    geomspace(a, b, 4, endpoint=False)
    geomspace(a, b[0], 3, axis=1)
    geomspace(-a, -b, 3)
    geomspace(a[0, 0], b[0, 0], 4)
    geomspace(a, 1000, 1)
    geomspace(a, b, 0)
    geomspace(a, b, 3, dtype=np.float32)
    geomspace(a, b, 3, dtype=complex)
    geomspace(a, 0, 3)
    geomspace(a, b, -1)
"""


@pytest.mark.parametrize("code", "?bLefdFD")
def test_evenly_spaced(code: str) -> None:
    low, high = array(code, 3, 2), array(code, 3, 2, seed=4)
    check_lines(LINES, [(low, high), (np.asfortranarray(low), high)] if code == "d" else [(low, high)])


def test_steps_that_vanish() -> None:
    tiny = np.array([0.0, 5e-324, 1.0])
    check(lambda xp, a: xp.linspace(0, a, 5), tiny)
    check(lambda xp, a: xp.linspace(0, a[1:], 5), tiny)
    check(lambda xp, a: xp.linspace(0, a[2], 5), tiny)


@pytest.mark.parametrize("code", "bfd")
def test_powers(code: str) -> None:
    low, high = (abs(array(code, 3, 2, seed=seed)) % 4 for seed in (3, 4))
    check_lines(POWERS, [(low, high)], ulp=4)


@pytest.mark.parametrize("code", "BfdD")
def test_constant_ratios(code: str) -> None:
    low, high = (array(code, 3, 2, seed=seed) + 1 for seed in (3, 4))
    check_lines(RATIOS, [(low, high)], ulp=32, zeros=False)


def test_whole_powers_are_exact() -> None:
    check(lambda xp, a: xp.logspace(0, a, 4, dtype=int), np.array([3, 6]))
    check(lambda xp, a: xp.geomspace(1, a, 4, dtype=int)[::3], np.array([1000, 8]))


def test_compiled() -> None:
    low, high = array("d", 3, 2), array("d", 3, 2, seed=4) + 4
    check_compiled("linspace(a, b, 5, axis=1)\n logspace(a, b, 3)\n geomspace(b, b * 9, 4)", low, high, ulp=16)
    jitted = xjit.jit(lambda a, b: np.geomspace(a, b, 3), strict=True)
    np.testing.assert_allclose(jitted(np.array([1.0, 2]), np.array([4.0, 8])), [[1, 2], [2, 4], [4, 8]], rtol=1e-15)
    with pytest.raises(ValueError, match="cannot include zero"):
        jitted(np.array([1.0, 2]), np.array([4.0, 0]))


def test_counts_have_to_be_known() -> None:
    for name in ("linspace", "logspace", "geomspace"):
        jitted: Any = xjit.jit(lambda x: getattr(np, name)(1.0, x, x[0].astype(int)), strict=True)  # noqa: B023
        with pytest.raises(DataDependentError, match=rf"numpy\.{name}: the shape"):
            jitted(np.array([3.0]))
