"""Numbers that computations of xjit.ops close over: scalars of NumPy among the arguments, and counters of loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.capturing import assert_same
from xjit import ops
from xjit.errors import FallbackWarning

LINE = np.arange(4.0)
USES: dict[str, Callable[[Any], Any]] = {
    "difference": lambda n: n - np.int32(2),
    "difference from a number": lambda n: np.int32(4) - n,
    "magnitude": abs,
    "negative": lambda n: (-n) + np.int32(6),
    "element": lambda n: n[()],
    "product of results": lambda n: abs(n) * (n - np.int32(2)),
}


@pytest.mark.parametrize("name", USES)
def test_scalars_among_the_arguments_are_used_in_a_loop(name: str) -> None:
    def function(n: Any) -> Any:
        return ops.while_loop(lambda i: i < np.int32(5), lambda i: i + USES[name](n), np.int32(0))

    assert_same(xjit.xjit(function, strict=True)(np.int32(3)), function(np.int32(3)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scalars_among_the_arguments_are_used_in_computations_of_elements(dtype: Any) -> None:
    def function(n: Any, x: Any) -> Any:
        total = ops.reduce(x, dtype(0), lambda one, other: one + other * (n - dtype(2)), (0,))
        return total, ops.map((x,), lambda one: one * abs(n) + (n - dtype(2)), (0,))

    x = LINE.astype(dtype)
    total, mapped = xjit.xjit(function, strict=True)(dtype(3), x)
    assert_same(total, np.array(x.sum()))
    assert_same(mapped, x * dtype(3) + dtype(1))


def test_counters_of_loops_are_used_in_a_loop() -> None:
    def function(x: Any) -> Any:
        def body(i: Any, total: Any) -> Any:
            return total + ops.while_loop(lambda k: k < np.int64(5), lambda k: k + (abs(i) + 1), np.int64(0))

        return xjit.fori_loop(0, 3, body, x)

    assert_same(xjit.xjit(function, strict=True)(LINE), function(LINE))


def test_an_array_without_elements_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")

    def converted(x: Any) -> Any:
        try:
            return float(x)
        except TypeError:
            return -1.0

    with pytest.warns(FallbackWarning) as warned:
        assert xjit.jit(converted)(np.zeros(0)) == converted(np.zeros(0))
    assert not any("compiler failed" in str(one.message) for one in warned)
