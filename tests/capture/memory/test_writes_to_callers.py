"""Writes into arguments, globals and closures: the caller's memory, and results that show it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import CaptureError, FallbackWarning

TABLE = np.zeros(5)


def _exchanged(x: Any, y: Any) -> Any:
    x[1], x[0] = x[0], x[-1, -1]
    return x[1]


def _flat(x: Any, y: Any) -> Any:
    x[0], x[0] = x[0, 0], x[0, 1]
    return x.ravel()


def _several(x: Any, y: Any) -> Any:
    x += 1
    return x.T[1:], x, x[::2], np.broadcast_to(x[0], (2, 3, x.shape[1]))


def _of_nothing(x: Any, y: Any) -> Any:
    x[:0] *= 0
    x.reshape(2, -1)[2:] = 1
    return x[:, ::-1]


def _swapped(x: Any, y: Any) -> Any:
    keep = x.copy()
    x[...] = y
    y[:] = keep
    return y[1:]


def _both(x: Any, y: Any) -> Any:
    np.add(x, y, out=x)
    y[1:] += x[:-1]
    x[x > 3] = -1
    return x.sum() + y.sum()


FUNCTIONS = [_exchanged, _flat, _several, _of_nothing, _swapped, _both]


def _layouts() -> dict[str, Callable[[], Any]]:
    return {
        "rows": lambda: np.arange(24.0).reshape(4, 6),
        "columns": lambda: np.asfortranarray(np.arange(24.0).reshape(4, 6)),
        "strided": lambda: np.arange(96.0).reshape(8, 12)[::2, ::2],
        "backwards": lambda: np.arange(24.0).reshape(4, 6)[::-1, ::-1],
    }


@pytest.mark.parametrize("layout", _layouts())
@pytest.mark.parametrize("function", FUNCTIONS)
def test_arguments_and_results_are_those_of_numpy(function: Callable[..., Any], layout: str) -> None:
    make = _layouts()[layout]
    compiled = xjit.xjit(function, strict=True)
    for _ in range(2):
        ours, theirs = (make(), make() * 0.5), (make(), make() * 0.5)
        found, expected = compiled(*ours), function(*theirs)
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)
        results = zip(_parts(found), _parts(expected), strict=True)
        for one, other in results:
            np.testing.assert_allclose(one, other, rtol=1e-14)
            for mine, known in zip(ours, theirs, strict=True):
                assert np.shares_memory(one, mine) == np.shares_memory(other, known)
            assert one.flags.writeable == other.flags.writeable


def _parts(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def test_arrays_of_the_module_and_of_closures_are_written() -> None:
    own = np.zeros(3)

    @xjit.xjit(strict=True)
    def function(x: Any) -> None:
        TABLE[1:4] += x
        own[:] = x * 2

    function(np.array([1.0, 2.0, 3.0]))
    function(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(TABLE, [0, 2, 4, 6, 0])
    np.testing.assert_array_equal(own, [2, 4, 6])
    TABLE[:] = 0


def test_arguments_that_overlap_are_written_by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XJIT_STRICT", raising=False)

    def function(x: Any, y: Any) -> None:
        x[1:] += y[:-1]

    compiled = xjit.xjit(function)
    for turn in range(3):
        whole, other = np.arange(8.0), np.arange(8.0)
        with contextlib.nullcontext() if turn else pytest.warns(FallbackWarning, match="overlap"):  # said once
            compiled(whole, whole[::-1])
        function(other, other[::-1])
        np.testing.assert_array_equal(whole, other)
        compiled(whole, np.ones(8))
    assert compiled.stats().fallbacks == 3
    with pytest.raises(CaptureError, match="shares memory"):
        xjit.xjit(function, strict=True)(whole, whole[::-1])


def test_one_array_passed_twice_is_one_buffer() -> None:
    def function(x: Any, y: Any) -> Any:
        x += 1
        y *= 2
        return y

    found, expected = np.arange(4.0), np.arange(4.0)
    assert xjit.xjit(function, strict=True)(found, found) is found
    function(expected, expected)
    np.testing.assert_array_equal(found, expected)


def test_read_only_arguments_are_refused_as_by_numpy() -> None:
    def function(x: Any) -> None:
        x[0] = 1

    frozen = np.zeros(3)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        xjit.xjit(function, strict=True)(frozen)
    compiled = xjit.xjit(function)
    compiled(np.zeros(3))
    with pytest.raises(ValueError, match="read-only"):
        compiled(frozen)


def test_a_failing_condition_behind_a_loop_leaves_what_the_loop_wrote() -> None:
    def function(x: Any) -> None:
        for _ in range(300):
            name = x
            x[1:-1] += 2
        name[x > 1] = x + 0

    for first in (-1.0, 2.0):
        found, expected = np.arange(4.0) + first, np.arange(4.0) + first
        compiled = xjit.xjit(function)
        for call, array in ((function, expected), (compiled, found)):
            if first < 0:
                with pytest.raises(ValueError, match="cannot assign 4 input values"):
                    call(array)
            else:
                call(array)
        np.testing.assert_array_equal(found, expected)
    assert compiled.stats().fallbacks == 0


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("step", [1, -1])
def test_an_operator_in_place_with_a_slice_of_the_run_writes_to_the_caller(
    monkeypatch: pytest.MonkeyPatch, number: int, step: int
) -> None:
    monkeypatch.delenv("XJIT_STRICT", raising=False)

    def function(x: Any, n: Any) -> None:
        part = x[::step]
        part *= x[: int(n[0])]

    states = []
    for call in (function, xjit.xjit(function)):
        x, error = np.arange(2.0, 6.0), ""
        try:
            call(x, np.array([number]))
        except ValueError as raised:
            error = str(raised)
        states.append((x.tolist(), error))
    assert states[0] == states[1]
