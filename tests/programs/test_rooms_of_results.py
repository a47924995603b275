"""Long results of masks: memory of their own length, which kernels know by its first element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.programs.steps_of_programs import steps
from xjit.runtime.calls.entry import room
from xjit.runtime.spec import RoomStep

LONG = 1_100_003
"""Elements whose bound is large for every element type, and that end within a block and within eight."""

DENSITIES = (0.3, 0.0, 1.0, 1e-5, 0.02, 0.97)


def chosen(x: Any, m: Any) -> Any:
    return x[m]


def places(m: Any) -> Any:
    return np.flatnonzero(m)


def masks() -> list[Any]:
    rng = np.random.default_rng(8)
    return [rng.random(LONG) < density for density in DENSITIES]


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8", "c16"])
def test_elements_of_any_number(dtype: str) -> None:
    compiled, x = xjit.jit(chosen, strict=True), np.arange(LONG).astype(dtype)
    kept = [(compiled(x, m), x[m]) for m in masks()]
    for found, wanted in kept:
        assert found.dtype == wanted.dtype
        assert found.flags.owndata
        assert found.flags.writeable
        np.testing.assert_array_equal(found, wanted)


def test_elements_of_strided_lines() -> None:
    compiled, x = xjit.jit(chosen, strict=True), np.arange(3.0 * LONG)[::-3]
    for m in masks():
        np.testing.assert_array_equal(compiled(x, m), x[m])


def test_positions_of_any_number() -> None:
    compiled = xjit.jit(places, strict=True)
    for m in masks():
        found = compiled(m)
        assert found.dtype == np.intp
        np.testing.assert_array_equal(found, np.flatnonzero(m))
    assert compiled.stats().traces == 1


def made_rooms(function: Callable[..., Any], *arguments: Any) -> int:
    return sum(isinstance(step, RoomStep) for step in steps(function, *arguments))


def test_long_results_get_rooms() -> None:
    x, m = np.ones(LONG), np.ones(LONG, bool)
    assert made_rooms(chosen, x, m) == 1
    assert made_rooms(lambda x, m: (x[m], np.flatnonzero(m)), x, m) == 2


def test_other_results_get_none() -> None:
    x, m = np.ones(LONG), np.ones(LONG, bool)
    assert made_rooms(chosen, x[:1000], m[:1000]) == 0
    assert made_rooms(lambda x, m: x[m].sum(), x, m) == 0
    assert made_rooms(lambda x, m: (x[m], np.cumsum(x[m])), x, m) == 0  # kernels read it up to its bound


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 1000, 123_457, 1 << 20])
def test_rooms_are_little_longer(count: int) -> None:
    made, window = room(np.dtype(np.float64), np.array([count // 2, count]))
    assert max(count, 1) <= len(made) <= max(count * 9 / 8, 1)
    assert window.shape == (1,)
    assert window.ctypes.data == made.ctypes.data
