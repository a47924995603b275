"""When the native entry is trusted and when Python does its work; programs that are refused."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
import pytest

from xjit.runtime.calls import entry, entry_layout
from xjit.runtime.calls.entry_python import PythonEntry
from xjit.runtime.calls.entry_selftest import native_entry_works
from xjit.runtime.calls.records import ArraySpec, FastProgram, KernelCall
from xjit.runtime.miss import MISS

F64 = np.dtype(np.float64)
ALLOCATE_ONE = FastProgram((), (ArraySpec(F64, (4,), (8,)),), (), (), True)


def test_make_entry_is_native_here() -> None:
    assert entry_layout.layout_is_known()
    assert type(entry.make_entry(ALLOCATE_ONE)).__name__ == "builtin_function_or_method"


def test_unknown_layout_means_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_layout, "layout_is_known", lambda: False)
    monkeypatch.setattr(entry, "native_entries", entry._tested_entries)
    assert isinstance(entry.make_entry(ALLOCATE_ONE), PythonEntry)


def test_shifted_fields_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    for field, offset in entry_layout.OFFSETS.items():
        wrong = 1 if field in ("ARRAY_ALIGNED", "ARRAY_WRITEABLE") else offset + 8
        with monkeypatch.context() as patch:
            patch.setitem(entry_layout.OFFSETS, field, wrong)
            assert not entry_layout.layout_is_known(), field


def test_a_wrong_entry_fails_the_self_test() -> None:
    native = entry.native_entries()
    assert native is not None
    assert native_entry_works(native.make, native.selftest_kernel)
    assert native_entry_works(PythonEntry, native.selftest_kernel)
    assert not native_entry_works(lambda program: lambda *arguments: MISS, native.selftest_kernel)


def test_a_frame_too_large_for_the_stack_means_python() -> None:
    last: list[int] = []
    note = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64))
    kernel = note(lambda low, high, table: last.append(table[99_999]))
    address = ctypes.cast(kernel, ctypes.c_void_p).value or 0
    run = entry.make_entry(FastProgram((), (), (), (KernelCall(address, 1, 1, (5,) * 100_000, ()),), False))
    assert isinstance(run, PythonEntry)
    assert run() == ()
    assert last == [5]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (FastProgram((), (), (), (), True), "exactly one output"),
        (FastProgram((), (), (), (KernelCall(1, 1, 0, (), ()),), False), "chunk of at least 1"),
        (FastProgram((), (), (8,), (KernelCall(1, 1, 1, (0,), ((1, 0, 0),)),), False), "outside the table"),
        (FastProgram((), (), (8,), (KernelCall(1, 1, 1, (0,), ((0, 1, 0),)),), False), "outside the table"),
        (FastProgram((ArraySpec(F64, (2, 3), (8,)),), (), (), (), False), "differ in length"),
    ],
)
def test_contradictory_programs_are_refused(program: FastProgram, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        entry.make_entry(program)


@pytest.mark.parametrize("make", [entry.make_entry, PythonEntry], ids=["native", "Python"])
def test_strides_of_short_axes_do_not_matter(make: Callable[[FastProgram], entry.Entry]) -> None:
    spec = ArraySpec(F64, (1, 4, 1), (32, 8, 8))
    run = make(FastProgram((spec,), (), (), (), False))
    block = np.zeros((4, 4, 4))
    assert run(block[1:2, :, 2:3].reshape(1, 4, 1).copy()) == ()
    assert run(np.zeros((3, 4))[1:2, :, None]) == ()
    assert run(np.lib.stride_tricks.as_strided(block, (1, 4, 1), (800, 8, 0))) == ()
    assert run(block[1:2, :, 2:3]) is MISS
    assert run(np.zeros((1, 4))) is MISS
