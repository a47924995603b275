"""Functions of scipy.special, and ufuncs that NumPy itself runs between kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

import xjit
from tests.helpers.oracles.numpy_oracle import check
from xjit.errors import CaptureError
from xjit.numpy.analysis.scipy_special import ROWS

INF, NAN = np.inf, np.nan
NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-3, 2.0, 3.75, -3.75, 12.0, -12.0, 90.0, -90.0, 1e-30, 1e30, INF, -INF]
POSITIVE = [0.0, 1e-30, 1e-3, 0.25, 0.5, 0.9999, 1.0, 1.0001, 1.5, 2.0, 7.0, 1e3, 1e30, INF]
FLOATS = [np.float32, np.float64]
# Units in the last place by which SciPy and xjit may differ together; poles and zeros are left to other tests.
LOOSE = {"pseudo_huber": 64.0, "erfinv": 8.0, "exp10": 8.0}


def pairs(first: list[float], second: list[float], dtype: Any) -> tuple[Any, Any]:
    """Every number of one list with every number of the other one."""
    x, y = np.meshgrid(np.asarray(first, dtype), np.asarray(second, dtype))
    return x.ravel(), y.ravel()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["log_expit", "exp10", "exprel", "ndtr", "entr"])
def test_functions_of_one_number(name: str, dtype: Any) -> None:
    ufunc = getattr(special, name)
    x = np.asarray([*NUMBERS, NAN, -5.5, 37.5, -37.5], dtype)
    check(lambda xp, x: ufunc(x), x, ulp=LOOSE.get(name, 16.0))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["xlogy", "xlog1py", "rel_entr", "kl_div"])
def test_functions_of_weights_and_densities(name: str, dtype: Any) -> None:
    ufunc = getattr(special, name)
    x, y = pairs([*POSITIVE, -1.0, NAN], [*POSITIVE, -0.5, NAN], dtype)
    if name == "kl_div":  # a difference of three terms: what counts is their rounding, not that of the result
        unit = np.finfo(dtype).eps
        expected = ufunc(x, y)
        np.testing.assert_allclose(xjit.jit(lambda a, b: ufunc(a, b))(x, y), expected, rtol=16 * unit, atol=8 * unit)
        return
    check(lambda xp, x, y: ufunc(x, y), x, y, ulp=16.0, zeros=False)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["huber", "pseudo_huber"])
def test_robust_losses(name: str, dtype: Any) -> None:
    ufunc = getattr(special, name)
    delta, r = pairs([0.0, 0.5, 1.0, 3.0, -1.0, NAN], [0.0, 1e-6, 0.25, 0.5, -0.5, 1.0, -2.0, 100.0, NAN], dtype)
    check(lambda xp, delta, r: ufunc(delta, r), delta, r, ulp=LOOSE.get(name, 4.0))


def test_published_values() -> None:
    """Of the normal distribution at 1.96 and -10 and of the relative entropy of 0.3 and 0.4, by hand."""
    jitted = xjit.jit(lambda x, p, q: (special.ndtr(x), special.rel_entr(p, q)), strict=True)
    below, entropy = jitted(np.array([1.96, -10.0]), np.array([0.3]), np.array([0.4]))
    np.testing.assert_allclose(below, [0.9750021048517795, 7.619853024160527e-24], rtol=1e-14)
    np.testing.assert_allclose(entropy, [0.3 * np.log(0.75)], rtol=1e-14)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_rows_are_kernels(name: str) -> None:
    ufunc = getattr(special, name)
    x = np.linspace(0.1, 0.9, 5)
    plan = xjit.jit(lambda *operands: ufunc(*operands), strict=True).explain(*[x] * ufunc.nin)
    assert len(plan.kernels) == 1 and len(plan.steps) == 1


@pytest.mark.parametrize("kind", ["i1", "u2", "i8", "u8"])
@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_common_divisors(name: str, kind: str) -> None:
    rng = np.random.default_rng(1)
    x, y = (rng.integers(0, 100, size).astype(kind) for size in ((4, 6), (6,)))
    check(lambda xp, x, y: getattr(np, name)(x, y), x, y)
    check(lambda xp, x, y: getattr(np, name)(x.T, 12) + 1, x, y)


@pytest.mark.parametrize("dtype", FLOATS)
def test_ufuncs_of_scipy_without_kernels_run_between_them(dtype: Any) -> None:
    x = np.linspace(0.5, 4.0, 12, dtype=dtype).reshape(3, 4)

    def program(x: Any) -> Any:
        sines, cosines, _, _ = special.ellipj(x * 2, 0.5)
        return special.jv(1, x) + special.gamma(x.T).T, sines**2 + cosines**2

    jitted = xjit.jit(program, strict=True)
    found, one = jitted(x)
    expected, expected_one = program(x)
    assert (found.dtype, one.dtype) == (expected.dtype, expected_one.dtype)
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps)
    np.testing.assert_allclose(one, np.ones_like(x), rtol=8 * np.finfo(dtype).eps)
    assert "library call: scipy_special_jv" in str(jitted.explain(x))


def test_loops_on_complex_numbers_are_library_calls() -> None:
    z = np.linspace(-1, 1, 5) + 0.5j
    check(lambda xp, z: special.erf(z), z)
    check(lambda xp, z: special.xlogy(z, z), z)


def test_scalars_stay_scalars() -> None:
    check(lambda xp, x: special.i0(x), np.float64(0.5))
    check(lambda xp, n: np.gcd(n, 12), np.int64(18))


def test_ufuncs_of_the_program_are_refused() -> None:
    own = np.frompyfunc(lambda x: x + 1, 1, 1)
    with pytest.raises(CaptureError, match="is not supported"):
        xjit.jit(lambda x: own(x), strict=True)(np.ones(3))
