"""Running sums, products and extremes: NumPy's bits, in one pass with what surrounds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import run_parallel, run_serial, run_uncompiled, run_unrolled
from xjit.errors import CaptureError

X = np.random.default_rng(0).normal(size=(30, 40))
SMALL = np.random.default_rng(1).integers(0, 9, (7, 9)).astype(np.int8)
ZEROS = np.array([-0.0, -0.0, 0.0, -0.0])


def rolling_mean(x: Any) -> Any:
    sums = np.cumsum(x)
    return (sums[8:] - sums[:-8]) / 8


def drawdown(x: Any) -> Any:
    return (x - np.maximum.accumulate(x, axis=1)).min(axis=1)


# Programs whose every bit is NumPy's: there is one order to add in.
EXACT: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "rows": (lambda x: x.cumsum(axis=1), (X,)),
    "columns": (lambda x: np.cumsum(x, axis=0), (X,)),
    "all": (lambda x: np.cumsum(x), (X,)),
    "middle": (lambda x: x.cumsum(axis=1), (X.reshape(5, 6, 40),)),
    "fortran": (lambda x: np.cumsum(x, axis=0) * 2, (np.asfortranarray(X),)),
    "strided": (lambda x: np.cumsum(x[:, ::-2], axis=1), (X,)),
    "short": (lambda x: np.cumsum(x, axis=1), (X[:, :3].copy(),)),
    "narrow integers": (lambda k: np.cumsum(k, axis=1), (SMALL,)),
    "integers kept narrow": (lambda k: np.cumsum(k, axis=1, dtype=np.int8), (SMALL,)),
    "truth": (lambda k: np.cumsum(k), (X > 0,)),
    "half": (lambda x: np.cumsum(x, axis=1), (X.astype(np.float16),)),
    "single": (lambda x: np.cumsum(x, axis=0), (X.astype(np.float32),)),
    "complex": (lambda x: np.cumsum(x * 1j, axis=1), (X,)),
    "zeros": (lambda x: np.cumsum(x), (ZEROS,)),
    "products": (lambda x: np.cumprod(1 + x / 10, axis=1), (X,)),
    "largest": (lambda x: np.maximum.accumulate(x, axis=1), (X,)),
    "smallest": (lambda x: np.minimum.accumulate(x), (X,)),
    "largest with NaN": (lambda x: np.maximum.accumulate(np.where(x > 2, np.nan, x), axis=1), (X,)),
    "and": (lambda x: np.logical_and.accumulate(x > -1, axis=1), (X,)),
    "or of bits": (lambda k: np.bitwise_or.accumulate(k, axis=1), (SMALL,)),
    "without NaN": (lambda x: np.nancumsum(np.where(x > 1, np.nan, x), axis=1), (X,)),
    "twice": (lambda x: x.cumsum(axis=1).cumsum(axis=1), (X,)),
    "twice across": (lambda x: x.cumsum(axis=1).cumsum(axis=0), (X,)),
    "from the end": (lambda x: np.cumsum(x[:, ::-1], axis=1)[:, ::-1], (X,)),
    "computed on": (lambda x: np.abs(np.cumsum(x * 2, axis=0)) / 3, (X,)),
    "and both": (lambda x: (x.cumsum(axis=1), x.cumprod(axis=1), x.max(axis=1)), (X,)),
    "last of it": (lambda x: np.cumsum(x, axis=0)[-1], (X,)),
    "rolling mean": (rolling_mean, (X[0],)),
    "drawdown": (drawdown, (X,)),
    "one": (lambda x: np.cumsum(x), (np.float64([2.5]),)),
    "one, read again": (lambda x: np.cumsum(x) % 3, (np.float64([5.5]),)),
    "one of each, twice": (lambda x: np.cumsum(np.cumsum(x, axis=-1), axis=0).T, (X[:1, :1],)),
    "one row, across": (lambda x: np.cumsum(x, axis=0) / np.cumsum(x, axis=0).max(axis=1, keepdims=True), (X[:1],)),
    "one column": (lambda x: np.maximum.accumulate(np.cumsum(x, axis=0), axis=1) * 2, (X[:, :1],)),
    "nothing": (lambda x: np.cumsum(x, axis=0), (X[:0],)),
}
CLOSE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "exponentials": (lambda x: np.cumsum(np.exp(x), axis=1), (X,)),
    "shares": (lambda x: np.cumsum(x * x / (x * x).sum(axis=1, keepdims=True), axis=1), (X,)),
    "huge angles": (lambda x: np.cumsum(np.sin(x * 1e18), axis=1), (X,)),
}
RUNS = (run_unrolled, run_uncompiled, run_serial, run_parallel)


@pytest.mark.parametrize("name", [*EXACT, *CLOSE])
@pytest.mark.parametrize("run", RUNS, ids=lambda run: str(run.__name__))
def test_results_are_numpys(name: str, run: Any) -> None:
    function, arguments = EXACT.get(name) or CLOSE[name]
    found, expected = run(function, arguments), function(*arguments)
    for one, other in zip(*(v if isinstance(v, tuple) else (v,) for v in (found, expected)), strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype and one.strides == other.strides
        np.testing.assert_allclose(one, other, rtol=1e-11)
        nan = np.isnan(other)
        assert name in CLOSE or np.where(nan, 0, one).tobytes() == np.where(nan, 0, other).tobytes()


@pytest.mark.parametrize("name", ["rows", "columns", "computed on", "twice", "and both", "drawdown", "exponentials"])
def test_one_pass_suffices(name: str) -> None:
    function, arguments = EXACT.get(name) or CLOSE[name]
    assert len(xjit.jit(function).explain(*arguments).kernels) == 1


def test_what_is_only_read_in_its_own_pass_is_not_stored() -> None:
    plan = xjit.jit(drawdown).explain(X)
    assert plan.bytes_moved == X.nbytes + X[:, 0].nbytes


@pytest.mark.skipif(not hasattr(np, "cumulative_sum"), reason="NumPy 2.1 brought the name")
def test_names_of_the_array_api() -> None:
    def both(x: Any) -> Any:
        return np.cumulative_sum(x, axis=1, include_initial=True), np.cumulative_prod(x[0])

    for one, other in zip(xjit.jit(both)(X), both(X), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x: np.cumsum(x, axis=2), ValueError),
        (lambda x: np.maximum.accumulate(x.sum()), ValueError),
        (lambda x: np.frompyfunc(max, 2, 1).accumulate(x), CaptureError),
        (lambda x: np.cumsum(x, out=np.empty_like(X)), ValueError),
    ],
)
def test_wrong_arguments_are_errors(function: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        xjit.jit(function)(X)
