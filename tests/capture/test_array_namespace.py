"""Code that is written for the array API: it asks its argument for the namespace, and traces."""

from __future__ import annotations

import pkgutil
from typing import Any

import numpy as np
import pytest

import xjit

X = np.random.default_rng(0).normal(size=(20, 30))


def standardised(x: Any) -> Any:
    xp = x.__array_namespace__()
    return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)


def with_created_arrays(x: Any) -> Any:
    xp = x.__array_namespace__(api_version="2022.12")
    weights = xp.linspace(0.0, 1.0, x.shape[1])
    padded = xp.concat([xp.zeros((1, x.shape[1]), dtype=x.dtype), x], axis=0)
    return xp.sum(padded * weights, axis=1), xp.permute_dims(padded, (1, 0)), xp.astype(x > 0, xp.int32)


def with_functions_of_many_kinds(x: Any) -> Any:
    xp = x.__array_namespace__()
    cut = xp.where(xp.isfinite(x), xp.atan2(x, xp.asarray(2.0)), xp.nan)
    best = xp.argmax(cut, axis=1)
    return xp.take(x, best, axis=1), xp.matmul(x, xp.matrix_transpose(x)), xp.pow(xp.abs(x), 1.5), xp.clip(x, -1, 1)


@pytest.mark.parametrize("function", [standardised, with_created_arrays, with_functions_of_many_kinds])
def test_generic_code_gives_the_same_answers(function: Any) -> None:
    found, expected = xjit.jit(function)(X), function(X)
    for one, other in zip(*(v if isinstance(v, tuple) else (v,) for v in (found, expected)), strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_generic_code_is_fused() -> None:
    assert len(xjit.jit(lambda x: x.__array_namespace__().exp(x) * 2.0).explain(X).kernels) == 1


def test_versions_are_checked_as_by_numpy() -> None:
    with pytest.raises(ValueError):
        xjit.jit(lambda x: x.__array_namespace__(api_version="1999.01"))(X)


def test_arrays_say_where_they_are() -> None:
    def moved(x: Any) -> Any:
        assert x.device == "cpu"
        return x.to_device("cpu") + 1

    np.testing.assert_array_equal(xjit.jit(moved)(X), X + 1)
    with pytest.raises(ValueError):
        xjit.jit(lambda x: x.to_device("elsewhere"))(X)
    with pytest.raises(ValueError, match="stream"):
        xjit.jit(lambda x: x.to_device("cpu", stream=1))(X)


def test_modules_hide_no_functions() -> None:
    """A module that has been imported is an attribute of its package, in front of what that looks up when asked."""
    names = {module.name for module in pkgutil.iter_modules(xjit.numpy.__path__)}
    assert not {name for name in names if callable(getattr(np, name, None))}
