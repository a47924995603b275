"""Python integers that nested loops count: bounds for all turns together, and refusals of what may leave 64 bits."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from xjit import xjit
from xjit.errors import CaptureError, FallbackWarning

SORTED_AT_RANDOM = np.random.default_rng(3).standard_normal(300)


def counted(x: Any) -> Any:
    moves = 0
    for i in range(len(x)):
        j = i
        while j > 0 and x[j] < x[0]:
            j -= 1
            moves += 1
        moves += 2
    return moves


def test_sum_of_inner_turns_is_an_integer_of_python() -> None:
    compiled = xjit(strict=True)(counted)
    assert compiled(SORTED_AT_RANDOM) == counted(SORTED_AT_RANDOM)
    assert type(compiled(SORTED_AT_RANDOM)) is int


def test_three_loops_count() -> None:
    def f(x: Any) -> Any:
        total = 0
        for i in range(len(x)):
            for j in range(1000):
                if x[j % len(x)] > x[i]:
                    total += 1
        return total

    small = SORTED_AT_RANDOM[:200]
    assert xjit(strict=True)(f)(small) == f(small)


def test_what_grows_beside_the_inner_loop_counts() -> None:
    def f(x: Any) -> Any:
        total, i = 0, 0
        while x[i] < 1.0:
            total += 1 << 40
            while x[i] > total:
                total += 1
            i += 1
        return total

    x = np.concatenate([np.zeros(300), np.ones(1)])
    with pytest.raises(CaptureError, match="may leave 64 bits"):
        xjit(strict=True)(f)(x)
    assert f(x) == 300 << 40


def test_products_of_what_inner_loops_count_are_as_long_as_pythons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")

    def f(x: Any) -> Any:
        code = 0
        for i in range(len(x)):
            k = 0
            while k < x[i]:
                k += 1
            code = code * 31 + k
        return code

    x = np.arange(1.0, 301.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        assert xjit(strict=False)(f)(x) == f(x)
