"""Results of a length that the run finds, cut where a native program ends, in the native entry and in Python."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np
import pytest

import xjit
from tests.runtime.test_runtime_entry import Make, Spy, array_of, make, patches
from xjit.runtime.calls.entry import make_entry
from xjit.runtime.calls.records import FastProgram, KernelCall

__all__ = ["make"]


class Unfit(ArithmeticError):
    """Exception of a program below."""


def filled(make: Make, rows: int, *, columns: int = 3, failing: bool = False) -> Any:
    """Return the result of a program that fills an array of 40 rows and says that it has so many."""

    def act() -> None:
        data, status, length = spy.calls[-1][2]
        ctypes.memmove(data, np.arange(40.0 * columns).ctypes.data, 320 * columns)
        ctypes.c_int64.from_address(status).value = failing
        ctypes.c_int64.from_address(length).value += rows

    spy = Spy(3, act)
    spec = array_of(40, columns, dtype=np.dtype(np.float64, copy=True))
    call = KernelCall(spy.address, 1, 1, (0,) * 3, patches(0, 1, 2))
    references = sys.getrefcount(spec.dtype)
    run = make(FastProgram((), (spec,), (), (call,), True, failures=(Unfit,), cut=(0,)))
    found = run()
    again = run()
    assert np.array_equal(found, again) and not np.shares_memory(found, again)
    del again
    assert sys.getrefcount(spec.dtype) >= references
    return found


@pytest.mark.parametrize("rows", (0, 1, 5, 6, 39, 40))
def test_a_result_has_the_rows_that_the_run_says(make: Make, rows: int) -> None:
    found = filled(make, rows)
    assert np.array_equal(found, np.arange(120.0).reshape(40, 3)[:rows])
    assert found.flags.owndata and found.flags.writeable and found.flags.c_contiguous


@pytest.mark.parametrize("rows", (41, 2**62))
def test_a_result_has_no_more_rows_than_there_is_room_for(make: Make, rows: int) -> None:
    assert filled(make, rows).shape == (40, 3)


def test_a_program_that_fails_cuts_nothing(make: Make) -> None:
    with pytest.raises(Unfit):
        filled(make, 3, failing=True)


def test_only_rows_are_cut() -> None:
    with pytest.raises(ValueError, match="row-major"):
        make_entry(FastProgram((), (array_of(),), (), (), True, cut=(0,)))


def odd_and_large(x: Any) -> Any:
    odd = np.nonzero(x % 2)[0]
    return odd, x[x > 50], len(odd)


def hull(x: Any) -> Any:
    kept = []
    for value in x:
        while kept and kept[-1] > value:
            kept.pop()
        kept.append(value)
    return np.array(kept)


def halves(x: Any) -> Any:
    found = []
    number = x[0]
    while number > 1:
        found.append((number, number // 2))
        number = number // 2
    return np.array(found), x[0] + 1


@pytest.mark.parametrize("function", (odd_and_large, hull, halves))
@pytest.mark.parametrize("seed", range(3))
def test_results_are_those_of_numpy(function: Any, seed: int) -> None:
    compiled = xjit.jit(function)
    rng = np.random.default_rng(seed)
    for low, high in ((0, 100), (51, 60), (0, 3), (60, 61), (2**40, 2**41)):
        x = rng.integers(low, high, 200)
        wanted, found = function(x), compiled(x)
        wanted, found = ((one,) if isinstance(one, np.ndarray) else one for one in (wanted, found))
        for one, other in zip(wanted, found, strict=True):
            assert type(one) is type(other) and np.array_equal(one, other)
            if isinstance(one, np.ndarray):
                assert one.dtype == other.dtype and other.flags.owndata and other.flags.writeable


def test_lists_need_no_python_behind_their_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    from xjit.runtime.steps import program

    def refuse(*_: Any) -> Any:
        raise AssertionError("steps in Python")

    monkeypatch.setattr(program, "written_out", refuse)
    x = np.arange(30) % 7
    assert np.array_equal(xjit.jit(hull)(x), hull(x))
