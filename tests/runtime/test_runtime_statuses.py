"""Programs that find that they cannot hand out what they computed: statuses, native and in Python."""

from __future__ import annotations

import ctypes
import sys

import numpy as np
import pytest

from tests.runtime.test_runtime_entry import Make, Spy, array_of, make, patches
from xjit.runtime.calls.records import FastProgram, KernelCall

__all__ = ["make"]


class Unfit(ArithmeticError):
    """Exception of the programs below."""


def test_a_status_that_is_set_raises_its_error(make: Make) -> None:
    """Statuses are zero in the beginning; the error of the first one that is not is raised, a new one each time."""
    wanted: list[int] = []
    seen: list[list[int]] = []

    def act() -> None:
        words = [ctypes.c_int64.from_address(address) for address in spy.calls[-1][2][2:]]
        seen.append([word.value for word in words])
        for number in wanted:
            words[number].value = 1

    spy = Spy(4, act)
    call = KernelCall(spy.address, 1, 1, (0,) * 4, patches(0, 1, 2, 3))
    failures = (lambda: Unfit("first"), lambda: Unfit("second"))
    run = make(FastProgram((), (array_of(3),), (8,), (call,), True, failures=failures))
    assert isinstance(run(), np.ndarray)
    errors = []
    for numbers, message in (([1], "second"), ([0], "first"), ([0, 1], "first")):
        wanted[:] = numbers
        with pytest.raises(Unfit, match=message) as caught:
            run()
        errors.append(caught.value)
    assert len(set(map(id, errors))) == 3
    wanted.clear()
    assert isinstance(run(), np.ndarray)
    assert seen == [[0, 0]] * 5


def test_outputs_of_programs_that_fail_are_dropped(make: Make) -> None:
    def act() -> None:
        ctypes.c_int64.from_address(spy.calls[-1][2][1]).value = 1

    spy = Spy(2, act)
    spec = array_of(1000, dtype=np.dtype(np.float64, copy=True))
    call = KernelCall(spy.address, 1, 1, (0, 0), patches(0, 2))
    run = make(FastProgram((), (spec, spec), (), (call,), False, failures=(Unfit,)))
    counts = []
    for _ in range(10):
        with pytest.raises(Unfit):
            run()
        counts.append(sys.getrefcount(spec.dtype))
    assert len(set(counts)) == 1


def test_what_makes_an_error_may_raise_another(make: Make) -> None:
    def failure() -> Exception:
        raise LookupError("no error to be had")

    spy = Spy(1, lambda: setattr(ctypes.c_int64.from_address(spy.calls[-1][2][0]), "value", 1))
    run = make(
        FastProgram((), (), (), (KernelCall(spy.address, 1, 1, (0,), patches(0)),), False, failures=(failure,))
    )
    with pytest.raises(LookupError):
        run()
