"""Sorts of positions, and of lines that end where the run says, among the kernels: the results are NumPy's."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import xjit
from tests.runtime.test_runtime_sorts import TYPES, needs_sorts, no_library_steps, numbers

__all__ = ["no_library_steps"]

pytestmark = [needs_sorts, pytest.mark.usefixtures("no_library_steps")]


def of_first(function: Any) -> Any:
    return lambda x, n: function(x[: n[0]])


def of_chosen(function: Any) -> Any:
    def call(x: Any) -> Any:
        order = function(x[x > 0])
        return order, len(order)

    return call


@pytest.mark.parametrize("dtype", (*TYPES, np.dtype("f2")), ids=str)
@pytest.mark.parametrize("kind", [None, "stable"])
@pytest.mark.parametrize("function", [np.sort, np.argsort])
def test_the_first_elements_of_every_type(function: Any, kind: Any, dtype: Any) -> None:
    x = numbers(dtype, 90)
    x[::7] = x[1]
    plain = of_first(functools.partial(function, kind=kind))
    compiled = xjit.jit(plain)
    for n in (0, 1, 2, 20, 89, 90, 120):
        wanted, found = plain(x, np.array([n])), compiled(x, np.array([n]))
        assert found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("function", [np.sort, np.argsort])
def test_chosen_elements(function: Any) -> None:
    plain = of_chosen(function)
    compiled = xjit.jit(plain)
    for seed in range(4):
        x = np.random.default_rng(seed).standard_normal(500) - seed
        x[::50] = np.nan
        (wanted, count), (found, number) = plain(x), compiled(x)
        assert found.tobytes() == wanted.tobytes() and (found.dtype, count) == (wanted.dtype, number)


@pytest.mark.parametrize("kind", [None, "quicksort", "mergesort", "stable"])
@pytest.mark.parametrize("type", ["f2", "f4", "f8", "i8", "u2", "?"])
def test_positions_by_numpys_algorithms(kind: Any, type: str) -> None:
    order = functools.partial(np.argsort, kind=kind)
    for shape in ((300,), (7, 5), (3, 4, 1), (2, 3, 50), (400, 90)):
        x = numbers(type, *shape)
        x[..., ::7], x[..., 1::7] = 0, (-0.0 if type[0] == "f" else 0)
        found, wanted = xjit.jit(order)(x), order(x)
        assert found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_share_lines_of_positions(threads: int) -> None:
    x = numbers("f4", 5000, 60)
    with xjit.threads(threads):
        np.testing.assert_array_equal(xjit.jit(np.argsort)(x), np.argsort(x))


def in_turns(x: Any) -> Any:
    total = 0
    for i in range(len(x)):
        digits = []
        n = x[i]
        while n > 0:
            digits.append((n % 10, n))
            n //= 10
        digits.sort()
        for k in range(len(digits)):
            total += k * digits[k][0]
    return total


def test_lists_that_turns_sort_need_no_python() -> None:
    x = np.random.default_rng(3).integers(0, 10**9, 40)
    compiled = xjit.jit(in_turns, strict=True)
    assert compiled(x) == in_turns(x)
    assert "native" in compiled.explain(x).steps[0]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1)])
def test_positions_of_arrays_of_other_layouts(order: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # those may be left to NumPy
    x = np.random.default_rng(1).integers(0, 3, (4, 5, 6)).transpose(order)
    for axis in (0, 1, -1):
        found = xjit.jit(functools.partial(np.argsort, axis=axis, kind="stable"))(x)
        np.testing.assert_array_equal(found, np.argsort(x, axis, kind="stable"))
